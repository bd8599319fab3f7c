/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/tab.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/order.h"

#define WHO_COLUMNS                                                                                                    \
    "read_bytes_s write_bytes_s ops_s metadata_ops_s p99_ns profile history errors_s read_ops_s write_ops_s "          \
    "size_mean size_p95 opens_s stats_s seeks_s fsyncs_s cached_share sequential_share p50_ns p95_ns max_ns "          \
    "in_flight oldest_ns confidence fault_bytes_s faults_s cached_bytes_s device_bytes_s queue read_total "            \
    "write_total ops_total "
#define WHERE_COLUMNS                                                                                                  \
    "read_bytes_s write_bytes_s ops_s metadata_ops_s p99_ns history errors_s read_ops_s write_ops_s size_mean "        \
    "size_p95 opens_s stats_s seeks_s fsyncs_s cached_share sequential_share p50_ns p95_ns max_ns in_flight "          \
    "oldest_ns queue_p99_ns service_p99_ns fault_bytes_s faults_s cached_bytes_s device_bytes_s queue read_total "     \
    "write_total ops_total "

#define THREAD_COLUMNS                                                                                                 \
    "read_bytes_s write_bytes_s ops_s metadata_ops_s p99_ns history errors_s read_ops_s write_ops_s size_mean "        \
    "size_p95 opens_s stats_s seeks_s fsyncs_s cached_share sequential_share p50_ns p95_ns max_ns in_flight "          \
    "oldest_ns fault_bytes_s faults_s cached_bytes_s device_bytes_s queue read_total write_total ops_total "

const struct tab tabs[] = {
    {"nodes", "Nodes", "what each node of the cluster asks for", ENTITY_NODE,
     "read_bytes_s write_bytes_s ops_s metadata_ops_s p99_ns history errors_s read_ops_s write_ops_s size_mean "
     "size_p95 p50_ns p95_ns max_ns in_flight queue lost state read_total write_total ops_total node",
     "node", "read_bytes_s", true},
    {"processes", "Processes", "what each process does", ENTITY_PROCESS, "pid user " WHO_COLUMNS "command job",
     "command", "ops_s", false},
    {"threads", "Threads", "what each thread does", ENTITY_THREAD, "tid pid user " THREAD_COLUMNS "command job",
     "command", "ops_s", false},
    {"jobs", "Jobs", "what the processes of each job do together", ENTITY_JOB,
     "user processes " WHO_COLUMNS "state source job", "job", "ops_s", false},
    {"volumes", "Volumes", "what is asked of each file system", ENTITY_VOLUME,
     WHERE_COLUMNS "fstype state source mount", "mount", "ops_s", false},
    {"devices", "Devices", "requests at the block layer", ENTITY_DEVICE,
     "read_bytes_s write_bytes_s read_ops_s write_ops_s p99_ns queue_p99_ns service_p99_ns in_flight queue history "
     "size_mean size_p95 fsyncs_s discards_s errors_s p50_ns p95_ns max_ns read_total write_total ops_total device",
     "device", "read_bytes_s", false},
    {"profiles", "Profiles", "the blend, unmixed", ENTITY_PROFILE,
     "share_bytes share_ops confidence processes history profile why", "why", "share_bytes", false},
    {"bursts", "Bursts", "how unevenly jobs ask, by tenths of a second", ENTITY_FLOW,
     "peak_bytes_s mean_bytes_s peak_to_mean idle_share burst_p99_ns steady_p99_ns peak_metadata_s fstype volume mount "
     "job",
     "job", "peak_bytes_s", false},
    {"coverage", "Coverage", "what could not be seen, and why", ENTITY_COVERAGE, "value state item why", "why", "value",
     false},
};
const unsigned tab_count = sizeof(tabs) / sizeof(*tabs);

bool tab_is_listed(unsigned tab, unsigned shown, bool cluster)
{
    if (tab == TAB_THREADS || tab == TAB_PROCESSES)
        return (tab == TAB_THREADS) == (shown == TAB_THREADS);
    return cluster || !tabs[tab].cluster;
}

unsigned tab_find(const char *key)
{
    unsigned at = 0;

    while (at < tab_count && strcmp(tabs[at].key, key) != 0)
        at++;
    return at;
}

void layout_init(const struct tab *tab, struct layout *layout)
{
    *layout = (struct layout){.sort = column_find(tab->sort, strlen(tab->sort))};
    for (const char *key = tab->columns; *key;) {
        size_t length = strcspn(key, " ");

        layout->shown[layout->count] = true;
        layout->column[layout->count++] = (uint8_t)column_find(key, length);
        key += length + (key[length] == ' ');
    }
}

