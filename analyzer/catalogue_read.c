/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles out of JSON, as unblend-profile(5) describes it. */
#include <math.h>
#include <string.h>

#include "analyzer/behaviour.h"
#include "analyzer/catalogue_private.h"
#include "analyzer/part_feature.h"

#define WORTH 0.12 /* nats an operation; one that becomes unknown costs about 0.7 */

static const char *keep(struct catalogue *catalogue, const char *s)
{
    return s ? arena_strdup(&catalogue->arena, s) : NULL;
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The functions below return NULL, or what is wrong; running out of memory is wrong, too. */
const char catalogue_no_memory[] = "out of memory";

static const char *read_range(const json_t *range, uint64_t *from, uint64_t *to)
{
    const json_t *lower = json_array_get(range, 0), *upper = json_array_get(range, 1);

    if (!json_is_integer(lower) || (!json_is_integer(upper) && !json_is_null(upper)) ||
        json_array_size(range) != 2)
        return "a size is no pair of bytes [from, to), with null for no end";
    *from = (uint64_t)json_integer_value(lower);
    *to = json_is_null(upper) ? UINT64_MAX : (uint64_t)json_integer_value(upper);
    return *from < *to ? NULL : "a size is an empty range";
}

/* Whatever the error, if it is not said whether it is that there is no such name. */
static void read_outcomes(const json_t *item, struct ingredient *to)
{
    const json_t *missing = json_object_get(item, "missing");
    bool failed = json_is_true(json_object_get(item, "failed")) || json_is_true(missing);

    to->ends[OUTCOME_OK] = !failed;
    to->ends[OUTCOME_MISSING] = failed && !json_is_false(missing);
    to->ends[OUTCOME_FAILED] = failed && !json_is_true(missing);
    to->ends[OUTCOME_UNKNOWN] = failed;
}

static const char *read_stat_of(const char *of, struct ingredient *to)
{
    if (!of)
        return NULL;
    to->of = strcmp(of, "open") == 0     ? STAT_OF_OPEN
             : strcmp(of, "name") == 0   ? STAT_BY_NAME
             : strcmp(of, "folder") == 0 ? STAT_OF_FOLDER
                                         : STAT_OF_ANY;
    return to->op == OP_STAT && to->of ? NULL : "what is counted is of no open, name or folder, or is no stat";
}

/* Which operations are meant. */
static const char *read_ingredient(const json_t *item, struct ingredient *to)
{
    const json_t *size = json_object_get(item, "size");
    const char *op = text(item, "op"), *wrong;

    to->op = op ? operation_by_name(op) : OP_NONE;
    read_outcomes(item, to);
    to->whole = json_is_true(json_object_get(item, "whole"));
    to->blocks = json_is_true(json_object_get(item, "blocks"));
    if (to->op == OP_NONE)
        return "what is counted needs the name of an operation";
    wrong = read_stat_of(text(item, "of"), to);
    to->sized = size;
    return wrong || !size ? wrong : read_range(size, &to->lower, &to->upper);
}

static const char *read_requirements(struct catalogue *catalogue, const json_t *json,
                                     bool (*is_known)(const char *), struct requirement **out, uint32_t *count)
{
    const json_t *item, *bound;
    size_t i;

    *count = 0;
    *out = arena_alloc(&catalogue->arena, (json_array_size(json) + 1) * sizeof(**out));
    if (!*out)
        return catalogue_no_memory;
    json_array_foreach(json, i, item)
    {
        struct requirement *to = &(*out)[(*count)++];

        *to = (struct requirement){.feature = text(item, "feature"), .min = -INFINITY, .max = INFINITY};
        if (!to->feature || !is_known(to->feature))
            return "a requirement names no feature that is known (see unblend-profile(5))";
        to->feature = keep(catalogue, to->feature);
        if (!to->feature)
            return catalogue_no_memory;
        if ((bound = json_object_get(item, "min")))
            to->min = json_number_value(bound);
        if ((bound = json_object_get(item, "max")))
            to->max = json_number_value(bound);
        to->each = json_is_true(json_object_get(item, "each"));
        to->unordered = json_is_true(json_object_get(item, "unordered"));
        to->otherwise = json_number_value(json_object_get(item, "otherwise"));
    }
    return NULL;
}

/* The files that a signature reads: as it says, or else those that it opens, whose sizes do. */
static const char *read_files(const json_t *range, struct signature *out)
{
    uint64_t lower = UINT64_MAX, upper = 0;

    if (range)
        return read_range(range, &out->files_lower, &out->files_upper);
    for (uint32_t n = 0; n < out->ingredient_count; n++) {
        const struct ingredient *of = &out->ingredients[n];
        uint64_t from = of->sized ? of->lower : 0, to = of->sized ? of->upper : UINT64_MAX;

        if (of->op != OP_OPEN || to <= 1) /* it opens no file, but a folder maybe */
            continue;
        lower = from < lower ? from : lower;
        upper = to > upper ? to : upper;
    }
    out->files_lower = upper ? lower : 0;
    out->files_upper = upper ? upper : UINT64_MAX;
    return NULL;
}

static const char *read_signature(struct catalogue *catalogue, const json_t *json,
                                  struct signature *out)
{
    const json_t *mix = json_object_get(json, "mix"), *item;
    const char *wrong;
    double total = 0;
    size_t i;

    out->name = keep(catalogue, text(json, "name"));
    out->jumps = json_object_get(json, "jumps") ? json_number_value(json_object_get(json, "jumps")) : NAN;
    out->paired = json_is_true(json_object_get(json, "paired"));
    out->runs = json_is_true(json_object_get(json, "runs"));
    if (out->jumps < 0 || out->jumps > 1)
        return "jumps is no share from 0 to 1";
    if (!out->name || !json_array_size(mix))
        return "a signature needs a name and a mix of operations";
    out->ingredients =
        arena_alloc(&catalogue->arena, json_array_size(mix) * sizeof(*out->ingredients));
    if (!out->ingredients)
        return catalogue_no_memory;
    json_array_foreach(mix, i, item)
    {
        struct ingredient *to = &out->ingredients[out->ingredient_count++];

        wrong = read_ingredient(item, to);
        if (wrong)
            return wrong;
        to->weight = json_number_value(json_object_get(item, "weight"));
        if (!(to->weight > 0))
            return "an entry of a mix needs a weight above 0";
        total += to->weight;
    }
    for (i = 0; i < out->ingredient_count; i++)
        out->ingredients[i].weight /= total;
    wrong = read_files(json_object_get(json, "files"), out);
    if (wrong)
        return wrong;
    wrong = read_requirements(catalogue, json_object_get(json, "requires"), feature_is_known, &out->requirements,
                              &out->requirement_count);
    for (i = 0; i < out->requirement_count; i++)
        out->requirements[i].each = true;
    return wrong;
}

static const char *read_companion(const json_t *json, struct companion *out)
{
    const char *op = text(json, "op"), *per = text(json, "per");
    bool empty = json_is_true(json_object_get(json, "empty"));

    out->op = op ? operation_by_name(op) : OP_NONE;
    out->per = per ? operation_by_name(per) : OP_NONE;
    out->most = json_number_value(json_object_get(json, "most"));
    out->kind = json_is_true(json_object_get(json, "failed")) ? COMPANION_FAILED : empty ? COMPANION_EMPTY : COMPANION_OK;
    if (!operation_is_file(out->op) || !operation_is_file(out->per) || !(out->most > 0))
        return "a companion needs an operation, the one that it goes with (per), and how often at most";
    if (out->kind == COMPANION_OK && out->op == OP_WRITE)
        return "a companion writes nothing: of writes, only those that fail can be one";
    return out->kind == COMPANION_EMPTY && out->op != OP_READ ? "of a companion only reads can be empty" : NULL;
}

static const char *read_companions(struct catalogue *catalogue, const json_t *json, struct profile *profile)
{
    const json_t *item;
    size_t i;

    profile->companions = arena_alloc(&catalogue->arena, (json_array_size(json) + 1) * sizeof(*profile->companions));
    if (!profile->companions)
        return catalogue_no_memory;
    json_array_foreach(json, i, item)
    {
        const char *wrong = read_companion(item, &profile->companions[profile->companion_count++]);

        if (wrong)
            return wrong;
    }
    return NULL;
}

static const char *read_ways(struct catalogue *catalogue, const json_t *json, struct profile *profile)
{
    static const char *const sides[] = {
        [SIDE_BOTH] = "both", [SIDE_READ] = "read", [SIDE_WRITE] = "write", [SIDE_JOB] = "job"};
    const json_t *item;
    size_t i;

    profile->ways = arena_alloc(&catalogue->arena, (json_array_size(json) + 1) * sizeof(*profile->ways));
    if (!profile->ways)
        return catalogue_no_memory;
    json_array_foreach(json, i, item)
    {
        struct way *to = &profile->ways[profile->way_count++];
        const char *name = text(item, "side"), *wrong;
        size_t side = 0;

        while (name && side < sizeof(sides) / sizeof(*sides) && strcmp(sides[side], name) != 0)
            side++;
        if (!name || side == sizeof(sides) / sizeof(*sides))
            return "a process's side is none of both, read, write and job";
        to->side = (enum side)side;
        to->first = json_is_true(json_object_get(item, "first"));
        wrong = read_requirements(catalogue, json_object_get(item, "requires"), behaviour_is_known, &to->requirements,
                                  &to->requirement_count);
        if (wrong || !to->requirement_count)
            return wrong ? wrong : "a process has no requirements";
    }
    return NULL;
}

/* The name of a kind of work; NULL for none. */
static const char *read_work(const char *name, struct profile *profile)
{
    static const char *const works[] = {"files", "records", "streams", "names", "saves", "copies"};
    unsigned i = 0;

    while (name && i < sizeof(works) / sizeof(*works) && strcmp(works[i], name) != 0)
        i++;
    if (name && i == sizeof(works) / sizeof(*works))
        return "work is none of files, records, streams, names, saves and copies";
    profile->work = name ? 1u << i : 0;
    return NULL;
}

const char *catalogue_read(struct catalogue *catalogue, const json_t *json, struct profile *out)
{
    const json_t *signatures = json_object_get(json, "signatures"), *worth = json_object_get(json, "worth");
    const json_t *once = json_object_get(json, "once"), *made_of = json_object_get(json, "made_of"), *item;
    const char *kind = text(json, "kind"), *wrong = NULL;
    size_t i;

    out->name = keep(catalogue, text(json, "name"));
    out->summary = keep(catalogue, text(json, "summary"));
    if (!out->name || !kind || (strcmp(kind, "pattern") != 0 && strcmp(kind, "pipeline") != 0))
        return "a profile needs a name and a kind, pattern or pipeline";
    out->pipeline = strcmp(kind, "pipeline") == 0;
    out->alone = json_is_true(json_object_get(json, "alone"));
    out->prelude = json_is_true(json_object_get(json, "prelude"));
    out->confidence = json_number_value(json_object_get(json, "confidence"));
    out->limit = keep(catalogue, text(json, "limit"));
    out->reads = keep(catalogue, text(made_of, "reads"));
    out->writes = keep(catalogue, text(made_of, "writes"));
    out->worth = worth ? json_number_value(worth) : WORTH;
    out->once = once ? json_number_value(once) : 1;
    if (!(out->confidence > 0 && out->confidence <= 1))
        return "confidence is no number above 0 and up to 1";
    if (worth && !(json_is_number(worth) && out->worth >= 0))
        return "worth is no number of nats";
    if (!(out->once > 0 && out->once <= 1))
        return "once is no number above 0 and up to 1";
    if (made_of && !(out->reads && out->writes))
        return "made_of names no profile that reads and one that writes";
    wrong = read_work(text(json, "work"), out);
    if (wrong)
        return wrong;
    if (out->pipeline != !json_array_size(signatures))
        return "a pattern needs signatures, a pipeline has none";
    out->signatures = arena_alloc(&catalogue->arena,
                                  (json_array_size(signatures) + 1) * sizeof(*out->signatures));
    if (!out->signatures)
        return catalogue_no_memory;
    json_array_foreach(signatures, i, item)
    {
        wrong = read_signature(catalogue, item, &out->signatures[out->signature_count++]);
        if (wrong)
            return wrong;
    }
    wrong = read_companions(catalogue, json_object_get(json, "companions"), out);
    if (wrong)
        return wrong;
    wrong = read_requirements(catalogue, json_object_get(json, "requires"), feature_is_known, &out->requirements,
                              &out->requirement_count);
    return wrong ? wrong : read_ways(catalogue, json_object_get(json, "process"), out);
}
