/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/wait.h"

#include <math.h>

#define HOUR_NS       3600e9
#define CALM_SHARE    0.01 /* of the watched time: less without I/O does not tell what is usual, */
#define CALM_NS       1e9  /* nor does less than this */

static void add(const struct tally *tally, struct wait *wait)
{
    const struct record *read = &tally->op[OP_READ];
    uint64_t filled = histogram_filled(&read->size);
    bool small = !filled || read->bytes / filled < WAIT_SMALL;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        double seconds = (double)tally->op[op].latency_sum_ns / 1e9;

        wait->all_s += seconds;
        if (operation_info(op)->class == OP_CLASS_METADATA)
            wait->metadata_s += seconds;
        else if (op == OP_FSYNC)
            wait->fsync_s += seconds;
        else if (op == OP_READ && small)
            wait->small_reads_s += seconds;
        else if (op != OP_SEEK)
            wait->bandwidth_s += seconds;
    }
}

void wait_of(const struct job_total *job, struct wait *out)
{
    *out = (struct wait){.exposed = job->watched_ns ? (double)job->exposed_ns / (double)job->watched_ns : NAN};
    for (uint32_t i = 0; i < job->unit_count; i++)
        add(&job->units[i].tally, out);
    for (uint32_t v = 0; v < job->volume_count; v++)
        add(&job->volumes[v].rest, out);
}

static bool enough(double calm, double watched)
{
    return calm >= CALM_NS && calm >= CALM_SHARE * watched;
}

bool gpu_loss_of(const struct gpu_time *time, struct gpu_loss *out)
{
    double watched = (double)time->watched_ns, io = (double)time->io_ns, idle = (double)time->idle_ns;
    double idle_io = (double)time->idle_io_ns, calm = (double)time->calm_ns, between = watched - io, usual;

    *out = (struct gpu_loss){watched / HOUR_NS, calm / HOUR_NS, .usual = NAN, .low_h = NAN, .high_h = NAN};
    if (!time->watched_ns)
        return false;
    out->idle = idle / watched;
    if (enough(calm, watched))
        usual = (double)time->idle_calm_ns / calm;
    else if (enough(between, watched))
        usual = fmax(0, idle - idle_io) / between;
    else
        return true;
    out->usual = usual;
    out->low_h = fmax(0, (double)time->idle_exposed_ns - usual * io) / HOUR_NS;
    out->high_h = fmax(0, idle_io - usual * io) / HOUR_NS;
    return true;
}

bool gpu_loss_sum(const struct aggregate *totals, struct gpu_loss *out, const struct job_total **worst)
{
    double idle_h = 0, most_h = -1;

    *worst = NULL;
    *out = (struct gpu_loss){.usual = NAN, .low_h = NAN, .high_h = NAN};
    for (uint32_t i = 0; i < totals->job_count; i++) {
        struct gpu_loss loss;

        if (!gpu_loss_of(&totals->jobs[i].gpu, &loss))
            continue;
        out->watched_h += loss.watched_h;
        idle_h += loss.idle * loss.watched_h;
        if (isnan(loss.usual))
            continue;
        out->low_h = loss.low_h + (isnan(out->low_h) ? 0 : out->low_h);
        out->high_h = loss.high_h + (isnan(out->high_h) ? 0 : out->high_h);
        if (loss.high_h > most_h) {
            most_h = loss.high_h;
            *worst = &totals->jobs[i];
        }
    }
    out->idle = out->watched_h > 0 ? idle_h / out->watched_h : NAN;
    return out->watched_h > 0;
}
