/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

double subject_time_s(const struct tally *tally)
{
    double sum = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        sum += (double)tally->op[op].latency_sum_ns / 1e9;
    return sum;
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
    if (volume)
        subject->volume = volume->name;
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

int subject_give(struct subject *subject, subject_take take, void *to)
{
    int err = take(to, subject);

    free(subject->note);
    subject->note = NULL;
    return err;
}
