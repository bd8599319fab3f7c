/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of fleet. */
#ifndef UNBLEND_BENCH_FLEET_H
#define UNBLEND_BENCH_FLEET_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/histogram.h"

#define STATUSES 600 /* 0: no answer came */

struct settings {
    const char *url;
    uint64_t nodes, interval_ns, warm_up_ns, duration_ns, threads, together;
    bool ahead, storm, insecure;
};

struct body {
    void *data;
    size_t size;
    unsigned histograms;
};

struct node {
    CURL *curl;
    struct curl_slist *headers;
    uint64_t number, seq, state; /* of random numbers */
    char stream[33];
    struct body *bodies; /* made ahead, one a round */
};

/* What came of it. */
struct tally {
    struct histogram latency; /* ns */
    uint64_t status[STATUSES], sent_bytes, batches, histograms;
};

/* 0 or -ENOMEM. */
int node_prepare(const struct settings *settings, struct node *node, uint64_t number);

/* The body with the node's next batches; ends the program without memory. */
struct body node_body(const struct settings *settings, struct node *node);

#endif
