/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How: sizes, ratios, metadata, sequentiality, latency, of all jobs together. */
#include "analyzer/view/html.h"

#include <errno.h>
#include <math.h>

#include "analyzer/figure.h"
#include "analyzer/view/html_chart.h"

#define ROWS 7

static void ratio(FILE *out, const char *what, double value, const char *means)
{
    char text[HUMAN_SIZE];

    if (isnan(value))
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>\xe2\x80\x93</td>", what);
    else
        fprintf(out, "<tr><th scope=\"row\">%s</th><td>%s</td>", what, html_percent_text(text, value));
    fprintf(out, "<td class=\"words\">%s</td></tr>\n", means);
}

static void ratios(FILE *out, const struct tally *tally)
{
    char opens[HUMAN_SIZE];
    struct ratios r;

    ratios_of(tally, &r);
    fputs("<div class=\"scroll\"><table><caption>Ratios</caption><tbody>\n", out);
    ratio(out, "Reads, by operations", r.read_ops, "reads of reads and writes");
    ratio(out, "Reads, by bytes", r.read_bytes, "bytes read of bytes read and written");
    ratio(out, "Metadata", r.metadata_ops, "of all operations but seeks");
    ratio(out, "Metadata without close", r.metadata_ops_no_close, "close left out on both sides");
    ratio(out, "Metadata with seek", r.metadata_ops_with_seek, "seek counted on both sides");
    ratio(out, "Opens", r.open_ops, "opens and creates, of all operations but seeks");
    if (figure_tells_per_mib((double)tally->op[OP_READ].bytes + (double)tally->op[OP_WRITE].bytes))
        fprintf(out, "<tr><th scope=\"row\">Opens a MiB</th><td>%s</td><td class=\"words\">over what is read and "
                     "written</td></tr>\n",
                human_ratio(opens, r.opens_per_mib));
    fputs("</tbody></table></div>\n", out);
}

static void order(FILE *out, const struct tally *tally)
{
    struct ratios r;

    ratios_of(tally, &r);
    if (!isnan(r.order[ORDER_RANDOM]))
        chart_shares(out, "Where transfers start, seen from the end of the one before",
                     (struct chart_share[]){{"at it (consecutive)", r.order[ORDER_CONSECUTIVE], CHART_READ},
                                            {"beyond it (sequential)", r.order[ORDER_SEQUENTIAL], CHART_METADATA},
                                            {"before it (random)", r.order[ORDER_RANDOM], CHART_WRITE}},
                     3);
}

/* What page faults added to the page cache was read, too, though by no call. */
static void cached(FILE *out, const struct tally *tally)
{
    const struct record *read = &tally->op[OP_READ];
    double hit = (double)read->cache[CACHE_HIT_BYTES], miss = (double)read->cache[CACHE_MISS_BYTES],
        mapped = (double)tally->op[OP_MMAP_FAULT].bytes, known = hit + miss + mapped,
        all = fmax((double)read->bytes + mapped, known);
    struct chart_share shares[4] = {{"the page cache", hit / all, CHART_METADATA}, {"below it", miss / all, CHART_WRITE}};
    unsigned count = 2;

    if (!(known > 0))
        return;
    if (mapped > 0)
        shares[count++] = (struct chart_share){"below it, for page faults on mapped files", mapped / all, CHART_OTHER};
    if (all > known)
        shares[count++] = (struct chart_share){"not known", 1 - known / all, 7};
    chart_shares(out, "Where bytes read came from", shares, count);
}

static void metadata(FILE *out, const struct tally *tally)
{
    struct chart_share parts[OP_FILE_END];
    uint64_t all = 0;
    unsigned count = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        if (operation_info(op)->class == OP_CLASS_METADATA)
            all += tally_ops(tally, op);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        if (operation_info(op)->class == OP_CLASS_METADATA && tally_ops(tally, op)) {
            parts[count] = (struct chart_share){operation_info(op)->name, (double)tally_ops(tally, op) / (double)all,
                                                chart_color(count)};
            count++;
        }
    if (count)
        chart_shares(out, "Metadata operations", parts, count);
}

struct rows {
    const char *names[ROWS];
    const struct histogram *histograms[ROWS];
    unsigned colors[ROWS], count;
};

static void take(struct rows *rows, const char *name, const struct histogram *h, unsigned color)
{
    if (!h->length || rows->count == ROWS)
        return;
    rows->names[rows->count] = name;
    rows->histograms[rows->count] = h;
    rows->colors[rows->count++] = color;
}

static void draw(FILE *out, const char *title, const struct rows *rows, chart_unit *unit)
{
    chart_shapes(out, &(struct chart_shape){title, rows->names, rows->histograms, rows->colors, rows->count, unit});
}

static int sizes(FILE *out, const struct tally *tally)
{
    struct histogram files = {0};
    struct rows rows = {.count = 0};

    if (histogram_merge(&files, &tally->op[OP_OPEN].size) || histogram_merge(&files, &tally->op[OP_CREATE].size)) {
        histogram_clear(&files);
        return -ENOMEM;
    }
    take(&rows, "read", &tally->op[OP_READ].size, CHART_READ);
    take(&rows, "write", &tally->op[OP_WRITE].size, CHART_WRITE);
    take(&rows, "mmap_fault", &tally->op[OP_MMAP_FAULT].size, CHART_OTHER);
    take(&rows, "files opened", &files, CHART_METADATA);
    take(&rows, "block_read", &tally->op[OP_BLOCK_READ].size, 4);
    take(&rows, "block_write", &tally->op[OP_BLOCK_WRITE].size, 5);
    draw(out, "Sizes", &rows, human_bytes);
    histogram_clear(&files);
    return 0;
}

static void latencies(FILE *out, const struct tally *tally)
{
    static const struct {
        enum operation op;
        unsigned color;
    } drawn[] = {{OP_READ, CHART_READ}, {OP_WRITE, CHART_WRITE}, {OP_OPEN, CHART_METADATA}, {OP_STAT, CHART_METADATA},
                 {OP_FSYNC, CHART_OTHER}, {OP_BLOCK_READ, 4}, {OP_BLOCK_WRITE, 5}};
    struct rows rows = {.count = 0};

    for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++)
        take(&rows, operation_info(drawn[i].op)->name, &tally->op[drawn[i].op].latency_ns, drawn[i].color);
    draw(out, "Latency", &rows, human_ns);
}

int html_how(FILE *out, struct report *report)
{
    const struct tally *tally = &report->totals.tally;
    int err;

    fputs("<section>\n", out);
    html_heading(out, "how", "How: sizes, ratios, latency");
    html_operations(out, tally);
    fputs("<div class=\"charts\">\n", out);
    err = sizes(out, tally);
    latencies(out, tally);
    order(out, tally);
    metadata(out, tally);
    cached(out, tally);
    fputs("</div>\n", out);
    ratios(out, tally);
    fputs("</section>\n", out);
    return err;
}
