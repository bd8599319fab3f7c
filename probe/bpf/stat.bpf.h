/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volume of a stat that succeeded: the st_dev that it returned. */
#ifndef UNBLEND_PROBE_STAT_H
#define UNBLEND_PROBE_STAT_H

#include "probe/bpf/call.bpf.h"
#include "probe/bpf/volume.bpf.h"

static __always_inline __u64 volume_of_device_number(struct abi_thread *thread, __u64 device)
{
    __u64 key = ABI_VOLUME_FS | device, volume;
    struct abi_volume *known;

    if (thread && thread->stat_device == key)
        return thread->stat_volume;
    known = bpf_map_lookup_elem(&volumes, &key);
    if (!known)
        return ABI_VOLUME_UNKNOWN;
    volume = known->pseudo && !config.pseudo ? ABI_VOLUME_NONE : key;
    if (thread) {
        thread->stat_device = key;
        thread->stat_volume = volume;
    }
    return volume;
}

/* The kernel's dev_t of the number that user space sees (new_encode_dev, linux/kdev_t.h). */
static __always_inline __u64 decode_device(__u64 encoded)
{
    return (encoded >> 8 & 0xfff) << 20 | (encoded & 0xff) | (encoded >> 12 & 0xfff00);
}

/* Where the mode, and the number of a device file, stand; the file system's number is always first. */
struct stat_layout {
    __u32 mode, special, device_size;
};

static __always_inline struct stat_layout layout_of(const volatile struct abi_syscall *shape)
{
    if (shape->layout == ABI_LAYOUT_STAT32)
        return (struct stat_layout){8, 16, 4};
    if (shape->layout == ABI_LAYOUT_STAT64)
        return (struct stat_layout){16, 32, 8};
    return (struct stat_layout){STAT_MODE, STAT_RDEV, 8};
}

/* The volume of what a successful stat has described in the program's buffer. */
static __always_inline __u64 volume_of_stat(const volatile struct abi_syscall *shape,
                                            struct abi_thread *thread, int directory,
                                            __u64 path, const void *buffer)
{
    __u64 device, special;
    __u16 mode = 0;

    if (shape->shape == ABI_SHAPE_STATX) {
        __u32 numbers[4]; /* stx_rdev_major, _minor, stx_dev_major, _minor */

        bpf_probe_read_user(&mode, sizeof(mode), buffer + 28);
        if (bpf_probe_read_user(numbers, sizeof(numbers), buffer + 128))
            return ABI_VOLUME_UNKNOWN;
        special = (__u64)numbers[0] << 20 | numbers[1];
        device = (__u64)numbers[2] << 20 | numbers[3];
    } else {
        const struct stat_layout at = layout_of(shape);

        special = device = 0;
        bpf_probe_read_user(&mode, sizeof(mode), buffer + at.mode);
        bpf_probe_read_user(&special, at.device_size, buffer + at.special);
        if (bpf_probe_read_user(&device, at.device_size, buffer))
            return ABI_VOLUME_UNKNOWN;
        special = decode_device(special);
        device = decode_device(device);
    }
    switch (mode & S_IFMT) {
    case S_IFBLK:
        return ABI_VOLUME_DEVICE | special;
    case S_IFREG:
    case S_IFDIR:
    case S_IFLNK:
        break;
    default:
        return ABI_VOLUME_NONE;
    }
    device = volume_of_device_number(thread, device);
    /* A number that is no superblock's: a btrfs subvolume, an overlay's lower file, a memfd. */
    return device == ABI_VOLUME_UNKNOWN ? volume_of_path(directory, path) : device;
}

#endif
