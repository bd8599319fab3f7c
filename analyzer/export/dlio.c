/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A workload file of DLIO, with keys that its documentation lists (https://dlio-benchmark.readthedocs.io). */
#include "analyzer/export/export.h"

#include <errno.h>
#include <math.h>
#include <sys/param.h>

#include "analyzer/figure.h"

#define WHOLE_FILE  16777216.0 /* smaller files are one sample each */
#define RANDOM      0.5
#define PAGE        4096.0
#define HELPER      0.05       /* of what the largest reader reads: who reads less starts the others, or looks on */
#define START_UP    0.03125    /* of the mean size by bytes, and of the bytes */
#define MIDDLE      0.5
#define NEAR        0.02       /* of a bucket */
#define SPREAD_MAX  0.5        /* of the mean: DLIO draws lengths of a normal distribution, with more many are below 0 */
#define CHECKPOINT  1048576.0  /* bytes a file written, at least */

/* What a data set and its reader look like. */
struct shape {
    const char *format;
    double files, samples, record, deviation; /* samples: of a file */
    double differ; /* the deviation as it was; 0: that is it */
    double epochs, threads, compute_s;
    double checkpoint, steps; /* bytes of one, and steps between two; 0: none */
    bool shuffled, sync;
};

/* Files that were opened, of a size and more. */
struct opened {
    double count, bytes, squares;
};

/* Those whose bucket's middle is that large; in their buckets they are so far up, 0 at the lower bounds and 1 at the
   upper ones. */
static struct opened opened_from(const struct histogram *sizes, double least, double height)
{
    struct opened sum = {0};

    for (unsigned i = 0; i < sizes->length; i++) {
        unsigned bucket = sizes->cells[i].bucket;
        double n = (double)sizes->cells[i].count, size = (double)bucket_lower(bucket) + height * bucket_width(bucket);

        if (!bucket || bucket_middle(bucket) < least)
            continue;
        sum.count += n;
        sum.bytes += n * size;
        sum.squares += n * size * size;
    }
    return sum;
}

/* How far up, if each was read whole and once: their bytes are those that were read, less the others'. The middle where
   they are more or fewer than such files can have; and who reads blocks has files of whole ones, so what is near to it
   is at the lower bound. */
static double height_of(const struct histogram *sizes, double least, double read)
{
    double lowest = opened_from(sizes, least, 0).bytes, highest = opened_from(sizes, least, 1).bytes;
    double height = quotient(read - lowest, highest - lowest);

    if (!(height >= -NEAR && height <= 1))
        return MIDDLE;
    return height < NEAR ? 0 : height;
}

/* The data's, without empty files and without those that a program reads to begin with: small ones, of which all together
   have hardly any of the bytes. So many bytes were read. */
static struct opened opened_data(const struct histogram *sizes, double read)
{
    struct opened all = opened_from(sizes, 0, MIDDLE), data;
    double least = all.count > 0 ? START_UP * all.squares / all.bytes : 0;

    data = opened_from(sizes, least, MIDDLE);
    if (data.bytes < (1 - START_UP) * all.bytes) {
        least = 0;
        data = all;
    }
    return opened_from(sizes, least, height_of(sizes, least, read - (all.bytes - data.bytes)));
}

/* How many files the data's opens are of, by the bytes of those that were told; files that were made are among these. */
static double files_of(const struct volume_total *volume, const struct opened *data)
{
    struct working_opens opened;

    if (tally_succeeded(&volume->tally, OP_CREATE) || !working_opens(&volume->working, &opened))
        return data->count;
    return fmin(data->count, floor(opened.bytes.value * quotient(data->count, data->bytes) + 0.5));
}

static double read_by(const struct unit *unit, const struct volume_total *volume)
{
    if (unit->volume != volume->name)
        return 0;
    return (double)unit->tally.op[OP_READ].bytes + (double)unit->tally.op[OP_MMAP_FAULT].bytes;
}

static double readers(const struct job_total *job, const struct volume_total *volume)
{
    double count = 0, most = 0;

    for (uint32_t i = 0; i < job->unit_count; i++)
        most = fmax(most, read_by(&job->units[i], volume));
    for (uint32_t i = 0; i < job->unit_count; i++)
        count += read_by(&job->units[i], volume) > HELPER * most;
    return fmax(count, 1);
}

static void find_shape(const struct job_total *job, const struct volume_total *volume, struct shape *s)
{
    const struct record *read = &volume->tally.op[OP_READ], *fault = &volume->tally.op[OP_MMAP_FAULT];
    const struct histogram *sizes = &volume->tally.op[OP_OPEN].size;
    const struct opened data = opened_data(sizes, (double)read->bytes);
    double opens = fmax(data.count, 1), bytes = (double)read->bytes;
    double file = data.count > 0 ? data.bytes / data.count : bytes / opens;
    double filled = fmax((double)histogram_filled(&read->size), 1);
    double ordered = (double)read->order[0] + (double)read->order[1] + (double)read->order[2];
    double random = ordered > 0 ? 1 - (double)read->order[ORDER_CONSECUTIVE] / ordered : 0;

    *s = (struct shape){.files = fmax(files_of(volume, &data), 1),
                        .samples = 1,
                        .threads = readers(job, volume),
                        .shuffled = random >= RANDOM};
    if (fault->bytes > read->bytes) {
        s->format = "mmap_indexed_binary";
        s->record = PAGE;
        s->shuffled = true;
    } else if (file <= WHOLE_FILE && filled / opens < 64) {
        s->format = "npz";
        s->record = file;
        s->deviation = data.count > 0 ? sqrt(fmax(data.squares / data.count - file * file, 0)) : NAN;
    } else {
        s->format = random >= RANDOM ? "hdf5" : "tfrecord";
        s->record = bytes / filled;
    }
    s->record = fmax(floor(s->record), 1);
    if (s->deviation > SPREAD_MAX * s->record) {
        s->differ = s->deviation;
        s->deviation = floor(SPREAD_MAX * s->record);
    }
    if (s->record < file && !(s->deviation > 0))
        s->samples = fmax(floor(file / s->record), 1);
    s->epochs = fmax(floor(fmax(bytes, (double)fault->bytes) / (s->files * s->samples * s->record) + 0.5), 1);
}

/* What is left of the time when reading is done, and what is written now and then. */
static void find_pace(const struct job_total *job, const struct volume_total *volume, struct shape *s)
{
    const struct tally *tally = &volume->tally;
    double waiting = 0, creates = (double)tally_succeeded(tally, OP_CREATE), steps = s->files * s->samples * s->epochs;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        waiting += (double)tally->op[op].latency_sum_ns / 1e9;
    s->compute_s = fmax(export_span_s(job) - waiting / s->threads, 0) / steps;
    if (!(creates > 0) || (double)tally->op[OP_WRITE].bytes / creates < CHECKPOINT)
        return;
    s->checkpoint = floor((double)tally->op[OP_WRITE].bytes / creates);
    s->steps = fmax(floor(steps / creates), 1);
    s->sync = tally_ops(tally, OP_FSYNC) > 0;
}

static void put(FILE *out, const struct shape *s)
{
    fprintf(out, "model:\n  name: unblend\n");
    if (s->checkpoint > 0)
        fprintf(out, "  model_size_bytes: %.0f\n", s->checkpoint);
    fprintf(out, "\nframework: pytorch\n\nworkflow:\n  generate_data: True\n  train: True\n  checkpoint: %s\n",
            s->checkpoint > 0 ? "True" : "False");
    fprintf(out, "\ndataset:\n  data_folder: data/unblend\n  format: %s\n  num_files_train: %.0f\n"
                 "  num_samples_per_file: %.0f\n  record_length_bytes: %.0f\n",
            s->format, s->files, s->samples, s->record);
    if (s->deviation > 0)
        fprintf(out, "  record_length_bytes_stdev: %.0f\n", s->deviation);
    fprintf(out, "\nreader:\n  data_loader: pytorch\n  batch_size: 1\n  read_threads: %.0f\n  file_shuffle: %s\n"
                 "  sample_shuffle: %s\n",
            s->threads, s->shuffled ? "seed" : "off", s->shuffled ? "seed" : "off");
    fprintf(out, "\ntrain:\n  epochs: %.0f\n  computation_time: %.6f\n", s->epochs, s->compute_s);
    if (s->checkpoint > 0)
        fprintf(out, "\ncheckpoint:\n  checkpoint_folder: checkpoints/unblend\n  steps_between_checkpoints: %.0f\n"
                     "  fsync: %s\n",
                s->steps, s->sync ? "True" : "False");
}

int export_dlio(const struct export *export, FILE *out)
{
    const struct job_total *job = NULL;
    const struct volume_total *volume = NULL;
    uint32_t more = 0, others = 0;
    struct shape shape;

    for (uint32_t j = 0; j < export->totals->job_count; j++) {
        const struct volume_total *busiest = export_volume(export, &export->totals->jobs[j]);
        bool reads = busiest && (busiest->tally.op[OP_READ].bytes || busiest->tally.op[OP_MMAP_FAULT].bytes);

        others += busiest && !reads;
        more += reads && job;
        if (reads && !job) { /* jobs are sorted by bytes */
            job = &export->totals->jobs[j];
            volume = busiest;
        }
    }
    if (!job)
        return others ? -ENOMSG : -ENODATA;
    find_shape(job, volume, &shape);
    find_pace(job, volume, &shape);
    fputs("# Made by unblend export dlio from job ", out);
    export_put_name(out, job->name);
    fputs(" on ", out);
    export_put_name(out, volume->name);
    fputs("\n# A guess where calls do not tell: which library read them (format), where in a file a sample ends, how "
          "many make a\n"
          "# batch (1 here), and which files are data (not those that are small beside the others, and few of the bytes).\n"
          "# Not told: metadata operations by themselves, bursts, sizes of single writes.\n",
          out);
    if (shape.differ > 0)
        fprintf(out, "# Lengths differ more than DLIO can draw them: their standard deviation is %.0f bytes.\n",
                shape.differ);
    if (more)
        fprintf(out, "# %u more jobs read something: --job GLOB selects.\n", more);
    fputc('\n', out);
    put(out, &shape);
    return 0;
}
