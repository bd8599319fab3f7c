/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/volume.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cleanup.h"
#include "probe/bpf/abi.h"
#include "probe/mountinfo.h"

/* File systems that show the kernel's state instead of storing anything. */
static const char *const pseudo_types[] = {
    "proc",       "sysfs",      "cgroup",      "cgroup2",   "debugfs",     "tracefs",
    "securityfs", "bpf",        "devpts",      "mqueue",    "configfs",    "pstore",
    "efivarfs",   "binfmt_misc", "nsfs",       "selinuxfs", "smackfs",     "hugetlbfs",
    "autofs",     "rpc_pipefs", "fusectl",     "resctrl",   "pidfs",       "anon_inodefs",
    "sockfs",     "pipefs",     "bdev",        "functionfs", "nfsd",       "cpuset",
};

/* File systems whose source names the same storage on every node. */
static const char *const shared_types[] = {
    "nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "wekafs", "gpfs", "beegfs", "glusterfs",
    "fuse.sshfs", "fuse.rclone", "fuse.mountpoint-s3", "fuse.goofys", "fuse.s3fs", "fuse.juicefs",
    "fuse.glusterfs", "fuse.ceph", "fuse.cephfs", "9p", "virtiofs", "orangefs", "afs", "ocfs2", "gfs2",
};

/* File systems whose buffered reads are the page cache's. */
static const char *const cached_types[] = {
    "ext2",  "ext3",   "ext4",  "xfs",  "btrfs",   "f2fs",     "bcachefs", "jfs",    "nilfs2", "reiserfs", "minix", "vfat",
    "msdos", "exfat",  "ntfs3", "udf",  "iso9660", "squashfs", "erofs",    "romfs",  "cramfs", "hfsplus",  "nfs",
    "nfs4",  "gfs2",   "ocfs2",
};

/* What is mounted of one superblock, in all namespaces read. */
struct entry {
    uint64_t key;
    char *source;
    char *fstype;
    char **mounts;
    uint32_t mount_count;
    bool stale; /* not in the last reading; keeps its name until the number is somebody else's */
};

/* A prefix that the kernel side knows, so that it can be taken back when the mount is gone. */
struct prefix {
    struct abi_mount_key key;
    bool stale;
};

struct volumes {
    struct volume_maps maps;
    char *node;
    bool pseudo;
    struct entry *entries;
    uint32_t entry_count;
    struct prefix *prefixes;
    uint32_t prefix_count;
    uint32_t own_namespace;
};

static bool listed(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

#define LISTED(list, name) listed(list, sizeof(list) / sizeof(*(list)), name)

bool volumes_is_pseudo(const char *fstype)
{
    return LISTED(pseudo_types, fstype);
}

static void entry_clear(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->mount_count; i++)
        free(entry->mounts[i]);
    free(entry->mounts);
    free(entry->source);
    free(entry->fstype);
}

static struct entry *find_entry(const struct volumes *volumes, uint64_t key)
{
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        if (volumes->entries[i].key == key)
            return &volumes->entries[i];
    return NULL;
}

static struct entry *add_entry(struct volumes *volumes, uint64_t key, const struct mount *mount)
{
    struct entry *entry = find_entry(volumes, key);

    struct entry fresh = {.key = key};

    if (entry && !entry->stale)
        return entry;
    fresh.source = strdup(mount->source);
    fresh.fstype = strdup(mount->fstype);
    if (!entry) {
        entry = reallocarray(volumes->entries, volumes->entry_count + 1, sizeof(*entry));
        if (entry) {
            volumes->entries = entry;
            entry += volumes->entry_count;
        }
    } else {
        entry_clear(entry);
        *entry = (struct entry){.key = key, .stale = true};
    }
    if (!entry || !fresh.source || !fresh.fstype) {
        entry_clear(&fresh);
        return NULL;
    }
    volumes->entry_count += entry == &volumes->entries[volumes->entry_count];
    *entry = fresh;
    return entry;
}

