/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/once.h"

#include "analyzer/figure.h"

#define FILES_MIN 100
#define ONCE      1.3 /* bytes of what was opened, to those of different files: sizes are counted in buckets, and libraries reopened */

bool once_opened(const struct volume_total *volume)
{
    double bytes = figure_bytes_of(&volume->tally.op[OP_OPEN].size, 0);
    struct working_opens opened;

    return working_opens(&volume->working, &opened) && opened.files.value >= FILES_MIN && bytes > 0 &&
           bytes <= ONCE * opened.bytes.value;
}
