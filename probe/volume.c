/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/volume.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/lookup.h"
#include "probe/bpf/abi.h"
#include "probe/host.h"
#include "probe/mountinfo.h"
#include "probe/roots.h"
#include "probe/volume_type.h"

/* So many mount points of a volume are listed: a node's own, and those of containers as far as there is room. */
#define MOUNTS_MAX 64

/* What is mounted of one superblock, in all namespaces read. */
struct entry {
    uint64_t key;
    char *source;
    char *fstype;
    char *uuid, *lower; /* NULL: not known, none */
    char *name;         /* made when it is first asked for */
    char **mounts;
    uint32_t mount_count;
    bool elsewhere; /* not mounted in our own namespace */
    bool stale; /* not in the last reading; keeps its name until the number is somebody else's */
};

/* A prefix that the kernel side knows, so that it can be taken back when the mount is gone. */
struct prefix {
    struct abi_mount_key key;
    uint64_t volume;
    bool stale; /* not in the last reading of its namespace */
};

/* A block device that has a UUID, as udev links it. */
struct uuid {
    char device[64]; /* its name under /dev */
    char uuid[64];
};

struct volumes {
    struct volume_maps maps;
    char *node;
    bool pseudo;
    struct entry *entries;
    uint32_t entry_count;
    struct lookup entry_index; /* by key */
    struct prefix *prefixes;
    uint32_t prefix_count;
    struct lookup prefix_index;
    struct roots roots;
    struct uuid *uuids;
    uint32_t uuid_count;
    char *root;
    const char *owner; /* a process under /proc whose mounts are the node's */
    uint32_t own_namespace;   /* the node's */
    uint32_t watcher_namespace; /* ours, where that is another one */
};

static void entry_clear(struct entry *entry)
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

static struct entry *find_entry(const struct volumes *volumes, uint64_t key)
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

/* A device's name under /dev, from its uevent in sysfs; its number where that does not tell. */
static void device_name(const struct volumes *volumes, uint32_t major, uint32_t minor, char *name, size_t size)
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
    device_name(volumes, mount->major, mount->minor, device, sizeof(device));
    if (strchr(device, ':')) /* a number of the file system's own, as btrfs has */
        snprintf(device, sizeof(device), "%s", slash + 1);
    for (uint32_t i = 0; i < volumes->uuid_count; i++)
        if (strcmp(volumes->uuids[i].device, device) == 0)
            return volumes->uuids[i].uuid;
    return NULL;
}

/* The number of a superblock that is gone, given to a new one: in namespaces, too, of which nobody tells that they changed. */
static bool is_reused(const struct entry *entry, const struct mount *mount)
{
    return strcmp(entry->fstype, mount->fstype) != 0 ||
           (!mount->major && !volume_type_is_pseudo(mount->fstype) &&
            !volume_type_is_shared(mount->fstype, mount->source) && strcmp(entry->source, mount->source) != 0);
}

static struct entry *add_entry(struct volumes *volumes, uint64_t key, const struct mount *mount, bool elsewhere)
{
    struct entry *entry = find_entry(volumes, key), *grown;
    struct entry fresh = {.key = key, .elsewhere = elsewhere};
    const char *uuid;

    if (entry && !entry->stale && !is_reused(entry, mount))
        return entry;
    uuid = find_uuid(volumes, mount);
    fresh.source = strdup(mount->source);
    fresh.fstype = strdup(mount->fstype);
    fresh.uuid = uuid ? strdup(uuid) : NULL;
    if (!fresh.source || !fresh.fstype || (uuid && !fresh.uuid) || (!entry && lookup_reserve(&volumes->entry_index))) {
        entry_clear(&fresh);
        return NULL;
    }
    if (entry) {
        entry_clear(entry);
        *entry = fresh;
        return entry;
    }
    grown = reallocarray(volumes->entries, volumes->entry_count + 1, sizeof(*grown));
    if (!grown) {
        entry_clear(&fresh);
        return NULL;
    }
    volumes->entries = grown;
    lookup_insert(&volumes->entry_index, lookup_hash(&key, sizeof(key)), volumes->entry_count);
    entry = &grown[volumes->entry_count++];
    *entry = fresh;
    return entry;
}

static int add_mount_point(struct entry *entry, const char *point)
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

static struct prefix *find_prefix(const struct volumes *volumes, const struct abi_mount_key *key)
{
    uint32_t hash = lookup_hash(key, sizeof(*key)), cursor = hash, at;

    while (lookup_next(&volumes->prefix_index, hash, &cursor, &at))
        if (memcmp(&volumes->prefixes[at].key, key, sizeof(*key)) == 0)
            return &volumes->prefixes[at];
    return NULL;
}

/* False where it is too long: paths below it go to the mount above; the man page says so. */
static bool make_key(struct abi_mount_key *key, const char *point, uint32_t namespace)
{
    size_t length = strlen(point);

    *key = (struct abi_mount_key){.namespace = namespace};
    if (length + 1 > sizeof(key->path))
        return false;
    memcpy(key->path, point, length);
    if (!length || point[length - 1] != '/')
        key->path[length++] = '/';
    key->prefix_bits = (uint32_t)(sizeof(key->namespace) + length) * 8;
    return true;
}

static int drop_foreign(struct volumes *volumes);

/* A namespace that is being read. */
struct reading {
    struct volumes *volumes;
    uint32_t namespace;
    uint32_t read; /* as in struct abi_namespace; 0 for our own, whose changes we are told */
};

