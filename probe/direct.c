/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/direct.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define FRAME_PRESENT (1ULL << 63)
#define FRAME_NUMBER  ((1ULL << 55) - 1)

/* False when it is not told. */
static bool physical_address(const void *page, size_t page_size, uint64_t *out)
{
    _cleanup_close_ int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry;

    if (pagemap < 0 || pread(pagemap, &entry, sizeof(entry), (off_t)((uintptr_t)page / page_size * sizeof(entry))) !=
                           (ssize_t)sizeof(entry))
        return false;
    if (!(entry & FRAME_PRESENT) || !(entry & FRAME_NUMBER))
        return false;
    *out = (entry & FRAME_NUMBER) * page_size;
    return true;
}

static void look(int program, uint64_t *page, size_t page_size)
{
    struct abi_known_word known = {.address = (uintptr_t)page};
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &known, .ctx_size_in = sizeof(known));

    /* One that is nowhere else in memory, but where it is handed over. */
    if (getrandom(&known.word, sizeof(known.word), 0) != (ssize_t)sizeof(known.word))
        return;
    *page = known.word;
    if (physical_address(page, page_size, &known.physical) && bpf_prog_test_run_opts(program, &run))
        log_debug("the kernel's map of all memory was not looked for");
}

void direct_map_find(const struct bpf_object *object)
{
    const struct bpf_program *program = bpf_object__find_program_by_name(object, "find_direct_map");
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t *page;

    if (!program)
        return;
    page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    look(bpf_program__fd(program), page, page_size);
    munmap(page, page_size);
}
