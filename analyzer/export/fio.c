/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fio job file (https://fio.readthedocs.io): every option that is written is known to fio 3.28 and later. */
#include "analyzer/export/export.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/plan.h"
#include "analyzer/human.h"

static const char *const names[] = {
    [STEP_READ] = "read", [STEP_WRITE] = "write", [STEP_OPEN] = "open", [STEP_EMPTY] = "read-nothing",
    [STEP_PAIRS] = "make-and-delete", [STEP_CREATE] = "make", [STEP_STAT] = "stat",
};

struct writing {
    const struct export *export;
    FILE *out;
    struct plan *plans;
    const struct job_total **jobs;
    const struct volume_total **volumes;
    uint32_t count;
    bool stonewall; /* the next section waits for all before it */
};

static void open_section(struct writing *w, const char *kind, uint32_t job, uint32_t section)
{
    fprintf(w->out, "\n[%s-%u", kind, section + 1);
    if (w->count > 1)
        fprintf(w->out, "-job-%u", job + 1);
    fputs("]\n", w->out);
    if (w->stonewall)
        fputs("stonewall\n", w->out);
    w->stonewall = false;
}

/* Its own files, or the one that sections share. */
static void put_files(struct writing *w, uint32_t job, uint32_t section, uint64_t count, uint64_t bytes)
{
    if (count)
        fprintf(w->out, "filename_format=unblend.%u.%u.$filenum\nnrfiles=%llu\n", job + 1, section + 1,
                (unsigned long long)count);
    else
        fprintf(w->out, "filename=unblend.%u.data\n", job + 1);
    fprintf(w->out, "filesize=%llu\n", (unsigned long long)bytes);
}

static bool moves_data(const struct section *s)
{
    return s->step == STEP_READ || s->step == STEP_WRITE;
}

static void put_layout(struct writing *w, uint32_t job, uint32_t i, uint64_t count, uint64_t bytes)
{
    open_section(w, "layout", job, i);
    put_files(w, job, i, count, bytes);
    fputs("rw=write\nfallocate=truncate\ncreate_only=1\n", w->out);
    if (bytes < 4096)
        fprintf(w->out, "bs=%llu\n", (unsigned long long)bytes);
}

/* Those that are but opened have no data, and fio would fill none of them. */
static bool is_laid_out(const struct writing *w, const struct section *s)
{
    return s->step == STEP_OPEN || (moves_data(s) && s->files && !w->export->fill);
}

static void put_layouts(struct writing *w)
{
    for (uint32_t j = 0; j < w->count; j++) {
        const struct plan *plan = &w->plans[j];

        for (uint32_t i = 0; i < plan->count; i++)
            if (is_laid_out(w, &plan->sections[i]))
                put_layout(w, j, i, plan->sections[i].files, plan->sections[i].file_bytes);
        if (plan->shared_bytes && !w->export->fill)
            put_layout(w, j, plan->count, 0, plan->shared_bytes);
    }
}

static void put_sizes(FILE *out, const struct size_mix *mix)
{
    const char *separator = "bssplit=";

    if (mix->count == 1) {
        fprintf(out, "bs=%llu\n", (unsigned long long)mix->shares[0].bytes);
        return;
    }
    for (unsigned i = 0; i < mix->count; i++) {
        fprintf(out, "%s%llu/%u", separator, (unsigned long long)mix->shares[i].bytes, mix->shares[i].percent);
        separator = ":";
    }
    fputs("\nbs_unaligned=1\n", out);
}

static void put_transfers(struct writing *w, uint32_t job, uint32_t i)
{
    const struct plan *plan = &w->plans[job];
    const struct section *s = &plan->sections[i];
    FILE *out = w->out;

    open_section(w, names[s->step], job, i);
    put_files(w, job, i, s->files, s->files ? s->file_bytes : plan->shared_bytes);
    fprintf(out, "ioengine=psync\nrw=%s%s\n", s->random ? "rand" : "", s->step == STEP_READ ? "read" : "write");
    if (s->random)
        fprintf(out, "percentage_random=%u\nnorandommap=1\n", s->random);
    put_sizes(out, &s->mix);
    fprintf(out, "io_size=1t\nnumber_ios=%llu\n", (unsigned long long)s->ops);
    if (plan->direct)
        fputs("direct=1\n", out);
    if (s->files)
        fputs("file_service_type=sequential\nopenfiles=1\n", out);
    if (s->step == STEP_WRITE)
        fputs("overwrite=1\n", out);
    if (s->sync_every >= s->ops)
        fputs("end_fsync=1\n", out);
    else if (s->sync_every)
        fprintf(out, "fsync=%llu\n", (unsigned long long)s->sync_every);
}

static void put_names(struct writing *w, uint32_t job, uint32_t i)
{
    const struct section *s = &w->plans[job].sections[i];

    open_section(w, names[s->step], job, i);
    switch (s->step) {
    case STEP_EMPTY:
        /* Behind the end of the shared file. */
        put_files(w, job, i, 0, w->plans[job].shared_bytes + 512 * s->ops);
        fprintf(w->out, "offset=%llu\nioengine=libaio\nrw=read\nbs=512\nio_size=1t\nnumber_ios=%llu\n"
                        "create_on_open=1\n",
                (unsigned long long)w->plans[job].shared_bytes, (unsigned long long)s->ops);
        return;
    case STEP_OPEN: /* as small as a block, for one open or stat each; they stay as they are */
        put_files(w, job, i, s->files, 4096);
        fputs("ioengine=filecreate\ncreate_on_open=1\nopenfiles=1\n", w->out);
        return;
    case STEP_STAT:
        put_files(w, job, s->lent ? s->lent - 1 : i, s->files, 4096);
        fputs("ioengine=filestat\ncreate_on_open=1\nopenfiles=1\n", w->out);
        return;
    default:
        put_files(w, job, i, s->files, 4096);
        fputs("ioengine=filecreate\ncreate_on_open=1\nopenfiles=1\n", w->out);
        if (s->step == STEP_PAIRS)
            fputs("unlink_each_loop=1\nunlink=1\n", w->out);
        return;
    }
}

static void put_section(struct writing *w, uint32_t job, uint32_t i)
{
    const struct section *s = &w->plans[job].sections[i];

    if (moves_data(s))
        put_transfers(w, job, i);
    else
        put_names(w, job, i);
    if (s->loops > 1)
        fprintf(w->out, "loops=%llu\n", (unsigned long long)s->loops);
    if (s->unlink)
        fputs("unlink=1\n", w->out);
    if (s->pause_us)
        fprintf(w->out, "thinktime=%llu\nthinktime_blocks=%llu\n", (unsigned long long)s->pause_us,
                (unsigned long long)s->pause_every);
}

/* One phase after the other; all sections of a phase run at the same time. */
static void put_phase(struct writing *w, unsigned steps)
{
    w->stonewall = true;
    for (uint32_t j = 0; j < w->count; j++)
        for (uint32_t i = 0; i < w->plans[j].count; i++)
            if (steps & 1u << w->plans[j].sections[i].step)
                put_section(w, j, i);
}

/* How many files there were, where it is known: fio looks for each that it has so often that it has fewer. */
static void put_files_left(FILE *out, const struct plan *plan, const struct volume_total *volume)
{
    struct working_opens opened;
    char number[HUMAN_SIZE], other[HUMAN_SIZE];
    uint64_t files;

    if (!working_opens(&volume->working, &opened))
        return;
    files = (uint64_t)opened.files.value;
    if (files > plan->made)
        fprintf(out, "#   %s of about %s files: it has others opened the more often\n",
                human_count(number, files - plan->made), human_count(other, files));
}

/* What fio has no words for. */
static void put_rest(FILE *out, const struct plan *plan, const struct job_total *job, const struct volume_total *volume)
{
    static const enum operation unsaid[] = {OP_SEEK,   OP_READDIR,  OP_RENAME,  OP_MKDIR,
                                            OP_TRUNCATE, OP_SETATTR, OP_MMAP_FAULT};
    char number[HUMAN_SIZE], other[HUMAN_SIZE];
    uint64_t errors = 0, elsewhere = 0;

    for (unsigned i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++)
        if (tally_ops(&volume->tally, unsaid[i]))
            fprintf(out, "#   %s %s\n", human_count(number, tally_ops(&volume->tally, unsaid[i])),
                    operation_info(unsaid[i])->name);
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        errors += volume->tally.op[op].errors;
    if (errors)
        fprintf(out, "#   %s operations that failed\n", human_count(number, errors));
    for (uint32_t v = 0; v < job->volume_count; v++)
        if (&job->volumes[v] != volume)
            elsewhere += tally_file_ops(&job->volumes[v].tally);
    if (elsewhere)
        fprintf(out, "#   %s operations on other volumes (--volume NAME)\n", human_count(number, elsewhere));
    if (plan->opens > plan->opened)
        fprintf(out, "#   %s of %s opens\n", human_count(number, plan->opens - plan->opened),
                human_count(other, plan->opens));
    if (plan->fsyncs > plan->synced)
        fprintf(out, "#   %s of %s syncs\n", human_count(number, plan->fsyncs - plan->synced),
                human_count(other, plan->fsyncs));
    if (plan->deletes > plan->deleted)
        fprintf(out, "#   %s of %s deletes\n", human_count(number, plan->deletes - plan->deleted),
                human_count(other, plan->deletes));
    put_files_left(out, plan, volume);
    fputs("#   which operations came after which, which files were the same, and how long operations took\n", out);
    if (plan->looked > plan->stats)
        fprintf(out, "# fio itself makes %s stats more than were recorded.\n",
                human_count(number, plan->looked - plan->stats));
    if (plan->made > plan->creates)
        fprintf(out, "# It makes %s files more, to have some to read and write; another run finds them.\n",
                human_count(number, plan->made - plan->creates));
}

static void put_head(struct writing *w)
{
    FILE *out = w->out;

    fputs("# Made by unblend export fio; run in a directory of the volume that is to be tried.\n", out);
    fputs(w->export->fill
              ? "# Files are filled with data first, by writes that a recording of the run counts, too.\n"
              : "# Files are made sparse, so that all writes are the workload's: what was never written is read "
                "as zeros,\n"
                "# without the device. For reads of the device export with --fill.\n",
          out);
    for (uint32_t j = 0; j < w->count; j++) {
        fprintf(out, "#\n# Job %u: ", j + 1);
        export_put_name(out, w->jobs[j]->name);
        fputs(" on ", out);
        export_put_name(out, w->volumes[j]->name);
        fprintf(out, ", %.3g s. Of what it did fio is not told of:\n", export_span_s(w->jobs[j]));
        put_rest(out, &w->plans[j], w->jobs[j], w->volumes[j]);
    }
    fputs("\n[global]\nthread=1\ncreate_serialize=0\ngroup_reporting=1\n", out);
}

static int plan_all(struct writing *w)
{
    const struct aggregate *totals = w->export->totals;

    w->plans = calloc(totals->job_count + 1u, sizeof(*w->plans));
    w->jobs = calloc(totals->job_count + 1u, sizeof(*w->jobs));
    w->volumes = calloc(totals->job_count + 1u, sizeof(*w->volumes));
    if (!w->plans || !w->jobs || !w->volumes)
        return -ENOMEM;
    for (uint32_t j = 0; j < totals->job_count; j++) {
        const struct job_total *job = &totals->jobs[j];
        const struct volume_total *volume = export_volume(w->export, job);
        int err;

        if (!volume)
            continue;
        err = plan_make(job, volume, &w->plans[w->count]);
        if (err)
            return err;
        w->jobs[w->count] = job;
        w->volumes[w->count++] = volume;
    }
    return w->count ? 0 : -ENODATA;
}

int export_fio(const struct export *export, FILE *out)
{
    struct writing w = {.export = export, .out = out};
    int err = plan_all(&w);

    if (!err) {
        put_head(&w);
        put_layouts(&w);
        put_phase(&w, 1u << STEP_PAIRS | 1u << STEP_CREATE);
        put_phase(&w, 1u << STEP_READ | 1u << STEP_WRITE | 1u << STEP_OPEN | 1u << STEP_EMPTY | 1u << STEP_STAT);
    }
    for (uint32_t j = 0; j < w.count; j++)
        plan_clear(&w.plans[j]);
    free(w.plans);
    free(w.jobs);
    free(w.volumes);
    return err;
}
