/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/progress.h"
#include "lib/recording.h"
#include "tests/unit/history.h"

#define BATCHES 200
#define FILES   3

static char directory[] = "/tmp/unblend-progress-XXXXXX";

static void write_recording(char *path, size_t size, int name)
{
    struct recording_writer *writer;

    snprintf(path, size, "%s/%d.rec", directory, name);
    assert_int_equal(recording_create(path, &writer), 0);
    for (int i = 0; i < BATCHES; i++) {
        struct batch *batch = history_batch(i);

        history_ops(batch, "j", 0, OP_READ, 4096, (uint64_t)i + 1);
        assert_int_equal(recording_write(writer, batch), 0);
        batch_free(batch);
    }
    assert_int_equal(recording_close(writer), 0);
}

/* From nothing to all, never back; whether threads decode it (one and two files) or not. */
static void recordings_say_how_far(void **state)
{
    const struct source_window window = {.since_ns = INT64_MIN, .until_ns = INT64_MAX};
    char names[FILES][64], *paths[FILES];
    bool damaged;

    for (unsigned count = 1; count <= FILES; count++) {
        struct source *source;
        struct batch *batch;
        double before = 0;
        unsigned read = 0;

        write_recording(names[count - 1], sizeof(names[0]), (int)count);
        paths[count - 1] = names[count - 1];
        assert_int_equal(source_recording(paths, count, &window, &damaged, &source), 0);
        while (source->next(source, &batch) == 1) {
            double share = source->share(source);

            batch_free(batch);
            assert_true(share >= before && share <= 1);
            before = share;
            if (++read == count * BATCHES / 2)
                assert_true(fabs(share - 0.5) < 0.05);
        }
        assert_true(source->share(source) > 0.999);
        source_freep(&source);
    }
    for (unsigned i = 0; i < FILES; i++)
        unlink(names[i]);
}

static void lines(void **state)
{
    char line[PROGRESS_WIDTH];

    progress_text(line, NAN, 3);
    assert_string_equal(line, "reading, 0:03");
    progress_text(line, 0, 59);
    assert_string_equal(line, "0 % read, 0:59");
    progress_text(line, 0.999, 61);
    assert_string_equal(line, "99 % read, 1:01"); /* not all before it is all */
    progress_text(line, 1, 600);
    assert_string_equal(line, "100 % read, adding up, 10:00");
    progress_text(line, 1, UINT32_MAX);
    assert_true(strlen(line) < PROGRESS_WIDTH - 1);
}

/* Who has no terminal has no progress, and needs not ask for it. */
static void no_terminal(void **state)
{
    struct source source = {0}, *front = &source;
    int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct progress *progress;

    assert_int_equal(dup2(null, STDERR_FILENO), STDERR_FILENO);
    close(null);
    progress = progress_start();
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_null(progress);
    assert_int_equal(progress_watch(progress, &front), 0);
    assert_ptr_equal(front, &source);
    progress_share(progress, 0.5);
    progress_stop(progress);
}

static int make_directory(void **state)
{
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_say_how_far),
        cmocka_unit_test(lines),
        cmocka_unit_test(no_terminal),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
