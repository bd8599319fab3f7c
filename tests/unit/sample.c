/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t sample_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static void must(int err)
{
    if (err) {
        fprintf(stderr, "sample: %s\n", strerror(-err));
        abort();
    }
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
    return sample_random(state) % limit;
}

/* Names as they come: plain, with what JSON escapes, with characters of two to four bytes, and
 * bytes. */
static const char *name(uint64_t *state, char to[64])
{
    static const char *const forms[] = {"job-%u",
                                        "a \"quoted\"\\%u",
                                        "two\nlines\t%u",
                                        "\x01\x1f\x7f%u",
                                        "gr\xc3\xbc\xc3\x9f%u",
                                        "\xe2\x82\xac%u",
                                        "\xf0\x9f\x92\xbe%u",
                                        "broken\xff\xc3%u",
                                        "/mnt/%u/#=:"};

    snprintf(to, 64, forms[below(state, 9)], (unsigned)below(state, 1000000));
    return to;
}

static void fill_histogram(uint64_t *state, struct histogram *h)
{
    for (uint64_t cells = below(state, 20); cells; cells--) {
        uint64_t value = sample_random(state) >> below(state, 64);

        must(histogram_add(h, value, 1 + (sample_random(state) >> (24 + below(state, 40)))));
    }
}

static void add_jobs(struct batch *batch, uint64_t *state)
{
    char texts[5][64];

    for (uint64_t i = 1 + below(state, 12); i; i--) {
        struct label labels[2] = {{"account", name(state, texts[0])}, {"\xfe", "x"}};
        struct job job = {.name = name(state, texts[1]),
                          .kind = "slurm",
                          .user = below(state, 2) ? name(state, texts[2]) : NULL,
                          .command = name(state, texts[3]),
                          .labels = labels,
                          .label_count = (uint32_t)below(state, 3),
                          .start_ns = (int64_t)(below(state, 2) * (sample_random(state) >> 2)),
                          .end_ns = (int64_t)(below(state, 2) * (sample_random(state) >> 1)),
                          .exit = (int32_t)below(state, 257) - 1};
        uint32_t at;

        must(batch_job(batch, &job, &at));
        batch->jobs[at].watched_ns = job.start_ns ? below(state, 1000000) : 0;
        batch->jobs[at].exposed_ns = batch->jobs[at].watched_ns / 2;
        if (job.start_ns && below(state, 2))
            batch->jobs[at].gpu = (struct gpu_time){1 + below(state, 1000000), 3, 4, 2, 1, 6, 5};
    }
}

static void add_volumes(struct batch *batch, uint64_t *state)
{
    char texts[4][64];

    for (uint64_t i = 1 + below(state, 6); i; i--) {
        const char *mounts[] = {name(state, texts[0]), name(state, texts[1])};
        struct volume volume = {.name = name(state, texts[2]),
                                .source = name(state, texts[3]),
                                .fstype = "xfs",
                                .scope = below(state, 2) ? SCOPE_SHARED : SCOPE_LOCAL,
                                .mounts = mounts,
                                .mount_count = (uint32_t)below(state, 3)};
        uint32_t at;

        if (below(state, 3) == 0) {
            volume.has_space = true;
            volume.space = (struct space){below(state, 1000), below(state, 1u << 30), below(state, 9),
                                          below(state, 99)};
        }
        must(batch_volume(batch, &volume, &at));
    }
}

static void add_processes(struct batch *batch, uint64_t *state)
{
    char text[64];

    for (uint64_t i = below(state, 20); i; i--) {
        struct process process = {.pid = (uint32_t)sample_random(state),
                                  .tid = below(state, 3) ? 0 : (uint32_t)sample_random(state),
                                  .uid = (uint32_t)sample_random(state),
                                  .start_ns = (int64_t)(sample_random(state) >> 1),
                                  .command = name(state, text),
                                  .job = (uint32_t)below(state, batch->job_count),
                                  .exited = below(state, 2)};
        uint32_t at;

        must(batch_process(batch, &process, &at));
    }
}

