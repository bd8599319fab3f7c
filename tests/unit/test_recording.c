/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/recording.h"
#include "tests/unit/sample.h"

#define _cleanup_batch_  _cleanup_(batch_freep)
#define _cleanup_reader_ _cleanup_(reader_freep)

#define FRAMES 3

/* A file in memory: the tests write some thousand. */
static char path[32];
/* Seeds of small ones. */
static const uint64_t seeds[FRAMES] = {24, 38, 41};
static struct batch *batches[FRAMES];

/* The bytes of a recording with all three, and where each frame begins; the last is the end. */
static unsigned char *whole;
static size_t starts[FRAMES + 1];

static void reader_freep(struct recording_reader **reader)
{
    recording_reader_free(*reader);
}

static void put_file(const void *data, size_t size)
{
    _cleanup_close_ int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

    assert_int_equal(write(fd, data, size), size);
}

static size_t file_size(void)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static int setup(void **state)
{
    struct recording_writer *writer;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("recording", MFD_CLOEXEC));
    if (recording_create(path, &writer))
        return -1;
    for (int i = 0; i < FRAMES; i++) {
        batches[i] = sample_batch(seeds[i], 2);
        starts[i] = file_size();
        if (recording_write(writer, batches[i]))
            return -1;
    }
    starts[FRAMES] = file_size();
    if (recording_close(writer))
        return -1;
    whole = malloc(starts[FRAMES]);
    fd = open(path, O_RDONLY);
    if (!whole || read(fd, whole, starts[FRAMES]) != (ssize_t)starts[FRAMES])
        return -1;
    close(fd);
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < FRAMES; i++)
        batch_free(batches[i]);
    free(whole);
    return 0;
}

/* Reads to the end: which of the three came, as bits, and how often damage was told. */
static unsigned read_all(struct recording_reader *reader, unsigned *damages)
{
    unsigned seen = 0, result_count = 0;

    *damages = 0;
    for (;;) {
        _cleanup_batch_ struct batch *batch = NULL;
        struct codec_error error = {{0}, {0}};
        int result = recording_read(reader, &batch, &error), which = -1;

        assert_true(result_count++ < 100);
        if (result == 0)
            return seen;
        if (result == -EBADMSG) {
            assert_int_not_equal(error.why[0], '\0');
            assert_null(batch);
            (*damages)++;
            continue;
        }
        assert_int_equal(result, 1);
        for (int i = 0; i < FRAMES; i++)
            if (!sample_difference(batch, batches[i]))
                which = i;
        assert_true(which >= 0);
        assert_true(seen >> which == 0); /* in their order, none twice */
        seen |= 1u << which;
    }
}

static unsigned read_file(unsigned *damages)
{
    _cleanup_reader_ struct recording_reader *reader = NULL;

    assert_int_equal(recording_open(path, &reader), 0);
    return read_all(reader, damages);
}

static void batches_come_back(void **state)
{
    unsigned damages;

    put_file(whole, starts[FRAMES]);
    assert_int_equal(read_file(&damages), 7);
    assert_int_equal(damages, 0);
    assert_memory_equal(whole, "UNBLEND1", 8);
    assert_int_equal(starts[0], 8);
}

/* cat a b */
static void recordings_behind_each_other_are_one(void **state)
{
    const size_t second = starts[1], size = starts[FRAMES] + 8 + 8;
    _cleanup_free_ unsigned char *data = malloc(size);
    unsigned damages;

    memcpy(data, whole, second);
    memcpy(data + second, whole, 8); /* one without batches, and one with the others */
    memcpy(data + second + 8, whole, 8);
    memcpy(data + second + 16, whole + second, starts[FRAMES] - second);
    put_file(data, size);
    assert_int_equal(read_file(&damages), 7);
    assert_int_equal(damages, 0);
    put_file(data, second + 16); /* nothing behind them */
    assert_int_equal(read_file(&damages), 1);
    assert_int_equal(damages, 0);
    put_file(data, second + 5); /* cut off within one */
    assert_int_equal(read_file(&damages), 1);
    assert_int_equal(damages, 1);
}

static void pipes_can_be_read(void **state)
{
    char name[64];
    _cleanup_reader_ struct recording_reader *reader = NULL;
    unsigned damages;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], whole, starts[FRAMES]), starts[FRAMES]);
    close(ends[1]);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
    assert_int_equal(recording_open(name, &reader), 0);
    assert_int_equal(read_all(reader, &damages), 7);
    assert_int_equal(damages, 0);
    close(ends[0]);
}

/* Whole frames of a file that ends after so many bytes, as bits. */
static unsigned frames_before(size_t size)
{
    unsigned seen = 0;

    for (int i = 0; i < FRAMES; i++)
        if (starts[i + 1] <= size)
            seen |= 1u << i;
    return seen;
}

