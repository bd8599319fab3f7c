/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bundles: garbage ends, what was written comes back, and one bit that is changed is found. The first byte chooses. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/bundle.h"
#include "lib/cleanup.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[32];

/* The lines of all frames; -EBADMSG. */
static int read_all(char **out, size_t *out_size)
{
    struct bundle_reader *reader;
    int got = bundle_open(path, &reader);

    *out = NULL;
    *out_size = 0;
    if (got) {
        CHECK(got == -EBADMSG);
        return got;
    }
    for (;;) {
        _cleanup_free_ void *lines = NULL;
        size_t size;

        got = bundle_next(reader, &lines, &size);
        if (got != 1)
            break;
        *out = realloc(*out, *out_size + size + 1);
        CHECK(*out);
        memcpy(*out + *out_size, lines, size);
        *out_size += size;
    }
    CHECK(got == 0 || got == -EBADMSG);
    bundle_reader_free(reader);
    return got;
}

static void check_signed(const uint8_t *data, size_t size)
{
    static struct site_key key;
    static bool has_key;
    struct bundle_writer *writer;
    _cleanup_free_ char *lines = NULL, *changed = NULL;
    size_t lines_size, bit;
    uint8_t octet;

    if (!has_key) {
        char key_path[64];

        snprintf(key_path, sizeof(key_path), "/tmp/unblend-fuzz-%d.key", getpid());
        CHECK(!site_key_load(key_path, &key) && !unlink(key_path));
        has_key = true;
    }
    CHECK(!bundle_create(file, &key, &writer));
    CHECK(!bundle_add(writer, (const char *)data, size) && !bundle_finish(writer));
    bundle_writer_free(writer);
    CHECK(!read_all(&lines, &lines_size));
    CHECK(lines_size == size + 1 && memcmp(lines, data, size) == 0);
    bit = (data[0] * 257u + data[size - 1]) % ((size_t)lseek(file, 0, SEEK_END) * 8);
    CHECK(pread(file, &octet, 1, (off_t)(bit / 8)) == 1);
    octet ^= (uint8_t)(1u << bit % 8);
    CHECK(pwrite(file, &octet, 1, (off_t)(bit / 8)) == 1);
    CHECK(read_all(&changed, &lines_size) == -EBADMSG && !lines_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *lines = NULL;
    size_t lines_size;

    if (size < 2)
        return 0;
    if (file < 0) {
        file = memfd_create("bundle", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    }
    CHECK(!ftruncate(file, 0) && lseek(file, 0, SEEK_SET) == 0);
    if (data[0] & 1) {
        check_signed(data + 1, size - 1);
        return 0;
    }
    CHECK(pwrite(file, data + 1, size - 1, 0) == (ssize_t)size - 1);
    read_all(&lines, &lines_size);
    return 0;
}
