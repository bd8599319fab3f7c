/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/copy.h"
#include "collector/ingest.h"
#include "lib/array_text.h"
#include "lib/cleanup.h"

/* --- lines --- */

static void expect_lines(const char *text, const char *const *lines)
{
    size_t at = 0, size;
    const char *line;

    for (; *lines; lines++) {
        assert_true(ingest_line(text, strlen(text), &at, &line, &size));
        assert_int_equal(size, strlen(*lines));
        assert_memory_equal(line, *lines, size);
    }
    assert_false(ingest_line(text, strlen(text), &at, &line, &size));
}

static void lines_are_cut(void **state)
{
    expect_lines("", (const char *const[]){NULL});
    expect_lines("a", (const char *const[]){"a", NULL});
    expect_lines("a\n", (const char *const[]){"a", NULL});
    expect_lines("a\nb", (const char *const[]){"a", "b", NULL});
    expect_lines(" a b \r\n\t\n\nc", (const char *const[]){"a b", "", "", "c", NULL});
}

/* --- validation --- */

static struct batch valid(void)
{
    return (struct batch){.cluster = "c",
                          .node = "n",
                          .role = "client",
                          .kernel = "",
                          .boot_id = "",
                          .stream = "0123456789abcdef0123456789abcdef",
                          .seq = INT64_MAX - 1,
                          .start_ns = 1,
                          .duration_ns = 1,
                          .interval_ms = 1};
}

static void expect_field(const struct batch *batch, const char *field)
{
    struct codec_error error = {.field = ""};

    assert_int_equal(ingest_validate(batch, &error), -EBADMSG);
    assert_string_equal(error.field, field);
    assert_true(strlen(error.why) > 0);
}

static void each_field_is_validated(void **state)
{
    struct codec_error error;
    struct batch b = valid();
    char name[257];

    memset(name, 'x', 256);
    name[256] = '\0';
    assert_int_equal(ingest_validate(&b, &error), 0);
    b.cluster = "";
    expect_field(&b, "cluster");
    b = valid(), b.node = name;
    expect_field(&b, "node");
    b.node = name + 1;
    assert_int_equal(ingest_validate(&b, &error), 0);
    b = valid(), b.role = "clients";
    expect_field(&b, "role");
    b = valid(), b.kernel = name + 1;
    assert_int_equal(ingest_validate(&b, &error), 0);
    b.kernel = name;
    expect_field(&b, "kernel");
    b = valid(), b.boot_id = name;
    expect_field(&b, "boot_id");
    b = valid(), b.stream = "0123456789ABCDEF0123456789abcdef";
    expect_field(&b, "stream");
    b = valid(), b.stream = "0123456789abcdef0123456789abcdef0";
    expect_field(&b, "stream");
    b = valid(), b.seq = INT64_MAX;
    expect_field(&b, "seq");
    b = valid(), b.start_ns = 0;
    expect_field(&b, "start_ns");
    b = valid(), b.duration_ns = UINT64_MAX;
    expect_field(&b, "duration_ns");
    b = valid(), b.interval_ms = 0;
    expect_field(&b, "interval_ms");
    b = valid(), b.interval_ms = INTERVAL_MS_MAX + 1;
    expect_field(&b, "interval_ms");
}

/* Names that an index of the database does not take would stop all that is summed up. */
static void names_are_no_longer_than_an_index_takes(void **state)
{
    char name[INGEST_NAME_MAX + 2];
    struct job jobs[] = {{.name = "short", .kind = "env"}, {.name = name, .kind = ""}};
    struct volume volumes[] = {{.name = "short"}, {.name = name}};
    struct codec_error error;
    struct batch b = valid();

    memset(name, 'x', sizeof(name));
    name[INGEST_NAME_MAX] = '\0';
    b.jobs = jobs, b.job_count = 2;
    b.volumes = volumes, b.volume_count = 2;
    assert_int_equal(ingest_validate(&b, &error), 0);
    name[INGEST_NAME_MAX] = 'x', name[INGEST_NAME_MAX + 1] = '\0';
    expect_field(&b, "jobs[1].job");
    b.job_count = 1;
    expect_field(&b, "volumes[1].volume");
}

