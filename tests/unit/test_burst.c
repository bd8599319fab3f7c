/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/burst.h"
#include "analyzer/capacity.h"
#include "analyzer/queueing.h"
#include "analyzer/scenario.h"
#include "lib/order.h"
#include "tests/unit/history.h"
#include "tests/unit/sample.h"

static void add(struct series *series, int second, int64_t jitter_ns, uint64_t read_bytes)
{
    const struct demand_slot slot = {.demand = {[DEMAND_READ_BYTES] = read_bytes}};

    assert_int_equal(series_add(series, HISTORY_START + second * INT64_C(1000000000) + jitter_ns,
                                1000000000, 1000, &slot),
                     0);
}

static void near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-9);
}

/* As anybody may have sent to an old collector. */
static void an_interval_of_any_length(void **state)
{
    const struct demand_slot slot = {.demand = {[DEMAND_READ_BYTES] = 5}};
    struct series series = {0};

    add(&series, 0, 0, 10);
    assert_int_equal(series_add(&series, HISTORY_START, 1000000000, UINT32_MAX, &slot), 0);
    assert_int_equal(series.length, 1);
    assert_int_equal(series.slots[0].demand[DEMAND_READ_BYTES], 15);
    series_clear(&series);
}

/* Seconds 0, 2, 10 and 19 of two aligned windows of 10 s: 30 + 10 and 40 + 20 bytes. */
static void figures_by_hand(void **state)
{
    struct series series = {0};
    struct burst burst;

    add(&series, 2, 0, 10);
    add(&series, 0, 0, 30); /* out of order */
    add(&series, 10, 0, 40);
    add(&series, 19, 0, 20);
    assert_int_equal(series_from(&series), HISTORY_START / 1000000);
    assert_int_equal(series_last(&series), HISTORY_START / 1000000 + 19000);
    assert_int_equal(
        burst_of(&series, DEMAND_BYTES, series_from(&series), series_last(&series), &burst), 0);
    assert_true(isnan(burst.peak_to_mean[0]) && isnan(burst.idle[0]));
    near(burst.peak_to_mean[1], 40 / 5.0); /* 100 bytes in 20 windows */
    near(burst.idle[1], 16 / 20.0);
    near(burst.cv[1], sqrt((900 + 100 + 1600 + 400) / 20.0 - 25) / 5);
    near(burst.fano[1], ((900 + 100 + 1600 + 400) / 20.0 - 25) / 5);
    near(burst.peak_to_mean[2], 60 / 50.0);
    near(burst.cv[2], 10 / 50.0);
    near(burst.fano[2], 100 / 50.0);
    near(burst.idle[2], 0);
    assert_true(isnan(burst.period_s));
    assert_int_equal(burst_of(&series, DEMAND_BIT(DEMAND_WRITE_BYTES), series_from(&series),
                              series_last(&series), &burst),
                     0);
    assert_true(isnan(burst.peak_to_mean[1]) && isnan(burst.cv[1]));
    near(burst.idle[1], 1);
    series_clear(&series);
}

/* A clock that ticks a little early or late must not put two intervals into one slot. */
static void jitter_makes_no_peak(void **state)
{
    struct series series = {0};
    struct burst burst;

    for (int i = 0; i < 40; i++)
        add(&series, i, i % 2 ? 3000000 : -3000000, 100);
    assert_int_equal(series.length, 40);
    assert_int_equal(
        burst_of(&series, DEMAND_BYTES, series_from(&series), series_last(&series), &burst), 0);
    near(burst.peak_to_mean[1], 1);
    near(burst.cv[1], 0);
    series_clear(&series);
}

/* As much in each second from the sixth on: ten of them in whole windows of ten, four and six at the ends. */
static void windows_that_the_span_cuts_do_not_count(void **state)
{
    struct series series = {0};
    struct burst burst;

    for (int i = 6; i < 36; i++)
        add(&series, i, 0, 100);
    assert_int_equal(burst_of(&series, DEMAND_BYTES, series_from(&series), series_last(&series), &burst), 0);
    assert_true(burst.cv[2] > 0.2);
    assert_int_equal(burst_within(&series, DEMAND_BYTES, &series, &burst), 0);
    near(burst.peak_to_mean[1], 1);
    near(burst.peak_to_mean[2], 1);
    near(burst.cv[2], 0);
    series_clear(&series);
    for (int i = 8; i < 22; i++)
        add(&series, i, 0, 100);
    assert_int_equal(burst_within(&series, DEMAND_BYTES, &series, &burst), 0);
    assert_true(isnan(burst.peak_to_mean[2]) && isnan(burst.idle[2]));
    near(burst.idle[1], 0);
    series_clear(&series);
    assert_int_equal(burst_within(&series, DEMAND_BYTES, &series, &burst), 0);
    assert_true(isnan(burst.idle[1]) && isnan(burst.period_s));
}

