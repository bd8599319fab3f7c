/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/direct.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/log.h"
#include "probe/bpf/configabi.h"

/* A word that is nowhere else in memory, but where it is handed over. */
static int look(int program, uint64_t *page)
{
    struct abi_known_word known = {.address = (uintptr_t)page};
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &known, .ctx_size_in = sizeof(known));

    if (getrandom(&known.word, sizeof(known.word), 0) != (ssize_t)sizeof(known.word))
        return -1;
    *page = known.word;
    return bpf_prog_test_run_opts(program, &run);
}

void direct_map_find(const struct bpf_object *object)
{
    const struct bpf_program *program = bpf_object__find_program_by_name(object, "find_direct_map");
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t *page;

    if (!program)
        return;
    page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (look(bpf_program__fd(program), page))
        log_debug("the kernel's map of all memory was not looked for");
    munmap(page, size);
}
