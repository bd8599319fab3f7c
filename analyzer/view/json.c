/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/view/compare.h"
#include "analyzer/view/view.h"
#include "lib/clock.h"
#include "lib/output.h"

/* Enough digits for any share or rate; 17 would only show how binary fractions work. */
#define DIGITS 12

static json_t *strings(const char *const *texts, uint32_t count)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < count; i++)
        json_add(&failed, list, json_string(texts[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *span(const struct report *report)
{
    const struct aggregate *totals = &report->totals;

    return totals->batches
               ? json_pack("{s:o,s:o,s:I}", "start", json_time(totals->start_ns), "end",
                           json_time(totals->end_ns), "interval_ms", (json_int_t)totals->interval_ms)
               : json_pack("{s:n,s:n,s:n}", "start", "end", "interval_ms");
}

static json_t *pressure(const struct node_total *node)
{
    return node->pressure_of_ns
               ? json_pack("{s:f,s:f,s:f}", "some", node_pressure(node, node->pressure.some_ns), "full",
                           node_pressure(node, node->pressure.full_ns), "seconds", (double)node->pressure_of_ns / 1e9)
               : json_null();
}

static json_t *nodes(const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < report->totals.node_count; i++) {
        const struct node_total *node = &report->totals.nodes[i];
        int64_t ahead = node_ahead_ns(node, wall_clock_ns());

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "cluster", node->cluster, "node", node->node,
                           "role", node->role ? node->role : "", "kernel",
                           node->kernel ? node->kernel : "", "io_pressure", pressure(node), "clock_ahead_s",
                           ahead ? json_real((double)ahead / 1e9) : json_null()));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *interval(const struct share_interval *interval)
{
    return isnan(interval->low) ? json_null() : json_pack("[f,f]", interval->low, interval->high);
}

static json_t *profiles(const struct profile_list *profiles)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < profiles->count; i++) {
        const struct profile_share *p = &profiles->shares[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:f,s:o,s:o,s:o,s:o,s:f,s:o}", "kind",
                           p->pipeline ? "pipeline" : "pattern", "profile", p->profile, "share_ops",
                           p->share_ops, "share_bytes", json_number(p->share_bytes), "share_ops_interval",
                           interval(&p->ops_interval), "share_bytes_interval", interval(&p->bytes_interval),
                           "residual_p", json_number(p->residual), "confidence",
                           p->confidence, "evidence",
                           strings((const char *const *)p->evidence, p->evidence_count)));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *volume_of(const struct volume_total *volume, const struct job_total *job,
                         const struct report *report)
{
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "volume", volume->name, "source",
        volume->source ? volume->source : "", "fstype", volume->fstype ? volume->fstype : "",
        "scope", volume->scope == SCOPE_SHARED ? "shared" : "local", "lower", json_text(volume->lower), "mounts",
        strings(volume->mounts, volume->mount_count), "ops", json_operations(&volume->tally, &report->totals, job),
        "faults", json_faults(&volume->tally, &report->totals, job), "ratios", json_ratios(&volume->tally), "burst",
        json_burst(&volume->series, &volume->windows, &job->series, &job->windows),
        "in_flight", json_in_flight(volume, report), "trees", json_trees(volume, &report->totals), "working_set",
        json_working_set(&volume->working));
}

static json_t *volumes(const struct job_total *job, const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < job->volume_count; i++)
        json_add(&failed, list, volume_of(&job->volumes[i], job, report));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *attempts(const struct job_total *job)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < job->attempt_count; i++) {
        const struct attempt *a = &job->attempts[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:o,s:o,s:o}", "node", a->node, "start",
                           a->start_ns ? json_time(a->start_ns) : json_null(), "end",
                           a->end_ns ? json_time(a->end_ns) : json_null(), "exit",
                           a->exit >= 0 ? json_integer(a->exit) : json_null()));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *labels(const struct job_total *job)
{
    json_t *object = json_object();
    bool failed = !object;

    for (uint32_t i = 0; i < job->label_count; i++)
        json_put(&failed, object, job->labels[i].name, json_string(job->labels[i].value));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *job_of(struct job_total *job, const struct profile_list *list,
                      const struct report *report)
{
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "job", job->name,
                     "kind", job->kind, "node", json_text(job->node), "nodes",
                     strings(job->nodes, job->node_count), "attempts", attempts(job), "user",
                     json_text(job->user), "labels", labels(job), "command", job->command, "ops",
                     json_operations(&job->tally, &report->totals, job), "faults",
                     json_faults(&job->tally, &report->totals, job), "ratios", json_ratios(&job->tally), "file_size",
                     json_file_size(&job->tally), "burst",
                     json_burst(&job->series, &job->windows, &job->series, &job->windows), "io_wait", json_wait(job),
                     "rhythm", json_rhythm(job, &report->totals), "volumes", volumes(job, report), "profiles", profiles(list));
}

static json_t *jobs(struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < report->totals.job_count; i++)
        json_add(&failed, list, job_of(&report->totals.jobs[i], &report->profiles[i], report));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

#define MEETINGS 100 /* pairs of jobs that are listed */

