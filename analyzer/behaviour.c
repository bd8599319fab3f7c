/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/behaviour.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "analyzer/figure.h"
#include "lib/joint.h"

#define LARGE_WRITE  131072
#define MANY_FILES   100
#define SMALL_MIN    0.05 /* of the bytes read: files that have less together are not what is read */
#define PIECES_MIN   0.2 /* writes to each file that is opened */
#define SAVED_MIN    (16u << 20) /* bytes to each fsync */
#define HARDLY_ANY   0.02 /* of the files that are opened, or of the bytes read */
#define START        32 /* names that a program and its libraries look for in vain when it starts */
#define KNOWN_MIN    0.8 /* of the bytes */
#define TRIFLE       0.001 /* of the bytes */

/* Of sizes that move enough bytes: how a program is loaded says nothing about what it does. */
static double weight(const struct histogram_cell *cell, double bytes)
{
    return cell->bucket && (double)cell->count * bucket_middle(cell->bucket) >= TRIFLE * bytes ? (double)cell->count : 0;
}

static double weigh(const struct histogram *sizes, double bytes)
{
    double sum = 0;

    for (unsigned i = 0; i < sizes->length; i++)
        sum += weight(&sizes->cells[i], bytes);
    return sum;
}

/* Sum of the smaller over sum of the larger of two distributions, which move so many bytes. */
static double likeness(const struct histogram *a, double a_bytes, const struct histogram *b, double b_bytes)
{
    double x = weigh(a, a_bytes), y = weigh(b, b_bytes), common = 0;

    if (!(x > 0) || !(y > 0))
        return 0;
    for (unsigned i = 0, k = 0; i < a->length && k < b->length;) {
        const struct histogram_cell *p = &a->cells[i], *q = &b->cells[k];

        if (p->bucket == q->bucket)
            common += fmin(weight(p, a_bytes) / x, weight(q, b_bytes) / y);
        i += p->bucket <= q->bucket;
        k += q->bucket <= p->bucket;
    }
    return common;
}

/* Of a size that half of the bytes are in files of up to; NAN for none. */
static double typical_file(const struct histogram *sizes)
{
    uint32_t half = figure_half_of(sizes);

    return half < sizes->length ? bucket_middle(sizes->cells[half].bucket) : NAN;
}

static void of_files(const struct tally *tally, struct behaviour *out)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;
    uint64_t median, largest;
    double bytes = figure_bytes_of(sizes, 0), typical = typical_file(sizes), small = 0, small_bytes = 0;

    for (unsigned i = 0; i < sizes->length; i++) {
        double count = (double)sizes->cells[i].count, of_files = count * bucket_middle(sizes->cells[i].bucket);

        if (sizes->cells[i].bucket && bucket_lower(sizes->cells[i].bucket) < FILE_MEDIUM_MIN) {
            small += count;
            small_bytes += of_files;
        }
    }
    out->opens = figure_opens(tally);
    out->creates = (double)tally_succeeded(tally, OP_CREATE);
    out->median_file = histogram_quantile(sizes, 0.5, false, &median) ? (double)median : NAN;
    out->bytes_per_open = quotient(out->read_bytes + out->fault_bytes, out->opens);
    out->of_largest = histogram_max(sizes, &largest) ? quotient(out->read_bytes, (double)largest) : NAN;
    out->bytes_per_large_open = quotient(out->read_bytes, figure_opens_from(sizes, FILE_LARGE_MIN));
    out->variety = out->peers.opened > 0 && bytes > 0 ? quotient(out->peers.opened, typical) : INFINITY;
    out->evenness = quotient(bytes, out->opens * typical);
    /* A page fault brings in what was read ahead, or nothing when it is there already: it says little of what is
       read. */
    out->coverage = sizes->length ? quotient(out->read_bytes + out->fault_bytes, bytes) : NAN;
    out->creates_per_open = quotient(out->creates, out->opens);
    if (small >= MANY_FILES && small_bytes >= SMALL_MIN * out->read_bytes)
        out->small_opens_per_create = out->creates > 0 ? small / out->creates : INFINITY;
    out->bytes_per_create = out->creates > 0 ? out->write_bytes / out->creates : INFINITY;
    out->commits_per_create =
        fmin((double)tally_succeeded(tally, OP_FSYNC), (double)tally_succeeded(tally, OP_RENAME)) / fmax(out->creates, 1);
    out->unpacked = fmax(out->peers.unpacked, figure_unpacked(tally));
    out->renames_per_create = figure_renames_per_create((double)tally_succeeded(tally, OP_RENAME), out->creates);
}

