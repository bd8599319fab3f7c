/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/again.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

static const struct {
    enum hook_object object;
    bool everywhere; /* interrupts run the first one, so that any kernel may skip it */
    const char *program;
    const char *covers; /* the first program, where the second needs no count of what it has recovered; NULL */
} table[AGAIN_PROGRAMS] = {
    {HOOK_SYSCALL, false, "on_fork_again", "on_fork"},
    {HOOK_SYSCALL, false, "on_exit_again", "on_exit"},
    {HOOK_BLOCK, false, "on_io_start_again", "on_io_start"},
    {HOOK_BLOCK, true, "on_issue_again", "on_issue"},
    {HOOK_BLOCK, true, "on_complete_again", "on_complete"},
    {HOOK_FAULT, false, "on_map_pages_again", NULL},
    {HOOK_FAULT, false, "on_filemap_fault_again", NULL},
    {HOOK_FAULT, false, "on_page_added_again", NULL},
    {HOOK_URING, false, "on_uring_submit_again", NULL},
    {HOOK_URING, false, "on_uring_refuse_again", NULL},
    {HOOK_URING, false, "on_uring_complete_again", NULL},
};

void again_choose(const struct bpf_object *object, enum hook_object which)
{
    for (unsigned i = 0; i < AGAIN_PROGRAMS; i++)
        if (table[i].object == which && !table[i].everywhere && !hook_skips())
            bpf_program__set_autoload(bpf_object__find_program_by_name(object, table[i].program), false);
}

void again_attach(const struct bpf_object *object, enum hook_object which, struct bpf_link *links[AGAIN_PROGRAMS])
{
    for (unsigned i = 0; i < AGAIN_PROGRAMS; i++) {
        const struct bpf_program *program;

        if (table[i].object != which || links[i])
            continue;
        program = bpf_object__find_program_by_name(object, table[i].program);
        if (bpf_program__autoload(program))
            links[i] = bpf_program__attach(program);
    }
}

void again_detach(enum hook_object which, struct bpf_link *links[AGAIN_PROGRAMS])
{
    for (unsigned i = 0; i < AGAIN_PROGRAMS; i++)
        if (table[i].object == which) {
            bpf_link__destroy(links[i]);
            links[i] = NULL;
        }
}

bool again_covers(const struct bpf_object *object, unsigned hook)
{
    for (unsigned i = 0; i < AGAIN_PROGRAMS; i++)
        if (table[i].covers && strcmp(table[i].covers, hook_table[hook].program) == 0)
            return bpf_program__autoload(bpf_object__find_program_by_name(object, table[i].program));
    return false;
}

uint64_t again_run_ns(const struct bpf_object *object, enum hook_object which)
{
    uint64_t run_ns = 0;

    for (unsigned i = 0; i < AGAIN_PROGRAMS; i++) {
        const struct bpf_program *program;
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (table[i].object != which)
            continue;
        program = bpf_object__find_program_by_name(object, table[i].program);
        if (bpf_program__autoload(program) && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
            run_ns += info.run_time_ns;
    }
    return run_ns;
}
