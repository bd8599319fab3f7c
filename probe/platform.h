/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What storage platforms count themselves, as the storage side of a node: NFS clients (/proc/self/mountstats), the
 * kernel's NFS server (/proc/net/rpc/nfsd), Lustre clients (llite stats), GPUDirect Storage
 * (/proc/driver/nvidia-fs/stats), and any storage system through a file that somebody writes (probe/platform_file.h).
 * Their counters only grow; what has happened is the difference to the last time. None of it asks a file system.
 */
#ifndef UNBLEND_PROBE_PLATFORM_H
#define UNBLEND_PROBE_PLATFORM_H

#include <stdint.h>

#include "lib/record.h"

/* What a number is. */
enum platform_value { PLATFORM_NONE, PLATFORM_OPS, PLATFORM_BYTES, PLATFORM_ERRORS, PLATFORM_QUEUE, PLATFORM_SERVICE };
#define PLATFORM_VALUES 6

/* One counter row as it stands; strings are the parser's, until it goes on. */
struct platform_row {
    enum layer layer;
    const char *volume; /* on the node; or everywhere, if shared */
    const char *fstype;
    const char *instance; /* of a volume that may be mounted more than once, each with counters of its own; NULL */
    bool shared;
    enum request_kind request;
    unsigned known; /* enum station_known */
    uint64_t ops, bytes, errors, queue_ns, service_ns;
    uint32_t parts[PLATFORM_VALUES]; /* of how many counters each is the sum; 0: that is not told */
};

/* Called for each row. 0 to go on, else the parser gives that back. */
typedef int (*platform_sink)(void *context, const struct platform_row *row);

/* The parsers; text is NUL-terminated and is changed. What does not parse is skipped. 0, or what the sink gave. */
int platform_mountstats(char *text, platform_sink sink, void *context);
int platform_nfsd(char *text, platform_sink sink, void *context);
int platform_lustre(const char *volume, char *text, platform_sink sink, void *context);
int platform_nvidia(char *text, platform_sink sink, void *context);

struct platform;

/* root stands before /proc and /sys ("" but for tests); file: --platform-metrics, or NULL. 0 or -ENOMEM. */
int platform_new(const char *root, const char *node, const char *file, struct platform **out);
void platform_free(struct platform *platform); /* NULL is fine */

/* What the kernel counts counts from now on; without that, from the first drain on. 0 or -errno. */
int platform_begin(struct platform *platform);

/* Adds what was counted since the last time; the first time nothing. 0 or -errno. */
int platform_drain(struct platform *platform, struct batch *batch);

/* Why the file says nothing now; NULL when it does, or there is none. */
const char *platform_why(const struct platform *platform);
const char *platform_name(const struct platform *platform);

#endif
