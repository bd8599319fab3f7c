/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/classified.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

void classified(const struct catalogue *catalogue, struct batch *batch, bool draws, struct profile_list *list)
{
    struct aggregate totals = {0};

    history_into(&totals, batch);
    aggregate_sort(&totals);
    assert_int_equal(totals.job_count, 1);
    assert_int_equal(classify_job(catalogue, &totals.jobs[0], draws, list), 0);
    aggregate_clear(&totals);
}

const struct profile_share *classified_find(const struct profile_list *list, const char *pattern)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!list->shares[i].pipeline && strcmp(list->shares[i].profile, pattern) == 0)
            return &list->shares[i];
    return NULL;
}

bool classified_says(const struct profile_share *share, const char *words)
{
    for (uint32_t i = 0; i < share->evidence_count; i++)
        if (strstr(share->evidence[i], words))
            return true;
    return false;
}
