/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/finding/finding.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/rule.h"
#include "analyzer/human.h"
#include "lib/order.h"
#include "lib/vector.h"

#define AT_BOUND    0.6   /* how sure one is just beyond a bound */
#define UNSEEN      0.6   /* and what is left of it for each thing that was not seen */
#define COST_MIN_S  0.002 /* cheaper ones are nobody's trouble */
#define SHARE_MIN   0.01  /* of the job's time in operations */
#define TRIFLE_MAX  0.01  /* of the span */

struct making {
    const struct finding_matter *matter;
    struct finding_list list;
};

__attribute__((format(printf, 2, 3))) static int say(struct finding *finding, const char *format, ...)
{
    char *text;
    va_list arguments;
    int length;

    if (finding->evidence_count == FINDING_EVIDENCE)
        return 0;
    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return -ENOMEM;
    finding->evidence[finding->evidence_count++] = text;
    return 0;
}

static const char *show(char *buffer, enum trait_unit unit, double value)
{
    switch (unit) {
    case UNIT_COUNT:
        return human_count(buffer, (uint64_t)value);
    case UNIT_BYTES:
        return human_bytes(buffer, value);
    case UNIT_SECONDS:
        return human_ns(buffer, 1e9 * value);
    case UNIT_SHARE:
        snprintf(buffer, HUMAN_SIZE, "%.0f %%", 100 * value);
        return buffer;
    case UNIT_RATIO:
        return human_ratio(buffer, value);
    case UNIT_FLAG:
        return value > 0 ? "yes" : "no";
    }
    return "";
}

/* How sure: 0 on the wrong side, AT_BOUND at the bound, near 1 far away from it. */
static double margin(const struct bound *bound, double value)
{
    enum trait_unit unit = trait_infos[bound->trait].unit;

    if (bound->at_most ? value > bound->value : value < bound->value)
        return 0;
    if (bound->strict && value == bound->value)
        return 0;
    if (unit == UNIT_FLAG)
        return 1;
    if (unit == UNIT_SHARE && bound->value < 1 && !bound->at_most)
        return AT_BOUND + (1 - AT_BOUND) * fmin((value - bound->value) / (1 - bound->value), 1);
    if (bound->at_most)
        return 1 - (1 - AT_BOUND) * (bound->value > 0 ? value / bound->value : 1);
    return 1 - (1 - AT_BOUND) * (value > 0 ? bound->value / value : 1);
}

/* How sure it is that the subject is one of the rule's; 0: it is none. */
static double match(const struct rule *rule, const struct subject *subject)
{
    double least = 1, unknown = 1;

    if (rule->of_device && subject->values[TRAIT_IN_MEMORY] > 0)
        return 0;
    for (unsigned i = 0; i < RULE_BOUNDS && rule->bounds[i].trait; i++) {
        const struct bound *bound = &rule->bounds[i];
        double value = subject->values[bound->trait];

        if (isnan(value)) {
            if (!bound->optional)
                return 0;
            unknown *= UNSEEN;
            continue;
        }
        least = fmin(least, margin(bound, value));
    }
    if (rule->sure && !isnan(subject->values[rule->sure]))
        unknown *= subject->values[rule->sure];
    return rule->confidence * least * unknown;
}

/* Hooks without which operations go uncounted, whatever the rule looks at. */
static bool hides_operations(const char *hook)
{
    return strstr(hook, "sys_") || strstr(hook, "io_uring_submit") || strcmp(hook, "libaio") == 0 ||
           operation_by_name(hook) != OP_NONE;
}

static bool is_needed(const struct rule *rule, const char *hook)
{
    for (unsigned i = 0; i < RULE_NEEDS && rule->needs[i]; i++)
        if (strstr(hook, rule->needs[i]))
            return true;
    return hides_operations(hook) && strcmp(hook, "mmap_fault") != 0;
}

/* The job whose name that is; NULL for none, or where it is not of one. */
static const struct job_total *job_named(const struct aggregate *totals, const char *name)
{
    for (uint32_t i = 0; name && i < totals->job_count; i++)
        if (totals->jobs[i].name == name)
            return &totals->jobs[i];
    return NULL;
}

