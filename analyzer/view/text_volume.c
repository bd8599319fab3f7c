/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text_volume.h"

#include <math.h>
#include <string.h>

#include "analyzer/view/text.h"

void text_heading(const struct pen *pen, const char *text)
{
    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fprintf(pen->out, "  %s\n", text);
    draw_tone(pen, TONE_PLAIN);
}

const char *text_quantile(char *buffer, const struct histogram *h, double q, bool skip_zeros,
                          char *(*unit)(char *, double))
{
    uint64_t value;

    return histogram_quantile(h, q, skip_zeros, &value) ? unit(buffer, (double)value) : "";
}

const char *text_count(char *buffer, uint64_t count, int width)
{
    if (strlen(human_count(buffer, count)) > (size_t)width)
        human_rate(buffer, (double)count);
    return buffer;
}

/* Who hangs in what. */
static void show_stuck(const struct pen *pen, const struct job_total *job, const struct aggregate *totals)
{
    char age[HUMAN_SIZE];

    for (uint32_t v = 0; v < job->volume_count; v++)
        for (uint32_t i = 0; i < job->volumes[v].stuck_count; i++) {
            const struct stuck *s = &job->volumes[v].stuck[i];
            struct draft line;

            if (!stuck_now(s, totals))
                continue;
            draft_begin(&line, pen);
            fprintf(line.pen.out, "stuck for %s: ", human_ns(age, (double)s->oldest_ns));
            draw_text(&line.pen, s->command, 0);
            fprintf(line.pen.out, " (process %u on ", s->pid);
            draw_text(&line.pen, s->node, 0);
            fprintf(line.pen.out, ") in %s on ", operation_info(s->op)->name);
            draw_text(&line.pen, job->volumes[v].name, 0);
            draft_end(&line, 0, 2, TEXT_WIDTH);
        }
}

/* What was in flight for a moment, before anybody could tell where it goes, is no volume of the job's. */
static bool is_waited_for(const struct volume_total *volume)
{
    for (uint32_t i = 0; i < volume->gauge_count; i++)
        if (volume->gauges[i].oldest_ns >= STUCK_NS)
            return true;
    return false;
}

static void show_volumes(const struct pen *pen, const struct job_total *job)
{
    char ops[HUMAN_SIZE], read[HUMAN_SIZE], written[HUMAN_SIZE], text[HUMAN_SIZE];
    static const char *const names[] = {[SCOPE_LOCAL] = "local", [SCOPE_SHARED] = "shared"};

    text_heading(pen, "Volume                     type              count     read  written read p99");
    for (uint32_t i = 0; i < job->volume_count; i++) {
        const struct volume_total *volume = &job->volumes[i];
        const struct tally *tally = &volume->tally;
        bool device = !tally_file_ops(tally); /* seen at the block layer only */
        enum operation reads = device ? OP_BLOCK_READ : OP_READ;
        uint64_t count = 0;
        unsigned columns;

        for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
            count += device || operation_is_file(op) ? tally_ops(tally, op) : 0;
        if (!count && !is_waited_for(volume))
            continue; /* minor page faults only */
        fputs("  ", pen->out);
        columns = draw_text(pen, volume->name, 26);
        fprintf(pen->out, "%*s ", (int)(26 - columns), "");
        columns = draw_text(pen, volume->fstype ? volume->fstype : "", 6);
        fprintf(pen->out, "%*s %-6s%11s%9s%9s%9s\n", (int)(6 - columns), "",
                names[volume->scope], text_count(ops, count, 11),
                human_bytes(read, (double)tally->op[reads].bytes),
                human_bytes(written, (double)tally->op[device ? OP_BLOCK_WRITE : OP_WRITE].bytes),
                text_quantile(text, &tally->op[reads].latency_ns, 0.99, false, human_ns));
    }
}

