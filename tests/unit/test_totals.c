/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/totals.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/exposition.h"
#include "agent/otlp_text.h"

#define SECOND INT64_C(1000000000)

/* So many writes of 4096 bytes by a job on a volume, in a second that begins then. */
static struct batch *writes(const char *job_name, const char *volume_name, int64_t start_ns, uint64_t count)
{
    const struct job job = {.name = job_name, .kind = "env", .command = "", .exit = -1};
    const struct volume volume = {.name = volume_name, .source = "", .fstype = "ext4"};
    struct record *record;
    struct batch *batch;
    uint32_t j, v;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_set(batch, &batch->node, "n1"), 0);
    assert_int_equal(batch_set(batch, &batch->cluster, "c1"), 0);
    assert_int_equal(batch_set(batch, &batch->role, "client"), 0);
    batch->start_ns = start_ns;
    batch->duration_ns = (uint64_t)SECOND;
    assert_int_equal(batch_job(batch, &job, &j), 0);
    assert_int_equal(batch_volume(batch, &volume, &v), 0);
    assert_int_equal(batch_record(batch, j, v, NO_INDEX, OP_WRITE, &record), 0);
    record->bytes = 4096 * count;
    record->latency_sum_ns = 1000 * count;
    assert_int_equal(histogram_add(&record->size, 4096, count), 0);
    assert_int_equal(histogram_add(&record->latency_ns, 1000, count), 0);
    return batch;
}

static const struct total *find(const struct total_set *set, const char *job)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (strcmp(set->rows[i].job, job) == 0)
            return &set->rows[i];
    return NULL;
}

static void sums_by_job_and_by_volume(void **state)
{
    struct totals totals = {.last = NULL};

    assert_int_equal(totals_add(&totals, writes("a", "v", SECOND, 3)), 0);
    assert_int_equal(totals_add(&totals, writes("b", "v", 2 * SECOND, 4)), 0);
    assert_int_equal(totals_add(&totals, writes("a", "v", 3 * SECOND, 5)), 0);
    assert_int_equal(totals.jobs.count, 2);
    assert_int_equal(find(&totals.jobs, "a")->ops, 8);
    assert_int_equal(find(&totals.jobs, "a")->bytes, 8 * 4096);
    assert_int_equal(find(&totals.jobs, "b")->ops, 4);
    assert_int_equal(totals.volumes.count, 1);
    assert_int_equal(totals.volumes.rows[0].ops, 12);
    assert_int_equal(histogram_count(&totals.volumes.rows[0].size), 12);
    totals_clear(&totals);
}

static void forgets_what_was_silent(void **state)
{
    struct totals totals = {.last = NULL};

    assert_int_equal(totals_add(&totals, writes("gone", "v", SECOND, 1)), 0);
    for (int64_t s = 2; s < TOTALS_IDLE_S + 100; s++)
        assert_int_equal(totals_add(&totals, writes("here", "v", s * SECOND, 1)), 0);
    assert_null(find(&totals.jobs, "gone"));
    assert_int_equal(totals.jobs.count, 1);
    assert_int_equal(totals_add(&totals, writes("here", "v", 2000 * SECOND, 1)), 0);
    assert_int_equal(totals.jobs.count, 1); /* and finds what has moved */
    totals_clear(&totals);
}

static void a_clock_that_is_set_makes_nobody_silent(void **state)
{
    static const int64_t year = INT64_C(365) * 86400 * SECOND;
    struct totals totals = {.last = NULL};
    int64_t now = 2 * year;

    assert_int_equal(totals_add(&totals, writes("before", "v", now, 1)), 0);
    for (int64_t s = 1; s < 100; s++) /* forward */
        assert_int_equal(totals_add(&totals, writes("here", "v", now + year + s * SECOND, 1)), 0);
    assert_non_null(find(&totals.jobs, "before"));
    for (int64_t s = 100; s < TOTALS_IDLE_S + 100; s++) /* and back */
        assert_int_equal(totals_add(&totals, writes("here", "v", now - year + s * SECOND, 1)), 0);
    assert_null(find(&totals.jobs, "before"));
    totals_clear(&totals);
}

static void too_many_are_summed_up(void **state)
{
    struct totals totals = {.last = NULL};
    char name[32];

    for (unsigned i = 0; i < TOTALS_MAX + 10; i++) {
        struct batch *batch;

        snprintf(name, sizeof(name), "job%u", i);
        batch = writes(name, "v", SECOND, 1);
        batch->duration_ns = 0; /* all in one second */
        assert_int_equal(totals_add(&totals, batch), 0);
    }
    assert_int_equal(totals.jobs.count, TOTALS_MAX + 1);
    assert_int_equal(find(&totals.jobs, TOTALS_OTHERS)->ops, 10);
    assert_int_equal(totals.volumes.rows[0].ops, TOTALS_MAX + 10);
    totals_clear(&totals);
}

