/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/requests.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/allowance.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/packed.h"
#include "lib/utf8.h"
#include "probe/sampler.h"

#define FLUSH_MS_MAX 60000
#define END_MS_MIN   1000 /* between ends of intervals for those without rights: each is a batch, on disk and in the database */

#define JOB_TOKENS   25 /* of an allowance: a job is kept, and is told in each batch while it lives */

struct requests {
    struct agent *agent;
    struct allowance allowance;
    uint32_t *owners; /* of jobs, by id: who may speak of them */
    uint32_t owner_count;
};

int requests_new(struct agent *agent, struct requests **out)
{
    struct requests *requests = calloc(1, sizeof(*requests));

    if (!requests)
        return -ENOMEM;
    requests->agent = agent;
    *out = requests;
    return 0;
}

void requests_free(struct requests *requests)
{
    if (!requests)
        return;
    free(requests->owners);
    free(requests);
}

/* Root and the group may ask for as much as they want. */
static bool may_ask(struct requests *requests, const struct client *client, double tokens)
{
    return client->privileged || allowance_take(&requests->allowance, client->uid, tokens, monotonic_ms());
}

static bool owns_process(const struct client *client, json_int_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%lld", (long long)pid);
    return pid > 0 && pid <= INT32_MAX && stat(path, &st) == 0 &&
           (client->uid == 0 || st.st_uid == client->uid);
}

