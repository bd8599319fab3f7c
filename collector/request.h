/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One HTTP request on its way through listen.c and the pool. */
#ifndef UNBLEND_COLLECTOR_REQUEST_H
#define UNBLEND_COLLECTOR_REQUEST_H

#include <microhttpd.h>
#include <time.h>

#include "collector/ingest.h"
#include "collector/pool.h"

enum request_state {
    REQUEST_ASKED,    /* suspended at its headers: may it come in? is the database there? */
    REQUEST_READING,  /* takes the body */
    REQUEST_STORING,  /* suspended behind its body */
    REQUEST_DRAINING, /* refused; throws the rest of the body away, so that the client reads the
                         answer */
};

struct request {
    struct task task; /* first: a task is its request */
    struct MHD_Connection *connection;
    struct listener *listener;
    enum request_state state;
    bool is_post;   /* of batches; the others are not counted */
    time_t started; /* monotonic */
    uint8_t token[SHA256_SIZE];
    struct identity who;
    enum encoding encoding;
    char *body;
    size_t size, capacity;
    uint64_t received; /* bytes of body, kept or not */
    struct answer answer;
};

/* Sends the answer: JSON with what was stored, or with what is wrong and where. */
enum MHD_Result request_answer(struct request *request);

/* Sends a text of any kind; takes over the text, which was malloc'ed. */
enum MHD_Result request_text(struct MHD_Connection *connection, unsigned status, const char *type,
                             char *text, size_t size);

/* Keeps a piece of body; on failure the answer says why. */
void request_take(struct request *request, const char *data, size_t size);

void request_free(struct request *request);

#endif
