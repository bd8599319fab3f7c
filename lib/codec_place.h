/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which member of a JSON text a parser stopped at, where all that it tells is a number of bytes. */
#ifndef UNBLEND_LIB_CODEC_PLACE_H
#define UNBLEND_LIB_CODEC_PLACE_H

#include <stddef.h>

#define CODEC_DEPTH_MAX 16

/* As in struct codec_error, printable ASCII: "records[3].bytes", "" where it is none. The text is nested no deeper than
   CODEC_DEPTH_MAX, and sound up to there. */
void codec_place(const char *json, size_t position, char *field, size_t size);

#endif
