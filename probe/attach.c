/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/keeper.h"

/* Fewer descriptors are closed one after the other in no time. */
#define FEW 32

static const struct {
    const char *programs[4];
    int (*attach)(struct bpf_object *object, const bool *wanted, struct attached *attached);
} flavours[FLAVOURS] = {
    [FLAVOUR_TP_BTF] = {{"on_sys_enter", "on_sys_exit"}, attach_everywhere},
    [FLAVOUR_TRACEPOINT] = {{"on_trace_enter", "on_trace_exit"}, attach_tracepoints},
    [FLAVOUR_FENTRY] = {{"on_function_enter", "on_function_exit", "on_stub_enter", "on_stub_exit"},
                        attach_trampolines},
    [FLAVOUR_KPROBE] = {{"on_call_enter", "on_call_exit"}, attach_functions},
};

void attach_prepare(struct bpf_object *object, enum flavour flavour)
{
    for (int i = 0; i < FLAVOURS; i++)
        for (int k = 0; k < 4 && flavours[i].programs[k]; k++) {
            struct bpf_program *program =
                bpf_object__find_program_by_name(object, flavours[i].programs[k]);

            bpf_program__set_autoload(program, i == (int)flavour);
            if (flavour == FLAVOUR_FENTRY && i == (int)flavour)
                bpf_program__set_attach_target(program, 0, syscall_function("read"));
        }
}

int attach_calls(struct bpf_object *object, enum flavour flavour, const bool *wanted,
                 struct attached *attached)
{
    int err;

    attached->flavour = flavour;
    attached->refused = 0;
    memset(attached->calls, 0, sizeof(attached->calls));
    err = flavours[flavour].attach(object, wanted, attached);
    if (err)
        return err;
    if (attached->descriptor_count > FEW &&
        keepers_new(&attached->keepers, attached->descriptors, attached->descriptor_count) == 0)
        attached->descriptor_count = 0;
    for (unsigned i = 0; i < SYSCALL_CALLS_MAX; i++)
        if (attached->calls[i])
            return 0;
    return attached->refused ? attached->refused : -ENOENT;
}

void attach_rest(struct attached *attached)
{
    keepers_free(&attached->keepers);
    for (unsigned i = 0; i < attached->link_count; i++)
        bpf_link__destroy(attached->links[i]);
    for (unsigned i = 0; i < attached->descriptor_count; i++)
        close(attached->descriptors[i]);
    attached->link_count = attached->descriptor_count = 0;
    if (attached->own_programs) {
        attached->gone = attach_account(attached);
        for (unsigned i = 0; i < attached->program_count; i++)
            close(attached->programs[i]);
        attached->program_count = 0;
    }
}

void attach_close(struct attached *attached)
{
    attach_rest(attached);
    free(attached->links);
    free(attached->descriptors);
    free(attached->programs);
    *attached = (struct attached){0};
}

struct attach_account attach_account(const struct attached *attached)
{
    struct attach_account account = attached->gone;

    for (unsigned i = 0; i < attached->program_count; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (bpf_obj_get_info_by_fd(attached->programs[i], &info, &size))
            continue;
        account.missed += info.recursion_misses;
        account.run_ns += info.run_time_ns;
    }
    return account;
}

int attached_link(struct attached *attached, struct bpf_link *link)
{
    struct bpf_link **grown =
        reallocarray(attached->links, attached->link_count + 1, sizeof(*attached->links));

    if (!grown) {
        bpf_link__destroy(link);
        return -ENOMEM;
    }
    attached->links = grown;
    attached->links[attached->link_count++] = link;
    return 0;
}

static int append(int **list, unsigned *count, int fd)
{
    int *grown = reallocarray(*list, *count + 1, sizeof(**list));

    if (!grown)
        return -ENOMEM;
    *list = grown;
    grown[(*count)++] = fd;
    return 0;
}

int attached_descriptor(struct attached *attached, int fd)
{
    int err = append(&attached->descriptors, &attached->descriptor_count, fd);

    if (err)
        close(fd);
    return err;
}

int attached_program(struct attached *attached, int fd)
{
    for (unsigned i = 0; i < attached->program_count; i++)
        if (attached->programs[i] == fd)
            return 0; /* attached again after a rest */
    return append(&attached->programs, &attached->program_count, fd);
}

static int attach_one(struct bpf_object *object, const char *name, struct attached *attached)
{
    struct bpf_program *program = bpf_object__find_program_by_name(object, name);
    struct bpf_link *link = bpf_program__attach(program);

    if (!link)
        return -errno;
    return attached_link(attached, link) ? -ENOMEM
                                         : attached_program(attached, bpf_program__fd(program));
}

/* The pair sees all calls, wanted or not. */
int attach_everywhere(struct bpf_object *object, const bool *wanted, struct attached *attached)
{
    int err = attach_one(object, "on_sys_enter", attached);

    if (!err)
        err = attach_one(object, "on_sys_exit", attached);
    if (!err)
        memcpy(attached->calls, wanted, sizeof(attached->calls));
    return err;
}
