/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/human.h"

static double known(uint64_t value)
{
    return value == NO_VALUE ? NAN : (double)value;
}

static double share(uint64_t part, uint64_t rest)
{
    return part + rest ? (double)part / (double)(part + rest) : NAN;
}

static double pid(const struct row *row)
{
    return row->entity->pid ? row->entity->pid : NAN;
}

static double tid(const struct row *row)
{
    return row->entity->tid ? row->entity->tid : NAN;
}

static double cached(const struct row *row)
{
    return share(row->amounts->count[COUNT_CACHE_HITS], row->amounts->count[COUNT_CACHE_MISSES]);
}

/* Bytes that the cache served, or the device: unknown where it is known of no read. */
static double cached_bytes(const struct row *row)
{
    return isnan(cached(row)) ? NAN : (double)row->amounts->count[COUNT_CACHED_BYTES];
}

static double device_bytes(const struct row *row)
{
    return isnan(cached(row)) ? NAN : (double)row->amounts->count[COUNT_DEVICE_BYTES];
}

static double sequential(const struct row *row)
{
    return share(row->amounts->count[COUNT_SEQUENTIAL], row->amounts->count[COUNT_RANDOM]);
}

static double size_mean(const struct row *row)
{
    const uint64_t *count = row->amounts->count;

    return count[COUNT_TRANSFERS]
               ? (double)(count[COUNT_READ_BYTES] + count[COUNT_WRITE_BYTES]) / (double)count[COUNT_TRANSFERS]
               : NAN;
}

static double size_p95(const struct row *row)
{
    return known(row->size.p95);
}

static double p50(const struct row *row)
{
    return known(row->latency_ns.p50);
}

static double p95(const struct row *row)
{
    return known(row->latency_ns.p95);
}

static double p99(const struct row *row)
{
    return known(row->latency_ns.p99);
}

static double longest(const struct row *row)
{
    return known(row->latency_ns.max);
}

/* Little's law: the time of all operations together, by how long was watched. */
static double queue(const struct row *row)
{
    double seconds = row->since_start ? row->model->sum_seconds : row->seconds;

    return seconds > 0 ? (double)row->amounts->count[COUNT_BUSY_NS] / 1e9 / seconds : NAN;
}

static double in_flight(const struct row *row)
{
    return (double)row->amounts->in_flight;
}

static double oldest(const struct row *row)
{
    return row->amounts->in_flight ? (double)row->amounts->oldest_ns : NAN;
}

static double read_total(const struct row *row)
{
    return (double)row->entity->sum.count[COUNT_READ_BYTES];
}

static double write_total(const struct row *row)
{
    return (double)row->entity->sum.count[COUNT_WRITE_BYTES];
}

static double ops_total(const struct row *row)
{
    return (double)row->entity->sum.count[COUNT_OPS];
}

#define FIGURE(name, index)                                                                                            \
    static double name(const struct row *row)                                                                          \
    {                                                                                                                  \
        return row->entity->figure[index];                                                                             \
    }
FIGURE(peak, FIGURE_PEAK)
FIGURE(mean, FIGURE_MEAN)
FIGURE(metadata_peak, FIGURE_METADATA_PEAK)
FIGURE(idle, FIGURE_IDLE)
FIGURE(burst_p99, FIGURE_BURST_P99)
FIGURE(steady_p99, FIGURE_STEADY_P99)
FIGURE(queue_p99, FIGURE_QUEUE_P99)
FIGURE(service_p99, FIGURE_SERVICE_P99)
FIGURE(share_ops, FIGURE_SHARE_OPS)
FIGURE(share_bytes, FIGURE_SHARE_BYTES)
FIGURE(confidence, FIGURE_CONFIDENCE)
FIGURE(members, FIGURE_MEMBERS)
FIGURE(amount, FIGURE_VALUE)

static double peak_to_mean(const struct row *row)
{
    double average = mean(row);

    return average > 0 ? peak(row) / average : NAN;
}

#define TEXT(function, field)                                                                                          \
    static const char *function(const struct row *row)                                                                 \
    {                                                                                                                  \
        return row->entity->field;                                                                                     \
    }