static void longer_intervals_coarsen(void **state)
{
    const struct demand_slot slot = {.demand = {[DEMAND_READ_BYTES] = 5}};
    struct series series = {0};
    struct burst burst;

    for (int i = 0; i < 25; i++)
        add(&series, i, 0, 1);
    assert_int_equal(
        series_add(&series, HISTORY_START + 20 * INT64_C(1000000000), 10000000000, 10000, &slot),
        0);
    assert_int_equal(series.slot_ms, 10000);
    assert_int_equal(series.length, 3);
    assert_int_equal(series.slots[0].demand[DEMAND_READ_BYTES], 10);
    assert_int_equal(series.slots[2].demand[DEMAND_READ_BYTES], 10);
    assert_int_equal(
        burst_of(&series, DEMAND_BYTES, series_from(&series), series_last(&series), &burst), 0);
    assert_true(isnan(burst.idle[1]));
    near(burst.idle[2], 0);
    series_clear(&series);
}

static void a_long_series_stays_small(void **state)
{
    struct series series = {0};
    uint64_t sum = 0;

    for (int i = 0; i < 400000; i += 100)
        add(&series, i, 0, 1);
    assert_true(series.length <= SERIES_SLOTS_MAX);
    assert_int_equal(series.slot_ms, 10000);
    for (uint32_t i = 0; i < series.length; i++)
        sum += series.slots[i].demand[DEMAND_READ_BYTES];
    assert_int_equal(sum, 4000);
    series_clear(&series);
}

static void periods(void **state)
{
    double x[600] = {0};
    uint64_t random = 7;

    for (size_t i = 0; i < 600; i++)
        x[i] = i % 30 == 4 ? 1000 : (double)(sample_random(&random) % 50);
    near(burst_period(x, 600), 30);
    for (size_t i = 0; i < 600; i++)
        x[i] = 100 + 50 * sin((double)i * 2 * M_PI / 45);
    near(burst_period(x, 600), 45);
    for (size_t i = 0; i < 600; i++)
        x[i] = (double)i; /* drift is no rhythm */
    assert_true(isnan(burst_period(x, 600)));
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = 0; i < 600; i++)
            x[i] = (double)(sample_random(&random) % 1000);
        assert_true(isnan(burst_period(x, 600)));
    }
    assert_true(isnan(burst_period(x, 31)));
    for (size_t i = 0; i < 30; i++)
        x[i] = i % 4 == 2 ? 65 + (double)(i % 3) : 0;
    near(burst_period(x, 30), 4); /* half a minute, second by second */
    assert_true(isnan(burst_period(x, 19)));
}

/* Bursts of a step each, which come up to so many steps sooner or later: no multiple that they meet by chance is the period. */
static void periods_that_are_not_steady(void **state)
{
    unsigned missed[3] = {0};
    uint64_t random = 3;

    for (size_t period = 25; period <= 90; period += 13)
        for (unsigned unsteady = 0; unsteady < 3; unsteady++)
            for (unsigned round = 0; round < 20; round++) {
                double x[900] = {0};

                for (size_t at = 5; at + unsteady < 900; at += period)
                    x[at + sample_random(&random) % (2 * unsteady + 1) - unsteady] = 1000;
                missed[unsteady] += !(fabs(burst_period_coarse(x, 900) - (double)period) <= 1);
            }
    assert_int_equal(missed[0] + missed[1], 0);
    assert_true(missed[2] <= 12); /* of 120 */
    for (unsigned round = 0; round < 50; round++) {
        double x[600];

        for (size_t i = 0; i < 600; i++)
            x[i] = (double)(sample_random(&random) % 1000);
        assert_true(isnan(burst_period_coarse(x, 600)));
    }
}

