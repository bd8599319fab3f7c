/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features of a part, which the catalogue's requirements speak of. */
#include <math.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/part.h"

#define WALK_NAMES 40  /* stats a readdir, */
#define WALK_STATS 3   /* and a file that is opened */
#define LINE       512 /* bytes */
#define FAILED_FEW 0.2 /* of its operations: opens that fail are held against no fewer, */
#define MADE_FEW   0.33 /* and files that are made against no fewer than so many */
#define BOTH_MIN   0.5 /* bytes written to bytes read, or the reverse, of who does both */

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

/* How much of its reads cannot be of samples, were all of these read once. */
static double beyond_samples(const struct feature_context *c)
{
    return isnan(c->samples) ? INFINITY : quotient(c->whole->bytes[OP_READ] - c->samples, c->part->bytes[OP_READ]);
}

static double read_modal_share(const struct feature_context *c)
{
    return modal_share(c->part->read);
}

static double failed_opens(const struct part *part)
{
    return part->failed[OP_OPEN] + part->failed[OP_CREATE];
}

static double open_error_share(const struct part *part)
{
    return quotient(failed_opens(part), failed_opens(part) + part_opens(part));
}

static double open_errors(const struct feature_context *c)
{
    return open_error_share(c->part);
}

static double whole_open_errors(const struct feature_context *c)
{
    return open_error_share(c->whole);
}

/* What the whole has of these, but for what other profiles have. */
static double left(double (*of)(const struct part *part), const struct feature_context *c)
{
    double all = of(c->whole);

    for (uint32_t p = 0; p < c->profiles; p++)
        all -= p != c->profile ? of(&c->at[p]) : 0;
    return fmax(0, all);
}

/* Opens that failed and that others do not have, to these and so many that did not. */
static double failed_beside(double opens, const struct feature_context *c)
{
    double failed = left(failed_opens, c);

    return quotient(failed, failed + opens);
}

static double left_open_errors(const struct feature_context *c)
{
    return failed_beside(part_opens(c->whole), c);
}

/* Who does much more than open files may do that beside who fails to. */
static double left_failed_opens(const struct feature_context *c)
{
    return failed_beside(fmax(part_opens(c->whole), ops(c) * FAILED_FEW), c);
}

static double stat_error_share(const struct part *part)
{
    return quotient(part->failed[OP_STAT], part->failed[OP_STAT] + part->ok[OP_STAT]);
}

static double stat_errors(const struct feature_context *c)
{
    return stat_error_share(c->part);
}

static double whole_stat_errors(const struct feature_context *c)
{
    return stat_error_share(c->whole);
}

/*
 * Whether stats are a walk's: it looks at what it has listed, some forty names a readdir at most in folders of common
 * size, or at many more names than files are opened. Below 1 neither is the case.
 */
static double walk(const struct feature_context *c)
{
    double files = fmax(0, c->whole->ok[OP_OPEN] - c->whole->ok[OP_READDIR] / READDIRS);
    double stats = c->part->ok[OP_STAT];

    return stats > 0 ? fmax(quotient(c->part->ok[OP_READDIR] * WALK_NAMES, stats), stats / (files * WALK_STATS)) : INFINITY;
}

