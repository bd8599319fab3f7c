/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A collector that is wrong, for exactly_once.py to find: its ledger never knows a batch again. */
#include <stdatomic.h>
#include <stdlib.h>

#include "collector/command.h"
#include "collector/ledger.h"
#include "lib/clock.h"

int __real_ledger_enter(struct db *db, const struct batch *batch, const uint8_t hash[SHA256_SIZE],
                        struct ledger_place *place, enum verdict *verdict);
int __wrap_ledger_enter(struct db *db, const struct batch *batch, const uint8_t hash[SHA256_SIZE],
                        struct ledger_place *place, enum verdict *verdict);

int __wrap_ledger_enter(struct db *db, const struct batch *batch, const uint8_t hash[SHA256_SIZE],
                        struct ledger_place *place, enum verdict *verdict)
{
    struct batch other = *batch;

    other.seq = (uint64_t)monotonic_ns();
    return __real_ledger_enter(db, &other, hash, place, verdict);
}

int main(int argc, char **argv)
{
    return collector_main(argc, argv);
}
