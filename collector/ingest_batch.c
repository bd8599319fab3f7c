/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/ingest_private.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/json_memory.h"
#include "collector/limit.h"
#include "collector/metrics.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/field.h"
#include "lib/log.h"
#include "lib/plausible.h"

/* One batch: whether it can be stored, under which name, and for which other site it waits afterwards. */

#define NAME_MAX_    255
#define MOUNTS_MAX   64
#define STREAM_MAX   UINT32_MAX /* batches: one a second for 136 years */
#define DURATION_MAX UINT64_C(604800000000000) /* a week: no agent aggregates longer */

#define AHEAD_NS     60000000000 /* between clocks that are kept right are some milliseconds */
#define AHEAD_SAID_S (1 / 3600.0) /* how often of a node */

static int wrong(struct codec_error *error, const char *field, const char *why)
{
    snprintf(error->field, sizeof(error->field), "%s", field);
    snprintf(error->why, sizeof(error->why), "%s", why);
    return -EBADMSG;
}

static int check_name(const char *table, const char *field, uint32_t at, const char *name, struct codec_error *error)
{
    const struct field_place place = {.error = error, .table = table, .indexed = true, .at = at};

    return strlen(name) > INGEST_NAME_MAX ? field_refuse(&place, field, "is longer than %d bytes", INGEST_NAME_MAX) : 0;
}

static int check_volume(const struct volume *volume, uint32_t at, struct codec_error *error)
{
    const struct field_place place = {.error = error, .table = "volumes", .indexed = true, .at = at};

    if (volume->mount_count > MOUNTS_MAX)
        return field_refuse(&place, "mounts", "has %u elements, more than %d", volume->mount_count, MOUNTS_MAX);
    return check_name("volumes", "volume", at, volume->name, error);
}

static int check_job(const struct job *job, uint32_t at, struct codec_error *error)
{
    /* The last is of a job of which nothing but its name was to be had. */
    static const char *const kinds[] = {"slurm", "kubernetes", "container", "systemd", "env", "command", ""};
    const struct field_place place = {.error = error, .table = "jobs", .indexed = true, .at = at};

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(job->kind, kinds[i]) == 0)
            return check_name("jobs", "job", at, job->name, error);
    return field_refuse(&place, "kind", "must be slurm, kubernetes, container, systemd, env or command");
}

/* What was dropped was made before the batch that tells it, so in its own stream it has smaller numbers. How far
   another stream went nobody here can tell, but no stream goes on for ever. */
static int check_dropped(const struct batch *batch, struct codec_error *error)
{
    struct field_place place = {.error = error, .table = "coverage.dropped", .indexed = true};

    for (; place.at < batch->coverage.dropped_count; place.at++) {
        const struct dropped *range = &batch->coverage.dropped[place.at];
        bool own = strcmp(range->stream, batch->stream) == 0;

        if (own && range->last >= batch->seq)
            return field_refuse(&place, "last_seq", "must be below the batch's own seq");
        if (!own && range->last > STREAM_MAX)
            return field_refuse(&place, "last_seq", "is more than any stream has");
    }
    return 0;
}

static int check_tables(const struct batch *batch, struct codec_error *error)
{
    int err = 0;

    for (uint32_t i = 0; i < batch->job_count && !err; i++)
        err = check_job(&batch->jobs[i], i, error);
    for (uint32_t i = 0; i < batch->volume_count && !err; i++)
        err = check_volume(&batch->volumes[i], i, error);
    return err ? err : check_dropped(batch, error);
}

int ingest_validate(const struct batch *batch, struct codec_error *error)
{
    static const char *const roles[] = {"client", "storage", "converged"};
    bool role = false;

    for (unsigned i = 0; i < sizeof(roles) / sizeof(*roles); i++)
        role |= strcmp(batch->role, roles[i]) == 0;
    if (!*batch->cluster || strlen(batch->cluster) > NAME_MAX_)
        return wrong(error, "cluster", "must have 1 to 255 bytes");
    if (!*batch->node || strlen(batch->node) > NAME_MAX_)
        return wrong(error, "node", "must have 1 to 255 bytes");
    if (!role)
        return wrong(error, "role", "must be client, storage or converged");
    if (strlen(batch->kernel) > NAME_MAX_)
        return wrong(error, "kernel", "must have at most 255 bytes");
    if (strlen(batch->boot_id) > NAME_MAX_)
        return wrong(error, "boot_id", "must have at most 255 bytes");
    if (strlen(batch->stream) != 32 || strspn(batch->stream, "0123456789abcdef") != 32)
        return wrong(error, "stream", "must be 32 lower-case hex digits");
    if (batch->seq >= INT64_MAX)
        return wrong(error, "seq", "is too large");
    if (batch->start_ns <= 0)
        return wrong(error, "start_ns", "must be after 1970");
    if (batch->duration_ns > DURATION_MAX)
        return wrong(error, "duration_ns", "is longer than a week");
    if (!batch->interval_ms)
        return wrong(error, "interval_ms", "must not be 0");
    if (batch->interval_ms > INTERVAL_MS_MAX)
        return wrong(error, "interval_ms", "is longer than a week");
    return check_tables(batch, error) ? -EBADMSG : batch_plausible(batch, error);
}

