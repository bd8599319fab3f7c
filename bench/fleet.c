/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet: a collector's clients. So many nodes, each with a connection of its own that is kept alive, a token and a
 * stream, send a batch of 20 histograms an interval, spread evenly over it; the latency of every answer counts from
 * when the batch was due. Node N has the name "nN" and the token of 64 digits that is N in hexadecimal.
 *
 *     fleet --url URL --nodes N --interval TIME --duration TIME [--warm-up TIME] [--threads N] [--together N]
 *           [--ahead] [--storm] [--insecure]
 *
 * --warm-up: what is due before that is sent and not counted; the duration begins there.
 * --together: so many batches in a body, as agents send them that are behind.
 * --ahead: the batches are made before the clock starts, so that what is measured is the collector.
 * --storm: all nodes connect and shake hands at once, each in a thread of its own, and send one batch; who is not
 * served comes again. The latency is that from the beginning to the answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fleet.h"
#include "lib/bucket.h"
#include "lib/clock.h"
#include "lib/option.h"

#define COME_AGAIN_NS 2000000000 /* at least, to twice as long */
#define STACK_BYTES   (128u << 10) /* there may be ten thousand threads */
#define FILES_SPARE   64
#define FILES_A_NODE  4 /* its connection, and what libcurl wakes itself by */

struct worker {
    pthread_t thread;
    const struct settings *settings;
    struct node *nodes;
    uint64_t count;
    const struct shared *shared;
    pthread_barrier_t *made, *gates;
    struct tally tally;
};

/* Of processes: one may not have as many files open as a fleet needs. */
struct shared {
    pthread_barrier_t made;
    int64_t begin_ns; /* monotonic; there when the gates have opened */
    struct part {
        struct tally tally;
        struct histogram_cell latency[BUCKET_COUNT]; /* the tally's */
        double cpu_s;
        bool is_done;
    } parts[];
};

