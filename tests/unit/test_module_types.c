/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module's types, counted on from the kernel's: joined, each has the name and the members that it had. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/module_types.h"


struct fixture {
    struct btf *kernel, *module;
    const void *kernel_data, *module_data;
    uint32_t kernel_size, module_size;
};

static int make(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    int number, inode;

    assert_non_null(f);
    f->kernel = btf__new_empty();
    number = btf__add_int(f->kernel, "int", 4, BTF_INT_SIGNED);
    inode = btf__add_struct(f->kernel, "inode", 8);
    assert_int_equal(btf__add_field(f->kernel, "i_ino", number, 32, 0), 0);
    f->module = btf__new_empty_split(f->kernel);
    assert_true(btf__add_struct(f->module, "nfs_inode", 16) > inode);
    assert_int_equal(btf__add_field(f->module, "vfs_inode", inode, 64, 0), 0);
    f->kernel_data = btf__raw_data(f->kernel, &f->kernel_size);
    f->module_data = btf__raw_data(f->module, &f->module_size);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;

    btf__free(f->module);
    btf__free(f->kernel);
    free(f);
    return 0;
}

static const struct btf_type *find(const struct btf *btf, const char *name)
{
    int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

    assert_true(id > 0);
    return btf__type_by_id(btf, (unsigned)id);
}

static void both_are_there(void **state)
{
    const struct fixture *f = *state;
    const struct btf_type *type;
    const struct btf_member *member;
    struct btf *joined;
    size_t size;
    void *data;

    assert_int_equal(module_types_join(f->kernel_data, f->kernel_size, f->module_data, f->module_size, &data, &size),
                     0);
    joined = btf__new(data, (unsigned)size);
    free(data);
    assert_int_equal(libbpf_get_error(joined), 0);
    assert_int_equal(btf__type_cnt(joined), btf__type_cnt(f->module));
    find(joined, "inode");
    type = find(joined, "nfs_inode");
    assert_int_equal(type->size, 16);
    member = btf_members(type);
    assert_string_equal(btf__name_by_offset(joined, member->name_off), "vfs_inode");
    assert_int_equal(member->offset, 64);
    type = btf__type_by_id(joined, member->type);
    assert_string_equal(btf__name_by_offset(joined, type->name_off), "inode");
    btf__free(joined);
}

static void every_cut_is_refused(void **state)
{
    const struct fixture *f = *state;
    size_t size = 1;
    void *data = NULL;

    for (uint32_t i = 0; i < f->module_size; i++)
        assert_int_equal(module_types_join(f->kernel_data, f->kernel_size, f->module_data, i, &data, &size), -EBADMSG);
    for (uint32_t i = 0; i < f->kernel_size; i++)
        assert_int_equal(module_types_join(f->kernel_data, i, f->module_data, f->module_size, &data, &size), -EBADMSG);
    assert_null(data);
    assert_int_equal(size, 1);
}

/* Offsets and lengths that lie: nothing is read beyond the data, and nothing is taken for types that is none. */
static void lying_headers_are_refused(void **state)
{
    const struct fixture *f = *state;
    const size_t places[] = {0, 4, 8, 12, 16, 20};
    size_t size;
    void *data;

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        uint32_t lie = UINT32_MAX - 3;
        uint8_t *copy = malloc(f->module_size);

        assert_non_null(copy);
        memcpy(copy, f->module_data, f->module_size);
        memcpy(copy + places[i], &lie, sizeof(lie));
        assert_int_equal(module_types_join(f->kernel_data, f->kernel_size, copy, f->module_size, &data, &size),
                         -EBADMSG);
        free(copy);
    }
}

static void a_module_without_types_is_said(void **state)
{
    (void)state;
    assert_int_equal(module_types_open("no such module"), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_are_there, make, end),
        cmocka_unit_test_setup_teardown(every_cut_is_refused, make, end),
        cmocka_unit_test_setup_teardown(lying_headers_are_refused, make, end),
        cmocka_unit_test(a_module_without_types_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
