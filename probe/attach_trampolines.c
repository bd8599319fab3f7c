/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fentry and fexit: the kernel wants a program of its own for each function. They are copies of two stubs, which jump
 * to the two programs that do the work.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "probe/attach.h"
#include "probe/hook.h"

struct side {
    enum bpf_attach_type type;
    const struct bpf_program *stub;
    const char *name;
};

static int set_target(const struct bpf_object *object, const char *map, const char *program)
{
    uint32_t zero = 0;
    int fd = bpf_program__fd(bpf_object__find_program_by_name(object, program));

    return bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, map), &zero, &fd, BPF_ANY)
               ? -errno
               : 0;
}

/* A link is its descriptor alone: libbpf has no object for one that it did not make itself. */
static int attach(const struct side *side, uint32_t function, struct attached *attached)
{
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = side->type,
                .attach_btf_id = function);
    int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, side->name, "GPL",
                                bpf_program__insns(side->stub), bpf_program__insn_cnt(side->stub),
                                &options);
    int link;

    if (program < 0)
        return -errno;
    link = bpf_link_create(program, 0, side->type, NULL);
    if (link < 0) {
        int err = -errno;

        close(program);
        return err;
    }
    if (attached_program(attached, program)) {
        close(program);
        close(link);
        return -ENOMEM;
    }
    return attached_descriptor(attached, link);
}

int attach_trampolines(struct bpf_object *object, const bool *wanted, struct attached *attached)
{
    const struct side entry = {BPF_TRACE_FENTRY,
                               bpf_object__find_program_by_name(object, "on_stub_enter"), "on_stub_enter"};
    const struct side exit = {BPF_TRACE_FEXIT,
                              bpf_object__find_program_by_name(object, "on_stub_exit"), "on_stub_exit"};
    const struct syscall_call *calls;
    unsigned count = syscall_calls(&calls);
    int err = set_target(object, "jump_enter", "on_function_enter");

    if (!err)
        err = set_target(object, "jump_exit", "on_function_exit");
    if (err)
        return err;
    attached->own_programs = true;
    for (unsigned i = 0; i < count; i++) {
        uint32_t function = hook_function_id(syscall_function(calls[i].kernel));

        if (!wanted[i] || !function)
            continue;
        /* The return first: a call that has begun and is not seen to return would be in flight for ever. */
        err = attach(&exit, function, attached);
        if (!err)
            err = attach(&entry, function, attached);
        attached->calls[i] = !err;
        if (err)
            attached->refused = err;
        if (err == -ENOMEM)
            return err;
    }
    return 0;
}
