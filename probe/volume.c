/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/volume.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/volume_table.h"

int volumes_new(const struct volume_maps *maps, const char *node, const char *root, bool pseudo, struct volumes **out)
{
    struct volumes *volumes = calloc(1, sizeof(*volumes));
    const uint32_t one = 1;

    if (!volumes)
        return -ENOMEM;
    volumes->maps = *maps;
    volumes->pseudo = pseudo;
    volumes->node = strdup(node);
    volumes->owner = root && *root && volumes_namespace_of("1") ? "1" : "self";
    volumes->own_namespace = volumes_namespace_of(volumes->owner);
    volumes->watcher_namespace = volumes_namespace_of("self");
    if (volumes->watcher_namespace == volumes->own_namespace)
        volumes->watcher_namespace = 0;
    volumes->root = strdup(root ? root : "");
    if (!volumes->node || !volumes->root) {
        volumes_free(volumes);
        return -ENOMEM;
    }
    for (const char *const *pseudo_type = volume_type_pseudo; maps->pseudo_types >= 0 && *pseudo_type; pseudo_type++) {
        char type[ABI_FSTYPE_MAX] = "";

        snprintf(type, sizeof(type), "%s", *pseudo_type);
        bpf_map_update_elem(maps->pseudo_types, type, &one, BPF_ANY);
    }
    *out = volumes;
    return 0;
}

void volumes_free(struct volumes *volumes)
{
    if (!volumes)
        return;
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        volumes_entry_clear(&volumes->entries[i]);
    free(volumes->entries);
    free(volumes->prefixes);
    lookup_clear(&volumes->entry_index);
    lookup_clear(&volumes->prefix_index);
    roots_clear(&volumes->roots);
    free(volumes->uuids);
    free(volumes->root);
    free(volumes->node);
    free(volumes);
}

const char *volumes_root(const struct volumes *volumes, uint32_t number)
{
    return roots_path(&volumes->roots, number);
}

static int name_device(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index)
{
    char device[256], name[520], source[264];

    volumes_device_name(volumes, (uint32_t)(key >> 20) & 0xfff, (uint32_t)key & 0xfffff, device, sizeof(device));
    snprintf(name, sizeof(name), "%.255s:%s", volumes->node, device);
    snprintf(source, sizeof(source), "/dev/%s", device);
    return batch_volume(batch,
                        &(struct volume){.name = name, .source = source, .fstype = "block"}, index);
}

/* A superblock without a mount that we can see: the kernel side knows its type at least. */
static int name_unmounted(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index)
{
    struct abi_volume known = {.fstype = "?"};
    char name[512];

    if (volumes->maps.volumes >= 0)
        bpf_map_lookup_elem(volumes->maps.volumes, &key, &known);
    snprintf(name, sizeof(name), "%.255s:%.*s:%u:%u", volumes->node, ABI_FSTYPE_MAX, known.fstype,
             (uint32_t)(key >> 20) & 0xfff, (uint32_t)key & 0xfffff);
    return batch_volume(
        batch, &(struct volume){.name = name, .source = known.id, .fstype = known.fstype}, index);
}

bool volumes_cached(const struct volumes *volumes, uint64_t key)
{
    const struct entry *entry = volumes_find_entry(volumes, key);
    struct abi_volume known = {0};

    if (key == ABI_VOLUME_UNKNOWN || key == ABI_VOLUME_NONE)
        return false;
    if (key >> 33)
        return true;
    if (entry && entry->mount_count)
        return volume_type_is_cached(entry->fstype);
    if (volumes->maps.volumes >= 0)
        bpf_map_lookup_elem(volumes->maps.volumes, &key, &known);
    return volume_type_is_cached(known.fstype);
}

int volumes_name(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index)
{
    struct entry *entry;
    struct volume volume;

    if (key == ABI_VOLUME_UNKNOWN || key == ABI_VOLUME_NONE)
        return batch_volume(batch, &(struct volume){.name = "?", .source = "", .fstype = ""}, index);
    if (key >> 33)
        return name_device(volumes, key, batch, index);
    entry = volumes_find_entry(volumes, key);
    if (!entry || !entry->mount_count)
        return name_unmounted(volumes, key, batch, index);
    if (!entry->name) {
        char name[VOLUME_NAME_MAX];

        volumes_name_entry(volumes, entry, name);
        entry->name = strdup(name);
        if (!entry->name)
            return -ENOMEM;
    }
    volume = (struct volume){
        .name = entry->name,
        .source = entry->source,
        .fstype = entry->fstype,
        .lower = entry->lower,
        .scope = volume_type_is_shared(entry->fstype, entry->source) ? SCOPE_SHARED : SCOPE_LOCAL,
        .mounts = (const char *const *)entry->mounts,
        .mount_count = entry->mount_count,
    };
    return batch_volume(batch, &volume, index);
}
