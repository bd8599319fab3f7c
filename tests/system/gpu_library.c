/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GPU without the GPU: what the tests have in place of NVIDIA's management library, with its calls and types. It is
 * busy when the program that "computes" on it says so, in a file that both map (UNBLEND_TEST_GPU):
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct card {
    uint32_t pid;     /* who computes on it */
    uint32_t divided; /* MIG */
    uint32_t count;
    uint32_t unused;
    struct {
        double from, to; /* seconds since the epoch */
    } busy[65534];
};

struct sample {
    unsigned long long time_us;
    union {
        double as_double;
        unsigned as_unsigned;
    } value;
};

struct process_info {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

enum {
    SUCCESS = 0,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    UNSIGNED_INT = 1,
    UTILIZATION = 1,
};

#define STEP_US 100000 /* of a sample; the last two are not told yet, as the program says what it did afterwards */
#define KEPT    20

static const volatile struct card *card;

int nvmlInit_v2(void)
{
    const char *path = getenv("UNBLEND_TEST_GPU");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *memory = fd >= 0 ? mmap(NULL, sizeof(*card), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return 9; /* NVML_ERROR_DRIVER_NOT_LOADED */
    card = memory;
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return munmap((void *)card, sizeof(*card));
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 1;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)card;
    return index ? 2 : SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    (void)device;
    *current = *pending = card->divided;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process_info *infos)
{
    unsigned room = *count;

    (void)device;
    *count = card->pid != 0;
    if (*count > room)
        return INSUFFICIENT_SIZE;
    if (*count)
        infos[0] = (struct process_info){.pid = card->pid};
    return SUCCESS;
}

static unsigned percent(unsigned long long end_us)
{
    double end = (double)end_us / 1e6, start = end - STEP_US / 1e6, busy = 0;

    for (uint32_t i = 0; i < card->count; i++) {
        double from = card->busy[i].from > start ? card->busy[i].from : start;
        double to = card->busy[i].to < end ? card->busy[i].to : end;

        busy += to > from ? to - from : 0;
    }
    return (unsigned)(100 * busy / (STEP_US / 1e6) + 0.5);
}

int nvmlDeviceGetSamples(void *device, unsigned kind, unsigned long long since_us, unsigned *type, unsigned *count,
                         struct sample *samples)
{
    struct timespec now;
    unsigned long long last_us, time_us;
    unsigned room = *count;

    (void)device;
    if (kind != UTILIZATION)
        return 2; /* NVML_ERROR_INVALID_ARGUMENT */
    clock_gettime(CLOCK_REALTIME, &now);
    last_us = (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000 - 2 * STEP_US;
    last_us -= last_us % STEP_US;
    time_us = last_us - KEPT * STEP_US;
    *type = UNSIGNED_INT;
    *count = 0;
    for (; time_us <= last_us && *count < room; time_us += STEP_US)
        if (time_us > since_us)
            samples[(*count)++] = (struct sample){time_us, {.as_unsigned = percent(time_us)}};
    return *count ? SUCCESS : NOT_FOUND;
}