static void write_working_set(const struct pen *pen, const char *volume, const struct working_set *set)
{
    char count[HUMAN_SIZE], low[HUMAN_SIZE], high[HUMAN_SIZE], bytes[HUMAN_SIZE];

    fputs("working set on ", pen->out);
    draw_text(pen, volume, 0);
    fprintf(pen->out, ": %s file%s", human_count(count, (uint64_t)llround(set->files.value)),
            llround(set->files.value) == 1 ? "" : "s");
    if (set->files.low < set->files.high)
        fprintf(pen->out, " (%s to %s)", human_count(low, (uint64_t)llround(set->files.low)),
                human_count(high, (uint64_t)llround(set->files.high)));
    fprintf(pen->out, " of %s", human_bytes(bytes, set->bytes.value));
    if (set->grown)
        fputs(" when they were opened; more was written and read since", pen->out);
    else if (set->reread >= 0.95 && set->reread < 1.05)
        fputs(", read once", pen->out);
    else if (!isnan(set->reread))
        fprintf(pen->out, ", read %s times", human_estimate(count, set->reread));
}

/* The files that were opened, as far back as windows go. */
static void show_working_sets(const struct pen *pen, const struct job_total *job)
{
    for (uint32_t i = 0; i < job->volume_count; i++) {
        struct working_set sets[WORKING_WINDOWS];
        unsigned last = working_sets(&job->volumes[i].working, sets);
        struct draft line;

        if (!last || !(sets[last - 1].files.value > 0))
            continue;
        draft_begin(&line, pen);
        write_working_set(&line.pen, job->volumes[i].name, &sets[last - 1]);
        draft_end(&line, 0, 2, TEXT_WIDTH);
    }
}

static void show_tree(const struct pen *pen, const char *name, const uint64_t counts[TREE_COUNTS])
{
    char metadata[HUMAN_SIZE], opens[HUMAN_SIZE], read[HUMAN_SIZE], written[HUMAN_SIZE], waited[HUMAN_SIZE];
    unsigned columns;

    fputs("  ", pen->out);
    columns = draw_text(pen, name, 36);
    fprintf(pen->out, "%*s %9s%11s%11s%12s%12s\n", (int)(36 - columns), "",
            human_ns(waited, (double)counts[TREE_WAIT_NS]), text_count(opens, counts[TREE_OPENS], 10),
            text_count(metadata, counts[TREE_METADATA], 10), human_bytes(read, (double)counts[TREE_READ_BYTES]),
            human_bytes(written, (double)counts[TREE_WRITE_BYTES]));
}

#define LISTED_TREES 6

/* The trees of a volume that were waited for longest; all others, and what is in none, in one line. */
static void show_trees(const struct pen *pen, const struct volume_total *volume)
{
    const struct forest *forest = &volume->forest;
    uint64_t rest[TREE_COUNTS];
    bool any = forest_rest(forest, &volume->tally, rest);
    char text[64];

    for (uint32_t i = 0; i < forest->count && i < LISTED_TREES; i++)
        show_tree(pen, forest->trees[i].name, forest->trees[i].count);
    for (uint32_t i = LISTED_TREES; i < forest->count; i++)
        for (unsigned c = 0; c < TREE_COUNTS; c++)
            rest[c] += forest->trees[i].count[c];
    if (forest->count > LISTED_TREES)
        snprintf(text, sizeof(text), "%u more trees, and what is in none", forest->count - LISTED_TREES);
    else
        snprintf(text, sizeof(text), "in none that could be told");
    if (any || forest->count > LISTED_TREES)
        show_tree(pen, text, rest);
}

static void show_forests(const struct pen *pen, const struct job_total *job)
{
    for (uint32_t i = 0; i < job->volume_count; i++) {
        const struct volume_total *volume = &job->volumes[i];
        unsigned columns;

        if (!volume->forest.count)
            continue;
        fputc('\n', pen->out);
        draw_tone(pen, TONE_STRONG);
        fputs("  Trees of ", pen->out);
        columns = draw_text(pen, volume->name, 27);
        fprintf(pen->out, "%*s    waited      opens   metadata        read     written\n", (int)(27 - columns), "");
        draw_tone(pen, TONE_PLAIN);
        show_trees(pen, volume);
    }
}

void text_volumes(const struct pen *pen, const struct job_total *job, const struct aggregate *totals)
{
    show_volumes(pen, job);
    show_forests(pen, job);
    show_working_sets(pen, job);
    show_stuck(pen, job, totals);
}