/* What a row is sorted by, computed once. */
struct ordered {
    double number;
    const char *text; /* NULL for numbers */
    const struct entity *entity;
    bool down; /* the largest first */
};

static int by_value(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    bool p = isnan(x->number), q = isnan(y->number);
    int order;

    if (x->text)
        order = x->down ? strcmp(y->text, x->text) : strcmp(x->text, y->text);
    else if (p || q)
        return p != q ? p - q : strcmp(x->entity->name, y->entity->name); /* what is not known comes last */
    else
        order = x->down ? ORDER(y->number, x->number) : ORDER(x->number, y->number);
    return order ?: ORDER(x->entity->pid, y->entity->pid) ?: ORDER(x->entity->tid, y->entity->tid)
                 ?: strcmp(x->entity->name, y->entity->name);
}

static bool is_shown(const struct model *model, const struct entity *e, const struct row_options *options)
{
    bool active = options->since_start ? e->sum.count[COUNT_OPS] > 0 : e->active == model->sample;

    if (e->kind == ENTITY_COVERAGE || e->kind == ENTITY_PROFILE)
        return e->listed == model->sample && filter_entity(model->filter, e);
    if (options->active && !active)
        return false;
    if (options->current && !options->since_start &&
        (e->listed != model->sample || (e->active != model->sample && (e->exited || !entity_is_somebody(e)))))
        return false;
    /* a job, volume, device or the rest of a process that has done nothing yet is not worth a line */
    if ((!entity_is_somebody(e) || (e->kind == ENTITY_THREAD && !e->tid)) && e->kind != ENTITY_FLOW && !e->active)
        return false;
    return filter_entity(model->filter, e);
}

/* The entities of a kind that are shown, in order. */
static int collect(const struct model *model, enum entity_kind kind, const struct layout *layout,
                   const struct row_options *options, struct ordered **out, uint32_t *count)
{
    const struct entities *list = &model->of[kind];
    const struct column *column = &columns[layout->sort];
    struct ordered *found = calloc(list->count + 1u, sizeof(*found));

    if (!found)
        return -ENOMEM;
    *count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct entity *entity = list->at[i];
        struct ordered *to = &found[*count];
        struct row row;

        if (!is_shown(model, entity, options))
            continue;
        row = row_of(model, entity, options->since_start);
        *to = (struct ordered){.entity = entity};
        if (column->unit == UNIT_SPARK)
            to->number = model_history(model, entity->history, 0);
        else if (column->unit == UNIT_TEXT)
            to->text = column->text(&row);
        else
            to->number = column_value(column, &row);
        to->down = (column->unit != UNIT_TEXT && column->unit != UNIT_ID) != layout->reverse;
        (*count)++;
    }
    qsort(found, *count, sizeof(*found), by_value);
    *out = found;
    return 0;
}

static void put_row(const struct model *model, const struct entity *entity, bool since_start, uint8_t depth,
                    struct row *rows, uint32_t *count)
{
    rows[*count] = row_of(model, entity, since_start);
    rows[(*count)++].depth = depth;
}

int rows_new(const struct model *model, const struct tab *tab, const struct layout *layout,
             const struct row_options *options, struct row **out, uint32_t *out_count)
{
    _cleanup_free_ struct ordered *entities = NULL, *jobs = NULL;
    uint32_t count, job_count = 0, made = 0;
    bool tree = options->tree && tab->kind <= ENTITY_THREAD;
    struct row *rows;
    int err = collect(model, tab->kind, layout, options, &entities, &count);

    if (!err && tree)
        err = collect(model, ENTITY_JOB, layout, options, &jobs, &job_count);
    if (err)
        return err;
    rows = calloc((size_t)count + job_count + 1, sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    for (uint32_t i = 0; !tree && i < count; i++)
        put_row(model, entities[i].entity, options->since_start, 0, rows, &made);
    for (uint32_t j = 0; j < job_count; j++) {
        put_row(model, jobs[j].entity, options->since_start, 0, rows, &made);
        for (uint32_t i = 0; i < count; i++)
            if (entities[i].entity->job == jobs[j].entity->name)
                put_row(model, entities[i].entity, options->since_start, 1, rows, &made);
    }
    *out = rows;
    *out_count = made;
    return 0;
}