/* Of few operations a slot, too: three profiles that have a fourth each, and one with the rest, have all of them. */
static void shares_of_little_add_up(void **state)
{
    static const double weight[DEMAND_COUNT] = {0.25, 0.25, 0.25, 0.25, 0.25};
    const struct demand_slot amount = {{[DEMAND_WRITE_OPS] = 1, [DEMAND_WRITE_BYTES] = 1001}};
    struct series series = {0}, share = {0};
    uint64_t ops = 0, bytes = 0;

    for (int64_t second = 0; second < 100; second++)
        assert_int_equal(series_add(&series, second * 1000000000, 1000000000, 1000, &amount), 0);
    assert_int_equal(series_merge(&share, &series, weight), 0);
    for (uint32_t i = 0; i < share.length; i++) {
        assert_in_range(share.slots[i].demand[DEMAND_WRITE_OPS], 0, 1);
        assert_in_range(share.slots[i].demand[DEMAND_WRITE_BYTES], 250, 251);
        ops += share.slots[i].demand[DEMAND_WRITE_OPS];
        bytes += share.slots[i].demand[DEMAND_WRITE_BYTES];
    }
    assert_int_equal(ops, 25);
    assert_int_equal(bytes, 25025);
    series_clear(&series);
    series_clear(&share);
}

/* Nodes may tell what they count by intervals of their own: whichever is read first, the slots are the same. */
static void intervals_may_come_in_any_order(void **state)
{
    static const uint32_t pairs[][2] = {{20000, 30000}, {2000, 5000}, {10000, 15000}, {1000, 10000}, {60000, 90000}};

    for (size_t p = 0; p < sizeof(pairs) / sizeof(*pairs); p++) {
        const struct demand_slot amount = {{[DEMAND_READ_OPS] = 1}};
        struct series series[2] = {{0}, {0}};

        for (unsigned order = 0; order < 2; order++)
            for (unsigned k = 0; k < 2; k++) {
                const uint32_t interval_ms = pairs[p][order ? k : 1 - k];

                for (int64_t at = 0; at < 3600000; at += interval_ms)
                    assert_int_equal(series_add(&series[order], at * 1000000, interval_ms * UINT64_C(1000000),
                                                interval_ms, &amount), 0);
            }
        assert_int_equal(series[0].slot_ms, pairs[p][1]);
        assert_int_equal(series[1].slot_ms, pairs[p][1]);
        assert_int_equal(series[0].first, series[1].first);
        assert_int_equal(series[0].length, series[1].length);
        assert_memory_equal(series[0].slots, series[1].slots, series[0].length * sizeof(*series[0].slots));
        series_clear(&series[0]);
        series_clear(&series[1]);
    }
}

static void demand_by_hand(void **state)
{
    struct series series = {0};
    const struct load load = {.series = &series};
    struct capacity_demand d;

    for (int i = 0; i < 20; i++)
        add(&series, i, 0, i >= 17 ? 1000 : 100);
    assert_int_equal(capacity_of(&load, METRIC_READ_BYTES, 1000, series_from(&series),
                                 series_last(&series), &d),
                     0);
    near(d.mean, (17 * 100 + 3 * 1000) / 20.0);
    near(d.p50, 100);
    near(d.p95, 1000);
    near(d.max, 1000);
    near(d.longest_above_p95_s, 0);
    assert_int_equal(capacity_of(&load, METRIC_READ_BYTES, 10000, series_from(&series),
                                 series_last(&series), &d),
                     0);
    near(d.p50, 100);
    near(d.max, (7 * 100 + 3 * 1000) / 10.0);
    assert_int_equal(capacity_of(&load, METRIC_READ_BYTES, 100, series_from(&series),
                                 series_last(&series), &d),
                     -ENODATA);
    series_clear(&series);
}