/* Reads of files of a kind of which hardly any were opened: they are no part of opening files and reading them. */
static double stray_reads(const struct record *open, const struct record *read)
{
    double opened[FILE_SIZES] = {0}, opens = 0, strays = 0;

    for (unsigned i = 0; i < open->size.length; i++) {
        const struct histogram_cell *cell = &open->size.cells[i];

        opened[file_size_class(bucket_lower(cell->bucket))] += (double)cell->count;
        opens += (double)cell->count;
    }
    for (unsigned i = 0; i < FILE_SIZES; i++)
        strays += opened[i] < HARDLY_ANY * opens ? (double)read->file_size[i] : 0;
    return opens > 0 ? quotient(strays, (double)figure_sized(read)) : NAN;
}

/* Bytes that were read of files of each kind; false where it is not known of nearly all. */
static bool read_by_kind(const struct record *read, double bytes, double by_kind[FILE_SIZES])
{
    double known = 0;

    for (unsigned i = 0; i < read->joint.length; i++) {
        const struct histogram_cell *cell = &read->joint.cells[i];
        unsigned kind = joint_kind(cell->bucket);
        double moved = (double)cell->count * bucket_middle(joint_size(cell->bucket));

        if (joint_of(cell->bucket) != JOINT_ALL || !kind)
            continue;
        by_kind[kind - 1] += moved;
        known += moved;
    }
    return known >= KNOWN_MIN * bytes;
}

/* Of those kinds of files of which more than a trifle of what is read is. */
static double read_coverage(const struct tally *tally, const struct behaviour *of)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;
    double read[FILE_SIZES] = {0}, opened[FILE_SIZES] = {0}, in = 0, all = 0;

    if (of->fault_bytes > of->read_bytes || !read_by_kind(&tally->op[OP_READ], of->read_bytes, read))
        return of->coverage;
    for (unsigned i = 0; i < sizes->length; i++)
        opened[file_size_class(bucket_lower(sizes->cells[i].bucket))] +=
            (double)sizes->cells[i].count * bucket_middle(sizes->cells[i].bucket);
    for (unsigned i = 0; i < FILE_SIZES; i++)
        if (read[i] > HARDLY_ANY * of->read_bytes) {
            in += read[i];
            all += opened[i];
        }
    return sizes->length ? quotient(in, all) : NAN;
}

/* NAN where it is not known by size. */
static double jumped_bytes(const struct record *read, double bytes)
{
    double jumped = 0;

    for (unsigned i = 0; i < read->joint.length; i++)
        if (joint_of(read->joint.cells[i].bucket) == JOINT_JUMPED)
            jumped += (double)read->joint.cells[i].count * bucket_middle(joint_size(read->joint.cells[i].bucket));
    return read->joint.length ? quotient(jumped, bytes) : NAN;
}

