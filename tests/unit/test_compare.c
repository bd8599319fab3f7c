/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/compare.h"
#include "analyzer/student.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"
#include "tests/unit/sample.h"

#define SECONDS 60

/* A minute of reads, about so many a second, in waves of ten seconds. */
struct minute {
    struct source source;
    uint64_t *random, ops, size;
    const char *job;
    int second;
};

static int next(struct source *source, struct batch **out)
{
    struct minute *m = (struct minute *)source;
    uint64_t ops;

    if (m->second == SECONDS)
        return 0;
    ops = m->ops / 2 + sample_random(m->random) % m->ops + (m->second / 10 % 2 ? m->ops / 4 : 0);
    *out = history_batch(m->second++);
    history_ops(*out, m->job, 0, OP_READ, m->size, ops);
    history_ops(*out, m->job, 0, OP_STAT, 0, ops / 3);
    return 1;
}

static void report_minute(uint64_t *random, const char *job, uint64_t ops, uint64_t size, struct report *report)
{
    struct minute minute = {.source = {.next = next}, .random = random, .ops = ops, .size = size, .job = job};

    memset(report, 0, sizeof(*report));
    assert_int_equal(report_build(&minute.source, &classified_by, report), 0);
}

static const struct moved *find(const struct comparison *c, const char *what, const char *metric)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->list[i].what, what) == 0 && strcmp(c->list[i].metric, metric) == 0)
            return &c->list[i];
    return NULL;
}

/* From tables of Student's t. */
static void critical_values(void **state)
{
    assert_true(fabs(student_critical(0.05, 1e9) - 1.960) < 0.001);
    assert_true(fabs(student_critical(0.05, 19) - 2.093) < 0.002);
    assert_true(fabs(student_critical(0.01, 10) - 3.169) < 0.01);
    assert_true(fabs(student_critical(0.001, 38) - 3.566) < 0.01);
}

/* The same workload, again and again: all figures of one comparison together are wrong about once in a hundred. */
static void noise_moves_nothing(void **state)
{
    uint64_t random = 11;
    unsigned wrong = 0;

    for (unsigned i = 0; i < 50; i++) {
        struct report before, after;
        struct comparison c;

        report_minute(&random, "train", 1000, 4096, &before);
        report_minute(&random, "train", 1000, 4096, &after);
        assert_int_equal(compare_reports(&before, &after, &c), 0);
        assert_true(c.within > 10);
        wrong += c.count > 0;
        comparison_clear(&c);
        report_clear(&before);
        report_clear(&after);
    }
    assert_in_range(wrong, 0, 4);
}

static void changes_are_found(void **state)
{
    uint64_t random = 12;
    struct report before, after;
    const struct moved *rate;
    struct comparison c;

    report_minute(&random, "train", 1000, 4096, &before);
    report_minute(&random, "train", 2000, 16384, &after);
    assert_int_equal(compare_reports(&before, &after, &c), 0);
    rate = find(&c, "volume", "data_ops_s");
    assert_non_null(rate);
    assert_true(rate->low < 2 && rate->high > 2 && rate->low > 1);
    assert_non_null(find(&c, "job", "read_bytes_s"));
    assert_non_null(find(&c, "cluster", "size_p50"));
    assert_null(find(&c, "cluster", "latency_p50_ns"));
    assert_int_equal(c.gone_count, 0);
    assert_int_equal(c.come_count, 0);
    comparison_clear(&c);
    report_clear(&before);
    report_clear(&after);
}

static void jobs_come_and_go(void **state)
{
    uint64_t random = 13;
    struct report before, after;
    struct comparison c;

    report_minute(&random, "old", 1000, 4096, &before);
    report_minute(&random, "new", 1000, 4096, &after);
    assert_int_equal(compare_reports(&before, &after, &c), 0);
    assert_int_equal(c.gone_count, 1);
    assert_string_equal(c.gone[0], "old");
    assert_int_equal(c.come_count, 1);
    assert_string_equal(c.come[0], "new");
    assert_null(find(&c, "job", "data_ops_s"));
    comparison_clear(&c);
    report_clear(&before);
    report_clear(&after);
}

/* Two clusters, each with a job of that name, the one far larger than the other. */
static int next_of_two(struct source *source, struct batch **out)
{
    struct minute *m = (struct minute *)source;
    const bool large = m->second % 2;

    if (m->second == 2 * SECONDS)
        return 0;
    *out = history_batch(m->second++ / 2);
    assert_int_equal(batch_set(*out, &(*out)->cluster, large ? "large" : "small"), 0);
    history_ops(*out, m->job, 0, OP_READ, m->size, (large ? 100 : 1) * m->ops + sample_random(m->random) % 10);
    return 1;
}

/* Clusters count their jobs each for themselves: which of them comes first is a matter of how much it did. */
static void a_job_is_compared_with_its_own_clusters(void **state)
{
    uint64_t random = 14;
    struct report before, after;
    struct comparison c;

    for (unsigned i = 0; i < 2; i++) {
        struct minute minute = {
            .source = {.next = next_of_two}, .random = &random, .ops = 1000, .size = 4096, .job = "1234"};
        struct report *report = i ? &after : &before;

        memset(report, 0, sizeof(*report));
        assert_int_equal(report_build(&minute.source, &classified_by, report), 0);
    }
    assert_int_equal(compare_reports(&before, &after, &c), 0);
    assert_null(find(&c, "job", "read_bytes_s"));
    assert_int_equal(c.gone_count, 0);
    assert_int_equal(c.come_count, 0);
    comparison_clear(&c);
    report_clear(&before);
    report_clear(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(critical_values),
        cmocka_unit_test(noise_moves_nothing),
        cmocka_unit_test(changes_are_found),
        cmocka_unit_test(jobs_come_and_go),
        cmocka_unit_test(a_job_is_compared_with_its_own_clusters),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
