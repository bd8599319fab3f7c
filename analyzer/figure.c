/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/figure.h"

#include <errno.h>
#include <string.h>

#define UNPACKED_MIN   100 /* files that are made, */
#define UNPACKED_SHARE 0.3 /* and bytes written to bytes read, */
#define UNPACKED_TIMES 20  /* and no more than that many times: else they come from elsewhere */
#define UNPACKED_SIZE  0.25 /* of the mean file made: what is smaller is no file that was copied, but the list of users */
#define RENAMES_MIN 3
#define ORDER_MIN   16
#define ORDER_KNOWN 0.5
#define JOINT_MIN   0.9 /* of transfers, and of those that jump */

/* Extended attributes that a file lacks are no failure to find it. */
struct failures figure_failures(const struct record *record)
{
    struct failures failures = {0};

    for (unsigned i = 0; i < record->error_codes.length; i++) {
        const struct histogram_cell *cell = &record->error_codes.cells[i];

        *(cell->bucket == ENOENT || cell->bucket == ENOTDIR ? &failures.missing : &failures.other) +=
            (double)cell->count;
    }
    failures.unknown = fmax(0, (double)record->errors - failures.missing - failures.other);
    return failures;
}

double figure_missing(const struct record *record)
{
    struct failures failures = figure_failures(record);

    return failures.missing + failures.unknown;
}

double figure_fault_writes(const struct record *record)
{
    return quotient((double)record->faults[FAULT_WRITE],
                    (double)record->faults[FAULT_READ] + (double)record->faults[FAULT_WRITE]);
}

double figure_bytes_per_fault_write(const struct record *record)
{
    double writes = (double)record->faults[FAULT_WRITE];

    return writes > 0 ? (double)record->bytes / writes : INFINITY;
}

double figure_ordered(const struct record *transfers)
{
    double ordered = 0;

    for (unsigned i = 0; i < ORDER_COUNT; i++)
        ordered += (double)transfers->order[i];
    return ordered;
}

double figure_opens(const struct tally *tally)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;

    return sizes->length ? (double)histogram_count(sizes) : (double)tally_succeeded(tally, OP_OPEN);
}

double figure_bytes_of(const struct histogram *sizes, uint64_t from)
{
    double bytes = 0;

    for (uint32_t i = 0; i < sizes->length; i++)
        if (bucket_lower(sizes->cells[i].bucket) >= from)
            bytes += (double)sizes->cells[i].count * bucket_middle(sizes->cells[i].bucket);
    return bytes;
}

uint32_t figure_half_of(const struct histogram *sizes)
{
    double left = figure_bytes_of(sizes, 0);

    for (uint32_t i = 0; i < sizes->length; i++) {
        left -= 2 * (double)sizes->cells[i].count * bucket_middle(sizes->cells[i].bucket);
        if (left <= 0)
            return i;
    }
    return sizes->length;
}

/* File systems whose reads all go through the page cache, or are known not to. */
static bool has_page_cache(const char *fstype)
{
    static const char *const types[] = {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"};

    for (size_t i = 0; fstype && i < sizeof(types) / sizeof(*types); i++)
        if (strcmp(fstype, types[i]) == 0)
            return true;
    return false;
}

double figure_direct(const char *fstype, const struct record *read)
{
    double cached = (double)read->cache[CACHE_HIT_OPS] + (double)read->cache[CACHE_MISS_OPS];

    if (!has_page_cache(fstype))
        return NAN;
    return quotient(fmax(figure_ordered(read) - cached, 0), (double)histogram_filled(&read->size));
}

/* Of some copies it is not known, and the rest may be no more than how a program is loaded. */
double figure_jumps(const struct record *transfers)
{
    double ordered = figure_ordered(transfers);

    return ordered >= ORDER_MIN && ordered >= ORDER_KNOWN * (double)histogram_filled(&transfers->size)
               ? 1 - (double)transfers->order[ORDER_CONSECUTIVE] / ordered
               : NAN;
}

double figure_returns(const struct record *transfers)
{
    double back = (double)transfers->order[ORDER_RANDOM];

    return quotient(back, back + (double)transfers->order[ORDER_SEQUENTIAL]);
}

double figure_opens_from(const struct histogram *sizes, double size)
{
    double opens = 0;

    for (unsigned i = 0; i < sizes->length; i++)
        opens += (double)bucket_lower(sizes->cells[i].bucket) >= size ? (double)sizes->cells[i].count : 0;
    return opens;
}

double figure_unpacked(const struct tally *tally)
{
    double made = (double)tally_succeeded(tally, OP_CREATE), read = (double)tally->op[OP_READ].bytes;
    double written = (double)tally->op[OP_WRITE].bytes;

    if (made < UNPACKED_MIN || written < UNPACKED_SHARE * read || written > UNPACKED_TIMES * read ||
        written > made * FILE_LARGE_MIN)
        return 0;
    return made / fmax(1, figure_opens_from(&tally->op[OP_OPEN].size, UNPACKED_SIZE * written / made));
}

double figure_unwritten_syncs(const struct tally *tally)
{
    return fmax(0, (double)tally_succeeded(tally, OP_FSYNC) - (double)tally_succeeded(tally, OP_WRITE));
}

double figure_renames_per_create(double renames, double creates)
{
    return renames < RENAMES_MIN ? 0 : renames / fmax(creates, 1);
}

int figure_jumped(const struct record *transfers, struct histogram *out)
{
    double ordered = figure_ordered(transfers), jumps = ordered - (double)transfers->order[ORDER_CONSECUTIVE];
    int err = 0;

    *out = (struct histogram){0};
    for (unsigned i = 0; !err && i < transfers->joint.length; i++) {
        const struct histogram_cell *cell = &transfers->joint.cells[i];

        if (joint_of(cell->bucket) == JOINT_JUMPED)
            err = histogram_add_bucket(out, joint_size(cell->bucket), cell->count);
    }
    if (!err && ordered >= JOINT_MIN * (double)histogram_filled(&transfers->size) &&
        (double)histogram_count(out) >= JOINT_MIN * jumps)
        return 1;
    histogram_clear(out);
    return err;
}

bool figure_described(const struct record *stat, struct described *out)
{
    *out = (struct described){0};
    for (unsigned i = 0; i < stat->joint.length; i++) {
        const struct histogram_cell *cell = &stat->joint.cells[i];
        unsigned kind = joint_kind(cell->bucket);

        if (kind)
            (joint_of(cell->bucket) == JOINT_ALL ? out->all : out->by_name)[kind - 1] += cell->count;
    }
    return stat->joint.length;
}

uint64_t figure_sized(const struct record *record)
{
    return record->file_size[FILE_SMALL] + record->file_size[FILE_MEDIUM] + record->file_size[FILE_LARGE];
}

double figure_received(const struct record *write)
{
    return quotient((double)write->cache[CACHE_RECEIVED_BYTES], (double)write->bytes);
}

double figure_passed(const struct record *write)
{
    double received = (double)write->cache[CACHE_PROCESS_RECEIVED_BYTES], written = (double)write->bytes;

    return written > 0 ? quotient(fmin(received, written), fmax(received, written)) : NAN;
}

double figure_reworked(const struct tally *tally)
{
    return quotient((double)tally->op[OP_WRITE].cache[CACHE_REWORKED_BYTES],
                    (double)tally->op[OP_READ].bytes + (double)tally->op[OP_MMAP_FAULT].bytes);
}