static bool ends_a_frame(size_t size)
{
    for (int i = 0; i <= FRAMES; i++)
        if (starts[i] == size)
            return true;
    return false;
}

static void torn_anywhere_the_rest_is_read(void **state)
{
    for (size_t size = 8; size <= starts[FRAMES]; size++) {
        unsigned damages;

        put_file(whole, size);
        assert_int_equal(read_file(&damages), frames_before(size));
        assert_int_equal(damages, !ends_a_frame(size));
    }
}

static void torn_anywhere_it_can_be_appended_to(void **state)
{
    for (size_t size = 0; size <= starts[FRAMES]; size++) {
        struct recording_writer *writer;
        size_t intact = 0;
        uint64_t cut = 99;
        unsigned damages;

        for (int i = 0; i <= FRAMES; i++)
            if (starts[i] <= size)
                intact = starts[i];
        put_file(whole, size);
        assert_int_equal(recording_append(path, &writer, &cut), 0);
        assert_int_equal(cut, size - intact);
        assert_int_equal(recording_write(writer, batches[2]), 0);
        assert_int_equal(recording_close(writer), 0);
        if (size == starts[FRAMES])
            continue; /* the third is there twice, which read_all() does not expect */
        assert_int_equal(read_file(&damages), frames_before(size) | 4);
        assert_int_equal(damages, 0);
    }
}

/* Only the frame that was hit is lost. */
static void check_flip(size_t at, int bit)
{
    unsigned expected = 7, damages;

    for (int i = 0; i < FRAMES; i++)
        if (starts[i] <= at && at < starts[i + 1])
            expected &= ~(1u << i);
    whole[at] ^= (unsigned char)(1 << bit);
    put_file(whole, starts[FRAMES]);
    whole[at] ^= (unsigned char)(1 << bit);
    assert_int_equal(read_file(&damages), expected);
    assert_int_equal(damages, 1);
}

static void flipped_anywhere_the_others_are_read(void **state)
{
    for (size_t at = 8; at < starts[FRAMES]; at++)
        check_flip(at, (int)(at * 5 % 8));
    for (int bit = 0; bit < 8 * 12; bit++) /* length, checksum, and the magic number behind */
        check_flip(starts[1] + (size_t)bit / 8, bit % 8);
}

static void rubbish_between_frames_is_passed(void **state)
{
    size_t size = starts[FRAMES] + 700000;
    _cleanup_free_ unsigned char *data = malloc(size);
    uint64_t random = 3;
    unsigned damages;

    memcpy(data, whole, starts[1]);
    for (size_t i = 0; i < 700000; i++)
        data[starts[1] + i] = (unsigned char)sample_random(&random);
    /* It looks like a frame, and claims more than there is, and less than that, and too much. */
    memcpy(data + starts[1], "\x00\x00\x00\x01zzzz\x28\xb5\x2f\xfd", 12);
    memcpy(data + starts[1] + 100, "\x64\x00\x00\x00zzzz\x28\xb5\x2f\xfd", 12);
    memcpy(data + starts[1] + 200, "\xff\xff\xff\xff\xff\xff\xff\xff\x28\xb5\x2f\xfd", 12);
    memcpy(data + starts[1] + 700000, whole + starts[1], starts[FRAMES] - starts[1]);
    put_file(data, size);
    assert_int_equal(read_file(&damages), 7);
    assert_int_equal(damages, 1);
}

/* Every twelve bytes a frame of 8 MiB could begin: hashing them all would take hours. */
static void files_made_to_be_slow_end(void **state)
{
    const size_t size = (size_t)16 << 20;
    _cleanup_free_ unsigned char *data = calloc(1, size);
    _cleanup_reader_ struct recording_reader *reader = NULL;
    struct codec_error error;
    struct batch *batch;

    memcpy(data, whole, 8);
    for (size_t at = 8; at + 12 <= size; at += 12)
        memcpy(data + at, "\0\0\x80\0xxxx\x28\xb5\x2f\xfd", 12);
    put_file(data, size);
    assert_int_equal(recording_open(path, &reader), 0);
    assert_int_equal(recording_read(reader, &batch, &error), -EBADMSG);
    assert_non_null(strstr(error.why, "given up"));
    assert_int_equal(recording_read(reader, &batch, &error), 0);
}

/* Damage in the middle does not make what follows a torn tail. */
static void appending_keeps_what_stands_behind_damage(void **state)
{
    struct recording_writer *writer;
    uint64_t cut = 99;
    unsigned damages;

    whole[starts[1] + 20] ^= 1;
    put_file(whole, starts[FRAMES]);
    whole[starts[1] + 20] ^= 1;
    assert_int_equal(recording_append(path, &writer, &cut), 0);
    assert_int_equal(cut, 0);
    assert_int_equal(recording_close(writer), 0);
    assert_int_equal(file_size(), starts[FRAMES]);
    assert_int_equal(read_file(&damages), 5);
    assert_int_equal(damages, 1);
}

