/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/limit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "lib/clock.h"

#define SETS 4096
#define WAYS 4

struct bucket {
    uint64_t key; /* 0: free */
    double level;
    int64_t seen_ns; /* monotonic */
};

struct limit {
    pthread_mutex_t lock;
    double rate, burst;
    uint64_t seed; /* nobody can choose keys that share a set */
    struct bucket buckets[SETS][WAYS];
};

int limit_new(double rate, double burst, struct limit **out)
{
    struct limit *limit = calloc(1, sizeof(*limit));

    if (!limit)
        return -ENOMEM;
    if (getrandom(&limit->seed, sizeof(limit->seed), 0) < 0)
        limit->seed = (uint64_t)monotonic_ns();
    pthread_mutex_init(&limit->lock, NULL);
    limit->rate = rate;
    limit->burst = burst;
    *out = limit;
    return 0;
}

void limit_free(struct limit *limit)
{
    if (!limit)
        return;
    pthread_mutex_destroy(&limit->lock);
    free(limit);
}

/* FNV-1a from a secret start, finished as in MurmurHash3. */
static uint64_t hash_of(const struct limit *limit, const char *key)
{
    uint64_t hash = limit->seed ^ UINT64_C(0xcbf29ce484222325);

    for (const char *c = key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    return hash ? hash : 1;
}

/* The key's bucket as of now; the one unseen for longest makes room. */
static struct bucket *find(struct limit *limit, uint64_t key, int64_t now)
{
    struct bucket *set = limit->buckets[key % SETS], *oldest = set;

    for (unsigned i = 0; i < WAYS; i++) {
        struct bucket *bucket = &set[i];

        if (bucket->key == key) {
            bucket->level += (double)(now - bucket->seen_ns) / 1e9 * limit->rate;
            if (bucket->level > limit->burst)
                bucket->level = limit->burst;
            bucket->seen_ns = now;
            return bucket;
        }
        if (bucket->seen_ns < oldest->seen_ns)
            oldest = bucket;
    }
    *oldest = (struct bucket){.key = key, .level = limit->burst, .seen_ns = now};
    return oldest;
}

static unsigned take(struct limit *limit, const char *key, double cost)
{
    struct bucket *bucket;
    unsigned wait_s = 0;

    if (limit->rate <= 0)
        return 0;
    pthread_mutex_lock(&limit->lock);
    bucket = find(limit, hash_of(limit, key), monotonic_ns());
    if (bucket->level <= 0)
        wait_s = 1 + (unsigned)(-bucket->level / limit->rate);
    else
        bucket->level -= cost;
    pthread_mutex_unlock(&limit->lock);
    return wait_s;
}

unsigned limit_take(struct limit *limit, const char *key, double cost)
{
    return take(limit, key, cost);
}

unsigned limit_look(struct limit *limit, const char *key)
{
    return take(limit, key, 0);
}
