/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/record.h"
#include "tests/unit/sample.h"

#define _cleanup_batch_ _cleanup_(batch_freep)

static struct batch *new_batch(void)
{
    struct batch *batch;

    assert_int_equal(batch_new(&batch), 0);
    return batch;
}

static uint32_t add_job(struct batch *batch, const struct job *job)
{
    uint32_t at;

    assert_int_equal(batch_job(batch, job, &at), 0);
    return at;
}

static uint32_t add_volume(struct batch *batch, const char *name)
{
    uint32_t at;

    assert_int_equal(batch_volume(batch, &(struct volume){.name = name}, &at), 0);
    return at;
}

static struct record *add_ops(struct batch *batch, uint32_t job, uint32_t volume, uint32_t process,
                              enum operation op, uint64_t count)
{
    struct record *record;

    assert_int_equal(batch_record(batch, job, volume, process, op, &record), 0);
    assert_int_equal(histogram_add(&record->latency_ns, 1000, count), 0);
    return record;
}

static void jobs_are_found_and_filled_in(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    struct label label = {"account", "physics"};
    char name[] = "job";
    uint32_t at = add_job(b, &(struct job){.name = name, .start_ns = 50, .exit = -1});

    name[0] = 'J'; /* strings were copied */
    assert_string_equal(b->jobs[at].name, "job");
    assert_string_equal(b->jobs[at].kind, "");
    assert_string_equal(b->jobs[at].command, "");
    assert_null(b->jobs[at].user);
    assert_int_equal(b->jobs[at].exit, -1);
    assert_int_equal(add_job(b, &(struct job){.name = "job",
                                              .kind = "slurm",
                                              .user = "eve",
                                              .command = "python3",
                                              .labels = &label,
                                              .label_count = 1,
                                              .start_ns = 40,
                                              .end_ns = 70,
                                              .exit = 0}),
                     at);
    assert_int_equal(add_job(b, &(struct job){.name = "job", .kind = "env", .exit = -1}), at);
    assert_string_equal(b->jobs[at].kind, "slurm");
    assert_string_equal(b->jobs[at].user, "eve");
    assert_string_equal(b->jobs[at].command, "python3");
    assert_int_equal(b->jobs[at].label_count, 1);
    assert_string_equal(b->jobs[at].labels[0].value, "physics");
    assert_int_equal(b->jobs[at].start_ns, 40);
    assert_int_equal(b->jobs[at].end_ns, 70);
    assert_int_equal(b->jobs[at].exit, 0);
    assert_int_equal(b->job_count, 1);
}

static void volumes_and_processes_too(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    const char *mounts[] = {"/mnt/a", "/mnt/b"};
    struct process process = {.pid = 7, .start_ns = 1, .command = "sh"};
    uint32_t volume = add_volume(b, "v"), at, other;

    assert_int_equal(batch_volume(b,
                                  &(struct volume){.name = "v",
                                                   .source = "srv:/x",
                                                   .fstype = "nfs4",
                                                   .scope = SCOPE_SHARED,
                                                   .mounts = mounts,
                                                   .mount_count = 2},
                                  &at),
                     0);
    assert_int_equal(at, volume);
    assert_int_equal(b->volumes[at].scope, SCOPE_SHARED);
    assert_string_equal(b->volumes[at].source, "srv:/x");
    assert_string_equal(b->volumes[at].mounts[1], "/mnt/b");

    at = 99;
    assert_int_equal(batch_process(b, &process, &at), -EINVAL); /* there is no job 0 */
    assert_int_equal(at, 99);
    add_job(b, &(struct job){.name = "j", .exit = -1});
    assert_int_equal(batch_process(b, &process, &at), 0);
    process.command = "python3";
    process.exited = true;
    assert_int_equal(batch_process(b, &process, &other), 0);
    assert_int_equal(other, at);
    process.exited = false;
    process.command = NULL;
    assert_int_equal(batch_process(b, &process, &other), 0);
    assert_string_equal(b->processes[at].command, "python3");
    assert_true(b->processes[at].exited);
    process.start_ns = 2; /* the same pid, used again */
    assert_int_equal(batch_process(b, &process, &other), 0);
    assert_int_not_equal(other, at);
    assert_string_equal(b->processes[other].command, "");
}

