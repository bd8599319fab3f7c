/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Storage platforms' counters and ways around the kernel, from trees as they have been seen and made ones. */
#include "probe/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/cleanup.h"
#include "probe/bypass.h"
#include "probe/platform_file.h"

struct list {
    struct platform_row rows[16];
    char volumes[16][64];
    unsigned count;
};

static int collect(void *context, const struct platform_row *row)
{
    struct list *list = context;

    assert_true(list->count < 16);
    list->rows[list->count] = *row;
    snprintf(list->volumes[list->count], sizeof(list->volumes[0]), "%s", row->volume);
    list->count++;
    return 0;
}

static const struct platform_row *row_of(const struct list *list, const char *volume, enum request_kind request)
{
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->volumes[i], volume) == 0 && list->rows[i].request == request)
            return &list->rows[i];
    fail_msg("%s has no %s", volume, request_names[request]);
    return NULL;
}

/* nfs-utils' own example of a 4.x kernel, shortened. */
static const char mountstats[] =
    "device rootfs mounted on / with fstype rootfs\n"
    "device filer:/export/home mounted on /home with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.1\n"
    "\tage:\t968\n"
    "\tevents:\t1 2 3\n"
    "\tbytes:\t100 200 300 400 5000 6000 70 80\n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\txprt:\ttcp 832 0 1 0 0\n"
    "\tper-op statistics\n"
    "\t        NULL: 1 1 0 44 24 0 1 1 0\n"
    "\t        READ: 10 11 0 2000 5100 3 40 50 1\n"
    "\t       WRITE: 20 20 0 6100 2000 5 60 70 0\n"
    "\t      COMMIT: 2 2 0 1 1 1 7 8 0\n"
    "\t     GETATTR: 5 5 0 1 1 2 9 12 2\n"
    "device proc mounted on /proc with fstype proc\n"
    "device filer:/export/scratch mounted on /scratch with fstype nfs statvers=1.1\n"
    "\tbytes:\t0 0 0 0 7 8 0 0\n"
    "\t        READ: 3 3 0 1 1 0 1 1\n";

static void what_nfs_clients_count(void **state)
{
    _cleanup_free_ char *text = strdup(mountstats);
    const struct platform_row *row;
    struct list list = {.count = 0};

    assert_int_equal(platform_mountstats(text, collect, &list), 0);
    assert_int_equal(list.count, 6);
    row = row_of(&list, "filer:/export/home", REQUEST_READ);
    assert_int_equal(row->ops, 10);
    assert_int_equal(row->bytes, 5000);
    assert_int_equal(row->errors, 1);
    assert_int_equal(row->queue_ns, 3000000);
    assert_int_equal(row->service_ns, 40000000);
    assert_true(row->shared && row->layer == LAYER_MOUNTSTATS);
    row = row_of(&list, "filer:/export/home", REQUEST_METADATA);
    assert_int_equal(row->ops, 6);
    assert_false(row->known & STATION_BYTES);
    row = row_of(&list, "filer:/export/scratch", REQUEST_READ);
    assert_int_equal(row->ops, 3);
    assert_false(row->known & STATION_ERRORS); /* an older kernel */
    row = row_of(&list, "filer:/export/scratch", REQUEST_WRITE);
    assert_int_equal(row->bytes, 8);
    assert_false(row->known & STATION_OPS);
}

static void what_the_nfs_server_counts(void **state)
{
    char text[] = "rc 0 1 2\nfh 0 0 0 0 0\nio 123456 654321\nth 8 0\nnet 1 0 1 1\nrpc 1 0 0 0 0\n"
                  "proc3 22 1 5 0 0 0 0 7 9 0 0 0 0 0 0 0 0 0 0 0 0 0 3\n"
                  "proc4 2 0 10\n"
                  "proc4ops 40 0 0 0 1 2 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 30 0 0 0 0 0 0 0 0 0 0 0 0 40 0\n";
    struct list list = {.count = 0};

    assert_int_equal(platform_nfsd(text, collect, &list), 0);
    assert_int_equal(row_of(&list, "nfsd", REQUEST_READ)->ops, 37);
    assert_int_equal(row_of(&list, "nfsd", REQUEST_READ)->bytes, 123456);
    assert_int_equal(row_of(&list, "nfsd", REQUEST_WRITE)->ops, 49);
    assert_int_equal(row_of(&list, "nfsd", REQUEST_FLUSH)->ops, 7);
    assert_int_equal(row_of(&list, "nfsd", REQUEST_METADATA)->ops, 5 + 3);
}