static void of_transfers(const struct tally *tally, struct behaviour *out)
{
    const struct record *read = &tally->op[OP_READ], *write = &tally->op[OP_WRITE];
    double large = 0, all = 0;
    double fsyncs = (double)tally_succeeded(tally, OP_FSYNC);

    for (unsigned i = 0; i < write->size.length; i++) {
        double bytes = (double)write->size.cells[i].count * bucket_middle(write->size.cells[i].bucket);

        all += bytes;
        large += bucket_lower(write->size.cells[i].bucket) >= LARGE_WRITE ? bytes : 0;
    }
    out->jumps = figure_jumps(read);
    out->write_jumps = figure_jumps(write);
    out->returns = figure_returns(read);
    out->jumped_bytes = jumped_bytes(read, out->read_bytes);
    out->bytes_per_jump = quotient(out->read_bytes, out->jumps * (double)histogram_filled(&read->size));
    out->read_mean = quotient(out->read_bytes, (double)histogram_filled(&read->size));
    out->write_mean = quotient(out->write_bytes, (double)histogram_filled(&write->size));
    out->write_share = quotient(out->write_bytes, out->read_bytes + out->fault_bytes + out->write_bytes);
    out->large_writes = quotient(large, all);
    out->written = quotient(out->write_bytes, out->read_bytes + out->write_bytes);
    out->large_reads = quotient((double)read->file_size[FILE_LARGE], (double)figure_sized(read));
    out->received = figure_received(write);
    out->passed = figure_passed(write);
    out->copy_likeness = likeness(&read->size, out->read_bytes, &write->size, out->write_bytes);
    out->bytes_per_fsync = fsyncs > 0 ? out->write_bytes / fsyncs : INFINITY;
    out->unwritten_syncs = fmax(out->peers.unwritten_syncs, figure_unwritten_syncs(tally));
    out->resaves = out->bytes_per_fsync >= SAVED_MIN && !isinf(out->bytes_per_fsync) ? fsyncs / fmax(1, out->creates) : 0;
    out->seeks_per_read = quotient((double)tally_ops(tally, OP_SEEK), (double)histogram_filled(&read->size));
    out->read_coverage = read_coverage(tally, out);
    out->stray_reads = stray_reads(&tally->op[OP_OPEN], read);
    out->fault_share = quotient(out->fault_bytes, out->fault_bytes + out->read_bytes);
}

/* Who walks with fts keeps up to three descriptors of a directory, copies of the one that it opened. */
static double directory_closes(const struct tally *tally, double directories, double files)
{
    double closes = (double)tally_ops(tally, OP_CLOSE) - files - (double)tally_succeeded(tally, OP_CREATE);

    return fmin(fmax(closes, directories), 3 * directories);
}

static void of_names(const struct tally *tally, struct behaviour *out)
{
    double stats = (double)tally_ops(tally, OP_STAT), opens = (double)tally_ops(tally, OP_OPEN);
    double missing = figure_missing(&tally->op[OP_STAT]) + figure_missing(&tally->op[OP_OPEN]);
    double starts = START * fmax(1, out->peers.starts);
    double by_descriptor = (double)tally->op[OP_STAT].order[ORDER_OF_OPEN]; /* as far as it was recorded */
    double directories = (double)tally_succeeded(tally, OP_OPEN) - out->opens;
    double looked_up = stats + (double)tally_ops(tally, OP_READDIR) + (double)tally_ops(tally, OP_UNLINK) +
                       (double)tally_ops(tally, OP_SETATTR); /* of each name: ls, rm -r, chown -R */

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        out->metadata += operation_info(op)->class == OP_CLASS_METADATA ? (double)tally_ops(tally, op) : 0;
    /* Directories are opened to be read, and closed: an open of a regular file is none of a walk's. */
    out->lookups = looked_up + (double)tally_ops(tally, OP_SEEK) +
                   (tally->op[OP_OPEN].size.length
                        ? directories + directory_closes(tally, directories, out->opens)
                        : 2 * fmin(opens, (double)tally_ops(tally, OP_READDIR)));
    out->lookups = quotient(fmin(out->lookups, out->ops), out->ops);
    out->listings = (double)tally_ops(tally, OP_READDIR);
    out->names = quotient(looked_up - by_descriptor + opens, out->ops);
    out->stats_per_open = quotient(stats, opens);
    out->seeks_per_open = quotient((double)tally_ops(tally, OP_SEEK), opens);
    out->missing = quotient(missing, stats + opens);
    out->missing_later = quotient(fmax(0, missing - starts), stats + opens);
    out->not_found = quotient(missing, out->ops);
    out->open_errors = quotient((double)tally->op[OP_OPEN].errors, opens);
    out->open_errors_later = quotient(fmax(0, (double)tally->op[OP_OPEN].errors - starts), opens);
}

/* Who trains reads its samples again in each epoch, and saves in pieces that are far fewer than these. */
static double rounds_of(const struct tally *tally, const struct behaviour *of)
{
    if (!(of->peers.opened > 0))
        return NAN;
    if ((double)histogram_filled(&tally->op[OP_WRITE].size) > PIECES_MIN * of->opens)
        return 1;
    return fmax(figure_bytes_of(&tally->op[OP_OPEN].size, 1) / of->peers.opened, of->opens / of->peers.files);
}

