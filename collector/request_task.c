/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/request_task.h"

#include <errno.h>
#include <string.h>

#include "collector/join.h"
#include "collector/listen_private.h"
#include "collector/metrics.h"
#include "collector/together.h"

void request_wake(struct request *request)
{
    visitor_busy(request->listener->visitors, request->visitor, false);
    MHD_resume_connection(request->connection);
}

static void note_database(int err)
{
    atomic_store(&metrics.database_up, err != -EAGAIN && err != -ENOENT);
}

void request_check(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;
    int err = store_check(store);

    note_database(err);
    if (err)
        request_refuse(request, 503, "the database is away");
    else if (!atomic_load(&request->listener->ready))
        request_refuse(request, 503, "the database is being set up");
    else
        request->answer.status = 200;
    request_wake(request);
}

atomic_uint_fast64_t *request_known_place(struct request *request, uint64_t *part)
{
    memcpy(part, request->token, sizeof(*part));
    return &request->listener->known[*part % KNOWN];
}

static void note_identity(struct request *request, const struct store *store, bool known, int err)
{
    uint64_t part;
    atomic_uint_fast64_t *place = request_known_place(request, &part);

    if (err) {
        ingest_refuse(store, err, &request->answer);
    } else if (known) {
        atomic_store(place, part);
        visitor_prove(request->listener->visitors, request->visitor);
    } else {
        limit_take(request->listener->failures, visitor_address(request->visitor), 1);
        request_refuse(request, 401, "the token is not known: enroll the node");
    }
    request_wake(request);
}

void request_identify_together(struct task *first, struct store *store)
{
    struct asker askers[POOL_TOGETHER];
    unsigned count = 0;
    int err;

    for (struct task *task = first; task; task = task->next) {
        struct request *request = (struct request *)task;

        askers[count++] = (struct asker){.hash = request->token, .who = &request->who};
    }
    err = store_identify(store, askers, count);
    note_database(err);
    count = 0;
    for (struct task *task = first, *next; task; task = next) {
        next = task->next; /* once awake, it is not ours any more */
        note_identity((struct request *)task, store, askers[count++].known, err);
    }
}

void request_store(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;

    ingest(store, &request->who, request->encoding, request->body, request->size, &request->answer);
    request_wake(request);
}

void request_store_together(struct task *first, struct store *store)
{
    struct parcel parcels[POOL_TOGETHER] = {{0}};
    struct request *requests[POOL_TOGETHER];
    unsigned count = 0;

    for (struct task *task = first; task; task = task->next) {
        struct request *request = (struct request *)task;

        requests[count] = request;
        parcels[count++] = (struct parcel){&request->who, request->encoding, request->body, request->size,
                                           &request->answer};
    }
    ingest_together(store, parcels, count);
    for (unsigned i = 0; i < count; i++)
        request_wake(requests[i]);
}

void request_join(struct task *task, struct store *store)
{
    struct request *request = (struct request *)task;
    const char *address = visitor_address(request->visitor);

    join_exchange(store, request->token, &request->who, address, &request->answer, request->new_token);
    if (request->answer.status == 401)
        limit_take(request->listener->failures, address, 1);
    request_wake(request);
}
