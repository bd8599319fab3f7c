/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests at block devices, at the servers of file systems, and at our own. Part of the ABI of probe/bpf/abi.h. */
#ifndef UNBLEND_PROBE_STATIONABI_H
#define UNBLEND_PROBE_STATIONABI_H

#include "probe/bpf/abi.h"

#define ABI_SETTLED 1

/* A request on its way through the block layer; the key is the request's address. */
struct abi_request {
    uint64_t start_ns; /* when the device got it; 0 before; ABI_SETTLED: nobody saw its end, and that was said */
    uint64_t queue_ns; /* before: when it was put into the scheduler's queue; since: for how long it was there; 0: never */
    uint32_t bytes;    /* completed so far */
    uint32_t rest;     /* bytes that the last completion has left */
    uint32_t job;
    uint32_t party; /* job, or one of ABI_PARTY_ */
};

/*
 * What the storage side sees: requests by station, kind and party. The kinds are those of lib/station.h. Written by
 * any CPU, with atomics.
 */
#define ABI_STATION_BLOCK      0
#define ABI_STATION_FUSE       1
#define ABI_STATION_NFS_CLIENT 2
#define ABI_STATION_NFS_SERVER 3

#define ABI_REQUEST_ALL      0
#define ABI_REQUEST_READ     1
#define ABI_REQUEST_WRITE    2
#define ABI_REQUEST_FLUSH    3
#define ABI_REQUEST_DISCARD  4
#define ABI_REQUEST_METADATA 5

/* Parties that are no job: no job is known, and the kernel. */
#define ABI_PARTY_UNKNOWN   0u
#define ABI_PARTY_WRITEBACK 0xfffffffeu
#define ABI_PARTY_KERNEL    0xfffffffdu

struct abi_station_key {
    uint64_t volume;
    uint32_t party;
    uint16_t layer, request;
};

#define ABI_REQUEST_BUCKETS BUCKETS_FOR_BITS(32) /* bytes of a request */
#define ABI_WAIT_BUCKETS    BUCKETS_FOR_BITS(40) /* ns: 18 minutes */

/* Requests of any kind (ABI_REQUEST_ALL) have begun, ended and, as size, their depth only; the others have not. */
struct abi_station {
    uint64_t ops, bytes, errors, merges;
    uint64_t queue_sum_ns, service_sum_ns;
    uint64_t begun, ended;
    uint32_t size[ABI_REQUEST_BUCKETS];
    uint32_t queue[ABI_WAIT_BUCKETS];
    uint32_t service[ABI_WAIT_BUCKETS];
};

/* A request to a file system's server, or of one at it; the key is the address of what the kernel keeps of it. */
struct abi_remote {
    uint64_t start_ns;
    uint64_t volume; /* ABI_VOLUME_NONE: not known so far */
    uint64_t bytes;  /* moved so far */
    uint32_t party;
    uint16_t layer;   /* ABI_STATION_ */
    uint8_t request;  /* ABI_REQUEST_ */
    uint8_t failed;
};

#endif
