/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/auth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

int token_new(char text[TOKEN_DIGITS + 1], uint8_t hash[SHA256_SIZE])
{
    uint8_t bits[TOKEN_DIGITS / 2];

    if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
        return -errno;
    for (unsigned i = 0; i < sizeof(bits); i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    sha256(text, TOKEN_DIGITS, hash);
    return 0;
}

int token_check(const char *token, uint8_t hash[SHA256_SIZE])
{
    if (strspn(token, "0123456789abcdef") != TOKEN_DIGITS || token[TOKEN_DIGITS])
        return -EINVAL;
    sha256(token, TOKEN_DIGITS, hash);
    return 0;
}

int token_hash(const char *authorization, uint8_t hash[SHA256_SIZE])
{
    static const char scheme[] = "Bearer";
    const char *token;

    if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
        return -EINVAL;
    token = authorization + sizeof(scheme) - 1;
    if (*token != ' ')
        return -EINVAL;
    token += strspn(token, " ");
    return token_check(token, hash);
}

bool hash_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE])
{
    volatile uint8_t differs = 0;

    for (unsigned i = 0; i < SHA256_SIZE; i++)
        differs = (uint8_t)(differs | (a[i] ^ b[i]));
    return differs == 0;
}

bool identity_may(const struct identity *who, const char *cluster, const char *node)
{
    if (*who->site)
        return true;
    return strcmp(who->node, node) == 0 && !strchr(cluster, '/') &&
           (!*who->cluster || strcmp(who->cluster, cluster) == 0);
}

const char *identity_wrong(const struct identity *who, const char *cluster, const char *node, const char **why)
{
    if (strcmp(who->node, node) != 0) {
        *why = "the token belongs to another node";
        return "node";
    }
    *why = strchr(cluster, '/') ? "must not hold a /: such clusters are other sites'"
                                : "the token belongs to another cluster";
    return "cluster";
}
