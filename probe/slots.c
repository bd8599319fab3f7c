/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/slots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "probe/sparse.h"

static_assert(FLOW_SLOT_MS * 1000000ULL == ABI_SLOT_NS, "slots have one length");

/* The clocks drift apart by less than this before the slots are aligned anew. */
#define DRIFT_NS 1000000

struct slots {
    struct ring_buffer *ring;
    int phase_map;
    slots_added *added;
    void *context; /* of added() */
    struct sparse lists; /* struct change_list, by row: of what is over and not added yet */
    struct changes changes;
    int64_t mono_to_wall_ns;
    int err; /* a slot could not be kept */
};

static struct change_list *list_of(const struct slots *slots, uint32_t row)
{
    return (struct change_list *)slots->lists.memory + row;
}

/* Tells the kernel side where slots begin; again when the wall clock was set. */
static int align(struct slots *slots)
{
    int64_t offset = wall_clock_ns() - monotonic_ns();
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

/* One finished slot joins its row's list. A slot that is not kept is counted with the row's next one. */
static int take(void *context, void *data, size_t size)
{
    struct slots *slots = context;
    const struct abi_slot *slot = data;
    struct change_list *list;
    struct increase increase, known;

    if (size < sizeof(*slot) || slot->row >= slots->lists.bytes / sizeof(*list))
        return 0;
    list = list_of(slots, slot->row);
    increase = (struct increase){.bytes = slot->bytes, .ops = slot->ops};
    memcpy(increase.octave, slot->octave, sizeof(increase.octave));
    slots->added(slots->context, slot->row, &known);
    changes_add_up(&slots->changes, list, &known);
    increase_subtract(&increase, &known);
    if (increase_any(&increase) && changes_append(&slots->changes, list, slot->end_ns, &increase))
        slots->err = -ENOMEM;
    return 0;
}

int slots_new(int ring_map, int phase_map, uint32_t rows, slots_added *added, void *context, struct slots **out)
{
    struct slots *slots = calloc(1, sizeof(*slots));
    int err;

    if (!slots)
        return -ENOMEM;
    *slots = (struct slots){.phase_map = phase_map, .added = added, .context = context};
    err = sparse_open(&slots->lists, rows * sizeof(struct change_list));
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
    sparse_close(&slots->lists);
    changes_free(&slots->changes);
    free(slots);
}

void slots_tidy(struct slots *slots)
{
    sparse_tidy(&slots->lists);
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
    return list_of(slots, row)->first != 0;
}

struct slots_row slots_read(struct slots *slots, const volatile struct abi_row *row)
{
    struct slots_row now;

    /* What is over must be taken over before the row is read, and all of that: when the row enters its next slot
       meanwhile, once more, and it will not do that twice in 100 ms. */
    for (int i = 0; i < 3; i++) {
        now.slot_end_ns = __atomic_load_n(&row->slot_end_ns, __ATOMIC_ACQUIRE);
        (void)ring_buffer__consume(slots->ring);
        now.ops = __atomic_load_n(&row->touched, __ATOMIC_ACQUIRE);
        now.bytes = __atomic_load_n(&row->bytes, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&row->slot_end_ns, __ATOMIC_ACQUIRE) == now.slot_end_ns)
            break;
    }
    return now;
}

int64_t slots_now(const struct slots *slots)
{
    return (monotonic_ns() + slots->mono_to_wall_ns) / (int64_t)ABI_SLOT_NS;
}

/* The number of a slot by its end; rounded, as the clocks may have been aligned anew since. */
static int64_t number_of(const struct slots *slots, uint64_t end_ns)
{
    int64_t wall_ns = (int64_t)end_ns + slots->mono_to_wall_ns;

    return (wall_ns + (int64_t)ABI_SLOT_NS / 2) / (int64_t)ABI_SLOT_NS - 1;
}

/* Where what is added goes. */
struct target {
    struct flow *flow;
    uint32_t index; /* the flow's in its batch */
    enum operation op;
    struct bursts *bursts;
};

static int add(const struct slots *slots, const struct target *target, uint64_t end_ns, const struct increase *increase)
{
    struct demand_slot amount = demand_of(target->op, increase->ops, increase->bytes);
    int64_t number = number_of(slots, end_ns);
    int err = flow_add(target->flow, number, &amount);

    return err ? err : bursts_add(target->bursts, target->index, number, target->op, &amount, increase->octave);
}

static bool is_demand(enum operation op)
{
    const struct demand_slot one = demand_of(op, 1, 1);

    return operation_is_file(op) && demand_sum(&one, UINT32_MAX) != 0;
}

int slots_add(struct slots *slots, uint32_t index, uint64_t slot_end_ns, enum operation op, const struct increase *news,
              uint32_t job, uint32_t volume, struct batch *batch, struct bursts *bursts)
{
    struct target target = {.op = op, .bursts = bursts};
    struct increase rest = *news;
    int err = is_demand(op) ? batch_flow(batch, job, volume, &target.flow) : 0;

    if (!err && target.flow)
        target.index = (uint32_t)(target.flow - batch->flows);
    for (struct change_list *list = list_of(slots, index); list->first;) {
        struct increase change;
        uint64_t end_ns;

        changes_first(&slots->changes, list, &end_ns, &change);
        if (!err && target.flow)
            err = add(slots, &target, end_ns, &change);
        increase_subtract(&rest, &change);
        changes_drop_first(&slots->changes, list);
    }
    return !err && target.flow && increase_any(&rest) ? add(slots, &target, slot_end_ns, &rest) : err;
}

void slots_forget(struct slots *slots, uint32_t row)
{
    struct change_list *list = list_of(slots, row);

    while (list->first)
        changes_drop_first(&slots->changes, list);
}
