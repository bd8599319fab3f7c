/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/classify_jobs.h"

#include <stdatomic.h>
#include <sys/param.h>
#include <unistd.h>

#include "analyzer/homes.h"
#include "lib/thread.h"

#define INTERVAL_JOBS 16 /* the largest: intervals cost a tenth of a second a job */
#define THREADS_MAX   8
#define JOBS_MIN      4 /* a thread; fewer are done before it has begun */

/* Jobs on their way: each is taken once, the largest first, as they are sorted. */
struct jobs {
    const struct catalogue *catalogue;
    const struct aggregate *totals;
    struct judged *judged; /* NULL: they are no volumes */
    struct profile_list *lists;
    atomic_uint taken;
    atomic_int err; /* the first one: then no more are taken */
};

static int classify_one(const struct jobs *jobs, uint32_t i)
{
    const struct job_total *job = &jobs->totals->jobs[i];
    struct profile_list *list = &jobs->lists[i];
    bool intervals = i < INTERVAL_JOBS;
    int err = jobs->judged ? classify_volume(jobs->catalogue, job, &jobs->judged[i], intervals, list)
                           : classify_job(jobs->catalogue, job, intervals, list);

    return err ? err : classify_gaps(jobs->totals, job, list);
}

static void *work(void *data)
{
    struct jobs *jobs = data;
    uint32_t i;

    while (!atomic_load(&jobs->err) && (i = atomic_fetch_add(&jobs->taken, 1)) < jobs->totals->job_count) {
        int none = 0, err = classify_one(jobs, i);

        if (err)
            atomic_compare_exchange_strong(&jobs->err, &none, err);
    }
    return NULL;
}

/* The caller's thread works, too: where no other can be started, all the same. */
static int work_together(struct jobs *jobs)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[THREADS_MAX];
    unsigned wanted = (unsigned)MIN(MIN(processors, THREADS_MAX), (long)(jobs->totals->job_count / JOBS_MIN)), count = 0;

    while (count + 1 < wanted && !thread_start(&threads[count], work, jobs))
        count++;
    work(jobs);
    while (count)
        pthread_join(threads[--count], NULL);
    return jobs->err;
}

int classify_jobs(const struct catalogue *catalogue, const struct aggregate *totals, struct profile_list *lists)
{
    struct jobs jobs = {.catalogue = catalogue, .totals = totals, .lists = lists};
    int err = totals->grouping == GROUP_VOLUME ? homes_judge(catalogue, totals, &jobs.judged) : 0;

    if (!err)
        err = work_together(&jobs);
    judged_free(jobs.judged, totals->job_count);
    return err;
}
