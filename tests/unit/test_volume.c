/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Volumes and their names, from made mountinfo files and trees of udev's links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probe/bpf/abi.h"
#include "probe/volume.h"
#include "probe/volume_type.h"
#include "tests/unit/tree.h"

#define CEPH_ID "b3acc0da-275b-42f3-9bfb-6ae11585a7ef"

static const struct {
    const char *fstype, *source, *name;
    bool shared;
} cases[] = {
    {"nfs4", "filer:/home", "nfs:filer:/home", true},
    {"nfs", "filer:/home/", "nfs:filer:/home", true},
    {"nfs", "filer:/", "nfs:filer:/", true},
    {"nfs", "[fd00::1]:/x", "nfs:[fd00::1]:/x", true},
    {"cifs", "//filer/share", "cifs://filer/share", true},
    {"lustre", "10.0.0.1@tcp:10.0.0.2@tcp:/scratch", "lustre:scratch", true},
    {"lustre", "10.0.0.2@tcp:10.0.0.1@tcp:/scratch", "lustre:scratch", true},
    {"wekafs", "backend0,backend1/fs01", "wekafs:fs01", true},
    {"ceph", "user@" CEPH_ID ".cephfs=/", "ceph:user@" CEPH_ID ".cephfs=/", true},
    {"beegfs", "beegfs_nodev", "beegfs:/mnt/x", true},
    {"gpfs", "gpfs0", "gpfs:gpfs0", true},
    {"fuse.sshfs", "me@host:/data", "sshfs:me@host:/data", true},
    {"fuse.juicefs", "JuiceFS:vol", "juicefs:JuiceFS:vol", true},
    {"fuse.goofys", "bucket", "goofys:bucket", true},
    {"fuse.rclone", "s3:bucket/dir", "rclone:s3:bucket/dir", true},
    {"fuse.s3fs", "s3fs", "s3fs:/mnt/x", true},
    {"fuse", "mountpoint-s3", "mountpoint-s3:/mnt/x", true},
    {"fuse", "something", "n1:fuse:/mnt/x", false},
    {"fuse.unionfs", "unionfs", "n1:fuse.unionfs:/mnt/x", false},
    {"ext4", "/dev/vda", "n1:ext4:/dev/vda", false},
    {"tmpfs", "tmpfs", "n1:tmpfs:/mnt/x", false},
    {"overlay", "overlay", "n1:overlay:/mnt/x", false},
    {"ext4", "", "n1:ext4:/mnt/x", false},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct volume_origin origin = {
            .node = "n1", .fstype = cases[i].fstype, .source = cases[i].source, .point = "/mnt/x"};
        char name[VOLUME_NAME_MAX];

        volume_type_name(&origin, name);
        assert_string_equal(cases[i].name, name);
        assert_int_equal(cases[i].shared, volume_type_is_shared(cases[i].fstype, cases[i].source));
    }
}

static void test_options(void **state)
{
    char value[16];

    (void)state;
    assert_true(volume_type_option("rw,lowerdir=/a:/b,upperdir=/c", "lowerdir", value, sizeof(value)));
    assert_string_equal("/a:/b", value);
    assert_true(volume_type_option("rw,lowerdir=/a:/b,upperdir=/c", "upperdir", value, sizeof(value)));
    assert_string_equal("/c", value);
    assert_false(volume_type_option("rw,xupperdir=/c,upperdir", "upperdir", value, sizeof(value)));
    assert_false(volume_type_option("upperdir=/much/too/long/for/it", "upperdir", value, sizeof(value)));
    assert_false(volume_type_option("", "upperdir", value, sizeof(value)));
}

struct world {
    struct made_tree *tree;
    struct volumes *volumes;
    struct batch *batch;
    uint32_t own;
};

static int set_up(void **state)
{
    const struct volume_maps none = {-1, -1, -1, -1};
    struct world *world = calloc(1, sizeof(*world));
    struct stat st;

    if (!world || tree_setup((void **)&world->tree) || batch_new(&world->batch) ||
        (stat("/proc/1/ns/mnt", &st) && stat("/proc/self/ns/mnt", &st)))
        return -1;
    world->own = (uint32_t)st.st_ino;
    *state = world;
    return volumes_new(&none, "n1", world->tree->root, false, &world->volumes);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    void *tree = world->tree;

    volumes_free(world->volumes);
    batch_free(world->batch);
    free(world);
    return tree_teardown(&tree);
}

static void read_mounts(struct world *world, const char *text, uint32_t namespace)
{
    char path[128];

    tree_file(world->tree, "/mountinfo", text);
    snprintf(path, sizeof(path), "%s/mountinfo", world->tree->root);
    assert_int_equal(0, volumes_read(world->volumes, path, namespace));
}

static const struct volume *volume_at(struct world *world, unsigned major, unsigned minor)
{
    uint32_t index;

    assert_int_equal(0, volumes_name(world->volumes, ABI_VOLUME_FS | (uint64_t)major << 20 | minor, world->batch,
                                     &index));
    return &world->batch->volumes[index];
}