/* Bytes that cannot be encoded must not make two jobs here of what is one on the wire. */
static void names_become_text(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    uint32_t at = add_job(b, &(struct job){.name = "x\xff", .exit = -1});

    assert_string_equal(b->jobs[at].name, "x\xef\xbf\xbd");
    assert_int_equal(add_job(b, &(struct job){.name = "x\xfe", .exit = -1}), at);
    assert_int_equal(add_job(b, &(struct job){.name = "x\xef\xbf\xbd", .exit = -1}), at);
    assert_int_equal(add_volume(b, "\xc0\xaf"), add_volume(b, "\xff\xfe"));
    assert_int_equal(batch_set(b, &b->node, "caf\xe9"), 0);
    assert_string_equal(b->node, "caf\xef\xbf\xbd");
}

static void records_are_one_a_series(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    uint32_t job = add_job(b, &(struct job){.name = "j", .exit = -1}), volume = add_volume(b, "v");
    struct record *record = NULL, *same;

    assert_int_equal(batch_record(b, job, volume, NO_INDEX, OP_READ, &record), 0);
    record->bytes = 5;
    assert_int_equal(batch_record(b, job, volume, NO_INDEX, OP_READ, &same), 0);
    assert_ptr_equal(record, same);
    assert_int_equal(same->bytes, 5);
    assert_int_equal(batch_record(b, job, volume, NO_INDEX, OP_WRITE, &same), 0);
    assert_int_equal(same->bytes, 0);
    assert_int_equal(b->record_count, 2);
    same = NULL;
    assert_int_equal(batch_record(b, 1, volume, NO_INDEX, OP_READ, &same), -EINVAL);
    assert_int_equal(batch_record(b, job, 1, NO_INDEX, OP_READ, &same), -EINVAL);
    assert_int_equal(batch_record(b, job, volume, 0, OP_READ, &same), -EINVAL);
    assert_int_equal(batch_record(b, job, volume, NO_INDEX, OP_NONE, &same), -EINVAL);
    assert_int_equal(batch_record(b, job, volume, NO_INDEX, OP_COUNT, &same), -EINVAL);
    assert_null(same);
    assert_int_equal(b->record_count, 2);
}

static void many_of_everything(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    char name[32];

    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 3000; i++) {
            snprintf(name, sizeof(name), "n%u", i);
            assert_int_equal(add_job(b, &(struct job){.name = name, .exit = -1}), i);
            assert_int_equal(add_volume(b, name), i);
            add_ops(b, i, i, NO_INDEX, OP_STAT, 1 + i);
            add_ops(b, i, 2999 - i > i ? i : 0, NO_INDEX, OP_OPEN, 1);
        }
    assert_int_equal(b->job_count, 3000);
    assert_int_equal(b->record_count, 6000);
    for (unsigned i = 0; i < 3000; i++)
        assert_int_equal(record_ops(&b->records[2 * i]), 2 * (1 + i));
}

static void adding_is_all_or_nothing(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    uint32_t job = add_job(b, &(struct job){.name = "j", .exit = -1}), volume = add_volume(b, "v");
    struct record *dst, *src;

    add_ops(b, job, volume, NO_INDEX, OP_READ, INT64_MAX);
    add_ops(b, job, volume, NO_INDEX, OP_WRITE, 1);
    dst = &b->records[0];
    src = &b->records[1];
    assert_int_equal(histogram_add(&src->size, 4096, 1), 0);
    src->bytes = 4096;
    assert_int_equal(record_add(dst, src), -ERANGE); /* latency_ns is full */
    assert_int_equal(dst->size.length, 0);
    assert_int_equal(dst->bytes, 0);

    histogram_clear(&dst->latency_ns);
    dst->bytes = INT64_MAX;
    assert_int_equal(record_add(dst, src), -ERANGE);
    dst->bytes = 1;
    src->errors = UINT64_MAX;
    assert_int_equal(record_add(dst, src), -ERANGE);
    src->errors = 0;
    assert_int_equal(dst->latency_ns.length, 0);
    assert_int_equal(record_add(dst, src), 0);
    assert_int_equal(dst->bytes, 4097);
    assert_true(histogram_equal(&dst->size, &src->size));
    assert_int_equal(record_ops(dst), 1);
}

