/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/variant.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/probe.h"

const char *const variant_names[VARIANTS] = {"untraced", "empty tp_btf pair", "pair and two clocks", "unblend",
                                             "bpftrace"};

struct watchers {
    struct bpf_object *floor[2]; /* of VARIANT_EMPTY and VARIANT_CLOCK */
    const char *script;
    struct bpf_link *links[2];
    struct probe *probe;
    pid_t bpftrace;
};

int watchers_new(const char *empty_object, const char *clock_object, const char *script,
                 struct watchers **out)
{
    const char *const paths[2] = {empty_object, clock_object};
    struct watchers *watchers = calloc(1, sizeof(*watchers));

    if (!watchers)
        return -ENOMEM;
    watchers->script = script;
    for (int i = 0; i < 2; i++) {
        int err;

        watchers->floor[i] = bpf_object__open_file(paths[i], NULL);
        err = watchers->floor[i] ? bpf_object__load(watchers->floor[i]) : -errno;
        if (err) {
            watchers_free(watchers);
            return err;
        }
    }
    *out = watchers;
    return 0;
}

void watchers_free(struct watchers *watchers)
{
    if (!watchers)
        return;
    watchers_stop(watchers);
    watchers_unload(watchers);
    for (int i = 0; i < 2; i++)
        bpf_object__close(watchers->floor[i]);
    free(watchers);
}

static int start_floor(struct watchers *watchers, const struct bpf_object *object)
{
    struct bpf_program *program;
    int count = 0;

    bpf_object__for_each_program(program, object)
    {
        watchers->links[count] = bpf_program__attach(program);
        if (!watchers->links[count++])
            return -errno;
    }
    return 0;
}

/* bpftrace says "Attaching N probes..." and then attaches them; whether it has is seen by the cost itself, so give
   it time. */
static int start_bpftrace(struct watchers *watchers)
{
    int out[2];
    char text[256];

    if (pipe(out))
        return -errno;
    watchers->bpftrace = fork();
    if (watchers->bpftrace == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        execlp("bpftrace", "bpftrace", watchers->script, NULL);
        _exit(127);
    }
    close(out[1]);
    if (watchers->bpftrace < 0 || read(out[0], text, sizeof(text)) <= 0) {
        close(out[0]);
        return -EIO;
    }
    sleep(2);
    close(out[0]);
    return waitpid(watchers->bpftrace, NULL, WNOHANG) == 0 ? 0 : -ENOENT;
}

static int start_probe(struct watchers *watchers)
{
    const struct probe_options options = {.all = true};

    return watchers->probe ? probe_set_step(watchers->probe, PROBE_FULL)
                           : probe_new(&options, &watchers->probe);
}

int watchers_start(struct watchers *watchers, enum variant variant)
{
    switch (variant) {
    case VARIANT_EMPTY:
        return start_floor(watchers, watchers->floor[0]);
    case VARIANT_CLOCK:
        return start_floor(watchers, watchers->floor[1]);
    case VARIANT_UNBLEND:
        return start_probe(watchers);
    case VARIANT_BPFTRACE:
        return start_bpftrace(watchers);
    default:
        return 0;
    }
}

void watchers_stop(struct watchers *watchers)
{
    for (int i = 0; i < 2; i++) {
        bpf_link__destroy(watchers->links[i]);
        watchers->links[i] = NULL;
    }
    if (watchers->probe)
        probe_set_step(watchers->probe, PROBE_DETACHED);
    if (watchers->bpftrace > 0) {
        kill(watchers->bpftrace, SIGKILL);
        waitpid(watchers->bpftrace, NULL, 0);
    }
    watchers->bpftrace = 0;
    usleep(50000); /* programs are freed after a grace period */
}

void watchers_unload(struct watchers *watchers)
{
    probe_free(watchers->probe);
    watchers->probe = NULL;
}

struct probe *watchers_probe(const struct watchers *watchers)
{
    return watchers->probe;
}
