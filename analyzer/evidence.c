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
#include "analyzer/pieces.h"

#define MENTION_MIN 0.05 /* operations below this share are not worth a word */
#define MENTIONS    5
#define MOSTLY      0.5

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
    return part->summed > 0 ? evidence_add(share, "unmixed from a sum in which no process stands by itself") : 0;
}

/* Of bytes that are known to come from the network nothing has to be concluded from how much was read. */
static bool has_limit(const struct part *part, const struct profile *profile)
{
    bool received = fmax(part->received, part->taken) > MOSTLY * part->bytes[OP_WRITE];

    return profile->limit && !(received && strcmp(profile->name, "stage-copy") == 0);
}

/* "84 % of it resembles losf, but with opens of 162; losf has at least 500" */
static int mention_rejected(const struct rejected *rejected, double percent, struct profile_share *share)
{
    const struct requirement *bound = rejected->broken;
    const char *name = rejected->profile ? rejected->profile->name : "a profile";
    bool few = bound && rejected->value < bound->min;
    char value[HUMAN_SIZE], limit[HUMAN_SIZE];

    if (!bound)
        return evidence_add(share, "%.0f %% of it resembles %s, but not closely enough", percent, name);
    if (isnan(rejected->value))
        return evidence_add(share, "%.0f %% of it resembles %s, but its %s is not known", percent, name,
                            bound->feature);
    return evidence_add(share, "%.0f %% of it resembles %s, but with %s of %s; %s has at %s %s", percent, name,
                        bound->feature, human_ratio(value, rejected->value), name, few ? "least" : "most",
                        human_ratio(limit, few ? bound->min : bound->max));
}

int evidence_of_part(const struct part *part, const struct profile *profile,
                     struct profile_share *share)
{
    double ops = part_ops(part);

    if (mention_operations(part, share) || mention_opens(part, share) ||
        pieces_mention("read", part->ok[OP_READ], part->read, part->bytes[OP_READ], share) ||
        mention_reads(part, share) ||
        pieces_mention("write", part->ok[OP_WRITE], part->write, part->bytes[OP_WRITE], share) ||
        mention_received(part, share) || mention_reworked(part, share) || mention_failures(part, share))
        return -ENOMEM;
    if (!profile)
        return part->rejected.ops > MENTION_MIN * ops
                   ? mention_rejected(&part->rejected, 100 * part->rejected.ops / ops, share)
                   : evidence_add(share, "no profile of the catalogue has this mix of operations");
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
