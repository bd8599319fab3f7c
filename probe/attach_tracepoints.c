/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracepoint/syscalls: the same two programs on the two events of every call. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/attach.h"
#include "probe/kernelfs.h"

/* A program on an event runs on all processors, whichever one the event was opened for. */
static int open_event(int tracefs, const char *kind, const char *call)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(attributes),
        .sample_period = 1,
    };
    char path[100], text[32];
    int err, fd;

    snprintf(path, sizeof(path), "events/syscalls/%s_%s/id", kind, call);
    err = kernelfs_read(tracefs, path, text, sizeof(text));
    if (err)
        return err;
    attributes.config = strtoull(text, NULL, 10);
    fd = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* From Linux 5.15 on a link holds program and event; before, the event holds its program. */
static int attach(int tracefs, const struct bpf_program *program, const char *kind, const char *call,
                  struct attached *attached)
{
    int event = open_event(tracefs, kind, call), link;

    if (event < 0)
        return event;
    link = bpf_link_create(bpf_program__fd(program), event, BPF_PERF_EVENT, NULL);
    if (link < 0 && ioctl(event, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program))) {
        int err = -errno;

        close(event);
        return err;
    }
    if (link < 0)
        return attached_descriptor(attached, event);
    close(event);
    return attached_descriptor(attached, link);
}

int attach_tracepoints(struct bpf_object *object, const bool *wanted, struct attached *attached)
{
    _cleanup_close_ int tracefs = kernelfs_open("tracefs", "/sys/kernel/tracing");
    const struct bpf_program *enter = bpf_object__find_program_by_name(object, "on_trace_enter");
    const struct bpf_program *leave = bpf_object__find_program_by_name(object, "on_trace_exit");
    const struct syscall_call *calls;
    unsigned count = syscall_calls(&calls);

    if (tracefs < 0)
        return tracefs;
    if (attached_program(attached, bpf_program__fd(enter)) ||
        attached_program(attached, bpf_program__fd(leave)))
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        int err;

        if (!wanted[i])
            continue;
        err = attach(tracefs, enter, "sys_enter", calls[i].kernel, attached);
        if (!err)
            err = attach(tracefs, leave, "sys_exit", calls[i].kernel, attached);
        attached->calls[i] = !err;
        if (err && err != -ENOENT) /* a call that this kernel does not have */
            attached->refused = err;
    }
    return 0;
}
