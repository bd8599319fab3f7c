/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "analyzer/view/json.h"

static json_t *estimate(const struct sketch_estimate *e)
{
    return json_pack("{s:I,s:I,s:I}", "value", (json_int_t)llround(e->value), "low",
                     (json_int_t)llround(e->low), "high", (json_int_t)llround(e->high));
}

json_t *json_working_set(const struct working *working)
{
    struct working_set sets[WORKING_WINDOWS];
    unsigned count = working_sets(working, sets);
    json_t *object = count ? json_object() : json_null(), *windows = count ? json_array() : NULL;
    bool failed = !object || (count && !windows);

    if (!count)
        return object;
    for (unsigned i = 0; i < count; i++)
        json_add(&failed, windows,
                 json_pack("{s:I,s:o,s:o,s:I,s:o}", "window_s", (json_int_t)sets[i].window_s, "files",
                           estimate(&sets[i].files), "bytes", estimate(&sets[i].bytes), "read_bytes",
                           (json_int_t)sets[i].read_bytes, "reread", json_number(sets[i].reread)));
    json_put(&failed, object, "sampled", json_real(ldexp(1, -(int)working->files.shift)));
    json_put(&failed, object, "windows", windows);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
