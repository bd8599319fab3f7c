/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own files about storage platforms. */
#include "probe/platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ULL
#define MIB (1ULL << 20)

/* Sums of one file system. */
struct sums {
    struct platform_row row[REQUESTS];
};

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b || b > INT64_MAX ? INT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t factor)
{
    return a > INT64_MAX / factor ? INT64_MAX : a * factor;
}

static int flush_sums(struct sums *sums, platform_sink sink, void *context)
{
    int err = 0;

    for (enum request_kind r = REQUEST_READ; !err && r < REQUESTS; r++)
        if (sums->row[r].known) {
            sums->row[r].request = r;
            err = sink(context, &sums->row[r]);
        }
    *sums = (struct sums){0};
    return err;
}

static void set_names(struct sums *sums, enum layer layer, const char *volume, const char *fstype, bool shared)
{
    for (unsigned r = 0; r < REQUESTS; r++)
        sums->row[r] = (struct platform_row){.layer = layer, .volume = volume, .fstype = fstype, .shared = shared};
}

/* --- mountstats --- */

/* "device server:/export mounted on /mnt with fstype nfs4 statvers=1.1" */
static bool begin_mount(char *line, struct sums *sums)
{
    char *source, *rest, *fstype;

    if (strncmp(line, "device ", 7) != 0)
        return false;
    source = line + 7;
    rest = strstr(source, " mounted on ");
    fstype = rest ? strstr(rest, " with fstype ") : NULL;
    if (!fstype)
        return true;
    *rest = '\0';
    fstype += 13;
    fstype[strcspn(fstype, " ")] = '\0';
    if (strncmp(fstype, "nfs", 3) == 0 && strcmp(fstype, "nfsd") != 0)
        set_names(sums, LAYER_MOUNTSTATS, source, fstype, true);
    return true;
}

/* Mounts with the same options share the counters, which then stand there for each of them; others have their own. */
static void set_instance(struct sums *sums, const char *options)
{
    for (unsigned r = 0; r < REQUESTS; r++)
        sums->row[r].instance = options;
}

static enum request_kind nfs_request(const char *name)
{
    if (strcmp(name, "READ") == 0 || strcmp(name, "READ_PLUS") == 0)
        return REQUEST_READ;
    if (strcmp(name, "WRITE") == 0)
        return REQUEST_WRITE;
    return strcmp(name, "COMMIT") == 0 ? REQUEST_FLUSH : REQUEST_METADATA;
}

/* "READ: ops transmissions timeouts sent received queue_ms rtt_ms execute_ms [errors]" */
static void add_operation(const char *line, struct sums *sums)
{
    uint64_t n[9] = {0};
    char name[40];
    int got = sscanf(line,
                     " %39[A-Z_0-9]: %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                     " %" SCNu64 " %" SCNu64,
                     name, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8]);
    struct platform_row *row;

    if (got < 9)
        return;
    row = &sums->row[nfs_request(name)];
    row->known |= STATION_OPS | STATION_QUEUE | STATION_SERVICE;
    row->ops = add(row->ops, n[0]);
    row->queue_ns = add(row->queue_ns, times(n[5], MS));
    row->service_ns = add(row->service_ns, times(n[6], MS));
    if (got > 9) {
        row->known |= STATION_ERRORS;
        row->errors = add(row->errors, n[8]);
    }
}

int platform_mountstats(char *text, platform_sink sink, void *context)
{
    struct sums sums = {0};
    char *line, *rest = text;
    int err = 0;

    while (!err && (line = strsep(&rest, "\n"))) {
        uint64_t n[6];

        if (strncmp(line, "device ", 7) == 0)
            err = flush_sums(&sums, sink, context);
        if (begin_mount(line, &sums) || !sums.row[0].volume)
            continue;
        if (strncmp(line, "\topts:", 6) == 0)
            set_instance(&sums, line);
        /* normal read, written; direct read, written; from and to the server */
        if (sscanf(line, " bytes: %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &n[0], &n[1],
                   &n[2], &n[3], &n[4], &n[5]) == 6) {
            sums.row[REQUEST_READ].bytes = n[4];
            sums.row[REQUEST_WRITE].bytes = n[5];
            sums.row[REQUEST_READ].known |= STATION_BYTES;
            sums.row[REQUEST_WRITE].known |= STATION_BYTES;
        } else {
            add_operation(line, &sums);
        }
    }
    return err ? err : flush_sums(&sums, sink, context);
}

/* --- nfsd --- */

/* RFC 1813, RFC 7530: the numbers of operations that move data or commit it; all others are metadata. */
static enum request_kind nfs3_request(unsigned number)
{
    return number == 6 ? REQUEST_READ : number == 7 ? REQUEST_WRITE : number == 21 ? REQUEST_FLUSH : REQUEST_METADATA;
}

static enum request_kind nfs4_request(unsigned number)
{
    return number == 25 || number == 68 ? REQUEST_READ
           : number == 38               ? REQUEST_WRITE
           : number == 5                ? REQUEST_FLUSH
                                        : REQUEST_METADATA;
}

