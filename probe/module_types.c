/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/module_types.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cleanup.h"

#define DIRECTORY   "/sys/kernel/btf/"
#define BYTES_GROWN (1u << 20)

struct part {
    const uint8_t *types, *names;
    uint32_t types_size, names_size;
};

static int look_at(const void *data, size_t size, struct part *out)
{
    struct btf_header header;
    const uint8_t *body;
    size_t left;

    if (size < sizeof(header))
        return -EBADMSG;
    memcpy(&header, data, sizeof(header));
    if (header.magic != BTF_MAGIC || header.hdr_len < sizeof(header) || header.hdr_len > size)
        return -EBADMSG;
    body = (const uint8_t *)data + header.hdr_len;
    left = size - header.hdr_len;
    if (header.type_off > left || header.type_len > left - header.type_off || header.str_off > left ||
        header.str_len > left - header.str_off)
        return -EBADMSG;
    *out = (struct part){.types = body + header.type_off,
                         .names = body + header.str_off,
                         .types_size = header.type_len,
                         .names_size = header.str_len};
    return 0;
}

static uint8_t *append(uint8_t *to, const void *data, size_t size)
{
    memcpy(to, data, size);
    return to + size;
}

int module_types_join(const void *kernel, size_t kernel_size, const void *module, size_t module_size, void **out,
                      size_t *size)
{
    struct btf_header header = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(header)};
    struct part base, more;
    uint64_t types, names;
    uint8_t *whole, *to;
    int err = look_at(kernel, kernel_size, &base);

    if (!err)
        err = look_at(module, module_size, &more);
    if (err)
        return err;
    types = (uint64_t)base.types_size + more.types_size;
    names = (uint64_t)base.names_size + more.names_size;
    if (types + names > UINT32_MAX)
        return -EBADMSG;
    header.type_len = header.str_off = (uint32_t)types;
    header.str_len = (uint32_t)names;
    whole = malloc(sizeof(header) + types + names);
    if (!whole)
        return -ENOMEM;
    to = append(whole, &header, sizeof(header));
    to = append(to, base.types, base.types_size);
    to = append(to, more.types, more.types_size);
    to = append(to, base.names, base.names_size);
    append(to, more.names, more.names_size);
    *out = whole;
    *size = sizeof(header) + types + names;
    return 0;
}

static int read_types(const char *name, void **out, size_t *size)
{
    _cleanup_fclose_ FILE *file = NULL;
    _cleanup_free_ char *data = NULL;
    size_t used = 0, got;
    char path[100];

    snprintf(path, sizeof(path), DIRECTORY "%s", name);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    do {
        char *grown = realloc(data, used + BYTES_GROWN);

        if (!grown)
            return -ENOMEM;
        data = grown;
        got = fread(data + used, 1, BYTES_GROWN, file);
        used += got;
    } while (got == BYTES_GROWN);
    if (ferror(file))
        return -EIO;
    *out = data;
    data = NULL;
    *size = used;
    return 0;
}

static int write_whole(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t done = write(fd, data, size);

        if (done < 0 && errno != EINTR)
            return -errno;
        data += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

int module_types_open(const char *module)
{
    _cleanup_free_ void *own = NULL, *kernel = NULL, *whole = NULL;
    _cleanup_close_ int fd = -1;
    size_t own_size, kernel_size, size;
    int err = read_types(module, &own, &own_size), result;

    if (!err)
        err = read_types("vmlinux", &kernel, &kernel_size);
    if (!err)
        err = module_types_join(kernel, kernel_size, own, own_size, &whole, &size);
    if (err)
        return err;
    fd = memfd_create("types", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    err = write_whole(fd, whole, size);
    if (err)
        return err;
    result = fd;
    fd = -1;
    return result;
}