static void jobs_are_of_kinds_that_there_are(void **state)
{
    struct job jobs[] = {{.name = "a", .kind = "kubernetes"}, {.name = "b", .kind = "zz"}};
    struct batch b = valid();

    b.jobs = jobs, b.job_count = 2;
    expect_field(&b, "jobs[1].kind");
}

static void what_was_dropped_was_made_before(void **state)
{
    struct dropped ranges[] = {{.stream = "00000000000000000000000000000000", .first = 1, .last = UINT32_MAX},
                               {.stream = "0123456789abcdef0123456789abcdef", .first = 1, .last = 8}};
    struct codec_error error;
    struct batch b = valid();

    b.seq = 9;
    b.coverage.dropped = ranges, b.coverage.dropped_count = 2;
    assert_int_equal(ingest_validate(&b, &error), 0);
    b.seq = 8;
    expect_field(&b, "coverage.dropped[1].last_seq");
    ranges[0].last = INT64_MAX / 2;
    expect_field(&b, "coverage.dropped[0].last_seq");
}

static void what_no_node_can_have_done_is_refused(void **state)
{
    struct record record = {.bytes = UINT64_C(1) << 62};
    struct batch b = valid();

    b.records = &record;
    b.record_count = 1;
    expect_field(&b, "records[0].bytes");
}

/* --- tokens --- */

static void hex(const uint8_t hash[SHA256_SIZE], char text[2 * SHA256_SIZE + 1])
{
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        sprintf(text + 2 * i, "%02x", hash[i]);
}

