/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/history.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "lib/bucket.h"
#include "lib/joint.h"

#define KIB UINT64_C(1024)

struct batch *history_batch(int second)
{
    struct batch *batch;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_set(batch, &batch->cluster, "c"), 0);
    assert_int_equal(batch_set(batch, &batch->node, "n1"), 0);
    assert_int_equal(batch_set(batch, &batch->role, "client"), 0);
    assert_int_equal(batch_set(batch, &batch->kernel, "6.1"), 0);
    batch->start_ns = HISTORY_START + second * INT64_C(1000000000);
    batch->duration_ns = 1000000000;
    batch->interval_ms = 1000;
    return batch;
}

static struct record *find_on(struct batch *batch, const char *on_volume, const char *name, uint32_t pid, enum operation op)
{
    const struct job job = {.name = name, .kind = "slurm", .command = "x", .exit = -1};
    const struct volume volume = {.name = on_volume, .source = "/dev/v", .fstype = "ext4", .scope = SCOPE_LOCAL};
    struct process process = {.pid = pid, .start_ns = HISTORY_START, .command = "x"};
    uint32_t at, on, by = NO_INDEX;
    struct record *record;

    assert_int_equal(batch_job(batch, &job, &at), 0);
    assert_int_equal(batch_volume(batch, &volume, &on), 0);
    process.job = at;
    if (pid)
        assert_int_equal(batch_process(batch, &process, &by), 0);
    assert_int_equal(batch_record(batch, at, on, by, op, &record), 0);
    return record;
}

struct record *history_record(struct batch *batch, const char *name, uint32_t pid, enum operation op)
{
    return find_on(batch, "v", name, pid, op);
}

void history_ops_on(struct batch *batch, const char *volume, const char *job, uint32_t pid, enum operation op, uint64_t size,
                    uint64_t count)
{
    struct record *record = find_on(batch, volume, job, pid, op);

    record->bytes += op == OP_OPEN ? 0 : size * count; /* the size of what it opens */
    record->latency_sum_ns += 1000 * count;
    assert_int_equal(histogram_add(&record->latency_ns, 1000, count), 0);
    if (operation_info(op)->has_size || (op == OP_OPEN && size))
        assert_int_equal(histogram_add(&record->size, size, count), 0);
}

void history_ops(struct batch *batch, const char *job, uint32_t pid, enum operation op,
                 uint64_t size, uint64_t count)
{
    history_ops_on(batch, "v", job, pid, op, size, count);
}

void history_order(struct batch *batch, const char *job, uint32_t pid, enum operation op, enum order order,
                   uint64_t count)
{
    history_record(batch, job, pid, op)->order[order] += count;
}

void history_process_received(struct batch *batch, const char *job, uint32_t pid, uint64_t bytes)
{
    history_record(batch, job, pid, OP_WRITE)->cache[CACHE_PROCESS_RECEIVED_BYTES] += bytes;
}

void history_received(struct batch *batch, const char *job, uint32_t pid, uint64_t bytes)
{
    history_record(batch, job, pid, OP_WRITE)->cache[CACHE_RECEIVED_BYTES] += bytes;
}

void history_reworked(struct batch *batch, const char *job, uint64_t bytes)
{
    history_record(batch, job, 0, OP_WRITE)->cache[CACHE_REWORKED_BYTES] += bytes;
}

void history_minor_faults(struct batch *batch, const char *job, uint32_t pid, uint64_t count)
{
    history_record(batch, job, pid, OP_MMAP_FAULT)->faults[FAULT_MINOR] += count;
}

void history_errors(struct batch *batch, const char *job, uint32_t pid, enum operation op, int code, uint64_t count)
{
    struct record *record = history_record(batch, job, pid, op);

    record->errors += count;
    if (code)
        assert_int_equal(histogram_add_bucket(&record->error_codes, (unsigned)code, count), 0);
    assert_int_equal(histogram_add(&record->latency_ns, 1000, count), 0);
}

int history_next(struct source *source, struct batch **out)
{
    struct given *given = (struct given *)source;

    if (given->next == given->count)
        return 0;
    *out = given->batches[given->next++];
    return 1;
}

void history_into(struct aggregate *totals, struct batch *batch)
{
    assert_int_equal(aggregate_add(totals, batch), 0);
    batch_free(batch);
}

void history_small_files(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_OPEN, 0, 1000);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 1000);
    history_ops(batch, "j", pid, OP_STAT, 0, 2000);
    history_ops(batch, "j", pid, OP_SEEK, 0, 2000);
    for (unsigned i = 0; i < 10; i++)
        history_ops(batch, "j", pid, OP_READ, (10 + 9 * i) * 1000, 100);
    history_ops(batch, "j", pid, OP_READ, 0, 1000);
}

void history_shards(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_OPEN, 0, 3);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 3);
    history_ops(batch, "j", pid, OP_READ, 1 << 20, 384);
    history_ops(batch, "j", pid, OP_READ, 0, 3);
}

void history_checkpoint(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_CREATE, 0, 1);
    history_ops(batch, "j", pid, OP_WRITE, 4 << 20, 64);
    history_ops(batch, "j", pid, OP_FSYNC, 0, 1);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
    history_ops(batch, "j", pid, OP_RENAME, 0, 1);
}

void history_told(struct batch *batch, unsigned count, uint64_t size)
{
    struct flow *flow;

    assert_int_equal(batch_flow(batch, 0, 0, &flow), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(sketch_add(&flow->files, &(struct sketch_file){.hash = i, .bytes = size}), 0);
}

void history_pieces(struct batch *batch, uint32_t pid, enum file_size files, uint64_t size, uint64_t count, uint64_t jumps)
{
    struct record *read;

    history_ops(batch, "j", pid, OP_READ, size, count);
    history_order(batch, "j", pid, OP_READ, ORDER_CONSECUTIVE, count - jumps);
    history_order(batch, "j", pid, OP_READ, ORDER_SEQUENTIAL, jumps);
    read = history_record(batch, "j", pid, OP_READ);
    read->file_size[files] += count;
    assert_int_equal(joint_add(&read->joint, JOINT_ALL, 1 + files, bucket_of(size), count), 0);
    if (jumps)
        assert_int_equal(joint_add(&read->joint, JOINT_JUMPED, 1 + files, bucket_of(size), jumps), 0);
}

void history_torch(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_STAT, 0, 5354);
    history_errors(batch, "j", pid, OP_STAT, ENOENT, 450);
    history_ops(batch, "j", pid, OP_OPEN, 12 * KIB, 1200);
    history_ops(batch, "j", pid, OP_READ, 0, 780);
    history_ops(batch, "j", pid, OP_SEEK, 0, 1559);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 1200);
}

void history_whole_files(struct batch *batch, uint32_t pid, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", pid, OP_OPEN, size, count);
    history_ops(batch, "j", pid, OP_READ, size, count);
    history_ops(batch, "j", pid, OP_READ, 0, count);
    history_ops(batch, "j", pid, OP_CLOSE, 0, count);
}
