/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/join.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"

static void refuse(struct answer *answer, unsigned status, const char *field, const char *why)
{
    *answer = (struct answer){.status = status};
    snprintf(answer->field, sizeof(answer->field), "%s", field);
    snprintf(answer->why, sizeof(answer->why), "%s", why);
}

/* A name of 1 to 255 bytes; without must_be it may be missing. */
static int take_name(const json_t *value, const char *field, bool must_be, char *out, size_t size,
                     struct answer *answer)
{
    const json_t *name = json_object_get(value, field);

    *out = '\0';
    if (!name && !must_be)
        return 0;
    if (!json_string_length(name) || json_string_length(name) >= size) {
        refuse(answer, 400, field, "must be a string of 1 to 255 bytes");
        return -EINVAL;
    }
    memcpy(out, json_string_value(name), json_string_length(name) + 1);
    return 0;
}

int join_decode(const char *body, size_t size, struct identity *who, struct answer *answer)
{
    json_auto_t *value = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
    struct identity wanted = {.node = ""};

    if (!json_is_object(value)) {
        refuse(answer, 400, "", "the body is no JSON object: send {\"node\": NAME, \"cluster\": NAME}");
        return -EINVAL;
    }
    if (take_name(value, "node", true, wanted.node, sizeof(wanted.node), answer) ||
        take_name(value, "cluster", false, wanted.cluster, sizeof(wanted.cluster), answer))
        return -EINVAL;
    if (strchr(wanted.cluster, '/')) {
        refuse(answer, 400, "cluster", "must not hold a /: such clusters are other sites'");
        return -EINVAL;
    }
    *who = wanted;
    return 0;
}

void join_exchange(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
                   struct answer *answer, char token[TOKEN_DIGITS + 1])
{
    uint8_t hash[SHA256_SIZE];
    char text[TOKEN_DIGITS + 1];
    int64_t left = 0;
    int err = token_new(text, hash);

    if (!err)
        err = store_join(store, join_hash, who, address, hash, &left);
    switch (err) {
    case 0:
        *answer = (struct answer){.status = 200};
        memcpy(token, text, sizeof(text));
        log_info("node %s of cluster %s has enrolled from %s by a join token, which is good for %lld more", who->node,
                 *who->cluster ? who->cluster : "any", address, (long long)left);
        break;
    case -EACCES:
        refuse(answer, 401, "", "the join token is not known, or has expired");
        break;
    case -EPERM:
        refuse(answer, 403, "node", "the join token is for other names or another cluster");
        break;
    case -EEXIST:
        refuse(answer, 409, "node", "the node has a token: use that, or revoke it first");
        break;
    case -EDQUOT:
        refuse(answer, 403, "", "the join token is used up");
        break;
    default:
        if (err != -EAGAIN && err != -ENOENT)
            log_error("node %s was not enrolled: %s", who->node, store_why(store));
        ingest_refuse(store, err, answer);
    }
    explicit_bzero(text, sizeof(text));
}
