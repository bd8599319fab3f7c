/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The questions that a report is opened with, each answered with numbers, or with what keeps it from being answered.
 */
#ifndef UNBLEND_ANALYZER_ANSWER_H
#define UNBLEND_ANALYZER_ANSWER_H

#include "analyzer/report.h"

enum answer_state {
    ANSWER_PLAIN,
    ANSWER_GOOD,
    ANSWER_BAD,
    ANSWER_UNSURE, /* cannot tell, because */
    ANSWER_STATES
};

/* Their names in reports. */
extern const char *const answer_states[ANSWER_STATES];

struct answer {
    const char *id, *question;
    enum answer_state state;
    char *verdict; /* a sentence */
    char *detail;  /* more of them; may be empty */
};

enum answer_id {
    ANSWER_SATURATED,
    ANSWER_GPUS,
    ANSWER_CAUSES,
    ANSWER_CHANGE,
    ANSWER_GROWTH,
    ANSWER_FULL,
    ANSWER_UNSEEN,
    ANSWERS
};

/* 0 or -ENOMEM. */
int answers_of(const struct report *report, struct answer out[ANSWERS]);
void answers_clear(struct answer answers[ANSWERS]);

#endif