/* The checksum is right and the batch is not. */
static void intact_frames_with_nonsense_are_named(void **state)
{
    _cleanup_reader_ struct recording_reader *reader = NULL;
    _cleanup_free_ void *frame = NULL;
    struct codec_error error;
    struct batch *batch;
    size_t size;
    uint32_t job;
    unsigned damages;

    put_file(whole, starts[1]);
    job = batches[1]->records[0].job;
    batches[1]->records[0].job = 1000;
    assert_int_equal(frame_encode(batches[1], &frame, &size), 0);
    batches[1]->records[0].job = job;
    {
        _cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND);

        assert_int_equal(write(fd, frame, size), size);
        assert_int_equal(write(fd, whole + starts[2], starts[3] - starts[2]),
                         starts[3] - starts[2]);
    }
    assert_int_equal(read_file(&damages), 5);
    assert_int_equal(damages, 1);
    assert_int_equal(recording_open(path, &reader), 0);
    assert_int_equal(recording_read(reader, &batch, &error), 1);
    batch_free(batch);
    assert_int_equal(recording_read(reader, &batch, &error), -EBADMSG);
    assert_string_equal(error.field, "records[0].job");
}

/* Of that JSON, compressed; INT64_MIN where it holds no batch. */
static int64_t start_of(const char *json, size_t size)
{
    _cleanup_free_ void *payload = NULL;
    int64_t start_ns = INT64_MIN;
    size_t length;
    int err;

    assert_int_equal(compress_zstd(json, size, &payload, &length), 0);
    err = frame_start(payload, length, &start_ns);
    assert_int_equal(err, start_ns == INT64_MIN ? -EBADMSG : 0);
    return start_ns;
}

static void a_frame_says_when_it_begins(void **state)
{
    static const char hidden[] = "{\"a\":\"\\\",\\\"start_ns\\\":7,\",\"b\":{\"start_ns\":8}, \"start_ns\" : 9 }";
    static const char cut[] = "{\"b\":[{\"start_ns\":8}],\"c\":\"";

    for (unsigned i = 0; i < sizeof(batches) / sizeof(*batches); i++) {
        _cleanup_free_ char *json = NULL;
        size_t size;

        assert_int_equal(codec_encode(batches[i], &json, &size), 0);
        assert_true(start_of(json, size) == batches[i]->start_ns);
    }
    assert_int_equal(start_of(hidden, strlen(hidden)), 9);
    assert_true(start_of(cut, strlen(cut)) == INT64_MIN);
    assert_true(start_of("", 0) == INT64_MIN);
}

/* Whoever writes it behind the tables has it found there, too. */
static void a_beginning_may_stand_at_the_end(void **state)
{
    _cleanup_free_ char *json = NULL;
    char *moved, *at, *behind;
    size_t size, length;

    assert_int_equal(codec_encode(batches[0], &json, &size), 0);
    at = strstr(json, "\"start_ns\":");
    behind = strchr(at, ',') + 1;
    length = (size_t)(behind - at) - 1;
    moved = malloc(size + 5000 + length);
    assert_non_null(moved);
    sprintf(moved, "%.*s%.*s,\"padding\":\"%04096d\",%.*s}", (int)(at - json), json,
            (int)(json + size - 1 - behind), behind, 0, (int)length, at);
    assert_true(start_of(moved, strlen(moved)) == batches[0]->start_ns);
    free(moved);
}

static void other_files_are_no_recordings(void **state)
{
    struct recording_reader *reader = NULL;
    struct recording_writer *writer = NULL;
    uint64_t cut;

    put_file("UNBLENDX........", 16);
    assert_int_equal(recording_open(path, &reader), -EBADMSG);
    put_file("UNBLEND2........", 16);
    assert_int_equal(recording_open(path, &reader), -EPROTONOSUPPORT);
    assert_int_equal(recording_append(path, &writer, &cut), -EBADMSG);
    assert_int_equal(file_size(), 16);
    put_file("UNX", 3);
    assert_int_equal(recording_open(path, &reader), -EBADMSG);
    assert_int_equal(recording_append(path, &writer, &cut), -EBADMSG);
    assert_int_equal(file_size(), 3);
    put_file("", 0);
    assert_int_equal(recording_open(path, &reader), -EBADMSG);
    assert_int_equal(recording_open("/nonexistent/x", &reader), -ENOENT);
    assert_int_equal(recording_open("/", &reader), -EISDIR);
    assert_int_equal(recording_create("/nonexistent/x", &writer), -ENOENT);
    assert_int_equal(recording_create("/dev/full", &writer), -ENOSPC);
    assert_null(reader);
    assert_null(writer);
}

