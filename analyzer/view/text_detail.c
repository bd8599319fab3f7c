/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences below a job's table of operations: which errors, what the page cache did, which page faults. */
#include "analyzer/view/text_detail.h"

#include <stdio.h>

#include "analyzer/figure.h"
#include "analyzer/human.h"
#include "analyzer/view/text.h"
#include "lib/error_code.h"

#define SENTENCE 240

static void say(const struct pen *pen, const char *sentence)
{
    draw_paragraph(pen, &sentence, 1, 2, TEXT_WIDTH);
}

/* The errors of one operation, the most frequent first; what does not fit is left to the JSON. */
static void show_errors_of(const struct pen *pen, const struct record *record, const char *name)
{
    char text[SENTENCE], number[HUMAN_SIZE], buffer[ERROR_NAME_SIZE];
    uint64_t before = UINT64_MAX, known = histogram_count(&record->error_codes);
    unsigned last = 0;
    int length = snprintf(text, sizeof(text), "%s failed with", name);

    for (unsigned shown = 0; shown < 6; shown++) {
        const struct histogram_cell *next = NULL;

        for (unsigned i = 0; i < record->error_codes.length; i++) {
            const struct histogram_cell *cell = &record->error_codes.cells[i];
            bool after = cell->count < before || (cell->count == before && cell->bucket > last);

            if (after && (!next || cell->count > next->count))
                next = cell;
        }
        if (!next)
            break;
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s %s (%s)", shown ? "," : "",
                           error_code_name(next->bucket, buffer), human_count(number, next->count));
        before = next->count;
        last = next->bucket;
    }
    if (known < record->errors)
        snprintf(text + length, sizeof(text) - (size_t)length, "%s errors not told apart (%s)", known ? "," : "",
                 human_count(number, record->errors - known));
    say(pen, text);
}

static void show_cache(const struct pen *pen, const struct record *read)
{
    double hits = (double)read->cache[CACHE_HIT_OPS], known = hits + (double)read->cache[CACHE_MISS_OPS];
    char text[SENTENCE], a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
    uint64_t reads = histogram_count(&read->size) - histogram_zeros(&read->size);

    if (known <= 0)
        return;
    human_bytes(a, (double)read->cache[CACHE_HIT_BYTES]);
    human_count(b, read->cache[CACHE_HIT_OPS] + read->cache[CACHE_MISS_OPS]);
    if (known < (double)reads / 2) /* as beside direct I/O: what so few did is not said of all */
        snprintf(text, sizeof(text), "%.0f %% of the %s of %s reads of which it is known came from the page cache (%s)",
                 100 * hits / known, b, human_count(c, reads), a);
    else
        snprintf(text, sizeof(text), "%.0f %% of reads came from the page cache (%s; known of %s reads)",
                 100 * hits / known, a, b);
    say(pen, text);
}

static void show_files(const struct pen *pen, const struct record *read)
{
    uint64_t known = figure_sized(read);
    char text[SENTENCE], number[HUMAN_SIZE];

    if (!known)
        return;
    snprintf(text, sizeof(text),
             "%.0f %% of reads are of files below 128 KiB, %.0f %% of files of 4 MiB and more (known of %s reads)",
             100 * quotient((double)read->file_size[FILE_SMALL], (double)known),
             100 * quotient((double)read->file_size[FILE_LARGE], (double)known),
             human_count(number, known));
    say(pen, text);
}

static void show_faults(const struct pen *pen, const struct record *fault)
{
    char text[SENTENCE], a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];

    if (!record_ops(fault) && !fault->faults[FAULT_MINOR])
        return;
    snprintf(text, sizeof(text), "%s major page faults on mapped files (%s to read, %s to write), %s minor ones",
             human_count(a, record_ops(fault)), human_count(b, fault->faults[FAULT_READ]),
             human_count(c, fault->faults[FAULT_WRITE]), human_count(d, fault->faults[FAULT_MINOR]));
    say(pen, text);
}

void text_detail(const struct pen *pen, const struct tally *tally)
{
    fputc('\n', pen->out);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        if (tally->op[op].errors)
            show_errors_of(pen, &tally->op[op], operation_info(op)->name);
    show_cache(pen, &tally->op[OP_READ]);
    show_files(pen, &tally->op[OP_READ]);
    show_faults(pen, &tally->op[OP_MMAP_FAULT]);
}
