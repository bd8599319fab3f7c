/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/classify_jobs.h"
#include "analyzer/gaps.h"
#include "analyzer/gather.h"
#include "lib/log.h"

uint32_t report_unended(const struct report *report, const struct job_total **first)
{
    return report->cut ? 0 : aggregate_unended(&report->totals, first);
}

bool report_mingles(const struct report *report)
{
    return report->blend.mingled > 0.5;
}

static int classify(const struct catalogue *catalogue, struct report *report)
{
    struct aggregate *totals = &report->totals;
    int err;

    report->profiles = calloc(totals->job_count + 1u, sizeof(*report->profiles));
    if (!report->profiles)
        return -ENOMEM;
    err = classify_jobs(catalogue, totals, report->profiles);
    if (err)
        return err;
    err = profile_list_sum(report->profiles, totals->job_count, &report->cluster);
    if (!err)
        err = blend_of(totals, report->profiles, catalogue->count + 1, &report->blend);
    return err;
}

int report_build(struct source *source, const struct catalogue *catalogue, struct report *report)
{
    int err = gather(source, &report->totals, report->look_for_suspects ? &report->suspects : NULL);

    if (err)
        return err;
    report->in_flight = report->totals.killed;
    for (uint32_t i = 0; i < report->totals.node_count; i++)
        report->in_flight += report->totals.nodes[i].in_flight;
    err = classify(catalogue, report);
    if (!err)
        err = capacity_build(&report->totals, report->profiles, report->offer, &report->capacity);
    if (!err)
        err = gaps_find(report);
    if (!err)
        err = finding_list_make(&(struct finding_matter){&report->totals, report->profiles, catalogue, &report->blend},
                                &report->findings);
    if (err)
        log_error("cannot make the report: %s", log_why(err));
    return err;
}

void report_clear(struct report *report)
{
    for (uint32_t i = 0; report->profiles && i < report->totals.job_count; i++)
        profile_list_clear(&report->profiles[i]);
    profile_list_clear(&report->cluster);
    blend_clear(&report->blend);
    finding_list_clear(&report->findings);
    suspects_clear(&report->suspects);
    capacity_clear(&report->capacity);
    free(report->profiles);
    free(report->gaps);
    free(report->clocks);
    free(report->ahead);
    aggregate_clear(&report->totals);
    *report = (struct report){0};
}
