/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text_storage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/view/text.h"

#define LISTED 12 /* the JSON has all */

static const char *count_of(char *buffer, const struct station *s, unsigned known, uint64_t count)
{
    return s->known & known ? human_count(buffer, count) : "-";
}

/* The median where there is a histogram, else the mean. */
static const char *wait_of(char *buffer, const struct station *s, unsigned known, uint64_t sum_ns,
                           const struct histogram *h, double q)
{
    uint64_t value;

    if (!(s->known & known) || !s->ops)
        return "-";
    if (histogram_quantile(h, q, false, &value))
        return human_ns(buffer, (double)value);
    return q == 0.5 ? human_ns(buffer, (double)sum_ns / (double)s->ops) : "-";
}

static void show_requests(const struct pen *pen, const char *name, const struct station *s)
{
    char ops[HUMAN_SIZE], merges[HUMAN_SIZE], bytes[HUMAN_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE],
        d[HUMAN_SIZE];

    fprintf(pen->out, "    %-10s %10s %7s %8s %9s %7s %11s %7s\n", name, count_of(ops, s, STATION_OPS, s->ops),
            count_of(merges, s, STATION_MERGES, s->merges),
            s->known & STATION_BYTES ? human_bytes(bytes, (double)s->bytes) : "-",
            wait_of(a, s, STATION_QUEUE, s->queue_sum_ns, &s->queue_ns, 0.5),
            wait_of(b, s, STATION_QUEUE, s->queue_sum_ns, &s->queue_ns, 0.99),
            wait_of(c, s, STATION_SERVICE, s->service_sum_ns, &s->service_ns, 0.5),
            wait_of(d, s, STATION_SERVICE, s->service_sum_ns, &s->service_ns, 0.99));
}

static void show_name(const struct pen *pen, const struct backend *backend, int64_t span_ns)
{
    const struct station *all = &backend->requests[REQUEST_ALL];
    double depth = backend_depth(backend, span_ns);
    uint64_t most;

    fputs("  ", pen->out);
    draw_text(pen, backend->layer == LAYER_BLOCK ? backend->source : backend->volume, 44);
    fprintf(pen->out, "  %s on ", layer_names[backend->layer]);
    draw_text(pen, backend->node, 30);
    if (!layer_is_platform(backend->layer) && !isnan(depth))
        fprintf(pen->out, ", %.2f in flight", depth);
    if (histogram_max(&all->depth, &most))
        fprintf(pen->out, ", %" PRIu64 " at most", most);
    fputc('\n', pen->out);
}

/* Who asked for how much, the largest first as far as bytes tell. */
static void show_parties(const struct pen *pen, const struct backend *backend)
{
    char bytes[HUMAN_SIZE];
    struct draft line;
    bool first = true;

    draft_begin(&line, pen);
    for (uint32_t i = 0; i < backend->party_count; i++) {
        const struct party_total *party = &backend->parties[i];
        uint64_t sum = party->requests[REQUEST_READ].bytes + party->requests[REQUEST_WRITE].bytes;

        if (party->party == PARTY_SERVER || !sum)
            continue;
        fputs(first ? "for " : ", ", line.pen.out);
        draw_text(&line.pen, party->job ? party->job : party_names[party->party], 40);
        fprintf(line.pen.out, " %s", human_bytes(bytes, (double)sum));
        first = false;
    }
    draft_end(&line, 0, 4, TEXT_WIDTH);
    for (uint32_t i = 0; i < backend->party_count; i++) {
        const struct party_total *party = &backend->parties[i];

        if (party->party != PARTY_SERVER || !party->server)
            continue;
        draft_begin(&line, pen);
        fputs("served by ", line.pen.out);
        draw_text(&line.pen, party->server, 40);
        fputs(": what it does itself counts again, as ", line.pen.out);
        draw_text(&line.pen, party->job ? party->job : "?", 40);
        draft_end(&line, 0, 4, TEXT_WIDTH);
    }
}

void text_storage(const struct pen *pen, const struct report *report)
{
    const struct backends *backends = &report->totals.backends;
    int64_t span_ns = report->totals.end_ns - report->totals.start_ns;

    if (!backends->count)
        return;
    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fputs("Storage side     requests  merges    bytes queue p50     p99 service p50     p99\n", pen->out);
    draw_tone(pen, TONE_PLAIN);
    for (uint32_t i = 0; i < backends->count && i < LISTED; i++) {
        const struct backend *backend = &backends->list[i];

        show_name(pen, backend, span_ns);
        for (enum request_kind r = REQUEST_READ; r < REQUESTS; r++)
            if (backend->requests[r].known & STATION_OPS ? backend->requests[r].ops : backend->requests[r].bytes)
                show_requests(pen, request_names[r], &backend->requests[r]);
        if (!layer_is_platform(backend->layer))
            show_parties(pen, backend);
    }
    if (backends->count > LISTED)
        fprintf(pen->out, "  and %u more; --format json has all\n", backends->count - LISTED);
}
