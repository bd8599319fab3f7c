/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where, more closely: the trees of volumes that were waited for longest. */
#include "analyzer/view/html.h"

#include <math.h>

#define LISTED_TREES 40 /* of each volume */

static void tree_row(FILE *out, const char *volume, const char *name, const uint64_t counts[TREE_COUNTS],
                     const struct working *working)
{
    struct working_set sets[WORKING_WINDOWS];
    unsigned last = working ? working_sets(working, sets) : 0;
    char text[HUMAN_SIZE];

    fputs("<tr>", out);
    html_name(out, volume);
    html_name(out, name ? name : "other");
    html_cell(out, human_ns(text, (double)counts[TREE_WAIT_NS]), (double)counts[TREE_WAIT_NS]);
    html_count(out, counts[TREE_OPENS]);
    html_count(out, counts[TREE_METADATA]);
    html_count(out, counts[TREE_READS]);
    html_count(out, counts[TREE_WRITES]);
    html_bytes(out, (double)counts[TREE_READ_BYTES]);
    html_bytes(out, (double)counts[TREE_WRITE_BYTES]);
    html_bytes(out, last ? sets[last - 1].bytes.value : NAN);
    if (last && !isnan(sets[last - 1].reread)) {
        html_cell(out, human_estimate(text, sets[last - 1].reread), sets[last - 1].reread);
    } else {
        html_cell(out, "", NAN);
    }
    fputs("</tr>\n", out);
}

static void volume_rows(FILE *out, const struct volume_total *volume)
{
    uint64_t rest[TREE_COUNTS];
    bool any = forest_rest(&volume->forest, &volume->tally, rest);

    for (uint32_t i = LISTED_TREES; i < volume->forest.count; i++)
        for (unsigned c = 0; c < TREE_COUNTS; c++)
            rest[c] += volume->forest.trees[i].count[c];
    for (uint32_t i = 0; i < volume->forest.count && i < LISTED_TREES; i++)
        tree_row(out, volume->name, volume->forest.trees[i].name, volume->forest.trees[i].count,
                 &volume->forest.trees[i].working);
    if (any || volume->forest.count > LISTED_TREES)
        tree_row(out, volume->name, NULL, rest, NULL);
}

void html_trees(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<Volume", "<Tree", "Waited",  "Opens",       "Metadata",   "Reads",
                                          "Writes",  "Read",  "Written", "Working set", "Times over", NULL};

    if (!totals->has_trees) {
        fputs("<p class=\"faint\">Trees of folders: cannot tell, because paths were not recorded (unblend record "
              "--paths).</p>\n", out);
        return;
    }
    html_table(out, "Trees: the first folders of volumes, those that were waited for longest first; a working set is what "
                    "was opened, and how often it was read", columns);
    for (uint32_t i = 0; i < totals->volume_count; i++)
        if (totals->volumes[i].forest.count)
            volume_rows(out, &totals->volumes[i]);
    html_table_end(out);
}