static void what_lustre_and_nvidia_count(void **state)
{
    char lustre[] = "snapshot_time             1700000000.123456789 secs.nsecs\n"
                    "read_bytes                12 samples [bytes] 4096 1048576 9437184\n"
                    "write_bytes               3 samples [bytes] 1 100 150 5000\n"
                    "read                      12 samples [usecs] 1 2 3\n"
                    "open                      7 samples [usecs] 1 2 3 4\n"
                    "close                     7 samples [regs]\n"
                    "fsync                     2 samples [regs]\n";
    char nvidia[] = "GDS Version: 1.7.0.149\nNVFS statistics(ver: 4.0)\nIO stats: Enabled, peer IO stats: Disabled\n"
                    "Reads\t\t\t\t: n=3480 ok=3479 err=1 readMiB=348 io_state_err=0\n"
                    "Reads\t\t\t\t: Bandwidth(MiB/s)=2 Avg-Latency(usec)=33\n"
                    "Writes\t\t\t\t: n=5 ok=5 err=0 writeMiB=6 io_state_err=0 pg-cache=0\n";
    struct list list = {.count = 0};

    assert_int_equal(platform_lustre("scratch", lustre, collect, &list), 0);
    assert_int_equal(row_of(&list, "scratch", REQUEST_READ)->bytes, 9437184);
    assert_int_equal(row_of(&list, "scratch", REQUEST_READ)->ops, 12);
    assert_int_equal(row_of(&list, "scratch", REQUEST_WRITE)->bytes, 150);
    assert_int_equal(row_of(&list, "scratch", REQUEST_METADATA)->ops, 14);
    assert_int_equal(row_of(&list, "scratch", REQUEST_FLUSH)->ops, 2);
    list.count = 0;
    assert_int_equal(platform_nvidia(nvidia, collect, &list), 0);
    assert_int_equal(row_of(&list, "nvidia-fs", REQUEST_READ)->bytes, 348ull << 20);
    assert_int_equal(row_of(&list, "nvidia-fs", REQUEST_READ)->errors, 1);
    assert_int_equal(row_of(&list, "nvidia-fs", REQUEST_WRITE)->ops, 5);
}

static int parse(const char *from, struct list *list, char why[160])
{
    _cleanup_free_ char *text = strdup(from);

    *why = '\0';
    list->count = 0;
    return platform_parse(text, 1700000000000, collect, list, why, 160);
}

static void any_system_as_openmetrics(void **state)
{
    struct list list;
    char why[160];

    assert_int_equal(
        parse("# HELP weka_fs_read_bytes what was read\n# TYPE weka_fs_read_bytes counter\n"
              "weka_fs_read_bytes_total{fs=\"ai\",server=\"1\"} 1e6 1700000001.5\n"
              "weka_fs_read_bytes_total{fs=\"ai\",server=\"2\"} 500\n"
              "# TYPE pool_ops counter\npool_ops{op=\"write\",pool=\"a\\\"b\"} 42\n"
              "pool_errors_total{op=\"write\",pool=\"a\\\"b\"} 2\n"
              "pool_queue_wait_seconds_total{op=\"write\",pool=\"a\\\"b\"} 0.5\n"
              "reads_total 7\n"
              "# TYPE free_bytes gauge\nread_free_bytes 9\nread_bytes_per_second_total 3\nup 1\n# EOF\n",
              &list, why),
        0);
    assert_int_equal(list.count, 3);
    assert_int_equal(row_of(&list, "ai", REQUEST_READ)->bytes, 1000500);
    assert_int_equal(row_of(&list, "ai", REQUEST_READ)->known, STATION_BYTES);
    assert_int_equal(row_of(&list, "a\"b", REQUEST_WRITE)->ops, 42);
    assert_int_equal(row_of(&list, "a\"b", REQUEST_WRITE)->errors, 2);
    assert_int_equal(row_of(&list, "a\"b", REQUEST_WRITE)->queue_ns, 500000000);
    assert_int_equal(row_of(&list, "platform", REQUEST_READ)->ops, 7);
}

