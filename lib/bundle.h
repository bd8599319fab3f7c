/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bundle: batches on their way to another site without a network. Every frame is signed, for its place in the bundle
 * too, so a bundle that was changed by a bit, cut short, or put together from others is found out.
 *
 *   file   "UNBLENDX", the signer's public key (32 bytes), a random id (16), then frames
 *   frame  u32 length of the payload, u8 whether it is the last, Ed25519 signature (64), payload; little endian
 *   payload  batches as JSON lines, compressed by zstd
 *   signed   "unblend.bundle/1", key, id, u64 number of the frame from 0, last, length, SHA-256 of the payload
 *
 * Links libcrypto.
 */
#ifndef UNBLEND_LIB_BUNDLE_H
#define UNBLEND_LIB_BUNDLE_H

#include <stdbool.h>

#include "lib/site_key.h"

#define BUNDLE_MAGIC     "UNBLENDX"
#define BUNDLE_FRAME_MAX (16u << 20)  /* compressed */
#define BUNDLE_PLAIN_MAX (128u << 20) /* decompressed */

struct bundle_writer;
struct bundle_reader;

/* Writes to a descriptor, which stays the caller's, as does the key. 0 or -errno. */
int bundle_create(int fd, const struct site_key *key, struct bundle_writer **out);
int bundle_add(struct bundle_writer *writer, const char *json, size_t size); /* a batch */
int bundle_finish(struct bundle_writer *writer);                             /* without it a bundle is no bundle */
void bundle_writer_free(struct bundle_writer *writer);                       /* NULL is fine */

/* 0, -errno, or -EBADMSG if it is no bundle. */
int bundle_open(const char *path, struct bundle_reader **out);
void bundle_reader_free(struct bundle_reader *reader); /* NULL is fine */

/* Who says to have signed it; bundle_next() finds out. */
const uint8_t *bundle_key(const struct bundle_reader *reader);

/* The next frame's lines, malloc'ed. 1; 0 behind the last one, when nothing follows; -EBADMSG for what was changed;
   -errno. */
int bundle_next(struct bundle_reader *reader, void **lines, size_t *size);

/* To the first frame again. 0 or -errno. */
int bundle_rewind(struct bundle_reader *reader);

#endif
