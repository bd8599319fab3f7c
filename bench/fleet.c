/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet: a collector's clients. So many nodes, each with a connection of its own that is kept alive, a token and a
 * stream, send a batch of 20 histograms an interval, spread evenly over it; the latency of every answer counts from
 * when the batch was due. Node N has the name "nN" and the token of 64 digits that is N in hexadecimal.
 *
 *     fleet --url URL --nodes N --interval TIME --duration TIME [--threads N] [--storm] [--insecure]
 *
 * --storm: all nodes connect at once and shake hands, and send one batch each.
 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/codec.h"
#include "lib/compress.h"
#include "lib/option.h"

#define STATUSES 600

struct settings {
    const char *url;
    uint64_t nodes, interval_ns, duration_ns, threads;
    bool storm, insecure;
};

struct node {
    CURL *curl;
    struct curl_slist *headers;
    uint64_t number, seq, state; /* of random numbers */
    char stream[33];
};

struct worker {
    pthread_t thread;
    const struct settings *settings;
    struct node *nodes;
    uint64_t count, first;
    int64_t begin_ns; /* monotonic */
    struct histogram latency;
    uint64_t status[STATUSES], sent_bytes, batches, histograms;
};

static uint64_t random_of(struct node *node)
{
    node->state ^= node->state << 13;
    node->state ^= node->state >> 7;
    node->state ^= node->state << 17;
    return node->state;
}

/* Roughly log-normal: a sum of evenly spread numbers, in octaves. */
static void fill(struct node *node, struct histogram *h, unsigned octave, unsigned spread, unsigned values)
{
    for (unsigned i = 0; i < values; i++) {
        uint64_t r = random_of(node);
        unsigned at =
            (unsigned)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff)) * spread * BUCKET_SUB / 3 / 65536;

        (void)histogram_add_bucket(h, octave * BUCKET_SUB + at, 1 + (r >> 60));
    }
}

static int add_record(struct node *node, struct batch *batch, uint32_t job, uint32_t volume, enum operation op)
{
    struct record *record;
    int err = batch_record(batch, job, volume, NO_INDEX, op, &record);

    if (err)
        return err;
    fill(node, &record->latency_ns, op == OP_READ || op == OP_WRITE ? 10 : 9, 4, 40);
    record->latency_sum_ns = histogram_count(&record->latency_ns) * 9000;
    if (op == OP_READ || op == OP_WRITE || op == OP_OPEN || op == OP_BLOCK_WRITE)
        fill(node, &record->size, 12, 1, 6);
    record->bytes = op == OP_OPEN ? 0 : histogram_count(&record->size) * 5000;
    return 0;
}

/* Two jobs on a shared volume, and the device below: 13 series, 20 histograms. */
static struct batch *make(struct node *node, int64_t start_ns, uint64_t interval_ns)
{
    static const enum operation ops[] = {OP_READ, OP_WRITE, OP_OPEN, OP_CLOSE, OP_STAT, OP_FSYNC};
    const char *const mounts[] = {"/data"};
    const struct volume volumes[] = {
        {.name = "/data", .source = "server:/data", .fstype = "nfs4", .scope = SCOPE_SHARED, .mounts = mounts,
         .mount_count = 1},
        {.name = "nvme0n1", .source = "nvme0n1", .fstype = "block", .scope = SCOPE_LOCAL},
    };
    struct batch *batch;
    char name[32], job_name[32];
    uint32_t index;

    if (batch_new(&batch))
        return NULL;
    snprintf(name, sizeof(name), "n%" PRIu64, node->number);
    batch_set(batch, &batch->cluster, "bench");
    batch_set(batch, &batch->node, name);
    batch_set(batch, &batch->role, "client");
    batch_set(batch, &batch->kernel, "6.12.0");
    batch_set(batch, &batch->boot_id, "b007");
    batch_set(batch, &batch->stream, node->stream);
    batch->seq = node->seq++;
    batch->start_ns = start_ns;
    batch->duration_ns = interval_ns;
    batch->interval_ms = (uint32_t)(interval_ns / 1000000);
    for (unsigned i = 0; i < 2; i++)
        batch_volume(batch, &volumes[i], &index);
    for (uint32_t j = 0; j < 2; j++) {
        struct job job = {.name = job_name, .kind = "slurm", .user = "ann", .command = "python3", .exit = -1};

        snprintf(job_name, sizeof(job_name), "slurm:%" PRIu64, 1000 + node->number / 16 * 2 + j);
        batch_job(batch, &job, &index);
        for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops); i++)
            if (add_record(node, batch, j, 0, ops[i]))
                goto failed;
    }
    if (!add_record(node, batch, 0, 1, OP_BLOCK_WRITE))
        return batch;
