/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/answer.h"
#include "analyzer/finding/finding.h"
#include "analyzer/report.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define LARGE  (2u << 20)
#define SCALE  100 /* operations are dear enough for a finding */
#define MINUTE 60

/* The sizes of files that are opened or made, which history_ops() does not know. */
static void size(struct batch *batch, enum operation op, uint64_t count)
{
    for (uint32_t i = batch->record_count; i-- > 0;)
        if (batch->records[i].op == op) {
            batch->records[i].bytes = 0;
            batch->records[i].latency_sum_ns *= SCALE;
            assert_int_equal(histogram_add(&batch->records[i].size, LARGE, count), 0);
            return;
        }
    fail();
}

/* A process opens large files so often, and reads a little of each. */
static struct batch *look_into(struct batch *batch, uint32_t pid, uint64_t opens)
{
    history_ops(batch, "j", pid, OP_READ, 1000, opens);
    history_ops(batch, "j", pid, OP_CLOSE, 0, opens);
    history_ops(batch, "j", pid, OP_OPEN, 0, opens);
    size(batch, OP_OPEN, opens);
    return batch;
}

/* Tells of the files first to end, of which those are in the sample that the shift leaves in. */
static struct batch *tell(struct batch *batch, uint64_t first, uint64_t end, uint32_t shift)
{
    struct flow *flow;

    assert_int_equal(batch_flow(batch, 0, 0, &flow), 0);
    flow->files.plain = shift > 0;
    sketch_raise(&flow->files, shift);
    for (uint64_t n = first; n < end; n++)
        assert_int_equal(sketch_add(&flow->files, &(struct sketch_file){.hash = n, .bytes = LARGE}), 0);
    return batch;
}

static struct batch *from_agent(struct batch *batch, int job_second)
{
    batch->seq = 500;
    batch->jobs[0].start_ns = HISTORY_START + job_second * INT64_C(1000000000);
    return batch;
}

/* The finding of the report, whose texts stay as long as that; NULL: there is none. */
static const struct finding *find_named(struct given *given, const char *id, enum grouping grouping, struct report *report)
{
    given->source.next = history_next;
    *report = (struct report){.totals.grouping = grouping};
    assert_int_equal(report_build(&given->source, &classified_by, report), 0);
    for (uint32_t i = 0; i < report->findings.count; i++)
        if (strcmp(report->findings.list[i].id, id) == 0)
            return &report->findings.list[i];
    return NULL;
}

static const struct finding *find(struct given *given, enum grouping grouping, struct report *report)
{
    return find_named(given, "reopened-files", grouping, report);
}

static bool is_found(struct given *given, enum grouping grouping)
{
    struct report report;
    bool found = find(given, grouping, &report);

    report_clear(&report);
    return found;
}

static struct given one(struct batch *batch)
{
    return (struct given){.batches = {batch}, .count = 1};
}

static void few_files_opened_often(void **state)
{
    struct given given = one(tell(look_into(history_batch(0), 1, 1000), 0, 4, 0));
    const struct finding *finding;
    struct report report;

    finding = find(&given, GROUP_JOB, &report);
    assert_non_null(finding);
    assert_string_equal(finding->metric, "opens_per_file");
    assert_true(finding->value == 250);
    assert_true(finding->expected == 10);
    assert_string_equal(finding->evidence[0], "1,000 opens; distinct files: 4; their bytes: 8 MiB");
    assert_true(finding->cost_low > 0.99 * finding->cost_high);
    report_clear(&report);
}

static void many_files_of_one_size(void **state)
{
    struct given given = one(tell(look_into(history_batch(0), 1, 1000), 0, 1000, 0));

    assert_false(is_found(&given, GROUP_JOB));
}

static void files_are_not_known(void **state)
{
    struct given given = one(look_into(history_batch(0), 1, 1000));

    assert_false(is_found(&given, GROUP_JOB));
}

