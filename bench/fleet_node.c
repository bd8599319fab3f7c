/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/codec.h"
#include "lib/compress.h"

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

/* Reads of large files, of which every other size jumps. */
static void add_joint(struct record *read)
{
    for (unsigned i = 0; i < read->size.length; i++) {
        const struct histogram_cell *cell = &read->size.cells[i];
        bool jumps = i % 2;

        (void)joint_add(&read->joint, JOINT_ALL, 1 + FILE_LARGE, cell->bucket, cell->count);
        if (jumps)
            (void)joint_add(&read->joint, JOINT_JUMPED, 1 + FILE_LARGE, cell->bucket, cell->count);
        read->file_size[FILE_LARGE] += cell->count;
        read->order[jumps ? ORDER_RANDOM : ORDER_CONSECUTIVE] += cell->count;
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
    if (op == OP_READ)
        add_joint(record);
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

int node_prepare(const struct settings *settings, struct node *node, uint64_t number)
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
    curl_easy_setopt(node->curl, CURLOPT_URL, settings->url);
    curl_easy_setopt(node->curl, CURLOPT_HTTPHEADER, node->headers);
    curl_easy_setopt(node->curl, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(node->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(node->curl, CURLOPT_TIMEOUT, 60L);
    if (settings->insecure) {
        curl_easy_setopt(node->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(node->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    return 0;
}

/* How many histograms are in it. */
static unsigned put_line(const struct settings *settings, struct node *node, FILE *lines)
{
    const int64_t interval_ns = (int64_t)settings->interval_ns;
    int64_t start_ns = wall_clock_ns() / interval_ns * interval_ns - interval_ns;
    _cleanup_(batch_freep) struct batch *batch = make(node, start_ns, settings->interval_ns);
    _cleanup_free_ char *json = NULL;
    unsigned histograms = 0;
    size_t size;

    if (!batch || codec_encode(batch, &json, &size) || fwrite(json, 1, size, lines) != size ||
        fputc('\n', lines) == EOF)
        abort();
    for (uint32_t i = 0; i < batch->record_count; i++)
        histograms += (batch->records[i].size.length != 0) + (batch->records[i].latency_ns.length != 0);
    return histograms;
}

struct body node_body(const struct settings *settings, struct node *node)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *lines = open_memstream(&text, &size);
    struct body body = {.histograms = 0};

    if (!lines)
        abort();
    for (uint64_t i = 0; i < settings->together; i++)
        body.histograms += put_line(settings, node, lines);
    if (fclose(lines) || compress_zstd(text, size, &body.data, &body.size))
        abort();
    return body;
}