static uint64_t ops_of_job(const struct batch *b, const char *job)
{
    uint64_t ops = 0;

    for (uint32_t i = 0; i < b->record_count; i++)
        if (strcmp(b->jobs[b->records[i].job].name, job) == 0)
            ops += record_ops(&b->records[i]);
    return ops;
}

/* Two batches whose tables stand in another order. */
static void merging_keeps_every_count(void **state)
{
    for (enum grain keep = GRAIN_JOBS; keep <= GRAIN_THREADS; keep++) {
        _cleanup_batch_ struct batch *a = new_batch(), *b = new_batch();
        struct process process = {.pid = 7, .start_ns = 1, .command = "sh", .job = 0};
        uint32_t pid_a, pid_b;

        add_job(a, &(struct job){.name = "one", .exit = -1});
        add_job(a, &(struct job){.name = "two", .exit = -1});
        add_volume(a, "v");
        assert_int_equal(batch_process(a, &process, &pid_a), 0);
        add_ops(a, 0, 0, pid_a, OP_READ, 10);
        add_ops(a, 1, 0, NO_INDEX, OP_READ, 200);

        add_job(b, &(struct job){.name = "two", .end_ns = 5, .exit = 3});
        add_job(b, &(struct job){.name = "one", .exit = -1});
        add_volume(b, "w");
        add_volume(b, "v");
        process.job = 1;
        assert_int_equal(batch_process(b, &process, &pid_b), 0);
        process.pid = 8;
        assert_int_equal(batch_process(b, &process, &pid_b), 0);
        add_ops(b, 1, 1, 0, OP_READ, 3000);
        add_ops(b, 1, 1, pid_b, OP_READ, 40000);
        process.tid = 9;
        assert_int_equal(batch_process(b, &process, &pid_b), 0);
        add_ops(b, 1, 1, pid_b, OP_READ, 6000000);
        add_ops(b, 0, 0, NO_INDEX, OP_READ, 500000);

        assert_int_equal(batch_merge(a, b, keep), 0);
        assert_int_equal(ops_of_job(a, "one"), 6043010);
        assert_int_equal(ops_of_job(a, "two"), 500200);
        assert_int_equal(a->job_count, 2);
        assert_int_equal(a->jobs[1].exit, 3);
        assert_int_equal(a->volume_count, 2);
        assert_int_equal(a->process_count, keep == GRAIN_THREADS ? 3 : keep == GRAIN_PROCESSES ? 2 : 1);
        assert_int_equal(record_ops(&a->records[0]), keep ? 3010 : 10);
        assert_int_equal(a->record_count, keep == GRAIN_THREADS ? 5 : 4);
    }
}

static void add_bytes(struct batch *batch, uint32_t volume, uint32_t process, enum operation op, uint64_t bytes)
{
    add_ops(batch, batch->processes[process].job, volume, process, op, 1)->bytes += bytes;
}

/* Bytes that the job's writers had read, by volume. */
static uint64_t reworked(const struct batch *batch, const char *job, const char *volume)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->op == OP_WRITE && strcmp(batch->jobs[record->job].name, job) == 0 &&
            strcmp(batch->volumes[record->volume].name, volume) == 0)
            sum += record->cache[CACHE_REWORKED_BYTES];
        else if (record->op != OP_WRITE)
            assert_int_equal(record->cache[CACHE_REWORKED_BYTES], 0);
    }
    return sum;
}

/* What a process reads goes to where it writes, whichever of its threads does what; what others read does not. Processes that
   stay need no such sums. */
