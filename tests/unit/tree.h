/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node's files, made for one test: everything below a root of its own. */
#ifndef UNBLEND_TESTS_TREE_H
#define UNBLEND_TESTS_TREE_H

#include <stddef.h>

struct made_tree {
    char root[64];
};

/* For cmocka: the state is a struct made_tree. */
int tree_setup(void **state);
int tree_teardown(void **state);

/* Writes a file and the folders above it. */
void tree_file(struct made_tree *tree, const char *path, const char *text);
void tree_bytes(struct made_tree *tree, const char *path, const void *data, size_t size);
void tree_folder(struct made_tree *tree, const char *path);
void tree_link(struct made_tree *tree, const char *path, const char *target);

#endif