static void add_record(struct batch *batch, uint64_t *state)
{
    bool process = batch->process_count && below(state, 2);
    struct record *r;
    uint64_t ops;

    must(batch_record(batch, (uint32_t)below(state, batch->job_count),
                      (uint32_t)below(state, batch->volume_count),
                      process ? (uint32_t)below(state, batch->process_count) : NO_INDEX,
                      OP_FIRST + (enum operation)below(state, OP_COUNT - OP_FIRST), &r));
    if (r->latency_ns.length)
        return; /* that series is there already */
    fill_histogram(state, &r->latency_ns);
    ops = record_ops(r);
    if (operation_info(r->op)->has_size && below(state, 4))
        must(histogram_merge(&r->size, &r->latency_ns));
    for (unsigned i = 0; i < below(state, 4); i++)
        must(histogram_add_below(&r->joint, JOINT_BUCKETS, (unsigned)below(state, JOINT_BUCKETS), 1 + below(state, 50)));
    r->errors = ops ? below(state, ops + 1) : 0;
    for (unsigned i = 0; ops && i < ORDER_COUNT; i++)
        r->order[i] = below(state, 3) * below(state, 1000);
    for (unsigned i = 0; ops && i < CACHE_COUNTS; i++)
        r->cache[i] = below(state, 2) * below(state, 1000);
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        r->faults[i] = below(state, 2) * below(state, 1000);
    for (unsigned i = 0; i < below(state, 4); i++)
        must(histogram_add_bucket(&r->error_codes, 1 + (unsigned)below(state, ERROR_CODES - 1), 1 + below(state, 50)));
    r->in_flight = below(state, 3);
    r->oldest_ns = r->in_flight ? below(state, 1000000000) : 0;
    r->in_flight_ns = r->in_flight * r->oldest_ns;
    r->bytes = sample_random(state) >> (1 + below(state, 63));
    r->latency_sum_ns = sample_random(state) >> (1 + below(state, 63));
}

static void add_station(struct batch *batch, uint64_t *state)
{
    struct station key = {.layer = (enum layer)below(state, LAYERS),
                          .request = (enum request_kind)below(state, REQUESTS),
                          .party = (enum party)below(state, PARTIES),
                          .volume = (uint32_t)below(state, batch->volume_count),
                          .job = NO_INDEX},
                   *station;

    if (key.party == PARTY_JOB || (key.party == PARTY_SERVER && below(state, 2)))
        key.job = (uint32_t)below(state, batch->job_count);
    if (key.party == PARTY_SERVER)
        key.server = below(state, 2) ? "server (1)" : "other (2)";
    must(batch_station(batch, &key, &station));
    station->known = (unsigned)below(state, 2 * STATION_IN_FLIGHT);
    station->ops = station->known & STATION_OPS ? below(state, 1000) : 0;
    station->bytes = station->known & STATION_BYTES ? sample_random(state) >> (1 + below(state, 63)) : 0;
    station->errors = station->known & STATION_ERRORS ? below(state, 1000) : 0;
    station->merges = station->known & STATION_MERGES ? below(state, 1000) : 0;
    station->queue_sum_ns = station->known & STATION_QUEUE ? below(state, 1000000) : 0;
    station->service_sum_ns = station->known & STATION_SERVICE ? below(state, 1000000) : 0;
    station->in_flight = station->known & STATION_IN_FLIGHT ? below(state, 10) : 0;
    fill_histogram(state, &station->size);
    fill_histogram(state, &station->service_ns);
    if (station->request == REQUEST_ALL)
        fill_histogram(state, &station->depth);
    else
        fill_histogram(state, &station->queue_ns);
}

static void add_flow(struct batch *batch, uint64_t *state)
{
    int64_t first = (int64_t)below(state, 20000000000);
    struct flow *flow;

    must(batch_flow(batch, (uint32_t)below(state, batch->job_count), (uint32_t)below(state, batch->volume_count),
                    &flow));
    for (uint64_t i = below(state, 20); i > 0 && !flow->in_flight_max[OP_NONE]; i--) {
        struct demand_slot amount = {{0}};

        amount.demand[below(state, DEMAND_COUNT)] = sample_random(state) >> (8 + below(state, 56));
        must(flow_add(flow, first + (int64_t)below(state, 100), &amount));
    }
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++) {
        fill_histogram(state, &flow->burst[kind]);
        fill_histogram(state, &flow->steady[kind]);
    }
    flow->in_flight_max[OP_READ] = (uint32_t)below(state, 5);
    flow->in_flight_max[OP_NONE] = flow->in_flight_max[OP_READ] + (uint32_t)below(state, 2);
}

