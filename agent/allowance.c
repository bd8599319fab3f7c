/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/allowance.h"

#include <math.h>

#define MOST    6400.0 /* tokens, as many as a user begins with */
#define EACH_MS 0.1    /* tokens */

static struct allowance_user *find(struct allowance *allowance, uint32_t uid, int64_t now_ms)
{
    struct allowance_user *idle = allowance->users;

    for (unsigned i = 0; i < allowance->count; i++) {
        if (allowance->users[i].uid == uid)
            return &allowance->users[i];
        if (allowance->users[i].at_ms < idle->at_ms)
            idle = &allowance->users[i];
    }
    if (allowance->count < ALLOWANCE_USERS)
        idle = &allowance->users[allowance->count++];
    *idle = (struct allowance_user){.uid = uid, .tokens = MOST, .at_ms = now_ms};
    return idle;
}

bool allowance_take(struct allowance *allowance, uint32_t uid, double tokens, int64_t now_ms)
{
    struct allowance_user *user = find(allowance, uid, now_ms);

    user->tokens = fmin(MOST, user->tokens + EACH_MS * (double)(now_ms - user->at_ms));
    user->at_ms = now_ms;
    if (user->tokens < tokens)
        return false;
    user->tokens -= tokens;
    return true;
}