static int add_mount_point(struct entry *entry, const char *point)
{
    char **grown;

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

/* Tells the kernel side which volume the paths below a mount point belong to. */
static int add_prefix(struct volumes *volumes, const char *point, uint32_t namespace, uint64_t volume)
{
    struct abi_mount_key key = {.namespace = namespace};
    size_t length = strlen(point);
    struct prefix *grown;

    if (length + 1 > sizeof(key.path))
        return 0; /* paths below it go to the mount above; the man page says so */
    memcpy(key.path, point, length);
    if (!length || point[length - 1] != '/')
        key.path[length++] = '/';
    key.prefix_bits = (uint32_t)(sizeof(key.namespace) + length) * 8;
    if (volumes->maps.mounts >= 0)
        bpf_map_update_elem(volumes->maps.mounts, &key, &volume, BPF_ANY);
    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (memcmp(&volumes->prefixes[i].key, &key, sizeof(key)) == 0) {
            volumes->prefixes[i].stale = false;
            return 0;
        }
    grown = reallocarray(volumes->prefixes, volumes->prefix_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    volumes->prefixes = grown;
    grown[volumes->prefix_count++] = (struct prefix){.key = key};
    return 0;
}

static int add_mount(const struct mount *mount, void *context)
{
    struct volumes *volumes = ((void **)context)[0];
    uint32_t namespace = *(uint32_t *)((void **)context)[1];
    bool pseudo = volumes_is_pseudo(mount->fstype);
    uint64_t key = ABI_VOLUME_FS | (uint64_t)mount->major << 20 | mount->minor;
    struct abi_volume known = {.pseudo = pseudo};
    struct entry *entry;

    snprintf(known.fstype, sizeof(known.fstype), "%s", mount->fstype);
    if (volumes->maps.volumes >= 0)
        bpf_map_update_elem(volumes->maps.volumes, &key, &known, BPF_ANY);
    entry = add_entry(volumes, key, mount);
    if (!entry || add_mount_point(entry, mount->point))
        return -ENOMEM;
    return add_prefix(volumes, mount->point, namespace,
                      pseudo && !volumes->pseudo ? ABI_VOLUME_NONE : key);
}

int volumes_read(struct volumes *volumes, const char *path, uint32_t namespace)
{
    void *context[] = {volumes, &namespace};

    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (volumes->prefixes[i].key.namespace == namespace)
            volumes->prefixes[i].stale = true;
    return mountinfo_read(path, add_mount, context);
}

/* Takes back what is no longer mounted. Entries keep their names: there may be more of theirs to drain. */
static void drop_stale(struct volumes *volumes)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (!volumes->prefixes[i].stale)
            volumes->prefixes[kept++] = volumes->prefixes[i];
        else if (volumes->maps.mounts >= 0)
            bpf_map_delete_elem(volumes->maps.mounts, &volumes->prefixes[i].key);
    volumes->prefix_count = kept;
}

static uint32_t namespace_of(const char *pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
    return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

static void read_process(struct volumes *volumes, const char *pid)
{
    uint32_t namespace = namespace_of(pid);
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
    if (namespace)
        (void)volumes_read(volumes, path, namespace); /* the process may be gone; its calls then show "?" */
}

void volumes_refresh(struct volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        volumes->entries[i].stale = true;
    read_process(volumes, "self");
    if (namespace_of("1") != volumes->own_namespace)
        read_process(volumes, "1");
    volumes_refresh_namespaces(volumes);
    drop_stale(volumes);
}

void volumes_refresh_namespaces(struct volumes *volumes)
{
    uint32_t namespace, tgid;

    if (volumes->maps.namespaces < 0)
        return;
    while (bpf_map_get_next_key(volumes->maps.namespaces, NULL, &namespace) == 0) {
        char pid[16];

        if (bpf_map_lookup_elem(volumes->maps.namespaces, &namespace, &tgid) == 0) {
            snprintf(pid, sizeof(pid), "%u", tgid);
            read_process(volumes, pid);
        }
        bpf_map_delete_elem(volumes->maps.namespaces, &namespace);
    }
}

int volumes_new(const struct volume_maps *maps, const char *node, bool pseudo, struct volumes **out)
{
    struct volumes *volumes = calloc(1, sizeof(*volumes));
    const uint32_t one = 1;

    if (!volumes)
        return -ENOMEM;
    volumes->maps = *maps;
    volumes->pseudo = pseudo;
    volumes->node = strdup(node);
    volumes->own_namespace = namespace_of("self");
    if (!volumes->node) {
        volumes_free(volumes);
        return -ENOMEM;
    }
    for (size_t i = 0; maps->pseudo_types >= 0 && i < sizeof(pseudo_types) / sizeof(*pseudo_types);
         i++) {
        char type[ABI_FSTYPE_MAX] = "";

        snprintf(type, sizeof(type), "%s", pseudo_types[i]);
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
        entry_clear(&volumes->entries[i]);
    free(volumes->entries);
    free(volumes->prefixes);
    free(volumes->node);
    free(volumes);
}

/* A block device's name under /dev, from its uevent in sysfs. */
static void device_name(uint32_t major, uint32_t minor, char *name, size_t size)
{
    char line[256], path[64];
    _cleanup_fclose_ FILE *file = NULL;

    snprintf(name, size, "%u:%u", major, minor);
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/uevent", major, minor);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "DEVNAME=", 8) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(name, size, "%s", line + 8);
        }
}

static int name_device(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index)
{
    char device[256], name[520], source[264];

    device_name((uint32_t)(key >> 20) & 0xfff, (uint32_t)key & 0xfffff, device, sizeof(device));
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
    const struct entry *entry = find_entry(volumes, key);
    struct abi_volume known = {0};

    if (key == ABI_VOLUME_UNKNOWN || key == ABI_VOLUME_NONE)
        return false;
    if (key >> 33)
        return true;
    if (entry && entry->mount_count)
        return LISTED(cached_types, entry->fstype);
    if (volumes->maps.volumes >= 0)
        bpf_map_lookup_elem(volumes->maps.volumes, &key, &known);
    return LISTED(cached_types, known.fstype);
}

int volumes_name(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index)
{
    const struct entry *entry = find_entry(volumes, key);
    struct volume volume = {0};
    char name[4608];

    if (key == ABI_VOLUME_UNKNOWN || key == ABI_VOLUME_NONE)
        return batch_volume(batch, &(struct volume){.name = "?", .source = "", .fstype = ""}, index);
    if (key >> 33)
        return name_device(volumes, key, batch, index);
    if (!entry || !entry->mount_count)
        return name_unmounted(volumes, key, batch, index);
    volume = (struct volume){
        .source = entry->source,
        .fstype = entry->fstype,
        .mounts = (const char *const *)entry->mounts,
        .mount_count = entry->mount_count,
    };
    if (LISTED(shared_types, entry->fstype)) {
        volume.scope = SCOPE_SHARED;
        volume.name = entry->source;
    } else {
        snprintf(name, sizeof(name), "%.255s:%s", volumes->node, entry->mounts[0]);
        volume.name = name;
    }
    return batch_volume(batch, &volume, index);
}
