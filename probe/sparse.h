/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory as large as a table of the kernel side's, zeros at first, of which only what is in use costs anything: what is
 * beside a row or a page of it. When much has been in use and is no more, it is given back by and by.
 */
#ifndef UNBLEND_PROBE_SPARSE_H
#define UNBLEND_PROBE_SPARSE_H

#include <stddef.h>

struct sparse {
    void *memory; /* NULL: none */
    size_t bytes;
    size_t at; /* what has been looked through of it */
};

/* 0 or -ENOMEM. */
int sparse_open(struct sparse *sparse, size_t bytes);
void sparse_close(struct sparse *sparse);

/* Looks through a few of its pages, the next ones at each call, and gives back those with nothing but zeros. */
void sparse_tidy(struct sparse *sparse);

#endif