static json_t *cluster_burst(const struct aggregate *totals)
{
    json_t *burst = json_burst(&totals->series, &totals->windows, &totals->series, &totals->windows);
    bool failed = !burst;

    json_put(&failed, burst, "overlap", json_number(overlap_share(&totals->overlap)));
    if (!failed)
        return burst;
    json_decref(burst);
    return NULL;
}

/* Why it cannot be told what a meeting costs; NULL: it can. */
static const char *why_not(const struct meeting *meeting)
{
    if (meeting->compared_ops > 0)
        return NULL;
    return meeting->alone_slots ? "what it does then it does not do alone" : "it is never alone";
}

/* Who is in the way of whom, the dearest first. */
static json_t *meetings(const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < report->blend.meeting_count && i < MEETINGS; i++) {
        const struct meeting *m = &report->blend.meetings[i];
        const struct job_total *victim = &report->totals.jobs[m->victim], *other = &report->totals.jobs[m->other];

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:o,s:s,s:o,s:f,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o}", "volume", m->volume->name,
                           "job", victim->name, "node", json_text(victim->node), "with", other->name, "with_node",
                           json_text(other->node), "seconds", m->seconds, "latency_together_ns",
                           json_number(m->together_ns),
                           "latency_alone_ns", json_number(m->alone_ns), "latency_alone_low_ns",
                           json_number(m->alone_low_ns), "latency_alone_high_ns", json_number(m->alone_high_ns),
                           "ops_s_together", json_number(m->together_ops_s), "ops_s_alone", json_number(m->alone_ops_s),
                           "cost_op_seconds", json_number(m->cost_s), "compared_ops", m->compared_ops, "why",
                           json_text(why_not(m))));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *cluster(const struct report *report)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "profiles", profiles(&report->cluster),
                     "effective_profiles", json_number(report->blend.effective), "blend_index",
                     json_number(report->blend.blend), "overlaps", meetings(report), "ops",
                     json_operations(&report->totals.tally, &report->totals, NULL), "ratios",
                     json_ratios(&report->totals.tally), "burst",
                     cluster_burst(&report->totals),
                     "capacity", json_capacity(report));
}

static json_t *hook(const char *name, bool missing, const char *why)
{
    return json_pack("{s:s,s:s,s:o}", "hook", name, "state", missing ? "unavailable" : "attached",
                     "why", json_text(why));
}

static json_t *hooks(const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < report->totals.hook_count; i++) {
        const struct hook_total *h = &report->totals.hooks[i];

        json_add(&failed, list, hook(h->name, h->missing, h->told));
    }
    for (const struct gap **gap = report->gaps; *gap; gap++)
        json_add(&failed, list, hook((*gap)->hook, true, (*gap)->why));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *bypasses(const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < report->totals.bypass_count; i++) {
        const struct bypass_total *b = &report->totals.bypasses[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:n,s:s}", "what", b->what, "device", b->device, "bytes",
                           "why", b->why));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_shed(const uint64_t shed_ms[SHED_COUNT])
{
    json_t *object = json_object();
    bool failed = !object;

    for (unsigned i = 0; i < SHED_COUNT; i++)
        json_put(&failed, object, shed_names[i], json_integer((json_int_t)shed_ms[i]));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *coverage(const struct report *report)
{
    const struct aggregate *totals = &report->totals;

    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:b,s:I,s:I,s:o,s:o}", "lost_ops", (json_int_t)totals->lost,
                     "killed_ops", (json_int_t)totals->killed, "in_flight_ops",
                     (json_int_t)report->in_flight, "unattributed_ops",
                     (json_int_t)totals->unattributed, "overflow_ops", (json_int_t)totals->overflow,
                     "dropped_batches", (json_int_t)totals->dropped_batches, "dropped_ops",
                     totals->dropped_unknown ? json_null() : json_integer((json_int_t)totals->dropped_ops),
                     "shed_ms",
                     aggregate_shed_unknown(totals) ? json_null() : json_shed(totals->shed_ms), "damaged",
                     report->damaged, "unwatched_ms", (json_int_t)(totals->unwatched_ns / 1000000), "twice_ms",
                     (json_int_t)(totals->twice_ns / 1000000), "hooks", hooks(report), "bypass", bypasses(report));
}

json_t *json_report(struct report *report)
{
    bool failed = false;
    json_t *json = json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", REPORT_SCHEMA, "span",
                     span(report), "nodes", nodes(report), "jobs", jobs(report), "cluster",
                     cluster(report), "storage", json_storage(report), "findings", json_findings(&report->findings),
                     "suspects", report->look_for_suspects ? json_suspects(&report->suspects) : json_null(),
                     "suspects_unlike",
                     report->look_for_suspects ? json_suspects_unlike(&report->suspects) : json_null(),
                     "coverage", coverage(report));

    if (json && report->comparison)
        json_put(&failed, json, "comparison", compare_json(report->comparison));
    if (!failed)
        return json;
    json_decref(json);
    return NULL;
}

static int write_json(struct report *report, FILE *out)
{
    json_t *json = json_report(report);
    size_t flags = JSON_REAL_PRECISION(DIGITS) | (isatty(fileno(out)) ? JSON_INDENT(2) : 0);
    int err = json ? output_json(json, out, flags) : -ENOMEM;

    json_decref(json);
    return err;
}

const struct view view_json = {"json", write_json};
