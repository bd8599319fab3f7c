/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a request of libaio is done. It is accounted when the program's completions are looked at, which may be later; so
 * only the time is noted here, maybe in an interrupt.
 */
#include "probe/bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_event {
    __u64 obj;
};

struct aio_kiocb {
    void *ki_ctx;
    struct io_event ki_res;
};

#pragma clang attribute pop

#if defined(__TARGET_ARCH_x86)
#define FIRST_ARGUMENT(context) ((context)->di)
#else
#define FIRST_ARGUMENT(context) ((context)->regs[0])
#endif

/* Its argument is the first member of a struct aio_kiocb. */
SEC("kprobe/aio_complete_rw")
int on_aio_complete(struct pt_regs *context)
{
    struct aio_kiocb *request = (struct aio_kiocb *)FIRST_ARGUMENT(context);
    struct abi_async_key key = {};
    struct abi_async *entry;

    key.owner = (__u64)BPF_CORE_READ(request, ki_ctx);
    key.request = BPF_CORE_READ(request, ki_res.obj);
    entry = bpf_map_lookup_elem(&async, &key);
    if (entry)
        entry->done_ns = bpf_ktime_get_ns();
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
