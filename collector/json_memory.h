/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where jansson's values live while a body is decoded: in a thread's own memory, which is given back at once, as they
 * are some thousand small pieces that nobody has a moment later. What is made in between must not be kept.
 */
#ifndef UNBLEND_COLLECTOR_JSON_MEMORY_H
#define UNBLEND_COLLECTOR_JSON_MEMORY_H

/* Once, before the first value is made: until then begin and end do nothing. */
void json_memory_use(void);

/* Of the calling thread. */
void json_memory_begin(void);
void json_memory_end(void);

#endif
