/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/learn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/mixture.h"
#include "analyzer/part.h"
#include "analyzer/ways.h"
#include "lib/cleanup.h"
#include "lib/vector.h"

#define TRACE      0.005 /* operations below this share are no part of a habit */
#define SLACK      1.5   /* how much farther than what was seen the bounds are */
#define SLACK_PART 0.1   /* the same for shares */
#define BESIDE     0.05  /* of what the largest process does, in operations and in bytes: less is beside it */
#define FEW        4     /* with fewer processes the bounds are guesses */

static const struct volume_total *largest(const struct aggregate *totals)
{
    const struct volume_total *best = NULL;

    for (uint32_t i = 0; i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];
        uint64_t bytes = tally_file_bytes(&volume->tally), most = best ? tally_file_bytes(&best->tally) : 0;

        if (tally_file_ops(&volume->tally) &&
            (!best || bytes > most ||
             (bytes == most && tally_file_ops(&volume->tally) > tally_file_ops(&best->tally))))
            best = volume;
    }
    return best;
}

/* The most that a process did on the volume. */
struct most {
    double ops, bytes;
};

static struct most most_of(const struct aggregate *totals, const char *volume)
{
    struct most most = {0};

    for (uint32_t j = 0; volume && j < totals->job_count; j++)
        for (uint32_t i = 0; i < totals->jobs[j].unit_count; i++) {
            const struct unit *unit = &totals->jobs[j].units[i];

            if (strcmp(unit->volume, volume) != 0)
                continue;
            most.ops = fmax(most.ops, (double)tally_file_ops(&unit->tally));
            most.bytes = fmax(most.bytes, (double)tally_file_bytes(&unit->tally));
        }
    return most;
}

/* A shell that starts what is to be learned is not what is. */
static bool says_little(const struct tally *tally, const struct most *most)
{
    double ops = (double)tally_file_ops(tally), bytes = (double)tally_file_bytes(tally);

    return (ops < MIXTURE_OPS_MIN && bytes < MIXTURE_BYTES_MIN) || (ops < BESIDE * most->ops && bytes < BESIDE * most->bytes);
}

static int take(struct lesson *lesson, const struct tally *tally, const struct most *most)
{
    if (says_little(tally, most))
        return 0;
    if (vector_reserve((void **)&lesson->behaviours, &lesson->capacity, lesson->count, sizeof(*lesson->behaviours)))
        return -ENOMEM;
    behaviour_of(tally, &(struct peers){0}, &lesson->behaviours[lesson->count++]);
    return tally_merge(&lesson->tally, tally);
}

int lesson_take(const struct aggregate *totals, const char *volume, struct lesson *out)
{
    const struct volume_total *chosen = volume ? NULL : largest(totals);
    struct lesson lesson = {.volume = chosen ? chosen->name : volume};
    const struct most most = most_of(totals, lesson.volume);
    int err = 0;

    for (uint32_t j = 0; !err && lesson.volume && j < totals->job_count; j++) {
        const struct job_total *job = &totals->jobs[j];

        for (uint32_t i = 0; !err && i < job->unit_count; i++)
            if (strcmp(job->units[i].volume, lesson.volume) == 0)
                err = take(&lesson, &job->units[i].tally, &most);
        for (uint32_t v = 0; !err && v < job->volume_count; v++)
            if (strcmp(job->volumes[v].name, lesson.volume) == 0)
                err = take(&lesson, &job->volumes[v].rest, &most);
    }
    if (!err && !lesson.count)
        err = -ENODATA;
    if (err) {
        lesson_clear(&lesson);
        return err;
    }
    *out = lesson;
    return 0;
}

void lesson_clear(struct lesson *lesson)
{
    free(lesson->behaviours);
    tally_clear(&lesson->tally);
    *lesson = (struct lesson){0};
}

/* Coarse ranges of sizes, so that another size of the same kind is the same habit. */
static const int64_t edges[] = {0, 1, 4096, 65536, 1048576, 16777216, -1};

static int range_of(const struct bin *bin)
{
    int at = 0;

    while (edges[at + 1] >= 0 && bucket_lower(bin->bucket) >= (uint64_t)edges[at + 1])
        at++;
    return at;
}

#define RANGES ((int)(sizeof(edges) / sizeof(*edges)) - 1)

static json_t *ingredient(enum operation op, bool failed, int range, double weight)
{
    json_t *json = json_pack("{s:s,s:f}", "op", operation_info(op)->name, "weight", weight);

    if (json && failed && json_object_set_new(json, "failed", json_true()))
        json_decref(json), json = NULL;
    if (json && range >= 0 &&
        json_object_set_new(json, "size",
                            edges[range + 1] < 0
                                ? json_pack("[I,n]", (json_int_t)edges[range])
                                : json_pack("[I,I]", (json_int_t)edges[range], (json_int_t)edges[range + 1])))
        json_decref(json), json = NULL;
    return json;
}

