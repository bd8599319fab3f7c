/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/phase.h"

#include <errno.h>
#include <stdbool.h>

#include "analyzer/human.h"
#include "analyzer/peer.h"

#define QUIET      0.05 /* of the average */
#define MOSTLY     0.8
#define PAGE       4096
#define EPOCHS_MIN 3
#define ALIKE      0.2 /* of the median: so far apart they may be */
#define SHOWN      6

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

static void find_epochs(struct phases *phases)
{
    double bytes[PHASES_MAX], starts[PHASES_MAX];
    struct peer_norm norm;
    unsigned count = 0, whole;

    for (unsigned i = 0; i < phases->count; i++)
        if (phases->list[i].kind == PHASE_READ) {
            bytes[count] = (double)phases->list[i].sum.demand[DEMAND_READ_BYTES];
            starts[count++] = (double)phases->list[i].start_ms / 1e3;
        }
    if (count < EPOCHS_MIN)
        return;
    whole = count > EPOCHS_MIN && bytes[count - 1] < bytes[count - 2] ? count - 1 : count;
    peer_norm_of(bytes, whole, 0, 0, &norm);
    if (bytes[whole - 1] > ALIKE * norm.median) /* the largest deviation */
        return;
    phases->epochs = (struct epochs){.count = count, .bytes = norm.median};
    for (unsigned i = 0; i + 1 < count; i++)
        starts[i] = starts[i + 1] - starts[i];
    peer_norm_of(starts, count - 1, 0, 0, &norm);
    phases->epochs.length_s = norm.median;
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
    find_epochs(out);
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
