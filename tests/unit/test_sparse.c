/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory beside the kernel side's tables: what is not in use any more is given back, and nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/sparse.h"

#define PAGES 1000
#define ROUND 100 /* calls, more than enough for all of it */

static size_t page;

static unsigned resident(const struct sparse *sparse)
{
    unsigned char pages[PAGES + 1];
    unsigned count = 0;

    assert_int_equal(0, mincore(sparse->memory, sparse->bytes, pages));
    for (size_t i = 0; i < (sparse->bytes + page - 1) / page; i++)
        count += pages[i] & 1;
    return count;
}

static void tidy(struct sparse *sparse)
{
    for (int i = 0; i < ROUND; i++)
        sparse_tidy(sparse);
}

static void what_is_zero_again_is_given_back(void **state)
{
    struct sparse sparse = {0};
    char *memory;

    (void)state;
    assert_int_equal(0, sparse_open(&sparse, PAGES * page));
    memory = sparse.memory;
    assert_int_equal(0, resident(&sparse));
    memset(memory, 1, PAGES * page);
    tidy(&sparse);
    assert_int_equal(PAGES, resident(&sparse));
    memset(memory, 0, PAGES * page);
    memory[7 * page] = 1;            /* the first byte of a page, */
    memory[500 * page - 1] = 2;      /* the last of one, */
    memory[PAGES * page - 100] = 3;  /* and one of the last page */
    tidy(&sparse);
    assert_int_equal(3, resident(&sparse));
    assert_int_equal(1, memory[7 * page]);
    assert_int_equal(2, memory[500 * page - 1]);
    assert_int_equal(3, memory[PAGES * page - 100]);
    assert_int_equal(0, memory[100 * page]);
    memory[100 * page] = 4;
    tidy(&sparse);
    assert_int_equal(4, memory[100 * page]);
    sparse_close(&sparse);
    assert_null(sparse.memory);
}

/* No table need be as large as a whole number of pages. */
static void the_last_page_may_be_a_part(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    assert_int_equal(0, sparse_open(&sparse, 3 * page + 100));
    memset(sparse.memory, 0, sparse.bytes);
    tidy(&sparse);
    assert_int_equal(1, resident(&sparse));
    sparse_close(&sparse);
}

static void a_small_one_is_left_alone(void **state)
{
    struct sparse sparse = {0};

    (void)state;
    assert_int_equal(0, sparse_open(&sparse, 64));
    memset(sparse.memory, 5, 64);
    tidy(&sparse);
    assert_int_equal(5, *(char *)sparse.memory);
    sparse_close(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_zero_again_is_given_back),
        cmocka_unit_test(the_last_page_may_be_a_part),
        cmocka_unit_test(a_small_one_is_left_alone),
    };

    page = (size_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
