/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/finding/finding.h"
#include "analyzer/report.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define SCALE 100 /* operations are dear enough for a finding */

static void make_dear(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns *= SCALE;
}

/* How often the report has that finding; its first one is handed out, and its texts stay as long as the report. */
static unsigned find(struct given *given, const char *id, struct report *report, const struct finding **first)
{
    unsigned count = 0;

    given->source.next = history_next;
    *first = NULL;
    *report = (struct report){0};
    assert_int_equal(report_build(&given->source, &classified_by, report), 0);
    for (uint32_t i = 0; i < report->findings.count; i++) {
        if (strcmp(report->findings.list[i].id, id) != 0)
            continue;
        *first = *first ? *first : &report->findings.list[i];
        count++;
    }
    return count;
}

static unsigned count_found(struct batch *batch, const char *id)
{
    struct given given = {.batches = {batch}, .count = 1};
    const struct finding *first;
    struct report report;
    unsigned count = find(&given, id, &report, &first);

    report_clear(&report);
    return count;
}

/* Reads of 1,000 bytes, of so many of which the kernel tells where they start. */
static struct batch *read_oddly(uint64_t ordered)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_READ, 1000, 1000);
    history_order(batch, "j", 1, OP_READ, ORDER_CONSECUTIVE, ordered);
    make_dear(batch);
    return batch;
}

/* What the page cache did is not known of either. */
static void transfers_between_files_are_no_direct_io(void **state)
{
    assert_int_equal(count_found(read_oddly(1000), "unaligned-direct-io"), 1);
    assert_int_equal(count_found(read_oddly(10), "unaligned-direct-io"), 0);
}

/* What a program reads to start it reads through the page cache, in pieces of any size. */
static void a_start_beside_direct_io_is_none(void **state)
{
    for (unsigned cached = 0; cached < 2; cached++) {
        struct batch *batch = history_batch(0);

        history_ops(batch, "j", 1, OP_READ, 1 << 20, 1000);
        history_ops(batch, "j", 1, OP_READ, 1000, 200);
        history_order(batch, "j", 1, OP_READ, ORDER_CONSECUTIVE, 1200);
        history_record(batch, "j", 1, OP_READ)->cache[CACHE_HIT_OPS] = cached ? 200 : 0;
        history_record(batch, "j", 1, OP_READ)->cache[CACHE_HIT_BYTES] = cached ? 200000 : 0;
        make_dear(batch);
        assert_int_equal(count_found(batch, "unaligned-direct-io"), !cached);
    }
}

static void a_page_cache_that_nobody_saw_tells_no_direct_io(void **state)
{
    const struct hook hook = {.name = "mm_filemap_add_to_page_cache", .why = "no"};
    struct batch *batch = read_oddly(1000);

    assert_int_equal(batch_hooks(batch, &hook, 1), 0);
    assert_int_equal(count_found(batch, "unaligned-direct-io"), 0);
}

#define RANKS 10

/* A process that has begun so late, and reads or writes for 100 us, or far longer, a MiB. */
static void add_rank(struct batch *batch, uint32_t rank, unsigned begin_ms, enum operation op, bool slow)
{
    uint64_t latency = slow ? 5000000 : 100000;
    struct record *record;

    history_ops(batch, "j", 1 + rank, op, 1 << 20, 100);
    record = &batch->records[batch->record_count - 1];
    histogram_clear(&record->latency_ns);
    assert_int_equal(histogram_add(&record->latency_ns, latency, 100), 0);
    record->latency_sum_ns = 100 * latency;
    batch->processes[batch->process_count - 1].start_ns += begin_ms * INT64_C(1000000);
}

/* Ranks that begin so far from each other, of which the first ones are slow, and some write. */
static unsigned count_stragglers(unsigned apart_ms, uint32_t slow, uint32_t writers)
{
    struct batch *batch = history_batch(0);

    for (uint32_t rank = 0; rank < RANKS; rank++)
        add_rank(batch, rank, rank * apart_ms, rank < writers ? OP_WRITE : OP_READ, rank < slow);
    return count_found(batch, "straggler");
}

