/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/check.h"

#include <string.h>
#include <unistd.h>

#include "probe/hook.h"

struct tally {
    uint64_t ops, bytes, errors;
};

static bool volume_is(const struct trial *trial, const struct volume *volume)
{
    if (trial->call->nowhere)
        return strcmp(volume->name, "?") == 0;
    if (strcmp(volume->fstype, trial->place.fstype) != 0)
        return false;
    for (uint32_t i = 0; i < volume->mount_count; i++)
        if (strcmp(volume->mounts[i], trial->place.mount) == 0)
            return true;
    return false;
}

static bool is_ring(const struct call *call)
{
    return call->way >= WAY_RING && call->way <= WAY_RING_CROWDED;
}

/* Something of it is missing, and nothing too much. */
static bool is_less(const struct tally *got, const struct tally *expected)
{
    return got->ops <= expected->ops && got->bytes <= expected->bytes &&
           (got->ops < expected->ops || got->bytes < expected->bytes);
}

/* Of these, events may be skipped where the kernel preempts programs on tracepoints; then they are said to be lost. */
static bool is_skippable(const struct call *call)
{
    return hook_skips() && (call->op == OP_MMAP_FAULT || is_ring(call));
}

/* The size of each operation that has one: what is transferred, or the file that is opened. */
static long expected_size(const struct call *call, enum operation op)
{
    if (op == OP_READ || op == OP_WRITE || op == OP_MMAP_FAULT)
        return call->result < 0 ? -1 : call->result;
    if ((op == OP_OPEN || op == OP_CREATE) && call->result == SOME)
        return call->opens_data ? DATA_SIZE : 0;
    return -1;
}

/* All operations of a call have the same size, so all are in one bucket. */
static void check_sizes(struct trial *trial, const struct record *record)
{
    const struct histogram *size = &record->size;
    long expected = expected_size(trial->call, record->op);

    if (expected < 0) {
        if (size->length)
            complain(trial, "a size, of what has none");
    } else if (size->length != 1 || size->cells[0].bucket != bucket_of((uint64_t)expected) ||
               size->cells[0].count != record_ops(record)) {
        complain(trial, "the sizes are not all %ld", expected);
    }
}

/* All that fail do so with the same error, and all faults are of one kind. */
static void check_details(struct trial *trial, const struct record *record)
{
    const struct histogram *codes = &record->error_codes;
    uint64_t read = record->faults[FAULT_READ], written = record->faults[FAULT_WRITE];
    long result = trial->call->result;

    if (histogram_count(codes) != record->errors)
        complain(trial, "%lu errors have no errno", (unsigned long)(record->errors - histogram_count(codes)));
    if (result < 0 && result > SOME && (codes->length != 1 || codes->cells[0].bucket != -result))
        complain(trial, "the errors are not all %ld", -result);
    if (record->op != OP_MMAP_FAULT || !trial->kinds)
        return;
    /* Where programs are skipped, a kind is not known now and then, and never another. */
    if ((trial->call->number == TOUCH_TO_WRITE ? read : written) || read + written > record_ops(record) ||
        (read + written < record_ops(record) && !hook_skips()))
        complain(trial, "%lu faults to read, %lu to write", (unsigned long)read, (unsigned long)written);
}

static void tally_record(struct trial *trial, const struct batch *batch,
                         const struct record *record, pid_t pid, struct tally got[OP_COUNT])
{
    const struct volume *volume = &batch->volumes[record->volume];

    if (!record_ops(record))
        return; /* in flight, or minor page faults */
    got[record->op].ops += record_ops(record);
    got[record->op].bytes += record->bytes;
    got[record->op].errors += record->errors;
    if (!operation_is_file(record->op))
        return;
    if (!volume_is(trial, volume))
        complain(trial, "%lu operations on volume %s (%s)", (unsigned long)record_ops(record), volume->name,
                 volume->fstype);
    if (strcmp(batch->jobs[record->job].name, "matrix") != 0)
        complain(trial, "under job %s", batch->jobs[record->job].name);
    if (record->process == NO_INDEX)
        complain(trial, "%lu operations under no process", (unsigned long)record_ops(record));
    else if (batch->processes[record->process].pid != (uint32_t)pid)
        complain(trial, "%lu operations under process %u, not %d",
                 (unsigned long)record_ops(record), batch->processes[record->process].pid, pid);
    if (!batch->coverage.lost || record->op != OP_MMAP_FAULT || !is_skippable(trial->call))
        check_sizes(trial, record); /* else a page may be among what is lost */
    check_details(trial, record);
}

static void compare(struct trial *trial, enum operation op, const struct tally *expected,
                    const struct tally *got, uint64_t lost)
{
    if (memcmp(expected, got, sizeof(*got)) == 0)
        return;
    if (trial->lossy && trial->crew == CREW_THREADS && got->ops < expected->ops &&
        got->ops + lost >= expected->ops)
        return;
    complain(trial,
             "%s: expected %lu operations, %lu bytes, %lu errors, got %lu, %lu, %lu, and %lu lost",
             operation_info(op)->name, (unsigned long)expected->ops,
             (unsigned long)expected->bytes, (unsigned long)expected->errors,
             (unsigned long)got->ops, (unsigned long)got->bytes, (unsigned long)got->errors, (unsigned long)lost);
}

/*
 * So many events may be said to be lost while so many operations were fired. Where kernels preempt programs, one of the
 * block layer's is skipped now and then while four threads sync, and those of io_uring and page faults, some events an
 * operation, for as long as a thread that was stopped in one and another in the second one behind it wait for the
 * processor.
 */
