/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/evidence.h"
#include "lib/bucket.h"

static void add(struct part *part, enum operation op, uint64_t size, double count)
{
    double *sizes = op == OP_READ ? part->read : part->write;

    part->ok[op] += count;
    part->bytes[op] += count * (double)size;
    sizes[bucket_of(size)] += count;
    if (part->filled < BUCKET_COUNT)
        part->filled = BUCKET_COUNT;
}

/* Whether one of the sentences is that. */
static bool says(const struct part *part, const char *words)
{
    struct profile_share share = {0};
    bool found = false;

    assert_int_equal(evidence_of_part(part, NULL, &share), 0);
    for (uint32_t i = 0; i < share.evidence_count; i++) {
        found = found || strcmp(share.evidence[i], words) == 0;
        free(share.evidence[i]);
    }
    free(share.evidence);
    return found;
}

static void pieces_fit_the_bytes(void **state)
{
    struct part hundred = {0}, three = {0}, blocks = {0}, mixed = {0}, uneven = {0};

    add(&hundred, OP_WRITE, 100, 1000);
    assert_true(says(&hundred, "1,000 writes move 97.7 KiB in pieces of 100 B"));
    add(&three, OP_READ, 3000, 50);
    assert_true(says(&three, "50 reads move 146 KiB in pieces of 2.93 KiB"));
    add(&blocks, OP_READ, 65536, 16);
    assert_true(says(&blocks, "16 reads move 1 MiB in pieces of 64 KiB"));
    add(&mixed, OP_READ, 65536, 1000);
    add(&mixed, OP_READ, 4096, 1000);
    add(&mixed, OP_READ, 3000, 3);
    assert_true(says(&mixed, "2,003 reads move 66.4 MiB in pieces of 4 KiB to 64 KiB, 4 KiB in the middle"));
    add(&uneven, OP_READ, 97, 2);
    add(&uneven, OP_READ, 102, 1);
    assert_true(says(&uneven, "3 reads move 296 B in pieces of about 99 B"));
}

static void no_piece_is_larger_than_the_largest(void **state)
{
    struct part fuse = {0}, spread = {0};

    add(&fuse, OP_READ, 131072, 4000);
    add(&fuse, OP_READ, 102400, 2400); /* what is left of records, in the middle of its bucket */
    assert_true(says(&fuse, "6,400 reads move 734 MiB in pieces of about 100 KiB to 128 KiB, 128 KiB in the middle"));
    add(&spread, OP_WRITE, 3000, 10);
    add(&spread, OP_WRITE, 3100, 10); /* the next bucket, at its begin */
    assert_true(says(&spread, "20 writes move 59.6 KiB in pieces of about 2.85 KiB to 3 KiB, 2.85 KiB in the middle"));
}

/* By their number, small ones hide what nearly all bytes come in. */
static void the_largest_pieces_are_told_where_they_move_most(void **state)
{
    struct part few = {0}, alike = {0}, some = {0};

    add(&few, OP_READ, 512, 300);
    add(&few, OP_READ, 8 << 20, 10);
    assert_true(says(&few, "310 reads move 80.1 MiB in pieces of 512 B, 99 % of the bytes in larger ones of about 8 MiB"));
    add(&alike, OP_READ, 4096, 100);
    add(&alike, OP_READ, 8192, 3);
    assert_true(says(&alike, "103 reads move 424 KiB in pieces of 4 KiB"));
    add(&some, OP_READ, 512, 100);
    add(&some, OP_READ, 4096, 100);
    add(&some, OP_READ, 65536, 10);
    assert_true(says(&some, "210 reads move 1.06 MiB in pieces of 512 B to 4 KiB, 4 KiB in the middle, 58 % of the bytes "
                            "in larger ones of about 64 KiB"));
}

static void one_is_one(void **state)
{
    struct part part = {0};

    add(&part, OP_WRITE, 88, 1);
    assert_true(says(&part, "1 write moves 88 B"));
}

/* A search path: of ten opens, nine find nothing. */
static void opens_are_one_figure(void **state)
{
    struct part part = {0};

    add(&part, OP_READ, 1 << 20, 10);
    part.ok[OP_OPEN] = 10;
    part.failed[OP_OPEN] = 90;
    assert_true(says(&part, "91 % of operations are opens (100)"));
    assert_true(says(&part, "10 opens per MiB"));
}

static void what_is_resembled_is_named(void **state)
{
    const struct requirement few = {.feature = "opens", .min = 500, .max = INFINITY};
    const struct requirement many = {.feature = "jumps", .min = -INFINITY, .max = 0.25};
    const struct profile profile = {.name = "p"};
    struct part part = {.rejected = {.ops = 84, .profile = &profile}};

    add(&part, OP_READ, 4096, 100);
    assert_true(says(&part, "84 % of it resembles p, but not closely enough"));
    part.rejected.broken = &few;
    part.rejected.value = 162;
    assert_true(says(&part, "84 % of it resembles p, but with opens of 162; p has at least 500"));
    part.rejected.value = NAN;
    assert_true(says(&part, "84 % of it resembles p, but its opens is not known"));
    part.rejected = (struct rejected){.ops = 50, .profile = &profile, .broken = &many, .value = 0.5};
    assert_true(says(&part, "50 % of it resembles p, but with jumps of 0.5; p has at most 0.25"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_fit_the_bytes),
        cmocka_unit_test(what_is_resembled_is_named),
        cmocka_unit_test(no_piece_is_larger_than_the_largest),
        cmocka_unit_test(the_largest_pieces_are_told_where_they_move_most),
        cmocka_unit_test(one_is_one),
        cmocka_unit_test(opens_are_one_figure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
