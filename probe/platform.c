/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/lookup.h"
#include "lib/porter.h"
#include "probe/platform_file.h"
#include "probe/reader.h"
#include "probe/volume_type.h"

#define STALE_MS 300000 /* who writes the file has stopped */

/* What a counter row was last time. */
struct seen {
    char *volume, *instance;
    struct platform_row row;
};

struct platform {
    char *root, *node, *file;
    struct reader *reader; /* of the file */
    struct seen *seen;
    uint32_t count, capacity;
    struct lookup index;
    struct batch *batch; /* while it is drained into */
    const char *instance; /* which one is read, where its counters do not say it; NULL */
    char why[200];
};

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* A whole file, malloc'ed, with a NUL behind it. Only regular files. 0 or -errno. */
static int read_whole(int fd, char **out, int64_t *written_ms)
{
    _cleanup_free_ char *text = NULL;
    size_t size = 0, capacity = 0;
    struct stat st;
    ssize_t got;

    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    do {
        if (size + 1 >= capacity) {
            char *grown = realloc(text, capacity ? capacity * 2 : 8192);

            if (!grown)
                return -ENOMEM;
            text = grown;
            capacity = capacity ? capacity * 2 : 8192;
        }
        got = read(fd, text + size, capacity - size - 1);
        if (got < 0)
            return -errno;
        size += (size_t)got;
        if (size > PLATFORM_FILE_MAX)
            return -EFBIG;
    } while (got);
    text[size] = '\0';
    *written_ms = st.st_mtim.tv_sec * 1000LL + st.st_mtim.tv_nsec / 1000000;
    *out = take_pointer(text);
    return 0;
}

static int read_file(const char *root, const char *path, struct reader_file *file)
{
    _cleanup_close_ int fd = porter_open(path, READ_FLAGS, 0);

    (void)root;
    return fd < 0 ? fd : read_whole(fd, &file->text, &file->written_ms);
}

/* The kernel's own, which an agent that is root no more reads by right. */
static int read_proc(const char *path, char **out)
{
    _cleanup_close_ int fd = open(path, READ_FLAGS);
    int64_t written_ms;

    return fd < 0 ? -errno : read_whole(fd, out, &written_ms);
}

int platform_new(const char *root, const char *node, const char *file, struct platform **out)
{
    struct platform *platform = calloc(1, sizeof(*platform));

    if (!platform)
        return -ENOMEM;
    platform->root = strdup(root);
    platform->node = strdup(node);
    platform->file = file ? strdup(file) : NULL;
    if (!platform->root || !platform->node || (file && (!platform->file || reader_new("", read_file, &platform->reader)))) {
        platform_free(platform);
        return -ENOMEM;
    }
    *out = platform;
    return 0;
}

void platform_free(struct platform *platform)
{
    if (!platform)
        return;
    for (uint32_t i = 0; i < platform->count; i++) {
        free(platform->seen[i].volume);
        free(platform->seen[i].instance);
    }
    free(platform->seen);
    lookup_clear(&platform->index);
    free(platform->root);
    free(platform->node);
    free(platform->file);
    reader_free(platform->reader);
    free(platform);
}

const char *platform_why(const struct platform *platform)
{
    return *platform->why ? platform->why : NULL;
}

const char *platform_name(const struct platform *platform)
{
    return platform->file;
}

