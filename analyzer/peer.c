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

/* Without its node's, where it begins with that: "n1:tmpfs:/dev/shm" of n1 is what "n2:tmpfs:/dev/shm" is of n2. */
static const char *name_without(const char *volume, const char *node)
{
    size_t length = strlen(node);

    return strncmp(volume, node, length) == 0 && volume[length] == ':' ? volume + length + 1 : volume;
}

struct peer_place peer_place_of(const struct volume *volume, const char *node)
{
    const char *name = name_without(volume->name, node), *source = volume->source ?: "", *fstype = volume->fstype ?: "";

    if (volume->scope == SCOPE_LOCAL && *source == '/')
        return (struct peer_place){fstype, source, ""};
    /* A pseudonym has nothing of the node, but is of a name that begins with it. */
    if (volume->scope == SCOPE_LOCAL && name == volume->name && volume->mount_count)
        return (struct peer_place){fstype, source, volume->mounts[0]};
    return (struct peer_place){name, "", ""};
}

bool peer_same_place(const struct peer_place *a, const struct peer_place *b)
{
    return strcmp(a->fstype, b->fstype) == 0 && strcmp(a->source, b->source) == 0 && strcmp(a->point, b->point) == 0;
}
