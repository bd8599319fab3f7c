/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/loaded.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "probe/again.h"
#include "probe/compat_table.h"
#include "probe/objects.h"
#include "probe/syscall_table.h"
#include "probe/trees.h"
#include "probe/uring.h"

static const struct {
    const char *start, *end, *name;
} objects[HOOK_OBJECTS] = {
    [HOOK_SYSCALL] = {object_syscall, object_syscall_end, "unblend"},
    [HOOK_BLOCK] = {object_block, object_block_end, "unblend_block"},
    [HOOK_FAULT] = {object_fault, object_fault_end, "unblend_fault"},
    [HOOK_URING] = {object_uring, object_uring_end, "unblend_uring"},
    [HOOK_AIO] = {object_aio, object_aio_end, "unblend_aio"},
    [HOOK_FUSE] = {object_fuse, object_fuse_end, "unblend_fuse"},
    [HOOK_NFS] = {object_nfs, object_nfs_end, "unblend_nfs"},
    [HOOK_NFSD] = {object_nfsd, object_nfsd_end, "unblend_nfsd"},
    [HOOK_FAULT_FUNCTION] = {object_fault_function, object_fault_function_end, "unblend_fault"},
    [HOOK_RECEIVE] = {object_receive, object_receive_end, "unblend_receive"},
    [HOOK_JOB] = {object_job, object_job_end, "unblend_job"},
    [HOOK_SEED] = {object_seed, object_seed_end, "unblend_seed"},
};

/* Where programs preempt each other, what is too large for the stack needs more than one room. */
static void configure_rooms(struct bpf_object *object)
{
    static const char *const names[] = {"scratch_aio", "scratch_path", "scratch_volume", "scratch_job"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct bpf_map *map = bpf_object__find_map_by_name(object, names[i]);

        if (map)
            bpf_map__set_max_entries(map, ABI_ROOMS);
    }
}

static int configure(struct bpf_object *object, const struct probe_options *options)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");
    struct abi_config *config;
    bool skips = hook_skips();
    size_t size = 0;

    if (skips)
        configure_rooms(object);
    if (!map)
        return 0; /* its programs do not look */
    /* libbpf keeps the initial value writable until the object is loaded. */
    config = (struct abi_config *)bpf_map__initial_value(map, &size);
    if (!config || size < sizeof(*config))
        return -EINVAL;
    config->all = options->all;
    config->pseudo = options->pseudo;
    config->request_argument = hook_arguments("block_rq_issue") > 1;
    config->has_io_start = hook_arguments("block_io_start") > 0;
    config->page_shift = bucket_msb((uint64_t)sysconf(_SC_PAGESIZE));
    config->twice = skips;
    config->tree_depth = options->tree_depth;
    config->tree_stripe_mask = trees_stripe_mask((unsigned)libbpf_num_possible_cpus());
    config->has_compat = compat_table_known();
    syscall_table(config->syscalls, hook_aio());
    compat_table(config->syscalls, hook_aio());
    return 0;
}

int load_open_object(struct loaded *loaded, enum hook_object which,
                       const struct probe_options *options)
{
    LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = objects[which].name,
                .btf_custom_path = loaded->types);

    const char *start = objects[which].start, *end = objects[which].end;

    if (which == HOOK_SYSCALL && hook_function("bpf_rdonly_cast")) {
        start = object_syscall_cast;
        end = object_syscall_cast_end;
    }
    loaded->object[which] = bpf_object__open_mem(start, (size_t)(end - start), &open_options);
    if (!loaded->object[which])
        return -errno;
    again_choose(loaded->object[which], which);
    if (which == HOOK_BLOCK && !hook_function("bpf_for_each_map_elem")) /* Linux 5.13 has it */
        bpf_program__set_autoload(bpf_object__find_program_by_name(loaded->object[which], "on_settle"), false);
    return configure(loaded->object[which], options);
}

/* The other objects work on the maps of the first one. */
int load_share_maps(struct bpf_object *object, const struct bpf_object *owner)
{
    struct bpf_map *map;

    bpf_object__for_each_map(map, object)
    {
        struct bpf_map *original = bpf_object__find_map_by_name(owner, bpf_map__name(map));
        int err;

        if (!original || (bpf_map__is_internal(map) && strcmp(bpf_map__name(map), CONTROL) != 0))
            continue;
        err = bpf_map__reuse_fd(map, bpf_map__fd(original));
        if (err)
            return err;
    }
    return 0;
}
