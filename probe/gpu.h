/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How busy the node's GPUs are, and who uses them, by NVIDIA's management library, which is loaded while running where
 * it is at hand. A GPU is busy while at least one kernel runs on it. The library keeps samples of that, each of the
 * time since the one before, several a second (nvmlDeviceGetSamples in the NVML API Reference Guide, from which the
 * types in gpu.c are, too).
 */
#ifndef UNBLEND_PROBE_GPU_H
#define UNBLEND_PROBE_GPU_H

#include <stdbool.h>
#include <stdint.h>

#define GPU_LIBRARY  "libnvidia-ml.so.1"
#define GPU_USERS_MAX 64 /* a GPU with more has none */

struct gpu {
    bool told;   /* new samples have come since the look before */
    double idle; /* share of the time they are of */
    uint32_t users[GPU_USERS_MAX]; /* processes that compute on it */
    uint32_t user_count;
};

struct gpus;

/* 0 or -ENOMEM. That there is no library, or nothing that it tells, is no error. */
int gpus_new(struct gpus **out);
void gpus_free(struct gpus *gpus); /* NULL is fine */

/* How many can be looked at. */
uint32_t gpus_count(const struct gpus *gpus);
/* Which cannot, and for what reason; NULL: all can. It lives as long as gpus. */
const char *gpus_why(const struct gpus *gpus);
/* Looks at all of them. The gpus_count() are gpus's. */
const struct gpu *gpus_look(struct gpus *gpus);

#endif
