/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files by their size, as reads are told apart: a class says what is read in pieces of one size. */
#ifndef UNBLEND_LIB_FILE_SIZE_H
#define UNBLEND_LIB_FILE_SIZE_H

#define FILE_MEDIUM_MIN (128u << 10) /* bytes; what is smaller is small, as in profiles losf and cv-training */
#define FILE_LARGE_MIN  (4u << 20)   /* no sample or article any more, but a shard or an archive of them */

enum file_size { FILE_SMALL, FILE_MEDIUM, FILE_LARGE, FILE_SIZES };

#endif