static void add_tree(struct batch *batch, uint64_t *state)
{
    char text[64];
    struct tree *tree;

    must(batch_tree(batch, (uint32_t)below(state, batch->job_count), (uint32_t)below(state, batch->volume_count),
                    name(state, text), &tree));
    for (unsigned i = 0; i < TREE_COUNTS; i++)
        tree->count[i] = below(state, 2) ? sample_random(state) >> (1 + below(state, 60)) : 0;
    for (uint64_t i = below(state, 9); i > 0; i--)
        must(sketch_add(&tree->files, &(struct sketch_file){sample_random(state), sample_random(state) >> 1, 0}));
}

struct batch *sample_batch(uint64_t seed, uint32_t records)
{
    uint64_t state = seed * 2654435761u + 1;
    struct hook hooks[] = {{"read", true, NULL}, {"mmap_fault", false, "kernel too old"}};
    struct bypass bypass = {"spdk", "0000:01:00.0", "the driver is vfio-pci"};
    struct dropped dropped[] = {
        {"00112233445566778899aabbccddeeff", 0, 12, 34567, 1795000000000000000, 1795000010000000000, "quota"},
        {"ffeeddccbbaa99887766554433221100", 7, 7, DROPPED_UNKNOWN, 0, 0, "damaged"},
    };
    struct batch *batch;
    char text[64];

    must(batch_new(&batch));
    must(batch_set(batch, &batch->cluster, name(&state, text)));
    must(batch_set(batch, &batch->node, name(&state, text)));
    must(batch_set(batch, &batch->role, "client"));
    must(batch_set(batch, &batch->kernel, "6.1.0"));
    must(batch_set(batch, &batch->boot_id, name(&state, text)));
    must(batch_set(batch, &batch->stream, "0123456789abcdef0123456789abcdef"));
    batch->seq = sample_random(&state) >> 1;
    batch->start_ns = (int64_t)(sample_random(&state) >> 2);
    batch->duration_ns = sample_random(&state) >> 2;
    batch->interval_ms = (uint32_t)sample_random(&state);
    batch->pressure.known = below(&state, 2);
    batch->pressure.some_ns = batch->pressure.known ? sample_random(&state) >> 2 : 0;
    batch->pressure.full_ns = batch->pressure.known ? sample_random(&state) >> 2 : 0;
    add_jobs(batch, &state);
    add_volumes(batch, &state);
    add_processes(batch, &state);
    for (uint32_t i = 0; i < records; i++)
        add_record(batch, &state);
    for (uint32_t i = 0; i < records / 2; i++)
        add_flow(batch, &state);
    for (uint32_t i = 0; i < records / 3; i++)
        add_station(batch, &state);
    for (uint32_t i = 0; i < records / 2; i++)
        add_tree(batch, &state);
    batch->coverage = (struct coverage){.lost = sample_random(&state) >> 1,
                                        .killed = below(&state, 9),
                                        .in_flight = below(&state, 9),
                                        .unattributed = sample_random(&state) >> 9,
                                        .overflow = below(&state, 9)};
    for (unsigned i = 0; i < SHED_COUNT; i++)
        batch->coverage.shed_ms[i] = below(&state, 3) * 1000;
    must(batch_hooks(batch, hooks, (uint32_t)below(&state, 3)));
    must(batch_bypasses(batch, &bypass, (uint32_t)below(&state, 2)));
    must(batch_dropped(batch, dropped, (uint32_t)below(&state, 3)));
    return batch;
}

static bool differ(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) != 0 : a != b;
}

