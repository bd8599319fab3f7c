/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/bpf/configabi.h"

static const struct {
    const char *map, *free_map;
    uint32_t size;
} names[ABI_TABLES] = {
    [ABI_TABLE_ROWS] = {"rows", "free_rows", sizeof(struct abi_row)},
    [ABI_TABLE_PAGES] = {"pages", "free_pages", sizeof(struct abi_page)},
    [ABI_TABLE_THREADS] = {"threads", "free_threads", sizeof(struct abi_thread)},
    [ABI_TABLE_PROCESSES] = {"processes", "free_processes", sizeof(struct abi_process)},
};

#define RETURNED_SIZE (ABI_RETURN * sizeof(uint32_t))

/* Low indices on top, so that what is in use stays together at the front. 0 means none. */
static int fill(int program, int which, uint64_t entries)
{
    for (uint64_t end = entries; end > 1; end = end > ABI_FILL ? end - ABI_FILL : 0) {
        uint64_t context[3] = {(uint64_t)which, 1, end};
        LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = context, .ctx_size_in = sizeof(context));

        if (bpf_prog_test_run_opts(program, &run))
            return -errno;
    }
    return 0;
}

static int open_table(struct table *table, const struct bpf_object *object, int which)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, names[which].map);
    struct bpf_map *stack = bpf_object__find_map_by_name(object, names[which].free_map);
    const struct bpf_program *filler = bpf_object__find_program_by_name(object, "on_fill");
    size_t bytes;

    table->entries = bpf_map__max_entries(map);
    table->entry_size = names[which].size;
    table->map = bpf_map__fd(map);
    table->free_map = bpf_map__fd(stack);
    table->given = calloc(ABI_RETURN, sizeof(*table->given));
    if (!table->given)
        return -ENOMEM;
    bytes = (size_t)table->entries * table->entry_size;
    table->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, table->map, 0);
    if (table->memory == MAP_FAILED) {
        table->memory = NULL;
        return -errno;
    }
    return fill(bpf_program__fd(filler), which, table->entries);
}

int tables_open(struct tables *tables, const struct bpf_object *object)
{
    struct bpf_map *counters = bpf_object__find_map_by_name(object, "counters");
    int err;

    for (int i = 0; i < ABI_TABLES; i++) {
        err = open_table(&tables->table[i], object, i);
        if (err)
            return err;
    }
    tables->returner = bpf_program__fd(bpf_object__find_program_by_name(object, "on_return"));
    tables->returned = mmap(NULL, RETURNED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                            bpf_object__find_map_fd_by_name(object, ".data.returned"), 0);
    if (tables->returned == MAP_FAILED) {
        tables->returned = NULL;
        return -errno;
    }
    tables->counters_map = bpf_map__fd(counters);
    tables->counters = mmap(NULL, ABI_COUNTERS * sizeof(uint64_t), PROT_READ, MAP_SHARED,
                            tables->counters_map, 0);
    if (tables->counters == MAP_FAILED) {
        tables->counters = NULL;
        return -errno;
    }
    return 0;
}

void tables_close(struct tables *tables)
{
    for (int i = 0; i < ABI_TABLES; i++) {
        struct table *table = &tables->table[i];

        if (table->memory)
            munmap(table->memory, (size_t)table->entries * table->entry_size);
        free(table->given);
    }
    if (tables->returned)
        munmap((void *)tables->returned, RETURNED_SIZE);
    if (tables->counters)
        munmap((void *)tables->counters, ABI_COUNTERS * sizeof(uint64_t));
    *tables = (struct tables){0};
}

int table_take(struct table *table, uint32_t *index)
{
    return bpf_map_lookup_and_delete_elem(table->free_map, NULL, index) ? -errno : 0;
}

int table_give(struct tables *tables, enum abi_table which, uint32_t index)
{
    struct table *table = &tables->table[which];

    memset((char *)table->memory + (size_t)index * table->entry_size, 0, table->entry_size);
    table->given[table->given_count++] = index;
    return table->given_count == ABI_RETURN ? table_return(tables, which) : 0;
}

/* One system call for all of them: a process that ends gives back dozens. */
int table_return(struct tables *tables, enum abi_table which)
{
    struct table *table = &tables->table[which];
    uint64_t context[3] = {which, 0, table->given_count};
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = context, .ctx_size_in = sizeof(context));

    if (!table->given_count)
        return 0;
    for (uint32_t i = 0; i < table->given_count; i++)
        tables->returned[i] = table->given[i];
    table->given_count = 0;
    return bpf_prog_test_run_opts(tables->returner, &run) ? -errno : 0;
}

/* The stack hands out low indices first, so the first free entry above high ends the search. Entries that were
   taken and are not filled yet are seen next time; a few of them do not stop the search. */
void table_find_high(struct table *table)
{
    uint32_t empty = 0;

    for (uint32_t i = table->high + 1; i < table->entries && empty < 64; i++) {
        const uint64_t *entry =
            (const void *)((const char *)table->memory + (size_t)i * table->entry_size);

        if (*entry) {
            table->high = i;
            empty = 0;
        } else {
            empty++;
        }
    }
}
