/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/scan.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/recording.h"

#define HEADER_SIZE 8
#define MAGIC_SIZE  (sizeof(RECORDING_MAGIC) - 1)
#define READ_SIZE   (64 * 1024)

/* Every payload begins with it, so behind damage only a few places need a closer look. */
static const unsigned char zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

/* A file made to be slow has a plausible length everywhere; real damage takes a frame or two of
 * this. */
#define HASHED_MAX ((uint64_t)4 << 30)

static size_t available(const struct scan *s)
{
    return s->end - s->start;
}

static void pass(struct scan *s, size_t bytes)
{
    s->start += bytes;
    s->offset += bytes;
}

/* Reads some more; at the end of the file sets ended. 0 or -errno. */
static int fill(struct scan *s)
{
    ssize_t got;

    if (s->start) {
        memmove(s->buffer, s->buffer + s->start, available(s));
        s->end -= s->start;
        s->start = 0;
    }
    if (s->room - s->end < READ_SIZE) {
        size_t room = s->room ? s->room * 2 : 2 * (size_t)READ_SIZE;
        unsigned char *grown = realloc(s->buffer, room);

        if (!grown)
            return -ENOMEM;
        s->buffer = grown;
        s->room = room;
    }
    do
        got = read(s->fd, s->buffer + s->end, s->room - s->end);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    s->ended = got == 0;
    s->end += (size_t)got;
    return 0;
}

/* The same but for the digit at its end. */
static bool is_other_version(const unsigned char *start)
{
    size_t digit = sizeof(RECORDING_MAGIC) - 2;

    return memcmp(start, RECORDING_MAGIC, digit) == 0 && start[digit] >= '0' && start[digit] <= '9' &&
           start[digit] != RECORDING_MAGIC[digit];
}

int scan_magic(struct scan *s, size_t *got)
{
    size_t size = sizeof(RECORDING_MAGIC) - 1, have;
    int err = 0;

    while (available(s) < size && !s->ended && !err)
        err = fill(s);
    if (err)
        return err;
    have = available(s) < size ? available(s) : size;
    *got = have;
    if (have == size && is_other_version(s->buffer + s->start))
        return -EPROTONOSUPPORT;
    if (have && memcmp(s->buffer + s->start, RECORDING_MAGIC, have) != 0)
        *got = size; /* as much as there should be, and something else */
    else if (have == size) {
        pass(s, size);
        return 0;
    }
    return -EBADMSG;
}

/* The frame at start, as frame_next(), with as much of the file as that takes: 0 is the file's end.
 */
static int frame_here(struct scan *s, const void **payload, size_t *size, size_t *used)
{
    for (;;) {
        int result = frame_next(s->buffer + s->start, available(s), payload, size, used);
        int err;

        if (result || s->ended)
            return result;
        err = fill(s);
        if (err)
            return err;
    }
}

/* Moves start to the next place where a payload might begin, or to the end. 0 or -errno. */
static int find_candidate(struct scan *s)
{
    for (;;) {
        const size_t least = HEADER_SIZE + sizeof(zstd_magic);
        int err;

        if (available(s) >= least) {
            unsigned char *from = s->buffer + s->start;
            unsigned char *found = memmem(from + HEADER_SIZE, available(s) - HEADER_SIZE,
                                          zstd_magic, sizeof(zstd_magic));

            if (found) {
                pass(s, (size_t)(found - HEADER_SIZE - from));
                return 0;
            }
            pass(s, available(s) - least + 1);
        }
        if (s->ended) {
            pass(s, available(s));
            return 0;
        }
        err = fill(s);
        if (err)
            return err;
    }
}

/* How much of the frame at start was hashed to find that it is none. */
static size_t claimed_length(const struct scan *s)
{
    uint32_t length;

    memcpy(&length, s->buffer + s->start, sizeof(length));
    length = le32toh(length);
    return length <= RECORDING_FRAME_MAX ? length : 0;
}

/* Passes what is no frame, up to the next one or the end. 0 or -errno. */
static int resynchronise(struct scan *s)
{
    const void *payload;
    size_t size, used;

    while (available(s) || !s->ended) {
        int result;

        if (available(s))
            pass(s, 1);
        result = find_candidate(s);
        if (result || !available(s))
            return result;
        result = frame_here(s, &payload, &size, &used);
        if (result == 1)
            return 0;
        if (result && result != -EBADMSG)
            return result;
        if (result == -EBADMSG)
            s->hashed += claimed_length(s);
        if (s->hashed > HASHED_MAX) {
            s->ended = s->given_up = true;
            pass(s, available(s));
        }
    }
    return 0;
}

/* Where another recording begins that was put behind the first one, as by cat: no frame is as long as that says. */
static bool is_beginning(const struct scan *s)
{
    return available(s) >= MAGIC_SIZE && memcmp(s->buffer + s->start, RECORDING_MAGIC, MAGIC_SIZE) == 0;
}

int scan_next(struct scan *s, const void **payload, size_t *size, uint64_t *damaged)
{
    uint64_t from;
    size_t used;
    int result;

    while ((result = frame_here(s, payload, size, &used)) == -EBADMSG && is_beginning(s))
        pass(s, MAGIC_SIZE);
    from = s->offset;
    if (result == 1) {
        pass(s, used);
        return 1;
    }
    if (result == 0 && !available(s))
        return 0;
    if (result && result != -EBADMSG)
        return result;
    result = resynchronise(s);
    if (result)
        return result;
    *damaged = from;
    return -EBADMSG;
}

void scan_clear(struct scan *s)
{
    free(s->buffer);
    s->buffer = NULL;
}