static bool jobs_differ(const struct job *a, const struct job *b)
{
    if (differ(a->name, b->name) || differ(a->kind, b->kind) || differ(a->user, b->user) ||
        differ(a->command, b->command) || a->label_count != b->label_count ||
        a->start_ns != b->start_ns || a->end_ns != b->end_ns || a->exit != b->exit ||
        a->watched_ns != b->watched_ns || a->exposed_ns != b->exposed_ns || memcmp(&a->gpu, &b->gpu, sizeof(a->gpu)))
        return true;
    for (uint32_t i = 0; i < a->label_count; i++)
        if (differ(a->labels[i].name, b->labels[i].name) ||
            differ(a->labels[i].value, b->labels[i].value))
            return true;
    return false;
}

static bool volumes_differ(const struct volume *a, const struct volume *b)
{
    if (differ(a->name, b->name) || differ(a->source, b->source) || differ(a->fstype, b->fstype) ||
        a->scope != b->scope || a->mount_count != b->mount_count || a->has_space != b->has_space ||
        memcmp(&a->space, &b->space, sizeof(a->space)) != 0)
        return true;
    for (uint32_t i = 0; i < a->mount_count; i++)
        if (differ(a->mounts[i], b->mounts[i]))
            return true;
    return false;
}

static bool processes_differ(const struct process *a, const struct process *b)
{
    return a->pid != b->pid || a->tid != b->tid || a->uid != b->uid || a->start_ns != b->start_ns ||
           differ(a->command, b->command) || a->job != b->job || a->exited != b->exited;
}

static bool records_differ(const struct record *a, const struct record *b)
{
    return a->job != b->job || a->volume != b->volume || a->process != b->process ||
           a->op != b->op || a->bytes != b->bytes || memcmp(a->order, b->order, sizeof(a->order)) != 0 ||
           memcmp(a->cache, b->cache, sizeof(a->cache)) != 0 || memcmp(a->faults, b->faults, sizeof(a->faults)) != 0 ||
           !histogram_equal(&a->error_codes, &b->error_codes) ||
           a->in_flight != b->in_flight || a->oldest_ns != b->oldest_ns || a->in_flight_ns != b->in_flight_ns ||
           a->errors != b->errors ||
           a->latency_sum_ns != b->latency_sum_ns || !histogram_equal(&a->size, &b->size) ||
           !histogram_equal(&a->joint, &b->joint) || !histogram_equal(&a->latency_ns, &b->latency_ns);
}

static bool stations_differ(const struct station *a, const struct station *b)
{
    return a->layer != b->layer || a->volume != b->volume || a->request != b->request || a->party != b->party ||
           a->job != b->job || !a->server != !b->server || (a->server && strcmp(a->server, b->server) != 0) ||
           a->known != b->known || a->ops != b->ops || a->bytes != b->bytes || a->errors != b->errors ||
           a->merges != b->merges || a->queue_sum_ns != b->queue_sum_ns || a->service_sum_ns != b->service_sum_ns ||
           a->in_flight != b->in_flight || !histogram_equal(&a->size, &b->size) ||
           !histogram_equal(&a->queue_ns, &b->queue_ns) || !histogram_equal(&a->service_ns, &b->service_ns) ||
           !histogram_equal(&a->depth, &b->depth);
}

static bool flows_differ(const struct flow *a, const struct flow *b)
{
    if (a->job != b->job || a->volume != b->volume || a->length != b->length ||
        (a->length && (a->first != b->first || memcmp(a->slots, b->slots, a->length * sizeof(*a->slots)) != 0)))
        return true;
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++)
        if (!histogram_equal(&a->burst[kind], &b->burst[kind]) || !histogram_equal(&a->steady[kind], &b->steady[kind]))
            return true;
    return a->in_flight_max[OP_NONE] &&
           memcmp(a->in_flight_max, b->in_flight_max, sizeof(a->in_flight_max)) != 0;
}

