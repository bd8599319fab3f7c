/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seeds DIR: writes what the fuzzers start from, a folder for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/cleanup.h"
#include "lib/codec_flow.h"
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
        _cleanup_free_ void *frame = NULL, *pairs = NULL;
        size_t json_size, frame_size, pairs_size;

        if (codec_encode(batch, &json, &json_size) || frame_encode(batch, &frame, &frame_size))
            return 1;
        save(argv[1], "codec", i, "", json, json_size);
        save(argv[1], "recording", i, i % 2 ? "1" RECORDING_MAGIC : "0" RECORDING_MAGIC, frame,
             frame_size);
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
    return 0;
}
