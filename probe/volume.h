/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the kernel's device numbers to volumes that people know: reads mountinfo, keeps the kernel's
 * prefix tree of mount points up to date, and names volumes.
 *
 * Names are those of probe/volume_type.h; a block device is named by the node and its name under /dev. No file system
 * is asked for anything, as those that hang are of interest most.
 */
#ifndef UNBLEND_PROBE_VOLUME_H
#define UNBLEND_PROBE_VOLUME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"

struct volumes;

/* The maps of the BPF side; a descriptor of -1 is left alone (tests). */
struct volume_maps {
    int volumes;
    int mounts;
    int namespaces;
    int pseudo_types;
};

/* pseudo: pseudo file systems count too; root: as in probe/host.h, NULL for "". 0 or -errno; texts are copied. */
int volumes_new(const struct volume_maps *maps, const char *node, const char *root, bool pseudo, struct volumes **out);
void volumes_free(struct volumes *volumes); /* NULL is fine */

/* The process under /proc whose mounts are the node's: our own, or with another root, as in a container, the first one. */
const char *volumes_owner(const struct volumes *volumes);

/* Reads the node's mounts again, and those of namespaces that the kernel side has met. */
void volumes_refresh(struct volumes *volumes);

/* Reads namespaces that the kernel side has met and nobody has read yet. */
void volumes_refresh_namespaces(struct volumes *volumes);

/* The folder of a volume that is abi_mount.root to the kernel side: "", or "/a/b". */
const char *volumes_root(const struct volumes *volumes, uint32_t number);

/* Adds the volume of a kernel key (probe/bpf/abi.h) to a batch. 0 or -ENOMEM. */
int volumes_name(struct volumes *volumes, uint64_t key, struct batch *batch, uint32_t *index);

/* Whether buffered reads of that volume go through the kernel's page cache, page by page and in the reading task: so
   that one which adds no page to it was served without the device. False where that is not sure: FUSE, SMB and 9P
   may go past the cache, overlay has files of others, tmpfs has no device. */
bool volumes_cached(const struct volumes *volumes, uint64_t key);

/* One mountinfo file (proc(5)); what does not parse is skipped. For tests: path may be any file. 0 or -errno. */
int volumes_read(struct volumes *volumes, const char *path, uint32_t namespace);

#endif
