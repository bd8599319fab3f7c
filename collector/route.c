/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "collector/certificate.h"
#include "collector/framing.h"
#include "collector/join.h"
#include "collector/listen_private.h"
#include "collector/metrics.h"
#include "collector/request.h"
#include "collector/request_task.h"
#include "collector/together.h"

#define BODY_S        300         /* for a whole body, however it trickles */
#define DRAIN_MAX     (64u << 20) /* bytes of a refused body that are read politely */
#define COST_BYTES    (256.0 * 1024) /* of a body cost as much as a request */

static const char too_large[] = "the body is larger than 16 MiB: send fewer batches at once";
static const char overloaded[] = "the collector is overloaded: send it again later";

static const char *header(struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static uint64_t length_of(struct request *request)
{
    const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return length ? strtoull(length, NULL, 10) : 0;
}

/* Hands the request to a pool; its connection sleeps until then. */
static enum MHD_Result ask_pool(struct request *request, struct pool *pool, enum request_state state,
                                void (*run)(struct task *, struct store *),
                                void (*run_together)(struct task *, struct store *))
{
    request->state = state;
    request->task.run = run;
    request->task.run_together = run_together;
    visitor_busy(request->listener->visitors, request->visitor, true);
    MHD_suspend_connection(request->connection);
    if (!pool_push(pool, &request->task)) {
        request_refuse(request, 503, overloaded);
        request_wake(request);
    }
    return MHD_YES;
}

static enum MHD_Result ask(struct request *request, enum request_state state,
                           void (*run)(struct task *, struct store *),
                           void (*run_together)(struct task *, struct store *))
{
    return ask_pool(request, request->listener->pool, state, run, run_together);
}

/*
 * An answer in front of a body that is still coming would be lost when the client, not having read
 * it, is cut off: so the body is read and thrown away first, unless the client waits to be asked
 * for it.
 */
static enum MHD_Result answer_early(struct request *request)
{
    bool comes = header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) || length_of(request) > 0;

    if (!comes || header(request, MHD_HTTP_HEADER_EXPECT) || length_of(request) > DRAIN_MAX)
        return request_answer(request);
    request->state = REQUEST_DRAINING;
    return MHD_YES;
}

/* Whether there is a token, and whether its address has not tried too many wrong ones. */
static bool take_token(struct request *request)
{
    const char *authorization = header(request, MHD_HTTP_HEADER_AUTHORIZATION);
    uint64_t part;
    unsigned wait_s;

    if (token_hash(authorization, request->token)) {
        request_refuse(request, 401, authorization ? "this is no token: Authorization: Bearer TOKEN, of 64 hex digits"
                                                   : "a token is needed: Authorization: Bearer TOKEN");
        return false;
    }
    wait_s = limit_look(request->listener->failures, visitor_address(request->visitor));
    if (wait_s && atomic_load(request_known_place(request, &part)) != part) {
        request_refuse_for(request, wait_s, "too many wrong tokens came from this address");
        return false;
    }
    return true;
}

static enum MHD_Result start_batches(struct request *request)
{
    if (encoding_by_name(header(request, MHD_HTTP_HEADER_CONTENT_ENCODING), &request->encoding)) {
        request_refuse(request, 415, "Content-Encoding must be zstd, gzip or none");
        return answer_early(request);
    }
    return take_token(request) ? ask(request, REQUEST_ASKED, request_identify_together, request_identify_together)
                               : answer_early(request);
}

/* The body is small, and says for whom: so it is read before anybody is asked. */
static enum MHD_Result start_join(struct request *request)
{
    if (length_of(request) > JOIN_BODY_MAX)
        request_refuse(request, 413, "the body is larger than 4 KiB");
    else if (take_token(request)) {
        request->size_max = JOIN_BODY_MAX;
        request->state = REQUEST_READING;
        return MHD_YES;
    }
    return answer_early(request);
}

static enum MHD_Result send_metrics(struct request *request)
{
    char *text;
    size_t size;

    if (metrics_text(&text, &size))
        return MHD_NO;
    return request_text(request->connection, 200,
                        "application/openmetrics-text; version=1.0.0; charset=utf-8", text, size);
}

static enum MHD_Result send_ok(struct request *request)
{
    return request_text(request->connection, 200, "text/plain", strdup("ok\n"), 3);
}

static const struct {
    const char *path;
    enum route route;
} paths[] = {
    {"/v1/batches", ROUTE_BATCHES}, {"/v1/enroll", ROUTE_ENROLL},   {"/healthz", ROUTE_HEALTH},
    {"/readyz", ROUTE_READY},       {"/metrics", ROUTE_METRICS},
};

static enum MHD_Result start_get(struct request *request)
{
    unsigned wait_s = limit_take(request->listener->others, visitor_address(request->visitor), 1);

