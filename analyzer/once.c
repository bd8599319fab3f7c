/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/once.h"

#include "lib/bucket.h"

#define FILES_MIN 100
#define ONCE      1.3 /* bytes of what was opened, to those of different files: sizes are counted in buckets, and libraries reopened */

bool once_opened(const struct volume_total *volume)
{
    const struct histogram *sizes = &volume->tally.op[OP_OPEN].size;
    struct working_opens opened;
    double bytes = 0;

    for (uint32_t i = 0; i < sizes->length; i++)
        bytes += (double)sizes->cells[i].count * bucket_middle(sizes->cells[i].bucket);
    return working_opens(&volume->working, &opened) && opened.files.value >= FILES_MIN && bytes > 0 &&
           bytes <= ONCE * opened.bytes.value;
}
