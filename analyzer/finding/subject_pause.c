/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job that reads nothing while it saves: each of its reads is as fast as ever, there are none for some time. */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "lib/cleanup.h"

#define STILL        0.1     /* of the reads in a slot that has some: fewer are none */
#define MUCH_WRITTEN 0.25    /* of the fullest slot */
#define WRITE_MIN    1048576 /* a second */

/* What the job itself reads and writes there, slot by slot, from the first in which it reads to the last. */
struct course {
    const double *reads, *written;
    size_t first, end;
    double usual, much; /* reads in a slot that has some; bytes that make a slot one of saving */
};

struct pauses {
    double count, still, saving; /* how often it stops while it saves; slots without reads, and those of them */
    double saves, about;         /* slots of much writing, and those in and about such pauses */
};

static bool is_still(const struct course *course, size_t slot)
{
    return course->reads[slot] < STILL * course->usual;
}

static bool is_saving(const struct course *course, size_t slot)
{
    return course->written[slot] >= course->much;
}

static void describe(struct course *course, size_t count, double slot_s)
{
    double sum = 0, slots = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        sum += course->reads[i];
        slots += course->reads[i] > 0;
        most = fmax(most, course->written[i]);
    }
    course->usual = slots > 0 ? sum / slots : INFINITY;
    course->much = fmax(most * MUCH_WRITTEN, WRITE_MIN * slot_s);
    while (course->first < count && is_still(course, course->first))
        course->first++;
    for (course->end = count; course->end > course->first && is_still(course, course->end - 1);)
        course->end--;
}

/* Slots without reads, between two with some: what is written in these two belongs to it, as slots are cut anywhere. */
static void add_pause(const struct course *course, size_t begin, size_t end, struct pauses *pauses)
{
    double saves = 0;

    for (size_t i = begin - 1; i <= end; i++)
        saves += is_saving(course, i);
    pauses->still += (double)(end - begin);
    if (!(saves > 0) || (is_saving(course, end) && saves == 1))
        return; /* it may as well save since it has nothing to read */
    pauses->count++;
    pauses->saving += (double)(end - begin);
    pauses->about += saves;
}

static void find_pauses(const struct course *course, struct pauses *pauses)
{
    for (size_t i = course->first; i < course->end; i++) {
        size_t begin = i;

        while (is_still(course, i)) /* the last one is not */
            i++;
        if (i > begin)
            add_pause(course, begin, i, pauses);
    }
    for (size_t i = course->first; i + 1 < course->end; i++) /* what comes after the last one was not seen */
        pauses->saves += is_saving(course, i);
}

static int all_slots(const struct series *series, enum demand demand, double **out, size_t *count)
{
    return series_windows(series, DEMAND_BIT(demand), series->slot_ms, series_from(series), series_last(series), out,
                          count);
}

int subject_pauses(const struct volume_total *volume, struct subject *subject)
{
    _cleanup_free_ double *reads = NULL, *written = NULL;
    double slot_s = volume->series.slot_ms / 1e3;
    struct pauses pauses = {0};
    struct course course = {0};
    size_t count;
    int err;

    if (!volume->series.length)
        return 0;
    err = all_slots(&volume->series, DEMAND_READ_OPS, &reads, &count);
    if (!err)
        err = all_slots(&volume->series, DEMAND_WRITE_BYTES, &written, &count);
    if (err)
        return err == -ENODATA ? 0 : err;
    course.reads = reads;
    course.written = written;
    describe(&course, count, slot_s);
    find_pauses(&course, &pauses);
    subject->values[TRAIT_PAUSES] = pauses.count;
    subject->values[TRAIT_PAUSES_SAVING] = quotient(pauses.saving, pauses.still);
    subject->values[TRAIT_SAVES_PAUSED] = quotient(fmin(pauses.about, pauses.saves), pauses.saves);
    subject->values[TRAIT_READ_TIME_SHARE] =
        quotient((double)volume->tally.op[OP_READ].latency_sum_ns / 1e9, subject_time_s(&volume->tally));
    subject->values[TRAIT_SAVED_FILE] =
        quotient((double)volume->tally.op[OP_WRITE].bytes, (double)tally_succeeded(&volume->tally, OP_CREATE));
    subject->values[TRAIT_STOPPED_TIME] = pauses.saving * slot_s;
    subject->values[TRAIT_STOPPED_SHARE] = quotient(pauses.saving, (double)(course.end - course.first));
    return 0;
}
