/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/uring.h"

#include <bpf/libbpf.h>

#include "probe/hook.h"

void uring_choose(struct bpf_object *object)
{
    /* Until 6.2 it had another name, and the same first argument. */
    if (hook_arguments("io_uring_submit_req") <= 0)
        bpf_program__set_attach_target(bpf_object__find_program_by_name(object, "on_uring_submit"), 0,
                                       "io_uring_submit_sqe");
}
