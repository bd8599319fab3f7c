/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database as the collector sees it: batches in, tokens in and out. Everything that writes is
 * here and in schema.h. One transaction at a time; one store a thread.
 *
 * Results are those of db.h, and store_why() says the same in words.
 */
#ifndef UNBLEND_COLLECTOR_STORE_H
#define UNBLEND_COLLECTOR_STORE_H

#include "collector/auth.h"
#include "collector/db.h"
#include "lib/record.h"

#define LEDGER_WINDOW 1000 /* so many batches back a changed body is told from a repeated one */

struct store;

enum verdict {
    VERDICT_STORED,
    VERDICT_DUPLICATE, /* it is there already; nothing was changed */
    VERDICT_CONFLICT,  /* its key is there with another body */
};

/* Does not connect yet; the conninfo is copied. 0 or -ENOMEM. */
int store_new(const char *conninfo, struct store **out);
void store_free(struct store *store); /* NULL is fine */

const char *store_why(const struct store *store);

/* Connects if need be and asks the server something. -ENOENT without our schema, in our version. */
int store_check(struct store *store);

/* A batch to be stored; the hash is that of its body. */
struct store_item {
    struct batch *batch;
    uint8_t hash[SHA256_SIZE];
    enum verdict verdict; /* what store_put() says */
};

/*
 * The transaction: begin, put any number of batches, at once where they are many, commit; a batch is in the database,
 * for good, when store_commit() has returned 0. After any failure: store_rollback(), and nothing has happened
 * (after a failed commit: perhaps all of it, never a part). put also: -ENOMEM.
 */
int store_begin(struct store *store);
int store_put(struct store *store, struct store_item *items, unsigned count);
int store_commit(struct store *store);
void store_rollback(struct store *store);

/* Somebody with a token. */
struct asker {
    const uint8_t *hash;
    struct identity *who; /* filled in */
    bool known;           /* whether anybody has that token */
};

int store_identify(struct store *store, struct asker *askers, unsigned count);

/* Gives a node a new token, in place of the one it had; cluster "" is any. */
int store_enroll(struct store *store, const struct identity *who, const uint8_t hash[SHA256_SIZE]);

/* Takes a node's tokens away; cluster "" means all of them. *writes_on, with -ESRCH, too: it has one for every cluster,
   and so for the one that was named. -ESRCH if it has none. */
int store_revoke(struct store *store, const struct identity *who, bool *writes_on);

/* What a join token lets in: nodes whose names fit the glob, each once. */
struct join {
    const char *glob;
    const char *cluster;  /* "" is any */
    int64_t expires_s;    /* from now */
    int64_t uses;
    int64_t reborn_s;     /* a name may come again when its node was silent for so long; 0: never */
};

int store_join_new(struct store *store, const struct join *join, const uint8_t hash[SHA256_SIZE]);

/* Takes all join tokens with that glob away. -ESRCH if there is none. */
int store_join_revoke(struct store *store, const char *glob);

/*
 * Gives a node a token in exchange for a join token, and notes it. who->cluster "" becomes that of the join token. Also
 * -EACCES: there is no such join token, or no more; -EPERM: not for that name or cluster; -EEXIST: the node has a
 * token; -EDQUOT: it is used up.
 */
int store_join(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
               const uint8_t hash[SHA256_SIZE], int64_t *left);

/* Makes a site known, or gives it another token or key; NULL leaves either as it was. */
int store_site(struct store *store, const char *site, const uint8_t *hash, const uint8_t *public_key);
int store_site_revoke(struct store *store, const char *site); /* -ESRCH if it is not known */

/* Whose bundles a key signs; -EACCES if nobody's. */
int store_site_of_key(struct store *store, const uint8_t public_key[SHA256_SIZE], struct identity *out);

/* A batch for another site, inside the transaction that stores it here: a line of JSON with its newline, by zstd. */
int store_outbox_put(struct store *store, const void *body, size_t size);

struct outbox_row {
    int64_t id;
    unsigned char *body;
    size_t size;
};

/* Begins a transaction and takes the oldest rows behind a row's id (0: all) that wait and that no other collector has
   taken; then settle them, or store_rollback(). rows are to be cleared. */
int store_outbox_take(struct store *store, int64_t after, struct outbox_row *rows, unsigned most, unsigned *count);
void outbox_rows_clear(struct outbox_row *rows, unsigned count);

/* Deletes rows, or with refused keeps them aside, and commits. */
int store_outbox_settle(struct store *store, const struct outbox_row *rows, unsigned count, const char *refused);

/* Lets a role of the database write what collectors write, or read the views; makes it if it is not there. */
int store_grant(struct store *store, const char *role, bool may_write);

/* The connection itself, ready for use, for what the database is kept in order by; NULL when store_why() says why
   not. */
struct db *store_db(struct store *store);

static inline void store_item_clear(struct store_item *item)
{
    batch_free(item->batch);
    item->batch = NULL;
}

static inline void store_freep(struct store **store)
{
    store_free(*store);
}

#endif
