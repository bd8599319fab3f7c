/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node's files, made for one test: everything below a root of its own. */
#ifndef UNBLEND_TESTS_TREE_H
#define UNBLEND_TESTS_TREE_H

#include <stddef.h>

struct tree {
    char root[64];
};

/* For cmocka: the state is a struct tree. */
int tree_setup(void **state);
int tree_teardown(void **state);

/* Writes a file and the folders above it. */
void tree_file(struct tree *tree, const char *path, const char *text);
void tree_bytes(struct tree *tree, const char *path, const void *data, size_t size);
void tree_folder(struct tree *tree, const char *path);
void tree_link(struct tree *tree, const char *path, const char *target);

#endif
