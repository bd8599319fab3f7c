/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/phase.h"

#include <errno.h>
#include <stdbool.h>

#include "analyzer/human.h"

#define QUIET  0.05 /* of the average */
#define MOSTLY 0.8
#define PAGE   4096
#define SHOWN  6

const char *const phase_names[PHASE_KINDS] = {"quiet", "metadata", "read", "write", "mixed"};

static bool is_little(double amount, double average)
{
    return amount <= QUIET * average;
}

/* mean: of as many slots */
static enum phase_kind kind_of(const struct demand_slot *sum, const double mean[DEMAND_COUNT])
{
    double read = (double)sum->demand[DEMAND_READ_BYTES], bytes = (double)demand_sum(sum, DEMAND_BYTES);
    double metadata = (double)sum->demand[DEMAND_METADATA_OPS], data = (double)demand_sum(sum, DEMAND_DATA_OPS);

    if (is_little(bytes, mean[DEMAND_READ_BYTES] + mean[DEMAND_WRITE_BYTES]) &&
        is_little(metadata, mean[DEMAND_METADATA_OPS]))
        return PHASE_QUIET;
    if (metadata >= MOSTLY * (metadata + data) && bytes < PAGE * metadata)
        return PHASE_METADATA;
    if (read >= MOSTLY * bytes)
        return PHASE_READ;
    return bytes - read >= MOSTLY * bytes ? PHASE_WRITE : PHASE_MIXED;
}

int phases_of(const struct series *series, struct phases *out)
{
    uint32_t window = (series->length + PHASES_MAX - 1) / PHASES_MAX;
    double mean[DEMAND_COUNT] = {0};

    *out = (struct phases){.count = 0};
    if (!series->length)
        return -ENODATA;
    for (uint32_t i = 0; i < series->length; i++)
        for (unsigned d = 0; d < DEMAND_COUNT; d++)
            mean[d] += (double)series->slots[i].demand[d] / series->length;
    for (uint32_t at = 0; at < series->length; at += window) {
        uint32_t slots = series->length - at < window ? series->length - at : window;
        struct phase phase = {.start_ms = (series->first + at) * series->slot_ms,
                              .length_s = slots * (double)series->slot_ms / 1e3};
        struct phase *last = out->count ? &out->list[out->count - 1] : NULL;
        double of_window[DEMAND_COUNT];

        for (uint32_t i = 0; i < slots; i++)
            demand_add(&phase.sum, &series->slots[at + i]);
        for (unsigned d = 0; d < DEMAND_COUNT; d++)
            of_window[d] = mean[d] * slots;
        phase.kind = kind_of(&phase.sum, of_window);
        if (last && last->kind == phase.kind) {
            last->length_s += phase.length_s;
            demand_add(&last->sum, &phase.sum);
        } else {
            out->list[out->count++] = phase;
        }
    }
    return 0;
}

void phases_write(FILE *out, const struct phases *phases)
{
    char length[HUMAN_SIZE], amount[HUMAN_SIZE];

    for (unsigned i = 0; i < phases->count && i < SHOWN; i++) {
        const struct phase *phase = &phases->list[i];

        fprintf(out, "%s%s %s", i ? ", " : "", phase_names[phase->kind], human_duration(length, phase->length_s));
        if (phase->kind == PHASE_METADATA)
            fprintf(out, " (%s ops)", human_count(amount, phase->sum.demand[DEMAND_METADATA_OPS]));
        else if (phase->kind != PHASE_QUIET)
            fprintf(out, " (%s)", human_bytes(amount, (double)demand_sum(&phase->sum, DEMAND_BYTES)));
    }
    if (phases->count > SHOWN)
        fprintf(out, ", and %u more", phases->count - SHOWN);
}
