/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/student.h"
#include "lib/cleanup.h"
#include "lib/order.h"
#include "lib/vector.h"

#define ALPHA     0.01
#define PARTS     20
#define PARTS_MIN 6
#define OPS_MIN   100  /* of a kind, in both */
#define EACH      10   /* independent operations an interval, at most */
#define LEAST     1.25 /* two buckets */
#define RATE_LEAST 1.05

static const struct {
    const char *name;
    unsigned demands;
    bool busy;
} rates[] = {
    {"read_bytes_s", DEMAND_BIT(DEMAND_READ_BYTES), false},
    {"write_bytes_s", DEMAND_BIT(DEMAND_WRITE_BYTES), false},
    {"data_ops_s", DEMAND_DATA_OPS, false},
    {"metadata_ops_s", DEMAND_BIT(DEMAND_METADATA_OPS), false},
    {"in_flight", BUSY_TIMES, true},
};

static const double quantiles[] = {0.5, 0.99};
static const char *const latency_names[] = {"latency_p50_ns", "latency_p99_ns"};

/* One side of what is compared. */
struct aspect {
    const struct series *series, *busy, *span; /* busy may be NULL */
    const struct tally *tally;
    double intervals;
};

/* The comparison being made: counted first, then tested, for the tests share their alpha. */
struct run {
    struct comparison *out;
    double alpha;
    uint32_t tests;
    bool counting;
    int err;
};

static void note(struct run *run, struct moved moved)
{
    struct comparison *out = run->out;

    if (!moved.beyond) {
        out->within++;
        return;
    }
    if (vector_reserve((void **)&out->list, &out->capacity, out->count, sizeof(*out->list)))
        run->err = -ENOMEM;
    else
        out->list[out->count++] = moved;
}

/* Mean and variance of the mean of a rate, a second. False when there are too few parts. */
static bool means(const struct series *series, const struct series *span, unsigned demands, double *mean,
                  double *variance, double *parts)
{
    _cleanup_free_ double *x = NULL;
    double part[PARTS], sum = 0, squares = 0;
    size_t count, each, n;

    *mean = *variance = 0;
    if (!span->length || span->slot_ms < (series->length ? series->slot_ms : 0))
        return false;
    n = span->length < PARTS ? span->length : PARTS;
    *parts = (double)n;
    if (n < PARTS_MIN)
        return false;
    if (!series->length)
        return true; /* nothing at all, in every part */
    if (series_windows(series, demands, span->slot_ms, series_from(span), series_last(span), &x, &count))
        return false;
    each = count / n;
    for (size_t p = 0; p < n; p++) {
        part[p] = 0;
        for (size_t i = 0; i < each; i++)
            part[p] += x[p * each + i] / (double)each / (span->slot_ms / 1e3);
        sum += part[p];
    }
    *mean = sum / (double)n;
    for (size_t p = 0; p < n; p++)
        squares += (part[p] - *mean) * (part[p] - *mean);
    *variance = squares / (double)(n - 1) / (double)n;
    return true;
}

static void compare_rate(struct run *run, struct moved moved, const struct aspect *a, const struct aspect *b,
                         unsigned r)
{
    const struct series *x = rates[r].busy ? a->busy : a->series, *y = rates[r].busy ? b->busy : b->series;
    double va, vb, na, nb, error, freedom, unit = rates[r].busy ? 1e9 : 1, critical;

    if (!x || !y || !(x->length || y->length))
        return;
    if (!means(x, a->span, rates[r].demands, &moved.before, &va, &na) ||
        !means(y, b->span, rates[r].demands, &moved.after, &vb, &nb)) {
        run->out->unknown += !run->counting;
        return;
    }
    if (!(moved.before > 0) && !(moved.after > 0))
        return;
    run->tests++;
    if (run->counting)
        return;
    moved.metric = rates[r].name;
    moved.before /= unit;
    moved.after /= unit;
    va /= unit * unit;
    vb /= unit * unit;
    error = sqrt(va + vb);
    freedom = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1)) : na + nb - 2;
    critical = student_critical(run->alpha, freedom);
    moved.low = moved.before > 0 ? (moved.after - critical * error) / moved.before : NAN;
    moved.high = moved.before > 0 ? (moved.after + critical * error) / moved.before : NAN;
    moved.beyond = fabs(moved.after - moved.before) > critical * error &&
                   fmax(moved.before, moved.after) > RATE_LEAST * fmin(moved.before, moved.after);
    moved.score = error > 0 ? fabs(moved.after - moved.before) / error : 1e9;
    note(run, moved);
}

/* The quantile with its interval. False when so few values say nothing of it. */
static bool rank(const struct histogram *h, double q, double independent, double z, double *value, double *low,
                 double *high)
{
    double n = fmin((double)histogram_count(h), independent), half = z * sqrt(q * (1 - q) / n);
    uint64_t at, below, above;

    if (q + half >= 1 || q - half <= 0 || !histogram_quantile(h, q, false, &at) ||
        !histogram_quantile(h, q - half, false, &below) || !histogram_quantile(h, q + half, false, &above))
        return false;
    *value = (double)at;
    *low = (double)below;
    *high = (double)above;
    return true;
}