/* NULL in *out when it is new, and then it is known from now on. */
static int find(struct platform *platform, const struct platform_row *row, struct seen **out)
{
    const char *instance = row->instance ? row->instance : platform->instance ? platform->instance : "";
    const uint32_t parts[] = {lookup_hash(row->volume, strlen(row->volume)), lookup_hash(instance, strlen(instance)),
                              row->layer * REQUESTS + row->request};
    uint32_t hash = lookup_hash(parts, sizeof(parts)), cursor = hash, at;
    struct seen *seen;

    while (lookup_next(&platform->index, hash, &cursor, &at)) {
        seen = &platform->seen[at];
        if (seen->row.layer == row->layer && seen->row.request == row->request &&
            strcmp(seen->volume, row->volume) == 0 && strcmp(seen->instance, instance) == 0) {
            *out = seen;
            return 0;
        }
    }
    if (platform->count == platform->capacity) {
        uint32_t wanted = platform->capacity ? platform->capacity * 2 : 32;

        seen = reallocarray(platform->seen, wanted, sizeof(*seen));
        if (!seen)
            return -ENOMEM;
        platform->seen = seen;
        platform->capacity = wanted;
    }
    if (lookup_reserve(&platform->index))
        return -ENOMEM;
    seen = &platform->seen[platform->count];
    *seen = (struct seen){.volume = strdup(row->volume), .instance = strdup(instance), .row = *row};
    if (!seen->volume || !seen->instance) {
        free(seen->volume);
        free(seen->instance);
        return -ENOMEM;
    }
    lookup_insert(&platform->index, hash, platform->count++);
    *out = NULL;
    return 0;
}