static void who_takes_longer_than_its_peers_is_a_straggler(void **state)
{
    assert_int_equal(count_stragglers(1, 0, 0), 0);
    assert_int_equal(count_stragglers(1, 1, 0), 1);
    assert_int_equal(count_stragglers(1, 3, 0), 3);
}

static void who_does_something_else_is_no_straggler(void **state)
{
    assert_int_equal(count_stragglers(1, 4, 4), 0);
    assert_int_equal(count_stragglers(1, 1, 1), 0);
}

static void who_comes_before_others_is_no_straggler(void **state)
{
    assert_int_equal(count_stragglers(200, 1, 0), 0);
}

/* Ranks of one node, or one each, that read the same; the first waits 5 ms for what the page cache does not have. */
static unsigned count_first_readers(bool one_node, bool others_miss)
{
    struct given given = {.count = one_node ? 1 : RANKS};
    const struct finding *finding;
    struct report report;
    unsigned count;

    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct batch *batch = !rank || !one_node ? history_batch(0) : given.batches[0];
        char name[16];

        given.batches[one_node ? 0 : rank] = batch;
        add_rank(batch, rank, rank, OP_READ, !rank);
        batch->records[batch->record_count - 1].cache[!rank || others_miss ? CACHE_MISS_OPS : CACHE_HIT_OPS] = 100;
        if (!rank)
            history_ops(batch, "j", 1, OP_MMAP_FAULT, 1 << 20, 10);
        snprintf(name, sizeof(name), "n%u", rank);
        if (!one_node)
            assert_int_equal(batch_set(batch, &batch->node, name), 0);
    }
    count = find(&given, "straggler", &report, &finding);
    report_clear(&report);
    return count;
}

/* Nodes have caches of their own, and what nobody finds there makes nobody slower. */
static void who_fetches_what_others_find_in_memory_is_no_straggler(void **state)
{
    assert_int_equal(count_first_readers(true, false), 0);
    assert_int_equal(count_first_readers(true, true), 1);
    assert_int_equal(count_first_readers(false, false), 1);
}

static void where_many_are_slow_none_is_a_straggler(void **state)
{
    assert_int_equal(count_stragglers(1, 4, 0), 0);
}

/* Whether what is found of the batch is a metadata-storm, whose remedy says that. */
static bool storm_says(struct batch *batch, const char *words)
{
    struct given given = {.batches = {batch}, .count = 1};
    const struct finding *finding;
    struct report report;
    bool says;

    make_dear(batch);
    assert_int_equal(find(&given, "metadata-storm", &report, &finding), 1);
    says = strstr(finding->remedy, words) != NULL;
    assert_true(isnan(finding->gain) != (strstr(finding->remedy, "pack small files") != NULL));
    report_clear(&report);
    return says;
}

/* Files are looked for, and so many of them opened and read; others are deleted, or change their names. */
static struct batch *stormy(uint64_t reads, uint64_t unlinks, uint64_t renames)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_STAT, 0, 1000);
    history_ops(batch, "j", 1, OP_READDIR, 0, 200);
    history_ops(batch, "j", 1, OP_OPEN, 0, 1000);
    history_ops(batch, "j", 1, OP_CLOSE, 0, 1000);
    history_ops(batch, "j", 1, OP_READ, 1000, reads);
    history_ops(batch, "j", 1, OP_UNLINK, 0, unlinks);
    history_ops(batch, "j", 1, OP_RENAME, 0, renames);
    return batch;
}

static void small_files_are_packed_where_they_are_read(void **state)
{
    assert_true(storm_says(stormy(700, 0, 0), "pack small files"));
    assert_true(storm_says(stormy(100, 0, 0), "look up less"));
}

static void packed_files_help_nobody_who_deletes(void **state)
{
    assert_true(storm_says(stormy(700, 500, 0), "pack small files"));
    assert_true(storm_says(stormy(700, 5000, 0), "delete in the background"));
}

static void packed_files_help_nobody_who_changes_them(void **state)
{
    assert_true(storm_says(stormy(700, 0, 500), "pack small files"));
    assert_true(storm_says(stormy(700, 0, 5000), "make files with the name"));
}

