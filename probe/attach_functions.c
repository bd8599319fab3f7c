/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kprobe.multi: one link holds a program on all functions. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attach.h"
#include "probe/compat_table.h"
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

#define FUNCTIONS_MAX 1024

/* Those of the functions behind 32-bit calls that the kernel has; so many names are there then. */
static unsigned add_compat(const char **names, unsigned found)
{
    const char *const *functions;
    unsigned count = compat_functions(&functions);

    for (unsigned i = 0; i < count && found < FUNCTIONS_MAX; i++)
        if (hook_function(functions[i]))
            names[found++] = functions[i];
    return found;
}

int attach_functions(struct bpf_object *object, const bool *wanted, struct attached *attached)
{
    const struct syscall_call *calls;
    char *own[SYSCALL_CALLS_MAX];
    const char *names[FUNCTIONS_MAX];
    unsigned count = syscall_calls(&calls), owned = 0, found;
    int err = 0;

    for (unsigned i = 0; i < count && !err; i++) {
        const char *function = syscall_function(calls[i].kernel);

        if (!wanted[i] || !hook_function(function))
            continue;
        own[owned] = strdup(function);
        err = own[owned] ? 0 : -ENOMEM;
        if (!err)
            names[owned] = own[owned];
        owned += !err;
        attached->calls[i] = true;
    }
    found = attached->compat ? add_compat(names, owned) : owned;
    if (!err && found)
        err = attach(bpf_object__find_program_by_name(object, "on_call_enter"), names, found, false, attached);
    if (!err && found)
        err = attach(bpf_object__find_program_by_name(object, "on_call_exit"), names, found, true, attached);
    while (owned)
        free(own[--owned]);
    return err;
}
