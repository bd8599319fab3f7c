/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LONGEST_S 8.64e14 /* ten thousand million days: more is no time */

char *human_count(char *buffer, uint64_t count)
{
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    char *to = buffer;

    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return buffer;
}

char *human_money(char *buffer, double value)
{
    if (value >= 1000 && value < 1e18)
        return human_count(buffer, (uint64_t)llround(value));
    snprintf(buffer, HUMAN_SIZE, value >= 0.995 && value < 1e18 ? "%.2f" : "%.2g", value);
    return buffer;
}

/* Three digits that count, and no trailing ".0". */
static void three_digits(char *buffer, double value, const char *unit)
{
    int decimals = value >= 99.95 || value == floor(value) ? 0 : value >= 9.995 ? 1 : 2;

    snprintf(buffer, HUMAN_SIZE, "%.*f%s", decimals, value, unit);
}

char *human_ratio(char *buffer, double value)
{
    if (value >= 999.5 && value < 1e18)
        return human_count(buffer, (uint64_t)llround(value));
    if (value > 0 && value < 1e-3)
        snprintf(buffer, HUMAN_SIZE, "%.*f", (int)fmin(2 - floor(log10(value)), HUMAN_SIZE / 2), value);
    else
        snprintf(buffer, HUMAN_SIZE, "%.3g", value);
    return buffer;
}

char *human_estimate(char *buffer, double value)
{
    if (value >= 99.5 && value < 1e18)
        return human_count(buffer, (uint64_t)llround(value));
    snprintf(buffer, HUMAN_SIZE, "%.2g", value);
    return buffer;
}

char *human_rate(char *buffer, double rate)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    unsigned unit = 0;

    while (rate >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
        rate /= 1000;
        unit++;
    }
    three_digits(buffer, rate, units[unit]);
    return buffer;
}

char *human_bytes(char *buffer, double bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned unit = 0;

    while (bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
        bytes /= 1024;
        unit++;
    }
    if (!unit)
        snprintf(buffer, HUMAN_SIZE, "%.0f B", bytes);
    else
        three_digits(buffer, bytes, units[unit]);
    return buffer;
}

char *human_ns(char *buffer, double ns)
{
    static const char *const units[] = {" ns", " us", " ms", " s"};
    unsigned unit = 0;

    while (ns >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
        ns /= 1000;
        unit++;
    }
    three_digits(buffer, ns, units[unit]);
    return buffer;
}

char *human_duration(char *buffer, double seconds)
{
    unsigned long whole = (unsigned long)fmin(fmax(seconds, 0), LONGEST_S);

    if (seconds > 0 && seconds < 0.095)
        human_ns(buffer, seconds * 1e9);
    else if (seconds < 1)
        three_digits(buffer, round(seconds * 100) / 100, " s");
    else if (seconds < 60)
        three_digits(buffer, round(seconds * 10) / 10, " s");
    else if (seconds < 3600)
        snprintf(buffer, HUMAN_SIZE, "%lum%02lus", whole / 60, whole % 60);
    else if (seconds < 86400)
        snprintf(buffer, HUMAN_SIZE, "%luh%02lum%02lus", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(buffer, HUMAN_SIZE, "%lud%02luh%02lum", whole / 86400, whole / 3600 % 24,
                 whole / 60 % 60);
    return buffer;
}

char *human_time(char *buffer, int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
    int64_t rest = ns - (int64_t)seconds * 1000000000;
    struct tm tm;
    char date[32];

    gmtime_r(&seconds, &tm);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buffer, HUMAN_SIZE, "%s.%03dZ", date, (int)(rest / 1000000));
    return buffer;
}

int human_clock(int64_t span_ns)
{
    return span_ns < INT64_C(2000000000) ? 12 : 8;
}
