/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/classified.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

struct catalogue classified_by;

int classified_load(void **state)
{
    return catalogue_load(NULL, &classified_by);
}

int classified_unload(void **state)
{
    catalogue_clear(&classified_by);
    return 0;
}

void classified_each(struct batch *const *batches, unsigned count, bool draws, struct profile_list *list)
{
    struct aggregate totals = {0};

    for (unsigned i = 0; i < count; i++)
        history_into(&totals, batches[i]);
    aggregate_sort(&totals);
    assert_int_equal(totals.job_count, 1);
    assert_int_equal(classify_job(&classified_by, &totals.jobs[0], draws, list), 0);
    aggregate_clear(&totals);
}

void classified(struct batch *batch, bool draws, struct profile_list *list)
{
    classified_each(&batch, 1, draws, list);
}

void classified_as(struct batch *batch, const char *pattern)
{
    struct profile_list list;

    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, pattern);
    assert_true(list.shares[0].share_ops > 0.9);
    profile_list_clear(&list);
}

struct batch *classified_sum(const struct counted *counted, double jumps, uint64_t of_open, uint64_t by_name)
{
    struct batch *batch = history_batch(0);
    double reads = 0;

    for (; counted->count; counted++) {
        history_ops(batch, "j", 0, counted->op, counted->size, counted->count);
        reads += counted->op == OP_READ && counted->size ? (double)counted->count : 0;
    }
    history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, (uint64_t)(reads * (1 - jumps)));
    history_order(batch, "j", 0, OP_READ, ORDER_SEQUENTIAL, (uint64_t)(reads * jumps / 3));
    history_order(batch, "j", 0, OP_READ, ORDER_RANDOM, (uint64_t)(reads * jumps * 2 / 3));
    history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, of_open);
    history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, by_name);
    return batch;
}

const struct profile_share *classified_find(const struct profile_list *list, const char *pattern)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!list->shares[i].pipeline && strcmp(list->shares[i].profile, pattern) == 0)
            return &list->shares[i];
    return NULL;
}

double classified_ops(const struct profile_list *list, const char *pattern)
{
    const struct profile_share *share = classified_find(list, pattern);

    return share ? share->share_ops : 0;
}

double classified_bytes(const struct profile_list *list, const char *pattern)
{
    const struct profile_share *share = classified_find(list, pattern);

    return share ? share->share_bytes : 0;
}

bool classified_says(const struct profile_share *share, const char *words)
{
    for (uint32_t i = 0; i < share->evidence_count; i++)
        if (strstr(share->evidence[i], words))
            return true;
    return false;
}

void classified_adds_up(const struct profile_list *list)
{
    double ops[2] = {0}, bytes[2] = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        const struct profile_share *share = &list->shares[i];

        ops[share->pipeline] += share->share_ops;
        bytes[share->pipeline] += share->share_bytes;
        assert_true(share->confidence >= 0 && share->confidence <= 1);
        assert_true(share->evidence_count > 0);
    }
    for (unsigned kind = 0; kind < 2; kind++) {
        assert_true(fabs(ops[kind] - 1) < 1e-9);
        assert_true(isnan(bytes[kind]) || fabs(bytes[kind] - 1) < 1e-9);
    }
}
