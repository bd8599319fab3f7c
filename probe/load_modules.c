/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that need a kernel module, which may come later: a file system is mounted when a job wants it. */
#include "probe/loaded.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/module_types.h"
#include "probe/objects.h"

static const struct {
    const char *module, *type; /* of the module alone: the kernel has those that its own headers name, without it */
} needs[HOOK_OBJECTS] = {
    [HOOK_FUSE] = {"fuse", "fuse_req"},
    [HOOK_NFS] = {"nfs", "nfs_client_initdata"},
    [HOOK_NFSD] = {"nfsd", "svc_export"},
};

int load_types(enum hook_object which)
{
    return needs[which].module ? module_types_open(needs[which].module) : -ENOENT;
}

/* Its types are to be read before it has started, and its tracepoints only from then on. */
static bool is_live(const char *module)
{
    _cleanup_fclose_ FILE *file = NULL;
    char path[100], state[16] = "";

    snprintf(path, sizeof(path), "/sys/module/%s/initstate", module);
    file = fopen(path, "re");
    return file && fgets(state, sizeof(state), file) && strncmp(state, "live", 4) == 0;
}

bool load_awaits_module(struct loaded *loaded, enum hook_object which)
{
    const char *module = needs[which].module;
    char why[200];

    if (!module || hook_module_type(module, needs[which].type))
        return false;
    loaded->awaits[which] = !is_live(module);
    snprintf(why, sizeof(why),
             loaded->awaits[which] ? "the kernel's module %s is not loaded; it is watched from then on"
                                   : "the kernel's module %s says nothing of its types (CONFIG_DEBUG_INFO_BTF_MODULES)",
             module);
    load_explain_all(loaded, which, why);
    return true;
}

static void forget(struct loaded *loaded, enum hook_object which)
{
    bpf_object__close(loaded->object[which]);
    loaded->object[which] = NULL;
    loaded->awaits[which] = false;
    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].object == which)
            *loaded->why[i] = '\0';
}

void load_late(struct loaded *loaded)
{
    bool any = false;

    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++) {
        if (!loaded->awaits[which] || loaded->step != PROBE_FULL || !is_live(needs[which].module))
            continue;
        forget(loaded, which);
        load_more(loaded, which, &loaded->options);
        any = true;
    }
    if (any)
        load_release();
}

void load_release(void)
{
    hook_arguments(NULL);
    objects_release();
    malloc_trim(0);
}
