/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/functions.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "probe/hook.h"
#include "probe/syscall_table.h"

static bool of_calls(unsigned hook)
{
    return hook_table[hook].object == HOOK_SYSCALL && hook_table[hook].instead;
}

static struct bpf_program *find(const struct bpf_object *object, unsigned hook)
{
    return bpf_object__find_program_by_name(object, hook_table[hook].instead);
}

void functions_choose(struct bpf_object *object)
{
    /* Since tracepoints on system calls take programs that may sleep, all run there with preemption on. */
    bool needed = hook_function("trace_call_bpf_faultable");

    for (unsigned i = 0; i < hook_count; i++)
        if (of_calls(i))
            bpf_program__set_autoload(find(object, i), needed);
}

static struct bpf_link *attach(const struct bpf_program *program)
{
    const char *const *names, *here[ABI_SYSCALLS];
    unsigned count = syscall_functions(&names);
    LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = here,
                .retprobe = strncmp(bpf_program__section_name(program), "kret", 4) == 0);

    for (unsigned i = 0; i < count; i++)
        if (hook_function(names[i]))
            here[options.cnt++] = names[i];
    return bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
}

bool functions_attach(const struct bpf_object *object, struct bpf_link *links[], int programs[])
{
    bool all = true;

    for (unsigned i = 0; i < hook_count; i++) {
        const struct bpf_program *program;

        if (!of_calls(i))
            continue;
        program = find(object, i);
        links[i] = bpf_program__autoload(program) ? attach(program) : NULL;
        programs[i] = links[i] ? bpf_program__fd(program) : 0;
        all = all && links[i];
    }
    for (unsigned i = 0; !all && i < hook_count; i++)
        if (of_calls(i)) {
            bpf_link__destroy(links[i]);
            links[i] = NULL;
            programs[i] = 0;
        }
    return all;
}
