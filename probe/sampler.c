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
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "probe/governor.h"
#include "probe/price.h"
#include "probe/stall.h"

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
    int64_t pay_ns; /* the price of a shorter time says little, though an interval may become one */
    struct governor governor;
    struct price price;
    int64_t looked_ns, drained_ns; /* last, monotonic */
    struct stalls *stalls; /* NULL: not asked for */
    struct batch *batch; /* what a long interval has so far; NULL for nothing */
};

/* A longer interval is drained this often, so that the kernel side never has to keep more. */
#define DRAIN_NS 1000000000LL

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

void sampler_set_interval(struct sampler *sampler, uint64_t interval_ns)
{
    int64_t interval = (int64_t)interval_ns;

    sampler->interval_ns = interval_ns;
    sampler->end_wall_ns = (sampler->start_wall_ns / interval + 1) * interval;
}

static void begin(struct sampler *sampler)
{
    sampler->start_wall_ns = wall_clock_ns();
    sampler->start_ns = monotonic_ns();
    sampler_set_interval(sampler, sampler->interval_ns);
    sampler->looked_ns = sampler->drained_ns = sampler->start_ns;
}

static void begin_price(struct sampler *sampler)
{
    if (sampler->governor.limit > 0)
        price_begin(&sampler->price, probe_run_ns(sampler->probe), governor_measures(&sampler->governor));
}

/* An interval, or several short ones, have their price; what the next may cost decides how much is watched in it. */
static void pay(struct sampler *sampler)
{
    enum probe_step before = sampler->governor.step, step;
    double price;
    bool whole;

    if (!(sampler->governor.limit > 0) || monotonic_ns() - sampler->price.at_ns < sampler->pay_ns)
        return;
    price = price_end(&sampler->price, probe_run_ns(sampler->probe), &whole);
    step = governor_interval(&sampler->governor, price, whole);
    log_debug("watching costs %.3f %% of the node%s, step %d", price * 100, whole ? "" : " without the programs", step);
    if (step != before)
        probe_set_step(sampler->probe, step); /* what failed stands in the coverage */
    begin_price(sampler);
}

uint64_t sampler_modest_cost(void)
{
    uint64_t percent = 10000, half = 500000, processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

    return half / processors > percent ? half / processors : percent;
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
    if (options->max_cost)
        log_debug("watching may cost %.4f %% of the node", (double)options->max_cost / 1e4);
    sampler->price.stats = -1;
    begin_price(sampler);
    sampler->interval_ns = options->interval_ns;
    sampler->pay_ns = (int64_t)options->interval_ns / 10 * 9;
    sampler->cluster = strdup(options->cluster ? options->cluster : "default");
    sampler->node = strdup(options->node ? options->node : name.nodename);
    sampler->role = strdup(options->role ? options->role : "client");
    snprintf(sampler->kernel, sizeof(sampler->kernel), "%s", name.release);
    read_boot_id(sampler->boot_id);
    if (!sampler->cluster || !sampler->node || !sampler->role ||
        (options->stalls && probe_stalls(probe, options->stalls == STALLS_ALL, &sampler->stalls)) ||
        random_stream(sampler->stream)) {
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
    batch_free(sampler->batch);
    stalls_free(sampler->stalls);
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

static int drain(struct sampler *sampler)
{
    int err = sampler->batch ? 0 : batch_new(&sampler->batch);

    sampler->drained_ns = monotonic_ns();
    if (sampler->stalls)
        stalls_before_drain(sampler->stalls);
    if (!err)
        err = probe_drain(sampler->probe, sampler->batch);
    if (sampler->stalls)
        stalls_after_drain(sampler->stalls);
    return err;
}

/* What has to be done between the ends of intervals. 0 or -errno. */
static int keep_up(struct sampler *sampler)
{
    int64_t now = monotonic_ns();
    int err;

    if (now - sampler->drained_ns >= DRAIN_NS)
        return drain(sampler);
    if (now - sampler->looked_ns < PROBE_LOOK_MS * 1000000LL)
        return 0;
    sampler->looked_ns = now;
    err = probe_look(sampler->probe); /* first: what it looks at may be gone soon */
    return err || !sampler->stalls ? err : stalls_look(sampler->stalls);
}

int sampler_wait(struct sampler *sampler, int fd)
{
    for (;;) {
        struct pollfd events[2] = {{.fd = fd, .events = POLLIN},
                                   {.fd = probe_mount_fd(sampler->probe), .events = POLLPRI}};
        uint64_t remaining = sampler_remaining(sampler), look = PROBE_LOOK_MS * 1000000ull;
        struct timespec timeout;
        int ready;

        if (!remaining)
            return 1;
        if (remaining > look)
            remaining = look;
        timeout = (struct timespec){.tv_nsec = (long)remaining};
        ready = ppoll(events, 2, &timeout, NULL);
        if (ready < 0)
            return errno == EINTR ? 0 : -errno;
        ready = keep_up(sampler);
        if (ready)
            return ready;
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

/* Whether GPUs are asked stands beside the kernel's hooks. */
static int tell_gpus(const struct stalls *stalls, struct batch *batch)
{
    uint32_t count = batch->coverage.hook_count;
    _cleanup_free_ struct hook *hooks = calloc(count + 1u, sizeof(*hooks));
    const struct gpus *gpus = stalls_gpus(stalls);

    if (!gpus)
        return 0;
    if (!hooks)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        hooks[i] = batch->coverage.hooks[i];
    hooks[count] = (struct hook){HOOK_GPU, gpus_count(gpus) > 0, gpus_why(gpus)};
    return batch_hooks(batch, hooks, count + 1);
}

/* Where nobody sees reads, nobody can tell who waits for them. */
static int tell_stalls(struct sampler *sampler, struct batch *batch)
{
    int err = stalls_report(sampler->stalls, sampler->governor.step < PROBE_METADATA_ONLY ? batch : NULL);

    return err ? err : tell_gpus(sampler->stalls, batch);
}

enum probe_step sampler_step(const struct sampler *sampler)
{
    return sampler->governor.step;
}

int sampler_take(struct sampler *sampler, struct batch **out)
{
    int64_t started = sampler->start_ns;
    int err = drain(sampler);
    struct batch *batch = sampler->batch;

    if (!err)
        err = identify(sampler, batch);
    if (err)
        return err; /* what has been drained comes with the next one */
    sampler->batch = NULL;
    if (sampler->stalls && tell_stalls(sampler, batch))
        log_debug("cannot tell who waited: no memory"); /* the counts are whole without */
    begin(sampler);
    batch->duration_ns = (uint64_t)(sampler->start_ns - started);
    if (sampler->governor.step != PROBE_FULL)
        batch->coverage.shed_ms[sampler->governor.step - PROBE_JOB_KEYS] = batch->duration_ns / 1000000;
    pay(sampler);
    batch->seq = ++sampler->seq;
    *out = batch;
    return 0;
}
