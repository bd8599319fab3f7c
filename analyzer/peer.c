/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/peer.h"
#include "lib/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SCALE 1.4826

static double middle(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), order_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void peer_norm_of(double *values, uint32_t count, double relative, double absolute, struct peer_norm *out)
{
    out->median = middle(values, count);
    out->high = values[count - 1];
    for (uint32_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - out->median);
    out->mad = fmax(SCALE * middle(values, count), fmax(relative * fabs(out->median), absolute));
}

double peer_mads(const struct peer_norm *norm, double value)
{
    if (norm->mad > 0)
        return (value - norm->median) / norm->mad;
    return value > norm->median ? INFINITY : 0;
}

const char *peer_volume(const char *volume, const char *node)
{
    size_t length = strlen(node);

    return strncmp(volume, node, length) == 0 && volume[length] == ':' ? volume + length + 1 : volume;
}
