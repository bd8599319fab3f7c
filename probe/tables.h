/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tables as user space sees them: mapped memory, the stacks of free indices, and for
 * subtraction what was seen last.
 */
#ifndef UNBLEND_PROBE_TABLES_H
#define UNBLEND_PROBE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/bpf/abi.h"

struct bpf_object;

struct table {
    void *memory; /* the map itself, shared with the programs */
    uint32_t entries;
    uint32_t entry_size;
    uint32_t high; /* no index above this has ever been in use */
    int map;
    int free_map;
    uint32_t *given;       /* indices on their way back, ABI_RETURN at most */
    uint32_t given_count;
};

struct tables {
    struct table table[ABI_TABLES];
    volatile uint64_t *counters;
    int counters_map;
    volatile uint32_t *returned; /* where the program that takes them back finds them */
    int returner;
};

/* Maps the loaded tables and fills the stacks of free indices. 0 or -errno. */
int tables_open(struct tables *tables, const struct bpf_object *object);
void tables_close(struct tables *tables);

/* Takes a free index. 0 or -errno (-ENOENT: none free). */
int table_take(struct table *table, uint32_t *index);

/* Gives one back, zeroing its entry first; it is free at the next table_return() at the latest. 0 or -errno. */
int table_give(struct tables *tables, enum abi_table which, uint32_t index);
int table_return(struct tables *tables, enum abi_table which);

static inline struct abi_row *row_at(const struct tables *tables, uint32_t index)
{
    return (struct abi_row *)tables->table[ABI_TABLE_ROWS].memory + index;
}

static inline struct abi_page *page_at(const struct tables *tables, uint32_t index)
{
    return (struct abi_page *)tables->table[ABI_TABLE_PAGES].memory + index;
}

static inline struct abi_thread *thread_at(const struct tables *tables, uint32_t index)
{
    return (struct abi_thread *)tables->table[ABI_TABLE_THREADS].memory + index;
}

static inline struct abi_process *process_at(const struct tables *tables, uint32_t index)
{
    return (struct abi_process *)tables->table[ABI_TABLE_PROCESSES].memory + index;
}

/* Asked after /proc: whether what that said of a number was said of this process, and not of another that has it now. */
static inline bool is_alive(const struct abi_process *process)
{
    return !__atomic_load_n(&process->exited, __ATOMIC_ACQUIRE);
}

/* Moves table->high up to the last index in use. An entry is in use when its first 64 bits are not 0. */
void table_find_high(struct table *table);

/* For how long a look at all threads shall not be repeated: a thousand are looked at ten times a second, twice as many
   five times. */
static inline int64_t tables_pause_ns(const struct tables *tables)
{
    return 50000000 + 100000LL * tables->table[ABI_TABLE_THREADS].high;
}

#endif
