/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/database_private.h"

#define COLUMNS  25
#define OP       3
#define BYTES    4
#define LATENCY  8
#define POSITION (COLUMNS - 1)

static const struct database_place places[] = {{.id = 1}, {.id = 0}};

static PGresult *samples_new(void)
{
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc columns[COLUMNS] = {{.name = NULL}};

    for (int i = 0; i < COLUMNS; i++)
        columns[i] = (PGresAttDesc){.name = (char *)"column", .format = 1};
    assert_non_null(result);
    assert_true(PQsetResultAttrs(result, COLUMNS, columns));
    return result;
}

static void put(PGresult *result, int row, int column, const void *value, int size)
{
    assert_true(PQsetvalue(result, row, column, (char *)value, value ? size : -1));
}

static void put_big(PGresult *result, int row, int column, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);

    put(result, row, column, &bytes, sizeof(bytes));
}

/* A row as the database sends it: what is 0 is null. */
static void add(PGresult *result, int64_t batch_id, int position, const char *op, int64_t bytes)
{
    uint32_t place = htobe32((uint32_t)position);
    int row = PQntuples(result);

    for (int i = 0; i < 3; i++)
        put_big(result, row, i, i ? 1 : batch_id);
    put(result, row, OP, op, (int)strlen(op));
    for (int i = BYTES; i < POSITION; i++)
        put(result, row, i, NULL, 0);
    if (bytes)
        put_big(result, row, BYTES, bytes);
    put(result, row, LATENCY, "\x08\x05", 2); /* five operations */
    put(result, row, POSITION, &place, sizeof(place));
}

static struct batch *take(const struct database_rows *rows, int64_t id)
{
    struct batch *batch;
    uint32_t at;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_job(batch, &(struct job){.name = "job", .kind = "slurm", .command = "", .exit = -1}, &at),
                     0);
    assert_int_equal(batch_volume(batch, &(struct volume){.name = "/data", .source = "", .fstype = ""}, &at), 0);
    assert_int_equal(database_add_rows(batch, rows, id, places, places), 0);
    return batch;
}

static void order(struct database_rows *rows)
{
    assert_int_equal(database_list_order(&rows->samples), 0);
    assert_int_equal(database_list_order(&rows->flows), 0);
}

static void expect_records(const struct database_rows *rows)
{
    struct batch *first = take(rows, 7), *second = take(rows, 9), *none = take(rows, 8);

    assert_int_equal(none->record_count, 0);
    assert_int_equal(first->record_count, 3);
    assert_int_equal(first->records[0].op, OP_READ);
    assert_int_equal(first->records[0].bytes, 4096);
    assert_int_equal(first->records[1].op, OP_OPEN);
    assert_int_equal(first->records[2].op, OP_CLOSE);
    assert_int_equal(second->record_count, 1);
    assert_int_equal(second->records[0].op, OP_WRITE);
    assert_int_equal(second->records[0].bytes, 512);
    batch_free(first);
    batch_free(second);
    batch_free(none);
}

static void rows_that_came_late_are_put_where_they_belong(void **state)
{
    struct database_rows rows = {.samples.result = samples_new(), .flows.result = samples_new()};

    add(rows.samples.result, 9, 1, "write", 512);
    add(rows.samples.result, 7, 3, "close", 0);
    add(rows.samples.result, 7, 1, "read", 4096);
    add(rows.samples.result, 7, 2, "open", 0);
    order(&rows);
    assert_non_null(rows.samples.rows);
    expect_records(&rows);
    database_rows_clear(&rows);
}

static void rows_in_order_are_left_as_they_are(void **state)
{
    struct database_rows rows = {.samples.result = samples_new(), .flows.result = samples_new()};

    add(rows.samples.result, 7, 1, "read", 4096);
    add(rows.samples.result, 7, 2, "open", 0);
    add(rows.samples.result, 7, 10, "close", 0);
    add(rows.samples.result, 9, 1, "write", 512);
    order(&rows);
    assert_null(rows.samples.rows);
    expect_records(&rows);
    database_rows_clear(&rows);
}

static void nulls_are_zero(void **state)
{
    struct database_rows rows = {.samples.result = samples_new(), .flows.result = samples_new()};
    const struct record *record;
    struct batch *batch;

    add(rows.samples.result, 7, 1, "stat", 0);
    order(&rows);
    batch = take(&rows, 7);
    record = &batch->records[0];
    assert_int_equal(record_ops(record), 5);
    assert_int_equal(record->bytes + record->errors + record->latency_sum_ns + record->in_flight + record->oldest_ns +
                         record->in_flight_ns,
                     0);
    assert_int_equal(record->size.length, 0);
    assert_int_equal(record->error_codes.length, 0);
    batch_free(batch);
    database_rows_clear(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_came_late_are_put_where_they_belong),
        cmocka_unit_test(rows_in_order_are_left_as_they_are),
        cmocka_unit_test(nulls_are_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
