/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seeds DIR: writes what the fuzzers start from, a folder for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/bundle.h"
#include "lib/cleanup.h"
#include "lib/codec_flow.h"
#include "lib/packed.h"
#include "lib/recording.h"
#include "tests/unit/sample.h"

#define SEEDS 40

static const char *const option_seeds[] = {
    "v250ms",
    "v10s",
    "v1.5m",
    "v7d",
    "v9223372036854775807",
    "v64K",
    "v0.000000001s",
    "f# a comment\ninterval = 10s # so long\nmemory=64M\nall\noutput = /x#y\ncount = 3\n",
    "fall = no\ninterval = 1h\ninterval = 2h\nnonsense = 1\n\n= 5\n",
    "a-i\n10s\n--memory=1G\n-an5\n--output\nx\n--\nrest",
    "a--help",
    "a--version",
    "a--all=no\n-x",
};

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *const node_seeds[] = {
    "c/kubepods/burstable/pod2b1f5c3e-8a5d-4f0e-9d53-0d6a6ce1a111/" HEX,
    "c12:memory:/slurm/uid_1/job_5/step_0\n0::/system.slice/docker-" HEX ".scope\n",
    "c/user.slice/user-1.slice/user@1.service/app.slice/x.service",
    "c/lxc.payload.x/init.scope",
    "e7 (a b) S 1 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 12345 99",
    "eA=1",
    "m1 0 8:1 / /a\\040b rw,x shared:1 - overlay overlay rw,lowerdir=/a:/b,upperdir=/c\n",
    "m2 1 0:5 / /m rw - lustre a@tcp:/fs rw\n3 1 0:6 / /n rw - fuse mountpoint-s3 rw\n",
    "lapp=\"x\\\"y\"\na=\"b\"\n",
    "j{\"Name\":\"/web\",\"Config\":{\"Labels\":{\"app\":\"x\"}}}",
    "j{\"annotations\":{\"io.kubernetes.cri-o.Labels\":\"{\\\"a\\\":\\\"b\\\"}\"}}",
    "pnamespace_pod_uid",
    "qaccount|partition|user\n",
};

static const char report_seed[] =
    "{\"schema\": \"unblend.report/1\", \"span\": {\"start\": \"2026-03-01T12:00:00Z\", \"end\": \"2026-03-01T12:05:00Z\"},"
    "\"nodes\": [{\"cluster\": \"c\", \"node\": \"n\"}], \"jobs\": [{\"job\": \"j\", \"nodes\": [\"n\"],"
    "\"ops\": {\"read\": {\"ops\": 5, \"bytes\": 4096}, \"stat\": {\"ops\": 2, \"bytes\": null}}, \"profiles\": [{\"kind\": \"pattern\","
    "\"profile\": \"losf\", \"share_ops\": 1, \"share_bytes\": 0.5, \"confidence\": null}]}],"
    "\"cluster\": {\"profiles\": [], \"effective_profiles\": 1.5}}";

/* What stands near an error of JSON is told as it is. */
static const char broken_report_seed[] = "{\"schema\": \"unblend\n.report/1\"}";

static const char *const offer_seeds[] = {
    "{\"schema\":\"unblend.platform/1\",\"nodes\":6,\"nodes_may_fail\":1,\"iops\":1300000,\"bytes_s\":18e9,"
    "\"volumes\":[\"nas:*\"],\"tiers\":[{\"name\":\"flash\",\"capacity_bytes\":1e15,\"price\":9e5}],\"converged\":true}",
    "1x,2x,losf=0.5+checkpoint=3",
};

static const char *const join_seeds[] = {
    "{\"node\": \"gpu-1\"}",
    "{\"node\": \"gpu-1\", \"cluster\": \"c1\"}",
    "{\"node\": \"\\u00e9\", \"cluster\": \"a/b\"}",
    "Bearer 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
};

static const char *const http_seeds[] = {
    "1GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n",
    "1POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\nAuthorization: Bearer "
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n\r\n{\"node\":\"abc\"}",
    "1POST /v1/batches HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Encoding: zstd\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
};

static void save(const char *root, const char *folder, int number, const char *head,
                 const void *data, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, folder);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/%s/seed-%d", root, folder, number);
    file = fopen(path, "we");
    if (!file || fputs(head, file) == EOF || fwrite(data, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: seeds DIR\n");
        return 2;
    }
    mkdir(argv[1], 0777);
    for (int i = 0; i < SEEDS; i++) {
        _cleanup_(batch_freep) struct batch *batch = sample_batch((uint64_t)i + 1, (uint32_t)i % 4);
        _cleanup_free_ char *json = NULL;
        _cleanup_free_ void *frame = NULL, *pairs = NULL, *packed = NULL;
        size_t json_size, frame_size, pairs_size, packed_size;

        if (codec_encode(batch, &json, &json_size) || frame_encode(batch, &frame, &frame_size) ||
            packed_encode(batch, &packed, &packed_size))
            return 1;
        save(argv[1], "codec", i, "", json, json_size);
        save(argv[1], "packed", i, "", packed, packed_size);
        save(argv[1], "recording", i, i % 2 ? "1" RECORDING_MAGIC : "0" RECORDING_MAGIC, frame,
             frame_size);
        save(argv[1], "bundle", i, i % 2 ? "\1" : BUNDLE_MAGIC, json, json_size);
        save(argv[1], "http", i, "0", json, json_size);
        save(argv[1], "spool", i, "\3\377", frame, frame_size);
        if (!batch->record_count)
            continue;
        pairs = codec_histogram_encode(&batch->records[0].latency_ns);
        save(argv[1], "codec", i + SEEDS, "", pairs, strlen(pairs));
        free(take_pointer(pairs));
        pairs = codec_histogram_pack(&batch->records[0].latency_ns, &pairs_size);
        save(argv[1], "codec", i + 2 * SEEDS, "", pairs, pairs_size);
        if (!batch->flow_count)
            continue;
        free(take_pointer(pairs));
        pairs = codec_slots_pack(&batch->flows[0], DEMAND_READ_BYTES, &pairs_size);
        save(argv[1], "codec", i + 3 * SEEDS, "\x3f", pairs, pairs_size);
    }
    for (size_t i = 0; i < sizeof(option_seeds) / sizeof(option_seeds[0]); i++)
        save(argv[1], "option", (int)i, "", option_seeds[i], strlen(option_seeds[i]));
    for (size_t i = 0; i < sizeof(node_seeds) / sizeof(node_seeds[0]); i++)
        save(argv[1], "node", (int)i, "", node_seeds[i], strlen(node_seeds[i]));
    for (size_t i = 0; i < sizeof(http_seeds) / sizeof(http_seeds[0]); i++)
        save(argv[1], "http", SEEDS + (int)i, "", http_seeds[i], strlen(http_seeds[i]));
    save(argv[1], "report", 0, "", report_seed, strlen(report_seed));
    save(argv[1], "report", 1, "", broken_report_seed, strlen(broken_report_seed));
    for (size_t i = 0; i < sizeof(offer_seeds) / sizeof(offer_seeds[0]); i++)
        save(argv[1], "offer", (int)i, "", offer_seeds[i], strlen(offer_seeds[i]));
    for (size_t i = 0; i < sizeof(join_seeds) / sizeof(join_seeds[0]); i++)
        save(argv[1], "join", (int)i, "", join_seeds[i], strlen(join_seeds[i]));
    return 0;
}
