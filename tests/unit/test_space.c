/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How full volumes are, as an agent asks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/space.h"
#include "lib/cleanup.h"

#define MINUTE_NS INT64_C(60000000000)

/* A look in which a volume was seen; whether it is told how full that is. */
static bool look(struct space_watch *watch, const char *name, const char *mount, const char *fstype, int64_t now)
{
    const char *mounts[] = {mount};
    const struct volume volume = {.name = name, .source = "s", .fstype = fstype, .mounts = mounts, .mount_count = 1};
    _cleanup_(batch_freep) struct batch *batch = NULL;
    uint32_t index;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_volume(batch, &volume, &index), 0);
    assert_int_equal(space_watch_run(watch, batch, now), 0);
    return batch->volumes[index].has_space;
}

/* What the root is, as the last mount of it says. */
static void type_of_root(char type[64])
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    const struct mntent *entry;

    assert_non_null(mounts);
    while ((entry = getmntent(mounts)))
        if (strcmp(entry->mnt_dir, "/") == 0)
            snprintf(type, 64, "%s", entry->mnt_type);
    endmntent(mounts);
}

static void those_that_have_gone_make_room(void **state)
{
    struct space_watch *watch;
    char type[64] = "", name[32], mount[32];
    int64_t now = MINUTE_NS;
    bool told = false;

    type_of_root(type);
    assert_int_equal(space_watch_new(&watch), 0);
    for (unsigned i = 0; i < 1000; i++, now += MINUTE_NS / 60) {
        snprintf(name, sizeof(name), "pod-%u", i);
        snprintf(mount, sizeof(mount), "/no/such/mount/%u", i);
        assert_false(look(watch, name, mount, "overlay", now));
    }
    for (unsigned i = 0; i < 100 && !told; i++, now += MINUTE_NS / 60) {
        usleep(10000); /* a child answers */
        told = look(watch, "n1:/", "/", type, now);
    }
    assert_true(told);
    space_watch_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_have_gone_make_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