static void who_makes_files_waits_for_each(void **state)
{
    for (unsigned made = 500; made <= 5000; made += 4500) {
        struct batch *batch = stormy(100, 0, 0);

        history_ops(batch, "j", 1, OP_CREATE, 0, made);
        assert_true(storm_says(batch, made > 500 ? "make fewer, larger files" : "look up less"));
    }
}

/* Whether something in a finding's evidence begins so. */
static bool says(const struct finding *finding, const char *words)
{
    for (uint32_t i = 0; i < finding->evidence_count; i++)
        if (strncmp(finding->evidence[i], words, strlen(words)) == 0)
            return true;
    return false;
}

/* So many stats in a second, of 100 us each, by a job that does something for so long; their time is all threads'. */
static unsigned count_storms(uint64_t stats, int seconds)
{
    struct given given = {.batches = {history_batch(0), history_batch(seconds - 1)}, .count = 2};
    const struct finding *finding;
    struct report report;
    unsigned count;

    history_ops(given.batches[0], "j", 1, OP_STAT, 0, stats);
    history_ops(given.batches[1], "j", 1, OP_STAT, 0, 1);
    make_dear(given.batches[0]);
    count = find(&given, "metadata-storm", &report, &finding);
    assert_true(!count || says(finding, "that time, of all threads together, of the job's duration: "));
    report_clear(&report);
    return count;
}

static void a_storm_takes_time(void **state)
{
    assert_int_equal(count_storms(2000, 2), 0);
    assert_int_equal(count_storms(4000, 2), 1);
    assert_int_equal(count_storms(4000, 10), 0);
}

/* A database, which writes as much as a checkpoint. */
static void add_database(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_READ, 8192, 20000);
    history_ops(batch, "j", pid, OP_WRITE, 8192, 32768);
    history_ops(batch, "j", pid, OP_FSYNC, 0, 3000);
    history_ops(batch, "j", pid, OP_OPEN, 0, 40);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 40);
}

/* Whether those who write in every second interval are said to be checkpoints that stop who reads in all of them, pieces
   of that size then. */
static bool stops_readers(void (*add_writer)(struct batch *, uint32_t), uint64_t size)
{
    struct given given = {.count = 4};
    const struct finding *finding;
    struct report report;
    unsigned count;

    for (unsigned i = 0; i < given.count; i++) {
        struct batch *batch = given.batches[i] = history_batch((int)i);

        history_ops(batch, "reader", 1, OP_READ, i % 2 ? size : 65536, 1000);
        batch->records[0].latency_sum_ns *= i % 2 ? 5 * SCALE : SCALE;
        if (i % 2)
            add_writer(batch, 2);
    }
    count = find(&given, "checkpoint-stops-readers", &report, &finding);
    report_clear(&report);
    return count > 0;
}

static void what_stops_readers_is_a_checkpoint(void **state)
{
    assert_true(stops_readers(history_checkpoint, 65536));
    assert_false(stops_readers(add_database, 65536));
}

static void larger_reads_take_longer_by_themselves(void **state)
{
    assert_false(stops_readers(history_checkpoint, 327680));
}

/* A rank that reads with that latency until a second is over, on a node of its own; in that order they are named. */
static struct batch *on_node(uint32_t rank, uint64_t latency_ns, uint64_t reads)
{
    struct batch *batch = history_batch(0);
    struct record *record;
    char name[16];

    snprintf(name, sizeof(name), "n%u", rank);
    assert_int_equal(batch_set(batch, &batch->node, name), 0);
    history_ops(batch, "j", 1 + rank, OP_READ, 1 << 20, reads);
    record = &batch->records[0];
    histogram_clear(&record->latency_ns);
    assert_int_equal(histogram_add(&record->latency_ns, latency_ns, reads), 0);
    record->latency_sum_ns = reads * latency_ns;
    snprintf(name, sizeof(name), "n%u:v", rank);
    assert_int_equal(batch_set(batch, &batch->volumes[0].name, name), 0);
    return batch;
}

