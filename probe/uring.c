/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/uring.h"

#include <bpf/libbpf.h>

#include "probe/hook.h"

static const char *const again[URING_AGAIN] = {
    "on_uring_submit_again", "on_uring_refuse_again", "on_uring_complete_again"};

bool uring_twice(void)
{
    return hook_function("trace_call_bpf_faultable");
}

void uring_choose(struct bpf_object *object)
{
    /* Until 6.2 it had another name, and the same first argument. */
    bool old = hook_arguments("io_uring_submit_req") <= 0;

    if (old)
        bpf_program__set_attach_target(bpf_object__find_program_by_name(object, "on_uring_submit"), 0,
                                       "io_uring_submit_sqe");
    for (unsigned i = 0; i < URING_AGAIN; i++)
        bpf_program__set_autoload(bpf_object__find_program_by_name(object, again[i]), uring_twice() && !old);
}

void uring_attach_again(const struct bpf_object *object, struct bpf_link *links[URING_AGAIN])
{
    for (unsigned i = 0; i < URING_AGAIN; i++) {
        const struct bpf_program *program = bpf_object__find_program_by_name(object, again[i]);

        if (bpf_program__autoload(program) && !links[i])
            links[i] = bpf_program__attach(program);
    }
}

void uring_detach_again(struct bpf_link *links[URING_AGAIN])
{
    for (unsigned i = 0; i < URING_AGAIN; i++) {
        bpf_link__destroy(links[i]);
        links[i] = NULL;
    }
}