/* Tells the kernel side which volume the paths below a mount point belong to; read: as in struct abi_namespace. */
static int add_prefix(struct volumes *volumes, const struct mount *mount, const struct reading *reading, uint64_t volume)
{
    struct abi_mount value = {.volume = volume, .read = reading->read};
    uint32_t namespace = reading->namespace;
    struct abi_mount_key key;
    struct prefix *known, *grown;

    if (!make_key(&key, mount->point, namespace))
        return 0;
    if (!roots_number(&volumes->roots, mount->root, &value.root))
        value.length = (uint16_t)(key.prefix_bits / 8 - sizeof(key.namespace));
    if (volumes->maps.mounts >= 0 && bpf_map_update_elem(volumes->maps.mounts, &key, &value, BPF_ANY) &&
        namespace == volumes->own_namespace && drop_foreign(volumes) == 0)
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

/* The volume of a path in a namespace: of the longest mount point above it. */
static uint64_t find_path(const struct volumes *volumes, const char *path, uint32_t namespace)
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

static void name_entry(const struct volumes *volumes, const struct entry *entry, char name[VOLUME_NAME_MAX])
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
    volume = find_path(volumes, path, namespace);
    if (volume <= ABI_VOLUME_UNKNOWN)
        volume = find_path(volumes, path, volumes->own_namespace);
    lower = find_entry(volumes, volume);
    if (!lower || lower == entry)
        return 0;
    name_entry(volumes, lower, name);
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
    entry = add_entry(volumes, key, mount, namespace != volumes->own_namespace);
    if (!entry)
        return -ENOMEM;
    /* In a container, where the node's things are mounted for us is nobody's concern. */
    if ((namespace != volumes->watcher_namespace || !entry->mount_count) && add_mount_point(entry, mount->point))
        return -ENOMEM;
    if (find_lower(volumes, entry, mount, namespace))
        return -ENOMEM;
    return add_prefix(volumes, mount, reading,
                      pseudo && !volumes->pseudo ? ABI_VOLUME_NONE : key);
}

static int read_namespace(struct reading *reading, const char *path)
{
    struct volumes *volumes = reading->volumes;

    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (volumes->prefixes[i].key.namespace == reading->namespace)
            volumes->prefixes[i].stale = true;
    return mountinfo_read(path, add_mount, reading);
}

int volumes_read(struct volumes *volumes, const char *path, uint32_t namespace)
{
    return read_namespace(&(struct reading){volumes, namespace, 0}, path);
}

/* Takes back the prefixes that are stale. 0 or -ENOMEM. */
static int drop_stale(struct volumes *volumes)
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

/* The kernel side's map is full, of namespaces that are gone as likely as not: those that are there are met again. */
static int drop_foreign(struct volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->prefix_count; i++)
        if (volumes->prefixes[i].key.namespace != volumes->own_namespace)
            volumes->prefixes[i].stale = true;
    return drop_stale(volumes);
}

/* So many prefixes of other namespaces are kept: half of what the kernel side has room for. */
#define FOREIGN_MAX 8192
/* So many are read at a time: in some, mounts may change faster than anybody reads them. */
#define ASKED_MAX 1024

static uint32_t namespace_of(const char *pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", pid);
    return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

static void read_process(struct volumes *volumes, const char *pid, uint32_t read)
{
    struct reading reading = {volumes, namespace_of(pid), read};
    char path[64];

    if (reading.namespace == volumes->own_namespace)
        reading.read = 0;
    snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
    if (reading.namespace)
        (void)read_namespace(&reading, path); /* the process may be gone; its calls then show "?" */
}

const char *volumes_owner(const struct volumes *volumes)
{
    return volumes->owner;
}

void volumes_refresh(struct volumes *volumes)
{
    for (uint32_t i = 0; i < volumes->entry_count; i++)
        volumes->entries[i].stale = true;
    free(volumes->uuids);
    volumes->uuids = NULL;
    volumes->uuid_count = 0;
    (void)host_list(volumes->root, "/dev/disk/by-uuid", keep_uuid, volumes); /* not there without udev */
    read_process(volumes, volumes->owner, 0);
    if (namespace_of("1") != volumes->own_namespace)
        read_process(volumes, "1", ABI_MOUNTS_READ(0)); /* again when somebody there asks for a path */
    volumes_refresh_namespaces(volumes);
    (void)drop_stale(volumes);
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
            (void)drop_foreign(volumes);
        if (bpf_map_lookup_elem(volumes->maps.namespaces, &namespace, &asked) == 0) {
            snprintf(pid, sizeof(pid), "%u", asked.tgid);
            read_process(volumes, pid, asked.read);
            any = true;
        }
        bpf_map_delete_elem(volumes->maps.namespaces, &namespace);
    }
    if (any)
        (void)drop_stale(volumes); /* what was unmounted there */
}

int volumes_new(const struct volume_maps *maps, const char *node, const char *root, bool pseudo, struct volumes **out)
{
    struct volumes *volumes = calloc(1, sizeof(*volumes));
    const uint32_t one = 1;

    if (!volumes)
        return -ENOMEM;
    volumes->maps = *maps;
    volumes->pseudo = pseudo;
    volumes->node = strdup(node);
    volumes->owner = root && *root && namespace_of("1") ? "1" : "self";
    volumes->own_namespace = namespace_of(volumes->owner);
    volumes->watcher_namespace = namespace_of("self");
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
        entry_clear(&volumes->entries[i]);
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

    device_name(volumes, (uint32_t)(key >> 20) & 0xfff, (uint32_t)key & 0xfffff, device, sizeof(device));
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
    entry = find_entry(volumes, key);
    if (!entry || !entry->mount_count)
        return name_unmounted(volumes, key, batch, index);
    if (!entry->name) {
        char name[VOLUME_NAME_MAX];

        name_entry(volumes, entry, name);
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
