/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/capacity.h"
#include "analyzer/scenario.h"
#include "tests/unit/history.h"

/* Reads on a shared volume, and, where they are seen, the requests to its server that they made. */
static void add_reads(struct batch *batch, const char *name, uint64_t ops, uint64_t requests)
{
    const struct volume volume = {.name = name, .source = name, .fstype = "nfs4", .scope = SCOPE_SHARED};
    struct station key = {.layer = LAYER_NFS_CLIENT, .request = REQUEST_READ, .job = NO_INDEX}, *station;

    assert_int_equal(batch_volume(batch, &volume, &key.volume), 0);
    history_ops_on(batch, name, "j", 0, OP_READ, 4096, ops);
    if (!requests)
        return;
    assert_int_equal(batch_station(batch, &key, &station), 0);
    station->known = STATION_OPS | STATION_BYTES;
    station->ops = requests;
    station->bytes = requests * 4096;
}

/* What is asked of a platform that holds the volumes "a*", in reads a second. */
static double reads_of(const char *const *names, const uint64_t *requests, unsigned count, bool *reached)
{
    struct aggregate totals = {.grouping = GROUP_JOB};
    struct capacity_offer c;
    struct offer offer;
    double mean;

    for (int second = 0; second < 10; second++) {
        struct batch *batch = history_batch(second);

        for (unsigned i = 0; i < count; i++)
            add_reads(batch, names[i], 100, requests[i]);
        history_into(&totals, batch);
    }
    assert_int_equal(aggregate_sort(&totals), 0);
    assert_int_equal(offer_parse("{\"schema\":\"unblend.platform/1\",\"iops\":1000,\"nodes\":2,\"volumes\":[\"a*\"]}",
                                 "p", &offer), 0);
    assert_int_equal(capacity_of_offer(&totals, NULL, &offer, &c), 0);
    assert_true(c.known);
    assert_true(c.entry.demand[METRIC_READ_OPS][CAPACITY_SECOND].known);
    mean = c.entry.demand[METRIC_READ_OPS][CAPACITY_SECOND].mean;
    *reached = c.entry.reached;
    capacity_offer_clear(&c);
    offer_clear(&offer);
    aggregate_clear(&totals);
    return mean;
}

/* A volume whose requests are not seen asks for what its programs do, whatever is seen of others. */
static void no_volume_is_left_out(void **state)
{
    static const char *const names[] = {"a1", "a2", "b"};
    static const struct {
        uint64_t requests[3];
        unsigned count;
        double mean;
        bool reached;
    } cases[] = {
        {{0, 0, 0}, 2, 200, false}, {{40, 30, 0}, 2, 70, true},  {{40, 0, 0}, 2, 140, false},
        {{0, 30, 0}, 2, 130, false}, {{40, 0, 20}, 3, 140, false}, {{40, 30, 0}, 3, 70, true},
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool reached;

        assert_true(fabs(reads_of(names, cases[i].requests, cases[i].count, &reached) - cases[i].mean) < 1e-6);
        assert_int_equal(reached, cases[i].reached);
    }
}

static void add_requests(struct batch *batch, enum layer layer, uint64_t requests)
{
    struct station key = {.layer = layer, .request = REQUEST_READ, .job = NO_INDEX}, *station;

    assert_int_equal(batch_station(batch, &key, &station), 0);
    station->known = STATION_OPS;
    station->ops = requests;
}

/* Requests to an NFS server are told one by one where the kernel lets itself be watched so, and in sums on all nodes:
   each node's count once, whichever node is the first. */
static void each_node_tells_by_its_own_layer(void **state)
{
    for (int first = 0; first < 2; first++) {
        struct aggregate totals = {.grouping = GROUP_JOB};
        uint64_t requests = 0;

        for (int i = 0; i < 20; i++) {
            const bool watched = i % 2 == first;
            struct batch *batch = history_batch(i / 2);

            assert_int_equal(batch_set(batch, &batch->node, watched ? "n1" : "n2"), 0);
            add_reads(batch, "a", 100, 0);
            if (watched)
                add_requests(batch, LAYER_NFS_CLIENT, 40);
            add_requests(batch, LAYER_MOUNTSTATS, watched ? 40 : 7);
            history_into(&totals, batch);
        }
        assert_int_equal(totals.volume_count, 1);
        for (uint32_t i = 0; i < totals.volumes[0].reached.length; i++)
            requests += totals.volumes[0].reached.slots[i].demand[DEMAND_READ_OPS];
        assert_int_equal(requests, 10 * (40 + 7));
        aggregate_clear(&totals);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_volume_is_left_out),
        cmocka_unit_test(each_node_tells_by_its_own_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
