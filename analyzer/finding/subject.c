/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"

double subject_time_s(const struct tally *tally)
{
    double sum = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        sum += (double)tally->op[op].latency_sum_ns / 1e9;
    return sum;
}

double subject_span_s(const struct aggregate *totals, const struct job_total *job)
{
    const struct series *series = &job->series;
    double from_s, end_s;

    if (!series->length)
        return NAN;
    from_s = fmax((double)series_from(series) / 1e3, (double)totals->start_ns / 1e9);
    end_s = fmin((double)(series_last(series) + series->slot_ms) / 1e3, (double)totals->end_ns / 1e9);
    return end_s > from_s ? end_s - from_s : NAN;
}

bool subject_in_memory(const struct volume_total *volume)
{
    return volume->fstype && (strcmp(volume->fstype, "tmpfs") == 0 || strcmp(volume->fstype, "ramfs") == 0);
}

void subject_init(struct subject *subject, enum subject_kind kind, const struct job_total *job,
                  const struct volume_total *volume)
{
    *subject = (struct subject){.kind = kind};
    for (unsigned t = 0; t < TRAIT_COUNT; t++)
        subject->values[t] = NAN;
    if (job) {
        subject->job = job->name;
        subject->node = job->node;
        subject->user = job->user;
        subject->values[TRAIT_WHOLE] = subject_time_s(&job->tally);
    }
    if (volume) {
        subject->volume = volume->name;
        subject->values[TRAIT_IN_MEMORY] = subject_in_memory(volume);
    }
}

int subject_note(struct subject *subject, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vasprintf(&subject->note, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return 0;
    subject->note = NULL;
    return -ENOMEM;
}

/* One number, or one with its 95 % interval. */
static const char *estimate(char buffer[static 4 * HUMAN_SIZE], const char value[static HUMAN_SIZE],
                            const char low[static HUMAN_SIZE], const char high[static HUMAN_SIZE])
{
    if (strcmp(low, high) == 0)
        snprintf(buffer, 4 * HUMAN_SIZE, "%s", value);
    else
        snprintf(buffer, 4 * HUMAN_SIZE, "%s (95 %%: %s to %s)", value, low, high);
    return buffer;
}

int subject_files(struct subject *subject, const struct working_opens *opened)
{
    char files[4 * HUMAN_SIZE], bytes[4 * HUMAN_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], opens[HUMAN_SIZE];

    estimate(files, human_count(a, (uint64_t)llround(opened->files.value)),
             human_count(b, (uint64_t)llround(opened->files.low)),
             human_count(c, (uint64_t)llround(opened->files.high)));
    estimate(bytes, human_bytes(a, opened->bytes.value), human_bytes(b, opened->bytes.low),
             human_bytes(c, opened->bytes.high));
    if (asprintf(&subject->files, "%s opens; distinct files: %s; their bytes: %s",
                 human_count(opens, opened->opens), files, bytes) >= 0)
        return 0;
    subject->files = NULL;
    return -ENOMEM;
}

int subject_give(struct subject *subject, subject_take take, void *to)
{
    int err = take(to, subject);

    free(subject->note);
    free(subject->files);
    subject->note = subject->files = NULL;
    return err;
}