/* Nodes with a rank each, on a disk of its own, of which the last is so slow, and reads so often. */
static unsigned count_slow_nodes(uint64_t latency_ns, uint64_t reads)
{
    struct given given = {.count = RANKS};
    const struct finding *finding;
    struct report report;
    unsigned count;

    for (uint32_t rank = 0; rank < RANKS; rank++)
        given.batches[rank] =
            rank < RANKS - 1 ? on_node(rank, 1000000, 400) : on_node(rank, latency_ns, reads);
    count = find(&given, "straggler", &report, &finding);
    assert_true(!count || strcmp(finding->node, "n9") == 0);
    report_clear(&report);
    return count;
}

static void who_is_slow_on_the_disk_of_a_node_is_a_straggler(void **state)
{
    assert_int_equal(count_slow_nodes(1000000, 400), 0);
    assert_int_equal(count_slow_nodes(8000000, 400), 1);
}

/* It has not got more done, unless it is elsewhere most of the time. */
static void who_does_less_as_it_is_slow_is_a_straggler(void **state)
{
    assert_int_equal(count_slow_nodes(20000000, 45), 1);
    assert_int_equal(count_slow_nodes(8000000, 45), 0);
}

/* Seventy files of 4 MiB each, written like checkpoints. */
static void make_files(struct batch *batch)
{
    history_ops(batch, "j", 2, OP_CREATE, 0, 70);
    history_ops(batch, "j", 2, OP_WRITE, 4 << 20, 70);
    history_ops(batch, "j", 2, OP_CLOSE, 0, 70);
}

/* What a job does in each second: r reads, w writes a checkpoint, f files, b both, l writes lines, 1 reads once, and nothing. */
static unsigned count_stopped(const char *seconds)
{
    struct given given = {.count = 0};
    const struct finding *finding;
    struct report report;
    unsigned count;

    for (; *seconds; seconds++) {
        struct batch *batch = given.batches[given.count] = history_batch((int)given.count);

        if (*seconds == 'r' || *seconds == 'b')
            history_ops(batch, "j", 1, OP_READ, 65536, 1000);
        if (*seconds == '1')
            history_ops(batch, "j", 1, OP_READ, 65536, 1);
        if (*seconds == 'l')
            history_ops(batch, "j", 2, OP_WRITE, 300, 10000);
        if (*seconds == 'w' || *seconds == 'b')
            history_checkpoint(batch, 2);
        if (*seconds == 'f')
            make_files(batch);
        given.count++;
    }
    count = find(&given, "checkpoint-stops-readers", &report, &finding);
    report_clear(&report);
    return count;
}

static void who_reads_nothing_while_it_saves_is_stopped(void **state)
{
    assert_int_equal(count_stopped("rrrb  rrrw rrrw  rr"), 1);
    assert_int_equal(count_stopped("rrrrrrrw rrrw  rr"), 0);
}

static void who_reads_on_while_it_saves_is_not(void **state)
{
    assert_int_equal(count_stopped("rrrbrrrbrrrbrr"), 0);
    assert_int_equal(count_stopped("rbrb brbbrwrbrb brb"), 0);
}

static void who_has_nothing_to_read_may_save(void **state)
{
    assert_int_equal(count_stopped("r  r  r wr  r wr  r w  r"), 0);
    assert_int_equal(count_stopped("rrr  brrr  brrr  br"), 0);
    assert_int_equal(count_stopped("rrrrrrrrw w w"), 0);
    assert_int_equal(count_stopped("111w 111w 111w 111"), 0);
}

static void who_writes_something_else_is_not_stopped_by_checkpoints(void **state)
{
    assert_int_equal(count_stopped("rrrl rrrl rrrl  rr"), 0);
    assert_int_equal(count_stopped("rrrf rrrf rrrf  rr"), 0);
}

/* Of 10,000 stats so many ask for what is not there: then nothing can be packed. */
static struct batch *looked_for(uint64_t missing)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_STAT, 0, 10000 - missing);
    history_errors(batch, "j", 1, OP_STAT, ENOENT, missing);
    return batch;
}

static void packed_files_help_nobody_who_finds_none(void **state)
{
    assert_true(storm_says(looked_for(3000), "look up less"));
    assert_true(storm_says(looked_for(7000), "shorten search paths"));
}

