/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens: 256 random bits as 64 hex digits. The database holds their SHA-256 only, so whoever reads
 * it cannot write as a node.
 */
#ifndef UNBLEND_COLLECTOR_AUTH_H
#define UNBLEND_COLLECTOR_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sha256.h"

#define TOKEN_DIGITS 64
#define LOOKUP_SIZE  8 /* bytes of a token's SHA-256 by which its row is found */

/* Whom a token lets in: one node, or a site with all of its nodes. */
struct identity {
    char cluster[256]; /* "" is any */
    char node[256];
    char site[128]; /* "" for a node; what a site sends is kept under clusters named SITE/CLUSTER */
};

/* A new token and its hash. 0 or -errno. */
int token_new(char text[TOKEN_DIGITS + 1], uint8_t hash[SHA256_SIZE]);

/* The hash of a token. 0, or -EINVAL for what is none. */
int token_check(const char *token, uint8_t hash[SHA256_SIZE]);

/* The hash of the token in an Authorization header ("Bearer TOKEN"). 0, or -EINVAL for anything
   else and for NULL. */
int token_hash(const char *authorization, uint8_t hash[SHA256_SIZE]);

/* Takes the same time wherever the two differ. */
bool hash_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE]);

/* Whether somebody may write as that node; a site may as any, as it writes under clusters of its own. */
bool identity_may(const struct identity *who, const char *cluster, const char *node);

/* Of somebody who may not: the field that is wrong, and *why in words. */
const char *identity_wrong(const struct identity *who, const char *cluster, const char *node, const char **why);

#endif
