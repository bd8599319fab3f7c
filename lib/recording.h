/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording: a file of batches, and the frames that the agent's spool and socket use too.
 *
 *   file   "UNBLEND1" then frames
 *          (recordings that were put one behind the other are one)
 *   frame  u32 length of the payload, u32 CRC-32 (zlib's) of length and payload, payload; little endian
 *   payload  one batch as JSON (lib/codec.h), compressed by zstd
 *
 * A frame is written by one write(), so a crash can only tear the last one; whoever reads stops there
 * and says so, whoever appends cuts it off first.
 */
#ifndef UNBLEND_LIB_RECORDING_H
#define UNBLEND_LIB_RECORDING_H

#include <stdint.h>

#include "lib/codec.h"

#define RECORDING_MAGIC     "UNBLEND1"
#define RECORDING_FRAME_MAX (64u << 20)  /* compressed */
#define RECORDING_BATCH_MAX (512u << 20) /* decompressed */

/* A frame with its payload, malloc'ed. 0, -ENOMEM, or -EFBIG for a batch beyond the limits above. */
int frame_encode(const struct batch *batch, void **frame, size_t *size);

/* The same with a payload as lib/packed.h has it: for a socket, never for what is kept. */
int frame_pack(const struct batch *batch, void **frame, size_t *size);

/*
 * Takes a frame off the front of a buffer. 1 with the payload's place in *payload and the whole frame's
 * size in *used; 0 when the buffer ends inside the frame; -EBADMSG when it is no intact frame.
 */
int frame_next(const void *buffer, size_t size, const void **payload, size_t *payload_size,
               size_t *used);

/* A payload's batch. 0, -ENOMEM or -EBADMSG with *error. */
int frame_decode(const void *payload, size_t size, struct batch **out, struct codec_error *error);

/* When a payload's batch begins, of its own beginning alone where that says so, as whatever writes frames here does. 0,
   -ENOMEM or -EBADMSG: it holds no batch. */
int frame_start(const void *payload, size_t size, int64_t *start_ns);

/* --- writing --- */

struct recording_writer;

/* Creates the file, or empties it. 0 or -errno; -EBUSY while another writer has it. */
int recording_create(const char *path, struct recording_writer **out);

/* Opens the file for more, or creates it; what stands behind the last intact frame is cut off, *cut tells
   how many bytes. 0, -errno, -EBUSY as above, -EBADMSG if it is no recording. */
int recording_append(const char *path, struct recording_writer **out, uint64_t *cut);

/* 0 or -errno; after a failure (ENOSPC) what was there before is still intact and writing can go on. */
int recording_write(struct recording_writer *writer, const struct batch *batch);

/* Whether recording_create() found no file of that name, nor a link or a device. */
bool recording_is_new(const struct recording_writer *writer);

/* The descriptor, for fchown(); stays the writer's. */
int recording_fd(const struct recording_writer *writer);

/* Flushes to the disk and closes. 0 or -errno. */
int recording_close(struct recording_writer *writer);

/* --- reading --- */

struct recording_reader;

/* 0, -errno, -EBADMSG if it is no recording, or -EPROTONOSUPPORT if it is one of another version. */
int recording_open(const char *path, struct recording_reader **out);

/*
 * The next batch, which then is the caller's. 1, 0 at the end, -ENOMEM, or -EBADMSG with *error: damage;
 * everything before it was good, and further calls go on behind it if there is an intact frame.
 */
int recording_read(struct recording_reader *reader, struct batch **out, struct codec_error *error);

/* The next frame's payload, for frame_decode(), valid until the next call; otherwise as recording_read(). */
int recording_frame(struct recording_reader *reader, const void **payload, size_t *size, struct codec_error *error);

/* Where the next frame begins, in bytes from the file's start; of what can be seeked in only. */
uint64_t recording_tell(const struct recording_reader *reader);

/* Goes on reading at that place. One that is no frame's beginning counts as damage up to the next frame. 0 or
   -errno. */
int recording_seek(struct recording_reader *reader, uint64_t offset);

void recording_reader_free(struct recording_reader *reader); /* NULL is fine */

#endif
