/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zstd and gzip in memory, with a limit on what may come out (decompression bombs end there).
 * Results are malloc'ed and belong to the caller; a '\0' that is not counted stands behind them.
 */
#ifndef UNBLEND_LIB_COMPRESS_H
#define UNBLEND_LIB_COMPRESS_H

#include <stddef.h>

enum encoding {
    ENCODING_NONE,
    ENCODING_ZSTD,
    ENCODING_GZIP,
};

/* As in HTTP's Content-Encoding; NULL and "identity" are none. 0 or -EINVAL. */
int encoding_by_name(const char *name, enum encoding *out);

/* zstd, with a content checksum. 0 or -ENOMEM. */
int compress_zstd(const void *data, size_t size, void **out, size_t *out_size);

/* 0, -ENOMEM, -EBADMSG for what is damaged, -EFBIG for what would exceed limit. */
int decompress(enum encoding encoding, const void *data, size_t size, size_t limit, void **out,
               size_t *out_size) __attribute__((warn_unused_result));

/* The beginning of what zstd data hold, up to `room` bytes into out; *got is less at their end. 0, -ENOMEM or -EBADMSG. */
int decompress_start(const void *data, size_t size, void *out, size_t room, size_t *got);

#endif
