/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/request.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/metrics.h"
#include "collector/refusal.h"

#define BODIES_MAX (128u << 20) /* of all requests together */

static atomic_size_t bodies;

static void header(struct MHD_Response *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

/* What HTTP wants to be said with a refusal. */
static void add_headers(struct MHD_Response *response, const struct request *request)
{
    if (request->answer.status == 405)
        header(response, "Allow", request->route >= ROUTE_HEALTH ? "GET, HEAD" : "POST");
    if (request->is_last)
        header(response, "Connection", "close");
}

/* Takes over the text; request: NULL when it is none of JSON. */
static enum MHD_Result respond(struct MHD_Connection *connection, const struct request *request, unsigned status,
                               unsigned wait_s, const char *type, char *text, size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    char seconds[16];
    enum MHD_Result result;

    if (!response) {
        free(text);
        return MHD_NO;
    }
    header(response, "Content-Type", type);
    header(response, "Cache-Control", "no-store");
    if (status == 401)
        header(response, "WWW-Authenticate", "Bearer");
    if (request)
        add_headers(response, request);
    if (status == 503 && !wait_s)
        wait_s = 5;
    snprintf(seconds, sizeof(seconds), "%u", wait_s);
    if (wait_s)
        header(response, "Retry-After", seconds);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

void request_refuse(struct request *request, unsigned status, const char *why)
{
    request->answer = (struct answer){.status = status};
    snprintf(request->answer.why, sizeof(request->answer.why), "%s", why);
}

void request_refuse_for(struct request *request, unsigned wait_s, const char *why)
{
    request_refuse(request, 429, why);
    request->wait_s = wait_s;
}

enum MHD_Result request_text(struct MHD_Connection *connection, unsigned status, const char *type,
                             char *text, size_t size)
{
    return respond(connection, NULL, status, 0, type, text, size);
}

static json_t *answer_value(const struct request *request)
{
    const struct answer *answer = &request->answer;
    json_t *value;

    if (answer->status == 200 && *request->new_token)
        return json_pack("{s:s, s:s, s:s}", "token", request->new_token, "node", request->who.node, "cluster",
                         request->who.cluster);
    if (answer->status == 200)
        return json_pack("{s:I, s:I}", "stored", (json_int_t)answer->batches, "duplicates",
                         (json_int_t)answer->duplicates);
    value = json_pack("{s:s}", "error", answer->why);
    if (value && answer->line)
        json_object_set_new(value, "line", json_integer(answer->line));
    if (value && *answer->field)
        json_object_set_new(value, "field", json_string(answer->field));
    return value;
}

/* A database that is away is said elsewhere, once. */
static void log_refusal(const struct request *request)
{
    const struct identity *who = &request->who;
    char what[64];

    if (request->answer.status < 400 || request->answer.status >= 500)
        return;
    snprintf(what, sizeof(what), "%s %s", request->method, request->path ? request->path : "of an unknown path");
    refusal_log(visitor_address(request->visitor), request->answer.status, what, *who->site ? who->site : who->node,
                request->answer.why);
}

enum MHD_Result request_answer(struct request *request)
{
    json_auto_t *value = answer_value(request);
    char *text =
        value ? json_dumps(value, JSON_COMPACT) : strdup("{}"); /* a name that is no UTF-8 */

    if (request->route == ROUTE_BATCHES)
        metrics_answer(request->answer.status);
    log_refusal(request);
    if (!text)
        return MHD_NO;
    return respond(request->connection, request, request->answer.status, request->wait_s, "application/json", text,
                   strlen(text));
}

/* Room for the whole body at once when its length is known, else by doubling. */
static bool make_room(struct request *request, size_t size)
{
    const char *length = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);
    size_t wanted = request->capacity ? request->capacity * 2
                    : length          ? strtoul(length, NULL, 10)
                                      : 65536;
    char *grown;

    if (wanted < request->size + size)
        wanted = request->size + size;
    if (wanted > request->size_max)
        wanted = request->size_max;
    if (atomic_fetch_add(&bodies, wanted - request->capacity) + wanted > BODIES_MAX) {
        atomic_fetch_sub(&bodies, wanted - request->capacity);
        return false;
    }
    grown = realloc(request->body, wanted);
    if (!grown) {
        atomic_fetch_sub(&bodies, wanted - request->capacity);
        return false;
    }
    request->body = grown;
    request->capacity = wanted;
    return true;
}

void request_take(struct request *request, const char *data, size_t size)
{
    struct answer *answer = &request->answer;

    if (request->size + size > request->size_max) {
        answer->status = 413;
        snprintf(answer->why, sizeof(answer->why), "the body is larger than %s",
                 request->size_max == BODY_MAX ? "16 MiB: send fewer batches at once" : "4 KiB");
    } else if (request->capacity - request->size < size && !make_room(request, size)) {
        answer->status = 503;
        snprintf(answer->why, sizeof(answer->why),
                 "the collector is overloaded: send it again later");
    } else {
        memcpy(request->body + request->size, data, size);
        request->size += size;
        return;
    }
    request->state = REQUEST_DRAINING;
}

void request_free(struct request *request)
{
    atomic_fetch_sub(&bodies, request->capacity);
    free(request->body);
    explicit_bzero(request->new_token, sizeof(request->new_token));
    free(request);
}
