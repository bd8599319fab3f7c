/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/export/opening.h"

#include <errno.h>
#include <sys/param.h>

#define OCTAVE     8    /* buckets */
#define PART_MIN   0.05 /* of the opens: fewer go with others */
#define FILE_BYTES 4096 /* where no size is known */

/* Files of much the same size. */
struct part {
    double opens, bytes;
};

/* As many of the opens that are left as there are whole rounds of the files. */
static int open_part(struct plan *plan, const struct part *part, uint64_t files, uint64_t *opens)
{
    struct section *section = plan_add(plan, STEP_OPEN, files);

    if (!section)
        return -ENOMEM;
    section->files = files;
    section->loops = *opens / files;
    section->file_bytes = MAX((uint64_t)(part->bytes / part->opens), 1);
    *opens -= files * section->loops;
    plan->opened += files * section->loops;
    plan->made += files;
    plan->looked += LOOKS * files + files + 2 * LOOKS_MORE;
    return 0;
}

/* The few largest are no part: the file that sections share stands for them. */
static bool ends_part(const struct histogram *sizes, unsigned i, const struct part *part, double after, double all)
{
    return i + 1 == sizes->length || after < PART_MIN * all ||
           (part->opens >= PART_MIN * all && sizes->cells[i].bucket / OCTAVE != sizes->cells[i + 1].bucket / OCTAVE);
}

static int open_parts(struct plan *plan, const struct histogram *sizes, uint64_t left, uint64_t files)
{
    double all = (double)histogram_count(sizes), seen = 0;
    struct part part = {0};
    uint64_t given = 0, opens = 0;

    for (unsigned i = 0; i < sizes->length && given < left; i++) {
        double count = (double)sizes->cells[i].count;
        uint64_t until, some;

        seen += count;
        part.opens += count;
        part.bytes += count * (double)bucket_lower(sizes->cells[i].bucket);
        if (!ends_part(sizes, i, &part, all - seen, all))
            continue;
        until = all - seen < PART_MIN * all ? left : (uint64_t)(seen / all * (double)left);
        opens += until - given;
        given = until;
        some = MIN(MAX((uint64_t)(part.opens / all * (double)files), 1), opens);
        if (some && open_part(plan, &part, some, &opens))
            return -ENOMEM;
        part = (struct part){0};
    }
    return 0;
}

int opening_add(struct plan *plan, const struct histogram *sizes)
{
    uint64_t left = plan->opens > plan->opened ? plan->opens - plan->opened : 0, files = plan_files(plan, left);
    struct part unknown = {1, FILE_BYTES};

    if (!left)
        return 0;
    if (!sizes->length)
        return open_part(plan, &unknown, files, &left);
    return open_parts(plan, sizes, left, files);
}
