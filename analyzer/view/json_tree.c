/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

/* name NULL: what is in no tree that could be told */
static json_t *tree_value(const char *name, const uint64_t counts[TREE_COUNTS], const struct working *working)
{
    json_t *object = json_object();
    bool failed = !object;

    json_put(&failed, object, "tree", json_text(name));
    for (unsigned i = 0; i < TREE_COUNTS; i++)
        json_put(&failed, object, tree_counts[i], json_integer((json_int_t)counts[i]));
    json_put(&failed, object, "working_set", working ? json_working_set(working) : json_null());
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_trees(const struct volume_total *volume, const struct aggregate *totals)
{
    json_t *list = totals->has_trees ? json_array() : json_null();
    uint64_t rest[TREE_COUNTS];
    bool failed = !list;

    if (!totals->has_trees)
        return list;
    for (uint32_t i = 0; i < volume->forest.count; i++)
        json_add(&failed, list,
                 tree_value(volume->forest.trees[i].name, volume->forest.trees[i].count,
                            &volume->forest.trees[i].working));
    if (forest_rest(&volume->forest, &volume->tally, rest))
        json_add(&failed, list, tree_value(NULL, rest, NULL));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}