/* So many bytes are written before each of a hundred syncs, which take long. */
static struct batch *synced(uint64_t bytes)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_WRITE, bytes, 100);
    history_ops(batch, "j", 1, OP_FSYNC, 0, 100);
    make_dear(batch);
    batch->records[1].latency_sum_ns *= SCALE;
    return batch;
}

static void who_commits_is_no_checkpoint(void **state)
{
    assert_int_equal(count_found(synced(8192), "fsync-bound-log"), 1);
    assert_int_equal(count_found(synced(8192), "fsync-bound-checkpoint"), 0);
    assert_int_equal(count_found(synced(1 << 20), "fsync-bound-log"), 0);
    assert_int_equal(count_found(synced(1 << 20), "fsync-bound-checkpoint"), 1);
}

/* So many of the writes go on where the last one ended. */
static struct batch *ordered(uint64_t bytes, uint64_t consecutive)
{
    struct batch *batch = synced(bytes);

    history_order(batch, "j", 1, OP_WRITE, ORDER_CONSECUTIVE, consecutive);
    history_order(batch, "j", 1, OP_WRITE, ORDER_RANDOM, 100 - consecutive);
    return batch;
}

static void who_writes_here_and_there_is_a_store(void **state)
{
    assert_int_equal(count_found(ordered(1 << 18, 10), "fsync-bound-checkpoint"), 0);
    assert_int_equal(count_found(ordered(1 << 18, 10), "fsync-bound-log"), 1);
    assert_int_equal(count_found(ordered(1 << 18, 90), "fsync-bound-checkpoint"), 1);
    assert_int_equal(count_found(ordered(1 << 18, 90), "fsync-bound-log"), 0);
    assert_int_equal(count_found(ordered(8192, 10), "fsync-bound-log"), 1);
}

/* The same, of so many files that were made. */
static struct batch *saved(uint64_t bytes, uint64_t files)
{
    struct batch *batch = synced(bytes);

    history_ops(batch, "j", 1, OP_CREATE, 0, files);
    return batch;
}

/* Each file may be synced with its folder; small ones are commits. */
static void who_syncs_each_file_once_needs_no_telling(void **state)
{
    assert_int_equal(count_found(saved(40000, 10), "fsync-bound-checkpoint"), 1);
    assert_int_equal(count_found(saved(40000, 10), "fsync-bound-log"), 0);
    assert_int_equal(count_found(saved(40000, 50), "fsync-bound-checkpoint"), 0);
    assert_int_equal(count_found(saved(40000, 50), "fsync-bound-files"), 1);
    assert_int_equal(count_found(saved(40000, 50), "fsync-bound-log"), 0);
    assert_int_equal(count_found(saved(1 << 20, 100), "fsync-bound-checkpoint"), 0);
    assert_int_equal(count_found(saved(1 << 20, 100), "fsync-bound-log"), 0);
}

/* Lines of a log, one behind the other, each synced or not. */
static struct batch *logged(uint64_t size, uint64_t lines, uint64_t syncs)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_CREATE, 0, 1);
    history_ops(batch, "j", 1, OP_WRITE, size, lines);
    history_order(batch, "j", 1, OP_WRITE, ORDER_CONSECUTIVE, lines);
    if (syncs)
        history_ops(batch, "j", 1, OP_FSYNC, 0, syncs);
    make_dear(batch);
    return batch;
}

static void small_writes_are_found(void **state)
{
    assert_int_equal(count_found(logged(300, 5000, 0), "small-writes"), 1);
    assert_int_equal(count_found(logged(4096, 5000, 0), "small-writes"), 1);
    assert_int_equal(count_found(logged(65536, 5000, 0), "small-writes"), 0);
    assert_int_equal(count_found(logged(300, 1000, 0), "small-writes"), 0);
    assert_int_equal(count_found(logged(300, 5000, 5000), "small-writes"), 0);
    assert_int_equal(count_found(logged(300, 5000, 500), "small-writes"), 0);
    assert_int_equal(count_found(logged(300, 5000, 50), "small-writes"), 1);
}

/* The device writes so often for the job, and takes so long for it; a write takes a microsecond. */
static struct batch *through(struct batch *batch, uint64_t requests, uint64_t latency_ns)
{
    const struct volume device = {.name = "d", .source = "/dev/v", .fstype = "block", .scope = SCOPE_LOCAL};
    struct record *record;
    uint32_t on;

