/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The secret of a site: 256 random bits in a file that only its owner reads, made on first use and kept for good. From
 * it come the names under which things leave the site, always the same for the same name, and the key that signs
 * bundles. Links libcrypto.
 */
#ifndef UNBLEND_LIB_SITE_KEY_H
#define UNBLEND_LIB_SITE_KEY_H

#include <stddef.h>
#include <stdint.h>

#define SITE_KEY_SIZE       32
#define SITE_SIGNATURE_SIZE 64

struct site_key {
    uint8_t pseudonyms[SITE_KEY_SIZE]; /* for HMAC-SHA256 */
    uint8_t seed[SITE_KEY_SIZE];       /* of the signing key, Ed25519 */
    uint8_t public_key[SITE_KEY_SIZE]; /* what others know it by */
};

/* Reads the file, or makes it with the directories above. 0 or -errno; -EPERM when others could read it, -EBADMSG when
   it is no such file. */
int site_key_load(const char *path, struct site_key *out);

/* Where the key is when nobody says: malloc'ed, NULL without memory. */
char *site_key_path(void);

/* The HMAC of a name as digits: field tells names of different kinds apart. */
void site_key_digest(const struct site_key *key, const char *field, const char *name, char *digits, size_t count);

int site_key_sign(const struct site_key *key, const void *data, size_t size, uint8_t signature[SITE_SIGNATURE_SIZE]);

/* 0, or -EBADMSG. */
int site_key_verify(const uint8_t public_key[SITE_KEY_SIZE], const void *data, size_t size,
                    const uint8_t signature[SITE_SIGNATURE_SIZE]);

#endif
