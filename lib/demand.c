/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/demand.h"

struct demand_slot demand_of(enum operation op, uint64_t ops, uint64_t bytes)
{
    struct demand_slot slot = {{0}};

    if (op == OP_READ || op == OP_BLOCK_READ) {
        slot.demand[DEMAND_READ_BYTES] = bytes;
        slot.demand[DEMAND_READ_OPS] = ops;
    } else if (op == OP_WRITE || op == OP_BLOCK_WRITE) {
        slot.demand[DEMAND_WRITE_BYTES] = bytes;
        slot.demand[DEMAND_WRITE_OPS] = ops;
    } else if (operation_info(op)->class == OP_CLASS_METADATA) {
        slot.demand[DEMAND_METADATA_OPS] = ops;
    }
    return slot;
}
