/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/slots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probe/sparse.h"

static_assert(FLOW_SLOT_MS * 1000000ULL == ABI_SLOT_NS, "slots have one length");

/* The clocks drift apart by less than this before the slots are aligned anew. */
#define DRIFT_NS 1000000

/* What of a row has been added already, and its list of finished slots. */
struct seen {
    uint64_t bytes;
    uint32_t ops;
    uint32_t octave[ABI_OCTAVES];
    uint32_t first, last; /* of nodes; 0: none */
};

struct node {
    struct abi_slot slot;
    uint32_t next;
};

struct slots {
    struct ring_buffer *ring;
    int phase_map;
    struct sparse seen; /* struct seen, by row */
    struct node *nodes; /* [0] is not used */
    uint32_t node_count, node_capacity, free;
    int64_t mono_to_wall_ns;
    int err; /* a slot could not be kept */
};

static struct seen *seen_of(const struct slots *slots, uint32_t row)
{
    return (struct seen *)slots->seen.memory + row;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Tells the kernel side where slots begin; again when the wall clock was set. */
static int align(struct slots *slots)
{
    int64_t offset = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    uint32_t zero = 0;
    uint64_t phase;

    if (slots->mono_to_wall_ns && llabs(offset - slots->mono_to_wall_ns) < DRIFT_NS)
        return 0;
    phase = (ABI_SLOT_NS - (uint64_t)offset % ABI_SLOT_NS) % ABI_SLOT_NS;
    if (bpf_map_update_elem(slots->phase_map, &zero, &phase, BPF_ANY))
        return -errno;
    slots->mono_to_wall_ns = offset;
    return 0;
}

static uint32_t new_node(struct slots *slots)
{
    uint32_t index = slots->free;

    if (index) {
        slots->free = slots->nodes[index].next;
        return index;
    }
    if (slots->node_count == slots->node_capacity) {
        uint32_t wanted = slots->node_capacity ? slots->node_capacity * 2 : 64;
        struct node *grown = reallocarray(slots->nodes, wanted, sizeof(*grown));

        if (!grown)
            return 0;
        slots->nodes = grown;
        slots->node_capacity = wanted;
        slots->node_count += slots->node_count == 0;
    }
    return slots->node_count++;
}

/* One finished slot joins its row's list. A slot that is not kept is counted with the row's next one. */
static int take(void *context, void *data, size_t size)
{
    struct slots *slots = context;
    const struct abi_slot *slot = data;
    struct seen *seen;
    uint32_t index;

    if (size < sizeof(*slot) || slot->row >= slots->seen.bytes / sizeof(struct seen))
        return 0;
    index = new_node(slots);
    if (!index) {
        slots->err = -ENOMEM;
        return 0;
    }
    slots->nodes[index] = (struct node){.slot = *slot};
    seen = seen_of(slots, slot->row);
    if (seen->first)
        slots->nodes[seen->last].next = index;
    else
        seen->first = index;
    seen->last = index;
    return 0;
}

int slots_new(int ring_map, int phase_map, uint32_t rows, struct slots **out)
{
    struct slots *slots = calloc(1, sizeof(*slots));
    int err;

    if (!slots)
        return -ENOMEM;
    slots->phase_map = phase_map;
    err = sparse_open(&slots->seen, rows * sizeof(struct seen));
    slots->ring = ring_buffer__new(ring_map, take, slots, NULL);
    if (!err)
        err = !slots->ring ? -errno : align(slots);
    if (err) {
        slots_free(slots);
        return err;
    }
    *out = slots;
    return 0;
}

void slots_free(struct slots *slots)
{
    if (!slots)
        return;
    ring_buffer__free(slots->ring);
    sparse_close(&slots->seen);
    free(slots->nodes);
    free(slots);
}

void slots_tidy(struct slots *slots)
{
    sparse_tidy(&slots->seen);
}

int slots_collect(struct slots *slots)
{
    int err = align(slots), got = ring_buffer__consume(slots->ring);

    if (!err)
        err = got < 0 ? got : slots->err;
    slots->err = 0;
    return err;
}

bool slots_waiting(const struct slots *slots, uint32_t row)
{
    return seen_of(slots, row)->first != 0;
}

struct slots_row slots_read(const volatile struct abi_row *row)
{
    struct slots_row now;

