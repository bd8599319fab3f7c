/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The spool on a real directory, what it keeps track with, and how long to wait. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/backoff.h"
#include "agent/queue.h"
#include "agent/spool.h"
#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/compress.h"
#include "tests/unit/capture.h"
#include "tests/unit/sample.h"

#define LIMIT (64u << 20)

static char directory[64];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/unblend-spool-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

static void append(struct spool *spool, uint64_t seed, struct batch **out)
{
    struct batch *batch = sample_batch(seed, 20);

    assert_int_equal(batch_dropped(batch, NULL, 0), 0);
    assert_int_equal(spool_append(spool, batch), 0);
    if (out)
        *out = batch;
    else
        batch_free(batch);
}

/* The next one after a place; NULL when there is none. */
static struct batch *take(struct spool *spool, uint64_t *place)
{
    _cleanup_free_ void *payload = NULL, *text = NULL;
    size_t size, length;
    struct codec_error error;
    struct batch *batch;
    unsigned wait_ms;

    if (spool_next(spool, *place, place, &payload, &size, &wait_ms) != 1)
        return NULL;
    assert_int_equal(decompress(ENCODING_ZSTD, payload, size, LIMIT, &text, &length), 0);
    assert_int_equal(codec_decode(text, length, &batch, &error), 0);
    return batch;
}

static void batches_come_back_in_their_order(void **state)
{
    struct spool *spool;
    uint64_t place = 0;

    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    for (uint64_t seed = 1; seed <= 3; seed++)
        append(spool, seed, NULL);
    assert_int_equal(spool_pending(spool), 3);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct batch *expected = sample_batch(seed, 20), *batch = take(spool, &place);

        assert_non_null(batch);
        assert_int_equal(batch->seq, seed);
        assert_int_equal(batch_set(expected, &expected->stream, batch->stream), 0);
        assert_int_equal(batch_dropped(expected, NULL, 0), 0);
        expected->seq = seed;
        assert_null(sample_difference(expected, batch));
        assert_int_equal(spool_acknowledge(spool, place), 0);
        batch_free(expected);
        batch_free(batch);
    }
    assert_null(take(spool, &place));
    assert_int_equal(spool_pending(spool), 0);
    spool_close(spool);
}

static void a_restart_keeps_what_waits(void **state)
{
    struct batch *before, *after, *batch;
    struct spool *spool;
    uint64_t place = 0;

    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    append(spool, 1, &before);
    spool_close(spool);
    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    append(spool, 2, &after);
    assert_string_not_equal(before->stream, after->stream);
    assert_int_equal(before->seq, 1);
    assert_int_equal(after->seq, 1);
    assert_non_null(batch = take(spool, &place));
    assert_null(sample_difference(before, batch));
    batch_free(batch);
    assert_non_null(batch = take(spool, &place));
    assert_null(sample_difference(after, batch));
    batch_free(batch);
    batch_free(before);
    batch_free(after);
    spool_close(spool);
}

/* At that byte from the end something else stands, or with 0 nothing any more. */
static void spoil(uint64_t place, off_t from_end)
{
    _cleanup_close_ int fd = -1;
    struct stat info;
    char path[128], byte;

    snprintf(path, sizeof(path), "%s/spool/%020" PRIu64, directory, place);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    if (!from_end) {
        assert_int_equal(ftruncate(fd, info.st_size / 2), 0);
        return;
    }
    assert_int_equal(pread(fd, &byte, 1, info.st_size - from_end), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, info.st_size - from_end), 1);
}

static void what_is_damaged_is_passed_over_and_told(void **state)
{
    struct spool *spool;
    struct batch *batch;
    uint64_t place = 0, told = 0;

    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    for (uint64_t seed = 1; seed <= 3; seed++)
        append(spool, seed, NULL);
    spoil(1, 0);
    spoil(2, 20);
    capture_begin(STDERR_FILENO);
    batch = take(spool, &place);
    free(capture_end(STDERR_FILENO));
    assert_non_null(batch);
    assert_int_equal(batch->seq, 3);
    batch_free(batch);
    append(spool, 4, &batch);
    for (uint32_t i = 0; i < batch->coverage.dropped_count; i++) {
        assert_string_equal(batch->coverage.dropped[i].why, "damaged");
        told += batch->coverage.dropped[i].last - batch->coverage.dropped[i].first + 1;
    }
    assert_int_equal(told, 2);
    batch_free(batch);
    spool_close(spool);
}

static void the_oldest_make_room(void **state)
{
    uint64_t ops[64], place = 0, told = 0, lost = 0, gone;
    struct batch *batch = NULL;
    struct spool *spool;

    assert_int_equal(spool_open(directory, 128 << 10, &spool), 0);
    capture_begin(STDERR_FILENO);
    for (uint64_t seed = 1; seed <= 64; seed++) {
        batch_free(batch);
        append(spool, seed, &batch);
        ops[seed - 1] = 0;
        for (uint32_t i = 0; i < batch->record_count; i++)
            ops[seed - 1] += record_ops(&batch->records[i]);
    }
    free(capture_end(STDERR_FILENO));
    batch_free(batch);
    gone = 64 - spool_pending(spool);
    assert_true(gone > 0 && gone < 63);
    /* Each of those that are gone is told by one of those that wait. */
    for (uint64_t seq = gone + 1; (batch = take(spool, &place)); seq++) {
        assert_int_equal(batch->seq, seq);
        for (uint32_t i = 0; i < batch->coverage.dropped_count; i++) {
            const struct dropped *range = &batch->coverage.dropped[i];

            assert_string_equal(range->why, "quota");
            told += range->last - range->first + 1;
            lost += range->ops;
        }
        batch_free(batch);
    }
    assert_int_equal(told, gone);
    for (uint64_t i = 0; i < gone; i++)
        lost -= ops[i];
    assert_int_equal(lost, 0);
    spool_close(spool);
}