    assert_int_equal(batch_volume(batch, &device, &on), 0);
    assert_int_equal(batch_record(batch, 0, on, NO_INDEX, OP_BLOCK_WRITE, &record), 0);
    record->bytes += 4096 * requests;
    record->latency_sum_ns += latency_ns * requests;
    assert_int_equal(histogram_add(&record->latency_ns, latency_ns, requests), 0);
    assert_int_equal(histogram_add(&record->size, 4096, requests), 0);
    return batch;
}

static void writes_that_wait_for_the_device_are_found(void **state)
{
    assert_int_equal(count_found(through(logged(300, 5000, 0), 5000, 500), "sync-writes"), 1);
    assert_int_equal(count_found(through(logged(300, 5000, 0), 5000, 500), "small-writes"), 0);
}

/* So many of them behind a flush of the device's cache. */
static struct batch *flushed(struct batch *batch, uint64_t requests)
{
    struct record *record;

    assert_int_equal(batch_record(batch, 0, batch->volume_count - 1, NO_INDEX, OP_BLOCK_FLUSH, &record), 0);
    assert_int_equal(histogram_add(&record->latency_ns, 500, requests), 0);
    return batch;
}

/* Sizes tell that 300 bytes are no direct I/O, and nothing of 4,096. */
static void flushes_tell_who_waits_for_the_device(void **state)
{
    assert_int_equal(count_found(flushed(through(logged(4096, 5000, 0), 10000, 500), 5000), "sync-writes"), 1);
    assert_int_equal(count_found(flushed(through(logged(4096, 5000, 0), 10000, 500), 500), "sync-writes"), 0);
    assert_int_equal(count_found(flushed(through(logged(4096, 5000, 5000), 10000, 500), 5000), "sync-writes"), 0);
}

/* What the page cache took is written by others, or later; direct I/O waits by itself, and syncs have a finding. */
static void writes_that_wait_for_nothing_are_not(void **state)
{
    assert_int_equal(count_found(through(logged(300, 5000, 0), 50, 500), "sync-writes"), 0);
    assert_int_equal(count_found(through(logged(300, 5000, 0), 5000, 5000), "sync-writes"), 0);
    assert_int_equal(count_found(through(logged(4096, 5000, 0), 5000, 500), "sync-writes"), 0);
    assert_int_equal(count_found(through(logged(4096, 5000, 0), 5000, 500), "small-writes"), 1);
    assert_int_equal(count_found(through(logged(300, 5000, 5000), 5000, 500), "sync-writes"), 0);
}

static void a_gain_that_cannot_be_told_is_none(void **state)
{
    struct given given = {.batches = {synced(8192)}, .count = 1};
    const struct finding *finding;
    struct report report;

    assert_int_equal(find(&given, "fsync-bound-log", &report, &finding), 1);
    assert_true(isnan(finding->gain));
    assert_true(finding->cost_low == 0 && finding->cost_high > 0);
    report_clear(&report);
}

/* How severe it is that small reads take so long all together, where each may take a microsecond. */
static bool is_severe(double seconds, const char *severity)
{
    struct given given = {.batches = {history_batch(0)}, .count = 1};
    const struct finding *finding;
    struct report report;
    bool is;

    history_ops(given.batches[0], "j", 1, OP_READ, 1000, 20000);
    history_order(given.batches[0], "j", 1, OP_READ, ORDER_CONSECUTIVE, 20000);
    given.batches[0]->records[0].latency_sum_ns = (uint64_t)(1e9 * seconds);
    assert_int_equal(find(&given, "small-reads", &report, &finding), 1);
    is = strcmp(finding->severity, severity) == 0;
    report_clear(&report);
    return is;
}

static void what_saves_next_to_nothing_is_not_severe(void **state)
{
    assert_true(is_severe(0.3, "high"));
    assert_true(is_severe(0.5, "medium"));
    assert_true(is_severe(3.0, "low"));
}

