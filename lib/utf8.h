/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names come from outside (processes, mounts, schedulers) as bytes; JSON and PostgreSQL take UTF-8
 * only. Valid is what RFC 3629 allows: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef UNBLEND_LIB_UTF8_H
#define UNBLEND_LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const char *s);

/* Copies s with U+FFFD for each byte that is part of no character; needs UTF8_REPAIRED(strlen(s))
 * bytes. */
void utf8_repair(char *to, const char *s);

#define UTF8_REPAIRED(length) (3 * (size_t)(length) + 1)

/* Bytes of the character at s if a terminal or a browser would obey it instead of showing it: controls (C0, DEL, C1), and
   what turns the direction of text (U+202A to U+202E, U+2066 to U+2069). Else 0. */
size_t utf8_control(const char *s);

/* Shortens text to so many bytes at most, between two characters. */
void utf8_cut(char *text, size_t most);

/* Makes control characters '?': a line stays one line. */
void utf8_one_line(char *text);

#endif
