/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/classify.h"
#include "analyzer/top/settings.h"
#include "analyzer/top/stuck.h"
#include "analyzer/top/tab.h"
#include "tests/unit/history.h"

static void add(struct model *model, struct batch *batch)
{
    struct sample sample = {.batch = batch};

    assert_int_equal(model_add(model, &sample), 0);
    batch_free(batch);
}

static uint32_t rows_of(const struct model *model, unsigned tab, const struct row_options *options, struct row **rows)
{
    struct layout layout;
    uint32_t count;

    layout_init(&tabs[tab], &layout);
    assert_int_equal(rows_new(model, &tabs[tab], &layout, options, rows, &count), 0);
    return count;
}

static const char *cell(const struct row *row, const char *key)
{
    static char buffer[COLUMN_CELL];

    return column_format(&columns[column_find(key, strlen(key))], row, false, buffer);
}

/* 30 reads in half a second are 60 a second, whatever the nominal interval is. */
static void rates_and_sums(void **state)
{
    const struct row_options options = {.current = true}, sums = {.current = true, .since_start = true};
    struct batch *batch = history_batch(0);
    struct model *model;
    struct row *rows;

    assert_int_equal(model_new(NULL, &model), 0);
    batch->duration_ns = 500000000;
    history_ops(batch, "j", 4, OP_READ, 4096, 10);
    history_ops(batch, "j", 5, OP_READ, 4096, 30);
    history_ops(batch, "j", 5, OP_OPEN, 0, 1);
    history_ops(batch, "j", 5, OP_BLOCK_READ, 4096, 77); /* not the process's own call */
    add(model, batch);
    assert_int_equal(rows_of(model, TAB_PROCESSES, &options, &rows), 2);
    assert_int_equal(rows[0].entity->pid, 5);
    assert_int_equal(model->total.now.count[COUNT_OPS], 41);
    assert_string_equal(cell(&rows[0], "read_ops_s"), "60");
    assert_string_equal(cell(&rows[0], "read_bytes_s"), "240K");
    assert_string_equal(cell(&rows[0], "metadata_ops_s"), "2");
    assert_string_equal(cell(&rows[0], "size_mean"), "4K");
    assert_string_equal(cell(&rows[0], "cached_share"), "-");
    free(rows);

    batch = history_batch(1);
    history_ops(batch, "j", 5, OP_READ, 4096, 5);
    add(model, batch);
    assert_int_equal(rows_of(model, TAB_PROCESSES, &sums, &rows), 2);
    assert_string_equal(cell(&rows[0], "read_ops_s"), "35");
    assert_int_equal(model->total.sum.count[COUNT_OPS], 46);
    free(rows);
    assert_int_equal(rows_of(model, TAB_JOBS, &sums, &rows), 1);
    assert_string_equal(cell(&rows[0], "ops_s"), "46");
    free(rows);
    model_free(model);
}

/* Who has ended is shown for some samples, then forgotten; totals keep what they did. */
static void the_dead_are_forgotten(void **state)
{
    const struct row_options options = {.active = false};
    struct model *model;
    struct row *rows;

    assert_int_equal(model_new(NULL, &model), 0);
    for (int i = 0; i < 200; i++) {
        struct batch *batch = history_batch(i);

        history_ops(batch, "j", 1000 + (uint32_t)i, OP_READ, 4096, 10);
        batch->processes[0].exited = true;
        add(model, batch);
    }
    assert_in_range(rows_of(model, TAB_PROCESSES, &options, &rows), 2, 10);
    assert_in_range(model->of[ENTITY_PROCESS].count, 2, 10);
    assert_int_equal(model->total.sum.count[COUNT_READ_OPS], 2000);
    free(rows);
    model_free(model);
}

static double figure_of(const struct model *model, const char *profile, enum figure figure)
{
    const struct entities *list = &model->of[ENTITY_PROFILE];

    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i]->name, profile) == 0)
            return list->at[i]->figure[figure];
    return NAN;
}

