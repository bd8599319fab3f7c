/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where: volumes, nodes, and the storage side. */
#include "analyzer/view/html.h"

#include <math.h>

#define LISTED_VOLUMES  60
#define LISTED_NODES    400
#define LISTED_STATIONS 60

static void volume_row(FILE *out, const struct volume_total *volume, const struct aggregate *totals)
{
    const struct tally *tally = &volume->tally;
    bool device = !tally_file_ops(tally); /* seen at the block layer only */
    enum operation reads = device ? OP_BLOCK_READ : OP_READ, writes = device ? OP_BLOCK_WRITE : OP_WRITE;
    struct in_flight flight;
    struct ratios ratios;
    struct space space;
    uint64_t ops = 0;
    char text[HUMAN_SIZE];

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        ops += device || operation_is_file(op) ? tally_ops(tally, op) : 0;
    ratios_of(tally, &ratios);
    volume_in_flight(volume, totals, OP_NONE, &flight);
    fputs("<tr>", out);
    html_name(out, volume->name);
    html_words(out, volume->fstype ? volume->fstype : "\xe2\x80\x93");
    html_words(out, volume->scope == SCOPE_SHARED ? "shared" : "local");
    html_count(out, ops);
    html_percent(out, ratios.metadata_ops);
    html_bytes(out, (double)tally->op[reads].bytes);
    html_bytes(out, (double)tally->op[writes].bytes);
    html_quantile(out, &tally->op[reads].latency_ns, 0.5, false, human_ns);
    html_quantile(out, &tally->op[reads].latency_ns, 0.99, false, human_ns);
    html_quantile(out, &tally->op[writes].latency_ns, 0.99, false, human_ns);
    snprintf(text, sizeof(text), "%.2f", flight.mean);
    html_cell(out, text, flight.mean);
    if (filling_last(&volume->filling, &space)) {
        html_bytes(out, (double)space.used_bytes);
        html_percent(out, (double)space.used_bytes / (double)space.total_bytes);
    } else {
        html_cell(out, "", NAN);
        html_cell(out, "", NAN);
    }
    fputs("</tr>\n", out);
}

static void volumes(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Volume",  "<Type",    "<Scope",    "Operations", "Metadata",
                                          "Read",     "Written",  "Read p50",  "Read p99",   "Write p99",
                                          "In flight", "Used",    "Full",      NULL};

    html_table(out, "Volumes; in flight is the mean number of operations at a time", columns);
    for (uint32_t i = 0; i < totals->volume_count && i < LISTED_VOLUMES; i++)
        volume_row(out, &totals->volumes[i], totals);
    html_table_end(out);
    if (totals->volume_count > LISTED_VOLUMES)
        fprintf(out, "<p class=\"faint\">And %u more; --format json has all.</p>\n",
                totals->volume_count - LISTED_VOLUMES);
}

/* An estimate as a number, with its 95 % interval where it is none for sure. */
static void estimate_cell(FILE *out, const struct sketch_estimate *e, char *(*human)(char *, double))
{
    char value[HUMAN_SIZE], low[HUMAN_SIZE], high[HUMAN_SIZE], text[4 * HUMAN_SIZE];

    if (e->low < e->high)
        snprintf(text, sizeof(text), "%s (%s to %s)", human(value, e->value), human(low, e->low), human(high, e->high));
    else
        snprintf(text, sizeof(text), "%s", human(value, e->value));
    html_cell(out, text, e->value);
}

static char *whole(char *buffer, double number)
{
    return human_count(buffer, (uint64_t)llround(number));
}

/* What of a volume is in use, by the last hour, day and week. */
static void working_set(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Volume", "<Within", "Files", "Their bytes", "Read", "Times over", NULL};
    static const char *const names[WORKING_WINDOWS] = {"an hour", "a day", "a week"};
    bool any = false;

    for (uint32_t i = 0; i < totals->volume_count && i < LISTED_VOLUMES; i++) {
        struct working_set sets[WORKING_WINDOWS];
        unsigned count = working_sets(&totals->volumes[i].working, sets);
        char text[HUMAN_SIZE];

        for (unsigned w = 0; w < count && w < WORKING_WINDOWS; w++) {
            if (!any)
                html_table(out,
                           "Working sets: different files that were opened, and how often all of their bytes were read",
                           columns);
            any = true;
            fputs("<tr>", out);
            html_name(out, totals->volumes[i].name);
            html_words(out, names[w]);
            estimate_cell(out, &sets[w].files, whole);
            estimate_cell(out, &sets[w].bytes, human_bytes);
            html_bytes(out, (double)sets[w].read_bytes);
            html_cell(out, human_estimate(text, sets[w].reread), sets[w].reread);
            fputs("</tr>\n", out);
        }
    }
    if (any)
        html_table_end(out);
    else
        fputs("<p class=\"faint\">Working sets and re-reads: cannot tell, because no regular file was seen being "
              "opened.</p>\n", out);
}

