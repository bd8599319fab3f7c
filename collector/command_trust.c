/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command_trust.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define SECOND UINT64_C(1000000000)
#define MAX_   1000000u /* nodes by one join token */

static int make_token(char token[TOKEN_DIGITS + 1], uint8_t hash[SHA256_SIZE])
{
    int err = token_new(token, hash);

    if (err)
        log_error("cannot make a token: %s: is there a random device?", log_errno(err));
    return err;
}

/* The only time that it can be seen. */
static int print_token(char token[TOKEN_DIGITS + 1])
{
    int err = puts(token) < 0 || fflush(stdout) ? -EIO : 0;

    explicit_bzero(token, TOKEN_DIGITS);
    if (err)
        log_error("cannot print the token: %s: enroll again", log_errno(-errno));
    return err;
}

static int check(int err, const struct store *store, const char *what, const char *name)
{
    if (err == -ESRCH)
        log_error("cannot %s %s: it has no token: check the name", what, name);
    else if (err)
        log_error("cannot %s %s: %s: check the database", what, name, store_why(store));
    return err;
}

static int enroll_node(struct store *store, const struct values *values, void *context)
{
    char token[TOKEN_DIGITS + 1];
    uint8_t hash[SHA256_SIZE];
    int err = make_token(token, hash);

    if (!err)
        err = check(store_enroll(store, &values->who, hash), store, "enroll", values->who.node);
    return err ? err : print_token(token);
}

static int enroll_join(struct store *store, const struct values *values, void *context)
{
    const struct join join = {
        .glob = values->join,
        .cluster = values->cluster,
        .expires_s = (int64_t)(values->expires_ns / SECOND),
        .uses = (int64_t)values->max,
        .reborn_s = (int64_t)(values->reborn_ns / SECOND),
    };
    char token[TOKEN_DIGITS + 1];
    uint8_t hash[SHA256_SIZE];
    int err = make_token(token, hash);

    if (!err)
        err = check(store_join_new(store, &join, hash), store, "make a join token for", values->join);
    return err ? err : print_token(token);
}

static int from_hex(const char *text, uint8_t out[SHA256_SIZE])
{
    if (strspn(text, "0123456789abcdef") != 2 * SHA256_SIZE || text[2 * SHA256_SIZE])
        return -EINVAL;
    for (unsigned i = 0; i < SHA256_SIZE; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return 0;
}

/* A key lets in bundles, a token forwarded batches; with a key no token is made. */
static int enroll_site(struct store *store, const struct values *values, void *context)
{
    char token[TOKEN_DIGITS + 1];
    uint8_t hash[SHA256_SIZE], key[SHA256_SIZE];
    int err = 0;

    if (values->key) {
        from_hex(values->key, key); /* checked before */
        return check(store_site(store, values->site, NULL, key), store, "enroll site", values->site);
    }
    err = make_token(token, hash);
    if (!err)
        err = check(store_site(store, values->site, hash, NULL), store, "enroll site", values->site);
    return err ? err : print_token(token);
}

/* Just one of them says whom it is about. */
static bool is_one(const struct values *values)
{
    if (!!*values->who.node + !!values->join + !!values->site == 1)
        return true;
    log_error("whom? give one of NODE, --join GLOB and --site NAME: see --help");
    return false;
}

int command_enroll(const struct values *values)
{
    uint8_t key[SHA256_SIZE];

    if (!is_one(values))
        return WORK_USAGE;
    if (*values->who.node)
        return work_with_database(values, false, enroll_node, NULL);
    if (values->join) {
        if (!*values->join || strlen(values->join) > 255)
            log_error("wrong name: --join must have 1 to 255 bytes");
        else if (values->expires_ns < SECOND || values->expires_ns > 3650 * 86400 * SECOND)
            log_error("until when? give --expires TIME, from 1s to 3650d");
        else if (!values->max || values->max > MAX_)
            log_error("how many nodes? give --max N, from 1 to %u", MAX_);
        else
            return work_with_database(values, false, enroll_join, NULL);
        return WORK_USAGE;
    }
    if (!*values->site || strlen(values->site) >= sizeof(values->who.site) || strchr(values->site, '/'))
        log_error("wrong name: --site must have 1 to 127 bytes, and no /");
    else if (values->key && from_hex(values->key, key))
        log_error("wrong key: --key takes 64 hex digits, as `unblend-collector site-key` prints them");
    else
        return work_with_database(values, false, enroll_site, NULL);
    return WORK_USAGE;
}

static int shut_node_out(struct store *store, const struct identity *who)
{
    bool writes_on = false;
    int err = store_revoke(store, who, &writes_on);

    if (writes_on)
        log_warning("node %s writes in %s all the same: it has a token for every cluster: revoke it without --cluster",
                    who->node, who->cluster);
    return check(err, store, "revoke", who->node);
}

static int shut_out(struct store *store, const struct values *values, void *context)
{
    if (values->join)
        return check(store_join_revoke(store, values->join), store, "revoke --join", values->join);
    if (values->site)
        return check(store_site_revoke(store, values->site), store, "revoke --site", values->site);
    return shut_node_out(store, &values->who);
}

int command_revoke(const struct values *values)
{
    return is_one(values) ? work_with_database(values, false, shut_out, NULL) : WORK_USAGE;
}