static json_t *mix_of(const struct tally *tally)
{
    _cleanup_free_ struct bin *bins = NULL;
    double sums[OP_COUNT][2][sizeof(edges) / sizeof(*edges)] = {0}, all = 0;
    json_t *mix = json_array();
    size_t count;
    bool failed = !mix || bins_of(tally, &bins, &count);

    for (size_t i = 0; !failed && i < count; i++) {
        bool bad = bins[i].outcome != OUTCOME_OK, sized = !bad && (bins[i].op == OP_READ || bins[i].op == OP_WRITE);

        sums[bins[i].op][bad][sized ? range_of(&bins[i]) : RANGES] += bins[i].ops;
        all += bins[i].ops;
    }
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        for (int bad = 0; bad < 2; bad++)
            for (int range = 0; range <= RANGES; range++) {
                double share = all > 0 ? sums[op][bad][range] / all : 0;

                if (!failed && share >= TRACE)
                    failed = json_array_append_new(mix, ingredient(op, bad, range < RANGES ? range : -1,
                                                                   round(share * 1e4) / 1e4));
            }
    if (failed) {
        json_decref(mix);
        return NULL;
    }
    return mix;
}

/* Figures that a longer or shorter recording would not change, and amounts, of which less than seen may be enough. */
static const struct {
    const char *name;
    enum { RATE, SHARE, AMOUNT } kind;
} learned_features[] = {
    {"process.ops", AMOUNT},          {"process.bytes_per_open", RATE},   {"process.median_file", RATE},
    {"process.coverage", RATE},       {"process.jumps", SHARE},           {"process.read_mean", RATE},
    {"process.write_mean", RATE},     {"process.write_share", SHARE},     {"process.large_writes", SHARE},
    {"process.lookups", SHARE},       {"process.missing", SHARE},         {"process.open_errors", SHARE},
    {"process.stats_per_open", RATE}, {"process.seeks_per_open", RATE},   {"process.creates_per_open", RATE},
    {"process.fault_share", SHARE},   {"process.bytes_per_fsync", RATE},
};

static json_t *bound(const struct lesson *lesson, size_t feature)
{
    double low = INFINITY, high = -INFINITY;
    json_t *json;

    for (uint32_t i = 0; i < lesson->count; i++) {
        double value = behaviour_value(&lesson->behaviours[i], learned_features[feature].name);

        if (!isfinite(value))
            return NULL;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    json = json_pack("{s:s}", "feature", learned_features[feature].name);
    switch (learned_features[feature].kind) {
    case AMOUNT:
        json_object_set_new(json, "min", json_real(floor(low / 4)));
        break;
    case RATE:
        json_object_set_new(json, "min", json_real(low / SLACK));
        json_object_set_new(json, "max", json_real(high * SLACK));
        break;
    case SHARE:
        json_object_set_new(json, "min", json_real(fmax(0, low - SLACK_PART)));
        json_object_set_new(json, "max", json_real(high + SLACK_PART));
        break;
    }
    return json;
}

json_t *learn_profile(const struct lesson *lesson, const char *name)
{
    json_t *bounds = json_array(), *mix = mix_of(&lesson->tally), *profile;

    for (size_t i = 0; bounds && i < sizeof(learned_features) / sizeof(*learned_features); i++) {
        json_t *one = bound(lesson, i);

        if (one)
            json_array_append_new(bounds, one);
    }
    profile = json_pack("{s:s,s:s,s:s,s:[s],s:f,s:[{s:s,s:o}],s:[{s:s,s:o}]}", "name", name, "kind", "pattern",
                        "summary", "learned from recordings", "sources", "unblend learn", "confidence",
                        lesson->count >= FEW ? 0.8 : 0.6, "signatures", "name", "as recorded", "mix", mix, "process",
                        "side", "both", "requires", bounds);
    if (profile && lesson->count < FEW)
        json_object_set_new(profile, "limit", json_string("learned from fewer than four processes"));
    return profile;
}

/* The first bound of a way that what was learned from breaks, as words; false when it breaks none. */
static bool tells_apart(const struct behaviour *behaviour, const struct way *way, FILE *out)
{
    for (uint32_t i = 0; i < way->requirement_count; i++) {
        const struct requirement *r = &way->requirements[i];
        double value = behaviour_value(behaviour, r->feature);

        if (isnan(value) && isinf(r->min))
            continue;
        if (value >= r->min && value <= r->max)
            continue;
        if (isnan(value))
            fprintf(out, "%s is not known here", r->feature + strlen("process."));
        else
            fprintf(out, "%s is %.4g here and %s %.4g there", r->feature + strlen("process."), value,
                    value < r->min ? "at least" : "at most", value < r->min ? r->min : r->max);
        return true;
    }
    return false;
}

void learn_compare(const struct lesson *lesson, const struct catalogue *catalogue, const struct profile *learned,
                   FILE *out)
{
    for (uint32_t p = 0; p < catalogue->count; p++) {
        const struct profile *other = &catalogue->profiles[p];
        uint32_t both = 0;

        if (other == learned || !other->way_count)
            continue;
        for (uint32_t i = 0; i < lesson->count; i++)
            for (uint32_t w = 0; w < other->way_count; w++)
                if (other->ways[w].side != SIDE_JOB &&
                    ways_match(&lesson->behaviours[i], other, other->ways[w].side) > 0) {
                    both++;
                    break;
                }
        fprintf(out, "  %-16s ", other->name);
        if (both)
            fprintf(out, "not told apart: its bounds hold, too, for %u of %u\n", both, lesson->count);
        else if (tells_apart(&lesson->behaviours[0], &other->ways[0], out))
            fputc('\n', out);
    }
}