/* One that is smaller than before began again from 0. */
static uint64_t more(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

/* Whether nobody can tell how much more a sum is, as one of its parts has begun again, or come or gone, as a server
   does that is started anew: then the sum falls, or grows by all that the part has ever counted. */
static bool is_another_sum(const struct platform_row *now, const struct platform_row *before)
{
    bool fell = now->ops < before->ops || now->bytes < before->bytes || now->errors < before->errors ||
                now->queue_ns < before->queue_ns || now->service_ns < before->service_ns;
    bool several = false;

    for (unsigned i = 0; i < PLATFORM_VALUES; i++) {
        if (now->parts[i] <= 1 && before->parts[i] <= 1)
            continue;
        if (now->parts[i] != before->parts[i])
            return true;
        several = true;
    }
    return several && fell;
}

/* A file system's is that of its mounts, so that what was asked of it and what reached it are one volume's. */
static void name_row(const struct platform *platform, const struct platform_row *row, char name[VOLUME_NAME_MAX])
{
    const struct volume_origin origin = {
        .node = platform->node, .fstype = row->fstype, .source = row->volume, .point = row->volume};

    if (row->layer == LAYER_MOUNTSTATS || row->layer == LAYER_LUSTRE)
        volume_type_name(&origin, name);
    else if (row->shared)
        snprintf(name, VOLUME_NAME_MAX, "%s", row->volume);
    else
        snprintf(name, VOLUME_NAME_MAX, "%.255s:%.300s", platform->node, row->volume);
}

static int take(void *context, const struct platform_row *row)
{
    struct platform *platform = context;
    struct station key = {.layer = row->layer, .request = row->request, .job = NO_INDEX}, *to;
    struct volume volume = {.source = row->volume, .fstype = row->fstype};
    struct seen *seen;
    char name[VOLUME_NAME_MAX];
    int err = find(platform, row, &seen);

    if (err || !seen)
        return err;
    if (is_another_sum(row, &seen->row)) {
        seen->row = *row;
        return 0;
    }
    name_row(platform, row, name);
    volume.name = name;
    volume.scope = row->shared ? SCOPE_SHARED : SCOPE_LOCAL;
    err = batch_volume(platform->batch, &volume, &key.volume);
    if (!err)
        err = batch_station(platform->batch, &key, &to);
    if (err)
        return err;
    to->known |= row->known;
    to->ops += more(row->ops, seen->row.ops);
    to->bytes += more(row->bytes, seen->row.bytes);
    to->errors += more(row->errors, seen->row.errors);
    to->queue_sum_ns += more(row->queue_ns, seen->row.queue_ns);
    to->service_sum_ns += more(row->service_ns, seen->row.service_ns);
    seen->row = *row;
    return 0;
}

static int drain_proc(struct platform *platform, const char *path, int (*parse)(char *, platform_sink, void *))
{
    _cleanup_free_ char *text = NULL;
    char full[512];
    int err;

    snprintf(full, sizeof(full), "%.255s%s", platform->root, path);
    err = read_proc(full, &text);
    if (err)
        return err == -ENOMEM ? err : 0; /* there is none */
    return parse(text, take, platform);
}

/* What is mounted on the node: with another root, as in a container, for the first process. */
static int drain_mountstats(struct platform *platform)
{
    char first[512];

    snprintf(first, sizeof(first), "%.255s/proc/1/mountstats", platform->root);
    return drain_proc(platform, *platform->root && !faccessat(AT_FDCWD, first, R_OK, AT_EACCESS) ? "/proc/1/mountstats"
                                                                                                 : "/proc/self/mountstats",
                      platform_mountstats);
}

/* "scratch", in a directory that is a mount's: "scratch-ffff9d5f0a8c1000" has the address of something. Folders of one
   file system may be mounted each for itself. */
static int drain_mount(struct platform *platform, const char *directory, char *text)
{
    const char *dash = strrchr(directory, '-');
    char name[256];
    int err;

    snprintf(name, sizeof(name), "%.*s", dash ? (int)(dash - directory) : 255, directory);
    platform->instance = directory;
    err = platform_lustre(name, text, take, platform);
    platform->instance = NULL;
    return err;
}

static int drain_lustre(struct platform *platform, const char *pattern)
{
    char full[512];
    glob_t found;
    int err = 0;

    snprintf(full, sizeof(full), "%.255s%s", platform->root, pattern);
    if (glob(full, 0, NULL, &found))
        return 0;
    for (size_t i = 0; !err && i < found.gl_pathc; i++) {
        _cleanup_free_ char *text = NULL, *path = strdup(found.gl_pathv[i]);
        char *slash = path ? strrchr(path, '/') : NULL;

        if (!slash) {
            err = -ENOMEM;
            break;
        }
        *slash = '\0';
        slash = strrchr(path, '/');
        if (read_proc(found.gl_pathv[i], &text) == 0)
            err = drain_mount(platform, slash ? slash + 1 : path, text);
    }
    globfree(&found);
    return err;
}

/* One line when it goes wrong, and one when it is well again. */
static void tell(struct platform *platform, const char *why)
{
    if (strcmp(platform->why, why) == 0)
        return;
    if (*why && !*platform->why)
        log_warning("platform-metrics %s: %s: its counters are left out until that is mended", platform->file, why);
    else if (!*why)
        log_info("platform-metrics %s: can be read again", platform->file);
    snprintf(platform->why, sizeof(platform->why), "%s", why);
}

static int drain_file(struct platform *platform)
{
    _cleanup_free_ char *text = NULL;
    int64_t now_ms = wall_clock_ns() / 1000000;
    struct reader_file file;
    char why[160] = "";
    int err = reader_read(platform->reader, platform->file, &file);

    if (err == -ENOMEM)
        return err;
    if (err) {
        tell(platform, err == -EINVAL      ? "is no regular file"
                       : err == -ETIMEDOUT ? "reading it hangs"
                                           : log_errno(err));
        return 0;
    }
    text = file.text;
    if (now_ms - file.written_ms > STALE_MS) {
        tell(platform, "stale: nobody has written it for 5 minutes");
        return 0;
    }
    err = platform_parse(text, now_ms - STALE_MS, take, platform, why, sizeof(why));
    if (err && err != -EBADMSG)
        return err;
    tell(platform, why);
    return 0;
}

static int drain_kernel(struct platform *platform, struct batch *batch)
{
    int err;

    platform->batch = batch;
    if ((err = drain_mountstats(platform)) ||
        (err = drain_proc(platform, "/proc/net/rpc/nfsd", platform_nfsd)) ||
        (err = drain_proc(platform, "/proc/driver/nvidia-fs/stats", platform_nvidia)) ||
        (err = drain_lustre(platform, "/proc/fs/lustre/llite/*/stats")))
        return err;
    return drain_lustre(platform, "/sys/kernel/debug/lustre/llite/*/stats");
}

int platform_begin(struct platform *platform)
{
    _cleanup_(batch_freep) struct batch *nobodys = NULL;
    int err = batch_new(&nobodys);

    return err ? err : drain_kernel(platform, nobodys);
}

int platform_drain(struct platform *platform, struct batch *batch)
{
    int err = drain_kernel(platform, batch);

    return err || !platform->file ? err : drain_file(platform);
}
