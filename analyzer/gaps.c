/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/gaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/clocks.h"
#include "analyzer/report.h"
#include "lib/clock.h"

static bool always(const struct report *report)
{
    return true;
}

/* Recordings of earlier versions. */
static bool lacks_slots(const struct report *report)
{
    return !windows_complete(&report->totals.windows, &report->totals.series);
}

static bool is_coarser_than_1s(const struct report *report)
{
    return lacks_slots(report) && report->totals.series.length &&
           1000 % report->totals.series.slot_ms != 0;
}

static bool is_coarser_than_10s(const struct report *report)
{
    return lacks_slots(report) && report->totals.series.length &&
           10000 % report->totals.series.slot_ms != 0;
}

static bool lacks_looks(const struct report *report)
{
    for (uint32_t i = 0; i < report->totals.volume_count; i++)
        if (!report->totals.volumes[i].looked && tally_file_ops(&report->totals.volumes[i].tally))
            return true;
    return false;
}

static bool has_block_layer(const struct report *report)
{
    for (enum operation op = OP_FILE_END; op < OP_COUNT; op++)
        if (report->totals.tally.op[op].latency_ns.length)
            return true;
    return false;
}

static bool lacks_stuck(const struct report *report)
{
    return !report->totals.has_processes;
}

/* Recordings of earlier versions, and transfers between two files only. */
static bool lacks_order(const struct report *report)
{
    const struct tally *tally = &report->totals.tally;
    uint64_t known = 0;

    for (unsigned i = 0; i < ORDER_COUNT; i++)
        known += tally->op[OP_READ].order[i] + tally->op[OP_WRITE].order[i];
    return !known && (tally->op[OP_READ].bytes || tally->op[OP_WRITE].bytes);
}

static bool lacks_file_sizes(const struct report *report)
{
    const struct tally *tally = &report->totals.tally;

    return !tally->op[OP_OPEN].size.length && !tally->op[OP_CREATE].size.length &&
           (tally_succeeded(tally, OP_OPEN) || tally_succeeded(tally, OP_CREATE));
}

static bool lacks_stalls(const struct report *report)
{
    for (uint32_t i = 0; i < report->totals.job_count; i++)
        if (report->totals.jobs[i].watched_ns)
            return false;
    return report->totals.job_count > 0;
}

static bool has_trees(const struct report *report)
{
    return report->totals.has_trees;
}

static bool lacks_trees(const struct report *report)
{
    return !report->totals.has_trees;
}

/* Nobody tried; who did says what came of it. */
static bool lacks_gpus(const struct report *report)
{
    for (uint32_t i = 0; i < report->totals.hook_count; i++)
        if (strcmp(report->totals.hooks[i].name, HOOK_GPU) == 0)
            return false;
    return true;
}

/* Some volume's reads are nobody knows from where. */
static bool lacks_cache(const struct report *report)
{
    for (uint32_t i = 0; i < report->totals.volume_count; i++) {
        const struct record *read = &report->totals.volumes[i].tally.op[OP_READ];

        if (read->bytes && !read->cache[CACHE_HIT_OPS] && !read->cache[CACHE_MISS_OPS])
            return true;
    }
    return false;
}

static bool lacks_error_codes(const struct report *report)
{
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        const struct record *record = &report->totals.tally.op[op];

        if (histogram_count(&record->error_codes) < record->errors)
            return true;
    }
    return false;
}

static bool lacks_space(const struct report *report)
{
    struct space space;

    for (uint32_t i = 0; i < report->totals.volume_count; i++)
        if (report->totals.volumes[i].mount_count && !filling_last(&report->totals.volumes[i].filling, &space))
            return true;
    return false;
}

static bool lacks_growth(const struct report *report)
{
    return report->totals.end_ns - report->totals.start_ns < FILLING_DAYS_MIN * 86400000000000LL;
}

static bool lacks_offer(const struct report *report)
{
    return !report->offer;
}

static bool lacks_processes(const struct report *report)
{
    for (uint32_t i = 0; i < report->totals.job_count; i++)
        if (report->totals.jobs[i].unit_count)
            return false;
    return report->totals.job_count > 0;
}