/* Each does too little to be told, and all of them half of what the others do. */
static void short_processes_are_unknown_in_the_blend(void **state)
{
    struct catalogue catalogue = {0};
    struct batch *batch = history_batch(0);
    struct model *model;

    assert_int_equal(catalogue_load(NULL, &catalogue), 0);
    assert_int_equal(model_new(&catalogue, &model), 0);
    model->unhurried = true;
    history_ops(batch, "j", 999, OP_READ, 4096, 9);
    add(model, batch);
    assert_true(isnan(figure_of(model, PROFILE_UNKNOWN, FIGURE_SHARE_OPS))); /* too early */
    model_reset(model);

    batch = history_batch(0);
    history_shards(batch, 4); /* 384 MiB */
    for (uint32_t pid = 100; pid < 124; pid++)
        history_ops(batch, "j", pid, OP_READ, 1 << 20, 4);
    for (uint32_t pid = 200; pid < 224; pid++)
        history_ops(batch, "j", pid, OP_WRITE, 1 << 18, 16);
    add(model, batch);
    /* 96 MiB and 96 MiB of 576 */
    assert_float_equal(figure_of(model, PROFILE_UNKNOWN, FIGURE_SHARE_BYTES), 1.0 / 3, 0.001);
    assert_float_equal(figure_of(model, PROFILE_UNKNOWN, FIGURE_MEMBERS), 48, 0);
    add(model, history_batch(20));
    add(model, history_batch(40));
    assert_true(figure_of(model, PROFILE_UNKNOWN, FIGURE_SHARE_BYTES) < 0.33); /* it fades */
    model_free(model);
    catalogue_clear(&catalogue);
}

/* A batch by thread fills both tabs; what belongs to no thread is its process's. */
static void threads_stand_beside_processes(void **state)
{
    const struct row_options options = {.current = true};
    struct batch *batch = history_batch(0);
    struct model *model;
    struct row *rows;

    assert_int_equal(model_new(NULL, &model), 0);
    history_ops(batch, "j", 5, OP_READ, 4096, 10);
    batch->processes[0].tid = 11;
    history_ops(batch, "j", 5, OP_READ, 4096, 30);
    batch->processes[1].tid = 12;
    history_ops(batch, "j", 5, OP_READ, 4096, 2);
    add(model, batch);
    assert_int_equal(rows_of(model, TAB_THREADS, &options, &rows), 3);
    assert_int_equal(rows[0].entity->tid, 12);
    assert_string_equal(cell(&rows[0], "read_ops_s"), "30");
    assert_string_equal(cell(&rows[1], "tid"), "11");
    assert_string_equal(cell(&rows[1], "pid"), "5");
    assert_string_equal(cell(&rows[2], "tid"), "-");
    assert_string_equal(cell(&rows[2], "read_ops_s"), "2");
    free(rows);
    assert_int_equal(rows_of(model, TAB_PROCESSES, &options, &rows), 1);
    assert_string_equal(cell(&rows[0], "read_ops_s"), "42");
    free(rows);
    assert_int_equal(model->total.now.count[COUNT_OPS], 42);

    batch = history_batch(1);
    history_ops(batch, "j", 5, OP_READ, 4096, 7); /* by process again */
    add(model, batch);
    assert_int_equal(rows_of(model, TAB_THREADS, &options, &rows), 0);
    free(rows);
    assert_int_equal(rows_of(model, TAB_PROCESSES, &(struct row_options){.since_start = true}, &rows), 1);
    assert_string_equal(cell(&rows[0], "read_ops_s"), "49");
    free(rows);
    model_free(model);
}

static void add_at(struct model *model, int64_t start_ns, uint64_t duration_ns, uint32_t ops)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 4, OP_READ, 4096, ops);
    batch->start_ns = start_ns;
    batch->duration_ns = duration_ns;
    add(model, batch);
}

