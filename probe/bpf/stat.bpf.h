/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volume of a stat that succeeded: the st_dev that it returned. */
#ifndef UNBLEND_PROBE_STAT_H
#define UNBLEND_PROBE_STAT_H

#include "probe/bpf/call.bpf.h"
#include "probe/bpf/volume.bpf.h"

#define STATX_MODE    28
#define STATX_SIZE    40
#define STATX_DEVICES 128

static __always_inline __u64 volume_of_device_number(struct abi_thread *thread, __u64 device)
{
    __u64 key = ABI_VOLUME_FS | device, volume;
    struct abi_volume *known;

    if (thread && thread->device == key)
        return volume_of_device(thread);
    known = bpf_map_lookup_elem(&volumes, &key);
    if (!known)
        return ABI_VOLUME_UNKNOWN;
    volume = known->pseudo && !config.pseudo ? ABI_VOLUME_NONE : key;
    if (thread)
        remember_device(thread, key, volume);
    return volume;
}

/* The kernel's dev_t of the number that user space sees (new_encode_dev, linux/kdev_t.h). */
static __always_inline __u64 decode_device(__u64 encoded)
{
    return (encoded >> 8 & 0xfff) << 20 | (encoded & 0xff) | (encoded >> 12 & 0xfff00);
}

/* What a successful stat says of a file, in the kernel's numbers. */
struct described {
    __u64 device;
    __u64 special; /* of a block device only */
    __u64 size;    /* of a regular file only, and of none in the layouts of 32-bit calls */
    __u16 mode;
};

/* words: room for four, which the three of them share; here st_dev and what follows, up to st_mode. */
static __always_inline long describe_stat(struct described *file, __u64 *words, const void *buffer)
{
    if (bpf_probe_read_user(words, 4 * sizeof(*words), buffer))
        return -1;
    file->device = decode_device(words[0]);
    file->mode = (__u16)words[STAT_MODE / 8];
    if ((file->mode & S_IFMT) == S_IFREG)
        return bpf_probe_read_user(&file->size, sizeof(file->size), buffer + STAT_SIZE);
    if ((file->mode & S_IFMT) != S_IFBLK)
        return 0;
    if (bpf_probe_read_user(words, sizeof(words[0]), buffer + STAT_RDEV))
        return -1;
    file->special = decode_device(words[0]);
    return 0;
}

/* The two layouts of 32-bit calls. */
static __always_inline long describe_compat_stat(struct described *file, __u64 *words, const void *buffer, bool wide)
{
    __u32 size = wide ? 8 : 4;

    words[0] = words[1] = 0;
    if (bpf_probe_read_user(&file->mode, sizeof(file->mode), buffer + (wide ? 16 : 8)) ||
        bpf_probe_read_user(&words[1], size, buffer + (wide ? 32 : 16)) ||
        bpf_probe_read_user(&words[0], size, buffer))
        return -1;
    file->device = decode_device(words[0]);
    file->special = decode_device(words[1]);
    return 0;
}

static __always_inline long describe_statx(struct described *file, __u64 *words, const void *buffer)
{
    __u32 *numbers = (__u32 *)words; /* stx_rdev_major, _minor, stx_dev_major, _minor */

    if (bpf_probe_read_user(&file->mode, sizeof(file->mode), buffer + STATX_MODE) ||
        bpf_probe_read_user(&file->size, sizeof(file->size), buffer + STATX_SIZE) ||
        bpf_probe_read_user(numbers, 4 * sizeof(*numbers), buffer + STATX_DEVICES))
        return -1;
    file->special = (__u64)numbers[0] << 20 | numbers[1];
    file->device = (__u64)numbers[2] << 20 | numbers[3];
    return 0;
}

#define LAYOUT_STATX (ABI_LAYOUT_STAT64 + 1)

/*
 * The volume of what a successful stat has described in the program's buffer. ABI_VOLUME_UNKNOWN for a number that is no
 * superblock's (a btrfs subvolume, an overlay's lower file, a memfd): then the path tells. file_size: enum abi_file_size, where
 * it is told. Not inlined, for the stack's sake.
 */
static __noinline __u64 volume_of_stat(__u32 layout, struct abi_thread *thread, const void *buffer, __u8 *file_size)
{
    struct described file = {};
    __u64 words[4];
    long err;

    if (layout == LAYOUT_STATX)
        err = describe_statx(&file, words, buffer);
    else if (layout == ABI_LAYOUT_NATIVE)
        err = describe_stat(&file, words, buffer);
    else
        err = describe_compat_stat(&file, words, buffer, layout == ABI_LAYOUT_STAT64);
    if (err)
        return ABI_VOLUME_UNKNOWN;
    if (layout == LAYOUT_STATX || layout == ABI_LAYOUT_NATIVE)
        *file_size = (__u8)file_size_described(file.mode, file.size);
    switch (file.mode & S_IFMT) {
    case S_IFBLK:
        return ABI_VOLUME_DEVICE | file.special;
    case S_IFREG:
    case S_IFDIR:
    case S_IFLNK:
        break;
    default:
        return ABI_VOLUME_NONE;
    }
    return volume_of_device_number(thread, file.device);
}

#endif
