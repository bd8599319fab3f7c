/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/functions.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "probe/compat_table.h"
#include "probe/hook.h"
#include "probe/syscall_table.h"

static struct bpf_program *find(const struct bpf_object *object, unsigned hook)
{
    return bpf_object__find_program_by_name(object, hook_table[hook].instead);
}

void functions_choose(struct bpf_object *object)
{
    /* Since tracepoints on system calls take programs that may sleep, all run there with preemption on. */
    bool needed = hook_function("trace_call_bpf_faultable");

    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].instead)
            bpf_program__set_autoload(find(object, i), needed);
}

#define FUNCTIONS_MAX 1024

static unsigned keep_existing(const char *const *names, unsigned count, const char **here, unsigned kept)
{
    for (unsigned i = 0; i < count && kept < FUNCTIONS_MAX; i++)
        if (hook_function(names[i]))
            here[kept++] = names[i];
    return kept;
}

static struct bpf_link *attach(const struct bpf_program *program)
{
    const char *const *names, *here[FUNCTIONS_MAX];
    unsigned count = syscall_functions(&names);
    LIBBPF_OPTS(bpf_kprobe_multi_opts, options, .syms = here,
                .retprobe = strncmp(bpf_program__section_name(program), "kret", 4) == 0);

    options.cnt = keep_existing(names, count, here, 0);
    count = compat_functions(&names);
    options.cnt = keep_existing(names, count, here, options.cnt);
    return bpf_program__attach_kprobe_multi_opts(program, NULL, &options);
}

bool functions_attach(const struct bpf_object *object, struct bpf_link *links[], int programs[])
{
    bool all = true;

    for (unsigned i = 0; i < hook_count; i++) {
        const struct bpf_program *program;

        if (!hook_table[i].instead)
            continue;
        program = find(object, i);
        links[i] = bpf_program__autoload(program) ? attach(program) : NULL;
        programs[i] = links[i] ? bpf_program__fd(program) : 0;
        all = all && links[i];
    }
    for (unsigned i = 0; !all && i < hook_count; i++)
        if (hook_table[i].instead) {
            bpf_link__destroy(links[i]);
            links[i] = NULL;
            programs[i] = 0;
        }
    return all;
}
