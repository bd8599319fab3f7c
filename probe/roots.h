/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders of volumes that are mounted by themselves (bind mounts, subdirectories of CSI drivers), numbered for the
 * kernel side, as far as trees are told apart: the first TREE_DEPTH_MAX components. The volume's own root is 0.
 *
 * A zeroed struct is ready; roots_clear() gives its memory back.
 */
#ifndef UNBLEND_PROBE_ROOTS_H
#define UNBLEND_PROBE_ROOTS_H

#include <stdint.h>

#include "lib/lookup.h"

struct roots {
    char **paths; /* from number 1 on */
    uint32_t count;
    struct lookup index;
};

/* The number of a root as mountinfo has it. 0, -ENOMEM, or -ENOSPC where there are more than UINT16_MAX. */
int roots_number(struct roots *roots, const char *root, uint16_t *number);

/* "" for the volume's own root, else "/a/b"; belongs to the roots. */
const char *roots_path(const struct roots *roots, uint32_t number);

void roots_clear(struct roots *roots);

#endif