/* As of a node whose clock is at 2100: what is there takes no more room for it. */
static void a_span_of_years(void **state)
{
    const struct demand_slot amount = {{[DEMAND_READ_BYTES] = 100}};
    struct series series = {0}, far = {0};
    const struct load load = {&series, &series, NULL};
    struct capacity_demand demand;
    struct capacity_entry entry = {.limit = {0}};
    struct burst burst;
    int64_t from, last;

    for (int64_t second = 1000; second < 1060; second++)
        assert_int_equal(series_add(&series, second * 1000000000, 1000000000, 1000, &amount), 0);
    assert_int_equal(series_add(&far, 1000000000000, 1000000000, 1000, &amount), 0);
    assert_int_equal(series_add(&far, 1000000000000 + 74ll * 365 * 86400 * 1000000000, 1000000000, 1000, &amount), 0);
    assert_true(capacity_span(&far, 1000, &from, &last));
    assert_int_equal(capacity_of(&load, METRIC_READ_BYTES, 1000, from, last, &demand), 0);
    assert_true(demand.max == 100 && demand.p50 == 0 && demand.p99 == 0 && demand.mean > 0 && demand.mean < 1e-4);
    assert_true(demand.longest_above_p95_s == 60 && demand.max_ms == 1000000);
    entry.demand[METRIC_READ_BYTES][CAPACITY_SECOND] = demand;
    assert_int_equal(capacity_limit(&load, NULL, &far, &entry), 0);
    assert_true(entry.use[CAPACITY_SECOND].known && entry.use[CAPACITY_SECOND].max == 1);
    assert_int_equal(entry.use[CAPACITY_SECOND].max_ms, 1000000);
    assert_int_equal(burst_within(&series, DEMAND_BYTES, &far, &burst), 0);
    assert_true(burst.idle[1] > 0.999 && burst.idle[1] < 1 && burst.peak_to_mean[1] > 1e6);
    series_clear(&series);
    series_clear(&far);
}

static void push(struct spread_demand *s, int64_t window, uint64_t value)
{
    assert_int_equal(spread_add(s, window, value), 0);
}

/* Windows with demand, and how many of them in a row are above a value, counted by hand. */
static void spread_by_hand(void **state)
{
    static const uint64_t values[] = {5, 0, 9, 9, 9, 1, 0, 9, 9, 9, 9, 3};
    struct spread_demand s = {0};

    for (int i = 0; i < 12; i++)
        push(&s, 100 + i, values[i]);
    assert_int_equal(s.used, 10);
    assert_int_equal(s.max, 9);
    assert_int_equal(spread_quantile(&s, 0.4, 100, 111), 5);
    assert_int_equal(spread_quantile(&s, 0.1, 100, 111), 0);
    assert_int_equal(spread_quantile(&s, 0.5, 90, 121), 0); /* idle around it */
    assert_int_equal(spread_quantile(&s, 1, 90, 121), 9);
    assert_int_equal(spread_longest_above(&s, 3), 4);
    assert_int_equal(spread_longest_above(&s, 0), 5);
    assert_int_equal(spread_longest_above(&s, 9), 0);
    spread_clear(&s);
}

/* So many windows that they go into buckets: the same answers, as buckets allow. */
static void a_long_spread_stays_small(void **state)
{
    struct spread_demand s = {0};
    uint64_t random = 7, run[4] = {0}, longest[4] = {0};
    static const uint64_t bounds[4] = {1, 16, 64, 112};
    int64_t window = 0;

    for (int i = 0; i < 200000; i++) {
        uint64_t value = sample_random(&random) % 128 * (sample_random(&random) % 8 != 0);

        window++;
        for (unsigned b = 0; b < 4; b++) {
            run[b] = value && bucket_of(value) > bucket_of(bounds[b]) ? run[b] + 1 : 0;
            longest[b] = run[b] > longest[b] ? run[b] : longest[b];
        }
        push(&s, window, value);
    }
    assert_true(s.rough);
    assert_null(s.exact);
    assert_true(s.step_count < BUCKET_COUNT);
    for (unsigned b = 0; b < 4; b++)
        assert_int_equal(spread_longest_above(&s, bounds[b]), longest[b]);
    assert_in_range(spread_quantile(&s, 0.5625, 1, window), 60, 66);
    assert_true(spread_tells(&s, bounds[0]) && spread_tells(&s, s.max));
    assert_true(bucket_of(s.max - 1) != bucket_of(s.max) || !spread_tells(&s, s.max - 1));
    assert_int_equal(spread_quantile(&s, 0.1, 1, window), 0);
    spread_clear(&s);
}

static void whole_windows_only(void **state)
{
    struct series series = {0};
    int64_t from, last;

    for (int i = 30; i < 130; i++)
        add(&series, i, 0, 1);
    assert_true(capacity_span(&series, 60000, &from, &last));
    assert_int_equal((last + 1 - from) / 60000, 1);
    assert_int_equal(from % 60000, 0);
    assert_false(capacity_span(&series, 3600000, &from, &last));
    series_clear(&series);
}