TEXT(name, name)
TEXT(user, user)
TEXT(job, job)
TEXT(volume, volume)
TEXT(fstype, fstype)
TEXT(source, source)
TEXT(state, state)
TEXT(why, why)

/* A volume without a mount point has its name. */
static const char *mounts(const struct row *row)
{
    return *row->entity->mounts ? row->entity->mounts : row->entity->name;
}

static const char *profile(const struct row *row)
{
    return row->entity->profile ? row->entity->profile : "";
}

#define ALL  UNKNOWN_DATA
#define META UNKNOWN_METADATA
#define OF(c) ((c) + 1)

const struct column columns[] = {
    {"pid", "PID", "process", UNIT_ID, 7, 0, 0, 0, pid, NULL},
    {"tid", "TID", "thread; of the first one the process's number", UNIT_ID, 7, 0, 0, 0, tid, NULL},
    {"user", "USER", "whose it is", UNIT_TEXT, 8, 0, 0, 0, NULL, user},
    {"ops_s", "OPS/s", "all file operations", UNIT_RATE, 6, 0, ALL, OF(COUNT_OPS), NULL, NULL},
    {"read_bytes_s", "READ/s", "bytes read by calls", UNIT_BYTES, 6, PAINT_READ, ALL, OF(COUNT_READ_BYTES), NULL, NULL},
    {"write_bytes_s", "WRITE/s", "bytes written by calls", UNIT_BYTES, 7, PAINT_WRITE, ALL, OF(COUNT_WRITE_BYTES), NULL,
     NULL},
    {"fault_bytes_s", "MMAP/s", "bytes read by page faults on mapped files", UNIT_BYTES, 6, PAINT_READ, UNKNOWN_FAULTS,
     OF(COUNT_FAULT_BYTES), NULL, NULL},
    {"read_ops_s", "RD/s", "reads", UNIT_RATE, 5, PAINT_READ, ALL, OF(COUNT_READ_OPS), NULL, NULL},
    {"write_ops_s", "WR/s", "writes", UNIT_RATE, 5, PAINT_WRITE, ALL, OF(COUNT_WRITE_OPS), NULL, NULL},
    {"metadata_ops_s", "META/s", "opens, stats and other metadata", UNIT_RATE, 6, PAINT_METADATA, META,
     OF(COUNT_METADATA_OPS), NULL, NULL},
    {"errors_s", "ERR/s", "operations that failed", UNIT_RATE, 5, PAINT_BAD, ALL, OF(COUNT_ERRORS), NULL, NULL},
    {"size_mean", "MEAN", "of the reads and writes that moved something, bytes on average", UNIT_SIZE, 5, 0, ALL, 0,
     size_mean, NULL},
    {"size_p95", "SZ95", "95 % of them were no larger", UNIT_SIZE, 5, 0, ALL, 0, size_p95, NULL},
    {"opens_s", "OPEN/s", "opens, those that make the file included", UNIT_RATE, 6, PAINT_METADATA, META,
     OF(COUNT_OPEN_OPS), NULL, NULL},
    {"stats_s", "STAT/s", "stats, accesses and readlinks", UNIT_RATE, 6, PAINT_METADATA, META, OF(COUNT_STAT_OPS), NULL,
     NULL},
    {"seeks_s", "SEEK/s", "seeks, which are no metadata", UNIT_RATE, 6, 0, ALL, OF(COUNT_SEEK_OPS), NULL, NULL},
    {"fsyncs_s", "SYNC/s", "fsyncs and their like", UNIT_RATE, 6, PAINT_WRITE, ALL, OF(COUNT_SYNC_OPS), NULL, NULL},
    {"faults_s", "FLT/s", "major page faults on mapped files", UNIT_RATE, 5, 0, UNKNOWN_FAULTS, OF(COUNT_FAULT_OPS),
     NULL, NULL},
    {"p50_ns", "P50", "half of the operations took no longer", UNIT_TIME, 6, PAINT_TIME, ALL, 0, p50, NULL},
    {"p95_ns", "P95", "95 % of them took no longer", UNIT_TIME, 6, PAINT_TIME, ALL, 0, p95, NULL},
    {"p99_ns", "P99", "99 % of them took no longer", UNIT_TIME, 6, PAINT_TIME, ALL, 0, p99, NULL},
    {"max_ns", "MAX", "the longest of them", UNIT_TIME, 6, PAINT_TIME, ALL, 0, longest, NULL},
    {"in_flight", "FLY", "operations running at the end of the sample", UNIT_COUNT, 4, 0, ALL, 0, in_flight, NULL},
    {"oldest_ns", "OLDEST", "for how long the oldest running operation has", UNIT_TIME, 6, PAINT_BAD, ALL, 0, oldest,
     NULL},
    {"queue", "QUEUE", "operations under way, on average over the sample", UNIT_RATIO, 5, 0, ALL, 0, queue, NULL},
    {"queue_p99_ns", "QUE99", "99 % of the requests waited no longer to be issued", UNIT_TIME, 6, PAINT_TIME,
     UNKNOWN_BLOCK, 0, queue_p99, NULL},
    {"service_p99_ns", "SVC99", "99 % of the requests were served in no longer", UNIT_TIME, 6, PAINT_TIME,
     UNKNOWN_BLOCK, 0, service_p99, NULL},
    {"sequential_share", "SEQ", "of the transfers, started at or beyond the end of the one before", UNIT_SHARE, 4, 0,
     ALL, 0, sequential, NULL},
    {"cached_share", "HIT", "of the reads, served from the page cache", UNIT_SHARE, 4, 0, ALL, 0, cached, NULL},
    {"cached_bytes_s", "CACHE/s", "bytes read that the page cache served", UNIT_BYTES, 7, PAINT_READ, ALL, 0,
     cached_bytes, NULL},
    {"device_bytes_s", "MISS/s", "bytes read for which the device was needed", UNIT_BYTES, 6, PAINT_READ, ALL, 0,
     device_bytes, NULL},
    {"profile", "PROFILE", "of the catalogue, the one that explains most", UNIT_TEXT, 15, PAINT_PROFILE, 0, 0, NULL,
     profile},
    {"confidence", "CONF", "how sure that is", UNIT_SHARE, 4, 0, 0, 0, confidence, NULL},
    {"history", "LAST MIN", "operations over the last minute", UNIT_SPARK, 10, PAINT_PROFILE, 0, 0, NULL, NULL},
    {"ops_total", "OPS", "operations since the start", UNIT_COUNT, 6, 0, ALL, 0, ops_total, NULL},
    {"read_total", "READ", "bytes read since the start", UNIT_SIZE, 6, PAINT_READ, ALL, 0, read_total, NULL},
    {"write_total", "WRITE", "bytes written since the start", UNIT_SIZE, 6, PAINT_WRITE, ALL, 0, write_total, NULL},
    {"processes", "PROCS", "processes that take part", UNIT_COUNT, 5, 0, 0, 0, members, NULL},
    {"discards_s", "DISC/s", "discards", UNIT_RATE, 6, 0, UNKNOWN_BLOCK, OF(COUNT_DISCARD_OPS), NULL, NULL},
    {"share_bytes", "BYTES", "share of the bytes", UNIT_SHARE, 5, PAINT_READ, 0, 0, share_bytes, NULL},
    {"share_ops", "OPS%", "share of the operations", UNIT_SHARE, 4, PAINT_METADATA, 0, 0, share_ops, NULL},
    {"peak_bytes_s", "PEAK/s", "bytes in the highest tenth of a second of the last minute, as a rate", UNIT_SIZE, 6,
     PAINT_READ, ALL, 0, peak, NULL},
    {"mean_bytes_s", "MEAN/s", "bytes over that minute", UNIT_SIZE, 6, 0, ALL, 0, mean, NULL},
    {"peak_to_mean", "PK:MEAN", "how many times higher the peak is", UNIT_RATIO, 7, 0, ALL, 0, peak_to_mean, NULL},
    {"peak_metadata_s", "META PK", "metadata operations in their highest tenth of a second, as a rate", UNIT_COUNT, 7,
     PAINT_METADATA, META, 0, metadata_peak, NULL},
    {"idle_share", "IDLE", "of the tenths of a second of that minute, those without demand", UNIT_SHARE, 4, 0, ALL, 0,
     idle, NULL},
    {"burst_p99_ns", "BURST99", "of the operations in bursts, 99 % took no longer", UNIT_TIME, 7, PAINT_TIME, ALL, 0,
     burst_p99, NULL},
    {"steady_p99_ns", "CALM99", "of the others", UNIT_TIME, 6, PAINT_TIME, ALL, 0, steady_p99, NULL},
    {"lost", "LOST", "operations lost, or counted under a coarser key", UNIT_COUNT, 6, PAINT_BAD, 0, 0, amount, NULL},
    {"value", "COUNT", "of the last sample", UNIT_COUNT, 8, 0, 0, 0, amount, NULL},
    {"state", "STATE", "what it is, or how it is", UNIT_TEXT, 10, 0, 0, 0, NULL, state},
    {"fstype", "FS", "file system type", UNIT_TEXT, 8, 0, 0, 0, NULL, fstype},
    {"source", "SOURCE", "as in the mount table; of a job its command", UNIT_TEXT, 18, 0, 0, 0, NULL, source},
    {"mount", "MOUNT", "where it is mounted", UNIT_TEXT, 20, 0, 0, 0, NULL, mounts},
    {"volume", "VOLUME", "the volume", UNIT_TEXT, 18, 0, 0, 0, NULL, volume},
    {"device", "DEVICE", "the block device", UNIT_TEXT, 16, 0, 0, 0, NULL, name},
    {"node", "NODE", "the node", UNIT_TEXT, 20, 0, 0, 0, NULL, name},
    {"item", "WHAT", "what could not be seen, or what sees", UNIT_TEXT, 24, 0, 0, 0, NULL, name},
    {"why", "WHY", "what there is to say about it", UNIT_TEXT, 24, 0, 0, 0, NULL, why},
    {"command", "COMMAND", "as of its last execve", UNIT_TEXT, 11, 0, 0, 0, NULL, name},
    {"job", "JOB", "the job it belongs to", UNIT_TEXT, 20, 0, 0, 0, NULL, job},
};
const unsigned column_count = sizeof(columns) / sizeof(*columns);

