/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/otlp.h"
#include "agent/otlp_text.h"
#include "agent/totals.h"
#include "lib/log.h"
#include "lib/option.h"

#define FAREWELL_MS 1000

struct monitor {
    struct totals totals;
    struct metrics *metrics; /* NULL: nobody may ask */
    struct otlp *otlp;       /* NULL: nobody is told */
};

static int start_otlp(const struct agent_options *options, struct otlp **out)
{
    const struct otlp_options otlp = {
        .url = options->otlp,
        .token_file = options->otlp_token_file,
        .ca_file = options->ca_file,
        .cert = options->tls_cert,
        .key = options->tls_key,
    };

    return otlp.url ? otlp_start(&otlp, out) : 0;
}

int monitor_new(const struct agent_options *options, int events, metrics_ask *ask, void *context, struct monitor **out)
{
    struct monitor *monitor;
    int err = 0;

    *out = NULL;
    if (!options->metrics && !options->otlp)
        return 0;
    monitor = calloc(1, sizeof(*monitor));
    if (!monitor)
        return -ENOMEM;
    if (options->metrics)
        err = metrics_new(option_from(&options->metrics), options->metrics, events, &monitor->totals, ask, context,
                          &monitor->metrics);
    if (!err)
        err = start_otlp(options, &monitor->otlp);
    if (err)
        monitor_free(monitor);
    else
        *out = monitor;
    return err;
}

int monitor_add(struct monitor *monitor, struct batch *batch)
{
    return totals_add(&monitor->totals, batch);
}

void monitor_tell(struct monitor *monitor)
{
    char *text;
    size_t size;

    if (!monitor->otlp || !monitor->totals.last)
        return;
    if (otlp_text(&monitor->totals, &text, &size))
        log_warning("otlp: no memory; the next interval has these counts, too");
    else
        otlp_put(monitor->otlp, text, size);
}

bool monitor_event(struct monitor *monitor, int fd)
{
    if (!monitor->metrics || fd != metrics_fd(monitor->metrics))
        return false;
    metrics_run(monitor->metrics);
    return true;
}

void monitor_run(struct monitor *monitor)
{
    if (monitor->metrics)
        metrics_run(monitor->metrics);
}

void monitor_close(struct monitor *monitor)
{
    if (!monitor)
        return;
    metrics_free(monitor->metrics);
    monitor->metrics = NULL;
}

void monitor_free(struct monitor *monitor)
{
    if (!monitor)
        return;
    monitor_close(monitor);
    monitor_tell(monitor);
    otlp_stop(monitor->otlp, FAREWELL_MS);
    totals_clear(&monitor->totals);
    free(monitor);
}
