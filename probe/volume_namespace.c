/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what is mounted: in the node's mount namespace, and in those that the kernel side has met. */
#include "probe/volume_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* So many prefixes of other namespaces are kept: half of what the kernel side has room for. */
#define FOREIGN_MAX 8192
/* So many are read at a time: in some, mounts may change faster than anybody reads them. */
#define ASKED_MAX 1024

/* An overlay's files are on the volume of its upper or first lower directory: found while that is still mounted. */
static int find_lower(struct volumes *volumes, struct entry *entry, const struct mount *mount, uint32_t namespace)
{
    char path[4096], name[VOLUME_NAME_MAX];
    const struct entry *lower;
    uint64_t volume;

    if (entry->lower || strcmp(entry->fstype, "overlay") != 0)
        return 0;
    if (!volume_type_option(mount->options, "upperdir", path, sizeof(path)) &&
        !volume_type_option(mount->options, "lowerdir", path, sizeof(path)))
        return 0;
    path[strcspn(path, ":")] = '\0';
    volume = volumes_find_path(volumes, path, namespace);
    if (volume <= ABI_VOLUME_UNKNOWN)
        volume = volumes_find_path(volumes, path, volumes->own_namespace);
    lower = volumes_find_entry(volumes, volume);
    if (!lower || lower == entry)
        return 0;
    volumes_name_entry(volumes, lower, name);
    entry->lower = strdup(name);
    return entry->lower ? 0 : -ENOMEM;
}

static int add_mount(const struct mount *mount, void *context)
{
    const struct reading *reading = context;
    struct volumes *volumes = reading->volumes;
    uint32_t namespace = reading->namespace;
    bool pseudo = volume_type_is_pseudo(mount->fstype);
    uint64_t key = ABI_VOLUME_FS | (uint64_t)mount->major << 20 | mount->minor;
    struct abi_volume known = {.pseudo = pseudo};
    struct entry *entry;

    snprintf(known.fstype, sizeof(known.fstype), "%s", mount->fstype);
    if (volumes->maps.volumes >= 0)
        bpf_map_update_elem(volumes->maps.volumes, &key, &known, BPF_ANY);
    entry = volumes_add_entry(volumes, key, mount, namespace != volumes->own_namespace);
    if (!entry)
        return -ENOMEM;
    /* In a container, where the node's things are mounted for us is nobody's concern; nor where those who are confined see
       what others see, too. */
    if (((namespace != volumes->watcher_namespace && !reading->root) || !entry->mount_count) &&
        volumes_add_mount_point(entry, mount->point))
        return -ENOMEM;
    if (find_lower(volumes, entry, mount, namespace))
        return -ENOMEM;
    return volumes_add_prefix(volumes, mount, reading, pseudo && !volumes->pseudo ? ABI_VOLUME_NONE : key);
}

/* The folder that somebody is confined to is in their list of mounts only where it is a mount point. */
static int add_root(const struct reading *reading)
{
    struct volumes *volumes = reading->volumes;
    const struct entry *entry = volumes_find_entry(volumes, reading->root);
    bool pseudo = entry && volume_type_is_pseudo(entry->fstype);

    return volumes_add_prefix(volumes, &(struct mount){.point = "/"}, reading,
                              pseudo && !volumes->pseudo ? ABI_VOLUME_NONE : reading->root);
}

static int read_namespace(struct reading *reading, const char *path)
{
    struct volumes *volumes = reading->volumes;

    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (volumes->prefixes[i].key.namespace == reading->namespace)
            volumes->prefixes[i].stale = true;
    if (reading->root && add_root(reading))
        return -ENOMEM;
    return mountinfo_read(path, add_mount, reading);
}

int volumes_read(struct volumes *volumes, const char *path, uint32_t namespace)
{
    return read_namespace(&(struct reading){volumes, namespace, 0, 0}, path);
}

uint32_t volumes_namespace_of(const char *pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
    return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

static void read_mounts_of(struct reading *reading, const char *pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
    (void)read_namespace(reading, path); /* the process may be gone; its calls then show "?" */
}

static void read_process(struct volumes *volumes, const char *pid, uint32_t read)
{
    struct reading reading = {volumes, volumes_namespace_of(pid), read, 0};

    if (reading.namespace == volumes->own_namespace)
        reading.read = 0;
    if (reading.namespace)
        read_mounts_of(&reading, pid);
}

/* What somebody sees who is confined to a folder, if they still are. */
static void read_confined(struct volumes *volumes, const char *pid, uint32_t number, const struct abi_namespace *asked)
{
    struct reading reading = {volumes, number, asked->read, ABI_VOLUME_FS | asked->root};
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%s/root/", pid);
    if (stat(path, &st) == 0 && (uint32_t)st.st_ino == asked->root_inode)
        read_mounts_of(&reading, pid);
}

const char *volumes_owner(const struct volumes *volumes)
{
    return volumes->owner;
}

void volumes_refresh(struct volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        volumes->entries[i].stale = true;
    volumes_read_uuids(volumes);
    read_process(volumes, volumes->owner, 0);
    if (volumes_namespace_of("1") != volumes->own_namespace)
        read_process(volumes, "1", ABI_MOUNTS_READ(0)); /* again when somebody there asks for a path */
    volumes_refresh_namespaces(volumes);
    (void)volumes_drop_stale(volumes);
}

void volumes_refresh_namespaces(struct volumes *volumes)
{
    struct abi_namespace asked;
    uint32_t namespace;
    bool any = false;

    if (volumes->maps.namespaces < 0)
        return;
    for (int i = 0; i < ASKED_MAX && bpf_map_get_next_key(volumes->maps.namespaces, NULL, &namespace) == 0; i++) {
        char pid[16];

        if (volumes->prefix_count > FOREIGN_MAX)
            (void)volumes_drop_foreign(volumes);
        if (bpf_map_lookup_elem(volumes->maps.namespaces, &namespace, &asked) == 0) {
            snprintf(pid, sizeof(pid), "%u", asked.tgid);
            if (asked.root)
                read_confined(volumes, pid, namespace, &asked);
            else
                read_process(volumes, pid, asked.read);
            any = true;
        }
        bpf_map_delete_elem(volumes->maps.namespaces, &namespace);
    }
    if (any)
        (void)volumes_drop_stale(volumes); /* what was unmounted there */
}
