/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/concert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/series.h"
#include "lib/bucket.h"
#include "lib/vector.h"

#define BLOCK      8 /* intervals; what changes more slowly is when programs run, and not what they do */
#define BLOCKS_MIN 3 /* fewer tell nothing */
#define COUNT_MIN  20 /* nor do fewer reads, or writes */
#define SURE       1  /* nats that a slope of 0 explains more than one of 1 */

enum kind { READS, WRITES, KINDS };

struct moments {
    double squares[KINDS], product;
};

struct concert_size {
    int64_t slot;      /* the interval that is being counted, */
    double now[KINDS]; /* what there is in it, */
    double sum[KINDS]; /* in those of its block that are over, */
    struct moments block;
    double all[KINDS]; /* and in all blocks that are over: */
    struct moments about; /* about each block's mean */
    double blocks;
};

static void end_interval(struct concert_size *size)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        size->sum[kind] += size->now[kind];
        size->block.squares[kind] += size->now[kind] * size->now[kind];
    }
    size->block.product += size->now[READS] * size->now[WRITES];
    memset(size->now, 0, sizeof(size->now));
}

static void end_block(struct concert_size *size)
{
    end_interval(size);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        size->all[kind] += size->sum[kind];
        size->about.squares[kind] += size->block.squares[kind] - size->sum[kind] * size->sum[kind] / BLOCK;
    }
    size->about.product += size->block.product - size->sum[READS] * size->sum[WRITES] / BLOCK;
    size->blocks++;
    memset(size->sum, 0, sizeof(size->sum));
    size->block = (struct moments){0};
}

/* NULL without memory. */
static struct concert_size *size_of(struct concert *concert, unsigned bucket, int64_t slot)
{
    if (!concert->at && !(concert->at = calloc(BUCKET_COUNT, sizeof(*concert->at))))
        return NULL;
    if (!concert->at[bucket]) {
        if (vector_reserve((void **)&concert->sizes, &concert->capacity, concert->count, sizeof(*concert->sizes)))
            return NULL;
        concert->sizes[concert->count].slot = slot;
        concert->at[bucket] = (uint16_t)++concert->count;
    }
    return &concert->sizes[concert->at[bucket] - 1];
}

int concert_add(struct concert *concert, const struct batch *batch, const struct record *record)
{
    int64_t slot;

    if ((record->op != OP_READ && record->op != OP_WRITE) || !batch->interval_ms)
        return 0;
    slot = series_slot_of(batch->start_ns, batch->duration_ns, batch->interval_ms);
    for (unsigned i = 0; i < record->size.length; i++) {
        const struct histogram_cell *cell = &record->size.cells[i];
        struct concert_size *size = size_of(concert, cell->bucket, slot);

        if (!size)
            return -ENOMEM;
        if (size->slot / BLOCK != slot / BLOCK)
            end_block(size);
        else if (size->slot != slot)
            end_interval(size);
        size->slot = slot;
        size->now[record->op == OP_READ ? READS : WRITES] += (double)cell->count;
    }
    return 0;
}

bool concert_apart(const struct concert *concert, unsigned bucket)
{
    struct concert_size size;
    double slope, noise;
    enum kind few;

    if (!concert->at || !concert->at[bucket])
        return false;
    size = concert->sizes[concert->at[bucket] - 1];
    end_block(&size);
    few = size.all[READS] < size.all[WRITES] ? READS : WRITES;
    if (size.blocks < BLOCKS_MIN || size.all[few] < COUNT_MIN || !(size.about.squares[few] > 0))
        return false;
    slope = size.about.product / size.about.squares[few];
    noise = fmax(0, size.about.squares[!few] - slope * size.about.product) / (size.blocks * (BLOCK - 1) - 1);
    /* The logarithm of how much likelier 0 is than 1, for noise that is normal. */
    return (0.5 - slope) * size.about.squares[few] > SURE * noise;
}

void concert_clear(struct concert *concert)
{
    free(concert->at);
    free(concert->sizes);
    *concert = (struct concert){0};
}