/* 16 in the sample stand for 64 files, 37 to 91 of them: 10 opens for each take 910. */
static void the_end_of_the_interval_decides(void **state)
{
    struct batch *few = history_batch(0), *enough = history_batch(0);
    struct given given;
    const struct finding *finding;
    struct report report;

    look_into(few, 1, 900);
    look_into(enough, 1, 1000);
    for (uint64_t n = 0; n < 16; n++) {
        tell(few, 4 * n, 4 * n + 1, 2);
        tell(enough, 4 * n, 4 * n + 1, 2);
    }
    given = one(few);
    assert_false(is_found(&given, GROUP_JOB));
    given = one(enough);
    finding = find(&given, GROUP_JOB, &report);
    assert_non_null(finding);
    assert_true(finding->value > 10 && finding->value < 1000.0 / 64);
    assert_non_null(strstr(finding->evidence[0], "distinct files: 64 (95 %: 37 to 91)"));
    assert_non_null(strstr(finding->evidence[0], "their bytes: 128 MiB (95 %: "));
    report_clear(&report);
}

static void each_process_opens_a_file_once(void **state)
{
    struct batch *batch = history_batch(0);
    struct given given;

    for (uint32_t pid = 1; pid <= 100; pid++)
        look_into(batch, pid, 10);
    given = one(tell(batch, 0, 10, 0));
    assert_false(is_found(&given, GROUP_JOB));
}

/* Of files that were made there are as many as that, whatever their numbers are. */
static void numbers_that_are_used_again(void **state)
{
    struct batch *batch = look_into(history_batch(0), 1, 1000);
    struct given given;

    history_ops(batch, "j", 1, OP_CREATE, 0, 500);
    size(batch, OP_CREATE, 500);
    given = one(tell(batch, 0, 4, 0));
    assert_false(is_found(&given, GROUP_JOB));
}

static void without_processes_it_is_less_sure(void **state)
{
    struct given whole = one(tell(look_into(history_batch(0), 1, 1000), 0, 4, 0));
    struct given sums = one(tell(look_into(history_batch(0), 0, 1000), 0, 4, 0));
    const struct finding *finding;
    struct report report;
    double sure;

    finding = find(&whole, GROUP_JOB, &report);
    assert_non_null(finding);
    sure = finding->confidence;
    report_clear(&report);
    finding = find(&sums, GROUP_JOB, &report);
    assert_non_null(finding);
    assert_true(finding->confidence < sure);
    report_clear(&report);
    sums = one(tell(look_into(history_batch(0), 0, 1000), 0, 4, 0));
    assert_false(is_found(&sums, GROUP_NODE));
}

/* An agent has told of files before, unless it saw the job begin; after ten minutes it has told of all again. */
static void jobs_that_ran_before(void **state)
{
    struct given given;

    given = one(from_agent(tell(look_into(history_batch(0), 0, 1000), 0, 4, 0), -MINUTE));
    assert_false(is_found(&given, GROUP_JOB));
    given = one(from_agent(tell(look_into(history_batch(0), 0, 1000), 0, 4, 0), 0));
    assert_true(is_found(&given, GROUP_JOB));
    given = (struct given){
        .batches = {from_agent(tell(look_into(history_batch(0), 0, 1), 0, 4, 0), -MINUTE),
                    from_agent(tell(look_into(history_batch(11 * MINUTE), 0, 1000), 0, 4, 0), -MINUTE)},
        .count = 2};
    assert_true(is_found(&given, GROUP_JOB));
}

/* Of sums it is not known which files they are of. */
static void sums_of_long_ago(void **state)
{
    struct given given = {.batches = {look_into(history_batch(0), 0, 1000),
                                      tell(look_into(history_batch(120 * MINUTE), 0, 4), 0, 4, 0)},
                          .count = 2};

    assert_false(is_found(&given, GROUP_JOB));
}

/* Whether one batch has it, and how often. */
static unsigned times_found(struct batch *batch, const char *id)
{
    struct given given = one(batch);
    struct report report;
    unsigned times = 0;

    find_named(&given, id, GROUP_JOB, &report);
    for (uint32_t i = 0; i < report.findings.count; i++)
        times += strcmp(report.findings.list[i].id, id) == 0;
    report_clear(&report);
    return times;
}

/* Operations that take so long that findings are made of them. */
static void dear(struct batch *batch, enum operation op, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", 1, op, size, count);
    history_record(batch, "j", 1, op)->latency_sum_ns += 1000000 * count;
}

