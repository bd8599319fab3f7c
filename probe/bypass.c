/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/bypass.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define DEVICES_MAX 1024
#define CLASS_NVME  0x010802u

/* Drivers that give a device to a program. */
static const char *const drivers[] = {"vfio-pci", "uio_pci_generic", "igb_uio"};

static const char nvidia_why[] = "with GPUDirect Storage, data goes from devices and file systems to GPUs by cuFile, past "
                                 "calls and the page cache: bytes are not seen, but for the module's own counters where "
                                 "it keeps them (nvidia-fs among the platforms)";

struct found {
    struct bypass list[DEVICES_MAX + 1];
    char devices[DEVICES_MAX][16]; /* 0000:5e:00.0 */
    char whats[sizeof(drivers) / sizeof(*drivers)][48];
    char whys[sizeof(drivers) / sizeof(*drivers)][160];
    uint32_t count;
};

static void closedirp(DIR **directory)
{
    if (*directory)
        closedir(*directory);
}

static bool is_nvme(const char *root, const char *device)
{
    char path[512];
    _cleanup_fclose_ FILE *file = NULL;
    unsigned class;

    snprintf(path, sizeof(path), "%.255s/sys/bus/pci/devices/%.15s/class", root, device);
    file = fopen(path, "re");
    return file && fscanf(file, "%x", &class) == 1 && class == CLASS_NVME;
}

/* Links to the devices have their addresses as names; the directory has other files, too. */
static void look_at_driver(const char *root, unsigned which, struct found *found)
{
    _cleanup_(closedirp) DIR *directory = NULL;
    const struct dirent *entry;
    char path[512];

    snprintf(path, sizeof(path), "%.255s/sys/bus/pci/drivers/%s", root, drivers[which]);
    directory = opendir(path);
    snprintf(found->whats[which], sizeof(found->whats[which]), "NVMe bound to %s", drivers[which]);
    snprintf(found->whys[which], sizeof(found->whys[which]),
             "a program drives it by itself (SPDK, DAOS): what it reads and writes makes no call and no block request");
    while (directory && found->count < DEVICES_MAX && (entry = readdir(directory))) {
        char *device = found->devices[found->count];

        if (!strchr(entry->d_name, ':') || strlen(entry->d_name) >= sizeof(found->devices[0]) ||
            !is_nvme(root, entry->d_name))
            continue;
        snprintf(device, sizeof(found->devices[0]), "%.15s", entry->d_name);
        found->list[found->count++] =
            (struct bypass){.what = found->whats[which], .device = device, .why = found->whys[which]};
    }
}

static int by_device(const void *a, const void *b)
{
    return strcmp(((const struct bypass *)a)->device, ((const struct bypass *)b)->device);
}

int bypass_look(const char *root, struct batch *batch)
{
    _cleanup_free_ struct found *found = calloc(1, sizeof(*found));
    char path[512];

    if (!found)
        return -ENOMEM;
    for (unsigned i = 0; i < sizeof(drivers) / sizeof(*drivers); i++)
        look_at_driver(root, i, found);
    qsort(found->list, found->count, sizeof(*found->list), by_device);
    snprintf(path, sizeof(path), "%.255s/sys/module/nvidia_fs", root);
    if (access(path, F_OK) == 0)
        found->list[found->count++] =
            (struct bypass){.what = "nvidia-fs loaded", .device = "nvidia-fs", .why = nvidia_why};
    return batch_bypasses(batch, found->list, found->count);
}
