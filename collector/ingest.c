/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/ingest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/group.h"
#include "collector/ingest_private.h"
#include "collector/metrics.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"

/* Bytes. Of what is larger one is in memory at a time: decoded, a line takes ten times as much. */
#define LINE_LARGE  (2u << 20)
#define PLAIN_LARGE (16u << 20)
#define ATTEMPTS    5 /* of a transaction that keeps losing against others */

bool ingest_line(const char *text, size_t size, size_t *at, const char **line, size_t *line_size)
{
    static const char blanks[] = " \t\r\n";
    const char *start, *end;

    if (*at >= size)
        return false;
    start = text + *at;
    end = memchr(start, '\n', size - *at);
    if (!end)
        end = text + size;
    *at = (size_t)(end - text) + 1;
    while (start < end && strchr(blanks, *start))
        start++;
    while (end > start && strchr(blanks, end[-1]))
        end--;
    *line = start;
    *line_size = (size_t)(end - start);
    return true;
}

void ingest_answer(struct answer *answer, unsigned status, unsigned line, const char *field, const char *why)
{
    *answer = (struct answer){.status = status, .line = line};
    snprintf(answer->field, sizeof(answer->field), "%s", field);
    if (line && *field)
        snprintf(answer->why, sizeof(answer->why), "line %u: %s: %s", line, field, why);
    else if (line)
        snprintf(answer->why, sizeof(answer->why), "line %u: %s", line, why);
    else
        snprintf(answer->why, sizeof(answer->why), "%s", why);
}

void ingest_refuse(const struct store *store, int err, struct answer *answer)
{
    unsigned line = answer->line;

    switch (err) {
    case -EAGAIN:
    case -ENOENT:
    case -EDEADLK:
        ingest_answer(answer, 503, 0, "", "the database is away: the batch is not stored, send it again later");
        break;
    case -ENOMEM:
        ingest_answer(answer, 503, 0, "", "out of memory: send it again later");
        break;
    case -EINVAL:
        ingest_answer(answer, 400, line, "", store_why(store));
        break;
    default:
        ingest_answer(answer, 500, line, "", "the database refused the batch; the collector's log says why");
    }
}

/* What was read before a line that is refused may be refused, too: then that is what the client is told. */
static int put_before(struct store *store, struct group *group, struct answer *answer)
{
    const struct answer refusal = *answer;
    int err;

    if (refusal.status != 200)
        answer->status = 200;
    err = group_put(store, group);
    if (!err && answer->status == 200 && refusal.status != 200)
        *answer = refusal;
    return err;
}

/* Memory is bounded by taking one large line at a time; whoever comes second is asked to come
 * again. */
static int put_large(struct store *store, const struct identity *who, const char *line, size_t size,
                     struct group *group, struct answer *answer)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    const unsigned number = answer->line;
    int err = group_put(store, group);

    if (err || answer->status != 200)
        return err;
    answer->line = number;
    if (pthread_mutex_trylock(&one)) {
        ingest_answer(answer, 503, answer->line, "", "the collector is overloaded: send it again later");
        return 0;
    }
    err = group_read(group, who, line, size, answer);
    if (!err)
        err = group_put(store, group);
    pthread_mutex_unlock(&one);
    return err;
}

/* One transaction for a body; most is how many lines are put at once. */
static int put_lines(struct store *store, const struct identity *who, const char *text, size_t size, unsigned most,
                     struct answer *answer)
{
    _cleanup_free_ struct group *group = calloc(1, sizeof(*group));
    unsigned number = 0, filled = 0;
    const char *line;
    size_t at = 0, line_size;
    int err = group ? 0 : -ENOMEM;

    *answer = (struct answer){.status = 200};
    while (!err && answer->status == 200 && ingest_line(text, size, &at, &line, &line_size)) {
        number++;
        if (!line_size)
            continue;
        filled++;
        answer->line = number;
        if (line_size > LINE_LARGE) {
            err = put_large(store, who, line, line_size, group, answer);
            continue;
        }
        err = group_read(group, who, line, line_size, answer);
        if (!err && (answer->status != 200 || group->count == most || group_is_full(group)))
            err = put_before(store, group, answer);
    }
    if (!err && answer->status == 200)
        err = group_put(store, group);
    if (!err && !filled)
        ingest_answer(answer, 400, 1, "", "the body holds no batch");
    if (!err && answer->status == 200) {
        answer->line = 0;
        err = store_commit(store);
    }
    if (!group)
        return err;
    if (group->begun && (err || answer->status != 200))
        store_rollback(store);
    group_clear(group);
    return err;
}

/* A body may also be one batch that is spread over several lines, as people's tools write JSON. */
static bool is_one_batch(const char *text, size_t size)
{
    struct codec_error error;
    struct batch *batch;

    if (codec_decode(text, size, &batch, &error))
        return false;
    batch_free(batch);
    return true;
}

static void put_body(struct store *store, const struct identity *who, char *text, size_t size,
                     struct answer *answer)
{
    int err = -EDEADLK;

    for (unsigned attempt = 0; attempt < ATTEMPTS && err == -EDEADLK; attempt++)
        err = put_lines(store, who, text, size, GROUP_MAX, answer);
    if (err == -EINVAL) /* which of the lines it is shows when they are put one by one */
        err = put_lines(store, who, text, size, 1, answer);
    if (!err && answer->status == 400 && answer->line == 1 && !*answer->field &&
        size <= LINE_LARGE && is_one_batch(text, size)) {
        for (char *newline = text;
             (newline = memchr(newline, '\n', size - (size_t)(newline - text)));)
            *newline = ' '; /* JSON strings hold no bare newline, so only layout changes */
        err = put_lines(store, who, text, size, GROUP_MAX, answer);
    }
    if (err) {
        if (err != -EAGAIN && err != -ENOENT)
            log_error("a batch of node %s was not stored: %s", who->node,
                      err == -ENOMEM ? log_errno(err) : store_why(store));
        ingest_refuse(store, err, answer);
    }
}

/* A body in memory, for good or for a refusal in the answer. */
static void put_plain(struct store *store, const struct identity *who, enum encoding encoding, const void *body,
                      size_t size, size_t limit, struct answer *answer)
{
    _cleanup_free_ void *plain = NULL;
    size_t plain_size;
    int err = decompress(encoding, body, size, limit, &plain, &plain_size);

    *answer = (struct answer){.status = 200};
    if (err == -EFBIG)
        ingest_answer(answer, 413, 0, "", "the body decompresses to more than 128 MiB");
    else if (err == -EBADMSG)
        ingest_answer(answer, 400, 1, "", "the body is not what its Content-Encoding says");
    else if (err)
        ingest_refuse(store, err, answer);
    else
        put_body(store, who, plain, plain_size, answer);
}

void ingest(struct store *store, const struct identity *who, enum encoding encoding,
            const void *body, size_t size, struct answer *answer)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    int64_t start = monotonic_ns();

    put_plain(store, who, encoding, body, size, PLAIN_LARGE, answer);
    if (answer->status == 413) {
        pthread_mutex_lock(&one);
        put_plain(store, who, encoding, body, size, PLAIN_MAX, answer);
        pthread_mutex_unlock(&one);
    }
    if (answer->status != 200)
        return;
    metrics_commit((uint64_t)(monotonic_ns() - start));
    atomic_fetch_add(&metrics.batches, answer->batches);
    atomic_fetch_add(&metrics.duplicates, answer->duplicates);
    atomic_fetch_add(&metrics.records, answer->records);
}
