/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/wait.h"

#define S 1000000000ull

static void close_to(double a, double b)
{
    assert_true(fabs(a - b) < 1e-9);
}

static void nobody_watched(void **state)
{
    struct gpu_loss loss;

    assert_false(gpu_loss_of(&(struct gpu_time){0}, &loss));
}

/* An hour: half of it I/O, for which all of the idle time was. */
static void idle_for_io_alone(void **state)
{
    struct gpu_time time = {3600 * S, 1800 * S, 1800 * S, 1800 * S, 900 * S, 0, 0};
    struct gpu_loss loss;

    assert_true(gpu_loss_of(&time, &loss));
    close_to(loss.watched_h, 1);
    close_to(loss.idle, 0.5);
    close_to(loss.usual, 0);
    close_to(loss.low_h, 0.25);
    close_to(loss.high_h, 0.5);
}

/* A fifth of the time is idle without I/O, and so a fifth of the time with it is not lost. */
static void usually_idle(void **state)
{
    struct gpu_time time = {3600 * S, 1440 * S, 1800 * S, 1080 * S, 720 * S, 1800 * S, 360 * S};
    struct gpu_loss loss;

    assert_true(gpu_loss_of(&time, &loss));
    close_to(loss.calm_h, 0.5);
    close_to(loss.usual, 0.2);
    close_to(loss.low_h, 0.1);
    close_to(loss.high_h, 0.2);
}

static void no_more_than_usual(void **state)
{
    struct gpu_time time = {3600 * S, 1800 * S, 1800 * S, 900 * S, 0, 1800 * S, 900 * S};
    struct gpu_loss loss;

    assert_true(gpu_loss_of(&time, &loss));
    close_to(loss.low_h, 0);
    close_to(loss.high_h, 0);
}

/* Then nobody can tell what is usual. */
static void always_io(void **state)
{
    struct gpu_time time = {3600 * S, 1800 * S, 3590 * S, 1800 * S, 900 * S, 0, 0};
    struct gpu_loss loss;

    assert_true(gpu_loss_of(&time, &loss));
    close_to(loss.idle, 0.5);
    assert_true(isnan(loss.usual) && isnan(loss.low_h) && isnan(loss.high_h));
}

static void all_jobs(void **state)
{
    struct job_total jobs[4] = {{.name = "none"}, {.name = "a"}, {.name = "always"}, {.name = "b"}};
    struct aggregate totals = {.jobs = jobs, .job_count = 4};
    const struct job_total *worst;
    struct gpu_loss loss;

    assert_false(gpu_loss_sum(&totals, &loss, &worst) && worst);
    jobs[2].gpu = (struct gpu_time){7200 * S, 7200 * S, 7200 * S, 7200 * S, 0, 0, 0};
    assert_true(gpu_loss_sum(&totals, &loss, &worst));
    assert_null(worst);
    assert_true(isnan(loss.low_h));
    jobs[1].gpu = (struct gpu_time){3600 * S, 900 * S, 1800 * S, 900 * S, 360 * S, 0, 0};
    jobs[3].gpu = (struct gpu_time){3600 * S, 1800 * S, 1800 * S, 1800 * S, 360 * S, 0, 0};
    assert_true(gpu_loss_sum(&totals, &loss, &worst));
    assert_ptr_equal(worst, &jobs[3]);
    close_to(loss.watched_h, 4);
    close_to(loss.idle, (2 + 0.25 + 0.5) / 4);
    close_to(loss.low_h, 0.2);
    close_to(loss.high_h, 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_watched), cmocka_unit_test(idle_for_io_alone), cmocka_unit_test(usually_idle),
        cmocka_unit_test(no_more_than_usual), cmocka_unit_test(always_io), cmocka_unit_test(all_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
