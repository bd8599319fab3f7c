/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>

#define DEVICES_MAX 64 /* of a node; more are not looked at */
#define SAMPLES_MAX 4096

/* nvmlReturn_t */
enum {
    SUCCESS = 0,
    NOT_FOUND = 6, /* no sample is that new */
};

#define MIG_ENABLED           1 /* NVML_DEVICE_MIG_ENABLE */
#define UTILIZATION           1 /* NVML_GPU_UTILIZATION_SAMPLES of nvmlSamplingType_t: percent */
#define VALUE_IS_DOUBLE       0 /* of nvmlValueType_t */
#define VALUE_IS_UNSIGNED_INT 1

/* nvmlProcessInfo_t of the second and third version of the call */
struct process_info {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

/* nvmlSample_t */
struct sample {
    unsigned long long time_us;
    union {
        double as_double;
        unsigned as_unsigned;
        unsigned long long as_long_long;
    } value;
};

struct library {
    void *handle;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*device)(unsigned index, void **device);
    int (*mig_mode)(void *device, unsigned *current, unsigned *pending); /* NULL in old ones, as there is no MIG */
    int (*users)(void *device, unsigned *count, struct process_info *users);
    int (*samples)(void *device, unsigned kind, unsigned long long since_us, unsigned *type, unsigned *count,
                   struct sample *samples);
};

struct gpus {
    struct library library;
    bool ready; /* to be shut down */
    void *devices[DEVICES_MAX];
    unsigned long long last_us[DEVICES_MAX]; /* of the last sample */
    struct gpu list[DEVICES_MAX];
    uint32_t count;
    char why[160];
    struct sample samples[SAMPLES_MAX];
};

static bool find_calls(struct library *library)
{
    const struct {
        void **to;
        const char *names[2];
        bool needed;
    } calls[] = {
        {(void **)&library->init, {"nvmlInit_v2"}, true},
        {(void **)&library->shutdown, {"nvmlShutdown"}, true},
        {(void **)&library->count, {"nvmlDeviceGetCount_v2"}, true},
        {(void **)&library->device, {"nvmlDeviceGetHandleByIndex_v2"}, true},
        {(void **)&library->mig_mode, {"nvmlDeviceGetMigMode"}, false},
        {(void **)&library->users,
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
         true},
        {(void **)&library->samples, {"nvmlDeviceGetSamples"}, true},
    };

    for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        for (unsigned n = 0; n < 2 && !*calls[i].to && calls[i].names[n]; n++)
            *calls[i].to = dlsym(library->handle, calls[i].names[n]);
        if (calls[i].needed && !*calls[i].to)
            return false;
    }
    return true;
}

static double percent_of(const struct sample *sample, unsigned type)
{
    double value = type == VALUE_IS_DOUBLE         ? sample->value.as_double
                   : type == VALUE_IS_UNSIGNED_INT ? sample->value.as_unsigned
                                                   : (double)sample->value.as_long_long;

    return value > 0 ? MIN(value, 100) : 0;
}

/* False when the library does not tell. */
static bool read_samples(struct gpus *gpus, uint32_t at)
{
    struct gpu *gpu = &gpus->list[at];
    unsigned type = 0, count = SAMPLES_MAX;
    unsigned long long *last_us = &gpus->last_us[at];
    double idle_us = 0, all_us = 0;
    bool known = *last_us > 0;
    int status = gpus->library.samples(gpus->devices[at], UTILIZATION, *last_us, &type, &count, gpus->samples);

    gpu->told = false;
    if (status != SUCCESS)
        return status == NOT_FOUND;
    for (unsigned i = 0; i < MIN(count, SAMPLES_MAX); i++) {
        const struct sample *sample = &gpus->samples[i];

        if (sample->time_us <= *last_us)
            continue;
        if (known) {
            double passed_us = (double)(sample->time_us - *last_us);

            all_us += passed_us;
            idle_us += passed_us * (1 - percent_of(sample, type) / 100);
        }
        *last_us = sample->time_us;
    }
    gpu->told = all_us > 0;
    gpu->idle = gpu->told ? idle_us / all_us : 0;
    return true;
}

static void read_users(struct gpus *gpus, uint32_t at)
{
    struct process_info users[GPU_USERS_MAX];
    unsigned count = GPU_USERS_MAX;
    struct gpu *gpu = &gpus->list[at];

    gpu->user_count = 0;
    if (gpus->library.users(gpus->devices[at], &count, users) != SUCCESS)
        return;
    for (unsigned i = 0; i < MIN(count, GPU_USERS_MAX); i++)
        gpu->users[gpu->user_count++] = users[i].pid;
}

/* Keeps the devices that tell how busy they are. */
static void choose(struct gpus *gpus, unsigned count)
{
    unsigned split = 0, silent = 0, current, pending;

    for (unsigned i = 0; i < count; i++) {
        uint32_t at = gpus->count;

        if (gpus->library.device(i, &gpus->devices[at]) != SUCCESS)
            silent++;
        else if (gpus->library.mig_mode &&
                 gpus->library.mig_mode(gpus->devices[at], &current, &pending) == SUCCESS && current == MIG_ENABLED)
            split++;
        else if (read_samples(gpus, at))
            gpus->count++;
        else
            silent++;
    }
    if (!count)
        snprintf(gpus->why, sizeof(gpus->why), "%s knows of no GPU", GPU_LIBRARY);
    else if (split || silent)
        snprintf(gpus->why, sizeof(gpus->why),
                 "of %u GPUs %u are divided (MIG), whose use is not told, and %u do not tell", count, split, silent);
}

static void open_library(struct gpus *gpus)
{
    struct library *library = &gpus->library;
    unsigned count = 0;
    int status;

    library->handle = dlopen(GPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) {
        snprintf(gpus->why, sizeof(gpus->why), "%s is not here", GPU_LIBRARY);
        return;
    }
    if (!find_calls(library)) {
        snprintf(gpus->why, sizeof(gpus->why), "%s is too old", GPU_LIBRARY);
        return;
    }
    status = library->init();
    gpus->ready = status == SUCCESS;
    if (gpus->ready)
        status = library->count(&count);
    if (status == SUCCESS)
        choose(gpus, MIN(count, DEVICES_MAX));
    else
        snprintf(gpus->why, sizeof(gpus->why), "%s does not start (its error %d)", GPU_LIBRARY, status);
}

int gpus_new(struct gpus **out)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    open_library(*out);
    return 0;
}

void gpus_free(struct gpus *gpus)
{
    if (!gpus)
        return;
    if (gpus->ready)
        gpus->library.shutdown();
    if (gpus->library.handle)
        dlclose(gpus->library.handle);
    free(gpus);
}

uint32_t gpus_count(const struct gpus *gpus)
{
    return gpus->count;
}

const char *gpus_why(const struct gpus *gpus)
{
    return *gpus->why ? gpus->why : NULL;
}

const struct gpu *gpus_look(struct gpus *gpus)
{
    for (uint32_t at = 0; at < gpus->count; at++) {
        read_samples(gpus, at);
        read_users(gpus, at);
    }
    return gpus->list;
}