/* Stats for each write of a line at most: who logs may look at its file each time. */
static double stats_per_line(const struct feature_context *c)
{
    double lines = 0;

    for (unsigned i = 1; i < BUCKET_COUNT && bucket_lower(i) < LINE; i++)
        lines += c->whole->write[i];
    return lines > 0 ? c->part->ok[OP_STAT] / lines : INFINITY;
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

static double write_share(const struct feature_context *c)
{
    return quotient(c->part->bytes[OP_WRITE], c->part->bytes[OP_READ] + c->part->bytes[OP_WRITE]);
}

static double whole_commits(const struct feature_context *c)
{
    return c->whole->ok[OP_FSYNC] + c->whole->ok[OP_RENAME];
}

static double whole_renames_per_create(const struct feature_context *c)
{
    return figure_renames_per_create(c->whole->ok[OP_RENAME], c->whole->ok[OP_CREATE]);
}

static double seeks_per_open(const struct feature_context *c)
{
    return quotient(c->part->ok[OP_SEEK], opens(c));
}

/* Bytes to each operation of a kind that the whole did; where it did none, there is no end to them. */
static double per(enum operation op, double bytes, const struct feature_context *c)
{
    return c->whole->ok[op] > 0 ? bytes / c->whole->ok[op] : INFINITY;
}

/* How often written data is forced to disk: a database's log does it after a few KB. */
static double whole_bytes_per_fsync(const struct feature_context *c)
{
    return per(OP_FSYNC, c->whole->bytes[OP_WRITE], c);
}

/* With what a part reads: a database reads little between two of them, whatever is read beside it. */
static double bytes_per_fsync(const struct feature_context *c)
{
    return per(OP_FSYNC, c->whole->bytes[OP_WRITE] + c->part->bytes[OP_READ], c);
}

/* Near 1 where as much is written as read, as who copies and who packs does; but for what others have who do. */
static double copied(const struct feature_context *c)
{
    double read = c->whole->bytes[OP_READ] + c->whole->bytes[OP_MMAP_FAULT], written = c->whole->bytes[OP_WRITE];

    for (uint32_t p = 0; p < c->profiles; p++) {
        double in = c->at[p].bytes[OP_READ], out = c->at[p].bytes[OP_WRITE];

        if (p == c->profile || !(fmin(in, out) > BOTH_MIN * fmax(in, out)))
            continue;
        read -= in;
        written -= out;
    }
    return quotient(fmax(0, fmin(read, written)), fmax(read, written));
}

static double creates(const struct part *part)
{
    return part->ok[OP_CREATE];
}

/* What it writes, to each file that is made, but for those that others have made; what is there already may be written over. */
static double bytes_per_create(const struct feature_context *c)
{
    double made = left(creates, c);

    return made >= 0.5 ? c->part->bytes[OP_WRITE] / made : INFINITY;
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
    return c->process && !(creates(c->whole) > 0) ? c->write_jumps * whole_write_share(c) : NAN;
}

static double whole_received(const struct feature_context *c)
{
    return c->received;
}

/* Files made, to those opened or to folders listed, or to so many where these are more. */
static double made_beside(double others, const struct feature_context *c)
{
    double opens = fmax(c->whole->ok[OP_OPEN], c->part->ok[OP_READDIR]);

    return quotient(c->whole->ok[OP_CREATE], fmax(opens, others));
}

static double whole_creates_per_open(const struct feature_context *c)
{
    return made_beside(0, c);
}

/* Who does much more than make files may do that beside who makes them. */
static double whole_made(const struct feature_context *c)
{
    return made_beside(ops(c) * MADE_FEW, c);
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

static const struct {
    const char *name;
    double (*value)(const struct feature_context *context);
} features[] = {
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
    {"seeks_per_open", seeks_per_open},
    {"minors_per_open", minors_per_open},
    {"beyond_samples", beyond_samples},
    {"read_modal_share", read_modal_share},
    {"bytes_per_fsync", bytes_per_fsync},
    {"bytes_per_create", bytes_per_create},
    {"copied", copied},
    {"open_errors", open_errors},
    {"stat_errors", stat_errors},
    {"walk", walk},
    {"stats_per_line", stats_per_line},
    {"left.open_errors", left_open_errors},
    {"left.failed_opens", left_failed_opens},
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
    {"whole.received", whole_received},
    {"whole.creates_per_open", whole_creates_per_open},
    {"whole.made", whole_made},
    {"whole.is_process", is_process},
    {"whole.peers", peers},
};

/* A pipeline's features are computed from a job (analyzer/pipeline.c). */
static const char *const job_features[] = {
    "job.reads", "job.read_ops", "job.read_p50",           "job.write_p50",
    "job.write_peak_to_mean", "job.read_write_overlap", "job.opens_per_close",
};

bool feature_is_known(const char *name)
{
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
        if (strcmp(features[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(job_features) / sizeof(*job_features); i++)
        if (strcmp(job_features[i], name) == 0)
            return true;
    return strncmp(name, "share_bytes.", 12) == 0 || strncmp(name, "share_ops.", 10) == 0;
}

double feature_value(const struct feature_context *context, const char *name)
{
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
        if (strcmp(features[i].name, name) == 0)
            return features[i].value(context);
    return NAN;
}