/* Files are opened, read whole and closed, in a large set, or one large file is read. */
static struct batch *opened(uint64_t files)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_OPEN, 10000, files);
    history_ops(batch, "j", 1, OP_STAT, 0, files);
    history_ops(batch, "j", 1, OP_READ, 10000, files);
    history_ops(batch, "j", 1, OP_READ, 0, files);
    history_ops(batch, "j", 1, OP_CLOSE, 0, files);
    make_dear(batch);
    return batch;
}

static void many_small_files_are_found(void **state)
{
    assert_int_equal(count_found(opened(5000), "small-files"), 1);
    assert_int_equal(count_found(opened(5000), "metadata-storm"), 0);
    assert_int_equal(count_found(opened(500), "small-files"), 0);
}

static struct batch *in_memory(struct batch *batch)
{
    assert_int_equal(batch_set(batch, &batch->volumes[0].fstype, "tmpfs"), 0);
    return batch;
}

/* As most are, without a device and a server. */
static struct batch *quick(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].latency_sum_ns /= 10;
    return batch;
}

/* There, only calls cost anything; where they do, NVMe does not help. */
static void who_waits_in_memory_waits_for_no_device(void **state)
{
    struct given given = {.batches = {in_memory(opened(5000))}, .count = 1};
    const struct finding *finding;
    struct report report;

    assert_int_equal(find(&given, "small-files", &report, &finding), 1);
    assert_null(strstr(finding->remedy, "NVMe"));
    assert_true(says(finding, "on a file system in memory: "));
    report_clear(&report);
    assert_int_equal(count_found(quick(opened(5000)), "small-files"), 1);
    assert_int_equal(count_found(in_memory(quick(opened(5000))), "small-files"), 0);
    assert_int_equal(count_found(in_memory(logged(300, 5000, 0)), "small-writes"), 0);
    assert_int_equal(count_found(in_memory(synced(8192)), "fsync-bound-log"), 0);
}

/* 64 MiB are read from a volume of that type, and written to another one. */
static struct batch *copied(const char *from, const char *into)
{
    const struct volume other = {.name = "w", .source = "/dev/w", .fstype = into, .scope = SCOPE_LOCAL};
    struct batch *batch = history_batch(0);
    struct record *record;
    uint32_t on;

    history_ops(batch, "j", 1, OP_READ, 1 << 20, 64);
    assert_int_equal(batch_set(batch, &batch->volumes[0].fstype, from), 0);
    assert_int_equal(batch_volume(batch, &other, &on), 0);
    assert_int_equal(batch_record(batch, 0, on, 0, OP_WRITE, &record), 0);
    record->bytes = 64 << 20;
    record->latency_sum_ns = 64 * 1000;
    assert_int_equal(histogram_add(&record->latency_ns, 1000, 64), 0);
    assert_int_equal(histogram_add(&record->size, 1 << 20, 64), 0);
    make_dear(batch);
    return batch;
}

static void memory_is_no_silo(void **state)
{
    assert_int_equal(count_found(copied("ext4", "xfs"), "silo-copy"), 1);
    assert_int_equal(count_found(copied("ext4", "tmpfs"), "silo-copy"), 0);
    assert_int_equal(count_found(copied("tmpfs", "xfs"), "silo-copy"), 0);
}

/* 300 MiB are read through files that had 10 MiB when they were opened, and so much is written. */
static struct batch *read_beyond(uint64_t written)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_OPEN, 1 << 20, 10);
    history_ops(batch, "j", 1, OP_READ, 4096, 76800);
    history_record(batch, "j", 1, OP_READ)->cache[CACHE_MISS_OPS] = 76800;
    history_record(batch, "j", 1, OP_READ)->cache[CACHE_MISS_BYTES] = 300 << 20;
    if (written)
        history_ops(batch, "j", 1, OP_WRITE, written, 1);
    return batch;
}

static void what_was_written_since_is_not_read_again(void **state)
{
    static const char *const ids[] = {"reread-files", "cache-thrash"};

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(count_found(read_beyond(0), ids[i]), 1);
        assert_int_equal(count_found(read_beyond(100 << 20), ids[i]), 1);
        assert_int_equal(count_found(read_beyond(300 << 20), ids[i]), 0);
    }
}

/* Ten files of 16 MiB are opened anew to be read, that many times each, and no read finds them in the page cache; of the
   device they come so often. */
