/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of an enrolment, and what stands in an Authorization header. */
#include <stdlib.h>
#include <string.h>

#include "collector/join.h"
#include "lib/cleanup.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing of the store is reached. */
const char *store_why(const struct store *store)
{
    return "";
}

int store_join(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
               const uint8_t hash[SHA256_SIZE], int64_t *left)
{
    abort();
}

void ingest_refuse(const struct store *store, int err, struct answer *answer)
{
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);
    struct answer answer = {.status = 0};
    struct identity who = {.node = ""};
    uint8_t hash[SHA256_SIZE];

    CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    if (join_decode(text, size, &who, &answer)) {
        CHECK(answer.status == 400 && *answer.why && !*who.node);
    } else {
        CHECK(!answer.status && *who.node && strlen(who.node) < sizeof(who.node));
        CHECK(strlen(who.cluster) < sizeof(who.cluster) && !strchr(who.cluster, '/') && !*who.site);
    }
    if (!token_hash(text, hash))
        CHECK(strlen(text) >= TOKEN_DIGITS + 7);
    return 0;
}