/* Process detail never leaves a node; should it arrive all the same, it is folded into the jobs
 * here. */
static int fold_processes(struct batch **batch)
{
    _cleanup_(batch_freep) struct batch *folded = NULL;
    struct batch *from = *batch;
    int err;

    if (!from->process_count)
        return 0;
    err = batch_new(&folded);
    if (!err)
        err = batch_merge(folded, from, GRAIN_JOBS);
    if (!err)
        err = batch_set(folded, &folded->stream, from->stream);
    if (err)
        return err;
    folded->seq = from->seq;
    folded->start_ns = from->start_ns;
    folded->duration_ns = from->duration_ns;
    folded->interval_ms = from->interval_ms;
    batch_free(from);
    *batch = take_pointer(folded);
    return 0;
}

/* What comes from another site has a name space of its own. */
static int move_to_site(const struct identity *who, struct batch *batch)
{
    char cluster[NAME_MAX_ + 1];

    if (!*who->site)
        return 0;
    if ((size_t)snprintf(cluster, sizeof(cluster), "%s/%s", who->site, batch->cluster) >= sizeof(cluster))
        return -ENAMETOOLONG;
    return batch_set(batch, &batch->cluster, cluster);
}

static const struct outward *forwarded;

void ingest_forward(const struct outward *outward)
{
    forwarded = outward;
}

/* The batch is for nothing else afterwards. */
static int put_outward(struct store *store, struct batch *batch)
{
    _cleanup_free_ char *json = NULL, *line = NULL;
    _cleanup_free_ void *body = NULL;
    size_t size;
    int err = outward_apply(forwarded, batch);

    if (!err)
        err = codec_encode(batch, &json, &size);
    if (err)
        return err;
    line = malloc(size + 1);
    if (!line)
        return -ENOMEM;
    memcpy(line, json, size);
    line[size] = '\n';
    err = compress_zstd(line, size + 1, &body, &size);
    return err ? err : store_outbox_put(store, body, size);
}

int ingest_read(const struct identity *who, const char *line, size_t size, struct store_item *item,
                struct answer *answer)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct codec_error error = {.field = ""};
    int err;

    json_memory_begin();
    err = codec_decode(line, size, &batch, &error);
    json_memory_end();
    if (!err)
        err = ingest_validate(batch, &error);
    if (!err)
        err = fold_processes(&batch);
    if (err == -EBADMSG) {
        ingest_answer(answer, 400, answer->line, error.field, error.why);
        return 0;
    }
    if (err)
        return err;
    if (!identity_may(who, batch->cluster, batch->node)) {
        const char *why, *field = identity_wrong(who, batch->cluster, batch->node, &why);

        ingest_answer(answer, 403, answer->line, field, why);
        return 0;
    }
    err = move_to_site(who, batch);
    if (err == -ENAMETOOLONG) {
        ingest_answer(answer, 400, answer->line, "cluster", "is too long behind the name of its site");
        return 0;
    }
    if (err)
        return err;
    sha256(line, size, item->hash);
    item->batch = take_pointer(batch);
    return 0;
}

static struct limit *ahead;

static void make_ahead(void)
{
    if (limit_new(AHEAD_SAID_S, 1, &ahead))
        ahead = NULL; /* then each is said */
}

/* What is older may have waited; what is from the future is of a wrong clock, the node's or ours. */
static void look_at_clock(const struct batch *batch)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int64_t ahead_ns = batch->start_ns - wall_clock_ns();

    if (ahead_ns <= AHEAD_NS)
        return;
    atomic_fetch_add(&metrics.ahead, 1);
    pthread_once(&once, make_ahead);
    if (ahead && limit_take(ahead, batch->node, 2)) /* of which one is there: it is in debt at once */
        return;
    log_warning("node %.255s of %.255s: its clock is %" PRId64 " s ahead of this one: what it counts stands at times that "
                "have not come: set the clocks",
                batch->node, batch->cluster, ahead_ns / 1000000000);
}

int ingest_note(struct store *store, struct store_item *item, struct answer *answer)
{
    if (item->verdict == VERDICT_CONFLICT) {
        ingest_answer(answer, 409, answer->line, "seq",
                      "this stream and seq were stored with another body: take a new stream");
        return 0;
    }
    if (item->verdict == VERDICT_DUPLICATE) {
        answer->duplicates++;
        return 0;
    }
    look_at_clock(item->batch);
    answer->batches++;
    answer->records += item->batch->record_count;
    return forwarded ? put_outward(store, item->batch) : 0;
}
