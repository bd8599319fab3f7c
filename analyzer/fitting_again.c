/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fits of what was drawn in the place of the data: nothing of them is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fitting.h"
#include "analyzer/fitting_rows.h"
#include "analyzer/fitting_unmix.h"
#include "analyzer/unmix.h"
#include "lib/cleanup.h"

/* What of the rows is made, and room for them. */
struct again {
    struct unmixed of;
    double *rows;
};

static void make_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                     void *context)
{
    struct again *to = context;
    double *row = to->rows + k * fitting->all_count;

    fitting_spread(fitting, &fitting->catalogue->profiles[profile].signatures[n], first, row);
    to->of.rows[k] = row;
}

/* Shares of the data as it was counted, whatever was drawn in its place. */
static void take_sums(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                      void *context)
{
    const struct unmixed *from = context;
    const double *part = from->parts + k * fitting->all_count;

    fitting->amounts[s] = from->amounts[k];
    for (size_t g = 0; g < fitting->group_count; g++) {
        double own = part[g] / fitting->observed[g] * fitting->counted[g];

        fitting->explained[g] += part[g];
        fitting->ops[profile] += own;
        fitting->bytes[profile] += own * fitting->worth[g];
    }
}

int fitting_again(struct fitting *fitting, double floor)
{
    size_t groups = fitting->all_count, count = fitting->signature_count;
    _cleanup_free_ const double **row = calloc(count + 1, sizeof(*row));
    _cleanup_free_ double *rows = calloc(count * groups + 1, sizeof(*rows));
    _cleanup_free_ double *parts = calloc(count * groups + 1, sizeof(*parts));
    _cleanup_free_ double *amounts = calloc(count + 1, sizeof(*amounts));
    struct again again = {.of = {.rows = row, .parts = parts, .amounts = amounts}, .rows = rows};
    int err;

    memset(fitting->explained, 0, fitting->group_count * sizeof(double));
    memset(fitting->ops, 0, fitting->catalogue->count * sizeof(double));
    memset(fitting->bytes, 0, fitting->catalogue->count * sizeof(double));
    if (!row || !rows || !parts || !amounts)
        return -ENOMEM;
    fitting_note_claims(fitting, UINT32_MAX);
    again.of.count = fitting_each_signature(fitting, UINT32_MAX, make_row, &again);
    err = fitting_unmix(fitting, UINT32_MAX, UNMIX_COARSE, floor, &again.of, &fitting->score);
    if (err || fitting->score <= floor)
        return err ? err : 1;
    memset(fitting->amounts, 0, count * sizeof(*fitting->amounts));
    fitting_each_signature(fitting, UINT32_MAX, take_sums, &again.of);
    return 0;
}

struct prediction {
    double *row, *out;
};

static void add_row(const struct fitting *fitting, uint32_t profile, uint32_t n, size_t s, size_t first, size_t k,
                    void *context)
{
    struct prediction *to = context;

    memset(to->row, 0, fitting->all_count * sizeof(*to->row));
    fitting_spread(fitting, &fitting->catalogue->profiles[profile].signatures[n], first, to->row);
    for (size_t g = 0; g < fitting->all_count; g++)
        to->out[g] += fitting->amounts[s] * to->row[g];
}

int fitting_predict(struct fitting *fitting, double *out)
{
    _cleanup_free_ double *row = calloc(fitting->all_count + 1, sizeof(*row));
    struct prediction context = {row, out};

    if (!row)
        return -ENOMEM;
    memset(out, 0, fitting->all_count * sizeof(*out));
    fitting_note_claims(fitting, UINT32_MAX);
    fitting_each_signature(fitting, UINT32_MAX, add_row, &context);
    return 0;
}