static void who_is_put_off_lets_others_pass(void **state)
{
    struct spool *spool;
    struct batch *batch;
    uint64_t place = 0;

    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    append(spool, 1, NULL);
    append(spool, 2, NULL);
    batch_free(take(spool, &place));
    spool_put_off(spool, place);
    place = 0;
    assert_non_null(batch = take(spool, &place));
    assert_int_equal(batch->seq, 2);
    batch_free(batch);
    assert_int_equal(spool_acknowledge(spool, place), 0);
    place = 0;
    assert_null(take(spool, &place));
    assert_int_equal(spool_pending(spool), 1);
    spool_close(spool);
}

static void who_is_refused_is_kept_aside(void **state)
{
    struct spool *spool;
    uint64_t place = 0;
    char path[128];

    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    append(spool, 1, NULL);
    batch_free(take(spool, &place));
    capture_begin(STDERR_FILENO);
    assert_int_equal(spool_refuse(spool, place), 0);
    free(capture_end(STDERR_FILENO));
    assert_int_equal(spool_pending(spool), 0);
    snprintf(path, sizeof(path), "%s/refused/%020" PRIu64, directory, place);
    assert_int_equal(access(path, F_OK), 0);
    spool_close(spool);
}

/* The agent's user owns the directory, and root opens it first. */
static void links_lead_nowhere(void **state)
{
    static const char *const names[] = {"spool", "refused"};
    char victim[96], path[128];
    struct spool *spool;
    struct stat st;

    snprintf(victim, sizeof(victim), "%s/victim", directory);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mkdir(victim, 0755), 0);
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        assert_int_equal(symlink(victim, path), 0);
        capture_begin(STDERR_FILENO);
        assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), -ENOTDIR);
        free(capture_end(STDERR_FILENO));
        assert_int_equal(rmdir(victim), 0);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(spool_open(directory, SPOOL_MAX_DEFAULT, &spool), 0);
    snprintf(path, sizeof(path), "%s/spool/new", directory);
    assert_int_equal(close(open(victim, O_WRONLY | O_CREAT, 0600)), 0);
    assert_int_equal(symlink(victim, path), 0);
    append(spool, 1, NULL);
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_size, 0);
    spool_close(spool);
}

static void a_queue_keeps_its_order(void **state)
{
    const uint64_t places[] = {7, 3, 9, 5, 1};
    struct queue queue = {0};
    unsigned at;

    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(queue_add(&queue, &(struct waiting){.place = places[i], .usage = 10}), 0);
    queue_sort(&queue);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(queue_at(&queue, i)->place, 2 * i + 1);
    assert_int_equal(queue_seek(&queue, 4), 2);
    assert_int_equal(queue_seek(&queue, 10), 5);
    assert_false(queue_find(&queue, 4, &at));
    assert_true(queue_find(&queue, 5, &at) && at == 2);
    queue_remove(&queue, at);
    queue_remove(&queue, 0);
    assert_int_equal(queue.count, 3);
    assert_int_equal(queue.usage, 30);
    assert_int_equal(queue_at(&queue, 0)->place, 3);
    queue_clear(&queue);
}

static void waiting_grows_and_is_spread(void **state)
{
    struct backoff backoff = {0};
    unsigned ms = BACKOFF_FIRST_MS, least = UINT32_MAX, most = 0;

    for (unsigned i = 0; i < 20; i++) {
        unsigned wait = backoff_next(&backoff);

        assert_true(wait >= ms / 2 && wait <= ms);
        ms = 2 * ms < BACKOFF_LAST_MS ? 2 * ms : BACKOFF_LAST_MS;
    }
    for (unsigned i = 0; i < 1000; i++) {
        unsigned wait = backoff_next(&backoff);

        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    assert_true(most - least > BACKOFF_LAST_MS / 3); /* a fleet does not come back at once */
    backoff.ms = 0;
    for (unsigned i = 0; i < 100; i++) {
        unsigned wait = backoff_asked(&(struct backoff){0}, 5000);

        assert_true(wait >= 5000 && wait <= 10000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(batches_come_back_in_their_order, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(a_restart_keeps_what_waits, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_passed_over_and_told, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(the_oldest_make_room, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(who_is_put_off_lets_others_pass, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(who_is_refused_is_kept_aside, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(links_lead_nowhere, make_directory, remove_directory),
        cmocka_unit_test(a_queue_keeps_its_order),
        cmocka_unit_test(waiting_grows_and_is_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