static struct offer offer_of(const char *text)
{
    struct offer offer;

    assert_int_equal(offer_parse(text, "here", &offer), 0);
    return offer;
}

/* Reads and writes share a platform: half of each is all of it. */
static void a_platform_is_shared(void **state)
{
    struct offer offer = offer_of("{\"schema\":\"unblend.platform/1\",\"nodes\":4,\"bytes_s\":1000,\"iops\":100}");
    struct series series = {0}, busy = {0};
    const struct load load = {.series = &series, .busy = &busy};
    struct capacity_entry entry = {0};
    double limits[METRIC_COUNT];

    for (int i = 0; i < 10; i++) {
        struct demand_slot slot = {{i == 4 ? 500 : 100, i == 4 ? 500 : 0, 1, 1, 0}};

        assert_int_equal(series_add(&series, (1000 + i) * 1000000000ll, 1000000000, 1000, &slot), 0);
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        assert_int_equal(capacity_of(&load, m, 1000, series_from(&series), series_last(&series), &entry.demand[m][1]),
                         m == METRIC_IN_FLIGHT ? -ENODATA : 0);
    assert_int_equal(capacity_limit(&load, &offer, &series, &entry), 0);
    assert_int_equal(entry.source, LIMIT_PLATFORM);
    assert_true(entry.use[1].known);
    near(entry.use[1].max, 1);
    near(entry.use[1].mean, (9 * 0.1 + 1) / 10);
    assert_int_equal(entry.use[1].max_ms, 1004000);
    offer_limits(&offer, 3, limits);
    near(limits[METRIC_READ_BYTES], 750);
    near(limits[METRIC_WRITE_OPS], 75);
    offer_clear(&offer);
    series_clear(&series);
}

static void bad_platforms(void **state)
{
    static const char *const texts[] = {
        "", "[]", "{}", "{\"schema\":\"unblend.platform/2\"}", "{\"schema\":\"unblend.platform/1\",\"iops\":0}",
        "{\"schema\":\"unblend.platform/1\",\"iops\":\"many\"}", "{\"schema\":\"unblend.platform/1\",\"nodes\":0}",
        "{\"schema\":\"unblend.platform/1\",\"nodes_may_fail\":1}", "{\"schema\":\"unblend.platform/1\",\"speed\":1}",
        "{\"schema\":\"unblend.platform/1\",\"tiers\":[{}]}", "{\"schema\":\"unblend.platform/1\",\"volumes\":[1]}",
        "{\"schema\":\"unblend.platform/1\",\"iops\":1,\"iops\":2}",
        "{\"schema\":\"unblend.platform/1\",\"tiers\":[{\"name\":\"a\",\"price\":-1}]}",
        "{\"schema\":\"unblend.platform/1\",\"price\":10,\"tiers\":[{\"name\":\"a\",\"price\":6},{\"name\":\"b\",\"price\":5}]}",
    };
    struct offer offer;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_int_equal(offer_parse(texts[i], "here", &offer), -EINVAL);
}

/* Closed networks by hand. */
static void queues(void **state)
{
    struct queueing_result r;

    queueing_solve(&(struct queueing){1, 1, 1, 1, 1}, &r);
    near(r.rate, 0.5);
    near(r.response_s, 1);
    near(r.wait99_s, 0);
    queueing_solve(&(struct queueing){2, 1, 1, 1, 1}, &r);
    near(r.response_s, 1.25); /* half of the time there is another one, and half of it is left */
    near(r.rate, 2 / 2.25);
    near(r.use, 2 / 2.25);
    queueing_solve(&(struct queueing){100, 0, 0.01, 4, 1}, &r); /* full: each waits for all others */
    assert_true(fabs(r.rate - 400) < 4);
    assert_true(fabs(r.response_s - 0.25) < 0.01);
    assert_true(r.wait99_s < 0.25 && r.wait99_s > 0.2);
    queueing_solve(&(struct queueing){4, 10, 0.01, 4, 1}, &r); /* idle */
    assert_true(fabs(r.response_s - 0.01) < 1e-4);
    queueing_solve(&(struct queueing){1e7, 1, 1e-6, 1, 1}, &r); /* takes no time to solve */
    assert_true(fabs(r.rate - 1e6) < 2e4);
}

#define SIMULATED 40000 /* requests */

/* Requesters that think for an exponential time, one queue, servers of a fixed time: event by event. */
static void simulate(const struct queueing *q, double *rate, double *p99)
{
    double ready[64], free_at[16] = {0}, *waits = calloc(SIMULATED, sizeof(*waits)), end = 0;
    unsigned clients = (unsigned)q->requesters, servers = (unsigned)q->servers;
    uint64_t random = 99;

    assert_non_null(waits);
    for (unsigned i = 0; i < clients; i++)
        ready[i] = q->think_s * i / clients;
    for (unsigned n = 0; n < SIMULATED; n++) {
        unsigned next = 0, server = 0;
        double start, u = ((double)(sample_random(&random) >> 11) + 1) / 9007199254740993.0;

        for (unsigned i = 1; i < clients; i++)
            next = ready[i] < ready[next] ? i : next;
        for (unsigned i = 1; i < servers; i++)
            server = free_at[i] < free_at[server] ? i : server;
        start = fmax(ready[next], free_at[server]);
        free_at[server] = end = start + q->service_s;
        waits[n] = end - ready[next];
        ready[next] = end - q->think_s * log(u);
    }
    qsort(waits, SIMULATED, sizeof(*waits), order_doubles);
    *rate = SIMULATED / end;
    *p99 = waits[SIMULATED * 99 / 100];
    free(waits);
}

/* What the model says of 4 and 8 clients, against what becomes of them: within 15 % of throughput, and 30 % of p99. */
static void the_model_is_right_about_a_simulation(void **state)
{
    static const struct queueing stores[] = {{1, 0.020, 0.005, 1, 1}, {1, 0.010, 0.005, 2, 1}, {1, 0.040, 0.005, 1, 1},
                                             {1, 0.030, 0.010, 3, 1}};

    for (size_t s = 0; s < sizeof(stores) / sizeof(*stores); s++)
        for (unsigned clients = 4; clients <= 8; clients *= 2) {
            struct queueing q = stores[s];
            struct queueing_result r;
            double rate, p99;

            q.requesters = clients;
            queueing_solve(&q, &r);
            simulate(&q, &rate, &p99);
            print_message("%u clients: %.1f/s (%.1f), p99 %.4f s (%.4f), use %.2f\n", clients, r.rate, rate,
                          q.service_s + r.wait99_s, p99, r.use);
            assert_true(fabs(r.rate - rate) < 0.15 * rate);
            assert_true(fabs(q.service_s + r.wait99_s - p99) < 0.30 * p99);
        }
}

static void scenarios_are_read(void **state)
{
    static const char *const bad[] = {"", "x", "0x", "-1x", "1e9x", "2", "a=", "=2", "a=1+b", "a=nan", "1x,,2x", "2x@/none"};
    struct scenario_list list;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_true(scenarios_parse(bad[i], &list) < 0);
    assert_int_equal(scenarios_parse("2x,losf=0.5+checkpoint=3", &list), 0);
    assert_int_equal(list.count, 2);
    near(list.list[0].all, 2);
    assert_int_equal(list.list[1].factor_count, 2);
    assert_string_equal(list.list[1].factors[1].profile, "checkpoint");
    near(list.list[1].factors[1].factor, 3);
    scenarios_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(an_interval_of_any_length),
        cmocka_unit_test(jitter_makes_no_peak),
        cmocka_unit_test(windows_that_the_span_cuts_do_not_count),
        cmocka_unit_test(longer_intervals_coarsen),
        cmocka_unit_test(a_long_series_stays_small),
        cmocka_unit_test(periods),
        cmocka_unit_test(periods_that_are_not_steady),
        cmocka_unit_test(shares_of_little_add_up),
        cmocka_unit_test(intervals_may_come_in_any_order),
        cmocka_unit_test(demand_by_hand),
        cmocka_unit_test(a_span_of_years),
        cmocka_unit_test(spread_by_hand),
        cmocka_unit_test(a_long_spread_stays_small),
        cmocka_unit_test(whole_windows_only),
        cmocka_unit_test(a_platform_is_shared),
        cmocka_unit_test(bad_platforms),
        cmocka_unit_test(queues),
        cmocka_unit_test(the_model_is_right_about_a_simulation),
        cmocka_unit_test(scenarios_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