/* "proc3 22 n n n ...": the first number is how many follow; number 0 does nothing. */
static void add_procedures(char *numbers, enum request_kind (*request)(unsigned), struct sums *sums)
{
    char *end = numbers;
    unsigned long count = strtoul(numbers, &end, 10);

    for (unsigned i = 0; i < count && i < 256; i++) {
        char *from = end;
        uint64_t n = strtoull(from, &end, 10);
        struct platform_row *row = &sums->row[request(i)];

        if (end == from)
            return;
        if (!i)
            continue;
        row->known |= STATION_OPS;
        row->ops = add(row->ops, n);
    }
}

int platform_nfsd(char *text, platform_sink sink, void *context)
{
    struct sums sums = {0};
    char *line, *rest = text;

    set_names(&sums, LAYER_NFSD, "nfsd", "nfsd", false);
    while ((line = strsep(&rest, "\n"))) {
        uint64_t read, written;

        if (sscanf(line, "io %" SCNu64 " %" SCNu64, &read, &written) == 2) {
            sums.row[REQUEST_READ].bytes = read;
            sums.row[REQUEST_WRITE].bytes = written;
            sums.row[REQUEST_READ].known |= STATION_BYTES;
            sums.row[REQUEST_WRITE].known |= STATION_BYTES;
        } else if (strncmp(line, "proc3 ", 6) == 0) {
            add_procedures(line + 6, nfs3_request, &sums);
        } else if (strncmp(line, "proc4ops ", 9) == 0) {
            add_procedures(line + 9, nfs4_request, &sums);
        }
    }
    return flush_sums(&sums, sink, context);
}

/* --- Lustre --- */

int platform_lustre(const char *volume, char *text, platform_sink sink, void *context)
{
    static const char *const metadata[] = {"open",    "close",  "getattr", "setattr", "readdir", "create", "link",
                                           "unlink",  "symlink", "mkdir",  "rmdir",   "mknod",   "rename", "statfs",
                                           "getxattr", "setxattr", "listxattr", "removexattr", "truncate"};
    struct sums sums = {0};
    char *line, *rest = text;

    set_names(&sums, LAYER_LUSTRE, volume, "lustre", true);
    while ((line = strsep(&rest, "\n"))) {
        /* "read_bytes 12 samples [bytes] 4096 1048576 9437184" */
        uint64_t samples, least, most, sum;
        char name[32], unit[16];
        int got = sscanf(line, "%31s %" SCNu64 " samples [%15[a-z]] %" SCNu64 " %" SCNu64 " %" SCNu64, name, &samples,
                         unit, &least, &most, &sum);
        struct platform_row *row = NULL;

        if (got < 3)
            continue;
        if (got == 6 && strcmp(unit, "bytes") == 0)
            row = strcmp(name, "read_bytes") == 0    ? &sums.row[REQUEST_READ]
                  : strcmp(name, "write_bytes") == 0 ? &sums.row[REQUEST_WRITE]
                                                     : NULL;
        if (row) {
            row->known |= STATION_OPS | STATION_BYTES;
            row->ops = add(row->ops, samples);
            row->bytes = add(row->bytes, sum);
        } else if (strcmp(name, "fsync") == 0) {
            row = &sums.row[REQUEST_FLUSH];
        }
        for (size_t i = 0; !row && i < sizeof(metadata) / sizeof(*metadata); i++)
            if (strcmp(name, metadata[i]) == 0)
                row = &sums.row[REQUEST_METADATA];
        if (row && !(row->known & STATION_BYTES)) {
            row->known |= STATION_OPS;
            row->ops = add(row->ops, samples);
        }
    }
    return flush_sums(&sums, sink, context);
}

/* --- nvidia-fs --- */

static void add_direction(const char *line, const char *format, struct platform_row *row)
{
    uint64_t n, ok, failed, mib;

    if (sscanf(line, format, &n, &ok, &failed, &mib) != 4)
        return;
    row->known |= STATION_OPS | STATION_BYTES | STATION_ERRORS;
    row->ops = n;
    row->errors = failed;
    row->bytes = times(mib, MIB);
}

int platform_nvidia(char *text, platform_sink sink, void *context)
{
    struct sums sums = {0};
    char *line, *rest = text;

    set_names(&sums, LAYER_NVIDIA_FS, "nvidia-fs", "nvidia-fs", false);
    while ((line = strsep(&rest, "\n"))) {
        add_direction(line, "Reads : n=%" SCNu64 " ok=%" SCNu64 " err=%" SCNu64 " readMiB=%" SCNu64,
                      &sums.row[REQUEST_READ]);
        add_direction(line, "Writes : n=%" SCNu64 " ok=%" SCNu64 " err=%" SCNu64 " writeMiB=%" SCNu64,
                      &sums.row[REQUEST_WRITE]);
    }
    return flush_sums(&sums, sink, context);
}
