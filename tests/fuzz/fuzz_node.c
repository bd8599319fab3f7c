/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node's files say: cgroups, /proc, the kubelet's and the runtimes' files. The first byte chooses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/cgroup.h"
#include "probe/container.h"
#include "probe/mountinfo.h"
#include "probe/procfile.h"
#include "probe/slurm.h"
#include "probe/volume_type.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"UNBLEND_JOB", "A", "SLURM_JOB_ID"};
static const char *const chosen[] = {"app", "a", NULL};

static void check_cgroup(char *text)
{
    struct cgroup_owner owner;

    cgroup_parse(text, &owner);
    CHECK(memchr(owner.id, '\0', sizeof(owner.id)) && memchr(owner.container, '\0', sizeof(owner.container)));
    CHECK((owner.kind == CGROUP_OTHER) == !*owner.id);
    cgroup_parse_lines(text, &owner);
    CHECK((owner.kind == CGROUP_OTHER) == !*owner.id && owner.kind <= CGROUP_SLURM);
}

static void check_process(char *text, size_t size)
{
    struct procfile_stat stat;
    unsigned which = 77;
    const char *value = procfile_variable(text, size, names, 3, &which);

    CHECK(value ? which < 3 && *value && value > text && value < text + size : which == 77);
    if (procfile_stat(text, &stat))
        CHECK(memchr(stat.command, '\0', sizeof(stat.command)));
}

static int check_mount(const struct mount *mount, void *context)
{
    const struct volume_origin origin = {.node = "n", .fstype = mount->fstype, .source = mount->source,
                                         .point = mount->point, .elsewhere = mount->minor % 2};
    char name[VOLUME_NAME_MAX], value[16];

    volume_type_name(&origin, name);
    CHECK(memchr(name, '\0', sizeof(name)) && *name);
    if (volume_type_option(mount->options, "lowerdir", value, sizeof(value)))
        CHECK(memchr(value, '\0', sizeof(value)));
    ++*(unsigned *)context;
    return 0;
}

static void check_mounts(const char *text, size_t size)
{
    static int file = -1;
    unsigned count = 0;
    char path[32];

    if (file < 0)
        file = memfd_create("mountinfo", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    CHECK(!ftruncate(file, 0) && pwrite(file, text, size, 0) == (ssize_t)size);
    CHECK(mountinfo_read(path, check_mount, &count) == 0 && count <= size / 8 + 1);
}

static void check_container(char kind, char *text, size_t size)
{
    struct container_facts facts = {.labels = NULL};
    struct slurm_answer answer;

    if (kind == 'j')
        CHECK(container_config(text, size, chosen, &facts) == 0);
    else if (kind == 'l')
        CHECK(container_label_lines(text, chosen, &facts) == 0);
    else if (kind == 'p')
        CHECK(!container_pod_folder(text, "uid", &facts) || (*facts.namespace && *facts.pod));
    else
        (void)slurm_parse(text, &answer);
    CHECK(facts.label_count <= 2);
    container_clear(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);

    if (!size)
        return 0;
    CHECK(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] == 'c')
        check_cgroup(text);
    else if (data[0] == 'e')
        check_process(text, size - 1);
    else if (data[0] == 'm')
        check_mounts(text, size - 1);
    else
        check_container((char)data[0], text, size - 1);
    return 0;
}
