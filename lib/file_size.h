/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files by their size: small ones are read whole, as samples or articles, of large ones a piece at a time. */
#ifndef UNBLEND_LIB_FILE_SIZE_H
#define UNBLEND_LIB_FILE_SIZE_H

#ifndef __bpf__
#include <stdint.h>
#endif

#define FILE_MEDIUM_MIN (128u << 10) /* bytes; what is smaller is small, as in profiles losf and cv-training */
#define FILE_LARGE_MIN  (4u << 20)   /* no sample or article any more, but a shard or an archive of them */

enum file_size { FILE_SMALL, FILE_MEDIUM, FILE_LARGE, FILE_SIZES };

static inline enum file_size file_size_class(uint64_t bytes)
{
    return (enum file_size)((bytes >= FILE_MEDIUM_MIN) + (bytes >= FILE_LARGE_MIN));
}

#endif
