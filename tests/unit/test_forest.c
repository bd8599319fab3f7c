/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/forest.h"
#include "lib/record.h"
#include "probe/roots.h"

static struct batch *with_tree(const char *name, uint64_t reads)
{
    struct batch *batch;
    uint32_t job, volume;
    struct tree *tree;

    assert_int_equal(0, batch_new(&batch));
    assert_int_equal(0, batch_job(batch, &(struct job){.name = "j", .kind = "", .command = "", .exit = -1}, &job));
    assert_int_equal(0, batch_volume(batch, &(struct volume){.name = "v", .source = "", .fstype = ""}, &volume));
    assert_int_equal(0, batch_tree(batch, job, volume, name, &tree));
    tree->count[TREE_READS] = reads;
    assert_int_equal(0, sketch_add(&tree->files, &(struct sketch_file){reads, 10, 0}));
    return batch;
}

static void trees_merge_by_name(void **state)
{
    struct batch *sum = with_tree("/a", 1), *more = with_tree("/a", UINT64_MAX >> 1), *other = with_tree("/b", 5);

    assert_int_equal(0, batch_merge(sum, more, GRAIN_JOBS));
    assert_int_equal(0, batch_merge(sum, other, GRAIN_JOBS));
    assert_int_equal(2, sum->tree_count);
    assert_string_equal("/a", sum->trees[0].name);
    assert_true(sum->trees[0].count[TREE_READS] == INT64_MAX); /* and no wrap */
    assert_int_equal(2, sum->trees[0].files.count);
    assert_int_equal(5, sum->trees[1].count[TREE_READS]);
    batch_forget_trees(sum);
    assert_int_equal(0, sum->tree_count);
    assert_int_equal(0, batch_merge(sum, other, GRAIN_JOBS));
    assert_int_equal(1, sum->tree_count);
    batch_free(sum);
    batch_free(more);
    batch_free(other);
}

static void a_tree_needs_a_job_and_a_volume(void **state)
{
    struct batch *batch = with_tree("/a", 1);
    struct tree *tree;

    assert_int_equal(-EINVAL, batch_tree(batch, 1, 0, "/a", &tree));
    assert_int_equal(-EINVAL, batch_tree(batch, 0, 1, "/a", &tree));
    batch_free(batch);
}

static void the_rest_is_what_the_volume_has_more(void **state)
{
    struct forest forest = {0};
    struct tally tally = {0};
    uint64_t rest[TREE_COUNTS];
    struct tree tree = {.name = "/a", .count = {[TREE_READS] = 3, [TREE_READ_BYTES] = 30, [TREE_WAIT_NS] = 300}};
    struct record record = {.op = OP_READ, .bytes = 50, .latency_sum_ns = 500};

    assert_int_equal(0, histogram_add(&record.latency_ns, 100, 5));
    assert_int_equal(0, tally_add(&tally, &record));
    assert_int_equal(0, forest_add(&forest, 1, &tree));
    assert_true(forest_rest(&forest, &tally, rest));
    assert_int_equal(2, rest[TREE_READS]);
    assert_int_equal(20, rest[TREE_READ_BYTES]);
    assert_int_equal(200, rest[TREE_WAIT_NS]);
    assert_int_equal(0, rest[TREE_WRITES]);
    tree.count[TREE_READS] = 2;
    tree.count[TREE_READ_BYTES] = 20;
    assert_int_equal(0, forest_add(&forest, 2, &tree));
    assert_int_equal(1, forest.count);
    assert_false(forest_rest(&forest, &tally, rest)); /* time alone is no rest */
    forest_clear(&forest);
    tally_clear(&tally);
    record_clear(&record);
}

static void trees_come_by_what_was_waited(void **state)
{
    struct forest forest = {0};

    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(0, forest_add(&forest, 0, &(struct tree){.name = (const char *[]){"/x", "/z", "/y"}[i],
                                                                  .count = {[TREE_WAIT_NS] = 7 + i / 2}}));
    forest_sort(&forest);
    assert_string_equal("/y", forest.trees[0].name);
    assert_string_equal("/x", forest.trees[1].name);
    assert_string_equal("/z", forest.trees[2].name);
    forest_clear(&forest);
}

/* Numbers that end in zeros, as whoever makes them up may choose, pass any shift. */
static void made_up_files_end_somewhere(void **state)
{
    struct tree tree = {.name = "/a"};
    struct forest forest = {.count = 0};
    struct sketch_estimate bytes;

    for (uint64_t i = 1; i < 700; i++)
        assert_int_equal(0, sketch_add(&tree.files, &(struct sketch_file){i << 54, UINT64_C(1) << 41, 0}));
    assert_int_equal(0, forest_add(&forest, 1, &tree));
    assert_int_equal(1, forest.count);
    assert_int_equal(SKETCH_SHIFT_MAX, forest.trees[0].working.files.shift);
    bytes = sketch_bytes(&forest.trees[0].working.files, 0);
    assert_true(bytes.low > 0 && bytes.value >= bytes.low && bytes.high >= bytes.value && bytes.high < 0x1p63);
    sketch_clear(&tree.files);
    forest_clear(&forest);
}

static void roots_are_numbered_as_far_as_trees_go(void **state)
{
    static const struct {
        const char *root;
        unsigned number;
        const char *path;
    } cases[] = {
        {"/", 0, ""},          {"", 0, ""},     {"/a", 1, "/a"},           {"/a/b", 2, "/a/b"},
        {"/a/b/c/d", 3, "/a/b/c/d"}, {"/a", 1, "/a"}, {"/a/b/c/d/e/f", 3, "/a/b/c/d"}, {"relative", 0, ""},
    };
    struct roots roots = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint16_t number = 9;

        assert_int_equal(0, roots_number(&roots, cases[i].root, &number));
        assert_int_equal(cases[i].number, number);
        assert_string_equal(cases[i].path, roots_path(&roots, number));
    }
    assert_string_equal("", roots_path(&roots, 4));
    roots_clear(&roots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_merge_by_name),
        cmocka_unit_test(a_tree_needs_a_job_and_a_volume),
        cmocka_unit_test(the_rest_is_what_the_volume_has_more),
        cmocka_unit_test(trees_come_by_what_was_waited),
        cmocka_unit_test(made_up_files_end_somewhere),
        cmocka_unit_test(roots_are_numbered_as_far_as_trees_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
