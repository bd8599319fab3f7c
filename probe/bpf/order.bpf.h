/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequential, consecutive or random: where a transfer starts, seen from the end of the one before it on the same open
 * file. The first one is expected at offset 0.
 *
 * The end is kept by the thread that alone uses the file. `positions` tells who that is; another thread that comes
 * takes the end over, and when that has happened often, it stays in `positions` for all of them.
 */
#ifndef UNBLEND_PROBE_ORDER_H
#define UNBLEND_PROBE_ORDER_H

#include "probe/bpf/file.bpf.h"
#include "probe/bpf/task.bpf.h"

#define MOVES_MAX  8
/* At each 256th, when abi_file.uses is 0 again: an owner looks whether it still is one, as `positions` forgets what nobody looks up. */

static __always_inline struct abi_file *file_at(struct abi_thread *thread, __u32 place)
{
    return &thread->files[place & (ABI_FILE_CACHE - 1)];
}

/* The thread's place for the file of the call under way; NULL when it has none. */
static __always_inline struct abi_file *place_of(const struct abi_task *state, struct abi_thread *thread)
{
    struct abi_file *mine;

    if (!thread)
        return NULL;
    mine = file_at(thread, state->place);
    return mine->file == state->file ? mine : NULL;
}

/* What a quick call has left out at its start, because only the others need it. */
static __always_inline void complete_state(struct abi_task *state, struct abi_thread *thread)
{
    bool by_descriptor = thread->quick_place < ABI_FILE_CACHE;

    if (!thread->quick || thread->quick == ABI_NOT_QUICK)
        return;
    state->enter_ns = thread->pending_ns;
    state->volume = thread->pending_volume;
    state->volume2 = ABI_VOLUME_NONE;
    state->place = thread->quick_place;
    state->file = by_descriptor ? file_at(thread, thread->quick_place)->file : 0;
}

/*
 * Takes the end back from its owner, if that has it still; false when it has gone, uses other files now, or has another one
 * that was at this address.
 */
static __always_inline bool disown(struct abi_position *last, __u64 file)
{
    struct abi_thread *thread = thread_at(last->owner / ABI_FILE_CACHE);
    struct abi_file *other;

    if (!thread)
        return false;
    other = file_at(thread, last->owner);
    if (other->file != file || !other->owned)
        return false;
    other->owned = 0;
    if (other->inode != last->inode)
        return false;
    last->end = other->end;
    return true;
}

/* Forwards or backwards without a branch: of random reads, which it is cannot be foretold. */
static __always_inline __u32 judge(__u64 *end, __u64 start, __u64 bytes)
{
    __u64 last = *end, forwards = (last - start) >> 63; /* offsets are below 2^63 */

    *end = start + bytes;
    return start == last ? ABI_CONSECUTIVE : ABI_RANDOM - (ABI_RANDOM - ABI_SEQUENTIAL) * (__u32)forwards;
}

/* The order of a transfer by the calling thread that is not, or must show that it is, its file's owner. */
__noinline int judge_shared(__u64 start, __u64 bytes)
{
    struct abi_task *state = known_state(bpf_get_current_task_btf());
    struct abi_position *last, fresh = {};
    struct abi_thread *thread;
    struct abi_file *mine;
    bool seeded, continues = false;
    __u64 address;
    __u32 order;

    if (!state)
        return ABI_ORDER_UNKNOWN;
    thread = thread_in(state);
    if (thread)
        complete_state(state, thread);
    address = state->file;
    mine = place_of(state, thread);
    fresh.inode = mine ? mine->inode : state->inode;
    fresh.owner = mine ? ABI_OWNER(state->thread, state->place & (ABI_FILE_CACHE - 1)) : 0;
    fresh.end = mine && mine->owned ? mine->end : 0;
    last = bpf_map_lookup_elem(&positions, &address);
    if (!last) {
        bpf_map_update_elem(&positions, &address, &fresh, BPF_NOEXIST);
        last = bpf_map_lookup_elem(&positions, &address);
        if (!last)
            return judge(&fresh.end, start, bytes);
    }
    seeded = last->inode == (fresh.inode | ABI_SEEDED);
    if (seeded) {
        /* It was open before the probe: known when it goes on, by its own offset, where that stood. */
        continues = start == last->end && offset_of(address) == start + bytes;
        *last = fresh;
        last->end = start;
    } else if (last->inode != fresh.inode) {
        /* Another file was at this address. Who owned that one and opened this one has its end, and has told nobody. */
        last->inode = fresh.inode;
        last->moves = 0;
        if (!disown(last, address))
            last->end = fresh.end;
        last->owner = fresh.owner;
    } else if (last->owner != fresh.owner) {
        last->moves += disown(last, address);
        last->owner = last->moves < MOVES_MAX ? fresh.owner : 0;
    } else if (mine && mine->owned) {
        last->end = mine->end;
    }
    order = judge(&last->end, start, bytes);
    if (seeded && !continues)
        order = ABI_ORDER_UNKNOWN;
    if (mine) {
        mine->end = last->end;
        mine->owned = last->owner != 0;
    }
    return order;
}

static __always_inline __u32 order_of(struct abi_file *mine, __u64 start, __u64 bytes)
{
    if (mine && mine->owned && ++mine->uses)
        return judge(&mine->end, start, bytes);
    return judge_shared(start, bytes);
}

/* A thread's place is needed for another file: the end that it owns goes back. */
__noinline int release_place(__u32 thread_index, __u32 place)
{
    struct abi_thread *thread = thread_at(thread_index);
    struct abi_position *last;
    struct abi_file *mine;
    __u64 address;

    place &= ABI_FILE_CACHE - 1;
    if (!thread)
        return 0;
    mine = file_at(thread, place);
    if (!mine->owned)
        return 0;
    mine->owned = 0;
    address = mine->file;
    last = bpf_map_lookup_elem(&positions, &address);
    if (last && last->owner == ABI_OWNER(thread_index, place)) {
        last->inode = mine->inode;
        last->end = mine->end;
    }
    return 0;
}

/* A file was opened where another one may have been: what is known of that one's end goes. False when nothing was. */
static __always_inline bool forget_position(__u64 address, __u64 inode, __u32 owner)
{
    struct abi_position *last = bpf_map_lookup_elem(&positions, &address);

    if (!last)
        return false;
    disown(last, address);
    last->inode = inode;
    last->end = 0;
    last->owner = owner;
    last->moves = 0;
    return true;
}

/* The calling thread has opened its state's file. */
static __always_inline void begin_position(struct abi_task *state, struct abi_file *mine)
{
    bool known = forget_position(state->file, state->inode,
                                 mine ? ABI_OWNER(state->thread, state->place & (ABI_FILE_CACHE - 1)) : 0);

    if (mine) {
        mine->owned = known;
        mine->end = 0;
    }
}

#endif