/* Reads past the page cache, of files that are so large. */
static struct batch *read_direct(uint64_t files, uint64_t size, uint64_t pieces)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_OPEN, size * pieces, files);
    dear(batch, OP_READ, size, files * pieces);
    history_order(batch, "j", 1, OP_READ, ORDER_CONSECUTIVE, files * pieces);
    history_ops(batch, "j", 1, OP_CLOSE, 0, files);
    return batch;
}

/* Who asks for whole pages gets what there is at a file's end, once each time that it is opened. */
static void direct_reads_stop_at_the_ends_of_files(void **state)
{
    struct batch *once = read_direct(1000, 10000, 1), *again = read_direct(10, 10000, 1);

    (void)state;
    assert_int_equal(times_found(once, "unaligned-direct-io"), 0);
    dear(again, OP_READ, 10000, 990);
    history_order(again, "j", 1, OP_READ, ORDER_CONSECUTIVE, 990);
    history_ops(again, "j", 1, OP_READ, 0, 1000); /* it goes back to the start, and does not open the file again */
    assert_int_equal(times_found(again, "unaligned-direct-io"), 0);
    assert_int_equal(times_found(read_direct(10, 10000, 100), "unaligned-direct-io"), 1);
}

/* So many writes of that size, of which that share goes on where the last one ended, and a sync behind each `every`. */
static struct batch *write_synced(uint64_t files, uint64_t size, uint64_t count, double forward, uint64_t every)
{
    struct batch *batch = history_batch(0);
    uint64_t on = (uint64_t)(forward * (double)count);

    history_ops(batch, "j", 1, OP_CREATE, 0, files);
    history_ops(batch, "j", 1, OP_WRITE, size, count);
    history_order(batch, "j", 1, OP_WRITE, ORDER_CONSECUTIVE, on);
    history_order(batch, "j", 1, OP_WRITE, ORDER_SEQUENTIAL, count - on);
    dear(batch, OP_FSYNC, 0, count / every);
    history_ops(batch, "j", 1, OP_CLOSE, 0, files);
    return batch;
}

static void at_a_bound_of_two_rules_one_finds(void **state)
{
    (void)state;
    assert_int_equal(times_found(write_synced(1, 4096, 1600, 0, 8), "fsync-bound-log"), 1);
    assert_int_equal(times_found(write_synced(1, 4096, 1600, 1, 8), "fsync-bound-log"), 1);
    assert_int_equal(times_found(write_synced(1, 4096, 1600, 1, 8), "fsync-bound-checkpoint"), 0);
    assert_int_equal(times_found(write_synced(1, 65536, 400, 0.5, 1), "fsync-bound-log"), 0);
    assert_int_equal(times_found(write_synced(1, 65536, 400, 0.5, 1), "fsync-bound-checkpoint"), 1);
}

/* As a store of logs and large files (LSM) does: 130 KiB a sync, and hardly any of these bytes wait for one. */
static void a_log_beside_large_files_is_no_checkpoint(void **state)
{
    struct batch *store, *save;

    (void)state;
    for (unsigned wanted = 0; wanted < 2; wanted++) {
        store = write_synced(90, 288, 40 * 4600, 1, 40);
        history_ops(store, "j", 1, OP_WRITE, LARGE, 260);
        history_order(store, "j", 1, OP_WRITE, ORDER_CONSECUTIVE, 260);
        assert_int_equal(times_found(store, wanted ? "fsync-bound-log" : "fsync-bound-checkpoint"), wanted);
    }
    save = write_synced(1, LARGE, 200, 1, 1); /* a header to each piece */
    history_ops(save, "j", 1, OP_WRITE, 288, 400);
    history_order(save, "j", 1, OP_WRITE, ORDER_CONSECUTIVE, 400);
    assert_int_equal(times_found(save, "fsync-bound-checkpoint"), 1);
}

/* A sync for each new file is no log's: of nothing else are there so many files. */
static void new_files_that_are_synced_each_are_no_log(void **state)
{
    (void)state;
    for (unsigned wanted = 0; wanted < 2; wanted++) {
        const char *id = wanted ? "fsync-bound-files" : "fsync-bound-log";

        assert_int_equal(times_found(write_synced(3000, 4096, 3000, 1, 1), id), wanted);
        assert_int_equal(times_found(write_synced(1000, 65536, 2000, 1, 1), id), wanted);
        assert_int_equal(times_found(write_synced(1, 4096, 3000, 1, 1), id), !wanted);
        assert_int_equal(times_found(write_synced(3000, 2048, 3000, 1, 10), id), !wanted);
    }
}