    /* The row may enter its next slot meanwhile; then once more, and it will not do that twice in 100 ms. */
    for (int i = 0; i < 3; i++) {
        now.slot_end_ns = __atomic_load_n(&row->slot_end_ns, __ATOMIC_ACQUIRE);
        now.ops = __atomic_load_n(&row->touched, __ATOMIC_ACQUIRE);
        now.bytes = __atomic_load_n(&row->bytes, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&row->slot_end_ns, __ATOMIC_ACQUIRE) == now.slot_end_ns)
            break;
    }
    return now;
}

int64_t slots_now(const struct slots *slots)
{
    return (clock_ns(CLOCK_MONOTONIC) + slots->mono_to_wall_ns) / (int64_t)ABI_SLOT_NS;
}

/* The number of a slot by its end; rounded, as the clocks may have been aligned anew since. */
static int64_t number_of(const struct slots *slots, uint64_t end_ns)
{
    int64_t wall_ns = (int64_t)end_ns + slots->mono_to_wall_ns;

    return (wall_ns + (int64_t)ABI_SLOT_NS / 2) / (int64_t)ABI_SLOT_NS - 1;
}

/* The difference of two counters that wrap; 0 if the second is ahead. Without a branch, so that loops become vectors. */
static inline uint32_t grown(uint32_t now, uint32_t before)
{
    uint32_t difference = now - before;

    return difference & ~(uint32_t)((int32_t)difference >> 31);
}

/* What is new since the row was last added: by differences, which may be 0 and are never taken back. */
static int add_slot(struct slots *slots, struct seen *seen, const struct abi_slot *slot, enum operation op,
                    struct flow *flow, uint32_t flow_index, struct bursts *bursts)
{
    uint32_t ops = grown(slot->ops, seen->ops), octaves[ABI_OCTAVES], any = 0;
    uint64_t bytes = (int64_t)(slot->bytes - seen->bytes) > 0 ? slot->bytes - seen->bytes : 0;
    struct demand_slot amount;
    int64_t number = number_of(slots, slot->end_ns);
    int err;

    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        any |= octaves[i] = grown(slot->octave[i], seen->octave[i]);
    if (!ops && !bytes && !any)
        return 0;
    amount = demand_of(op, ops, bytes);
    err = flow_add(flow, number, &amount);
    if (!err)
        err = bursts_add(bursts, flow_index, number, op, &amount, octaves);
    if (err)
        return err;
    seen->ops += ops;
    seen->bytes += bytes;
    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        seen->octave[i] += octaves[i];
    return 0;
}

static bool is_demand(enum operation op)
{
    const struct demand_slot one = demand_of(op, 1, 1);

    return operation_is_file(op) && demand_sum(&one, UINT32_MAX) != 0;
}

int slots_add(struct slots *slots, uint32_t index, const struct slots_row *row, enum operation op,
              const uint32_t octaves[ABI_OCTAVES], uint32_t job, uint32_t volume, struct batch *batch,
              struct bursts *bursts)
{
    struct abi_slot rest = {.ops = row->ops, .bytes = row->bytes, .end_ns = row->slot_end_ns};
    struct seen *seen = seen_of(slots, index);
    struct flow *flow = NULL;
    int err = is_demand(op) ? batch_flow(batch, job, volume, &flow) : 0;
    uint32_t flow_index = flow ? (uint32_t)(flow - batch->flows) : 0;

    if (err)
        return err;

    /* Whatever was finished before the row was read is in the ring by now. */
    (void)ring_buffer__consume(slots->ring);
    while (seen->first) {
        uint32_t at = seen->first;

        if (flow)
            err = add_slot(slots, seen, &slots->nodes[at].slot, op, flow, flow_index, bursts);
        if (err)
            return err;
        seen->first = slots->nodes[at].next;
        slots->nodes[at].next = slots->free;
        slots->free = at;
    }
    if (!flow)
        return 0;
    memcpy(rest.octave, octaves, sizeof(rest.octave));
    return add_slot(slots, seen, &rest, op, flow, flow_index, bursts);
}

void slots_forget(struct slots *slots, uint32_t row)
{
    struct seen *seen = seen_of(slots, row);

    while (seen->first) {
        uint32_t at = seen->first;

        seen->first = slots->nodes[at].next;
        slots->nodes[at].next = slots->free;
        slots->free = at;
    }
    *seen = (struct seen){0};
}
