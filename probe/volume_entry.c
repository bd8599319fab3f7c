/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is mounted of one superblock, and what identifies it: its source, its device's name and UUID. */
#include "probe/volume_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/host.h"

/* So many mount points of a volume are listed: a node's own, and those of containers as far as there is room. */
#define MOUNTS_MAX 64

void volumes_entry_clear(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->mount_count; i++)
        free(entry->mounts[i]);
    free(entry->mounts);
    free(entry->source);
    free(entry->fstype);
    free(entry->uuid);
    free(entry->lower);
    free(entry->name);
}

struct entry *volumes_find_entry(const struct volumes *volumes, uint64_t key)
{
    uint32_t hash = lookup_hash(&key, sizeof(key)), cursor = hash, at;

    while (lookup_next(&volumes->entry_index, hash, &cursor, &at))
        if (volumes->entries[at].key == key)
            return &volumes->entries[at];
    return NULL;
}

static int keep_uuid(const char *name, void *context)
{
    struct volumes *volumes = context;
    _cleanup_free_ char *path = NULL;
    struct uuid *grown, uuid;
    char target[sizeof(uuid.device) + 64];
    const char *device;
    ssize_t length;

    if (asprintf(&path, "%s/dev/disk/by-uuid/%s", volumes->root, name) < 0)
        return -ENOMEM;
    length = readlink(path, target, sizeof(target) - 1);
    if (length <= 0 || strlen(name) >= sizeof(uuid.uuid))
        return 0;
    target[length] = '\0';
    device = strrchr(target, '/');
    device = device ? device + 1 : target;
    if (strlen(device) >= sizeof(uuid.device))
        return 0;
    grown = reallocarray(volumes->uuids, volumes->uuid_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    volumes->uuids = grown;
    strcpy(uuid.device, device);
    strcpy(uuid.uuid, name);
    grown[volumes->uuid_count++] = uuid;
    return 0;
}

void volumes_read_uuids(struct volumes *volumes)
{
    free(volumes->uuids);
    volumes->uuids = NULL;
    volumes->uuid_count = 0;
    (void)host_list(volumes->root, "/dev/disk/by-uuid", keep_uuid, volumes); /* not there without udev */
}

void volumes_device_name(const struct volumes *volumes, uint32_t major, uint32_t minor, char *name, size_t size)
{
    _cleanup_free_ char *text = NULL;
    char *rest, *line;

    snprintf(name, size, "%u:%u", major, minor);
    if (host_read(volumes->root, &text, NULL, "/sys/dev/block/%u:%u/uevent", major, minor))
        return;
    for (rest = text; (line = strsep(&rest, "\n"));)
        if (strncmp(line, "DEVNAME=", 8) == 0)
            snprintf(name, size, "%s", line + 8);
}

/* Without asking the device or its file system, which may hang. */
static const char *find_uuid(const struct volumes *volumes, const struct mount *mount)
{
    const char *slash = strrchr(mount->source, '/');
    char device[64];

    if (!volumes->uuid_count || *mount->source != '/')
        return NULL;
    volumes_device_name(volumes, mount->major, mount->minor, device, sizeof(device));
    if (strchr(device, ':')) /* a number of the file system's own, as btrfs has */
        snprintf(device, sizeof(device), "%s", slash + 1);
    for (uint32_t i = 0; i < volumes->uuid_count; i++)
        if (strcmp(volumes->uuids[i].device, device) == 0)
            return volumes->uuids[i].uuid;
    return NULL;
}

/* The number of a superblock that is gone, given to a new one: in namespaces, too, of which nobody tells that they
   changed. */
static bool is_reused(const struct entry *entry, const struct mount *mount)
{
    return strcmp(entry->fstype, mount->fstype) != 0 ||
           (!mount->major && !volume_type_is_pseudo(mount->fstype) &&
            !volume_type_is_shared(mount->fstype, mount->source) && strcmp(entry->source, mount->source) != 0);
}

struct entry *volumes_add_entry(struct volumes *volumes, uint64_t key, const struct mount *mount, bool elsewhere)
{
    struct entry *entry = volumes_find_entry(volumes, key), *grown;
    struct entry fresh = {.key = key, .elsewhere = elsewhere};
    const char *uuid;

    if (entry && !entry->stale && !is_reused(entry, mount))
        return entry;
    uuid = find_uuid(volumes, mount);
    fresh.source = strdup(mount->source);
    fresh.fstype = strdup(mount->fstype);
    fresh.uuid = uuid ? strdup(uuid) : NULL;
    if (!fresh.source || !fresh.fstype || (uuid && !fresh.uuid) || (!entry && lookup_reserve(&volumes->entry_index))) {
        volumes_entry_clear(&fresh);
        return NULL;
    }
    if (entry) {
        volumes_entry_clear(entry);
        *entry = fresh;
        return entry;
    }
    grown = reallocarray(volumes->entries, volumes->entry_count + 1, sizeof(*grown));
    if (!grown) {
        volumes_entry_clear(&fresh);
        return NULL;
    }
    volumes->entries = grown;
    lookup_insert(&volumes->entry_index, lookup_hash(&key, sizeof(key)), volumes->entry_count);
    entry = &grown[volumes->entry_count++];
    *entry = fresh;
    return entry;
}

int volumes_add_mount_point(struct entry *entry, const char *point)
{
    char **grown;

    if (entry->mount_count == MOUNTS_MAX)
        return 0;
    for (uint32_t i = 0; i < entry->mount_count; i++)
        if (strcmp(entry->mounts[i], point) == 0)
            return 0;
    grown = reallocarray(entry->mounts, entry->mount_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    entry->mounts = grown;
    grown[entry->mount_count] = strdup(point);
    if (!grown[entry->mount_count])
        return -ENOMEM;
    entry->mount_count++;
    return 0;
}

void volumes_name_entry(const struct volumes *volumes, const struct entry *entry, char name[VOLUME_NAME_MAX])
{
    const struct volume_origin origin = {
        .node = volumes->node,
        .fstype = entry->fstype,
        .source = entry->source,
        .uuid = entry->uuid,
        .point = entry->mount_count ? entry->mounts[0] : "",
        .elsewhere = entry->elsewhere,
        .major = (uint32_t)(entry->key >> 20) & 0xfff,
        .minor = (uint32_t)entry->key & 0xfffff,
    };

    volume_type_name(&origin, name);
}