    if (wait_s) {
        request_refuse_for(request, wait_s, "too many requests came from this address");
        return answer_early(request);
    }
    switch (request->route) {
    case ROUTE_METRICS:
        return send_metrics(request);
    case ROUTE_READY:
        return ask(request, REQUEST_ASKED, request_check, NULL);
    default:
        return send_ok(request);
    }
}

static enum MHD_Result start_request(struct request *request, const char *url, const char *method)
{
    bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    bool post = strcmp(method, "POST") == 0;
    const char *why;

    for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (strcmp(url, paths[i].path) == 0) {
            request->route = paths[i].route;
            request->path = paths[i].path;
        }
    request->method = post ? "POST" : get ? "GET" : "?";
    why = framing_doubt(request->connection);
    if (why) {
        request->is_last = true;
        request_refuse(request, 400, why);
        return request_answer(request);
    }
    if (request->route == ROUTE_NONE)
        request_refuse(request, 404, "there is nothing here: see unblend-collector(8)");
    else if (request->route >= ROUTE_HEALTH && get)
        return start_get(request);
    else if (request->route >= ROUTE_HEALTH)
        request_refuse(request, 405, "this is read by GET");
    else if (!post)
        request_refuse(request, 405, "this is sent by POST");
    else
        return request->route == ROUTE_BATCHES ? start_batches(request) : start_join(request);
    return answer_early(request);
}

/* Whether a node may send one more request; sites send those of many. */
static void check_rate(struct request *request, double cost)
{
    const struct identity *who = &request->who;
    char key[600];
    unsigned wait_s;

    if (*who->site || request->route != ROUTE_BATCHES)
        return;
    snprintf(key, sizeof(key), "%s/%s", who->cluster, who->node);
    wait_s = limit_take(request->listener->nodes, key, cost);
    if (wait_s)
        request_refuse_for(request, wait_s, "more requests a second than a node may send: see --node-rate");
}

static void check_certificate(struct request *request)
{
    const char *name = *request->who.site ? request->who.site : request->who.node;
    const char *why = request->listener->wants_certificates ? certificate_refusal(request->connection, name) : NULL;

    if (why)
        request_refuse(request, 403, why);
}

/* Awake again at the headers: the pool has said who it is. */
static enum MHD_Result go_on(struct request *request)
{
    if (!request->answer.status)
        check_certificate(request);
    if (!request->answer.status)
        check_rate(request, 1 + (double)MIN(length_of(request), BODY_MAX) / COST_BYTES);
    if (!request->answer.status && length_of(request) > BODY_MAX)
        request_refuse(request, 413, too_large);
    if (request->answer.status == 200) /* only asked whether the database is there */
        return send_ok(request);
    if (request->answer.status)
        return answer_early(request);
    request->state = REQUEST_READING;
    return MHD_YES;
}

/* The whole body is there. */
static enum MHD_Result finish(struct request *request)
{
    if (request->route == ROUTE_BATCHES && request->size <= TOGETHER_SIZE)
        return ask_pool(request, request->listener->writers, REQUEST_STORING, request_store, request_store_together);
    if (request->route == ROUTE_BATCHES)
        return ask(request, REQUEST_STORING, request_store, NULL);
    if (join_decode(request->body, request->size, &request->who, &request->answer) == 0)
        check_certificate(request);
    return request->answer.status ? request_answer(request) : ask(request, REQUEST_STORING, request_join, NULL);
}

static enum MHD_Result take_body(struct request *request, const char *data, size_t *size)
{
    request->received += *size;
    atomic_fetch_add(&metrics.bytes, *size);
    if (request->state == REQUEST_READING)
        request_take(request, data, *size);
    *size = 0;
    return request->received > DRAIN_MAX || listen_now() - request->started > BODY_S ? MHD_NO : MHD_YES;
}

static enum MHD_Result begin(struct listener *listener, struct MHD_Connection *connection, const char *url,
                             const char *method, void **slot)
{
    struct visitor *visitor = visitor_of(connection);
    struct request *request = visitor ? calloc(1, sizeof(*request)) : NULL;

    if (!request)
        return MHD_NO;
    request->connection = connection;
    request->listener = listener;
    request->visitor = visitor;
    request->started = listen_now();
    request->size_max = BODY_MAX;
    visitor_asks(visitor);
    atomic_fetch_add(&listener->active, 1);
    *slot = request;
    return start_request(request, url, method);
}

enum MHD_Result route_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **slot)
{
    struct request *request = *slot;

    if (!request)
        return begin(context, connection, url, method, slot);
    if (*size)
        return take_body(request, data, size);
    switch (request->state) {
    case REQUEST_ASKED:
        return go_on(request);
    case REQUEST_READING:
        return finish(request);
    default:
        return request_answer(request);
    }
}
