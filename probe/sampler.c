/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/sampler.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "probe/governor.h"
#include "probe/price.h"

static_assert(PROBE_DETACHED - PROBE_JOB_KEYS + 1 == SHED_COUNT, "a step for each thing that can be left out");

struct sampler {
    struct probe *probe;
    uint64_t interval_ns;
    char *cluster, *node, *role;
    char kernel[65];
    char boot_id[37];
    char stream[33];
    uint64_t seq;
    int64_t start_wall_ns, start_ns; /* of the interval, by both clocks */
    int64_t end_wall_ns;
    struct governor governor;
    struct price price;
};

int random_stream(char stream[33])
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return -EIO;
    for (unsigned i = 0; i < sizeof(bytes); i++)
        snprintf(stream + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static void read_boot_id(char id[37])
{
    _cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(id, 37, file))
        id[0] = '\0';
    id[strcspn(id, "\n")] = '\0';
}

static void begin(struct sampler *sampler)
{
    int64_t interval = (int64_t)sampler->interval_ns;

    sampler->start_wall_ns = wall_clock_ns();
    sampler->start_ns = monotonic_ns();
    sampler->end_wall_ns = (sampler->start_wall_ns / interval + 1) * interval;
}

static void begin_price(struct sampler *sampler)
{
    if (sampler->governor.limit > 0)
        price_begin(&sampler->price, probe_run_ns(sampler->probe), governor_measures(&sampler->governor));
}

/* The interval has its price; what the next one may cost decides how much is watched in it. */
static void pay(struct sampler *sampler)
{
    enum probe_step before = sampler->governor.step, step;
    double price;
    bool whole;

    if (!(sampler->governor.limit > 0))
        return;
    price = price_end(&sampler->price, probe_run_ns(sampler->probe), &whole);
    step = governor_interval(&sampler->governor, price, whole);
    log_debug("watching costs %.3f %% of the node%s, step %d", price * 100, whole ? "" : " without the programs", step);
    if (step != before)
        probe_set_step(sampler->probe, step); /* what failed stands in the coverage */
    begin_price(sampler);
}

int sampler_new(struct probe *probe, const struct sampler_options *options, struct sampler **out)
{
    struct sampler *sampler = calloc(1, sizeof(*sampler));
    struct utsname name;

    if (!sampler)
        return -ENOMEM;
    uname(&name);
    sampler->probe = probe;
    governor_init(&sampler->governor, (double)options->max_cost / 1e6);
    sampler->price.stats = -1;
    begin_price(sampler);
    sampler->interval_ns = options->interval_ns;
    sampler->cluster = strdup(options->cluster ? options->cluster : "default");
    sampler->node = strdup(options->node ? options->node : name.nodename);
    sampler->role = strdup(options->role ? options->role : "client");
    snprintf(sampler->kernel, sizeof(sampler->kernel), "%s", name.release);
    read_boot_id(sampler->boot_id);
    if (!sampler->cluster || !sampler->node || !sampler->role || random_stream(sampler->stream)) {
        sampler_free(sampler);
        return -ENOMEM;
    }
    begin(sampler);
    *out = sampler;
    return 0;
}

void sampler_free(struct sampler *sampler)
{
    if (!sampler)
        return;
    price_clear(&sampler->price);
    free(sampler->cluster);
    free(sampler->node);
    free(sampler->role);
    free(sampler);
}

uint64_t sampler_remaining(const struct sampler *sampler)
{
    int64_t now = wall_clock_ns();

    /* A clock that was set back must not make an interval longer than it is. */
    if (now >= sampler->end_wall_ns || now < sampler->start_wall_ns ||
        monotonic_ns() - sampler->start_ns >= (int64_t)sampler->interval_ns)
        return 0;
    return (uint64_t)(sampler->end_wall_ns - now);
}

int sampler_wait(struct sampler *sampler, int fd)
{
    for (;;) {
        struct pollfd events[2] = {{.fd = fd, .events = POLLIN},
                                   {.fd = probe_mount_fd(sampler->probe), .events = POLLPRI}};
        uint64_t remaining = sampler_remaining(sampler);
        struct timespec timeout = {.tv_sec = (time_t)(remaining / 1000000000),
                                   .tv_nsec = (long)(remaining % 1000000000)};
        int ready;

        if (!remaining)
            return 1;
        ready = ppoll(events, 2, &timeout, NULL);
        if (ready < 0)
            return errno == EINTR ? 0 : -errno;
        if (events[1].revents)
            probe_mounts_changed(sampler->probe);
        if (events[0].revents)
            return 0;
    }
}

static int identify(const struct sampler *sampler, struct batch *batch)
{
    if (batch_set(batch, &batch->cluster, sampler->cluster) ||
        batch_set(batch, &batch->node, sampler->node) ||
        batch_set(batch, &batch->role, sampler->role) ||
        batch_set(batch, &batch->kernel, sampler->kernel) ||
        batch_set(batch, &batch->boot_id, sampler->boot_id) ||
        batch_set(batch, &batch->stream, sampler->stream))
        return -ENOMEM;
    batch->interval_ms = (uint32_t)(sampler->interval_ns / 1000000);
    batch->start_ns = sampler->start_wall_ns;
    return 0;
}

enum probe_step sampler_step(const struct sampler *sampler)
{
    return sampler->governor.step;
}

int sampler_take(struct sampler *sampler, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int64_t started = sampler->start_ns;
    int err = batch_new(&batch);

    if (!err)
        err = identify(sampler, batch);
    if (!err)
        err = probe_drain(sampler->probe, batch);
    if (err)
        return err;
    begin(sampler);
    batch->duration_ns = (uint64_t)(sampler->start_ns - started);
    if (sampler->governor.step != PROBE_FULL)
        batch->coverage.shed_ms[sampler->governor.step - PROBE_JOB_KEYS] = batch->duration_ns / 1000000;
    pay(sampler);
    batch->seq = ++sampler->seq;
    *out = take_pointer(batch);
    return 0;
}
