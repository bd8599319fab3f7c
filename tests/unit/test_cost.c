/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cost.h"
#include "analyzer/human.h"
#include "analyzer/view/json.h"
#include "analyzer/view/text_cost.h"

#define HOUR_NS 3600000000000ll

/* Four jobs in two hours, on a platform of that file. */
struct fixture {
    struct offer offer;
    struct job_total jobs[4];
    struct report report;
    struct cost cost;
};

static void start(struct fixture *f, const char *keys)
{
    char text[512];

    snprintf(text, sizeof(text), "{\"schema\":\"unblend.platform/1\",\"name\":\"box\"%s%s}", *keys ? "," : "", keys);
    assert_int_equal(offer_parse(text, "here", &f->offer), 0);
    memset(f->jobs, 0, sizeof(f->jobs));
    f->report = (struct report){.offer = &f->offer,
                                .totals = {.jobs = f->jobs,
                                           .job_count = 4,
                                           .start_ns = HOUR_NS,
                                           .end_ns = 3 * HOUR_NS}};
    cost_of(&f->report, &f->cost);
}

static void is(const struct fixture *f, enum cost_figure figure, double expected)
{
    assert_null(f->cost.why[figure]);
    assert_true(fabs(f->cost.figure[figure] - expected) <= 1e-9 * fabs(expected));
}

static void is_unknown(const struct fixture *f, enum cost_figure figure, const char *word)
{
    assert_true(isnan(f->cost.figure[figure]));
    assert_non_null(f->cost.why[figure]);
    assert_non_null(strstr(f->cost.why[figure], word));
}

static void by_hand(void **state)
{
    struct fixture f;

    start(&f, "\"price\":876600,\"years\":5,\"capacity_bytes\":2e15,\"nodes\":6,\"converged\":true,\"node_cores\":4");
    is(&f, COST_PRICE, 876600);
    is(&f, COST_TB, 438.3);
    is(&f, COST_TB_YEAR, 87.66);
    is(&f, COST_HOUR, 20); /* 5 years are 43,830 hours */
    is(&f, COST_JOB, 10);
    is(&f, COST_CORES, 24);
    is_unknown(&f, COST_GPU_HOURS, "GPU");
    assert_false(f.cost.of_tiers);
    f.jobs[2].gpu = (struct gpu_time){HOUR_NS, HOUR_NS / 2, HOUR_NS / 2, HOUR_NS / 2, HOUR_NS / 4, 0, 0};
    cost_of(&f.report, &f.cost);
    is(&f, COST_GPU_HOURS, 0.25);
    offer_clear(&f.offer);
}

static void what_is_not_said_is_not_known(void **state)
{
    struct fixture f;

    start(&f, "");
    for (enum cost_figure figure = COST_PRICE; figure <= COST_JOB; figure++)
        is_unknown(&f, figure, "price");
    is_unknown(&f, COST_CORES, "converged");
    offer_clear(&f.offer);
    start(&f, "\"price\":100,\"converged\":true");
    is(&f, COST_PRICE, 100);
    is_unknown(&f, COST_TB, "capacity_bytes");
    is_unknown(&f, COST_TB_YEAR, "capacity_bytes");
    is_unknown(&f, COST_HOUR, "years");
    is_unknown(&f, COST_JOB, "years");
    is_unknown(&f, COST_CORES, "node_cores");
    offer_clear(&f.offer);
    start(&f, "\"price\":100,\"years\":1,\"capacity_bytes\":1e12");
    f.report.totals.grouping = GROUP_USER; /* what is added up is no jobs */
    cost_of(&f.report, &f.cost);
    is(&f, COST_TB, 100);
    is_unknown(&f, COST_JOB, "by job");
    f.report.totals.grouping = GROUP_JOB;
    f.report.totals.job_count = 0;
    cost_of(&f.report, &f.cost);
    is_unknown(&f, COST_JOB, "no job");
    f.report.offer = NULL;
    cost_of(&f.report, &f.cost);
    for (enum cost_figure figure = COST_PRICE; figure < COST_GPU_HOURS; figure++)
        is_unknown(&f, figure, "--platform");
    offer_clear(&f.offer);
}

