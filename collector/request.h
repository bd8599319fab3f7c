/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One HTTP request on its way through listen.c and the pool. */
#ifndef UNBLEND_COLLECTOR_REQUEST_H
#define UNBLEND_COLLECTOR_REQUEST_H

#include <microhttpd.h>
#include <time.h>

#include "collector/ingest.h"
#include "collector/pool.h"
#include "collector/visitor.h"

enum route {
    ROUTE_NONE,
    ROUTE_BATCHES, /* these two by POST and with a token */
    ROUTE_ENROLL,
    ROUTE_HEALTH,
    ROUTE_READY,
    ROUTE_METRICS,
};

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
    struct visitor *visitor;
    enum route route;
    const char *path, *method; /* literals; path is NULL for one that is not ours */
    bool is_last; /* of its connection: where it ends, and another begins, is not certain */
    time_t started; /* monotonic */
    uint8_t token[SHA256_SIZE];
    struct identity who;
    enum encoding encoding;
    char *body;
    size_t size, capacity, size_max;
    uint64_t received; /* bytes of body, kept or not */
    struct answer answer;
    unsigned wait_s; /* before another attempt makes sense; 0: not said */
    char new_token[TOKEN_DIGITS + 1]; /* what an enrolment has made */
};

/* What the answer will be: a status, and what is wrong, in words; wait_s: seconds before another attempt makes sense
   (status 429). */
void request_refuse(struct request *request, unsigned status, const char *why);
void request_refuse_for(struct request *request, unsigned wait_s, const char *why);

/* Sends the answer: JSON with what was stored, or with what is wrong and where, which is also logged. */
enum MHD_Result request_answer(struct request *request);

/* Sends a text of any kind; takes over the text, which was malloc'ed. */
enum MHD_Result request_text(struct MHD_Connection *connection, unsigned status, const char *type,
                             char *text, size_t size);

/* Keeps a piece of body; on failure the answer says why. */
void request_take(struct request *request, const char *data, size_t size);

void request_free(struct request *request);

#endif