static void any_system_as_csv(void **state)
{
    struct list list;
    char why[160];

    assert_int_equal(parse("request, bytes,volume,ops,service_seconds\nread,1000,fs1,10,1.5\r\nmetadata,,fs1,99,\n\n",
                           &list, why),
                     0);
    assert_int_equal(list.count, 2);
    assert_int_equal(row_of(&list, "fs1", REQUEST_READ)->service_ns, 1500000000);
    assert_int_equal(row_of(&list, "fs1", REQUEST_METADATA)->known, STATION_OPS);
}

static void what_is_broken_says_nothing_and_why(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "no counter"},
        {"up 1\n", "no counter"},
        {"read_bytes_total{fs=\"a\"} 1\nread_bytes_total{fs=\"a} 2\n", "line 2: read_bytes_total: its labels"},
        {"read_bytes_total\n", "line 1: \"read_bytes_total\" is no sample"},
        {"read_bytes_total x\n", "line 1: read_bytes_total has no value"},
        {"read_bytes_total -5\n", "line 1: -5 is no count"},
        {"read_bytes_total 1e30\n", "line 1: 1e+30 is no count"},
        {"read_bytes_total 5 1600000000\n", "stale"},
        {"volume,ops\nfs,3\n", "line 1: columns volume and request"},
        {"volume,request,ops\nfs,read,3\nfs,read\n", "line 3: not as many fields"},
        {"volume,request,ops\nfs,reed,3\n", "line 2: request \"reed\""},
        {"volume,request,ops\nfs,read,3x\n", "line 2: ops \"3x\" is no number"},
    };
    struct list list;
    char why[160];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(parse(cases[i].text, &list, why), -EBADMSG);
        assert_int_equal(list.count, 0);
        assert_non_null(strstr(why, cases[i].why));
    }
}

/* --- trees --- */