failed:
    batch_free(batch);
    return NULL;
}

static size_t discard(char *data, size_t size, size_t count, void *context)
{
    return size * count;
}

static int prepare(struct worker *worker, struct node *node, uint64_t number)
{
    char header[128];

    node->number = number;
    node->state = number * 0x9e3779b97f4a7c15 + (uint64_t)wall_clock_ns();
    snprintf(node->stream, sizeof(node->stream), "%016" PRIx64 "%016" PRIx64, random_of(node), number);
    node->curl = curl_easy_init();
    snprintf(header, sizeof(header), "Authorization: Bearer %064" PRIx64, number);
    node->headers = curl_slist_append(NULL, header);
    node->headers = curl_slist_append(node->headers, "Content-Encoding: zstd");
    node->headers = curl_slist_append(node->headers, "Expect:");
    if (!node->curl || !node->headers)
        return -ENOMEM;
    curl_easy_setopt(node->curl, CURLOPT_URL, worker->settings->url);
    curl_easy_setopt(node->curl, CURLOPT_HTTPHEADER, node->headers);
    curl_easy_setopt(node->curl, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(node->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(node->curl, CURLOPT_TIMEOUT, 60L);
    if (worker->settings->insecure) {
        curl_easy_setopt(node->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(node->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    return 0;
}

static void send_one(struct worker *worker, struct node *node, int64_t due_ns)
{
    const uint64_t interval_ns = worker->settings->interval_ns;
    int64_t start_ns = wall_clock_ns() / (int64_t)interval_ns * (int64_t)interval_ns - (int64_t)interval_ns;
    _cleanup_(batch_freep) struct batch *batch = make(node, start_ns, interval_ns);
    _cleanup_free_ char *json = NULL;
    _cleanup_free_ void *body = NULL;
    size_t size;
    long status = 0;

    if (!batch || codec_encode(batch, &json, &size) || compress_zstd(json, size, &body, &size))
        abort();
    for (uint32_t i = 0; i < batch->record_count; i++)
        worker->histograms += (batch->records[i].size.length != 0) + (batch->records[i].latency_ns.length != 0);
    curl_easy_setopt(node->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(node->curl, CURLOPT_POSTFIELDSIZE, (long)size);
    if (curl_easy_perform(node->curl) == CURLE_OK)
        curl_easy_getinfo(node->curl, CURLINFO_RESPONSE_CODE, &status);
    (void)histogram_add(&worker->latency, (uint64_t)(monotonic_ns() - due_ns), 1);
    worker->status[status > 0 && status < STATUSES ? status : 0]++;
    worker->sent_bytes += size;
    worker->batches++;
}

static void wait_until(int64_t ns)
{
    const struct timespec at = {ns / 1000000000, ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct settings *s = worker->settings;
    uint64_t rounds = s->storm ? 1 : s->duration_ns / s->interval_ns;

    for (uint64_t round = 0; round < rounds; round++)
        for (uint64_t i = 0; i < worker->count; i++) {
            int64_t due = worker->begin_ns + (int64_t)(round * s->interval_ns);

            if (!s->storm)
                due += (int64_t)(s->interval_ns / s->nodes * (worker->first + i * s->threads));
            wait_until(due);
            send_one(worker, &worker->nodes[i], due);
        }
    return NULL;
}

static void print(const struct settings *s, const struct worker *workers, double seconds)
{
    struct histogram latency = {.cells = NULL};
    uint64_t bytes = 0, batches = 0, histograms = 0, q[3] = {0}, max = 0;
    struct rusage usage;

    for (uint64_t i = 0; i < s->threads; i++) {
        (void)histogram_merge(&latency, &workers[i].latency);
        bytes += workers[i].sent_bytes;
        batches += workers[i].batches;
        histograms += workers[i].histograms;
    }
    histogram_quantile(&latency, 0.5, false, &q[0]);
    histogram_quantile(&latency, 0.95, false, &q[1]);
    histogram_quantile(&latency, 0.99, false, &q[2]);
    histogram_max(&latency, &max);
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"nodes\":%" PRIu64 ",\"seconds\":%.2f,\"batches\":%" PRIu64 ",\"batches_s\":%.1f,"
           "\"wire_bytes_histogram\":%.1f,\"wire_bytes_batch\":%.1f,\"histograms\":%" PRIu64 ","
           "\"answer_ms\":{\"p50\":%.1f,\"p95\":%.1f,\"p99\":%.1f,\"max\":%.1f},\"own_cpu_s\":%.2f,\"status\":{",
           s->nodes, seconds, batches, (double)batches / seconds, (double)bytes / (double)histograms,
           (double)bytes / (double)batches, histograms, (double)q[0] / 1e6, (double)q[1] / 1e6, (double)q[2] / 1e6,
           (double)max / 1e6,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    for (unsigned status = 0, any = 0; status < STATUSES; status++) {
        uint64_t count = 0;

        for (uint64_t i = 0; i < s->threads; i++)
            count += workers[i].status[status];
        if (count)
            printf("%s\"%u\":%" PRIu64, any++ ? "," : "", status, count);
    }
    printf("}}\n");
    histogram_clear(&latency);
}

int main(int argc, char **argv)
{
    struct settings s = {.nodes = 1000, .interval_ns = 10000000000, .duration_ns = 60000000000, .threads = 64};
    const struct option_spec options[] = {
        {"url", 0, OPTION_STRING, "URL", &s.url, "the collector's /v1/batches"},
        {"nodes", 0, OPTION_COUNT, "N", &s.nodes, "how many"},
        {"interval", 0, OPTION_DURATION, "TIME", &s.interval_ns, "a batch of each so often"},
        {"duration", 0, OPTION_DURATION, "TIME", &s.duration_ns, "for how long"},
        {"threads", 0, OPTION_COUNT, "N", &s.threads, "requests under way at most"},
        {"storm", 0, OPTION_FLAG, NULL, &s.storm, "one batch of each, all at once"},
        {"insecure", 0, OPTION_FLAG, NULL, &s.insecure, "take any certificate"},
    };
    const struct option_program program = {"fleet", "[OPTION...]", "Plays a fleet of nodes.", options,
                                           sizeof(options) / sizeof(*options), NULL};
    struct rlimit files = {.rlim_cur = 0};
    struct worker *workers;
    int64_t begin;
    int first;

    if (option_parse(&program, argc, argv, &first))
        return 2;
    if (!s.url || !s.nodes || !s.threads || !s.interval_ns) {
        fprintf(stderr, "fleet: --url is needed, and numbers above 0\n");
        return 2;
    }
    if (s.threads > s.nodes)
        s.threads = s.nodes;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    workers = calloc(s.threads, sizeof(*workers));
    if (!workers)
        return 1;
    for (uint64_t t = 0; t < s.threads; t++) {
        struct worker *worker = &workers[t];

        worker->settings = &s;
        worker->first = t;
        worker->count = (s.nodes - t + s.threads - 1) / s.threads;
        worker->nodes = calloc(worker->count, sizeof(*worker->nodes));
        for (uint64_t i = 0; worker->nodes && i < worker->count; i++)
            if (prepare(worker, &worker->nodes[i], t + i * s.threads))
                return 1;
        if (!worker->nodes)
            return 1;
    }
    begin = monotonic_ns() + 100000000;
    for (uint64_t t = 0; t < s.threads; t++) {
        workers[t].begin_ns = begin;
        if (pthread_create(&workers[t].thread, NULL, work, &workers[t]))
            return 1;
    }
    for (uint64_t t = 0; t < s.threads; t++)
        pthread_join(workers[t].thread, NULL);
    print(&s, workers, (double)(monotonic_ns() - begin) / 1e9);
    return 0;
}
