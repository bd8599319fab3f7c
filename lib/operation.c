/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct operation_info table[OP_COUNT] = {
    [OP_READ] = {"read", OP_CLASS_DATA, true},
    [OP_WRITE] = {"write", OP_CLASS_DATA, true},
    [OP_OPEN] = {"open", OP_CLASS_METADATA, false},
    [OP_CLOSE] = {"close", OP_CLASS_METADATA, false},
    [OP_STAT] = {"stat", OP_CLASS_METADATA, false},
    [OP_SEEK] = {"seek", OP_CLASS_SEEK, false},
    [OP_READDIR] = {"readdir", OP_CLASS_METADATA, false},
    [OP_CREATE] = {"create", OP_CLASS_METADATA, false},
    [OP_UNLINK] = {"unlink", OP_CLASS_METADATA, false},
    [OP_RENAME] = {"rename", OP_CLASS_METADATA, false},
    [OP_MKDIR] = {"mkdir", OP_CLASS_METADATA, false},
    [OP_TRUNCATE] = {"truncate", OP_CLASS_METADATA, false},
    [OP_SETATTR] = {"setattr", OP_CLASS_METADATA, false},
    [OP_FSYNC] = {"fsync", OP_CLASS_SYNC, false},
    [OP_MMAP_FAULT] = {"mmap_fault", OP_CLASS_FAULT, true},
    [OP_BLOCK_READ] = {"block_read", OP_CLASS_BLOCK, true},
    [OP_BLOCK_WRITE] = {"block_write", OP_CLASS_BLOCK, true},
    [OP_BLOCK_FLUSH] = {"block_flush", OP_CLASS_BLOCK, false},
    [OP_BLOCK_DISCARD] = {"block_discard", OP_CLASS_BLOCK, true},
};

const struct operation_info *operation_info(enum operation op)
{
    return op >= OP_FIRST && op < OP_COUNT ? &table[op] : NULL;
}

enum operation operation_by_name(const char *name)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        if (*table[op].name == *name && strcmp(table[op].name, name) == 0)
            return op;
    return OP_NONE;
}
