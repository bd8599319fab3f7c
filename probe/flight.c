/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"

/* One job on one volume. */
struct place {
    uint64_t volume;
    uint32_t job, uid;
    char command[16]; /* tells jobs apart that were not given a name */
    uint32_t now[OP_FILE_END], max[OP_FILE_END];
};

struct flight {
    struct tables *tables;
    struct volumes *volumes;
    struct origin *origin;
    struct finder *finder;
    struct hung *hung;
    struct place *places;
    uint32_t count, capacity;
    int64_t last_ns; /* when it was looked last */
};

int flight_new(struct tables *tables, struct volumes *volumes, struct origin *origin, struct finder *finder,
               struct hung *hung, struct flight **out)
{
    struct flight *flight = calloc(1, sizeof(*flight));

    if (!flight)
        return -ENOMEM;
    flight->tables = tables;
    flight->volumes = volumes;
    flight->origin = origin;
    flight->finder = finder;
    flight->hung = hung;
    *out = flight;
    return 0;
}

void flight_free(struct flight *flight)
{
    if (!flight)
        return;
    free(flight->places);
    free(flight);
}

static bool is_at(const struct place *place, const struct abi_process *process, uint32_t job, uint64_t volume)
{
    if (place->volume != volume || place->job != job)
        return false;
    return place->job || (place->uid == process->uid &&
                          memcmp(place->command, process->comm, sizeof(place->command)) == 0);
}

static struct place *find_place(struct flight *flight, uint32_t index, uint64_t volume)
{
    struct abi_process *process = process_at(flight->tables, index);
    struct place *place;
    uint32_t job;

    if (finder_job(flight->finder, index, process, &job))
        return NULL;
    for (uint32_t i = 0; i < flight->count; i++)
        if (is_at(&flight->places[i], process, job, volume))
            return &flight->places[i];
    if (flight->count == flight->capacity) {
        uint32_t wanted = flight->capacity ? flight->capacity * 2 : 8;
        struct place *grown = reallocarray(flight->places, wanted, sizeof(*grown));

        if (!grown)
            return NULL;
        flight->places = grown;
        flight->capacity = wanted;
    }
    place = &flight->places[flight->count++];
    *place = (struct place){.volume = volume, .job = job, .uid = process->uid};
    memcpy(place->command, process->comm, sizeof(place->command));
    return place;
}

uint64_t flight_volume(struct flight *flight, const struct abi_thread *thread, uint64_t since_ns)
{
    uint64_t volume = thread->pending_volume;

    return volume == ABI_VOLUME_UNKNOWN ? hung_volume(flight->hung, thread->pid, since_ns) : volume;
}

static uint64_t look_after(struct flight *flight, const struct abi_thread *thread, enum operation op, int64_t now_ns)
{
    uint64_t since_ns = thread->pending_ns;

    if (thread->pending_volume != ABI_VOLUME_UNKNOWN || now_ns - (int64_t)since_ns < (int64_t)HUNG_NS)
        return thread->pending_volume;
    hung_ask(flight->hung, thread->pid, since_ns, op);
    return hung_volume(flight->hung, thread->pid, since_ns);
}

static int look(struct flight *flight)
{
    const struct table *table = &flight->tables->table[ABI_TABLE_THREADS];
    int64_t now_ns = monotonic_ns();

    for (uint32_t i = 0; i < flight->count; i++)
        memset(flight->places[i].now, 0, sizeof(flight->places[i].now));
    for (uint32_t i = 1; i <= table->high; i++) {
        const struct abi_thread *thread = thread_at(flight->tables, i);
        uint32_t op = __atomic_load_n(&thread->pending_op, __ATOMIC_ACQUIRE);
        struct place *place;

        if (!op || op >= OP_FILE_END || !thread->process)
            continue;
        place = find_place(flight, thread->process, look_after(flight, thread, op, now_ns));
        if (!place)
            return -ENOMEM;
        place->now[op]++;
        place->now[OP_NONE]++;
    }
    for (uint32_t i = 0; i < flight->count; i++)
        for (unsigned op = 0; op < OP_FILE_END; op++)
            if (flight->places[i].now[op] > flight->places[i].max[op])
                flight->places[i].max[op] = flight->places[i].now[op];
    return 0;
}

int flight_look(struct flight *flight)
{
    struct table *table = &flight->tables->table[ABI_TABLE_THREADS];
    int64_t now_ns = monotonic_ns();

    if (now_ns - flight->last_ns < tables_pause_ns(flight->tables))
        return 0;
    flight->last_ns = now_ns;
    table_find_high(table);
    return look(flight);
}

static int report(struct flight *flight, const struct place *place, struct batch *batch)
{
    char command[sizeof(place->command) + 1] = "";
    uint32_t job, volume;
    struct flow *flow;
    int err;

    memcpy(command, place->command, sizeof(place->command));
    err = origin_name(flight->origin, place->job, place->uid, command, batch, &job);
    if (!err)
        err = volumes_name(flight->volumes, place->volume, batch, &volume);
    if (!err)
        err = batch_flow(batch, job, volume, &flow);
    for (unsigned op = 0; !err && op < OP_FILE_END; op++)
        if (place->max[op] > flow->in_flight_max[op])
            flow->in_flight_max[op] = place->max[op];
    return err;
}

int flight_report(struct flight *flight, struct batch *batch)
{
    int err = look(flight);

    for (uint32_t i = 0; !err && i < flight->count; i++)
        err = report(flight, &flight->places[i], batch);
    flight->count = 0;
    return err;
}