static void put(const char *root, const char *path, const char *text)
{
    char full[400];
    FILE *file;

    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(full, 0755);
        *slash = '/';
    }
    if (full[strlen(full) - 1] == '/')
        return;
    file = fopen(full, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void make_root(char root[32])
{
    snprintf(root, 32, "/tmp/unblend-unit-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void remove_root(const char *root)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

static struct batch *drain(struct platform *platform)
{
    struct batch *batch;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(platform_drain(platform, batch), 0);
    return batch;
}

/* Between the begin and the first drain is up to a second. */
static void differences_since_the_begin(void **state)
{
    struct platform *platform;
    struct batch *batch;
    char root[32];

    make_root(root);
    put(root, "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c1000/stats", "read_bytes 1 samples [bytes] 1 1 10\n");
    assert_int_equal(platform_new(root, "n1", NULL, &platform), 0);
    assert_int_equal(platform_begin(platform), 0);
    put(root, "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c1000/stats", "read_bytes 4 samples [bytes] 1 9 30\n");
    batch = drain(platform);
    assert_int_equal(batch->station_count, 1);
    assert_int_equal(batch->stations[0].ops, 3);
    assert_int_equal(batch->stations[0].bytes, 20);
    batch_free(batch);
    platform_free(platform);
    remove_root(root);
}

/* The third is the first again, at another place, and has its counters. */
#define MOUNTED_THRICE(read, other)                                                                                    \
    "device filer:/data mounted on /data with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2\n"                       \
    "\tREAD: " read " 0 0 0 0 0 0 0\n"                                                                                \
    "device filer:/data mounted on /old with fstype nfs statvers=1.1\n\topts:\tro,vers=3\n"                          \
    "\tREAD: " other " 0 0 0 0 0 0 0\n"                                                                               \
    "device filer:/data mounted on /srv with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2\n"                       \
    "\tREAD: " read " 0 0 0 0 0 0 0\n"

/* Each mount of a volume has its own counters, unless they share them. */
static void volumes_that_are_mounted_twice(void **state)
{
    static const char home[] = "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c1000/stats";
    static const char projects[] = "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c2000/stats";
    struct platform *platform;
    struct batch *batch;
    char root[32];

    make_root(root);
    put(root, home, "read_bytes 1000 samples [bytes] 1 1 1000\n");
    put(root, projects, "read_bytes 7 samples [bytes] 1 1 7\n");
    put(root, "/proc/self/mountstats", MOUNTED_THRICE("1000", "7"));
    assert_int_equal(platform_new(root, "n1", NULL, &platform), 0);
    assert_int_equal(platform_begin(platform), 0);
    put(root, home, "read_bytes 1005 samples [bytes] 1 1 1005\n");
    put(root, projects, "read_bytes 9 samples [bytes] 1 1 9\n");
    put(root, "/proc/self/mountstats", MOUNTED_THRICE("1005", "9"));
    batch = drain(platform);
    assert_int_equal(batch->station_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(batch->stations[i].ops, 5 + 2);
    batch_free(batch);
    platform_free(platform);
    remove_root(root);
}

static void differences_since_the_last_time(void **state)
{
    struct platform *platform;
    struct batch *batch;
    char root[32], file[64];

    make_root(root);
    snprintf(file, sizeof(file), "%s/metrics", root);
    put(root, "/proc/self/mountstats", mountstats);
    put(root, "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c1000/stats", "read_bytes 1 samples [bytes] 1 1 10\n");
    put(root, "/metrics", "volume,request,ops\nfs,read,100\n");
    assert_int_equal(platform_new(root, "n1", file, &platform), 0);
    batch = drain(platform);
    assert_int_equal(batch->station_count, 0); /* nobody knows since when */
    assert_null(platform_why(platform));
    batch_free(batch);

    put(root, "/proc/fs/lustre/llite/scratch-ffff9d5f0a8c1000/stats", "read_bytes 4 samples [bytes] 1 9 30\n");
    put(root, "/metrics", "volume,request,ops\nfs,read,130\n");
    batch = drain(platform);
    for (uint32_t i = 0; i < batch->station_count; i++) {
        const struct station *station = &batch->stations[i];
        const char *volume = batch->volumes[station->volume].name;

        if (strcmp(volume, "lustre:scratch") == 0) {
            assert_int_equal(station->ops, 3);
            assert_int_equal(station->bytes, 20);
        } else if (strcmp(volume, "fs") == 0) {
            assert_int_equal(station->ops, 30);
        } else {
            /* as the volume of the mount is named */
            assert_true(strcmp(volume, "nfs:filer:/export/home") == 0 ||
                        strcmp(volume, "nfs:filer:/export/scratch") == 0);
            assert_int_equal(station->ops, 0);
        }
    }
    assert_int_equal(batch->station_count, 6 + 2);
    batch_free(batch);

    /* Begun again from 0, and then broken, and well again. */
    put(root, "/metrics", "volume,request,ops\nfs,read,5\n");
    batch = drain(platform);
    assert_int_equal(batch->stations[batch->station_count - 1].ops, 5);
    batch_free(batch);
    put(root, "/metrics", "volume,request,ops\nfs,read,many\n");
    batch = drain(platform);
    assert_int_equal(batch->station_count, 6 + 1);
    assert_non_null(strstr(platform_why(platform), "line 2"));
    batch_free(batch);
    assert_int_equal(unlink(file), 0);
    batch = drain(platform);
    assert_non_null(strstr(platform_why(platform), "No such file"));
    batch_free(batch);
    assert_int_equal(mkfifo(file, 0600), 0);
    batch = drain(platform); /* and does not wait */
    assert_non_null(strstr(platform_why(platform), "no regular file"));
    batch_free(batch);
    assert_int_equal(unlink(file), 0);
    put(root, "/metrics", "volume,request,ops\nfs,read,11\n");
    batch = drain(platform);
    assert_null(platform_why(platform));
    assert_int_equal(batch->stations[batch->station_count - 1].ops, 6);
    batch_free(batch);
    assert_int_equal(utimensat(AT_FDCWD, file, (const struct timespec[2]){{1, 0}, {1, 0}}, 0), 0);
    batch = drain(platform);
    assert_non_null(strstr(platform_why(platform), "stale"));
    batch_free(batch);
    platform_free(platform);
    remove_root(root);
}

/* What the only station of a batch has read; -1: there is none. */
static int64_t read_since(struct platform *platform, const char *root, const char *first, const char *second)
{
    char text[256] = "# TYPE fs_read_bytes counter\n";
    struct batch *batch;
    int64_t bytes;

    if (first)
        snprintf(text + strlen(text), 100, "fs_read_bytes_total{fs=\"ai\",server=\"1\"} %s\n", first);
    if (second)
        snprintf(text + strlen(text), 100, "fs_read_bytes_total{fs=\"ai\",server=\"2\"} %s\n", second);
    put(root, "/metrics", text);
    batch = drain(platform);
    assert_null(platform_why(platform));
    bytes = batch->station_count ? (int64_t)batch->stations[0].bytes : -1;
    batch_free(batch);
    return bytes;
}

/* Of two servers one is started anew, or is away for a while: all that the other one has ever read was not read now. */
static void parts_of_a_sum_begin_again(void **state)
{
    struct platform *platform;
    char root[32], file[64];

    make_root(root);
    snprintf(file, sizeof(file), "%s/metrics", root);
    assert_int_equal(platform_new(root, "n1", file, &platform), 0);
    assert_int_equal(read_since(platform, root, "1000000", "500"), -1);
    assert_int_equal(read_since(platform, root, "1000010", "520"), 30);
    assert_int_equal(read_since(platform, root, "1000020", "5"), -1);
    assert_int_equal(read_since(platform, root, "1000021", "8"), 4);
    assert_int_equal(read_since(platform, root, NULL, "9"), -1);
    assert_int_equal(read_since(platform, root, NULL, "11"), 2);
    assert_int_equal(read_since(platform, root, NULL, "3"), 3); /* of one it is known since when */
    assert_int_equal(read_since(platform, root, "1000900", "4"), -1);
    assert_int_equal(read_since(platform, root, "1000901", "4"), 1);
    platform_free(platform);
    remove_root(root);
}

static void ways_around_the_kernel(void **state)
{
    struct batch *batch;
    char root[32];

    make_root(root);
    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(bypass_look(root, batch), 0);
    assert_int_equal(batch->coverage.bypass_count, 0);
    put(root, "/sys/bus/pci/devices/0000:5e:00.0/class", "0x010802\n");
    put(root, "/sys/bus/pci/devices/0000:3b:00.0/class", "0x010802\n");
    put(root, "/sys/bus/pci/devices/0000:af:00.0/class", "0x030200\n"); /* a GPU */
    put(root, "/sys/bus/pci/drivers/vfio-pci/0000:5e:00.0", "");
    put(root, "/sys/bus/pci/drivers/vfio-pci/0000:af:00.0", "");
    put(root, "/sys/bus/pci/drivers/vfio-pci/new_id", "");
    put(root, "/sys/bus/pci/drivers/igb_uio/0000:3b:00.0", "");
    put(root, "/sys/bus/pci/drivers/nvme/0000:01:00.0", "");
    put(root, "/sys/module/nvidia_fs/", "");
    assert_int_equal(bypass_look(root, batch), 0);
    assert_int_equal(batch->coverage.bypass_count, 3);
    assert_string_equal(batch->coverage.bypasses[0].device, "0000:3b:00.0");
    assert_string_equal(batch->coverage.bypasses[0].what, "NVMe bound to igb_uio");
    assert_string_equal(batch->coverage.bypasses[1].device, "0000:5e:00.0");
    assert_string_equal(batch->coverage.bypasses[1].what, "NVMe bound to vfio-pci");
    assert_non_null(strstr(batch->coverage.bypasses[1].why, "no block request"));
    assert_string_equal(batch->coverage.bypasses[2].what, "nvidia-fs loaded");
    batch_free(batch);
    remove_root(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nfs_clients_count),
        cmocka_unit_test(what_the_nfs_server_counts),
        cmocka_unit_test(what_lustre_and_nvidia_count),
        cmocka_unit_test(any_system_as_openmetrics),
        cmocka_unit_test(any_system_as_csv),
        cmocka_unit_test(what_is_broken_says_nothing_and_why),
        cmocka_unit_test(differences_since_the_begin),
        cmocka_unit_test(volumes_that_are_mounted_twice),
        cmocka_unit_test(differences_since_the_last_time),
        cmocka_unit_test(parts_of_a_sum_begin_again),
        cmocka_unit_test(ways_around_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