static void text_escapes_names(void **state)
{
    const struct exposition_state well = {.is_well = true};
    struct totals totals = {.last = NULL};
    char *text;
    size_t size;

    assert_int_equal(totals_add(&totals, writes("a\"b\\c\nd", "v", SECOND, 3)), 0);
    assert_int_equal(exposition_text(&totals, &well, &text, &size), 0);
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(
        text, "unblend_operations_total{job_name=\"a\\\"b\\\\c\\nd\",volume=\"v\",operation=\"write\"} 3\n"));
    assert_non_null(strstr(text, "unblend_operation_bytes_bucket{volume=\"v\",operation=\"write\",le=\"2047\"} 0\n"));
    assert_non_null(strstr(text, "unblend_operation_bytes_bucket{volume=\"v\",operation=\"write\",le=\"8191\"} 3\n"));
    assert_string_equal(text + size - strlen("# EOF\n"), "# EOF\n");
    free(text);
    totals_clear(&totals);
}

/* Each has one of its own, in order, which its smallest value belongs to. */
static void exponential_buckets(void **state)
{
    int before = -2;

    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++) {
        double exponent = (1 << OTLP_SCALE) * log2((double)bucket_lower(bucket));
        int index = otlp_index(bucket);

        assert_true(index > before);
        assert_true(index < exponent && exponent <= index + 1);
        before = index;
    }
}

static const json_t *metric_of(json_t *request, const char *name)
{
    size_t i;
    json_t *metric;

    json_array_foreach(json_object_get(json_array_get(json_object_get(json_array_get(json_object_get(
        request, "resourceMetrics"), 0), "scopeMetrics"), 0), "metrics"), i, metric)
        if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0)
            return metric;
    return NULL;
}

static const json_t *points_of(json_t *request, const char *name, const char *kind)
{
    return json_object_get(json_object_get(metric_of(request, name), kind), "dataPoints");
}

static const char *text_of(const json_t *point, const char *key)
{
    return json_string_value(json_object_get(point, key));
}

static void told_by_otlp(void **state)
{
    struct batch *batch = writes("say \"\\\n\"", "v", SECOND, 3);
    struct totals totals = {.last = NULL};
    const json_t *points, *point, *positive, *counts;
    json_t *request;
    char *text;
    size_t size;

    assert_int_equal(histogram_add(&batch->records[0].size, 0, 2), 0);
    assert_int_equal(histogram_add(&batch->records[0].size, 6000, 1), 0);
    assert_int_equal(histogram_add(&batch->records[0].latency_ns, 7, 3), 0);
    assert_int_equal(totals_add(&totals, batch), 0);
    assert_int_equal(totals_add(&totals, writes("b", "v", 2 * SECOND, 4)), 0);
    assert_int_equal(otlp_text(&totals, &text, &size), 0);
    assert_int_equal(strlen(text), size);
    request = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(request);
    points = points_of(request, "unblend.operations", "sum");
    assert_int_equal(json_array_size(points), 2);
    point = json_array_get(points, 0);
    assert_string_equal(text_of(point, "asInt"), "6");
    assert_string_equal(text_of(point, "startTimeUnixNano"), "1000000000");
    assert_string_equal(text_of(point, "timeUnixNano"), "3000000000");
    assert_string_equal(text_of(json_object_get(json_array_get(json_object_get(point, "attributes"), 0), "value"),
                                "stringValue"), "say \"\\\n\"");
    points = points_of(request, "unblend.operation.size", "exponentialHistogram");
    assert_int_equal(json_array_size(points), 1);
    point = json_array_get(points, 0);
    assert_string_equal(text_of(point, "count"), "10");
    assert_string_equal(text_of(point, "zeroCount"), "2");
    assert_int_equal(json_integer_value(json_object_get(point, "scale")), OTLP_SCALE);
    positive = json_object_get(point, "positive");
    assert_int_equal(json_integer_value(json_object_get(positive, "offset")), 16 * 12 - 1); /* 4096 */
    counts = json_object_get(positive, "bucketCounts");
    assert_int_equal(json_array_size(counts), 9); /* and 5632, 7.35 sixteenths of an octave above */
    assert_string_equal(json_string_value(json_array_get(counts, 0)), "7");
    assert_string_equal(json_string_value(json_array_get(counts, 7)), "0");
    assert_string_equal(json_string_value(json_array_get(counts, 8)), "1");
    json_decref(request);
    free(text);
    totals_clear(&totals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_by_job_and_by_volume),
        cmocka_unit_test(forgets_what_was_silent),
        cmocka_unit_test(exponential_buckets),
        cmocka_unit_test(told_by_otlp),
        cmocka_unit_test(a_clock_that_is_set_makes_nobody_silent),
        cmocka_unit_test(too_many_are_summed_up),
        cmocka_unit_test(text_escapes_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
