/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/once.h"

#include "analyzer/figure.h"

#define FILES_MIN  100
#define ONCE       1.3  /* opens of a file: how many files there were is an estimate, and some others are opened again */
#define OCTAVE     8    /* buckets */
#define OCTAVES    2    /* so far above and below the mean */
#define COMMON_MIN 0.1  /* of the opens of those sizes that an octave has at least */

static double opens_of(const struct histogram *sizes, unsigned octave)
{
    double count = 0;

    for (unsigned i = 0; i < sizes->length; i++)
        if (sizes->cells[i].bucket / OCTAVE == octave)
            count += (double)sizes->cells[i].count;
    return count;
}

/* By bytes, where there are few files about so large. */
static bool once_of_all(const struct volume_total *volume, const struct working_opens *opened)
{
    double bytes = figure_bytes_of(&volume->tally.op[OP_OPEN].size, 0);

    return opened->files.value >= FILES_MIN && bytes > 0 && bytes <= ONCE * opened->bytes.value;
}

bool once_opened(const struct volume_total *volume, double bytes)
{
    const struct histogram *sizes = &volume->tally.op[OP_OPEN].size;
    double all = 0, opens = 0, files = 0;
    struct working_opens opened;
    unsigned middle, first;

    if (!working_opens(&volume->working, &opened))
        return false;
    if (!(bytes >= 1))
        return once_of_all(volume, &opened);
    middle = bucket_of((uint64_t)bytes) / OCTAVE;
    first = middle > OCTAVES ? middle - OCTAVES : 1; /* those in the lowest are empty, or nearly so */
    for (unsigned octave = first; octave <= middle + OCTAVES; octave++)
        all += opens_of(sizes, octave);
    for (unsigned octave = first; octave <= middle + OCTAVES && (octave + 1) * OCTAVE < BUCKET_COUNT; octave++) {
        double some = opens_of(sizes, octave);

        if (!(some > COMMON_MIN * all))
            continue;
        opens += some;
        files += sketch_files_of(&volume->working.files, bucket_lower(octave * OCTAVE), bucket_lower((octave + 1) * OCTAVE))
                     .value;
    }
    return files >= FILES_MIN ? opens <= ONCE * files : once_of_all(volume, &opened);
}
