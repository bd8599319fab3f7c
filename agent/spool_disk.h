/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the spool (see spool.h), one operation each, made so that a crash at any moment leaves all of a
 * file or nothing, and what was there before.
 *
 * All return 0 or -errno, and log nothing.
 */
#ifndef UNBLEND_AGENT_SPOOL_DISK_H
#define UNBLEND_AGENT_SPOOL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/record.h"

struct spool_disk {
    int directory, waiting, refused; /* descriptors of DIR, DIR/spool, DIR/refused; -1 while there are none */
};

/* Makes what is missing and takes the directory for this process alone: -EBUSY while another one has it. */
int spool_disk_open(const char *path, struct spool_disk *disk);
void spool_disk_close(struct spool_disk *disk);

/* Makes all of it that user's. */
int spool_disk_give(const struct spool_disk *disk, uid_t uid, gid_t gid);

/* Calls back for each batch that waits, in no order, and stops when that fails; removes a torn write. */
int spool_disk_scan(const struct spool_disk *disk, int (*found)(void *context, uint64_t number, uint64_t size),
                    void *context);

/* All of it is safe under its name, or nothing of it is left. */
int spool_disk_write(const struct spool_disk *disk, uint64_t number, const void *frame, size_t size);

/* A batch's compressed JSON, malloc'ed. -ENOENT when it has gone, -EBADMSG when it is damaged or cannot be read. */
int spool_disk_read(const struct spool_disk *disk, uint64_t number, void **payload, size_t *size);

/* For good, or to DIR/refused. */
int spool_disk_remove(const struct spool_disk *disk, uint64_t number);
int spool_disk_set_aside(const struct spool_disk *disk, uint64_t number);

/* A small file of DIR: replaced as a whole, read as a text or as the batch that a frame holds. */
int spool_disk_save(const struct spool_disk *disk, const char *name, const void *data, size_t size);
int spool_disk_load(const struct spool_disk *disk, const char *name, char *text, size_t size);
int spool_disk_load_frame(const struct spool_disk *disk, const char *name, struct batch **out);
int spool_disk_forget(const struct spool_disk *disk, const char *name);

/* What a file of that size takes on the disk. */
static inline uint64_t spool_disk_usage(uint64_t size)
{
    return (size + 4095) / 4096 * 4096;
}

#endif
