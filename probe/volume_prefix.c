/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mount points as prefixes of paths, namespace by namespace: as the kernel side has them, and here once more. */
#include "probe/volume_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct prefix *find_prefix(const struct volumes *volumes, const struct abi_mount_key *key)
{
    uint32_t hash = lookup_hash(key, sizeof(*key)), cursor = hash, at;

    while (lookup_next(&volumes->prefix_index, hash, &cursor, &at))
        if (memcmp(&volumes->prefixes[at].key, key, sizeof(*key)) == 0)
            return &volumes->prefixes[at];
    return NULL;
}

/* False where it is too long, and cut: what begins like that may be below it or beside it. */
static bool make_key(struct abi_mount_key *key, const char *point, uint32_t namespace)
{
    size_t length = strlen(point);

    *key = (struct abi_mount_key){.namespace = namespace};
    if (length + 1 > sizeof(key->path)) {
        memcpy(key->path, point, sizeof(key->path) - 1); /* as much as is read of a path */
        key->prefix_bits = (uint32_t)(sizeof(key->namespace) + sizeof(key->path) - 1) * 8;
        return false;
    }
    memcpy(key->path, point, length);
    if (!length || point[length - 1] != '/')
        key->path[length++] = '/';
    key->prefix_bits = (uint32_t)(sizeof(key->namespace) + length) * 8;
    return true;
}

int volumes_add_prefix(struct volumes *volumes, const struct mount *mount, const struct reading *reading,
                       uint64_t volume)
{
    struct abi_mount value = {.volume = volume, .read = reading->read};
    uint32_t namespace = reading->namespace;
    struct abi_mount_key key;
    struct prefix *known, *grown;

    if (!make_key(&key, mount->point, namespace))
        value.volume = volume = ABI_VOLUME_UNKNOWN;
    else if (mount->root && !roots_number(&volumes->roots, mount->root, &value.root))
        value.length = (uint16_t)(key.prefix_bits / 8 - sizeof(key.namespace));
    if (volumes->maps.mounts >= 0 && bpf_map_update_elem(volumes->maps.mounts, &key, &value, BPF_ANY) &&
        namespace == volumes->own_namespace && volumes_drop_foreign(volumes) == 0)
        bpf_map_update_elem(volumes->maps.mounts, &key, &value, BPF_ANY);
    known = find_prefix(volumes, &key);
    if (known) {
        known->volume = volume;
        known->stale = false;
        return 0;
    }
    if (lookup_reserve(&volumes->prefix_index))
        return -ENOMEM;
    grown = reallocarray(volumes->prefixes, volumes->prefix_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    volumes->prefixes = grown;
    lookup_insert(&volumes->prefix_index, lookup_hash(&key, sizeof(key)), volumes->prefix_count);
    grown[volumes->prefix_count++] = (struct prefix){.key = key, .volume = volume};
    return 0;
}

uint64_t volumes_find_path(const struct volumes *volumes, const char *path, uint32_t namespace)
{
    char above[sizeof(((struct abi_mount_key *)0)->path)];
    struct abi_mount_key key;
    const struct prefix *prefix;

    snprintf(above, sizeof(above), "%s", path);
    while (*above == '/') {
        if (make_key(&key, above, namespace) && (prefix = find_prefix(volumes, &key)))
            return prefix->volume;
        if (!above[1])
            break;
        *(strrchr(above, '/') == above ? above + 1 : strrchr(above, '/')) = '\0';
    }
    return ABI_VOLUME_UNKNOWN;
}

int volumes_drop_stale(struct volumes *volumes)
{
    uint32_t kept = 0;
    int err = 0;

    lookup_clear(&volumes->prefix_index);
    for (uint32_t i = 0; i < volumes->prefix_count; i++) {
        struct prefix *prefix = &volumes->prefixes[i];

        if (!prefix->stale && !err)
            err = lookup_reserve(&volumes->prefix_index);
        if (!prefix->stale && !err) {
            lookup_insert(&volumes->prefix_index, lookup_hash(&prefix->key, sizeof(prefix->key)), kept);
            volumes->prefixes[kept++] = *prefix;
        } else if (volumes->maps.mounts >= 0) {
            bpf_map_delete_elem(volumes->maps.mounts, &prefix->key);
        }
    }
    volumes->prefix_count = kept;
    return err;
}

int volumes_drop_foreign(struct volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (volumes->prefixes[i].key.namespace != volumes->own_namespace)
            volumes->prefixes[i].stale = true;
    return volumes_drop_stale(volumes);
}
