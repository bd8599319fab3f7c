/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the body of a request to rows in the database: decompress, decode, validate, store; all or
 * nothing. */
#ifndef UNBLEND_COLLECTOR_INGEST_H
#define UNBLEND_COLLECTOR_INGEST_H

#include <stddef.h>

#include "collector/auth.h"
#include "collector/store.h"
#include "lib/codec.h"
#include "lib/compress.h"
#include "lib/outward.h"

#define BODY_MAX  (16u << 20)  /* as it comes over the wire */
#define PLAIN_MAX (128u << 20) /* decompressed */

/* Bytes of a job's or volume's name. Sums are found by it, and a row of an index, with the cluster's name, has 2,704 at
   most; agents make none of more than 1,023. */
#define INGEST_NAME_MAX 2000

/* What the client is told. */
struct answer {
    unsigned status; /* HTTP */
    unsigned line;   /* 1 based; 0 when it concerns the whole body */
    char field[64];  /* "" when it is no single field */
    char why[320];
    unsigned batches;    /* stored */
    unsigned duplicates; /* there before */
    uint64_t records;
};

/* Whether a decoded batch can be stored. 0 or -EBADMSG with *error. */
int ingest_validate(const struct batch *batch, struct codec_error *error);

/* The line of text at *at, without its newline and blanks at either end; false at the end of the
 * body. */
bool ingest_line(const char *text, size_t size, size_t *at, const char **line, size_t *line_size);

/* One line, as far as it goes without the database. 0 with item->batch, to be cleared, and answer->status 200; or with
   a refusal in the answer, which holds for this line alone, and item->batch NULL; or -ENOMEM. */
int ingest_read(const struct identity *who, const char *line, size_t size, struct store_item *item,
                struct answer *answer);

/* What store_put() made of it, into the answer; it may wait for another site from now on, and the batch is for nothing
   else then. Results of the store. */
int ingest_note(struct store *store, struct store_item *item, struct answer *answer);

/* Stores a body's batches for somebody who has shown a token. Never fails but through the answer.
 */
void ingest(struct store *store, const struct identity *who, enum encoding encoding,
            const void *body, size_t size, struct answer *answer);

/* From now on what is stored also waits for another site, as those outside may see it; before the first ingest(). Must
   live as long; NULL: nothing leaves. */
void ingest_forward(const struct outward *outward);

/* The answer to a failure of the store. */
void ingest_refuse(const struct store *store, int err, struct answer *answer);

#endif
