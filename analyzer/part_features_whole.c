/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all of a process, or of what has no processes, does that a part is of. */
#include <math.h>

#include "analyzer/part_features.h"

static double whole_open_errors(const struct feature_context *c)
{
    return open_error_share(c->whole);
}

static double whole_stat_errors(const struct feature_context *c)
{
    return stat_error_share(c->whole);
}

/* Failures because there is no such name; missing where errors are known by number only. */
static double whole_missing(const struct feature_context *c)
{
    return quotient(c->missing, c->whole->failed[OP_STAT] + c->whole->ok[OP_STAT]);
}

static double whole_write_share(const struct feature_context *c)
{
    return quotient(c->whole->bytes[OP_WRITE],
                    c->whole->bytes[OP_READ] + c->whole->bytes[OP_WRITE]);
}

static double whole_commits(const struct feature_context *c)
{
    return c->whole->ok[OP_FSYNC] + c->whole->ok[OP_RENAME];
}

static double whole_renames_per_create(const struct feature_context *c)
{
    return figure_renames_per_create(c->whole->ok[OP_RENAME], c->whole->ok[OP_CREATE]);
}

static double whole_bytes_per_fsync(const struct feature_context *c)
{
    return to_each_fsync(c->whole->bytes[OP_WRITE], c->whole);
}

static double whole_jumps(const struct feature_context *c)
{
    return c->jumps;
}

static double whole_write_jumps(const struct feature_context *c)
{
    return c->write_jumps;
}

/* Where nothing jumps, nothing says that it only goes forward. */
static double whole_returns(const struct feature_context *c)
{
    return isnan(c->returns) ? 1 : c->returns;
}

/* What a process writes here and there into files that are there already, as databases do: of its bytes. */
static double whole_updates(const struct feature_context *c)
{
    return c->process && !(c->whole->ok[OP_CREATE] > 0) ? c->write_jumps * whole_write_share(c) : NAN;
}

static double whole_files(const struct feature_context *c)
{
    return c->files;
}

static double whole_unwritten_syncs(const struct feature_context *c)
{
    return c->unwritten_syncs;
}

static double whole_unpacked(const struct feature_context *c)
{
    return c->unpacked;
}

static double whole_received(const struct feature_context *c)
{
    return c->received;
}

static double is_process(const struct feature_context *c)
{
    return c->process;
}

static double whole_fault_writes(const struct feature_context *c)
{
    return c->fault_writes;
}

static double whole_bytes_per_fault_write(const struct feature_context *c)
{
    return c->bytes_per_fault_write;
}

static double peers(const struct feature_context *c)
{
    return c->peers;
}

const struct part_feature features_of_whole[] = {
    {"whole.open_errors", whole_open_errors},
    {"whole.stat_errors", whole_stat_errors},
    {"whole.missing", whole_missing},
    {"whole.fault_writes", whole_fault_writes},
    {"whole.bytes_per_fault_write", whole_bytes_per_fault_write},
    {"whole.write_share", whole_write_share},
    {"whole.commits", whole_commits},
    {"whole.renames_per_create", whole_renames_per_create},
    {"whole.bytes_per_fsync", whole_bytes_per_fsync},
    {"whole.jumps", whole_jumps},
    {"whole.write_jumps", whole_write_jumps},
    {"whole.updates", whole_updates},
    {"whole.returns", whole_returns},
    {"whole.unpacked", whole_unpacked},
    {"whole.files", whole_files},
    {"whole.unwritten_syncs", whole_unwritten_syncs},
    {"whole.received", whole_received},
    {"whole.is_process", is_process},
    {"whole.peers", peers},
    {NULL, NULL},
};