unsigned column_find(const char *key, size_t length)
{
    unsigned at = 0;

    while (at < column_count && (strncmp(columns[at].key, key, length) != 0 || columns[at].key[length]))
        at++;
    return at;
}

struct row row_of(const struct model *model, const struct entity *entity, bool since_start)
{
    struct row row = {.model = model,
                      .entity = entity,
                      .amounts = since_start ? &entity->sum : &entity->now,
                      .size = entity->now.size,
                      .latency_ns = entity->now.latency_ns,
                      .seconds = since_start ? 1 : model->seconds,
                      .since_start = since_start};

    if (since_start) {
        histogram_spread(&entity->size, true, &row.size);
        histogram_spread(&entity->latency_ns, false, &row.latency_ns);
    }
    return row;
}

double column_value(const struct column *column, const struct row *row)
{
    double value;

    if (column->needs & row->model->unknown)
        return NAN;
    value = column->count ? (double)row->amounts->count[column->count - 1] : column->number(row);
    if (column->unit == UNIT_RATE || column->unit == UNIT_BYTES)
        return row->seconds > 0 ? value / row->seconds : NAN;
    return value;
}

void column_spark(const struct row *row, unsigned width, float *heights)
{
    const struct entity *e = row->entity;
    unsigned each = (HISTORY_SECONDS + width - 1) / width;
    float most = 0;

    for (unsigned i = 0; i < width; i++) {
        heights[i] = 0;
        for (unsigned k = 0; k < each; k++)
            heights[i] = fmaxf(heights[i], model_history(row->model, e->history, (width - 1 - i) * each + k));
        most = fmaxf(most, heights[i]);
    }
    for (unsigned i = 0; i < width && most > 0; i++)
        heights[i] /= most;
}
