/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a part does by itself. */
#include <math.h>

#include "analyzer/part_features.h"

/* How much of the transfers have the most frequent size: 1 for a fixed buffer. */
static double modal_share(const double sizes[BUCKET_COUNT])
{
    double total = 0, most = 0;

    for (unsigned i = 1; i < BUCKET_COUNT; i++) {
        total += sizes[i];
        most = fmax(most, sizes[i]);
    }
    return quotient(most, total);
}

static double ops(const struct feature_context *c)
{
    return part_ops(c->part);
}

static double opens(const struct feature_context *c)
{
    return part_opens(c->part);
}

static double read_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_READ];
}

static double write_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_WRITE];
}

static double fault_bytes(const struct feature_context *c)
{
    return c->part->bytes[OP_MMAP_FAULT];
}

/* By page faults, and what of the files opened may have been in the page cache. */
static double mapped_bytes(const struct feature_context *c)
{
    return fault_bytes(c) + fmin(FAULT_AROUND * c->minors, c->part->opened);
}

/* By calls and by page faults. */
static double gained(const struct feature_context *c)
{
    return c->part->bytes[OP_READ] + c->part->bytes[OP_MMAP_FAULT];
}

/* That moved something, and page faults. */
static double reads(const struct feature_context *c)
{
    return c->part->ok[OP_READ] - c->part->read[0] + c->part->ok[OP_MMAP_FAULT];
}

/* Nothing was read of the files that were opened, but enough pages were mapped that were in the page cache already. */
static bool is_in_cache(const struct feature_context *c)
{
    return c->part->opened > 0 && c->minors >= opens(c) && !(reads(c) > 0);
}

static double bytes_per_open(const struct feature_context *c)
{
    return quotient(is_in_cache(c) ? c->part->opened : gained(c), opens(c));
}

/* Bytes read, of those of the files opened. */
static double coverage(const struct feature_context *c)
{
    return is_in_cache(c) ? 1 : quotient(gained(c), c->part->opened);
}

static double reads_per_open(const struct feature_context *c)
{
    return is_in_cache(c) ? 1 : quotient(reads(c), opens(c));
}

/* Minor page faults of the whole: files that are mapped from the page cache have many for each. */
static double minors_per_open(const struct feature_context *c)
{
    return quotient(c->minors, opens(c));
}

static double read_modal_share(const struct feature_context *c)
{
    return modal_share(c->part->read);
}

static double open_errors(const struct feature_context *c)
{
    return open_error_share(c->part);
}

static double stat_errors(const struct feature_context *c)
{
    return stat_error_share(c->part);
}

static double write_share(const struct feature_context *c)
{
    return quotient(c->part->bytes[OP_WRITE], c->part->bytes[OP_READ] + c->part->bytes[OP_WRITE]);
}

/* Folders are opened to be listed. */
static double readdirs_per_open(const struct feature_context *c)
{
    return c->part->ok[OP_OPEN] > 0 ? c->part->ok[OP_READDIR] / c->part->ok[OP_OPEN] : INFINITY;
}

static double seeks_per_open(const struct feature_context *c)
{
    return quotient(c->part->ok[OP_SEEK], opens(c));
}

const struct part_feature features_of_part[] = {
    {"ops", ops},
    {"opens", opens},
    {"read_bytes", read_bytes},
    {"write_bytes", write_bytes},
    {"write_share", write_share},
    {"fault_bytes", fault_bytes},
    {"mapped_bytes", mapped_bytes},
    {"bytes_per_open", bytes_per_open},
    {"coverage", coverage},
    {"reads_per_open", reads_per_open},
    {"readdirs_per_open", readdirs_per_open},
    {"seeks_per_open", seeks_per_open},
    {"minors_per_open", minors_per_open},
    {"read_modal_share", read_modal_share},
    {"open_errors", open_errors},
    {"stat_errors", stat_errors},
    {NULL, NULL},
};
