/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/sparse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIDY_PAGES 32 /* at a call: the largest table takes some minutes, at a call a second */

int sparse_open(struct sparse *sparse, size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return -ENOMEM;
    *sparse = (struct sparse){.memory = memory, .bytes = bytes};
    return 0;
}

void sparse_close(struct sparse *sparse)
{
    if (sparse->memory)
        munmap(sparse->memory, sparse->bytes);
    *sparse = (struct sparse){0};
}

static bool is_zero(const char *memory, size_t bytes)
{
    return !*memory && memcmp(memory, memory + 1, bytes - 1) == 0;
}

void sparse_tidy(struct sparse *sparse)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = TIDY_PAGES * page;
    unsigned char resident[TIDY_PAGES];
    char *from;

    if (sparse->at >= sparse->bytes)
        sparse->at = 0;
    from = (char *)sparse->memory + sparse->at;
    if (length > sparse->bytes - sparse->at)
        length = (sparse->bytes - sparse->at) / page * page; /* what is left over is kept */
    sparse->at += TIDY_PAGES * page;
    if (!length || mincore(from, length, resident))
        return;
    for (size_t i = 0; i < length / page; i++)
        if (resident[i] & 1 && is_zero(from + i * page, page))
            madvise(from + i * page, page, MADV_DONTNEED);
}