static void sha256_of_the_standard(void **state)
{
    /* FIPS 180-4, NIST's examples: one block, two blocks, a million times 'a' */
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    uint8_t hash[SHA256_SIZE];
    char text[2 * SHA256_SIZE + 1];
    _cleanup_free_ char *a = malloc(1000000);

    sha256("", 0, hash);
    hex(hash, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256("abc", 3, hash);
    hex(hash, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(two, strlen(two), hash);
    hex(hash, text);
    assert_string_equal(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(a, 'a', 1000000);
    sha256(a, 1000000, hash);
    hex(hash, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void tokens_come_as_they_were_made(void **state)
{
    char token[TOKEN_DIGITS + 1], other[TOKEN_DIGITS + 1], header[128];
    uint8_t made[SHA256_SIZE], read[SHA256_SIZE];

    assert_int_equal(token_new(token, made), 0);
    assert_int_equal(token_new(other, read), 0);
    assert_string_not_equal(token, other);
    assert_false(hash_equal(made, read));
    snprintf(header, sizeof(header), "bearer  %s", token);
    assert_int_equal(token_hash(header, read), 0);
    assert_true(hash_equal(made, read));
    header[strlen(header) - 1] = '\0';
    assert_int_equal(token_hash(header, read), -EINVAL);
    assert_int_equal(token_hash(NULL, read), -EINVAL);
    assert_int_equal(token_hash("", read), -EINVAL);
    assert_int_equal(token_hash("Basic dXNlcg==", read), -EINVAL);
    snprintf(header, sizeof(header), "Bearer%s", token);
    assert_int_equal(token_hash(header, read), -EINVAL);
    snprintf(header, sizeof(header), "Bearer %s0", token);
    assert_int_equal(token_hash(header, read), -EINVAL);
}

static void every_bit_of_a_hash_counts(void **state)
{
    uint8_t a[SHA256_SIZE] = {0}, b[SHA256_SIZE] = {0};

    assert_true(hash_equal(a, b));
    for (unsigned bit = 0; bit < 8 * SHA256_SIZE; bit++) {
        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(hash_equal(a, b));
        b[bit / 8] = 0;
    }
}

static void a_node_writes_as_itself(void **state)
{
    const struct identity any = {.cluster = "", .node = "n1"}, one = {.cluster = "c", .node = "n1"};
    const char *why;

    assert_true(identity_may(&any, "c", "n1"));
    assert_true(identity_may(&any, "d", "n1"));
    assert_false(identity_may(&any, "c", "n11"));
    assert_false(identity_may(&any, "c", "N1"));
    assert_true(identity_may(&one, "c", "n1"));
    assert_false(identity_may(&one, "d", "n1"));
    assert_false(identity_may(&one, "", "n1"));
    assert_string_equal(identity_wrong(&one, "c", "n2", &why), "node");
    assert_string_equal(identity_wrong(&one, "d", "n2", &why), "node");
    assert_string_equal(identity_wrong(&one, "d", "n1", &why), "cluster");
    assert_string_equal(why, "the token belongs to another cluster");
    assert_string_equal(identity_wrong(&any, "d/e", "n1", &why), "cluster");
    assert_non_null(strstr(why, "must not hold a /"));
}

/* --- rows --- */

static void rows_have_postgresqls_form(void **state)
{
    static const unsigned char expected[] = {
        'P',  'G',  'C', 'O', 'P',  'Y',  '\n', 0xff, '\r', '\n', 0, 0,
        0,    0,    0,   0,   0,    0,    0,                            /* header */
        0,    3,                                                        /* columns */
        0,    0,    0,   4,   0xff, 0xff, 0xff, 0xfe,                   /* -2 */
        0,    0,    0,   8,   0,    0,    0,    0,    0,    0,    0, 1, /* 2000-01-01 and one us */
        0,    0,    0,   2,   'o',  'p',                                /* text */
        0xff, 0xff,
    };
    struct copy copy = {0};

    for (unsigned round = 0; round < 2; round++) {
        copy_row(&copy, 3);
        copy_int4(&copy, -2);
        copy_time(&copy, INT64_C(946684800000001999));
        copy_bytes(&copy, "op", 2);
        assert_int_equal(copy_end(&copy), 0);
        assert_int_equal(copy.size, sizeof(expected));
        assert_memory_equal(copy.data, expected, sizeof(expected));
        copy_reset(&copy);
    }
    copy_clear(&copy);
}

static void arrays_are_as_array_recv_takes_them(void **state)
{
    static const unsigned char expected[] = {
        0, 0, 0, 48, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 1, /* with a null, bigint, 3 from 1 */
        0, 0, 0, 8,  0, 0, 0, 0, 0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff,              /* 258, null */
        0, 0, 0, 8,  0, 0, 0, 0, 0, 0, 0, 0,                                      /* 0 */
        0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7,
        0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, /* none */
        0, 0, 0, 2,  'o', 'p',
    };
    static const int64_t numbers[] = {258, ARRAY_NULL, 0}, seven = 7;
    struct copy copy = {0};
    unsigned char *room;

    copy_int8s(&copy, numbers, 3);
    copy_int4s(&copy, &seven, 1);
    copy_int4s(&copy, NULL, 0);
    room = copy_reserve(&copy, 100);
    assert_non_null(room);
    memcpy(room, "op", 2);
    copy_reserved(&copy, 2);
    assert_int_equal(copy.size, sizeof(expected));
    assert_memory_equal(copy.data, expected, sizeof(expected));
    copy_clear(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_as_array_recv_takes_them),
        cmocka_unit_test(lines_are_cut),
        cmocka_unit_test(each_field_is_validated),
        cmocka_unit_test(names_are_no_longer_than_an_index_takes),
        cmocka_unit_test(jobs_are_of_kinds_that_there_are),
        cmocka_unit_test(what_was_dropped_was_made_before),
        cmocka_unit_test(what_no_node_can_have_done_is_refused),
        cmocka_unit_test(sha256_of_the_standard),
        cmocka_unit_test(tokens_come_as_they_were_made),
        cmocka_unit_test(every_bit_of_a_hash_counts),
        cmocka_unit_test(a_node_writes_as_itself),
        cmocka_unit_test(rows_have_postgresqls_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