void behaviour_of(const struct tally *tally, const struct peers *peers, struct behaviour *out)
{
    *out = (struct behaviour){
        .ops = (double)tally_file_ops(tally),
        .read_bytes = (double)tally->op[OP_READ].bytes,
        .write_bytes = (double)tally->op[OP_WRITE].bytes,
        .fault_bytes = (double)tally->op[OP_MMAP_FAULT].bytes,
        .minor_faults = (double)tally->op[OP_MMAP_FAULT].faults[FAULT_MINOR],
        .faults = (double)tally_ops(tally, OP_MMAP_FAULT),
        .fault_writes = figure_fault_writes(&tally->op[OP_MMAP_FAULT]),
        .peers = *peers,
    };
    of_files(tally, out);
    of_transfers(tally, out);
    of_names(tally, out);
    out->files = out->peers.files > 0 ? out->peers.files : INFINITY;
    out->rounds = rounds_of(tally, out);
    out->creates_per_round = out->creates / out->rounds;
    out->minors_per_op = quotient(out->minor_faults, out->ops);
    out->faults_per_open = quotient(out->faults, out->opens);
    out->minors_per_open = quotient(out->minor_faults, out->opens);
    out->bytes_per_op = quotient(out->read_bytes + out->fault_bytes + out->write_bytes, out->ops);
}

#define FIELD(name) {"process." #name, offsetof(struct behaviour, name)}

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    FIELD(ops), FIELD(lookups), FIELD(opens), FIELD(creates), FIELD(read_bytes), FIELD(fault_bytes),
    FIELD(write_bytes), FIELD(minor_faults), FIELD(bytes_per_open), FIELD(median_file), FIELD(coverage),
    FIELD(read_coverage), FIELD(jumps), FIELD(read_mean), FIELD(write_mean), FIELD(write_share), FIELD(large_writes),
    FIELD(copy_likeness), FIELD(stats_per_open), FIELD(seeks_per_open), FIELD(seeks_per_read), FIELD(missing),
    FIELD(not_found), FIELD(open_errors), FIELD(creates_per_open), FIELD(bytes_per_create), FIELD(renames_per_create),
    FIELD(commits_per_create), FIELD(bytes_per_large_open), FIELD(of_largest), FIELD(jumped_bytes),
    FIELD(large_reads), FIELD(variety), FIELD(written), FIELD(rounds), FIELD(bytes_per_fsync), FIELD(fault_share),
    FIELD(minors_per_op), FIELD(bytes_per_op), FIELD(metadata), FIELD(returns), FIELD(bytes_per_jump),
    FIELD(small_opens_per_create), FIELD(minors_per_open), FIELD(faults), FIELD(fault_writes), FIELD(faults_per_open),
    FIELD(names), FIELD(files), FIELD(listings), FIELD(unwritten_syncs), FIELD(resaves), FIELD(unpacked),
    FIELD(missing_later), FIELD(open_errors_later), FIELD(piped), FIELD(stray_reads), FIELD(write_jumps),
    FIELD(received), FIELD(passed), FIELD(creates_per_round), FIELD(evenness),
    {"process.apart", offsetof(struct behaviour, peers.apart)},
    {"process.mingled", offsetof(struct behaviour, peers.mingled)},
};

static const struct {
    const char *name;
    size_t offset;
} counts[] = {
    {"process.peers", offsetof(struct behaviour, peers.exact)},
    {"process.starts", offsetof(struct behaviour, peers.starts)},
    {"process.mapped_peers", offsetof(struct behaviour, peers.mapped)},
};

bool behaviour_is_known(const char *feature)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (strcmp(fields[i].name, feature) == 0)
            return true;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (strcmp(counts[i].name, feature) == 0)
            return true;
    return false;
}

double behaviour_value(const struct behaviour *behaviour, const char *feature)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (strcmp(fields[i].name, feature) == 0)
            return *(const double *)((const char *)behaviour + fields[i].offset);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        if (strcmp(counts[i].name, feature) == 0)
            return *(const uint32_t *)((const char *)behaviour + counts[i].offset);
    return NAN;
}
