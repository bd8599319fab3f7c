/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/refusal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "collector/limit.h"
#include "lib/log.h"

#define LINES_S     0.5 /* of an address */
#define LINES_BURST 100
#define ALL_S       5.0 /* of all addresses together */
#define ALL_BURST   1000

static struct limit *lines, *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint unsaid;

static void make(void)
{
    if (limit_new(LINES_S, LINES_BURST, &lines) || limit_new(ALL_S, ALL_BURST, &all))
        log_warning("no memory to bound the log: each refusal is logged");
}

void refusal_log(const char *address, unsigned status, const char *what, const char *node, const char *why)
{
    char number[24] = "cut off", more[64] = "";
    unsigned silent;

    pthread_once(&once, make);
    if ((lines && limit_take(lines, address, 1)) || (all && limit_take(all, "", 1))) {
        atomic_fetch_add(&unsaid, 1);
        return;
    }
    silent = atomic_exchange(&unsaid, 0);
    if (silent)
        snprintf(more, sizeof(more), " (%u more refusals are not shown)", silent);
    if (status)
        snprintf(number, sizeof(number), "refused %u", status);
    log_warning("%s: %s from %s%s%.255s: %s%s", number, what, address, *node ? ", node " : "", node, why, more);
}
