/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much those without rights may ask of the agent, user by user: a bucket of tokens that fills up again (Turner, "New
 * Directions in Communications", 1986). Of more users than it has places for, the one who has asked for nothing for the longest
 * time is forgotten.
 */
#ifndef UNBLEND_AGENT_ALLOWANCE_H
#define UNBLEND_AGENT_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOWANCE_USERS 64

struct allowance {
    struct allowance_user {
        uint32_t uid;
        double tokens;
        int64_t at_ms; /* when it had so many, monotonic */
    } users[ALLOWANCE_USERS];
    unsigned count;
};

/* Whether the user has so many tokens; they are taken then. Zeroed is an allowance of which nobody has taken any. */
bool allowance_take(struct allowance *allowance, uint32_t uid, double tokens, int64_t now_ms);

#endif
