/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/top.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"

static double pid(const struct top_row *row)
{
    return row->pid;
}

/* -1 when something was not watched: that is not the same as none. */
static double unless(bool unknown, uint64_t count)
{
    return unknown ? -1 : (double)count;
}

/* All operations: as unknown as any of them. */
static double ops(const struct top_row *row)
{
    return unless(row->data_unknown, row->ops);
}

static double read_bytes(const struct top_row *row)
{
    return unless(row->data_unknown, row->read_bytes);
}

static double write_bytes(const struct top_row *row)
{
    return unless(row->data_unknown, row->write_bytes);
}

static double fault_bytes(const struct top_row *row)
{
    return unless(row->faults_unknown, row->fault_bytes);
}

static double read_ops(const struct top_row *row)
{
    return unless(row->data_unknown, row->read_ops);
}

static double write_ops(const struct top_row *row)
{
    return unless(row->data_unknown, row->write_ops);
}

/* -1 where it is not known of any read. */
static double cached(const struct top_row *row)
{
    return row->cache_known ? (double)row->cache_hits / (double)row->cache_known : -1;
}

static double metadata_ops(const struct top_row *row)
{
    return unless(row->ops_unknown, row->metadata_ops);
}

static double errors(const struct top_row *row)
{
    return unless(row->data_unknown, row->errors);
}

/* -1 when there was no operation, or not all are known: it sorts last and is shown as nothing. */
static double p99(const struct top_row *row)
{
    uint64_t value;

    if (row->data_unknown)
        return -1;
    return histogram_quantile(&row->latency_ns, 0.99, false, &value) ? (double)value : -1;
}

/* -1 when none is running. */
static double oldest(const struct top_row *row)
{
    return row->in_flight ? (double)row->oldest_ns : -1;
}

static const char *user(const struct top_row *row)
{
    return row->user;
}

static const char *job(const struct top_row *row)
{
    return row->job;
}

static const char *command(const struct top_row *row)
{
    return row->command;
}

const struct top_column top_columns[] = {
    {"PID", "pid", "process", TOP_PID, 8, pid, NULL},
    {"USER", "user", "whose it is", TOP_TEXT, 8, NULL, user},
    {"OPS/s", "ops_s", "all file operations", TOP_RATE, 6, ops, NULL},
    {"READ/s", "read_bytes_s", "bytes read by calls", TOP_BYTES, 9, read_bytes, NULL},
    {"WRITE/s", "write_bytes_s", "bytes written by calls", TOP_BYTES, 9, write_bytes, NULL},
    {"MMAP/s", "fault_bytes_s", "bytes read by page faults", TOP_BYTES, 9, fault_bytes, NULL},
    {"RD/s", "read_ops_s", "reads", TOP_RATE, 6, read_ops, NULL},
    {"HIT", "cached_share", "of the reads, served from the page cache", TOP_SHARE, 5, cached, NULL},
    {"WR/s", "write_ops_s", "writes", TOP_RATE, 6, write_ops, NULL},
    {"META/s", "metadata_ops_s", "opens, stats and other metadata", TOP_RATE, 6, metadata_ops,
     NULL},
    {"ERR/s", "errors_s", "operations that failed", TOP_RATE, 6, errors, NULL},
    {"P99", "p99_ns", "99 % of file operations took no longer", TOP_TIME, 8, p99, NULL},
    {"OLDEST", "oldest_ns", "for how long the oldest running operation has", TOP_TIME, 8, oldest, NULL},
    {"COMMAND", "command", "as of its last execve", TOP_TEXT, 16, NULL, command},
    {"JOB", "job", "the job it belongs to", TOP_TEXT, 24, NULL, job},
};
const unsigned top_column_count = sizeof(top_columns) / sizeof(*top_columns);

/* Looking a name up costs a file or a directory server: the last one is kept, as processes come in
 * groups. */
static void name_user(struct top_row *row, uint32_t uid)
{
    static uint32_t last_uid;
    static char last[sizeof(row->user)];
    const struct passwd *passwd;

    if (!*last || uid != last_uid) {
        passwd = getpwuid(uid);
        if (passwd)
            snprintf(last, sizeof(last), "%s", passwd->pw_name);
        else
            snprintf(last, sizeof(last), "%u", uid);
        last_uid = uid;
    }
    memcpy(row->user, last, sizeof(last));
}