static void folding_tells_what_writers_read(void **state)
{
    _cleanup_batch_ struct batch *b = new_batch();
    struct process process = {.pid = 7, .start_ns = 1, .command = "tar"};
    uint32_t at[5];

    process.job = add_job(b, &(struct job){.name = "packs", .exit = -1});
    add_volume(b, "v");
    add_volume(b, "w");
    for (unsigned i = 0; i < 3; i++, process.tid = 10 + i) /* a process and two threads of it */
        assert_int_equal(batch_process(b, &process, &at[i]), 0);
    process = (struct process){.pid = 7, .start_ns = 2, .command = "cat"}; /* the number is used again */
    process.job = add_job(b, &(struct job){.name = "apart", .exit = -1});
    for (unsigned i = 3; i < 5; i++, process.pid++)
        assert_int_equal(batch_process(b, &process, &at[i]), 0);
    add_bytes(b, 0, at[1], OP_READ, 1000);
    add_bytes(b, 1, at[1], OP_MMAP_FAULT, 1);
    add_bytes(b, 0, at[2], OP_WRITE, 20);
    add_bytes(b, 1, at[0], OP_WRITE, 40);
    add_bytes(b, 1, at[0], OP_FSYNC, 0);
    add_bytes(b, 0, at[3], OP_READ, 700);
    add_bytes(b, 0, at[4], OP_WRITE, 700);
    for (enum grain keep = GRAIN_JOBS; keep <= GRAIN_THREADS; keep++) {
        _cleanup_batch_ struct batch *sum = new_batch();

        for (unsigned times = 1; times <= 2; times++) {
            assert_int_equal(batch_merge(sum, b, keep), 0);
            assert_int_equal(reworked(sum, "packs", "v"), keep ? 0 : times * 333);
            assert_int_equal(reworked(sum, "packs", "w"), keep ? 0 : times * 668);
            assert_int_equal(reworked(sum, "apart", "v"), 0);
        }
    }
}

static void merging_batches_at_random(void **state)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        _cleanup_batch_ struct batch *sum = new_batch();
        uint64_t ops = 0, bytes = 0, errors = 0, lost = 0;

        for (uint64_t i = 0; i < 4; i++) {
            _cleanup_batch_ struct batch *b = sample_batch(seed * 10 + i, 60);

            for (uint32_t r = 0; r < b->record_count; r++) {
                b->records[r].bytes >>= 20; /* so that sums fit */
                b->records[r].latency_sum_ns >>= 20;
                ops += record_ops(&b->records[r]);
                bytes += b->records[r].bytes;
                errors += b->records[r].errors;
            }
            b->coverage.lost >>= 20;
            lost += b->coverage.lost;
            assert_int_equal(batch_merge(sum, b, seed % 2), 0);
        }
        for (uint32_t r = 0; r < sum->record_count; r++) {
            ops -= record_ops(&sum->records[r]);
            bytes -= sum->records[r].bytes;
            errors -= sum->records[r].errors;
        }
        assert_int_equal(ops, 0);
        assert_int_equal(bytes, 0);
        assert_int_equal(errors, 0);
        assert_int_equal(sum->coverage.lost, lost);
    }
}

static void intervals_and_identity_merge(void **state)
{
    _cleanup_batch_ struct batch *sum = new_batch(), *b = new_batch();

    assert_int_equal(batch_set(b, &b->node, "n1"), 0);
    b->start_ns = 1000;
    b->duration_ns = 100;
    b->interval_ms = 1000;
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_string_equal(sum->node, "n1");
    assert_int_equal(sum->start_ns, 1000);
    assert_int_equal(sum->duration_ns, 100);
    assert_int_equal(sum->interval_ms, 1000);
    b->start_ns = 1100;
    b->interval_ms = 7;
    assert_int_equal(batch_set(b, &b->node, "n2"), 0);
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_string_equal(sum->node, "n1");
    assert_int_equal(sum->duration_ns, 200);
    assert_int_equal(sum->interval_ms, 1000);
    b->start_ns = 900; /* another node's, which came late */
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_int_equal(sum->start_ns, 900);
    assert_int_equal(sum->duration_ns, 300);
}

