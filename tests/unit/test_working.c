/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/working.h"
#include "tests/unit/history.h"

#define MIB 1048576

/* Ten files of a MiB that are opened so often each; so many MiB are read and written meanwhile. The last set. */
static struct working_set used(unsigned opens, uint64_t read, uint64_t written)
{
    struct batch *batch = history_batch(0);
    struct working_set sets[WORKING_WINDOWS];
    struct working working = {0};
    unsigned count;

    history_ops(batch, "j", 1, OP_OPEN, MIB, 10 * opens);
    history_told(batch, 10, MIB);
    assert_int_equal(working_add(&working, batch->start_ns, read * MIB, written * MIB, &batch->flows[0].files), 0);
    working_opened(&working, batch, &batch->records[0], INT64_MIN);
    count = working_sets(&working, sets);
    assert_true(count);
    assert_true(sets[count - 1].bytes.value == 10 * MIB);
    working_clear(&working);
    batch_free(batch);
    return sets[count - 1];
}

static void what_was_written_since_is_not_read_again(void **state)
{
    struct working_set set = used(1, 300, 300);

    assert_true(set.grown);
    assert_true(isnan(set.reread));
}

static void what_is_written_elsewhere_hides_no_reads(void **state)
{
    assert_true(used(1, 50, 0).reread == 5);   /* nothing new */
    assert_true(used(1, 50, 1).reread == 5);   /* a log */
    assert_true(used(5, 50, 900).reread == 5); /* checkpoints, of who opens for each time what it reads */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_since_is_not_read_again),
        cmocka_unit_test(what_is_written_elsewhere_hides_no_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