/* What was read beyond a file's size when it was opened may be what it has grown by. */
static void what_was_written_since_is_said_to_be_left_out(void **state)
{
    struct batch *batch = history_batch(0);
    struct given given = one(batch);
    const struct finding *finding;
    struct report report;

    (void)state;
    history_ops(batch, "j", 1, OP_OPEN, 1000 * 8192, 1);
    dear(batch, OP_READ, 8192, 1750);
    history_order(batch, "j", 1, OP_READ, ORDER_RANDOM, 1750);
    history_ops(batch, "j", 1, OP_WRITE, 8192, 1750);
    finding = find_named(&given, "random-reads", GROUP_JOB, &report);
    assert_non_null(finding);
    assert_non_null(strstr(finding->evidence[1], "files opened, less what may have been written since: 1 (at least"));
    report_clear(&report);
}

/* One process takes samples of its file, here and there; what others read of theirs, from front to back, does not make that
   more. */
static void who_reads_all_is_not_who_jumps(void **state)
{
    (void)state;
    for (unsigned parts = 0; parts < 2; parts++) {
        struct batch *batch = history_batch(0);
        struct given given = one(batch);
        struct report report;

        history_ops(batch, "j", 1, OP_OPEN, (parts ? 16000 : 8000) * 4096, 1);
        dear(batch, OP_READ, 4096, 8000);
        history_order(batch, "j", 1, OP_READ, ORDER_RANDOM, 8000);
        history_ops(batch, "j", 2, OP_OPEN, 2 << 20, 64);
        history_ops(batch, "j", 2, OP_READ, 1 << 20, 128);
        history_order(batch, "j", 2, OP_READ, ORDER_CONSECUTIVE, 128);
        assert_int_equal(find_named(&given, "random-reads", GROUP_JOB, &report) != NULL, !parts);
        report_clear(&report);
    }
}

/* Nobody knows how much of a file was read that had next to nothing when it was opened, and is updated since. */
static void who_updates_is_not_said_to_read_all_of_it(void **state)
{
    (void)state;
    for (unsigned updates = 0; updates < 2; updates++) {
        struct batch *batch = history_batch(0);
        struct given given = one(batch);
        struct report report;

        history_ops(batch, "j", 1, OP_OPEN, updates ? 4096 : 8000 * 4096, 1);
        dear(batch, OP_READ, 4096, 8000);
        history_order(batch, "j", 1, OP_READ, ORDER_RANDOM, 8000);
        history_ops(batch, "j", 1, OP_WRITE, 4096, 8000);
        assert_int_equal(find_named(&given, "random-reads", GROUP_JOB, &report) != NULL, !updates);
        report_clear(&report);
    }
}

/* Many small files, read so often. */
static struct batch *read_small_files(unsigned times)
{
    struct batch *batch = history_batch(0);

    for (unsigned i = 0; i < times; i++)
        history_whole_files(batch, 1, 20000, 3000);
    history_record(batch, "j", 1, OP_READ)->latency_sum_ns += 500000000;
    history_record(batch, "j", 1, OP_OPEN)->latency_sum_ns += 200000000;
    history_told(batch, 3000, 20000);
    return batch;
}

/* Who reads files once, to pack or to check them, gains nothing from packing them. */
static void small_files_that_are_opened_once_may_be_fine(void **state)
{
    struct given once = one(read_small_files(1)), again = one(read_small_files(3));
    const struct finding *finding;
    struct report report;
    bool said = false;
    double sure;

    (void)state;
    finding = find_named(&again, "small-files", GROUP_JOB, &report);
    assert_non_null(finding);
    assert_string_equal(finding->severity, "high");
    assert_true(finding->gain > 0.1);
    sure = finding->confidence;
    report_clear(&report);
    finding = find_named(&once, "small-files", GROUP_JOB, &report);
    assert_non_null(finding);
    assert_string_equal(finding->severity, "medium");
    assert_true(isnan(finding->gain) && finding->cost_low == 0);
    assert_non_null(strstr(finding->remedy, "none, if nobody reads these files again"));
    for (uint32_t i = 0; i < finding->evidence_count; i++)
        said |= strstr(finding->evidence[i], "its files were opened once each") != NULL;
    assert_true(said);
    assert_true(finding->confidence < 0.7 * sure); /* nor is it as sure that it is what it looks like */
    report_clear(&report);
}