static int add(struct top_row *row, const struct record *record)
{
    uint64_t count = record_ops(record);

    if (!operation_is_file(record->op))
        return 0;
    row->ops += count;
    row->errors += record->errors;
    row->cache_hits += record->cache[CACHE_HIT_OPS];
    row->cache_known += record->cache[CACHE_HIT_OPS] + record->cache[CACHE_MISS_OPS];
    row->in_flight += record->in_flight;
    if (record->oldest_ns > row->oldest_ns)
        row->oldest_ns = record->oldest_ns;
    switch (operation_info(record->op)->class) {
    case OP_CLASS_DATA:
        *(record->op == OP_READ ? &row->read_ops : &row->write_ops) += count;
        *(record->op == OP_READ ? &row->read_bytes : &row->write_bytes) += record->bytes;
        break;
    case OP_CLASS_METADATA:
        row->metadata_ops += count;
        break;
    case OP_CLASS_FAULT:
        row->fault_bytes += record->bytes;
        break;
    default:
        break;
    }
    return histogram_merge(&row->latency_ns, &record->latency_ns);
}

static void name_process(struct top_row *row, const struct batch *batch, uint32_t index)
{
    const struct process *process = &batch->processes[index];

    row->pid = process->pid;
    row->job = batch->jobs[process->job].name;
    row->command = process->command;
    name_user(row, process->uid);
}

static void name_job(struct top_row *row, const struct job *job)
{
    row->job = job->name;
    row->command = job->command;
    snprintf(row->user, sizeof(row->user), "%s", job->user ? job->user : "");
}

static const struct top_options *sorting; /* for by_column(); qsort() has no argument to pass */

static int by_column(const void *a, const void *b)
{
    const struct top_column *column = &top_columns[sorting->sort];
    int order;

    if (column->unit == TOP_TEXT) {
        order = strcmp(column->text(a), column->text(b));
    } else {
        double x = column->number(a), y = column->number(b);

        order = (x < y) - (x > y);
    }
    if (!order)
        order = (((const struct top_row *)a)->pid > ((const struct top_row *)b)->pid) -
                (((const struct top_row *)a)->pid < ((const struct top_row *)b)->pid);
    return sorting->reverse ? -order : order;
}

static int fill(const struct batch *batch, const struct top_options *options,
                struct top_sample *sample)
{
    _cleanup_free_ uint32_t *of_job = calloc(batch->job_count + 1u, sizeof(*of_job));
    _cleanup_free_ uint32_t *of_process = calloc(batch->process_count + 1u, sizeof(*of_process));
    int err = 0;

    if (!of_job || !of_process)
        return -ENOMEM;
    for (uint32_t i = 0; !err && i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        bool by_job = options->jobs || record->process == NO_INDEX;
        uint32_t *at = by_job ? &of_job[record->job] : &of_process[record->process];

        if (!operation_is_file(record->op) || !record_ops(record))
            continue; /* minor page faults are no operations */
        if (!*at) {
            struct top_row *row = &sample->rows[sample->count++];

            *at = sample->count; /* plus one: 0 is none yet */
            if (by_job)
                name_job(row, &batch->jobs[record->job]);
            else
                name_process(row, batch, record->process);
        }
        err = add(&sample->rows[*at - 1], record);
        if (!err)
            err = add(&sample->totals, record);
    }
    /* processes that did nothing are rows of zeros, unless only active ones are asked for */
    for (uint32_t i = 0; !err && !options->active && !options->jobs && i < batch->process_count;
         i++)
        if (!of_process[i] && !batch->processes[i].exited)
            name_process(&sample->rows[sample->count++], batch, i);
    return err;
}

static bool lacks_faults(const struct batch *batch)
{
    const char *name = operation_info(OP_MMAP_FAULT)->name;

    for (uint32_t i = 0; i < batch->coverage.hook_count; i++)
        if (strcmp(batch->coverage.hooks[i].name, name) == 0)
            return !batch->coverage.hooks[i].attached;
    return false;
}

/* What was left out for part of the time only is shown, as what there was at least. */
static void mark_unknown(const struct batch *batch, struct top_row *row)
{
    const uint64_t *shed_ms = batch->coverage.shed_ms;
    uint64_t whole_ms = batch->duration_ns / 1000000;

    row->faults_unknown = lacks_faults(batch);
    row->ops_unknown = shed_ms[SHED_DETACHED] && shed_ms[SHED_DETACHED] >= whole_ms;
    row->data_unknown = row->ops_unknown || (shed_ms[SHED_METADATA_ONLY] && shed_ms[SHED_METADATA_ONLY] >= whole_ms);
}

