/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4), for tokens, bodies and the keys of dimension rows. Cannot fail. */
#ifndef UNBLEND_COLLECTOR_SHA256_H
#define UNBLEND_COLLECTOR_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
};

void sha256_start(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t size);
void sha256_end(struct sha256 *sha, uint8_t digest[SHA256_SIZE]);

/* All of it at once. */
void sha256(const void *data, size_t size, uint8_t digest[SHA256_SIZE]);

#endif