static void tiers_have_prices(void **state)
{
    struct fixture f;
    const char *why;

    start(&f, "\"capacity_bytes\":10e12,\"tiers\":[{\"name\":\"flash\",\"capacity_bytes\":2e12,\"price\":600},"
              "{\"name\":\"disks\",\"capacity_bytes\":8e12,\"price\":400}]");
    is(&f, COST_PRICE, 1000);
    is(&f, COST_TB, 100);
    assert_true(f.cost.of_tiers);
    assert_true(fabs(cost_of_tier(&f.offer.tiers[0], &why) - 300) < 1e-9);
    assert_null(why);
    assert_true(fabs(cost_of_tier(&f.offer.tiers[1], &why) - 50) < 1e-9);
    offer_clear(&f.offer);
    start(&f, "\"capacity_bytes\":10e12,\"tiers\":[{\"name\":\"flash\",\"price\":600},{\"name\":\"disks\"}]");
    is_unknown(&f, COST_PRICE, "each of its tiers");
    assert_false(f.cost.of_tiers);
    assert_true(isnan(cost_of_tier(&f.offer.tiers[0], &why)));
    assert_non_null(strstr(why, "capacity_bytes"));
    assert_true(isnan(cost_of_tier(&f.offer.tiers[1], &why)));
    assert_non_null(strstr(why, "price"));
    offer_clear(&f.offer);
    start(&f, "\"price\":1000,\"tiers\":[{\"name\":\"flash\",\"price\":600}]"); /* racks cost, too */
    is(&f, COST_PRICE, 1000);
    assert_false(f.cost.of_tiers);
    offer_clear(&f.offer);
}

/* As it was before lines were wrapped: a blank in the place of each run of them. */
static void unwrap(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++)
        if ((*from != ' ' && *from != '\n') || to == text || to[-1] != ' ')
            *to++ = *from == '\n' ? ' ' : *from;
    *to = '\0';
}

/* Text and JSON of one report: each figure that JSON has stands in the text, each reason, too. */
static void views_say_the_same(void **state)
{
    struct fixture f;
    json_t *json;
    char *text = NULL, number[HUMAN_SIZE];
    size_t size;
    struct pen pen;

    start(&f, "\"price\":876600,\"years\":5,\"currency\":\"EUR\","
              "\"tiers\":[{\"name\":\"flash\",\"capacity_bytes\":2e12,\"price\":600}]");
    pen = (struct pen){.out = open_memstream(&text, &size)};
    assert_non_null(pen.out);
    text_cost(&pen, &f.report);
    fclose(pen.out);
    unwrap(text);
    json = json_cost(&f.report);
    assert_non_null(json);
    for (enum cost_figure figure = COST_PRICE; figure < COST_FIGURES; figure++) {
        const json_t *value = json_object_get(json, cost_infos[figure].key);
        const char *why = json_string_value(json_object_get(json_object_get(json, "why"), cost_infos[figure].key));

        assert_non_null(value);
        assert_int_equal(json_is_null(value), why != NULL);
        assert_non_null(strstr(text, why ? why : human_money(number, json_number_value(value))));
    }
    assert_string_equal(json_string_value(json_object_get(json, "price_source")), "platform");
    assert_non_null(strstr(text, "876,600 EUR"));
    assert_non_null(strstr(text, "300.00 EUR"));
    json_decref(json);
    free(text);
    offer_clear(&f.offer);
}

static void numbers_for_people(void **state)
{
    char text[HUMAN_SIZE];

    assert_string_equal(human_money(text, 900000), "900,000");
    assert_string_equal(human_money(text, 409.0909), "409.09");
    assert_string_equal(human_money(text, 0.00234), "0.0023");
    assert_string_equal(human_money(text, 1e30), "1e+30");
    assert_string_equal(human_duration(text, 100000), "1d03h46m");
    assert_string_equal(human_duration(text, 1e300), "10000000000d00h00m"); /* of numbers that somebody made up */
}

static void ratios(void **state)
{
    char text[HUMAN_SIZE];

    assert_string_equal(human_ratio(text, 1578.4), "1,578");
    assert_string_equal(human_ratio(text, 999.7), "1,000");
    assert_string_equal(human_ratio(text, 32.64), "32.6");
    assert_string_equal(human_ratio(text, 0.0123), "0.0123");
    assert_string_equal(human_ratio(text, 0.0000456), "0.0000456");
    assert_string_equal(human_ratio(text, 0), "0");
    assert_string_equal(human_estimate(text, 4.02), "4");
    assert_string_equal(human_estimate(text, 158.4), "158");
    assert_string_equal(human_estimate(text, 0.254), "0.25");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(what_is_not_said_is_not_known),
        cmocka_unit_test(tiers_have_prices),
        cmocka_unit_test(views_say_the_same),
        cmocka_unit_test(numbers_for_people),
        cmocka_unit_test(ratios),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
