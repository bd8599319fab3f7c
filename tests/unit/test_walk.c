/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/walk.h"

static char here[64] = "/tmp/unblend-walk-XXXXXX";

/* The result, and whether it leads to the same directory as another path does. */
static int lead(const char *path, const char *directory, const char *name)
{
    char found[NAME_MAX + 1];
    struct stat there, wanted;
    int fd, err = walk(path, &fd, found);

    if (err)
        return err;
    assert_int_equal(fstat(fd, &there) || stat(directory, &wanted), 0);
    assert_int_equal(there.st_ino, wanted.st_ino);
    assert_int_equal(there.st_dev, wanted.st_dev);
    assert_string_equal(found, name);
    close(fd);
    return 0;
}

static int make(void **state)
{
    return !mkdtemp(here) || chdir(here) || mkdir("a", 0700) || mkdir("a/b", 0700) || symlink("a", "own") ||
           symlink("/etc/passwd", "a/file");
}

static int clear(void **state)
{
    return unlink("a/file") || unlink("own") || rmdir("a/b") || rmdir("a") || rmdir(here);
}

static void plain_paths(void **state)
{
    char absolute[128];

    snprintf(absolute, sizeof(absolute), "%s//a/b/./x", here);
    assert_int_equal(lead(absolute, "a/b", "x"), 0);
    assert_int_equal(lead("a/b", "a", "b"), 0);
    assert_int_equal(lead("a/b/../y", "a", "y"), 0);
    assert_int_equal(lead("z", ".", "z"), 0);
}

static void what_leads_nowhere(void **state)
{
    char name[NAME_MAX + 3], path[PATH_MAX + 1];

    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    memset(path, '/', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(lead("a/none/x", NULL, NULL), -ENOENT);
    assert_int_equal(lead("/", NULL, NULL), -EISDIR);
    assert_int_equal(lead("", NULL, NULL), -EISDIR);
    assert_int_equal(lead(name, NULL, NULL), -ENAMETOOLONG);
    assert_int_equal(lead(path, NULL, NULL), -ENAMETOOLONG);
}

static void links_of_our_own(void **state)
{
    assert_int_equal(lead("own/b", NULL, NULL), -EACCES);
    assert_int_equal(lead("a/file", NULL, NULL), -EACCES);
    assert_int_equal(lead("a/../own", NULL, NULL), -EACCES);
}

static void links_of_others(void **state)
{
    char target[128];

    if (geteuid() != 0)
        return; /* cannot be made */
    assert_int_equal(lchown("own", 65534, 65534) || lchown("a/file", 65534, 65534), 0);
    assert_int_equal(lead("own/b", "a", "b"), 0);
    assert_int_equal(lead("a/file", "/etc", "passwd"), 0);
    snprintf(target, sizeof(target), "%s/loop", here);
    assert_int_equal(symlink(target, "loop") || lchown("loop", 65534, 65534), 0);
    assert_int_equal(lead("loop", NULL, NULL), -ELOOP);
    assert_int_equal(unlink("loop"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_paths),
        cmocka_unit_test(what_leads_nowhere),
        cmocka_unit_test(links_of_our_own),
        cmocka_unit_test(links_of_others),
    };

    return cmocka_run_group_tests(tests, make, clear);
}
