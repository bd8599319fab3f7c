/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet: a collector's clients. So many nodes, each with a connection of its own that is kept alive, a token and a
 * stream, send a batch of 20 histograms an interval, spread evenly over it; the latency of every answer counts from
 * when the batch was due. Node N has the name "nN" and the token of 64 digits that is N in hexadecimal.
 *
 *     fleet --url URL --nodes N --interval TIME --duration TIME [--threads N] [--together N] [--ahead] [--storm]
 *           [--insecure]
 *
 * --together: so many batches in a body, as agents send them that are behind.
 * --ahead: the batches are made before the clock starts, so that what is measured is the collector.
 * --storm: all nodes connect and shake hands, at most --threads at a time, and send one batch each; who is not served
 * comes again. The latency is that from the beginning to the answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/fleet.h"
#include "lib/clock.h"
#include "lib/option.h"

#define FILES_A_NODE 3 /* its connection, and what libcurl wakes itself by */

struct worker {
    pthread_t thread;
    const struct settings *settings;
    struct node *nodes;
    uint64_t count, first;
    const int64_t *begin_ns; /* monotonic; there when the gates have opened */
    pthread_barrier_t *made, *gates;
    struct tally tally;
};

static void send_body(struct worker *worker, struct node *node, const struct body *body, int64_t due_ns)
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
    (void)histogram_add(&tally->latency, (uint64_t)(monotonic_ns() - due_ns), 1);
    tally->status[status > 0 && status < STATUSES ? status : 0]++;
    tally->sent_bytes += body->size;
    tally->batches += worker->settings->together;
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
            node->bodies[round] = node_body(worker->settings, node, &worker->tally);
    }
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct settings *s = worker->settings;
    uint64_t rounds = s->duration_ns / s->interval_ns;

    if (s->ahead)
        make_ahead(worker, rounds);
    pthread_barrier_wait(worker->made);
    pthread_barrier_wait(worker->gates);
    for (uint64_t round = 0; round < rounds; round++)
        for (uint64_t i = 0; i < worker->count; i++) {
            struct node *node = &worker->nodes[i];
            int64_t due = *worker->begin_ns + (int64_t)(round * s->interval_ns) +
                          (int64_t)(s->interval_ns / s->nodes * (worker->first + i * s->threads));
            struct body body;

            wait_until(due);
            body = s->ahead ? node->bodies[round] : node_body(s, node, &worker->tally);
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

/* Threads of nodes; what they did, since when, and the processor time before. */
static int run(const struct settings *s, struct tally *tally, int64_t *begin, double *cpu)
{
    struct worker *workers = calloc(s->threads, sizeof(*workers));
    pthread_barrier_t made, gates;

    if (!workers || pthread_barrier_init(&made, NULL, (unsigned)s->threads + 1) ||
        pthread_barrier_init(&gates, NULL, (unsigned)s->threads + 1))
        return 1;
    for (uint64_t t = 0; t < s->threads; t++) {
        struct worker *worker = &workers[t];

        *worker = (struct worker){.settings = s,
                                  .count = (s->nodes - t + s->threads - 1) / s->threads,
                                  .first = t,
                                  .begin_ns = begin,
                                  .made = &made,
                                  .gates = &gates};
        worker->nodes = calloc(worker->count, sizeof(*worker->nodes));
        for (uint64_t i = 0; worker->nodes && i < worker->count; i++)
            if (node_prepare(s, &worker->nodes[i], t + i * s->threads))
                return 1;
        if (!worker->nodes || pthread_create(&worker->thread, NULL, work, worker))
            return 1;
    }
    pthread_barrier_wait(&made);
    *begin = monotonic_ns() + 100000000;
    *cpu = cpu_s();
    pthread_barrier_wait(&gates);
    for (uint64_t t = 0; t < s->threads; t++) {
        pthread_join(workers[t].thread, NULL);
        add(tally, &workers[t].tally);
    }
    return 0;
}

static int run_storm(const struct settings *s, struct tally *tally, int64_t *begin, double *cpu)
{
    struct node *nodes = calloc(s->nodes, sizeof(*nodes));

    for (uint64_t i = 0; nodes && i < s->nodes; i++)
        if (node_prepare(s, &nodes[i], i))
            return 1;
    for (uint64_t i = 0; nodes && i < s->nodes; i++) {
        struct body body = node_body(s, &nodes[i], tally);

        curl_easy_setopt(nodes[i].curl, CURLOPT_POSTFIELDS, body.data);
        curl_easy_setopt(nodes[i].curl, CURLOPT_POSTFIELDSIZE, (long)body.size);
        tally->sent_bytes += body.size;
    }
    *begin = monotonic_ns();
    *cpu = cpu_s();
    return nodes ? storm(s, nodes, tally) : 1;
}

/* Root may have more of them than it was given. */
static void allow_descriptors(uint64_t number)
{
    struct rlimit files = {.rlim_cur = number, .rlim_max = number};

    if (setrlimit(RLIMIT_NOFILE, &files) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < number)
        fprintf(stderr, "fleet: %" PRIu64 " files may be open, and all nodes need %" PRIu64 "\n",
                (uint64_t)files.rlim_cur, number);
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
        {"threads", 0, OPTION_COUNT, "N", &s.threads, "requests under way at most"},
        {"together", 0, OPTION_COUNT, "N", &s.together, "batches in a body"},
        {"ahead", 0, OPTION_FLAG, NULL, &s.ahead, "make the batches before the clock starts"},
        {"storm", 0, OPTION_FLAG, NULL, &s.storm, "one batch of each, all at once"},
        {"insecure", 0, OPTION_FLAG, NULL, &s.insecure, "take any certificate"},
    };
    const struct option_program program = {"fleet", "[OPTION...]", "Plays a fleet of nodes.", options,
                                           sizeof(options) / sizeof(*options), NULL};
    struct tally tally = {.batches = 0};
    double cpu = 0;
    int64_t begin = 0;
    int first;

    if (option_parse(&program, argc, argv, &first))
        return 2;
    if (!s.url || !s.nodes || !s.threads || !s.interval_ns || !s.together) {
        fprintf(stderr, "fleet: --url is needed, and numbers above 0\n");
        return 2;
    }
    if (s.threads > s.nodes)
        s.threads = s.nodes;
    allow_descriptors(s.nodes * FILES_A_NODE + 64);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (s.storm ? run_storm(&s, &tally, &begin, &cpu) : run(&s, &tally, &begin, &cpu))
        return 1;
    print(&s, &tally, (double)(monotonic_ns() - begin) / 1e9, cpu_s() - cpu);
    return 0;
}