static bool has_backend(const struct backends *backends, enum layer layer, const char *volume, const char *node)
{
    for (uint32_t i = 0; i < backends->count; i++) {
        const struct backend *backend = &backends->list[i];

        if (backend->layer == layer && (!volume || strcmp(backend->volume, volume) == 0) &&
            (!node || strcmp(backend->node, node) == 0))
            return true;
    }
    return false;
}

/* A client's mounts, or a server's own counters, whose requests no programs have followed. */
static bool has_untold_nfs(const struct report *report)
{
    const struct aggregate *totals = &report->totals;
    const struct backends *backends = &totals->backends;

    for (uint32_t i = 0; i < totals->volume_count; i++)
        if (totals->volumes[i].fstype && strncmp(totals->volumes[i].fstype, "nfs", 3) == 0 &&
            !has_backend(backends, LAYER_NFS_CLIENT, totals->volumes[i].name, NULL))
            return true;
    for (uint32_t i = 0; i < backends->count; i++)
        if (backends->list[i].layer == LAYER_NFSD &&
            !has_backend(backends, LAYER_NFS_SERVER, NULL, backends->list[i].node))
            return true;
    return false;
}

/* What clients ask of them, storage nodes do. */
static bool serves(const struct report *report)
{
    bool storage = false, other = false;

    for (uint32_t i = 0; i < report->totals.node_count; i++) {
        const char *role = report->totals.nodes[i].role;

        if (role && strcmp(role, "storage") == 0)
            storage = true;
        else
            other = true;
    }
    return storage && other;
}

static bool is_unended(const struct report *report)
{
    const struct job_total *first;

    return report_unended(report, &first) > 0;
}

static bool is_unwatched(const struct report *report)
{
    return report->totals.unwatched_ns > 0;
}

static bool is_told_twice(const struct report *report)
{
    return report->totals.twice_ns > 0;
}

static bool is_grouped(const struct report *report)
{
    return report->totals.grouping != GROUP_JOB;
}