static uint64_t lost_most(const struct trial *trial, uint64_t fired)
{
    if (trial->crew != CREW_THREADS)
        return 0;
    return is_skippable(trial->call) ? 2 * fired : fired / 10;
}

static void check_counts(struct trial *trial, const struct batch *batch,
                         const struct outcome *outcome, pid_t pid)
{
    const struct call *call = trial->call;
    struct tally expected[OP_COUNT] = {0}, got[OP_COUNT] = {0};
    uint64_t fired = FIRED * (trial->crew == CREW_THREADS ? WORKERS : 1);
    uint64_t killed = call->way == WAY_RING_CROWDED ? batch->coverage.killed : 0;
    uint64_t missing = batch->coverage.lost + killed;

    for (uint32_t i = 0; i < batch->record_count; i++)
        tally_record(trial, batch, &batch->records[i], pid, got);
    expected[call->op] = (struct tally){fired, outcome->bytes, outcome->failed};
    expected[call->also] = expected[call->op];
    expected[call->block] = (struct tally){fired, outcome->bytes, 0};
    /* What is missing must be among what is said to be lost; and of a crowd of requests with one name, among what is
       said not to have ended. */
    if ((is_skippable(call) || is_ring(call)) && missing && is_less(&got[call->op], &expected[call->op]) &&
        fired - got[call->op].ops <= missing)
        expected[call->op] = got[call->op];
    if (getpid() != 1 && call->block && got[call->block].ops < fired &&
        fired - got[call->block].ops <= batch->coverage.lost)
        expected[call->block] = got[call->block];
    for (int op = OP_FIRST; op < OP_COUNT; op++)
        if (operation_is_file(op) || (op == (int)call->block && trial->crew == CREW_CHILD))
            compare(trial, op, &expected[op], &got[op], batch->coverage.lost);
    /* Others may load programs, too, but not in a machine of our own. It takes no file operation away: those have been
       compared. */
    if ((batch->coverage.lost > lost_most(trial, fired) && !trial->lossy && getpid() == 1) ||
        batch->coverage.overflow || batch->coverage.killed > killed)
        complain(trial, "%lu lost, %lu overflowed, %lu killed", (unsigned long)batch->coverage.lost,
                 (unsigned long)batch->coverage.overflow, (unsigned long)batch->coverage.killed);
}

/* Every operation that is demand is in exactly one slot, with all its bytes. */
static void check_slots(struct trial *trial, const struct batch *batch)
{
    struct demand_slot expected = {{0}}, got = {{0}};

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct demand_slot amount = demand_of(record->op, record_ops(record), record->bytes);

        for (unsigned d = 0; operation_is_file(record->op) && d < DEMAND_COUNT; d++)
            expected.demand[d] += amount.demand[d];
    }
    for (uint32_t i = 0; i < batch->flow_count; i++)
        for (uint32_t at = 0; at < batch->flows[i].length; at++)
            for (unsigned d = 0; d < DEMAND_COUNT; d++)
                got.demand[d] += batch->flows[i].slots[at].demand[d];
    for (unsigned d = 0; d < DEMAND_COUNT; d++)
        if (expected.demand[d] != got.demand[d])
            complain(trial, "slots hold %lu of %lu of demand %u", (unsigned long)got.demand[d],
                     (unsigned long)expected.demand[d], d);
}

/* What counts in trees, of a job's operations on a volume. */
static void add_record(uint64_t counts[TREE_COUNTS], const struct record *record)
{
    enum operation_class class = operation_info(record->op)->class;

    if (class == OP_CLASS_DATA) {
        counts[record->op == OP_READ ? TREE_READS : TREE_WRITES] += record_ops(record);
        counts[record->op == OP_READ ? TREE_READ_BYTES : TREE_WRITE_BYTES] += record->bytes;
    } else if (class == OP_CLASS_METADATA) {
        counts[TREE_METADATA] += record_ops(record);
        if (record->op == OP_OPEN || record->op == OP_CREATE)
            counts[TREE_OPENS] += record_ops(record);
    } else {
        return;
    }
    counts[TREE_WAIT_NS] += record->latency_sum_ns;
}

/* Every operation is in a tree, too, where one can be told. */
static void check_trees(struct trial *trial, const struct batch *batch)
{
    uint64_t expected[TREE_COUNTS] = {0}, got[TREE_COUNTS] = {0};

    for (uint32_t i = 0; i < batch->record_count; i++)
        if (strcmp(batch->volumes[batch->records[i].volume].name, "?") != 0)
            add_record(expected, &batch->records[i]);
    for (uint32_t i = 0; i < batch->tree_count; i++)
        for (unsigned c = 0; c < TREE_COUNTS; c++)
            got[c] += batch->trees[i].count[c];
    /* What close_range() closes is told by volume only. */
    for (unsigned c = 0; trial->trees && !strstr(trial->call->name, "close_range") && c < TREE_COUNTS; c++)
        if (got[c] != expected[c])
            complain(trial, "trees hold %lu of %lu %s", (unsigned long)got[c], (unsigned long)expected[c],
                     tree_counts[c]);
}

void check_call(struct trial *trial, const struct batch *batch, const struct outcome *outcome, pid_t pid)
{
    check_counts(trial, batch, outcome, pid);
    check_slots(trial, batch);
    check_trees(trial, batch);
}