/* The status, or 0: no answer came. */
static long send_body(struct worker *worker, struct node *node, const struct body *body, int64_t due_ns)
{
    struct tally *tally = &worker->tally;
    CURLcode result;
    long status = 0;

    curl_easy_setopt(node->curl, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(node->curl, CURLOPT_POSTFIELDSIZE, (long)body->size);
    result = curl_easy_perform(node->curl);
    if (result == CURLE_OK)
        curl_easy_getinfo(node->curl, CURLINFO_RESPONSE_CODE, &status);
    else if (!tally->status[0])
        fprintf(stderr, "fleet: %s\n", curl_easy_strerror(result));
    if (due_ns < worker->shared->begin_ns + (int64_t)worker->settings->warm_up_ns)
        return status;
    tally->status[status > 0 && status < STATUSES ? status : 0]++;
    if (worker->settings->storm && status != 200)
        return status;
    (void)histogram_add(&tally->latency, (uint64_t)(monotonic_ns() - due_ns), 1);
    tally->sent_bytes += body->size;
    tally->histograms += body->histograms;
    tally->batches += worker->settings->together;
    return status;
}

static void wait_until(int64_t ns)
{
    const struct timespec at = {ns / 1000000000, ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void make_ahead(struct worker *worker, uint64_t rounds)
{
    for (uint64_t i = 0; i < worker->count; i++) {
        struct node *node = &worker->nodes[i];

        node->bodies = calloc(rounds, sizeof(*node->bodies));
        if (!node->bodies)
            abort();
        for (uint64_t round = 0; round < rounds; round++)
            node->bodies[round] = node_body(worker->settings, node);
    }
}

/* Nobody comes again at the same moment as all others. */
static void come_in(struct worker *worker, struct node *node)
{
    wait_until(worker->shared->begin_ns);
    while (send_body(worker, node, node->bodies, worker->shared->begin_ns) != 200)
        wait_until(monotonic_ns() + COME_AGAIN_NS + random() % COME_AGAIN_NS);
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct settings *s = worker->settings;
    uint64_t rounds = s->storm ? 1 : (s->warm_up_ns + s->duration_ns) / s->interval_ns;

    if (s->ahead || s->storm)
        make_ahead(worker, rounds);
    pthread_barrier_wait(worker->made);
    pthread_barrier_wait(worker->gates);
    if (s->storm) {
        come_in(worker, worker->nodes);
        return NULL;
    }
    for (uint64_t round = 0; round < rounds; round++)
        for (uint64_t i = 0; i < worker->count; i++) {
            struct node *node = &worker->nodes[i];
            int64_t due = worker->shared->begin_ns + (int64_t)(round * s->interval_ns) +
                          (int64_t)(s->interval_ns / s->nodes * node->number);
            struct body body;

            wait_until(due);
            body = s->ahead ? node->bodies[round] : node_body(s, node);
            send_body(worker, node, &body, due);
            free(body.data);
        }
    return NULL;
}

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void add(struct tally *to, const struct tally *from)
{
    (void)histogram_merge(&to->latency, &from->latency);
    to->sent_bytes += from->sent_bytes;
    to->batches += from->batches;
    to->histograms += from->histograms;
    for (unsigned status = 0; status < STATUSES; status++)
        to->status[status] += from->status[status];
}

static void print(const struct settings *s, const struct tally *tally, double seconds, double cpu)
{
    uint64_t q[3] = {0}, max = 0;

    histogram_quantile(&tally->latency, 0.5, false, &q[0]);
    histogram_quantile(&tally->latency, 0.95, false, &q[1]);
    histogram_quantile(&tally->latency, 0.99, false, &q[2]);
    histogram_max(&tally->latency, &max);
    printf("{\"nodes\":%" PRIu64 ",\"seconds\":%.2f,\"batches\":%" PRIu64 ",\"batches_s\":%.1f,"
           "\"wire_bytes_histogram\":%.1f,\"wire_bytes_batch\":%.1f,\"histograms\":%" PRIu64 ","
           "\"answer_ms\":{\"p50\":%.1f,\"p95\":%.1f,\"p99\":%.1f,\"max\":%.1f},\"own_cpu_s\":%.2f,\"status\":{",
           s->nodes, seconds, tally->batches, (double)tally->batches / seconds,
           (double)tally->sent_bytes / (double)tally->histograms, (double)tally->sent_bytes / (double)tally->batches,
           tally->histograms, (double)q[0] / 1e6, (double)q[1] / 1e6, (double)q[2] / 1e6, (double)max / 1e6, cpu);
    for (unsigned status = 0, any = 0; status < STATUSES; status++)
        if (tally->status[status])
            printf("%s\"%u\":%" PRIu64, any++ ? "," : "", status, tally->status[status]);
    printf("}}\n");
}

/* Every so manieth node, in threads. 0, or 1 with nothing said. */
static int run(const struct settings *s, struct shared *shared, uint64_t part, uint64_t parts)
{
    uint64_t nodes = (s->nodes - part + parts - 1) / parts, threads = (s->threads + parts - 1) / parts;
    struct worker *workers = calloc(threads, sizeof(*workers));
    pthread_barrier_t made, gates;
    pthread_attr_t small;
    double cpu;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    if (threads > nodes)
        threads = nodes;
    if (!workers || pthread_barrier_init(&made, NULL, (unsigned)threads + 1) ||
        pthread_barrier_init(&gates, NULL, (unsigned)threads + 1))
        return 1;
    for (uint64_t t = 0; t < threads; t++) {
        struct worker *worker = &workers[t];

        *worker = (struct worker){.settings = s,
                                  .count = (nodes - t + threads - 1) / threads,
                                  .shared = shared,
                                  .made = &made,
                                  .gates = &gates};
        worker->nodes = calloc(worker->count, sizeof(*worker->nodes));
        for (uint64_t i = 0; worker->nodes && i < worker->count; i++)
            if (node_prepare(s, &worker->nodes[i], part + parts * (t + i * threads)))
                return 1;
        if (!worker->nodes || pthread_create(&worker->thread, &small, work, worker))
            return 1;
    }
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&shared->made);
    shared->begin_ns = monotonic_ns() + 100000000; /* of the last to write, to a microsecond */
    pthread_barrier_wait(&shared->made);
    cpu = cpu_s();
    pthread_barrier_wait(&gates);
    for (uint64_t t = 0; t < threads; t++) {
        pthread_join(workers[t].thread, NULL);
        add(&shared->parts[part].tally, &workers[t].tally);
    }
    memcpy(shared->parts[part].latency, shared->parts[part].tally.latency.cells,
           shared->parts[part].tally.latency.length * sizeof(struct histogram_cell));
    shared->parts[part].cpu_s = cpu_s() - cpu;
    shared->parts[part].is_done = true;
    return 0;
}

/* As many processes as it takes for all nodes to be connected at once; root may have more files than it was given. */
static uint64_t count_parts(uint64_t nodes)
{
    uint64_t files = nodes * FILES_A_NODE + FILES_SPARE;
    struct rlimit limit = {.rlim_cur = files, .rlim_max = files};

    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return 1;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur <= FILES_SPARE ? nodes : files / (limit.rlim_cur - FILES_SPARE) + 1;
}

static int run_parts(const struct settings *s)
{
    const uint64_t parts = count_parts(s->nodes);
    struct shared *shared = mmap(NULL, sizeof(*shared) + parts * sizeof(*shared->parts), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static struct tally tally;
    pthread_barrierattr_t between;
    double cpu = 0;

    if (shared == MAP_FAILED)
        return 1;
    pthread_barrierattr_init(&between);
    pthread_barrierattr_setpshared(&between, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->made, &between, (unsigned)parts);
    for (uint64_t part = 0; part < parts; part++)
        if (fork() == 0)
            _exit(run(s, shared, part, parts));
    while (wait(NULL) > 0)
        ;
    for (uint64_t part = 0; part < parts; part++) {
        if (!shared->parts[part].is_done)
            return 1;
        shared->parts[part].tally.latency.cells = shared->parts[part].latency;
        add(&tally, &shared->parts[part].tally);
        cpu += shared->parts[part].cpu_s;
    }
    print(s, &tally, (double)(monotonic_ns() - shared->begin_ns - (int64_t)s->warm_up_ns) / 1e9, cpu);
    return 0;
}

int main(int argc, char **argv)
{
    struct settings s = {
        .nodes = 1000, .interval_ns = 10000000000, .duration_ns = 60000000000, .threads = 64, .together = 1};
    const struct option_spec options[] = {
        {"url", 0, OPTION_STRING, "URL", &s.url, "the collector's /v1/batches"},
        {"nodes", 0, OPTION_COUNT, "N", &s.nodes, "how many"},
        {"interval", 0, OPTION_DURATION, "TIME", &s.interval_ns, "a batch of each so often"},
        {"duration", 0, OPTION_DURATION, "TIME", &s.duration_ns, "for how long"},
        {"warm-up", 0, OPTION_DURATION, "TIME", &s.warm_up_ns, "what is due before that is not counted"},
        {"threads", 0, OPTION_COUNT, "N", &s.threads, "requests under way at most"},
        {"together", 0, OPTION_COUNT, "N", &s.together, "batches in a body"},
        {"ahead", 0, OPTION_FLAG, NULL, &s.ahead, "make the batches before the clock starts"},
        {"storm", 0, OPTION_FLAG, NULL, &s.storm, "one batch of each, all at once"},
        {"insecure", 0, OPTION_FLAG, NULL, &s.insecure, "take any certificate"},
    };
    const struct option_program program = {"fleet", "[OPTION...]", "Plays a fleet of nodes.", options,
                                           sizeof(options) / sizeof(*options), NULL, NULL};
    int first;

    if (option_parse(&program, argc, argv, &first))
        return 2;
    if (!s.url || !s.nodes || !s.threads || !s.interval_ns || !s.together) {
        fprintf(stderr, "fleet: --url is needed, and numbers above 0\n");
        return 2;
    }
    if (s.threads > s.nodes || s.storm)
        s.threads = s.nodes;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (run_parts(&s)) {
        fprintf(stderr, "fleet: out of memory, or of threads\n");
        return 1;
    }
    return 0;
}
