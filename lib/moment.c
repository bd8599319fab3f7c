/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/moment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/option.h"

#define LAST_SECOND 9223372035 /* of what fits into nanoseconds */

static const char *const to_second[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", NULL};
static const char *const coarser[] = {"%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d", NULL};

/* ".25" as ns; *text moves behind it. */
static int64_t fraction(const char **text)
{
    int64_t ns = 0, unit = 100000000;

    if (**text != '.')
        return 0;
    for ((*text)++; **text >= '0' && **text <= '9'; (*text)++, unit /= 10)
        ns += unit * (**text - '0');
    return ns;
}

/* Seconds east of Greenwich; 1 when the text ends without a zone, -EINVAL for what is none. */
static int zone(const char *text, long *seconds)
{
    int hours, minutes, used = 0;

    if (!*text)
        return 1;
    *seconds = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return 0;
    if ((*text != '+' && *text != '-') || text[1 + strspn(text + 1, "0123456789:")] ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || text[1 + used] || hours > 23 || minutes > 59)
        return -EINVAL;
    *seconds = (*text == '-' ? -60L : 60L) * (hours * 60 + minutes);
    return 0;
}

/* strptime() takes the 31st of any month, and a second too many. */
static bool is_real(const struct tm *tm)
{
    struct tm same = *tm;

    timegm(&same);
    return same.tm_mday == tm->tm_mday && tm->tm_sec <= 60;
}

/* What follows the first of the forms that text has, NULL when it has none. */
static const char *read_form(const char *const *forms, const char *text, struct tm *tm)
{
    for (; *forms; forms++) {
        struct tm read = {.tm_isdst = -1};
        const char *rest = strptime(text, *forms, &read);

        if (rest) {
            *tm = read;
            return rest;
        }
    }
    return NULL;
}

int moment_parse(const char *text, int64_t now_ns, int64_t *out)
{
    struct tm tm = {0};
    const char *rest = read_form(to_second, text, &tm);
    int64_t ns = 0;
    uint64_t before;
    time_t seconds;
    long east;
    int local;

    if (rest)
        ns = fraction(&rest);
    else
        rest = read_form(coarser, text, &tm);
    if (!rest) {
        if (option_duration(text, &before) || before > (uint64_t)INT64_MAX)
            return -EINVAL;
        *out = now_ns - (int64_t)before;
        return 0;
    }
    local = zone(rest, &east);
    if (local < 0 || !is_real(&tm))
        return -EINVAL;
    seconds = local ? mktime(&tm) : timegm(&tm) - east;
    if (seconds < -LAST_SECOND || seconds > LAST_SECOND)
        return -EINVAL;
    *out = (int64_t)seconds * 1000000000 + ns;
    return 0;
}

int moment_option(const char *option, const char *const *text, int64_t *out)
{
    if (!*text || !moment_parse(*text, wall_clock_ns(), out))
        return 0;
    log_error("%s--%s: '%s' is no time: write 2026-03-01T12:00:00Z, 2026-03-01T12:00 or 2026-03-01, or 2h for two "
              "hours ago", option_from(text), option, *text);
    return -EINVAL;
}
