/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/tree.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tree_setup(void **state)
{
    struct made_tree *tree = calloc(1, sizeof(*tree));

    if (!tree)
        return -1;
    strcpy(tree->root, "/tmp/unblend-tree-XXXXXX");
    *state = tree;
    return mkdtemp(tree->root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

int tree_teardown(void **state)
{
    struct made_tree *tree = *state;
    int err = nftw(tree->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);

    free(tree);
    return err;
}

static void make_above(char *path, size_t from)
{
    for (char *slash = strchr(path + from + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

void tree_bytes(struct made_tree *tree, const char *path, const void *data, size_t size)
{
    char whole[1024];
    FILE *file;

    assert_in_range(snprintf(whole, sizeof(whole), "%s%s", tree->root, path), 1, sizeof(whole) - 1);
    make_above(whole, strlen(tree->root));
    file = fopen(whole, "we");
    assert_non_null(file);
    assert_int_equal(size, fwrite(data, 1, size, file));
    assert_int_equal(0, fclose(file));
}

void tree_file(struct made_tree *tree, const char *path, const char *text)
{
    tree_bytes(tree, path, text, strlen(text));
}

void tree_folder(struct made_tree *tree, const char *path)
{
    char whole[1024];

    assert_in_range(snprintf(whole, sizeof(whole), "%s%s/", tree->root, path), 1, sizeof(whole) - 1);
    make_above(whole, strlen(tree->root));
}

void tree_link(struct made_tree *tree, const char *path, const char *target)
{
    char whole[1024];

    assert_in_range(snprintf(whole, sizeof(whole), "%s%s", tree->root, path), 1, sizeof(whole) - 1);
    make_above(whole, strlen(tree->root));
    assert_int_equal(0, symlink(target, whole));
}
