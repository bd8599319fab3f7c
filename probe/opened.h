/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that were opened, as the programs tell them -> the samples of the batch's flows. */
#ifndef UNBLEND_PROBE_OPENED_H
#define UNBLEND_PROBE_OPENED_H

#include "lib/record.h"
#include "probe/bpf/abi.h"

struct opened;

/* Whose a file was. */
struct opened_by {
    uint32_t job, volume; /* indices of the batch; NO_INDEX for a job that nobody can tell */
    const char *tree;     /* its name, valid until the next question; NULL: not known */
};

/* 0 or -errno. */
typedef int (*opened_owner)(void *context, const struct abi_file_told *told, struct batch *batch,
                            struct opened_by *owner);

/* told_map: descriptor of the map, which must outlive this. 0 or -ENOMEM. */
int opened_new(int told_map, struct opened **out);
void opened_free(struct opened *opened); /* NULL is fine */

/* Takes over what is told by now, before the map is full. 0 or -errno. */
int opened_collect(struct opened *opened);

/* Collects, and adds all to the batch. 0 or -errno. */
int opened_drain(struct opened *opened, opened_owner owner, void *context, struct batch *batch);

#endif