static void one_writer_at_a_time(void **state)
{
    struct recording_writer *writer, *other = NULL;
    uint64_t cut;
    unsigned damages;

    put_file(whole, starts[1]);
    assert_int_equal(recording_append(path, &writer, &cut), 0);
    assert_int_equal(recording_create(path, &other), -EBUSY);
    assert_int_equal(recording_append(path, &other, &cut), -EBUSY);
    assert_null(other);
    assert_int_equal(recording_write(writer, batches[1]), 0);
    assert_int_equal(recording_close(writer), 0);
    assert_int_equal(read_file(&damages), 3);
    assert_int_equal(damages, 0);
    assert_int_equal(recording_create(path, &writer), 0); /* empties it */
    assert_true(recording_fd(writer) >= 0);
    assert_int_equal(recording_close(writer), 0);
    assert_int_equal(file_size(), 8);
}

/* The disk takes so many bytes more and then none: the frames before stay, and it can go on later.
 */
static void a_full_disk_costs_no_frame(void **state)
{
    struct rlimit before, limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t room = 0; room < starts[2] - starts[1]; room += 7) {
        struct recording_writer *writer;
        uint64_t cut;
        unsigned damages;

        put_file(whole, starts[1]);
        assert_int_equal(recording_append(path, &writer, &cut), 0);
        limit = (struct rlimit){starts[1] + room, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        assert_int_equal(recording_write(writer, batches[1]), -EFBIG);
        assert_int_equal(recording_write(writer, batches[1]), -EFBIG);
        assert_int_equal(file_size(), starts[1]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(recording_write(writer, batches[2]), 0);
        assert_int_equal(recording_close(writer), 0);
        assert_int_equal(read_file(&damages), 5);
        assert_int_equal(damages, 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void frames_by_themselves(void **state)
{
    _cleanup_free_ unsigned char *frame = NULL;
    _cleanup_batch_ struct batch *batch = NULL;
    struct codec_error error;
    const void *payload;
    size_t size, payload_size, used;

    assert_int_equal(frame_encode(batches[0], (void **)&frame, &size), 0);
    assert_int_equal(size, starts[1] - starts[0]);
    assert_memory_equal(frame, whole + starts[0], size);
    assert_int_equal(frame[0] + (frame[1] << 8) + (frame[2] << 16), size - 8);
    for (size_t part = 0; part < size; part++)
        assert_int_equal(frame_next(frame, part, &payload, &payload_size, &used), 0);
    assert_int_equal(frame_next(whole + 8, starts[3] - 8, &payload, &payload_size, &used), 1);
    assert_int_equal(used, size);
    assert_ptr_equal(payload, whole + 16);
    assert_int_equal(frame_decode(payload, payload_size, &batch, &error), 0);
    assert_null(sample_difference(batch, batches[0]));
    assert_int_equal(frame_decode("no zstd", 7, &batch, &error), -EBADMSG);
    assert_string_equal(error.why, "is no intact zstd data");
    frame[4] ^= 1;
    assert_int_equal(frame_next(frame, size, &payload, &payload_size, &used), -EBADMSG);
    assert_int_equal(frame_next("\0\0\0\0\0\0\0\0", 8, &payload, &payload_size, &used), -EBADMSG);
    assert_int_equal(frame_next("\1\0\0\4\0\0\0\0", 8, &payload, &payload_size, &used), -EBADMSG);
    assert_int_equal(frame_next("\0\0\0\4\0\0\0\0", 8, &payload, &payload_size, &used), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_back),
        cmocka_unit_test(recordings_behind_each_other_are_one),
        cmocka_unit_test(pipes_can_be_read),
        cmocka_unit_test(torn_anywhere_the_rest_is_read),
        cmocka_unit_test(torn_anywhere_it_can_be_appended_to),
        cmocka_unit_test(flipped_anywhere_the_others_are_read),
        cmocka_unit_test(rubbish_between_frames_is_passed),
        cmocka_unit_test(files_made_to_be_slow_end),
        cmocka_unit_test(appending_keeps_what_stands_behind_damage),
        cmocka_unit_test(intact_frames_with_nonsense_are_named),
        cmocka_unit_test(a_frame_says_when_it_begins),
        cmocka_unit_test(a_beginning_may_stand_at_the_end),
        cmocka_unit_test(other_files_are_no_recordings),
        cmocka_unit_test(one_writer_at_a_time),
        cmocka_unit_test(a_full_disk_costs_no_frame),
        cmocka_unit_test(frames_by_themselves),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