static int lower(const struct rule *rule, const struct aggregate *totals, struct finding *finding)
{
    const struct job_total *job = job_named(totals, finding->job);

    for (uint32_t i = 0; i < totals->hook_count; i++) {
        const struct hook_total *hook = &totals->hooks[i];

        if (!is_needed(rule, hook->name) || !aggregate_misses(totals, job, hook))
            continue;
        finding->confidence *= UNSEEN;
        if (say(finding, "less sure: %s was not seen on every node: %s", hook->name, hook->told))
            return -ENOMEM;
    }
    return 0;
}

/* The first of the cases that the remedy does not fit which this is; NULL for none. */
static const struct rule_case *special_case(const struct rule *rule, const struct subject *subject)
{
    for (const struct rule_case *of = rule->instead; of < rule->instead + RULE_CASES && of->remedy; of++) {
        double value = subject->values[of->when.trait];

        if (!isnan(value) && margin(&of->when, value) > 0)
            return of;
    }
    return NULL;
}

static const char *side(const struct bound *bound)
{
    if (bound->strict)
        return bound->at_most ? "less than" : "more than";
    return bound->at_most ? "at most" : "at least";
}

static int explain_bound(const struct bound *bound, double value, struct finding *finding)
{
    const struct trait_info *info = &trait_infos[bound->trait];
    char a[HUMAN_SIZE], b[HUMAN_SIZE];

    if (isnan(value))
        return say(finding, "less sure: %s is not known", info->phrase);
    if (info->unit == UNIT_FLAG)
        return say(finding, "%s: %s", info->phrase, bound->source);
    return say(finding, "%s: %s (%s %s: %s)", info->phrase, show(a, info->unit, value),
               side(bound), show(b, info->unit, bound->value), bound->source);
}

static enum trait low_of(const struct rule *rule, const struct rule_case *special)
{
    if (special && special->doubtful)
        return TRAIT_NONE;
    return special && special->cost_low ? special->cost_low : rule->cost_low;
}

static int explain(const struct rule *rule, const struct subject *subject, const struct rule_case *special,
                   struct finding *finding)
{
    const char *gain;

    if ((subject->note && say(finding, "%s", subject->note)) ||
        (rule->of_files && subject->files && say(finding, "%s", subject->files)))
        return -ENOMEM;
    for (unsigned i = 0; i < RULE_BOUNDS && rule->bounds[i].trait; i++) {
        int err = explain_bound(&rule->bounds[i], subject->values[rule->bounds[i].trait], finding);

        if (err)
            return err;
    }
    if (rule->sure && !isnan(subject->values[rule->sure]) &&
        say(finding, "%s: %.0f %%", trait_infos[rule->sure].phrase, 100 * subject->values[rule->sure]))
        return -ENOMEM;
    if (special && explain_bound(&special->when, subject->values[special->when.trait], finding))
        return -ENOMEM;
    gain = special && special->gain ? special->gain : rule->gain;
    if (low_of(rule, special) && isnan(subject->values[low_of(rule, special)]))
        return say(finding, "gain: cannot be told here; where it can, it is %s", gain);
    return say(finding, "gain: %s", gain);
}

/* How severe a finding is at least by each of: the share of the job's time in operations, how many waited for it, all the
   time, on average, and, where it can be told, the share that the remedy saves at least. */
static const struct {
    const char *name;
    double share, waiting, gain;
} severities[] = {{"high", 0.5, 0.1, 0.05}, {"medium", 0.1, 0.01, 0.01}};

static const char *severity(const struct rule *rule, bool doubtful, double share, double waiting, double gain)
{
    const size_t count = sizeof(severities) / sizeof(*severities);

    if (rule->critical)
        return "critical";
    for (size_t i = 0; i < count; i++)
        if (share >= severities[i].share && waiting >= severities[i].waiting && !(gain < severities[i].gain))
            return !doubtful ? severities[i].name : i + 1 < count ? severities[i + 1].name : "low";
    return "low";
}

static void drop(struct finding *finding)
{
    for (uint32_t i = 0; i < finding->evidence_count; i++)
        free(finding->evidence[i]);
}

/* Share of the time in operations that is saved at least; what is not known is not 0. */
static double gain_of(double low, double whole)
{
    return isnan(low) || !(whole > 0) ? NAN : fmin(fmax(low, 0) / whole, 1);
}

