/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "probe/sampler.h"

struct live {
    struct source source;
    struct probe *probe;
    struct sampler *sampler;
    /* asked for; taken over between two intervals */
    _Atomic uint64_t interval_ns;
    _Atomic bool threads;
};

static int live_next(struct source *source, struct batch **out)
{
    struct live *live = (struct live *)source;
    int ended, err;

    sampler_set_interval(live->sampler, live->interval_ns);
    probe_set_grain(live->probe, live->threads ? GRAIN_THREADS : GRAIN_PROCESSES);
    ended = sampler_wait(live->sampler, -1);
    if (ended == 0)
        return -EINTR; /* a signal: the caller knows which */
    err = ended < 0 ? ended : sampler_take(live->sampler, out);
    if (err)
        log_error("cannot read the counters: %s", log_why(err));
    return err ? err : 1;
}

static void live_pace(struct source *source, uint64_t interval_ns)
{
    ((struct live *)source)->interval_ns = interval_ns;
}

static void live_by_thread(struct source *source, bool threads)
{
    ((struct live *)source)->threads = threads;
}

static void live_free(struct source *source)
{
    struct live *live = (struct live *)source;

    sampler_free(live->sampler);
    probe_free(live->probe);
    free(live);
}

int source_live(uint64_t interval_ns, uint64_t max_cost, struct source **out)
{
    const struct probe_options probe = {.all = true};
    const struct sampler_options sampler = {.interval_ns = interval_ns, .max_cost = max_cost};
    struct live *live = calloc(1, sizeof(*live));
    int err;

    if (!live)
        return -ENOMEM;
    live->source = (struct source){.next = live_next, .free = live_free, .pace = live_pace,
                                    .by_thread = live_by_thread};
    live->interval_ns = interval_ns;
    err = probe_new(&probe, &live->probe);
    if (!err)
        err = sampler_new(live->probe, &sampler, &live->sampler);
    if (err) {
        live_free(&live->source);
        return err;
    }
    *out = &live->source;
    return 0;
}
