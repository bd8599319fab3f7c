/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_tree.h"

#include <errno.h>
#include <string.h>

#include "lib/codec_flow.h"
#include "lib/field.h"

static json_t *tree_value(const struct tree *tree)
{
    json_t *o = json_pack("{s:I, s:I, s:s}", "job", (json_int_t)tree->job, "volume", (json_int_t)tree->volume, "tree",
                          tree->name);
    bool failed = !o;

    for (unsigned i = 0; i < TREE_COUNTS && !failed; i++)
        if (tree->count[i]) /* JSON integers end at 2^63 - 1 */
            failed = json_object_set_new_nocheck(
                         o, tree_counts[i],
                         json_integer(tree->count[i] > INT64_MAX ? INT64_MAX : (json_int_t)tree->count[i])) != 0;
    if (!failed && tree->files.count)
        failed = codec_files_put(o, &tree->files);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

json_t *codec_trees(const struct batch *batch)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < batch->tree_count && i < CODEC_TREES_MAX; i++)
        if (json_array_append_new(array, tree_value(&batch->trees[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static int decode_tree(struct batch *batch, const struct field_place *p, const json_t *o)
{
    uint32_t job, volume, before = batch->tree_count;
    const char *name = NULL;
    struct tree *tree;
    int err;

    if ((err = field_index(p, o, "job", batch->job_count, &job)) ||
        (err = field_index(p, o, "volume", batch->volume_count, &volume)) || (err = field_text(p, o, "tree", &name)))
        return err;
    if (strlen(name) >= TREE_NAME_MAX)
        return field_refuse(p, "tree", "has more than %d bytes", TREE_NAME_MAX - 1);
    err = batch_tree(batch, job, volume, name, &tree);
    if (err)
        return err;
    if (batch->tree_count == before)
        return field_refuse(p, NULL, "has the job, the volume and the name of another tree");
    for (unsigned i = 0; i < TREE_COUNTS && !err; i++)
        if (json_object_get(o, tree_counts[i]))
            err = field_count(p, o, tree_counts[i], &tree->count[i]);
    if (!err && json_object_get(o, "files"))
        err = codec_files_decode(p, o, &tree->files);
    return err;
}

int codec_trees_decode(struct batch *batch, struct codec_error *error, const json_t *root)
{
    struct field_place top = {.error = error}, p = {.error = error, .table = "trees", .indexed = true};
    json_t *array, *element;
    int err;

    if (!json_object_get(root, "trees"))
        return 0;
    err = field_array(&top, root, "trees", CODEC_TREES_MAX, &array);
    if (err)
        return err;
    json_array_foreach(array, p.at, element)
    {
        err = json_is_object(element) ? decode_tree(batch, &p, element) : field_refuse(&p, NULL, "is not an object");
        if (err)
            return err;
    }
    return 0;
}
