/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/field.h"

static int decode_hooks(struct batch *batch, const struct field_place *coverage, json_t *o)
{
    struct field_place p = {.error = coverage->error, .table = "coverage.hooks", .indexed = true};
    _cleanup_free_ struct hook *hooks = NULL;
    json_t *array, *element;
    int err = field_array(coverage, o, "hooks", UINT32_MAX, &array);

    if (err)
        return err;
    hooks = calloc(json_array_size(array) + 1, sizeof(*hooks));
    if (!hooks)
        return -ENOMEM;
    json_array_foreach(array, p.at, element)
    {
        struct hook *hook = &hooks[p.at];

        if ((err = field_text(&p, element, "hook", &hook->name)) ||
            (err =
                 field_choice(&p, element, "state", "attached", "unavailable", &hook->attached)) ||
            (err = field_text_or_null(&p, element, "why", &hook->why)))
            return err;
    }
    return batch_hooks(batch, hooks, (uint32_t)json_array_size(array));
}

static int decode_bypasses(struct batch *batch, const struct field_place *coverage, json_t *o)
{
    struct field_place p = {.error = coverage->error, .table = "coverage.bypass", .indexed = true};
    _cleanup_free_ struct bypass *bypasses = NULL;
    json_t *array, *element;
    int err = field_array(coverage, o, "bypass", UINT32_MAX, &array);

    if (err)
        return err;
    bypasses = calloc(json_array_size(array) + 1, sizeof(*bypasses));
    if (!bypasses)
        return -ENOMEM;
    json_array_foreach(array, p.at, element)
    {
        struct bypass *bypass = &bypasses[p.at];

        if ((err = field_text(&p, element, "what", &bypass->what)) ||
            (err = field_text(&p, element, "device", &bypass->device)) ||
            (err = field_text(&p, element, "why", &bypass->why)))
            return err;
    }
    return batch_bypasses(batch, bypasses, (uint32_t)json_array_size(array));
}

static int decode_range(const struct field_place *p, const json_t *o, struct dropped *range)
{
    const json_t *ops = json_object_get(o, "ops");
    int err;

    if ((err = field_text(p, o, "stream", &range->stream)) || (err = field_count(p, o, "first_seq", &range->first)) ||
        (err = field_count(p, o, "last_seq", &range->last)) ||
        (err = field_time_or_null(p, o, "start_ns", &range->start_ns)) ||
        (err = field_time_or_null(p, o, "end_ns", &range->end_ns)) || (err = field_text(p, o, "why", &range->why)))
        return err;
    if (strlen(range->stream) != 32 || strspn(range->stream, "0123456789abcdef") != 32)
        return field_refuse(p, "stream", "must be 32 lower-case hex digits");
    if (range->last < range->first || range->last >= INT64_MAX)
        return field_refuse(p, "last_seq", "must not be below first_seq, nor 2^63 - 1");
    range->ops = DROPPED_UNKNOWN;
    return json_is_null(ops) ? 0 : field_count(p, o, "ops", &range->ops);
}

/* Not there when nothing was dropped. */
static int decode_dropped(struct batch *batch, const struct field_place *coverage, json_t *o)
{
    struct field_place p = {.error = coverage->error, .table = "coverage.dropped", .indexed = true};
    _cleanup_free_ struct dropped *ranges = NULL;
    json_t *array, *element;
    int err;

    if (!json_object_get(o, "dropped"))
        return 0;
    err = field_array(coverage, o, "dropped", CODEC_DROPPED_MAX, &array);
    if (err)
        return err;
    ranges = calloc(json_array_size(array) + 1, sizeof(*ranges));
    if (!ranges)
        return -ENOMEM;
    json_array_foreach(array, p.at, element)
    {
        err = decode_range(&p, element, &ranges[p.at]);
        if (err)
            return err;
    }
    return batch_dropped(batch, ranges, (uint32_t)json_array_size(array));
}

/* Not there when nothing was left out. */
static int decode_shed(struct coverage *c, const struct field_place *coverage, const json_t *o)
{
    struct field_place p = {.error = coverage->error, .table = "coverage.shed_ms"};
    const json_t *shed = json_object_get(o, "shed_ms");
    int err = 0;

    for (unsigned i = 0; !err && shed && i < SHED_COUNT; i++)
        if (!json_is_object(shed) || json_object_get(shed, shed_names[i]))
            err = field_count(&p, shed, shed_names[i], &c->shed_ms[i]);
    return err;
}

int codec_coverage(struct batch *batch, struct codec_error *error, const json_t *root)
{
    struct field_place top = {.error = error}, p = {.error = error, .table = "coverage"};
    struct coverage *c = &batch->coverage;
    json_t *o;
    int err;

    if ((err = field_get(&top, root, "coverage", &o)) ||
        (err = field_count(&p, o, "lost_ops", &c->lost)) ||
        (err = field_count(&p, o, "killed_ops", &c->killed)) ||
        (err = field_count(&p, o, "in_flight_ops", &c->in_flight)) ||
        (err = field_count(&p, o, "unattributed_ops", &c->unattributed)) ||
        (err = field_count(&p, o, "overflow_ops", &c->overflow)) ||
        (err = decode_shed(c, &p, o)) || (err = decode_hooks(batch, &p, o)) || (err = decode_bypasses(batch, &p, o)))
        return err;
    return decode_dropped(batch, &p, o);
}