/* A minute is a minute, however long or short samples are. */
static void history_goes_by_the_second(void **state)
{
    const int64_t begin = 1700000000000000000, second = 1000000000;
    const struct entity *e;
    struct model *model;

    assert_int_equal(model_new(NULL, &model), 0);
    for (int i = 0; i < 30; i++) /* three seconds in tenths; in the second of them one has three times as much */
        add_at(model, begin - second / 2 + i * second / 10, second / 10, i == 15 ? 3 : 1);
    e = model->of[ENTITY_PROCESS].at[0];
    assert_float_equal(model_history(model, e->history, 0), 10, 0.01);
    assert_float_equal(model_history(model, e->history, 1), 30, 0.01);
    assert_float_equal(model_history(model, e->history, 2), 10, 0.01);
    assert_float_equal(model_history(model, e->history, 4), 0, 0.01);
    add_at(model, begin + 5 * second / 2, 10 * second, 50); /* ten seconds at once */
    assert_float_equal(model_history(model, e->history, 0), 5, 0.01);
    assert_float_equal(model_history(model, e->history, 9), 5, 0.01);
    assert_float_equal(model_history(model, e->history, 10), 10, 0.01);
    add_at(model, begin + 15 * second, second, 7); /* behind a gap of two and a half, which is no zero of it */
    assert_float_equal(model_history(model, e->history, 0), 7, 0.01);
    assert_float_equal(model_history(model, e->history, 1), 0, 0.01);
    assert_float_equal(model_history(model, e->history, 3), 5, 0.01);
    add_at(model, begin, second, 9); /* the clock was set back */
    assert_float_equal(model_history(model, e->history, 0), 9, 0.01);
    add_at(model, begin + 500 * second, second, 2);
    for (unsigned ago = 1; ago < HISTORY_SECONDS; ago++)
        assert_float_equal(model_history(model, e->history, ago), 0, 0.01);
    model_free(model);
}

static struct filter *filter_of(const char *text)
{
    struct filter *filter;
    char why[160];

    assert_int_equal(filter_new(text, &filter, why, sizeof(why)), 0);
    return filter;
}

static void filters(void **state)
{
    const struct volume volume = {.name = "n1:/data", .source = "/dev/sda1", .fstype = "ext4"};
    const struct entity e = {.kind = ENTITY_PROCESS, .pid = 7, .name = "Train.py", .user = "bob", .job = "gpt-4",
                             .volume = "", .mounts = "", .node = "", .why = ""};
    static const struct {
        const char *text;
        bool entity, volume;
    } cases[] = {{"", true, true},           {"train", true, true},       {"^t.*y$", true, true},
                 {"tr[x", false, false},     {"user:bob", true, true},    {"user:bo", false, true},
                 {"pid:7", true, true},      {"pid:8", false, true},      {"job:gpt", true, true},
                 {"job:gpt-?", true, true},  {"job:*5", false, true},     {"volume:data", true, true},
                 {"volume:x", true, false},  {"fs:ext4", true, true},     {"fs:ext*", true, true},
                 {"fs:xfs", true, false},    {"user:bob train", true, true}, {"user:eve train", false, true},
                 {"user:bob eval", false, true}, {"tr++++++++++++++++++++++++", false, false}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct filter *filter = NULL;
        char why[160] = "";
        int err = filter_new(cases[i].text, &filter, why, sizeof(why));

        if (!cases[i].entity && !cases[i].volume) {
            assert_true(err < 0 && *why);
            continue;
        }
        assert_int_equal(err, 0);
        if (filter_entity(filter, &e) != cases[i].entity || filter_volume(filter, &volume) != cases[i].volume)
            fail_msg("%s", cases[i].text);
        filter_free(filter);
    }
}

/* With a volume filter a row counts only what was done there. */
static void a_volume_filter_chooses_records(void **state)
{
    const struct row_options options = {.active = true};
    struct batch *batch = history_batch(0);
    struct model *model;
    struct row *rows;

    assert_int_equal(model_new(NULL, &model), 0);
    model->filter = filter_of("volume:nowhere-at-all");
    history_ops(batch, "j", 5, OP_READ, 4096, 30);
    add(model, batch);
    assert_int_equal(rows_of(model, TAB_PROCESSES, &options, &rows), 0);
    assert_int_equal(model->total.now.count[COUNT_OPS], 30); /* the header's */
    free(rows);
    filter_free(model->filter);
    model_free(model);
}

