/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches the node as each line of standard input says, by a variant's name, until it ends: watch EMPTY CLOCK SCRIPT.
 * Says the name once it watches that way. The probe is drained as the agent drains it, whoever watches, on the first
 * processor: what is measured has another.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/variant.h"
#include "lib/log.h"
#include "lib/record.h"
#include "probe/sampler.h"

static int stay_away(void)
{
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    return sched_setaffinity(0, sizeof(first), &first) ? -errno : 0;
}

/* Until a line comes, or the end. 0 or -errno. */
static int wait_for_line(struct sampler *sampler)
{
    for (;;) {
        struct batch *batch = NULL;
        int ended = sampler_wait(sampler, STDIN_FILENO), err;

        if (ended <= 0)
            return ended;
        err = sampler_take(sampler, &batch);
        batch_free(batch);
        if (err)
            return err;
    }
}

static int watch_as(struct watchers *watchers, const char *name)
{
    for (unsigned i = 0; i < VARIANTS; i++) {
        if (strcmp(name, variant_names[i]) != 0)
            continue;
        watchers_stop(watchers);
        return watchers_start(watchers, i);
    }
    return -EINVAL;
}

static int watch(struct watchers *watchers)
{
    const struct sampler_options options = {.interval_ns = 1000000000, .stalls = STALLS_MARKED};
    struct sampler *sampler = NULL;
    char name[64];
    int err = watchers_start(watchers, VARIANT_UNBLEND);

    if (!err)
        err = sampler_new(watchers_probe(watchers), &options, &sampler);
    setvbuf(stdin, NULL, _IONBF, 0); /* what poll() does not see would wait */
    while (!err && (err = wait_for_line(sampler)) == 0 && fgets(name, sizeof(name), stdin)) {
        name[strcspn(name, "\n")] = '\0';
        err = watch_as(watchers, name);
        if (!err)
            puts(name);
        fflush(stdout);
    }
    sampler_free(sampler);
    return err;
}

int main(int argc, char **argv)
{
    struct watchers *watchers = NULL;
    int err = argc == 4 ? stay_away() : -EINVAL;

    if (!err)
        err = watchers_new(argv[1], argv[2], argv[3], &watchers);
    if (!err)
        err = watch(watchers);
    watchers_free(watchers);
    if (err)
        log_error("watch: %s", log_errno(err));
    return err != 0;
}
