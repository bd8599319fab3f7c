/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256, for tokens, bodies, bundles and the keys of dimension rows. Links libcrypto. */
#ifndef UNBLEND_LIB_SHA256_H
#define UNBLEND_LIB_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

/* Ends the program when it has no memory for it: what is no digest must not be compared with one. */
void sha256(const void *data, size_t size, uint8_t digest[SHA256_SIZE]);

#endif
