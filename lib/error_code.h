/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of errno values. Files, wire, database and reports carry names, because the numbers are not the same on
 * every architecture.
 */
#ifndef UNBLEND_LIB_ERROR_CODE_H
#define UNBLEND_LIB_ERROR_CODE_H

#define ERROR_CODES     496 /* values are below; the largest that any architecture has is 133 */
#define ERROR_NAME_SIZE 24

/* "ENOENT"; the number of one that has no name. The text is static, or in the buffer of ERROR_NAME_SIZE bytes. */
const char *error_code_name(unsigned code, char *buffer);

/* 0 for what is no name and no number of an error. */
unsigned error_code_by_name(const char *name);

#endif
