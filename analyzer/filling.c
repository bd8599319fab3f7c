/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/filling.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/student.h"
#include "lib/cleanup.h"

#define DAY_NS 86400000000000LL
#define ALPHA  0.05
#define FOREVER_DAYS 36525.0

int filling_add(struct filling *f, int64_t ns, const struct space *space)
{
    const struct filling_point point = {ns, *space};

    if (!f->points) {
        f->points = calloc(FILLING_POINTS, sizeof(*f->points));
        if (!f->points)
            return -ENOMEM;
    }
    if (ns >= f->last.ns)
        f->last = point;
    if (f->count && ns < f->points[f->count - 1].ns + f->every_ns + 1)
        return 0; /* another node told the same, too */
    if (f->count == FILLING_POINTS) {
        for (uint32_t i = 0; i < FILLING_POINTS / 2; i++)
            f->points[i] = f->points[2 * i];
        f->count = FILLING_POINTS / 2;
        f->every_ns = (f->points[f->count - 1].ns - f->points[0].ns) / (f->count - 1) - 1;
        if (ns < f->points[f->count - 1].ns + f->every_ns + 1)
            return 0;
    }
    f->points[f->count++] = point;
    return 0;
}

bool filling_last(const struct filling *f, struct space *out)
{
    if (!f->count)
        return false;
    *out = f->last.space;
    return true;
}

/* Means of used bytes by day; days without any are left out. */
static size_t days_of(const struct filling *f, double *day, double *used)
{
    size_t count = 0;

    for (uint32_t i = 0; i < f->count;) {
        int64_t number = f->points[i].ns / DAY_NS;
        double sum = 0, n = 0;

        for (; i < f->count && f->points[i].ns / DAY_NS == number; i++, n++)
            sum += (double)f->points[i].space.used_bytes;
        day[count] = (double)number;
        used[count++] = sum / n;
    }
    return count;
}

/* When a line from now on reaches the total. */
static int64_t full_at(const struct filling_point *last, double slope)
{
    double left = (double)last->space.total_bytes - (double)last->space.used_bytes, days = left / slope;

    return slope > 0 && days < FOREVER_DAYS ? last->ns + (int64_t)(fmax(days, 0) * (double)DAY_NS) : 0;
}

int filling_growth(const struct filling *f, struct growth *out)
{
    _cleanup_free_ double *x = calloc(f->count + 1, sizeof(*x)), *y = calloc(f->count + 1, sizeof(*y));
    double sx = 0, sy = 0, sxx = 0, sxy = 0, squares = 0, lagged = 0, n, independent, error, before = 0, critical;
    size_t count;

    *out = (struct growth){.known = false};
    if (!x || !y)
        return -ENOMEM;
    count = days_of(f, x, y);
    if (f->doubted || count < 3 || x[count - 1] - x[0] < FILLING_DAYS_MIN)
        return 0;
    n = (double)count;
    for (size_t i = 0; i < count; i++) {
        sx += x[i] / n;
        sy += y[i] / n;
    }
    for (size_t i = 0; i < count; i++) {
        sxx += (x[i] - sx) * (x[i] - sx);
        sxy += (x[i] - sx) * (y[i] - sy);
    }
    out->known = true;
    out->value = sxy / sxx;
    for (size_t i = 0; i < count; i++) {
        double rest = y[i] - sy - out->value * (x[i] - sx);

        squares += rest * rest;
        lagged += i ? rest * before : 0;
        before = rest;
    }
    lagged = squares > 0 ? fmin(fmax(lagged / squares, 0), 0.95) : 0;
    independent = fmax(n * (1 - lagged) / (1 + lagged), 3);
    error = sqrt(squares / (independent - 2 > 1 ? independent - 2 : 1) / sxx * (n / independent));
    critical = student_critical(ALPHA, independent - 2 > 1 ? independent - 2 : 1);
    out->low = out->value - critical * error;
    out->high = out->value + critical * error;
    out->early_ns = full_at(&f->last, out->high);
    out->late_ns = full_at(&f->last, out->low);
    return 0;
}

void filling_clear(struct filling *f)
{
    free(f->points);
    *f = (struct filling){0};
}
