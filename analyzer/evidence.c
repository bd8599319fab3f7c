/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/evidence.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/human.h"

#define MENTION_MIN 0.05 /* operations below this share are not worth a word */
#define MENTIONS    5
#define MOSTLY      0.5
#define EXACT       0.02 /* of a bucket: nearer to its lower bound is at it */
#define ALIKE       0.001 /* bytes */
#define SENTENCE    (HUMAN_SIZE + 64)

int evidence_add(struct profile_share *share, const char *format, ...)
{
    char **grown = reallocarray(share->evidence, share->evidence_count + 1u, sizeof(*grown));
    va_list args;
    char *text;
    int length;

    if (!grown)
        return -ENOMEM;
    share->evidence = grown;
    va_start(args, format);
    length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        return -ENOMEM;
    share->evidence[share->evidence_count++] = text;
    return 0;
}

/* "operations: 48 % stat, 15 % read": the most frequent kinds. */
static int mention_operations(const struct part *part, struct profile_share *share)
{
    double total = part_ops(part);
    bool used[OP_COUNT] = {false};
    char text[MENTIONS * 32] = "";
    size_t length = 0;

    for (unsigned n = 0; n < MENTIONS; n++) {
        enum operation most = OP_NONE;
        double ops = 0;

        for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
            if (!used[op] && part->ok[op] + part->failed[op] > ops) {
                most = op;
                ops = part->ok[op] + part->failed[op];
            }
        if (most == OP_NONE || ops < MENTION_MIN * total)
            break;
        used[most] = true;
        length +=
            (size_t)snprintf(text + length, sizeof(text) - length, "%s%.0f %% %s",
                             length ? ", " : "", 100 * ops / total, operation_info(most)->name);
    }
    return evidence_add(share, "operations: %s", text);
}

/* Those that failed are opens, too, as in the ratios of a report. */
static double opens_of(const struct part *part)
{
    return part_opens(part) + part->failed[OP_OPEN] + part->failed[OP_CREATE];
}

/* "12 % of operations are opens (1,092)" */
static int mention_opens(const struct part *part, struct profile_share *share)
{
    double opens = opens_of(part);
    char count[HUMAN_SIZE];

    if (opens < MENTION_MIN * part_ops(part))
        return 0;
    human_count(count, (uint64_t)llround(opens));
    return evidence_add(share, "%.0f %% of operations are opens (%s)", 100 * opens / part_ops(part),
                        count);
}

static int mention_failures(const struct part *part, struct profile_share *share)
{
    double failed = 0, total = part_ops(part);

    for (unsigned op = 0; op < OP_COUNT; op++)
        failed += part->failed[op];
    if (failed < MENTION_MIN * total)
        return 0;
    return evidence_add(share, "%.0f %% of operations fail", 100 * failed / total);
}

/* How far from their buckets' lower bounds, 0, to the upper ones, 1, transfers are of which all have so many bytes.
   Blocks of whole powers of two, as most are, are all the way down. */
static double height_of(const double sizes[BUCKET_COUNT], double bytes)
{
    double lowest = 0, widths = 0, height;

    for (unsigned bucket = 1; bucket < BUCKET_COUNT; bucket++) {
        if (!(sizes[bucket] > 0))
            continue;
        lowest += sizes[bucket] * (double)bucket_lower(bucket);
        widths += sizes[bucket] * bucket_width(bucket);
    }
    height = widths > 0 ? fmin(fmax((bytes - lowest) / widths, 0), 1) : 0;
    return height < EXACT ? 0 : height;
}

/* What a bucket holds is taken to be alike. */
static double size_in(unsigned bucket, double height)
{
    return (double)bucket_lower(bucket) + height * bucket_width(bucket);
}

/* The size that is at that place among those that are sorted. */
static double size_at(const double sizes[BUCKET_COUNT], double q, double height)
{
    return size_in(bucket_of(part_quantile(sizes, q)), height);
}

/* Of all bytes, those in pieces from a bucket on. */
static double bytes_from(const double sizes[BUCKET_COUNT], unsigned from, double height)
{
    double bytes = 0;

    for (unsigned bucket = from; bucket < BUCKET_COUNT; bucket++)
        bytes += sizes[bucket] * size_in(bucket, height);
    return bytes;
}

/* ", 99 % of the bytes in larger ones of about 8 MiB": few pieces may move what all others do not. text: SENTENCE bytes. */
static const char *larger_ones(char *text, const double sizes[BUCKET_COUNT], double height, double mean)
{
    unsigned above = bucket_of(part_quantile(sizes, 0.95)) + 1, bucket = above;
    double beyond = bytes_from(sizes, above, height), share = beyond / bytes_from(sizes, 1, height);
    char size[HUMAN_SIZE];

    *text = '\0';
    if (!(share >= MENTION_MIN) || (share < MOSTLY && mean <= size_in(above, 0)))
        return text;
    while (bucket + 1 < BUCKET_COUNT && bytes_from(sizes, bucket + 1, height) >= beyond / 2)
        bucket++;
    snprintf(text, SENTENCE, ", %.0f %% of the bytes in larger ones of about %s", floor(100 * share),
             human_bytes(size, size_in(bucket, height)));
    return text;
}