static bool trees_differ(const struct tree *a, const struct tree *b)
{
    if (a->job != b->job || a->volume != b->volume || differ(a->name, b->name) ||
        memcmp(a->count, b->count, sizeof(a->count)) != 0 || a->files.shift != b->files.shift ||
        a->files.count != b->files.count)
        return true;
    for (uint32_t i = 0; i < a->files.count; i++)
        if (a->files.files[i].hash != b->files.files[i].hash || a->files.files[i].bytes != b->files.files[i].bytes)
            return true;
    return false;
}

static bool coverages_differ(const struct coverage *a, const struct coverage *b)
{
    if (a->lost != b->lost || a->killed != b->killed || a->in_flight != b->in_flight ||
        a->unattributed != b->unattributed || a->overflow != b->overflow ||
        memcmp(a->shed_ms, b->shed_ms, sizeof(a->shed_ms)) != 0 ||
        a->hook_count != b->hook_count || a->bypass_count != b->bypass_count ||
        a->dropped_count != b->dropped_count)
        return true;
    for (uint32_t i = 0; i < a->hook_count; i++)
        if (differ(a->hooks[i].name, b->hooks[i].name) ||
            a->hooks[i].attached != b->hooks[i].attached ||
            differ(a->hooks[i].why, b->hooks[i].why))
            return true;
    for (uint32_t i = 0; i < a->bypass_count; i++)
        if (differ(a->bypasses[i].what, b->bypasses[i].what) ||
            differ(a->bypasses[i].device, b->bypasses[i].device) ||
            differ(a->bypasses[i].why, b->bypasses[i].why))
            return true;
    for (uint32_t i = 0; i < a->dropped_count; i++)
        if (differ(a->dropped[i].stream, b->dropped[i].stream) || differ(a->dropped[i].why, b->dropped[i].why) ||
            a->dropped[i].first != b->dropped[i].first || a->dropped[i].last != b->dropped[i].last ||
            a->dropped[i].ops != b->dropped[i].ops || a->dropped[i].start_ns != b->dropped[i].start_ns ||
            a->dropped[i].end_ns != b->dropped[i].end_ns)
            return true;
    return false;
}

const char *sample_difference(const struct batch *a, const struct batch *b)
{
    if (differ(a->cluster, b->cluster) || differ(a->node, b->node) || differ(a->role, b->role) ||
        differ(a->kernel, b->kernel) || differ(a->boot_id, b->boot_id) ||
        differ(a->stream, b->stream) || a->seq != b->seq)
        return "identity";
    if (a->start_ns != b->start_ns || a->duration_ns != b->duration_ns ||
        a->interval_ms != b->interval_ms)
        return "interval";
    if (a->pressure.known != b->pressure.known || a->pressure.some_ns != b->pressure.some_ns ||
        a->pressure.full_ns != b->pressure.full_ns)
        return "pressure";
    if (a->job_count != b->job_count || a->volume_count != b->volume_count ||
        a->process_count != b->process_count || a->record_count != b->record_count ||
        a->flow_count != b->flow_count)
        return "number of elements";
    for (uint32_t i = 0; i < a->job_count; i++)
        if (jobs_differ(&a->jobs[i], &b->jobs[i]))
            return "jobs";
    for (uint32_t i = 0; i < a->volume_count; i++)
        if (volumes_differ(&a->volumes[i], &b->volumes[i]))
            return "volumes";
    for (uint32_t i = 0; i < a->process_count; i++)
        if (processes_differ(&a->processes[i], &b->processes[i]))
            return "processes";
    for (uint32_t i = 0; i < a->record_count; i++)
        if (records_differ(&a->records[i], &b->records[i]))
            return "records";
    if (a->station_count != b->station_count)
        return "the number of stations";
    for (uint32_t i = 0; i < a->station_count; i++)
        if (stations_differ(&a->stations[i], &b->stations[i]))
            return "stations";
    for (uint32_t i = 0; i < a->flow_count; i++)
        if (flows_differ(&a->flows[i], &b->flows[i]))
            return "flows";
    if (a->tree_count != b->tree_count)
        return "the number of trees";
    for (uint32_t i = 0; i < a->tree_count; i++)
        if (trees_differ(&a->trees[i], &b->trees[i]))
            return "trees";
    return coverages_differ(&a->coverage, &b->coverage) ? "coverage" : NULL;
}
