/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How --kernel-memory is split. What every map takes is computed beforehand as the kernel allocates it, for the
 * processors that the machine may have; what is left after the maps of fixed size goes to the tables of processes,
 * threads, rows and pages, and to the state of threads.
 */
#ifndef UNBLEND_PROBE_BUDGET_H
#define UNBLEND_PROBE_BUDGET_H

#include <stdint.h>

struct bpf_map;
struct bpf_object;

struct budget {
    uint64_t bytes;      /* what maps and programs will take, when all threads that may have a state have one */
    uint32_t processes;  /* living at once, with rows of their own */
    uint32_t states_max; /* threads with a state of their own; never less than BUDGET_STATES_MIN */
};

/* A thread's state has to be somewhere: so many may have one, whatever was asked for. */
#define BUDGET_STATES_MIN 16000

/*
 * What the programs take (504 KB on Linux 6.18), and the configuration that each object has for itself. Measured, with
 * something to spare, as it is known for certain only once they are loaded; tests/system/test_bounded.py adds it all up.
 */
#define BUDGET_BESIDE (704u << 10)

/* Sets the sizes of the object's maps before it is loaded. cpus: possible ones. */
void budget_apply(struct bpf_object *object, uint64_t memory, unsigned cpus, struct budget *out);

/* What a map takes in the kernel with the size it has now. */
uint64_t budget_map_bytes(const struct bpf_map *map, unsigned cpus);

#endif
