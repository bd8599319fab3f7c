/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/station.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/record.h"

static struct station *add(struct batch *batch, enum request_kind request, uint64_t ops, uint64_t in_flight)
{
    struct station key = {.layer = LAYER_BLOCK, .request = request, .job = NO_INDEX}, *station;

    assert_int_equal(
        batch_volume(batch, &(struct volume){.name = "n:sda", .source = "/dev/sda", .fstype = "block"},
                     &key.volume), 0);
    assert_int_equal(batch_station(batch, &key, &station), 0);
    station->known = STATION_OPS | STATION_IN_FLIGHT | STATION_SERVICE;
    station->ops += ops;
    station->in_flight = in_flight;
    assert_int_equal(histogram_add(&station->service_ns, 1000, ops), 0);
    return station;
}

static void counts_add_up_and_in_flight_is_the_later(void **state)
{
    _cleanup_(batch_freep) struct batch *sum = NULL, *first = NULL, *second = NULL;

    assert_int_equal(batch_new(&sum), 0);
    assert_int_equal(batch_new(&first), 0);
    assert_int_equal(batch_new(&second), 0);
    add(first, REQUEST_READ, 3, 0);
    add(first, REQUEST_ALL, 0, 7);
    add(second, REQUEST_READ, 4, 0);
    assert_int_equal(batch_merge(sum, first, GRAIN_JOBS), 0);
    assert_int_equal(sum->stations[1].in_flight, 7);
    assert_int_equal(batch_merge(sum, second, GRAIN_JOBS), 0);
    assert_int_equal(sum->station_count, 2);
    assert_int_equal(sum->stations[0].ops, 7);
    assert_int_equal(histogram_count(&sum->stations[0].service_ns), 7);
    assert_int_equal(sum->stations[1].in_flight, 0);
}

static void what_does_not_fit_changes_nothing(void **state)
{
    struct station a = {.ops = INT64_MAX, .bytes = 1}, b = {.ops = 1, .bytes = 1};

    assert_int_equal(station_add(&a, &b), -ERANGE);
    assert_int_equal(a.bytes, 1);
}

/* A batch with that list of stations. */
static int decode(const char *list, struct codec_error *error)
{
    _cleanup_(batch_freep) struct batch *batch = NULL, *copy = NULL;
    _cleanup_free_ char *json = NULL;
    char text[4096];
    size_t size;
    int err;

    assert_int_equal(batch_new(&batch), 0);
    add(batch, REQUEST_READ, 1, 0);
    batch->station_count = 0;
    assert_int_equal(codec_encode(batch, &json, &size), 0);
    batch->station_count = 1;
    assert_true((size_t)snprintf(text, sizeof(text), "{\"storage\":%s,%s", list, json + 1) < sizeof(text));
    err = codec_decode(text, strlen(text), &copy, error);
    return err;
}

#define KEYS "\"layer\":\"block\",\"volume\":0,\"request\":\"read\",\"for\":\"unknown\""

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *list, *field;
    } cases[] = {
        {"{}", "storage"},
        {"[3]", "storage[0]"},
        {"[{" KEYS ",\"ops\":-1}]", "storage[0].ops"},
        {"[{" KEYS "},{" KEYS "}]", "storage[1]"},
        {"[{" KEYS ",\"size\":\"x\"}]", "storage[0].size"},
        {"[{\"layer\":\"tape\",\"volume\":0,\"request\":\"read\",\"for\":\"unknown\"}]", "storage[0].layer"},
        {"[{\"layer\":\"block\",\"volume\":1,\"request\":\"read\",\"for\":\"unknown\"}]", "storage[0].volume"},
        {"[{\"layer\":\"block\",\"volume\":0,\"request\":\"ask\",\"for\":\"unknown\"}]", "storage[0].request"},
        {"[{\"layer\":\"block\",\"volume\":0,\"request\":\"read\",\"for\":\"me\"}]", "storage[0].for"},
        {"[{\"layer\":\"block\",\"volume\":0,\"request\":\"read\",\"for\":\"job\"}]", "storage[0].job"},
    };
    struct codec_error error;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(decode(cases[i].list, &error), -EBADMSG);
        assert_string_equal(error.field, cases[i].field);
    }
    assert_int_equal(decode("[{" KEYS ",\"ops\":1,\"new\":[]}]", &error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up_and_in_flight_is_the_later),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
        cmocka_unit_test(what_is_wrong_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