static void compare_quantile(struct run *run, struct moved moved, const struct histogram *x, const struct histogram *y,
                             double in_x, double in_y, double q)
{
    double z, low[2], high[2];

    if (histogram_count(x) < OPS_MIN || histogram_count(y) < OPS_MIN)
        return;
    run->tests++;
    if (run->counting)
        return;
    z = student_critical(run->alpha, 1e9);
    if (!rank(x, q, in_x, z, &moved.before, &low[0], &high[0]) ||
        !rank(y, q, in_y, z, &moved.after, &low[1], &high[1])) {
        run->out->unknown++;
        return;
    }
    moved.low = high[0] > 0 ? low[1] / high[0] : NAN;
    moved.high = low[0] > 0 ? high[1] / low[0] : NAN;
    moved.beyond = (low[1] > high[0] || high[1] < low[0]) &&
                   fmax(moved.before, moved.after) >= LEAST * fmin(moved.before, moved.after);
    moved.score = fabs(log((moved.after + 1) / (moved.before + 1))) * 10;
    note(run, moved);
}

static void compare_sides(struct run *run, const char *what, const char *name, const struct aspect *a,
                          const struct aspect *b)
{
    struct moved moved = {.what = what, .name = name, .low = NAN, .high = NAN};

    for (unsigned r = 0; r < sizeof(rates) / sizeof(*rates); r++)
        compare_rate(run, moved, a, b, r);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        const struct record *x = &a->tally->op[op], *y = &b->tally->op[op];

        moved.op = operation_info(op)->name;
        for (unsigned q = 0; q < 2; q++) {
            moved.metric = latency_names[q];
            compare_quantile(run, moved, &x->latency_ns, &y->latency_ns, EACH * a->intervals, EACH * b->intervals,
                             quantiles[q]);
        }
        moved.metric = "size_p50";
        if (operation_info(op)->has_size)
            compare_quantile(run, moved, &x->size, &y->size, EACH * a->intervals, EACH * b->intervals, 0.5);
    }
}

static struct aspect side_of_job(const struct job_total *job)
{
    return (struct aspect){&job->series, NULL, &job->series, &job->tally, job->series.length};
}

static struct aspect side_of_volume(const struct volume_total *volume, const struct aggregate *totals)
{
    return (struct aspect){&volume->series, &volume->busy, &totals->series, &volume->tally, totals->series.length};
}

/* The cluster's own, if it has one: a name says which job it is within a cluster. */
static const struct job_total *find_job(const struct aggregate *totals, const struct job_total *like)
{
    const struct job_total *elsewhere = NULL;

    for (uint32_t i = 0; i < totals->job_count; i++) {
        const struct job_total *job = &totals->jobs[i];

        if (strcmp(job->name, like->name) != 0 || !job->node != !like->node ||
            (job->node && strcmp(job->node, like->node) != 0))
            continue;
        if (strcmp(job->cluster, like->cluster) == 0)
            return job;
        elsewhere = elsewhere ? elsewhere : job;
    }
    return elsewhere;
}

static void compare_all(struct run *run)
{
    const struct aggregate *a = &run->out->before->totals, *b = &run->out->after->totals;
    const struct aspect x = {&a->series, NULL, &a->series, &a->tally, a->series.length},
                      y = {&b->series, NULL, &b->series, &b->tally, b->series.length};

    run->tests = 0;
    compare_sides(run, "cluster", NULL, &x, &y);
    for (uint32_t i = 0; i < a->volume_count; i++) {
        const struct volume_total *other = volume_named(b->volumes, b->volume_count, a->volumes[i].name);

        if (other) {
            const struct aspect p = side_of_volume(&a->volumes[i], a), q = side_of_volume(other, b);

            compare_sides(run, "volume", other->name, &p, &q);
        }
    }
    for (uint32_t i = 0; i < a->job_count; i++) {
        const struct job_total *other = find_job(b, &a->jobs[i]);

        if (other) {
            const struct aspect p = side_of_job(&a->jobs[i]), q = side_of_job(other);

            compare_sides(run, "job", other->name, &p, &q);
        }
    }
}

/* The jobs of one that the other does not have. */
static int only_in(const struct aggregate *one, const struct aggregate *other, const char ***list, uint32_t *count)
{
    *list = calloc(one->job_count + 1u, sizeof(**list));
    if (!*list)
        return -ENOMEM;
    for (uint32_t i = 0; i < one->job_count; i++)
        if (!find_job(other, &one->jobs[i]))
            (*list)[(*count)++] = one->jobs[i].name;
    return 0;
}

static int by_score(const void *a, const void *b)
{
    const struct moved *x = a, *y = b;

    return strcmp(x->what, y->what) /* the cluster, jobs, volumes */
               ?: ORDER(y->score, x->score)
               ?: strcmp(x->metric, y->metric);
}

int compare_reports(const struct report *before, const struct report *after, struct comparison *out)
{
    struct run run = {.out = out, .counting = true};

    *out = (struct comparison){.before = before, .after = after};
    compare_all(&run);
    run.alpha = ALPHA / (run.tests ? run.tests : 1);
    run.counting = false;
    compare_all(&run);
    if (!run.err)
        run.err = only_in(&before->totals, &after->totals, &out->gone, &out->gone_count);
    if (!run.err)
        run.err = only_in(&after->totals, &before->totals, &out->come, &out->come_count);
    if (run.err) {
        comparison_clear(out);
        return run.err;
    }
    if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_score);
    return 0;
}

void comparison_clear(struct comparison *comparison)
{
    free(comparison->list);
    free(comparison->gone);
    free(comparison->come);
    *comparison = (struct comparison){0};
}
