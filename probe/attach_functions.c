/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kprobe.multi: one link holds a program on all functions. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attach.h"
#include "probe/hook.h"

static int attach(const struct bpf_program *program, const char **names, unsigned count,
                  bool at_return, struct attached *attached)
{
    LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = names, .cnt = count, .retprobe = at_return);
    struct bpf_link *link = bpf_program__attach_kprobe_multi_opts(program, NULL, &options);

    if (!link)
        return -errno;
    return attached_link(attached, link) ? -ENOMEM
                                         : attached_program(attached, bpf_program__fd(program));
}

int attach_functions(struct bpf_object *object, const bool *wanted, struct attached *attached)
{
    const struct syscall_call *calls;
    char *names[SYSCALL_CALLS_MAX];
    unsigned count = syscall_calls(&calls), found = 0;
    int err = 0;

    for (unsigned i = 0; i < count && !err; i++) {
        const char *function = syscall_function(calls[i].kernel);

        if (!wanted[i] || !hook_function(function))
            continue;
        names[found] = strdup(function);
        err = names[found] ? 0 : -ENOMEM;
        found += !err;
        attached->calls[i] = true;
    }
    if (!err && found)
        err = attach(bpf_object__find_program_by_name(object, "on_call_enter"), (const char **)names,
                     found, false, attached);
    if (!err && found)
        err = attach(bpf_object__find_program_by_name(object, "on_call_exit"), (const char **)names,
                     found, true, attached);
    while (found)
        free(names[--found]);
    return err;
}
