/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probe/volume.h promises is kept by four files on the tables that stand here: volume.c, which names volumes;
 * volume_entry.c, what is mounted; volume_prefix.c, where; volume_namespace.c, which reads that. No header for others.
 */
#ifndef UNBLEND_PROBE_VOLUME_TABLE_H
#define UNBLEND_PROBE_VOLUME_TABLE_H

#include "lib/lookup.h"
#include "probe/bpf/abi.h"
#include "probe/mountinfo.h"
#include "probe/roots.h"
#include "probe/volume.h"
#include "probe/volume_type.h"

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

/* A namespace that is being read. */
struct reading {
    struct volumes *volumes;
    uint32_t namespace;
    uint32_t read; /* as in struct abi_namespace; 0 for our own, whose changes we are told */
    uint64_t root; /* the volume of the folder that it is confined to; 0: it is not */
};

/* --- volume_entry.c --- */

/* By a kernel key; NULL when nothing of it was ever read. Valid until the next is added. */
struct entry *volumes_find_entry(const struct volumes *volumes, uint64_t key);

/* The same, made of a mount when there is none, or when the number is another superblock's now. NULL: no memory. */
struct entry *volumes_add_entry(struct volumes *volumes, uint64_t key, const struct mount *mount, bool elsewhere);
void volumes_entry_clear(struct entry *entry); /* gives back what it has */

/* One more mount point, as far as there is room. 0 or -ENOMEM. */
int volumes_add_mount_point(struct entry *entry, const char *point);

void volumes_name_entry(const struct volumes *volumes, const struct entry *entry, char name[VOLUME_NAME_MAX]);

/* Reads again which block devices have a UUID. */
void volumes_read_uuids(struct volumes *volumes);

/* A device's name under /dev, from its uevent in sysfs; its number where that does not tell. */
void volumes_device_name(const struct volumes *volumes, uint32_t major, uint32_t minor, char *name, size_t size);

/* --- volume_prefix.c --- */

/* Tells the kernel side which volume the paths below a mount point belong to. 0 or -ENOMEM. */
int volumes_add_prefix(struct volumes *volumes, const struct mount *mount, const struct reading *reading,
                       uint64_t volume);

/* The volume of a path in a namespace: of the longest mount point above it; ABI_VOLUME_UNKNOWN without one. */
uint64_t volumes_find_path(const struct volumes *volumes, const char *path, uint32_t namespace);

/* Takes back the prefixes that are stale. 0 or -ENOMEM. */
int volumes_drop_stale(struct volumes *volumes);

/* The kernel side's map is full, of namespaces that are gone as likely as not: those that are there are met again. 0 or
   -ENOMEM. */
int volumes_drop_foreign(struct volumes *volumes);

/* --- volume_namespace.c --- */

/* The mount namespace of a process under /proc; 0 when that cannot be told. */
uint32_t volumes_namespace_of(const char *pid);

#endif