static void test_mounts_are_attributes(void **state)
{
    struct world *world = *state;
    const struct volume *volume;

    read_mounts(world,
                "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
                "2 1 0:50 / /data rw shared:1 - nfs4 filer:/export rw,vers=4.2\n"
                "3 1 0:50 /sub /var/lib/kubelet/pods/x/volumes/kubernetes.io~csi/pvc/mount rw - nfs4 filer:/export rw\n"
                "4 1 8:1 /srv /bind\\040here rw - ext4 /dev/sda1 rw\n"
                "broken line\n"
                "5 1 8:x / /y rw - ext4 /dev/sdb rw\n"
                "6 1 0:60 / /new\\012line\xff rw - tmpfs tmpfs rw\n",
                world->own);
    volume = volume_at(world, 0, 50);
    assert_string_equal("nfs:filer:/export", volume->name);
    assert_int_equal(SCOPE_SHARED, volume->scope);
    assert_int_equal(2, volume->mount_count);
    volume = volume_at(world, 8, 1);
    assert_string_equal("n1:ext4:/dev/sda1", volume->name);
    assert_string_equal("/bind here", volume->mounts[1]);
    assert_string_equal("n1:tmpfs:/new\nline\xef\xbf\xbd", volume_at(world, 0, 60)->name);
    assert_string_equal("?", (volumes_name(world->volumes, ABI_VOLUME_UNKNOWN, world->batch, &world->own),
                              world->batch->volumes[world->own].name));
}

/* The same superblock has the same name whoever is asked; others at the same place have others. */
static void test_namespaces(void **state)
{
    struct world *world = *state;

    read_mounts(world, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:30 / /dev/shm rw - tmpfs tmpfs rw\n", world->own);
    read_mounts(world,
                "1 0 0:70 / / rw - overlay overlay rw,lowerdir=/var/l1:/var/l2,upperdir=/var/up,workdir=/var/work\n"
                "2 1 8:1 /etc/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
                "3 1 0:71 / /dev/shm rw - tmpfs shm rw\n",
                7);
    read_mounts(world, "3 1 0:72 / /dev/shm rw - tmpfs shm rw\n", 8);
    assert_string_equal("n1:ext4:/dev/sda1", volume_at(world, 8, 1)->name);
    assert_string_equal("n1:tmpfs:/dev/shm", volume_at(world, 0, 30)->name);
    assert_string_equal("n1:tmpfs:0:71:/dev/shm", volume_at(world, 0, 71)->name);
    assert_string_equal("n1:tmpfs:0:72:/dev/shm", volume_at(world, 0, 72)->name);
    assert_string_equal("n1:ext4:/dev/sda1", volume_at(world, 0, 70)->lower);
    assert_null(volume_at(world, 0, 71)->lower);
}

/* A container's superblock is gone before its namespace is read again, and the next container's has its number. */
static void test_a_number_that_is_used_again(void **state)
{
    struct world *world = *state;

    read_mounts(world, "1 0 0:71 / /scratch rw - tmpfs later rw\n2 0 0:72 / /a rw - tmpfs x rw\n", 7);
    read_mounts(world, "1 0 0:71 / /run rw - tmpfs none rw\n2 0 0:72 / /b rw - overlay x rw\n", 8);
    assert_int_equal(1, volume_at(world, 0, 71)->mount_count);
    assert_string_equal("n1:tmpfs:0:71:/run", volume_at(world, 0, 71)->name);
    assert_int_equal(1, volume_at(world, 0, 72)->mount_count);
    assert_string_equal("overlay", volume_at(world, 0, 72)->fstype);
    read_mounts(world, "1 0 0:73 / /e rw - nfs4 filer:/e rw\n2 0 0:73 /s /s rw - nfs4 filer:/e/s rw\n", 8);
    assert_int_equal(2, volume_at(world, 0, 73)->mount_count);
    assert_string_equal("nfs:filer:/e", volume_at(world, 0, 73)->name);
}

static void test_uuid(void **state)
{
    struct world *world = *state;

    tree_file(world->tree, "/sys/dev/block/8:1/uevent", "MAJOR=8\nMINOR=1\nDEVNAME=sda1\nDEVTYPE=partition\n");
    tree_link(world->tree, "/dev/disk/by-uuid/1111-2222", "../../sda1");
    tree_link(world->tree, "/dev/disk/by-uuid/3333-4444", "../../nvme0n1");
    volumes_refresh(world->volumes);
    read_mounts(world,
                "1 0 8:1 / /mnt/a rw - xfs /dev/mapper/a rw\n"
                "2 0 0:1000000 / /mnt/b rw - btrfs /dev/nvme0n1 rw\n"
                "3 0 8:2 / /mnt/c rw - xfs /dev/sda2 rw\n",
                7);
    assert_string_equal("n1:xfs:1111-2222", volume_at(world, 8, 1)->name);
    assert_string_equal("n1:btrfs:3333-4444", volume_at(world, 0, 1000000)->name);
    assert_string_equal("n1:xfs:/dev/sda2", volume_at(world, 8, 2)->name);
}

/* More mounts than anybody lists: the volume is the same, and reading stays quick. */
static void test_many(void **state)
{
    struct world *world = *state;
    const unsigned count = 10000;
    char *text = malloc(count * 80), *at = text;

    assert_non_null(text);
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "%u 1 %u:%u / /mnt/%u rw - ext4 /dev/x%u rw\n", i, i / 5000 + 100, i % 5000, i, i);
    read_mounts(world, text, world->own);
    at = text;
    for (unsigned i = 0; i < 100; i++)
        at += sprintf(at, "%u 1 99:1 / /bind/%u rw - ext4 /dev/bound rw\n", i, i);
    read_mounts(world, text, world->own);
    free(text);
    assert_string_equal("n1:ext4:/dev/x9999", volume_at(world, 101, 4999)->name);
    assert_int_equal(64, volume_at(world, 99, 1)->mount_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_options),
        cmocka_unit_test_setup_teardown(test_mounts_are_attributes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_namespaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_number_that_is_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_uuid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
