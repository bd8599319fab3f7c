/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * days write FILE NODES HOURS   a recording of that many nodes and hours, in records of a minute, always the same
 * days read FILE                only reads and decodes it: the floor of a report
 * days find FILE                decoded records to findings: how many a second, on one core, decoding left out
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/report.h"
#include "lib/cleanup.h"
#include "lib/recording.h"

#define MINUTE_NS   60000000000LL
#define START_NS    1760000040000000000LL /* a whole minute */
#define HELD        20000                 /* batches in memory at once, when they are added up */
#define NODES_A_JOB 8

/* What a job does on a volume in a minute; counts vary by node and minute. */
static const struct habit {
    unsigned volume;
    enum operation op;
    unsigned ops;
    uint64_t size;
} habits[] = {
    {0, OP_READ, 90000, 65536},     {0, OP_OPEN, 30000, 0},   {0, OP_CLOSE, 30000, 0}, {0, OP_STAT, 60000, 0},
    {0, OP_SEEK, 60000, 0},         {1, OP_READ, 4000, 1u << 20}, {1, OP_OPEN, 12, 0},     {1, OP_CLOSE, 12, 0},
    {1, OP_WRITE, 700, 4u << 20},   {1, OP_FSYNC, 6, 0},      {1, OP_CREATE, 6, 0},    {1, OP_RENAME, 6, 0},
    {2, OP_READ, 900, 4096},        {2, OP_WRITE, 400, 700},  {2, OP_OPEN, 500, 0},    {2, OP_CLOSE, 500, 0},
    {2, OP_STAT, 900, 0},
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Every other size jumps; reads are of large files. */
static int add_joint(struct record *record, unsigned bucket, bool jumps, uint64_t ops)
{
    unsigned kind = record->op == OP_READ ? 1 + FILE_LARGE : 0;
    int err = 0;

    if (record->op != OP_READ && record->op != OP_WRITE)
        return 0;
    if (kind) {
        record->file_size[FILE_LARGE] += ops;
        err = joint_add(&record->joint, JOINT_ALL, kind, bucket, ops);
    }
    if (!err && jumps)
        err = joint_add(&record->joint, JOINT_JUMPED, kind, bucket, ops);
    return err;
}

/* Stats of files of all kinds, every other of them by name. */
static int add_described(struct record *stat, unsigned i, uint64_t ops)
{
    int err = joint_add(&stat->joint, JOINT_ALL, 1 + i % FILE_SIZES, 0, ops);

    stat->order[i % 2 ? ORDER_OF_OPEN : ORDER_BY_NAME] += ops;
    if (!err && i % 2 == 0)
        err = joint_add(&stat->joint, JOINT_JUMPED, 1 + i % FILE_SIZES, 0, ops);
    return err;
}

static int fill_record(struct batch *batch, uint32_t job, uint32_t volume, const struct habit *habit, uint64_t *state)
{
    struct record *record;
    int err = batch_record(batch, job, volume, NO_INDEX, habit->op, &record);

    for (unsigned i = 0; !err && i < 8; i++) {
        uint64_t ops = habit->ops / 8 + draw(state) % (habit->ops / 8 + 2);
        uint64_t latency = 2000 + (draw(state) % 1000 << i);

        err = histogram_add(&record->latency_ns, latency, ops);
        record->latency_sum_ns += latency * ops;
        if (!err && habit->op == OP_STAT)
            err = add_described(record, i, ops);
        if (err || !habit->size)
            continue;
        err = histogram_add(&record->size, habit->size + habit->size * i / 16, ops);
        record->bytes += (habit->size + habit->size * i / 16) * ops;
        record->order[i % 2 ? ORDER_CONSECUTIVE : ORDER_RANDOM] += ops;
        if (!err)
            err = add_joint(record, bucket_of(habit->size + habit->size * i / 16), i % 2 == 0, ops);
    }
    return err;
}

static int make_batch(unsigned node, unsigned minute, struct batch **out)
{
    static const char *const names[] = {"lustre:/data", "nfs:/checkpoints", "/scratch"};
    _cleanup_(batch_freep) struct batch *batch = NULL;
    uint64_t state = node * 7919u + minute * 104729u;
    char name[32];
    struct job job = {.kind = "slurm", .command = "python3", .user = "alice", .exit = -1};
    uint32_t at, volumes[3];
    int err = batch_new(&batch);

    if (err)
        return err;
    snprintf(name, sizeof(name), "n%04u", node);
    if (batch_set(batch, &batch->cluster, "c") || batch_set(batch, &batch->node, name) ||
        batch_set(batch, &batch->role, "client") || batch_set(batch, &batch->kernel, "6.12.0"))
        return -ENOMEM;
    batch->start_ns = START_NS + minute * MINUTE_NS;
    batch->duration_ns = (uint64_t)MINUTE_NS;
    batch->interval_ms = 60000;
    batch->seq = minute;
    snprintf(name, sizeof(name), "%u", 1000 + node / NODES_A_JOB * 100 + minute / 360);
    job.name = name;
    err = batch_job(batch, &job, &at);
    for (unsigned i = 0; !err && i < 3; i++)
        err = batch_volume(batch, &(struct volume){.name = names[i], .source = names[i], .fstype = "nfs"}, &volumes[i]);
    for (size_t i = 0; !err && i < sizeof(habits) / sizeof(*habits); i++)
        err = fill_record(batch, at, volumes[habits[i].volume], &habits[i], &state);
    if (!err)
        *out = take_pointer(batch);
    return err;
}

static int write_days(const char *path, unsigned nodes, unsigned hours)
{
    struct recording_writer *writer;
    int err = recording_create(path, &writer);

    for (unsigned minute = 0; !err && minute < hours * 60; minute++)
        for (unsigned node = 0; !err && node < nodes; node++) {
            struct batch *batch;

            err = make_batch(node, minute, &batch);
            if (!err) {
                err = recording_write(writer, batch);
                batch_free(batch);
            }
        }
    return err ? err : recording_close(writer);
}

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int read_days(const char *path)
{
    struct recording_reader *reader = NULL;
    struct codec_error error;
    struct batch *batch;
    uint64_t records = 0;
    int got = recording_open(path, &reader);

    while (!got && (got = recording_read(reader, &batch, &error)) == 1) {
        records += batch->record_count;
        batch_free(batch);
        got = 0;
    }
    printf("%llu records read in %.2f s of a processor\n", (unsigned long long)records,
           seconds(CLOCK_PROCESS_CPUTIME_ID));
    return got;
}

/* Batches that are held, as a source. */
struct held {
    struct source source;
    struct batch **batches;
    size_t count, at;
};

static int held_next(struct source *source, struct batch **out)
{
    struct held *held = (struct held *)source;

    if (held->at == held->count)
        return 0;
    *out = held->batches[held->at++];
    return 1;
}

static int find_days(const char *path)
{
    struct held held = {.source = {.next = held_next}};
    struct recording_reader *reader = NULL;
    struct catalogue catalogue;
    struct report report = {0};
    struct codec_error error;
    uint64_t records = 0;
    double start;
    int err = recording_open(path, &reader);

    held.batches = calloc(HELD, sizeof(*held.batches));
    if (err || !held.batches)
        return err ? err : -ENOMEM;
    while (held.count < HELD && recording_read(reader, &held.batches[held.count], &error) == 1)
        records += held.batches[held.count++]->record_count;
    recording_reader_free(reader);
    err = catalogue_load(NULL, &catalogue);
    if (err)
        return err;
    start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    err = report_build(&held.source, &catalogue, &report);
    start = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    printf("%llu decoded records to findings in %.2f s of a processor: %.0f records/s\n",
           (unsigned long long)records, start, (double)records / start);
    report_clear(&report);
    catalogue_clear(&catalogue);
    free(held.batches);
    return err;
}

int main(int argc, char **argv)
{
    int err = -EINVAL;

    if (argc == 5 && strcmp(argv[1], "write") == 0)
        err = write_days(argv[2], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]));
    else if (argc == 3 && strcmp(argv[1], "read") == 0)
        err = read_days(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "find") == 0)
        err = find_days(argv[2]);
    if (err)
        fprintf(stderr, "days: %s\n", strerror(-err));
    return err ? 1 : 0;
}