/* 0 or -ENOMEM. */
static int remember_owner(struct requests *requests, uint32_t id, uint32_t uid)
{
    uint32_t *grown = reallocarray(requests->owners, id + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    for (uint32_t i = requests->owner_count; i < id; i++)
        grown[i] = 0;
    grown[id] = uid;
    requests->owners = grown;
    requests->owner_count = id + 1;
    return 0;
}

/* The job that a request names, if it is the caller's; 0 otherwise. */
static uint32_t own_job(const struct requests *requests, const struct client *client,
                        json_t *request)
{
    json_int_t id = json_integer_value(json_object_get(request, "id"));

    if (id < 1 || id >= requests->owner_count ||
        (client->uid != 0 && requests->owners[id] != client->uid))
        return 0;
    return (uint32_t)id;
}

static bool is_one_line(const char *text)
{
    while (*text && !utf8_control(text))
        text++;
    return !*text;
}

static bool request_job(struct requests *requests, struct client *client, json_t *request)
{
    const char *name = NULL, *command = "", *user = NULL;
    struct job job = {.kind = "command", .exit = -1};
    /* Only root may speak for somebody else (record under sudo does). */
    const struct passwd *caller = getpwuid(client->uid);
    json_int_t pid = 0;
    uint32_t id;
    int err;

    if (json_unpack(request, "{s:s, s:I, s?:s, s?:s}", "job", &name, "pid", &pid, "command",
                    &command, "user", &user) ||
        !*name || strlen(name) > 255 || !is_one_line(name) || !is_one_line(command) || (user && !is_one_line(user)))
        return client_refuse(client, "a job needs a name of 1 to 255 bytes and a pid, and texts without control "
                                     "characters");
    if (!owns_process(client, pid))
        return client_refuse(client, "that process is not the caller's");
    if (!may_ask(requests, client, JOB_TOKENS))
        return client_refuse(client, "too many jobs of this user began just now: wait, four a second may");
    job.name = name;
    job.command = command;
    job.user = client->uid == 0 ? user : caller ? caller->pw_name : NULL;
    job.start_ns = wall_clock_ns();
    err = agent_adopt(requests->agent, (pid_t)pid, &job, &id);
    if (!err)
        err = remember_owner(requests, id, client->uid);
    if (err)
        return client_refuse(client, log_errno(err));
    return client_answer(client, json_pack("{s:b, s:I}", "ok", 1, "id", (json_int_t)id));
}

static bool request_exit(struct requests *requests, struct client *client, json_t *request)
{
    uint32_t id = own_job(requests, client, request);
    int status = -1;

    if (!id || json_unpack(request, "{s:i}", "status", &status))
        return client_refuse(client, "exit needs the id of a job of the caller's and a status");
    agent_job_exit(requests->agent, id, status);
    return client_answer(client, json_pack("{s:b}", "ok", 1));
}

static bool request_living(struct requests *requests, struct client *client, json_t *request)
{
    uint32_t id = own_job(requests, client, request);
    unsigned living;

    if (!id)
        return client_refuse(client, "living needs the id of a job of the caller's");
    living = agent_job_living(requests->agent, id);
    return client_answer(client,
                  json_pack("{s:b, s:I}", "ok", 1, "living", (json_int_t)living));
}

static bool request_flush(struct requests *requests, struct client *client, json_t *request)
{
    int timeout_ms = FLUSH_MS_MAX;

    if (json_unpack(request, "{s?:i}", "timeout_ms", &timeout_ms) || timeout_ms < 1 || timeout_ms > FLUSH_MS_MAX)
        return client_refuse(client, "flush takes timeout_ms from 1 to 60000");
    client->flush_until_ms = monotonic_ms() + timeout_ms;
    client->flush_ends = agent_ends(requests->agent);
    client->flush_wanted = true;
    return true; /* answered by requests_progress() */
}

/* How often and how finely; false when that makes no sense. */
static bool take_wish(struct client *client, json_t *request)
{
    json_int_t interval_ms = CLIENT_INTERVAL_NS / 1000000;
    int threads = 0;

    if (json_unpack(request, "{s?:I, s?:b}", "interval_ms", &interval_ms, "threads", &threads) || interval_ms < 1)
        return false;
    client->threads = threads;
    client->interval_ns = CLIENT_INTERVAL_NS;
    if (interval_ms < CLIENT_INTERVAL_NS / 1000000)
        client->interval_ns = (uint64_t)interval_ms * 1000000;
    if (client->interval_ns < CLIENT_INTERVAL_NS_MIN)
        client->interval_ns = CLIENT_INTERVAL_NS_MIN;
    return true;
}

static bool request_watch(struct requests *requests, struct client *client, json_t *request)
{
    const char *form = json_string_value(json_object_get(request, "form"));

    if (!take_wish(client, request))
        return client_refuse(client, "watch takes interval_ms from 1 on, and threads true or false");
    client->watching = true;
    client->packed = form && strcmp(form, PACKED_FORM) == 0;
    return client_answer(client, json_pack("{s:b, s:s}", "ok", 1, "form", client->packed ? PACKED_FORM : "json"));
}

/* An answer would stand among frames. */
static bool request_pace(struct requests *requests, struct client *client, json_t *request)
{
    return client->watching && take_wish(client, request);
}

static const struct {
    const char *name;
    bool (*handle)(struct requests *, struct client *, json_t *);
} table[] = {
    {"job", request_job},     {"exit", request_exit},   {"living", request_living},
    {"flush", request_flush}, {"watch", request_watch}, {"pace", request_pace},
};

bool requests_handle(struct requests *requests, struct client *client, const char *line, size_t size)
{
    json_t *request;
    const char *name;
    bool handled = false, alive = true;

    if (!may_ask(requests, client, 1)) {
        client_refuse(client, "too many requests of this user just now: wait, a hundred a second may come");
        return false;
    }
    request = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    name = json_string_value(json_object_get(request, "request"));
    for (size_t i = 0; name && i < sizeof(table) / sizeof(*table); i++)
        if (strcmp(table[i].name, name) == 0) {
            alive = table[i].handle(requests, client, request);
            handled = true;
        }
    if (!handled)
        alive = client_refuse(client, "no such request");
    json_decref(request);
    return alive;
}

bool requests_flush(struct requests *requests, const struct client *client)
{
    if (agent_ends(requests->agent) != client->flush_ends)
        return true; /* it holds all that was asked for */
    if (!client->privileged && !agent_may_end(requests->agent, END_MS_MIN))
        return false;
    agent_flush(requests->agent); /* what could not be spooled shows in the answer */
    return true;
}

bool requests_progress(struct requests *requests, struct client *client)
{
    unsigned pending;
    char why[400];
    bool done;

    if (!client->flush_until_ms)
        return true;
    pending = agent_pending(requests->agent, why, sizeof(why));
    done = !client->flush_wanted && !pending && !agent_has_unspooled(requests->agent);
    if (!done && monotonic_ms() < client->flush_until_ms)
        return true;
    if (client->flush_wanted && !*why)
        snprintf(why, sizeof(why), "an interval was ended less than a second ago: wait longer");
    client->flush_until_ms = 0;
    client->flush_wanted = false;
    done = done && !*why; /* the last one was refused */
    return client_answer(client, json_pack("{s:b, s:I, s:s}", "ok", (int)done, "pending",
                                           (json_int_t)pending, "why", why));
}