static int add(struct making *making, const struct rule *rule, const struct subject *subject, double confidence)
{
    const struct aggregate *totals = making->matter->totals;
    struct finding_list *list = &making->list;
    double span_s = (double)(totals->end_ns - totals->start_ns) / 1e9;
    const struct rule_case *special = special_case(rule, subject);
    double low = subject->values[low_of(rule, special)], high = subject->values[rule->cost_high];
    double whole = subject->values[TRAIT_WHOLE], gain = gain_of(low, whole);
    struct finding *finding;

    low = isnan(low) ? 0 : fmax(low, 0);
    high = isnan(high) ? low : fmax(high, low);
    if (vector_reserve((void **)&list->list, &list->capacity, list->count, sizeof(*finding)))
        return -ENOMEM;
    finding = &list->list[list->count];
    *finding = (struct finding){
        .id = rule->id,
        .severity = severity(rule, special && special->doubtful, whole > 0 ? high / whole : 0,
                             span_s > 0 ? high / span_s : 0, gain),
        .job = subject->job,
        .node = subject->node,
        .volume = subject->volume,
        .user = subject->user,
        .metric = trait_infos[rule->bounds[0].trait].name,
        .value = subject->values[rule->bounds[0].trait],
        .expected = rule->bounds[0].value,
        .cost_low = low,
        .cost_high = high,
        .remedy = special ? special->remedy : rule->remedy,
        .gain = gain,
        .confidence = confidence,
    };
    if (explain(rule, subject, special, finding) || lower(rule, totals, finding)) {
        drop(finding);
        return -ENOMEM;
    }
    list->count++;
    return 0;
}

/* Two rules may have one name, as a fault shows in more than one way: of a subject it stands once, the dearer way. */
static void once_each(struct finding_list *list, uint32_t first)
{
    struct finding *last = &list->list[list->count - 1];

    for (struct finding *before = &list->list[first]; before < last; before++) {
        if (strcmp(before->id, last->id) != 0)
            continue;
        if (last->cost_high > before->cost_high) {
            struct finding dearer = *last;

            *last = *before;
            *before = dearer;
        }
        drop(last);
        list->count--;
        return;
    }
}

static int take(void *to, const struct subject *subject)
{
    struct making *making = to;
    uint32_t first = making->list.count;

    for (uint32_t i = 0; i < finding_rule_count; i++) {
        const struct rule *rule = &finding_rules[i];
        double confidence, high, whole = subject->values[TRAIT_WHOLE];
        int err;

        if (rule->on != subject->kind || !((confidence = match(rule, subject)) > 0))
            continue;
        high = subject->values[rule->cost_high];
        if (!rule->critical && !(high >= COST_MIN_S && (isnan(whole) || high >= SHARE_MIN * whole)))
            continue;
        err = add(making, rule, subject, confidence);
        if (err)
            return err;
        once_each(&making->list, first);
    }
    return 0;
}

static int by_cost(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    return ORDER(y->cost_high, x->cost_high) ?: strcmp(x->id, y->id) ?: strcmp(x->job ?: "", y->job ?: "")
               ?: strcmp(x->volume ?: "", y->volume ?: "")
               ?: strcmp(x->node ?: "", y->node ?: "");
}

int finding_list_make(const struct finding_matter *matter, struct finding_list *out)
{
    static int (*const makers[SUBJECT_KINDS])(const struct finding_matter *, subject_take, void *) = {
        [SUBJECT_USE] = subjects_use,         [SUBJECT_COPY] = subjects_copy,
        [SUBJECT_MEETING] = subjects_meeting, [SUBJECT_STUCK] = subjects_stuck,
        [SUBJECT_CHECKPOINT] = subjects_checkpoint, [SUBJECT_RANK] = subjects_rank,
    };
    struct making making = {.matter = matter};

    for (unsigned i = 0; i < SUBJECT_KINDS; i++) {
        int err = makers[i](matter, take, &making);

        if (err) {
            finding_list_clear(&making.list);
            return err;
        }
    }
    if (making.list.count)
        qsort(making.list.list, making.list.count, sizeof(*making.list.list), by_cost);
    *out = making.list;
    return 0;
}

bool finding_is_trifle(const struct finding *finding, double span_s)
{
    return strcmp(finding->severity, "low") == 0 && finding->cost_high < TRIFLE_MAX * span_s;
}

void finding_list_clear(struct finding_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        drop(&list->list[i]);
    free(list->list);
    *list = (struct finding_list){0};
}