static struct batch *fetched(unsigned times, unsigned from_device, bool told)
{
    const struct volume device = {.name = "d", .source = "/dev/v", .fstype = "block", .scope = SCOPE_LOCAL};
    struct batch *batch = history_batch(0);
    struct record *record;
    uint32_t on;

    history_ops(batch, "j", 1, OP_OPEN, 16 << 20, 10 * times);
    history_ops(batch, "j", 1, OP_READ, 4096, 40960 * times);
    record = history_record(batch, "j", 1, OP_READ);
    record->cache[CACHE_MISS_OPS] = 40960 * times;
    record->cache[CACHE_MISS_BYTES] = record->bytes;
    assert_int_equal(batch_volume(batch, &device, &on), 0);
    history_ops_on(batch, "d", "j", 1, OP_BLOCK_READ, 1 << 20, 160 * from_device);
    if (told)
        history_told(batch, 10, 16 << 20);
    return batch;
}

static void epochs_that_memory_does_not_keep_are_found(void **state)
{
    assert_int_equal(count_found(fetched(1, 1, true), "cache-thrash"), 0);
    assert_int_equal(count_found(fetched(4, 4, true), "cache-thrash"), 1);
    assert_int_equal(count_found(fetched(4, 1, true), "cache-thrash"), 0);  /* four at once wait for what comes once */
    assert_int_equal(count_found(fetched(4, 4, false), "cache-thrash"), 0); /* of other files, maybe */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers_between_files_are_no_direct_io),
        cmocka_unit_test(a_start_beside_direct_io_is_none),
        cmocka_unit_test(a_page_cache_that_nobody_saw_tells_no_direct_io),
        cmocka_unit_test(who_takes_longer_than_its_peers_is_a_straggler),
        cmocka_unit_test(who_does_something_else_is_no_straggler),
        cmocka_unit_test(who_comes_before_others_is_no_straggler),
        cmocka_unit_test(where_many_are_slow_none_is_a_straggler),
        cmocka_unit_test(who_fetches_what_others_find_in_memory_is_no_straggler),
        cmocka_unit_test(small_files_are_packed_where_they_are_read),
        cmocka_unit_test(who_is_slow_on_the_disk_of_a_node_is_a_straggler),
        cmocka_unit_test(who_does_less_as_it_is_slow_is_a_straggler),
        cmocka_unit_test(packed_files_help_nobody_who_deletes),
        cmocka_unit_test(packed_files_help_nobody_who_changes_them),
        cmocka_unit_test(who_makes_files_waits_for_each),
        cmocka_unit_test(a_storm_takes_time),
        cmocka_unit_test(what_stops_readers_is_a_checkpoint),
        cmocka_unit_test(larger_reads_take_longer_by_themselves),
        cmocka_unit_test(who_reads_nothing_while_it_saves_is_stopped),
        cmocka_unit_test(who_reads_on_while_it_saves_is_not),
        cmocka_unit_test(who_has_nothing_to_read_may_save),
        cmocka_unit_test(who_writes_something_else_is_not_stopped_by_checkpoints),
        cmocka_unit_test(packed_files_help_nobody_who_finds_none),
        cmocka_unit_test(who_commits_is_no_checkpoint),
        cmocka_unit_test(who_writes_here_and_there_is_a_store),
        cmocka_unit_test(who_syncs_each_file_once_needs_no_telling),
        cmocka_unit_test(small_writes_are_found),
        cmocka_unit_test(writes_that_wait_for_the_device_are_found),
        cmocka_unit_test(writes_that_wait_for_nothing_are_not),
        cmocka_unit_test(flushes_tell_who_waits_for_the_device),
        cmocka_unit_test(a_gain_that_cannot_be_told_is_none),
        cmocka_unit_test(what_saves_next_to_nothing_is_not_severe),
        cmocka_unit_test(many_small_files_are_found),
        cmocka_unit_test(who_waits_in_memory_waits_for_no_device),
        cmocka_unit_test(memory_is_no_silo),
        cmocka_unit_test(what_was_written_since_is_not_read_again),
        cmocka_unit_test(epochs_that_memory_does_not_keep_are_found),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