static int mention_sizes(const char *what, double transfers, const double sizes[BUCKET_COUNT],
                         double bytes, struct profile_share *share)
{
    char count[HUMAN_SIZE], low[HUMAN_SIZE], middle[HUMAN_SIZE], high[HUMAN_SIZE], sum[HUMAN_SIZE], larger[SENTENCE];
    double moved = transfers - sizes[0], height = height_of(sizes, bytes), mean = bytes / moved;
    const char *about = height > 0 ? "about " : "";

    if (moved < 0.5)
        return 0;
    human_count(count, (uint64_t)llround(moved));
    human_bytes(low, size_at(sizes, 0.05, height));
    human_bytes(middle, size_at(sizes, 0.5, height));
    human_bytes(high, size_at(sizes, 0.95, height));
    human_bytes(sum, bytes);
    larger_ones(larger, sizes, height, mean);
    if (llround(moved) == 1)
        return evidence_add(share, "1 %s moves %s", what, sum);
    if (strcmp(low, high) == 0 && fabs(size_at(sizes, 0.5, height) - mean) < ALIKE && fabs(mean - round(mean)) < ALIKE)
        about = ""; /* nearly always all of one size */
    if (strcmp(low, high) == 0)
        return evidence_add(share, "%s %ss move %s in pieces of %s%s%s", count, what, sum, about, middle, larger);
    return evidence_add(share, "%s %ss move %s in pieces of %s%s to %s, %s in the middle%s", count, what,
                        sum, about, low, high, middle, larger);
}

static int mention_reads(const struct part *part, struct profile_share *share)
{
    double bytes = part->bytes[OP_READ] + part->bytes[OP_WRITE];
    double opens = opens_of(part);
    char ratio[HUMAN_SIZE];

    if (part->read[0] >= MENTION_MIN * part->ok[OP_READ] && part->read[0] >= 1 &&
        evidence_add(share, "%.0f %% of reads return 0: files are read to their end",
                     100 * part->read[0] / part->ok[OP_READ]))
        return -ENOMEM;
    if (opens >= MENTION_MIN * part_ops(part) && figure_tells_per_mib(bytes))
        return evidence_add(share, "%s opens per MiB", human_ratio(ratio, opens / (bytes / 1048576)));
    return 0;
}

/* "98 % of the bytes written had just come from the network", or "for each byte written 1.02 came from the network" */
static int mention_received(const struct part *part, struct profile_share *share)
{
    double written = part->bytes[OP_WRITE];

    if (part->received > MENTION_MIN * written)
        return evidence_add(share, "%.0f %% of the bytes written had just come from the network",
                            100 * part->received / written);
    if (written > 0 && part->taken > MENTION_MIN * written)
        return evidence_add(share, "for each byte written, %.2f came from the network meanwhile", part->taken / written);
    return 0;
}

/* "97 % of the bytes read were read by processes that wrote meanwhile" */
static int mention_reworked(const struct part *part, struct profile_share *share)
{
    double read = part->bytes[OP_READ] + part->bytes[OP_MMAP_FAULT];

    if (!(part->reworked > MENTION_MIN * read))
        return 0;
    return evidence_add(share, "%.0f %% of the bytes read were read by processes that wrote meanwhile",
                        100 * fmin(1, part->reworked / read));
}

/* "seen in 3 processes, each by itself". Nothing where processes have too little of it each. */
static int mention_processes(const struct part *part, struct profile_share *share)
{
    if (part->together > MOSTLY * part_ops(part))
        return evidence_add(share, "seen in what several processes do together, not in one of them alone");
    if (part->processes)
        return evidence_add(share, "seen in %u %s by itself", part->processes,
                            part->processes == 1 ? "process" : "processes, each");
    return part->summed > 0 ? evidence_add(share, "unmixed from totals that hold no processes") : 0;
}

/* Of bytes that are known to come from the network nothing has to be concluded from how much was read. */
static bool has_limit(const struct part *part, const struct profile *profile)
{
    bool received = fmax(part->received, part->taken) > MOSTLY * part->bytes[OP_WRITE];

    return profile->limit && !(received && strcmp(profile->name, "stage-copy") == 0);
}

int evidence_of_part(const struct part *part, const struct profile *profile,
                     struct profile_share *share)
{
    double ops = part_ops(part);

    if (mention_operations(part, share) || mention_opens(part, share) ||
        mention_sizes("read", part->ok[OP_READ], part->read, part->bytes[OP_READ], share) ||
        mention_reads(part, share) ||
        mention_sizes("write", part->ok[OP_WRITE], part->write, part->bytes[OP_WRITE], share) ||
        mention_received(part, share) || mention_reworked(part, share) || mention_failures(part, share))
        return -ENOMEM;
    if (!profile) {
        if (part->rejected > MENTION_MIN * ops)
            return evidence_add(share,
                                "%.0f %% of it resembles a profile but breaks one of its bounds",
                                100 * part->rejected / ops);
        return evidence_add(share, "no profile of the catalogue has this mix of operations");
    }
    if (ops > 0 &&
        evidence_add(share, "agrees with the signature to %.0f %%", 100 * part->fit / ops))
        return -ENOMEM;
    if (part->given > MENTION_MIN * ops &&
        evidence_add(share, "%.0f %% of it no profile explains; so little counts with what was found",
                     100 * part->given / ops))
        return -ENOMEM;
    if (mention_processes(part, share))
        return -ENOMEM;
    if (part->unjoined > MENTION_MIN * ops &&
        evidence_add(share, "which sizes of reads go on and which jump was not recorded, as of splices of io_uring or by an older version"))
        return -ENOMEM;
    return has_limit(part, profile) ? evidence_add(share, "%s", profile->limit) : 0;
}