static void nodes(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Node", "<Role", "<Kernel", "In flight at the end", "Some waited for I/O",
                                          "All waited", NULL};

    fprintf(out, "<details%s><summary>Nodes: %u</summary>\n", totals->node_count <= 12 ? " open" : "",
            totals->node_count);
    html_table(out, NULL, columns);
    for (uint32_t i = 0; i < totals->node_count && i < LISTED_NODES; i++) {
        const struct node_total *node = &totals->nodes[i];

        fputs("<tr>", out);
        html_name(out, node->node);
        html_words(out, node->role ? node->role : "\xe2\x80\x93");
        html_words(out, node->kernel ? node->kernel : "\xe2\x80\x93");
        html_count(out, node->in_flight);
        html_percent(out, node_pressure(node, node->pressure.some_ns));
        html_percent(out, node_pressure(node, node->pressure.full_ns));
        fputs("</tr>\n", out);
    }
    html_table_end(out);
    fputs("<p class=\"faint\">Waiting is the kernel's own word of its tasks (/proc/pressure/io), as a share of the time: FUSE's and "
          "most network file systems' waits are not in it.</p></details>\n", out);
}

/* The median where there is a histogram, else the mean. */
static void wait_cells(FILE *out, const struct station *s, unsigned known, uint64_t sum_ns, const struct histogram *h)
{
    char text[HUMAN_SIZE];

    if (!(s->known & known) || !s->ops) {
        html_cell(out, "", NAN);
        html_cell(out, "", NAN);
    } else if (h->length) {
        html_quantile(out, h, 0.5, false, human_ns);
        html_quantile(out, h, 0.99, false, human_ns);
    } else {
        html_cell(out, human_ns(text, (double)sum_ns / (double)s->ops), (double)sum_ns / (double)s->ops);
        html_cell(out, "", NAN);
    }
}

static void station_row(FILE *out, const struct backend *backend, enum request_kind kind)
{
    const struct station *s = &backend->requests[kind];
    char text[HUMAN_SIZE];

    fputs("<tr>", out);
    html_name(out, backend->layer == LAYER_BLOCK ? backend->source : backend->volume);
    html_words(out, layer_names[backend->layer]);
    html_words(out, backend->node);
    html_words(out, request_names[kind]);
    html_cell(out, human_count(text, s->ops), s->known & STATION_OPS ? (double)s->ops : NAN);
    html_bytes(out, s->known & STATION_BYTES ? (double)s->bytes : NAN);
    wait_cells(out, s, STATION_QUEUE, s->queue_sum_ns, &s->queue_ns);
    wait_cells(out, s, STATION_SERVICE, s->service_sum_ns, &s->service_ns);
    fputs("</tr>\n", out);
}

static void storage(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Station",  "<Layer",  "<Node",       "<Request",   "Requests", "Bytes",
                                          "Queue p50", "p99", "Service p50", "p99", NULL};
    const struct backends *backends = &report->totals.backends;
    unsigned rows = 0;

    if (!backends->count)
        return;
    html_table(out, "The storage side: requests that reached devices and servers; a mean stands for p50 where only "
                    "sums are kept",
               columns);
    for (uint32_t i = 0; i < backends->count && rows < LISTED_STATIONS; i++)
        for (enum request_kind r = REQUEST_READ; r < REQUESTS; r++) {
            const struct station *s = &backends->list[i].requests[r];

            if (s->known & STATION_OPS ? s->ops : s->bytes) {
                station_row(out, &backends->list[i], r);
                rows++;
            }
        }
    html_table_end(out);
}

int html_where(FILE *out, struct report *report)
{
    fputs("<section>\n", out);
    html_heading(out, "where", "Where: volumes, nodes, storage");
    volumes(out, &report->totals);
    working_set(out, &report->totals);
    storage(out, report);
    nodes(out, &report->totals);
    html_trees(out, &report->totals);
    fputs("</section>\n", out);
    return 0;
}