static void pressure_is_known_when_all_of_it_is(void **state)
{
    _cleanup_batch_ struct batch *sum = new_batch(), *b = new_batch();

    b->duration_ns = 100;
    b->pressure = (struct pressure){true, 30, 7};
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    b->start_ns = 100;
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_true(sum->pressure.known);
    assert_int_equal(sum->pressure.some_ns, 60);
    assert_int_equal(sum->pressure.full_ns, 14);
    b->pressure = (struct pressure){0};
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_false(sum->pressure.known);
    b->pressure = (struct pressure){true, 30, 7};
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_false(sum->pressure.known);
}

static void coverage_merges(void **state)
{
    _cleanup_batch_ struct batch *sum = new_batch(), *b = new_batch();
    struct hook hook = {"mmap_fault", true, NULL};
    struct bypass bypass = {"spdk", "0000:01:00.0", "vfio-pci"};

    b->coverage =
        (struct coverage){.lost = 1, .killed = 2, .in_flight = 3, .unattributed = 4, .overflow = 5};
    assert_int_equal(batch_hooks(b, &hook, 1), 0);
    assert_int_equal(batch_bypasses(b, &bypass, 1), 0);
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    hook = (struct hook){"mmap_fault", false, "the kernel took it away"};
    assert_int_equal(batch_hooks(b, &hook, 1), 0);
    b->coverage.in_flight = 1;
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_int_equal(sum->coverage.lost, 2);
    assert_int_equal(sum->coverage.killed, 4);
    assert_int_equal(sum->coverage.in_flight, 1);
    assert_int_equal(sum->coverage.unattributed, 8);
    assert_int_equal(sum->coverage.overflow, 10);
    assert_int_equal(sum->coverage.hook_count, 1);
    assert_false(sum->coverage.hooks[0].attached);
    assert_string_equal(sum->coverage.hooks[0].why, "the kernel took it away");
    assert_int_equal(sum->coverage.bypass_count, 1);
    assert_string_equal(sum->coverage.bypasses[0].why, "vfio-pci");
    sum->coverage.lost = INT64_MAX;
    assert_int_equal(batch_merge(sum, b, GRAIN_PROCESSES), 0);
    assert_int_equal(sum->coverage.lost, INT64_MAX);
}

static void operations_have_names(void **state)
{
    static const char *const names[] = {"read",        "write",       "open",         "close",
                                        "stat",        "seek",        "readdir",      "create",
                                        "unlink",      "rename",      "mkdir",        "truncate",
                                        "setattr",     "fsync",       "mmap_fault",   "block_read",
                                        "block_write", "block_flush", "block_discard"};

    assert_int_equal(OP_COUNT - OP_FIRST, sizeof(names) / sizeof(names[0]));
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        assert_string_equal(operation_info(op)->name, names[op - OP_FIRST]);
        assert_int_equal(operation_by_name(names[op - OP_FIRST]), op);
        assert_int_equal(operation_is_file(op), op < OP_BLOCK_READ);
    }
    assert_int_equal(operation_by_name("pread"), OP_NONE);
    assert_int_equal(operation_by_name(""), OP_NONE);
    assert_null(operation_info(OP_NONE));
    assert_null(operation_info(OP_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_found_and_filled_in),
        cmocka_unit_test(volumes_and_processes_too),
        cmocka_unit_test(names_become_text),
        cmocka_unit_test(records_are_one_a_series),
        cmocka_unit_test(many_of_everything),
        cmocka_unit_test(adding_is_all_or_nothing),
        cmocka_unit_test(merging_keeps_every_count),
        cmocka_unit_test(folding_tells_what_writers_read),
        cmocka_unit_test(merging_batches_at_random),
        cmocka_unit_test(intervals_and_identity_merge),
        cmocka_unit_test(pressure_is_known_when_all_of_it_is),
        cmocka_unit_test(coverage_merges),
        cmocka_unit_test(operations_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