static void what_costs_little_is_a_trifle_but_when_it_is_critical(void **state)
{
    struct finding low = {.severity = "low", .cost_high = 0.9}, critical = {.severity = "critical"};

    (void)state;
    assert_true(finding_is_trifle(&low, 100));
    assert_false(finding_is_trifle(&low, 90));
    assert_false(finding_is_trifle(&low, 60));
    assert_false(finding_is_trifle(&critical, 100));
}

/* What the question for the best change is answered, of a meeting that cost the victim at most two of ten seconds. */
static void answered(double alone_high_ns, double dearer_s, char *verdict, char *detail)
{
    struct volume_total volume = {.name = "v"};
    struct job_total jobs[2] = {{.name = "quiet"}, {.name = "loud"}};
    struct meeting meeting = {.volume = &volume, .victim = 0, .other = 1, .compared_ops = 1e6, .alone_ns = 1000,
                              .alone_high_ns = alone_high_ns, .cost_s = 2};
    struct finding finding = {.id = "fsync-bound-log", .severity = "high", .cost_high = dearer_s, .gain = NAN};
    struct report report = {
        .totals = {.jobs = jobs, .job_count = 2, .end_ns = 60000000000},
        .blend = {.meetings = &meeting, .meeting_count = 1},
        .findings = {.list = &finding, .count = dearer_s > 0},
    };
    struct answer answers[ANSWERS];

    report.totals.tally.op[OP_READ].latency_sum_ns = 10000000000;
    assert_int_equal(answers_of(&report, answers), 0);
    strcpy(verdict, answers[ANSWER_CHANGE].verdict);
    strcpy(detail, answers[ANSWER_CHANGE].detail);
    answers_clear(answers);
}

static void the_best_change_says_what_is_not_sure(void **state)
{
    char verdict[256], detail[256];

    (void)state;
    answered(1500, 0, verdict, detail);
    assert_string_equal(verdict, "Running quiet while loud does not use v saves it 2 s.");
    assert_null(strstr(detail, "up to"));
    answered(4000, 1, verdict, detail); /* maybe it is as slow alone */
    assert_string_equal(verdict, "Running quiet while loud does not use v saves it up to 2 s.");
    assert_non_null(strstr(detail, "That is up to 20.0 % of"));
    assert_null(strstr(detail, "Dearer"));
    answered(1500, 3, verdict, detail);
    assert_non_null(strstr(detail, "Dearer, but with a gain that cannot be told: fsync-bound-log."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_files_opened_often),
        cmocka_unit_test(many_files_of_one_size),
        cmocka_unit_test(files_are_not_known),
        cmocka_unit_test(the_end_of_the_interval_decides),
        cmocka_unit_test(each_process_opens_a_file_once),
        cmocka_unit_test(numbers_that_are_used_again),
        cmocka_unit_test(without_processes_it_is_less_sure),
        cmocka_unit_test(jobs_that_ran_before),
        cmocka_unit_test(sums_of_long_ago),
        cmocka_unit_test(direct_reads_stop_at_the_ends_of_files),
        cmocka_unit_test(at_a_bound_of_two_rules_one_finds),
        cmocka_unit_test(a_log_beside_large_files_is_no_checkpoint),
        cmocka_unit_test(new_files_that_are_synced_each_are_no_log),
        cmocka_unit_test(what_was_written_since_is_said_to_be_left_out),
        cmocka_unit_test(who_reads_all_is_not_who_jumps),
        cmocka_unit_test(who_updates_is_not_said_to_read_all_of_it),
        cmocka_unit_test(small_files_that_are_opened_once_may_be_fine),
        cmocka_unit_test(what_costs_little_is_a_trifle_but_when_it_is_critical),
        cmocka_unit_test(the_best_change_says_what_is_not_sure),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
