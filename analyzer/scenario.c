/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/log.h"

#define FACTOR_MAX 1e6

static int refuse(const char *text, const char *why)
{
    log_error("--what-if: '%s' %s: write 2x, or PROFILE=2+PROFILE=0.5, with @FILE for another platform", text, why);
    return -EINVAL;
}

static int parse_factor(const char *text, const char *end, double *out)
{
    char *stop;

    errno = 0;
    *out = strtod(text, &stop);
    return stop != text && stop == end && !errno && *out > 0 && *out <= FACTOR_MAX ? 0 : -EINVAL;
}

static int parse_factors(char *text, struct scenario *out)
{
    size_t length = strlen(text);
    char *save = NULL;

    if (!length || (text[length - 1] == 'x' && !strchr(text, '=')))
        return length ? parse_factor(text, text + length - 1, &out->all) : 0;
    for (char *word = strtok_r(text, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
        struct scenario_factor *factor = &out->factors[out->factor_count];
        char *equals = strchr(word, '=');

        if (!equals || equals == word || (size_t)(equals - word) >= sizeof(factor->profile) ||
            out->factor_count == SCENARIO_FACTORS ||
            parse_factor(equals + 1, equals + 1 + strlen(equals + 1), &factor->factor))
            return -EINVAL;
        memcpy(factor->profile, word, (size_t)(equals - word));
        out->factor_count++;
    }
    return out->factor_count ? 0 : -EINVAL;
}

static int parse_one(const char *text, struct scenario *out)
{
    _cleanup_free_ char *copy = strdup(text);
    char *file;

    *out = (struct scenario){.name = strdup(text), .all = 1};
    if (!copy || !out->name)
        return -ENOMEM;
    file = strchr(copy, '@');
    if (file)
        *file++ = '\0';
    if (parse_factors(copy, out) || (!file && !*text))
        return refuse(text, "is no scenario");
    out->has_offer = file != NULL;
    return file ? offer_load(file, &out->offer) : 0;
}

int scenarios_parse(const char *text, struct scenario_list *out)
{
    _cleanup_free_ char *copy = strdup(text);
    char *rest = copy, *word;
    int err = 0;

    *out = (struct scenario_list){0};
    if (!copy)
        return -ENOMEM;
    while (!err && (word = strsep(&rest, ","))) {
        struct scenario *grown = reallocarray(out->list, out->count + 1, sizeof(*grown));

        if (!grown) {
            err = -ENOMEM;
            break;
        }
        out->list = grown;
        err = parse_one(word, &grown[out->count++]);
    }
    if (err)
        scenarios_clear(out);
    return err;
}

static bool is_profile(const struct catalogue *catalogue, const char *name)
{
    return catalogue_find(catalogue, name) || strcmp(name, "unknown") == 0;
}

int scenarios_check(const struct scenario_list *list, const struct catalogue *catalogue, bool has_offer)
{
    for (unsigned i = 0; i < list->count; i++) {
        const struct scenario *s = &list->list[i];

        for (unsigned f = 0; f < s->factor_count; f++)
            if (!is_profile(catalogue, s->factors[f].profile)) {
                log_error("--what-if: '%s' names no profile: there is no %s", s->name, s->factors[f].profile);
                return -EINVAL;
            }
        if (!s->has_offer && !has_offer) {
            log_error("--what-if: '%s' is of no platform: give --platform FILE, or @FILE behind it", s->name);
            return -EINVAL;
        }
    }
    return 0;
}

void scenarios_clear(struct scenario_list *list)
{
    for (unsigned i = 0; i < list->count; i++) {
        free(list->list[i].name);
        if (list->list[i].has_offer)
            offer_clear(&list->list[i].offer);
    }
    free(list->list);
    *list = (struct scenario_list){0};
}
