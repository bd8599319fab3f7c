/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File system types, and the names of volumes: pure functions of what mountinfo says.
 *
 * A shared volume, which a network or cluster file system has, is named by type and source, so that it has the same name
 * on every node, wherever it is mounted: "nfs:filer:/home", "lustre:scratch", "sshfs:host:/data". A local one is named by
 * node, type, and its UUID or else its source: "n1:ext4:/dev/vda".
 */
#ifndef UNBLEND_PROBE_VOLUME_TYPE_H
#define UNBLEND_PROBE_VOLUME_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/record.h"

/* Shows the kernel's state instead of storing anything; all of them, the last one NULL. */
bool volume_type_is_pseudo(const char *fstype);
extern const char *const volume_type_pseudo[];

/* Its buffered reads are the page cache's, page by page and in the reading task. */
bool volume_type_is_cached(const char *fstype);

/* Its source is the same storage on every node. */
bool volume_type_is_shared(const char *fstype, const char *source);

struct volume_origin {
    const char *node, *fstype, *source;
    const char *uuid;  /* of its device; NULL when not known */
    const char *point; /* where it is mounted; the first of several */
    bool elsewhere;    /* not in the node's own mount namespace: point is no name by itself */
    unsigned major, minor;
};

/* Room for any of them: it is cut where it does not fit. */
#define VOLUME_NAME_MAX 1024
void volume_type_name(const struct volume_origin *origin, char name[VOLUME_NAME_MAX]);

/* One of the comma-separated options of a mount, as "upperdir"; copied into value. False when there is none. */
bool volume_type_option(const char *options, const char *name, char *value, size_t size);

#endif