/* The one list of what a report leaves null or less exact, so that no figure is so without a word. */
static const struct {
    struct gap gap;
    bool (*holds)(const struct report *report);
} gaps[] = {
    {{"access-shape", "where transfers start is not recorded: sequential, consecutive and random are null"},
     lacks_order},
    {{"file-size", "sizes of opened files are not recorded: file_size is null"}, lacks_file_sizes},
    {{"page-cache", "whether the page cache served a read is not known with O_DIRECT, on file systems that may go "
                    "past it or have no device (FUSE, SMB, 9P, overlay, tmpfs), of copies that they may make by "
                    "themselves, and of what was counted under a coarser key: cached is null where it is known of no read"},
     lacks_cache},
    {{"error-codes", "some errors were counted without their errno, for want of room or at the block layer: they are "
                     "\"?\" in error_codes"},
     lacks_error_codes},
    {{"burst-slots", "demand within an interval is not recorded: burst figures of 100 ms windows "
                     "and latencies in bursts and outside of them are null"},
     lacks_slots},
    {{"burst-window-1s", "intervals are longer than a second: figures of 1 s windows are null"},
     is_coarser_than_1s},
    {{"burst-window-10s", "intervals are no parts of 10 s: figures of 10 s windows are null"},
     is_coarser_than_10s},
    {{"in-flight", "what is in flight was not looked at between the intervals' ends: in_flight.max is null"},
     lacks_looks},
    {{"in-flight-block", "requests of the block layer are seen when they complete: of them in_flight "
                         "knows the mean only, the rest is null"},
     has_block_layer},
    {{"in-flight-stuck", "the records hold no processes: in_flight.stuck is null"}, lacks_stuck},
    {{"roles", "storage nodes do what clients ask of them: what their servers read and write counts in the sums of "
               "the cluster a second time; --node tells them apart"},
     serves},
    {{"nfs-requests", "no requests to some NFS servers, or at one, were followed one by one (see the hooks of NFS): the "
                      "storage side has the sums that the kernel keeps, without percentiles, sizes and for whom"},
     has_untold_nfs},
    {{"working-set", "files that were opened before anybody looked are in no working set, and their bytes count as "
                     "reread; working_set is null where no regular file was seen being opened, and reread where more "
                     "was read than the files had that were opened, and as much was written meanwhile: it may be that"},
     always},
    {{"exposed-io", "nobody watched ranks' main threads: unblend record does, and agents those of processes with a "
                    "rank's variable (RANK, LOCAL_RANK, SLURM_PROCID, ...): io_wait.exposed is null"},
     lacks_stalls},
    {{"pressure", "io_pressure is the kernel's own word of a whole node, of all its jobs: tasks that wait for block devices and "
                  "for pages of files are in it, those that wait for FUSE, for locks and for most network file systems' "
                  "answers are not; it is null for nodes whose kernel does not tell (CONFIG_PSI, psi=1)"},
     always},
    {{"gpu", "GPUs are asked how busy they are by unblend record alone, not by agents: io_wait.gpu_hours is null"},
     lacks_gpus},
    {{"trees", "paths are not recorded: trees is null; unblend record --paths and unblend-agent --trees record them"},
     lacks_trees},
    {{"trees-spelled", "operations by path are in the tree that the path spells: symbolic links are not followed, and "
                       "with \"..\" in them, as where no tree could be told, they are in the one without a name"},
     has_trees},
    {{"limits", "what storage can do was not told (--platform): limit and utilization are of the highest "
                "that was seen"},
     lacks_offer},
    {{"demand-windows", "windows shorter than the recorded intervals, or longer than the span, have no demand: there "
                        "it is null; so is in_flight in windows of 100 ms"},
     always},
    {{"space", "how full some volumes are was not told: agents ask once a minute, a mount that hangs does not answer, "
               "and recordings made without an agent do not ask: used_bytes, total_bytes, used_files and total_files "
               "are null"},
     lacks_space},
    {{"growth", "two weeks are needed to tell how fast volumes fill up: growth_bytes_day and full_at are null"},
     lacks_growth},
    {{"share-interval", "shares that were counted process by process are no estimates, and those of sums have "
                        "intervals where they were unmixed, and not named as one program, of the jobs with the most "
                        "bytes: else share_ops_interval, share_bytes_interval and residual_p are null"},
     always},
    {{"blend-grouping", "jobs are added up, and a sum is taken to do all that it does all the time: effective_profiles and "
                        "blend_index are at most these; by job they are more exact"},
     is_grouped},
    {{"blend-process", "most of the time is of processes, or of sums without any, that each did several things, and it is "
                       "not known when which: as if all of them were at once, effective_profiles and blend_index are at "
                       "most these"},
     report_mingles},
    {{"recording-end", "a recording ended before its command did, as when its time was up or the recorder was killed: "
                       "what the command did then is not known, and its attempt's end and exit are null"},
     is_unended},
    {{"unwatched", "some node was not watched between two recordings (unwatched_ms): windows of bursts leave that time "
                   "out, and so does mean_bytes_s; rates, spikes and phases take it for a part of the span in which "
                   "nothing was done"},
     is_unwatched},
    {{"twice", "recordings of one node overlap in time (twice_ms): what more than one of them has counts more than "
               "once; a report of each by itself does not"},
     is_told_twice},
    {{"processes", "the records hold no processes: profiles are unmixed from the totals of jobs"},
     lacks_processes},
};

#define GAP_COUNT (sizeof(gaps) / sizeof(*gaps))

int gaps_find(struct report *report)
{
    const int64_t now_ns = wall_clock_ns();
    size_t count = 0;

    report->gaps = calloc(GAP_COUNT + 2, sizeof(*report->gaps));
    if (!report->gaps || clocks_tell(&report->totals, now_ns, &report->clocks) ||
        clocks_doubt(&report->totals, now_ns, &report->ahead))
        return -ENOMEM;
    report->clock_gap = (struct gap){"clock", report->clocks};
    if (report->clocks)
        report->gaps[count++] = &report->clock_gap;
    for (size_t i = 0; i < GAP_COUNT; i++)
        if (gaps[i].holds(report))
            report->gaps[count++] = &gaps[i].gap;
    return 0;
}
