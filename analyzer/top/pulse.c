/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/pulse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_A_SECOND = 1000 / FLOW_SLOT_MS };

struct pulse *pulse_new(void)
{
    return calloc(1, sizeof(struct pulse));
}

void pulse_free(struct pulse *pulse)
{
    if (!pulse)
        return;
    histogram_clear(&pulse->burst);
    histogram_clear(&pulse->steady);
    free(pulse);
}

static size_t place(int64_t slot)
{
    return (size_t)(((slot % PULSE_SLOTS) + PULSE_SLOTS) % PULSE_SLOTS);
}

void pulse_idle(struct pulse *pulse, int64_t end_slot)
{
    if (!pulse->newest || end_slot - pulse->newest >= PULSE_SLOTS) {
        memset(pulse->bytes, 0, sizeof(pulse->bytes));
        memset(pulse->metadata, 0, sizeof(pulse->metadata));
        pulse->first = pulse->newest ? end_slot - PULSE_SLOTS + 1 : end_slot;
        pulse->newest = end_slot;
        return;
    }
    while (pulse->newest < end_slot) {
        size_t at = place(++pulse->newest);

        pulse->bytes[at] = pulse->metadata[at] = 0;
    }
}

int pulse_add(struct pulse *pulse, const struct flow *flow, int64_t end_slot)
{
    int64_t last = flow->first + (int64_t)flow->length - 1;
    int err = 0;

    if (!pulse->newest && flow->length)
        pulse->newest = pulse->first = flow->first;
    pulse_idle(pulse, flow->length && last > end_slot ? last : end_slot);
    for (uint32_t i = 0; i < flow->length; i++) {
        int64_t slot = flow->first + i;

        if (slot > pulse->newest - PULSE_SLOTS && slot <= pulse->newest) {
            pulse->bytes[place(slot)] += (float)demand_sum(&flow->slots[i], DEMAND_BYTES);
            pulse->metadata[place(slot)] += (float)flow->slots[i].demand[DEMAND_METADATA_OPS];
        }
    }
    for (unsigned kind = 0; !err && kind < FLOW_KINDS; kind++) {
        err = histogram_merge(&pulse->burst, &flow->burst[kind]);
        if (!err)
            err = histogram_merge(&pulse->steady, &flow->steady[kind]);
    }
    return err;
}

void pulse_figures(const struct pulse *pulse, double figures[6])
{
    int64_t from = pulse->newest - PULSE_SLOTS + 1;
    double peak = 0, sum = 0, metadata = 0;
    uint64_t value;
    unsigned idle = 0, count = 0;

    for (int64_t slot = from > pulse->first ? from : pulse->first; slot <= pulse->newest; slot++, count++) {
        float bytes = pulse->bytes[place(slot)], ops = pulse->metadata[place(slot)];

        peak = fmax(peak, bytes);
        metadata = fmax(metadata, ops);
        sum += bytes;
        idle += !(bytes > 0) && !(ops > 0);
    }
    figures[0] = peak * SLOTS_A_SECOND;
    figures[1] = count ? sum / count * SLOTS_A_SECOND : NAN;
    figures[2] = metadata * SLOTS_A_SECOND;
    figures[3] = count ? (double)idle / count : NAN;
    figures[4] = histogram_quantile(&pulse->burst, 0.99, false, &value) ? (double)value : NAN;
    figures[5] = histogram_quantile(&pulse->steady, 0.99, false, &value) ? (double)value : NAN;
}
