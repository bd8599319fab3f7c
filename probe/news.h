/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel side has noted of jobs, fetched before its maps are full: cgroups by their keys, and tickets, which
 * are what a variable of an environment said. Remembered as long as somebody asks for them.
 */
#ifndef UNBLEND_PROBE_NEWS_H
#define UNBLEND_PROBE_NEWS_H

#include <stdint.h>

#include "probe/cgroup.h"

struct news;

#define NEWS_UNKNOWN UINT32_MAX

struct news_cgroup {
    uint64_t key; /* ABI_CGROUP() */
    uint32_t job; /* the finder's: NEWS_UNKNOWN until it has looked */
    int64_t used_ns;
    char path[];
};

struct news_ticket {
    uint32_t id; /* ABI_TICKET() */
    uint32_t job; /* the finder's, as above */
    int64_t used_ns;
    char value[];
};

/* Maps of the kernel side, -1 for none; root is as in probe/host.h, and copied. 0 or -ENOMEM. */
int news_new(int cgroups_map, int tickets_map, const char *root, struct news **out);
void news_free(struct news *news); /* NULL is fine */

/* Fetches what is new. 0 or -ENOMEM. */
int news_fetch(struct news *news);

/* What the kernel side has noted since the last news_fetch() is fetched when it is asked for here: who is told that
   nobody knows would keep that. NULL when nobody has told of it; a cgroup is then looked for where its hierarchy is
   mounted, though not too often. Valid until the next news_forget(). */
struct news_cgroup *news_cgroup(struct news *news, uint64_t key);
struct news_ticket *news_ticket(struct news *news, uint32_t id);

/* Adds one. 0 or -ENOMEM; of a ticket *id only on success, the same one for the same rank and value. */
int news_add_cgroup(struct news *news, uint64_t key, const char *path);
int news_add_ticket(struct news *news, uint32_t rank, const char *value, uint32_t *id);

/* Forgets what nobody has asked for since then (CLOCK_MONOTONIC). 0 or -ENOMEM. */
int news_forget(struct news *news, int64_t before_ns);

#endif
