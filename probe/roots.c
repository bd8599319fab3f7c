/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/roots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/tree.h"

/* The first components, without a '/' at the end. */
static char *first_of(const char *root)
{
    size_t length = 0;

    for (unsigned i = 0; i < TREE_DEPTH_MAX && root[length] == '/' && root[length + 1]; i++)
        length += 1 + strcspn(root + length + 1, "/");
    return strndup(root, length);
}

int roots_number(struct roots *roots, const char *root, uint16_t *number)
{
    _cleanup_free_ char *path = first_of(root);
    uint32_t hash, cursor, at;
    char **grown;

    if (!path)
        return -ENOMEM;
    if (!*path) {
        *number = 0;
        return 0;
    }
    cursor = hash = lookup_hash(path, strlen(path));
    while (lookup_next(&roots->index, hash, &cursor, &at))
        if (strcmp(roots->paths[at], path) == 0) {
            *number = (uint16_t)(at + 1);
            return 0;
        }
    if (roots->count == UINT16_MAX)
        return -ENOSPC;
    grown = reallocarray(roots->paths, roots->count + 1, sizeof(*grown));
    if (grown)
        roots->paths = grown;
    if (!grown || lookup_reserve(&roots->index))
        return -ENOMEM;
    lookup_insert(&roots->index, hash, roots->count);
    roots->paths[roots->count] = take_pointer(path);
    *number = (uint16_t)++roots->count;
    return 0;
}

const char *roots_path(const struct roots *roots, uint32_t number)
{
    return number && number <= roots->count ? roots->paths[number - 1] : "";
}

void roots_clear(struct roots *roots)
{
    for (uint32_t i = 0; i < roots->count; i++)
        free(roots->paths[i]);
    free(roots->paths);
    lookup_clear(&roots->index);
    *roots = (struct roots){0};
}
