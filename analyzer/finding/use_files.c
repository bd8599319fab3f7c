/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a job opens, how often, and how much of them it reads. */
#include "analyzer/finding/use.h"

#include <math.h>
#include <sys/param.h>

#include "analyzer/figure.h"

#define FORWARD      0.5 /* of the reads whose order is known: who has more does not jump */
#define MOSTLY_GROWN 0.5 /* of the bytes read: what the files had by then nobody has seen */

double use_covered(double bytes, const struct tally *tally, double opened)
{
    double grown = working_grown(bytes, opened, (double)tally->op[OP_WRITE].bytes);

    return grown > MOSTLY_GROWN * bytes ? NAN : quotient(bytes - grown, opened);
}

/* What each run of a job on a node has to fetch of a volume, if memory keeps it: each of its files once. */
double use_distinct(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                    const double *traits)
{
    double opened = traits[TRAIT_OPENS] * traits[TRAIT_FILE_MEAN], untold;
    uint32_t runs = MAX(MAX(job->attempt_count, job->node_count), 1u);
    struct working_opens files;

    if (totals->grouping != GROUP_JOB || !working_opens(&volume->working, &files))
        return opened;
    untold = fmax(traits[TRAIT_OPENS] - (double)files.opens, 0);
    return fmin(opened, files.bytes.high * runs + untold * traits[TRAIT_FILE_MEAN]);
}

void use_of_files(const struct tally *tally, double *v)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;
    double opens = (double)histogram_count(sizes), bytes = figure_bytes_of(sizes, 0);

    v[TRAIT_OPENS] = opens;
    v[TRAIT_FILE_MEAN] = quotient(bytes, opens);
    v[TRAIT_COVERAGE] = use_covered((double)tally->op[OP_READ].bytes, tally, bytes);
    v[TRAIT_OPEN_TIME] = use_seconds(tally, OP_OPEN) + use_seconds(tally, OP_CLOSE);
}

/* Of processes of which most reads jump, or that read nothing; what others read of their files says nothing of it. */
double use_jumped(const struct job_total *job, const struct volume_total *volume, double covered)
{
    double bytes = 0, opened = 0;

    for (uint32_t i = 0; i < job->unit_count; i++) {
        const struct tally *tally = &job->units[i].tally;
        const struct record *read = &tally->op[OP_READ];

        if (job->units[i].volume != volume->name || !((double)read->order[ORDER_CONSECUTIVE] <= FORWARD * figure_ordered(read)))
            continue;
        bytes += (double)read->bytes;
        opened += figure_bytes_of(&tally->op[OP_OPEN].size, 0);
    }
    return opened > 0 ? fmin(covered, use_covered(bytes, &volume->tally, opened)) : covered;
}

/* Of a job's opens those by a process that had opened the file before: at least what it opens more often than there
   are files. NAN when processes are not known. */
static double reopened(const struct job_total *job, const struct volume_total *volume, double files)
{
    double count = 0;

    if (histogram_count(&volume->rest.op[OP_OPEN].size))
        return NAN;
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (job->units[i].volume == volume->name)
            count += fmax((double)histogram_count(&job->units[i].tally.op[OP_OPEN].size) - files, 0);
    return count;
}

/* Of the files' interval the end that speaks for the job. A number of an inode may be another file's soon, and some
   file systems do not tell these apart: there are at least as many files as were made. */
int use_of_working_set(const struct aggregate *totals, const struct job_total *job,
                          const struct volume_total *volume, struct subject *subject)
{
    double *v = subject->values, files, opens, again;
    struct working_opens opened;

    if (!working_opens(&volume->working, &opened))
        return 0;
    opens = (double)opened.opens;
    files = fmax(opened.files.high, (double)histogram_count(&volume->tally.op[OP_CREATE].size));
    again = reopened(job, volume, files);
    if (isnan(again) && totals->grouping != GROUP_JOB)
        return 0; /* many jobs open a file: each once, maybe */
    again -= v[TRAIT_OPENS] - opens; /* of files that nobody has told of */
    v[TRAIT_OPENS_PER_FILE] = opens / files;
    v[TRAIT_REOPENED] = isnan(again) ? NAN : fmax(again, 0) / opens;
    v[TRAIT_OPEN_LOW] = v[TRAIT_OPEN_TIME] * (isnan(again) ? fmax(1 - files / opens, 0) : v[TRAIT_REOPENED]);
    return subject_files(subject, &opened);
}
