/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that have a file of their own, and what all answers are written with. */
#ifndef UNBLEND_ANALYZER_ANSWER_PRIVATE_H
#define UNBLEND_ANALYZER_ANSWER_PRIVATE_H

#include "analyzer/answer.h"

/* What is too long for memory is missing, which answers_of() notices. */
void answer_say(struct answer *a, enum answer_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One more sentence. */
void answer_add(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

void answer_saturated(const struct report *report, struct answer *a);
void answer_gpus(const struct report *report, struct answer *a);

#endif