static void every_tab_knows_its_columns(void **state)
{
    for (unsigned i = 0; i < tab_count; i++) {
        struct layout layout;
        unsigned name = column_find(tabs[i].name_column, strlen(tabs[i].name_column));
        bool found = false;

        layout_init(&tabs[i], &layout);
        assert_true(layout.sort < column_count);
        for (unsigned k = 0; k < layout.count; k++) {
            assert_true(layout.column[k] < column_count);
            found |= layout.column[k] == name;
        }
        assert_true(found);
    }
}

static void settings(void **state)
{
    static const char *const damaged[] = {"", "[", "[]", "7", "{\"tabs\":", "\"x\""};
    static const char good[] = "{\"theme\":\"light\",\"tabs\":{\"processes\":{\"columns\":["
                               "\"pid\",\"pid\",\"nonsense\",7,\"command\"],"
                               "\"sort\":\"pid\",\"reverse\":true},\"nothing\":{}}}";
    struct settings s;
    char why[200];

    for (unsigned i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        settings_init(&s);
        assert_int_equal(settings_parse(&s, damaged[i], strlen(damaged[i]), why, sizeof(why)), -EINVAL);
    }
    settings_init(&s);
    assert_int_equal(settings_parse(&s, good, strlen(good), why, sizeof(why)), 0);
    assert_int_equal(s.theme, THEME_LIGHT);
    assert_string_equal(columns[s.layout[TAB_PROCESSES].column[0]].key, "pid");
    assert_string_equal(columns[s.layout[TAB_PROCESSES].column[1]].key, "command");
    assert_true(s.layout[TAB_PROCESSES].shown[1] && !s.layout[TAB_PROCESSES].shown[2]);
    assert_string_equal(columns[s.layout[TAB_PROCESSES].sort].key, "pid");
    assert_true(s.layout[TAB_PROCESSES].reverse && !s.layout[TAB_JOBS].reverse);
}

/* Quantiles of the fast sum are those of the histogram. */
static void dense_sums(void **state)
{
    static struct dense dense;
    struct histogram sum = {0};

    srandom(7);
    for (int round = 0; round < 50; round++) {
        struct histogram h = {0};
        struct spread a, b;

        for (int i = 0; i < 20; i++)
            assert_int_equal(histogram_add(&h, (uint64_t)random() >> (random() % 30), (uint64_t)random() % 9 + 1), 0);
        dense_add(&dense, &h);
        assert_int_equal(histogram_merge(&sum, &h), 0);
        dense_spread(&dense, round % 2, &a);
        histogram_spread(&sum, round % 2, &b);
        assert_memory_equal(&a, &b, sizeof(a));
        histogram_clear(&h);
    }
    histogram_clear(&sum);
}

/* A terminal obeys nothing of a name. */
static void a_stuck_process_has_any_name(void **state)
{
    struct batch *batch;
    uint32_t job, volume, process;
    struct record *record;
    char line[256];

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_job(batch, &(struct job){.name = "j", .kind = "command", .command = "", .exit = -1}, &job), 0);
    assert_int_equal(batch_volume(batch, &(struct volume){.name = "/m\x1b[2J", .source = "", .fstype = ""}, &volume), 0);
    assert_int_equal(batch_process(batch, &(struct process){.pid = 7, .command = "a\x1b]0;b\a\n"}, &process), 0);
    assert_int_equal(batch_record(batch, job, volume, process, OP_READ, &record), 0);
    record->in_flight = 1;
    record->oldest_ns = 60000000000;
    stuck_line(batch, line, sizeof(line));
    assert_string_equal(line, "stuck: a?]0;b?? (7) in read on /m?[2J for 60 s");
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stuck_process_has_any_name),
        cmocka_unit_test(rates_and_sums),
        cmocka_unit_test(the_dead_are_forgotten),
        cmocka_unit_test(short_processes_are_unknown_in_the_blend),
        cmocka_unit_test(threads_stand_beside_processes),
        cmocka_unit_test(history_goes_by_the_second),
        cmocka_unit_test(filters),
        cmocka_unit_test(a_volume_filter_chooses_records),
        cmocka_unit_test(every_tab_knows_its_columns),
        cmocka_unit_test(settings),
        cmocka_unit_test(dense_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
