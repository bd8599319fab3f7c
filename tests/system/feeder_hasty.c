/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A spool that is wrong, for exactly_once.py to find: a batch is deleted when it is sent, not when it has arrived. */
#include "agent/spool.h"

int __real_spool_next(struct spool *spool, uint64_t after, uint64_t *place, void **payload, size_t *size,
                      unsigned *wait_ms);
int __wrap_spool_next(struct spool *spool, uint64_t after, uint64_t *place, void **payload, size_t *size,
                      unsigned *wait_ms);

int __wrap_spool_next(struct spool *spool, uint64_t after, uint64_t *place, void **payload, size_t *size,
                      unsigned *wait_ms)
{
    int got = __real_spool_next(spool, after, place, payload, size, wait_ms);

    if (got == 1)
        spool_acknowledge(spool, *place);
    return got;
}