int top_sample_new(const struct batch *batch, const struct top_options *options,
                   struct top_sample *out)
{
    struct top_sample sample = {.batch = batch};
    int err;

    sample.seconds = options->accumulated ? 1 : (double)batch->duration_ns / 1e9;
    sample.rows = calloc((size_t)batch->job_count + batch->process_count + 1, sizeof(*sample.rows));
    if (!sample.rows)
        return -ENOMEM;
    err = fill(batch, options, &sample);
    for (uint32_t i = 0; i <= sample.count; i++)
        mark_unknown(batch, i < sample.count ? &sample.rows[i] : &sample.totals);
    if (err) {
        top_sample_clear(&sample);
        return err;
    }
    sorting = options;
    qsort(sample.rows, sample.count, sizeof(*sample.rows), by_column);
    *out = sample;
    return 0;
}

void top_sample_clear(struct top_sample *sample)
{
    for (uint32_t i = 0; i < sample->count; i++)
        histogram_clear(&sample->rows[i].latency_ns);
    histogram_clear(&sample->totals.latency_ns);
    free(sample->rows);
    *sample = (struct top_sample){0};
}

const char *top_cell(const struct top_column *column, const struct top_row *row, double seconds,
                     char *buffer)
{
    char text[HUMAN_SIZE];
    double value = column->number ? column->number(row) : 0;

    switch (column->unit) {
    case TOP_TEXT:
        return column->text(row);
    case TOP_PID:
        snprintf(text, sizeof(text), row->pid ? "%.0f" : "-", value);
        break;
    case TOP_RATE:
        if (value < 0)
            strcpy(text, "-");
        else
            human_rate(text, seconds > 0 ? value / seconds : 0);
        break;
    case TOP_BYTES:
        if (value < 0)
            strcpy(text, "-");
        else
            human_bytes(text, seconds > 0 ? value / seconds : 0);
        break;
    case TOP_TIME:
        if (value < 0)
            strcpy(text, "-");
        else
            human_ns(text, value);
        break;
    case TOP_SHARE:
        if (value < 0)
            strcpy(text, "-");
        else
            snprintf(text, sizeof(text), "%.0f%%", 100 * value);
        break;
    }
    snprintf(buffer, TOP_CELL, "%*s", column->width, text);
    return buffer;
}

void top_coverage(const struct batch *batch, char *buffer, size_t size)
{
    const struct coverage *c = &batch->coverage;
    char lost[HUMAN_SIZE], overflow[HUMAN_SIZE], flight[HUMAN_SIZE], nobody[HUMAN_SIZE];
    unsigned unavailable = 0;

    for (uint32_t i = 0; i < c->hook_count; i++)
        unavailable += !c->hooks[i].attached;
    snprintf(buffer, size,
             "coverage: %s lost, %s overflowed, %s unattributed, %s in flight; %u of %u hooks "
             "unavailable",
             human_count(lost, c->lost), human_count(overflow, c->overflow),
             human_count(nobody, c->unattributed), human_count(flight, c->in_flight), unavailable,
             c->hook_count);
    for (unsigned i = 0; i < SHED_COUNT; i++)
        if (c->shed_ms[i] && strlen(buffer) < size)
            snprintf(buffer + strlen(buffer), size - strlen(buffer), "; %s (--max-cost)",
                     (const char *const[]){"by job only", "METADATA ONLY", "DETACHED"}[i]);
}

void top_totals(const struct top_sample *sample, char *buffer, size_t size)
{
    char a[TOP_CELL], b[TOP_CELL], c[TOP_CELL], d[TOP_CELL], e[TOP_CELL];
    const struct top_row *t = &sample->totals;
    double s = sample->seconds > 0 ? sample->seconds : 1;
    bool data = !t->data_unknown;

    snprintf(buffer, size, "total: %s ops, %s read, %s written, %s metadata, p99 %s",
             data ? human_rate(a, (double)t->ops / s) : "-",
             data ? human_bytes(b, (double)t->read_bytes / s) : "-",
             data ? human_bytes(c, (double)t->write_bytes / s) : "-",
             t->ops_unknown ? "-" : human_rate(d, (double)t->metadata_ops / s),
             p99(t) < 0 ? "-" : human_ns(e, p99(t)));
}
