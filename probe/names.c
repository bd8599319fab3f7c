/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/names.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/bpf/ownerabi.h"

/* Their helpers on other nodes go by their name. */
static const struct {
    const char *command, *name;
} launchers[] = {
    {"mpirun", "mpirun"},      {"mpiexec", "mpirun"},        {"orterun", "mpirun"},    {"prterun", "mpirun"},
    {"orted", "mpirun"},       {"prted", "mpirun"},          {"mpiexec.hydra", "mpirun"}, {"hydra_pmi_proxy", "mpirun"},
    {"hydra_bstrap_pr", "mpirun"}, {"torchrun", "torchrun"}, {"horovodrun", "horovodrun"},
    {"deepspeed", "deepspeed"}, {"accelerate", "accelerate"},
};
#define LAUNCHERS (sizeof(launchers) / sizeof(*launchers))

void names_clear(struct names *names)
{
    for (unsigned i = 0; i < names->count; i++)
        free((char *)names->name[i]);
    *names = (struct names){.count = 0};
}

static int add(struct names *names, const char *name, size_t length, unsigned max)
{
    if (!length || length > ABI_NAME_MAX - 3 || names->count == max || strcspn(name, "= \t\n\"\\") < length)
        return -EINVAL;
    names->name[names->count] = strndup(name, length);
    if (!names->name[names->count])
        return -ENOMEM;
    names->count++;
    return 0;
}

int names_parse(const char *list, const char *first, struct names *out)
{
    unsigned max = first ? ABI_RANKS : NAMES_MAX;
    struct names names = {.count = 0};
    int err = first ? add(&names, first, strlen(first), max) : 0;

    while (!err && *list) {
        size_t length = strcspn(list, ",");

        if (!first || length != strlen(first) || strncmp(list, first, length) != 0)
            err = add(&names, list, length, max);
        list += length;
        if (*list == ',' && !*++list)
            err = -EINVAL;
    }
    if (err) {
        names_clear(&names);
        return err;
    }
    *out = names;
    return 0;
}

static int tell(int map, char kind, const char *name, size_t length, uint32_t rank)
{
    struct abi_name_key key = {.prefix_bits = (uint32_t)(1 + length) * 8, .kind = kind};
    const struct abi_name value = {.rank = rank, .length = (uint32_t)length};

    memcpy(key.name, name, length);
    return bpf_map_update_elem(map, &key, &value, BPF_ANY) ? -errno : 0;
}

int names_tell(const struct names *names, int map)
{
    int err = 0;

    for (unsigned i = 0; map >= 0 && !err && i < names->count; i++) {
        char text[ABI_NAME_MAX] = "";
        size_t length = strlen(names->name[i]);

        memcpy(text, names->name[i], length);
        text[length] = '=';
        err = tell(map, 'E', text, length + 1, i);
    }
    for (unsigned i = 0; map >= 0 && !err && i < LAUNCHERS; i++)
        err = tell(map, 'C', launchers[i].command, strlen(launchers[i].command) + 1, i);
    return err;
}

bool names_launcher(const char *command, unsigned *which)
{
    for (unsigned i = 0; i < LAUNCHERS; i++)
        if (strcmp(launchers[i].command, command) == 0) {
            *which = i;
            return true;
        }
    return false;
}

const char *names_launcher_name(unsigned which)
{
    return which < LAUNCHERS ? launchers[which].name : NULL;
}
