/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies in a spool when an agent starts: each file's first two bytes say its name and how much of the input it
   gets. What is whole is handed out, what is damaged is set aside, and nothing ends the agent. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool.h"
#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/recording.h"
#include "probe/sampler.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[64];

/* The only thing that it asks of the probe. */
int random_stream(char stream[33])
{
    memset(stream, 'a', 32);
    stream[32] = '\0';
    return 0;
}

static void save(const char *name, const void *data, size_t size)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    file = fopen(path, "w");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"streams", "dropped", "stream", "spool/00000000000000000001",
                                        "spool/00000000000000000002", "spool/18446744073709551615", "spool/new",
                                        "spool/x"};
    char command[128];
    struct spool *spool;
    uint64_t place = 0, last = 0;
    unsigned wait_ms = 0, steps = 0;

    if (!*root) {
        snprintf(root, sizeof(root), "/dev/shm/unblend-fuzz-%d", getpid());
        CHECK(mkdir(root, 0700) == 0);
    }
    snprintf(command, sizeof(command), "%s/spool", root);
    mkdir(command, 0700);
    while (size > 2) {
        size_t length = data[1] < 255 ? data[1] : size;
        const char *name = names[data[0] % 8];

        data += 2;
        size -= 2;
        if (length > size)
            length = size;
        save(name, data, length);
        data += length;
        size -= length;
    }
    if (!spool_open(root, 1 << 20, &spool)) {
        void *payload = NULL;
        size_t payload_size;

        while (spool_next(spool, last, &place, &payload, &payload_size, &wait_ms) == 1) {
            CHECK(place && steps++ < 16);
            free(payload);
            CHECK(!spool_acknowledge(spool, place));
        }
        spool_close(spool);
    }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(command, sizeof(command), "%s/%s", root, names[i]);
        unlink(command);
    }
    return 0;
}
