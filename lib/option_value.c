/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/option_private.h"

#include <errno.h>
#include <string.h>

/* All values stay below 2^63: that is what JSON and the database hold. */

#define FRACTION_DIGITS 12
#define PERCENT         10000 /* millionths */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at *text, moving it behind them. 0, or -EINVAL for none or too many. */
static int digits(const char **text, uint64_t *out)
{
    uint64_t number = 0;

    if (!is_digit(**text))
        return -EINVAL;
    for (; is_digit(**text); (*text)++) {
        unsigned digit = (unsigned)(**text - '0');

        if (number > ((uint64_t)INT64_MAX - digit) / 10)
            return -EINVAL;
        number = number * 10 + digit;
    }
    *out = number;
    return 0;
}

int option_count(const char *text, uint64_t *count)
{
    uint64_t number;

    if (digits(&text, &number) || *text)
        return -EINVAL;
    *count = number;
    return 0;
}

int option_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    const char *unit;
    uint64_t number;
    unsigned shift = 0;

    if (digits(&text, &number))
        return -EINVAL;
    if (*text) {
        unit = strchr(units, *text);
        if (!unit || text[1])
            return -EINVAL;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (number > (uint64_t)INT64_MAX >> shift)
        return -EINVAL;
    *bytes = number << shift;
    return 0;
}

int option_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"", 1000000000},
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", 60 * 1000000000ull},
        {"h", 3600 * 1000000000ull},
        {"d", 86400 * 1000000000ull},
    };
    uint64_t whole, unit = 0, part = 0, scale = 1;

    if (digits(&text, &whole))
        return -EINVAL;
    if (*text == '.') {
        const char *from = ++text;

        if (digits(&text, &part) || text - from > FRACTION_DIGITS)
            return -EINVAL;
        for (; from < text; from++)
            scale *= 10;
    }
    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(text, units[i].name) == 0)
            unit = units[i].ns;
    if (!unit || whole > INT64_MAX / unit)
        return -EINVAL;
    /* Below a nanosecond nothing is kept; the product needs 87 bits at most. */
    part = (uint64_t)((unsigned __int128)part * unit / scale);
    if (whole * unit > INT64_MAX - part)
        return -EINVAL;
    *ns = whole * unit + part;
    return 0;
}

int option_percent(const char *text, uint64_t *millionths)
{
    uint64_t whole, part = 0, value, scale = PERCENT;

    if (digits(&text, &whole) || whole > 100)
        return -EINVAL;
    if (*text == '.' && is_digit(*++text))
        for (; is_digit(*text); text++) {
            scale /= 10; /* below a millionth nothing is kept */
            part += (uint64_t)(*text - '0') * scale;
        }
    else if (text[-1] == '.')
        return -EINVAL;
    if (*text == '%')
        text++;
    value = whole * PERCENT + part;
    if (*text || value > 100 * PERCENT)
        return -EINVAL;
    *millionths = value;
    return 0;
}

static int set_flag(const char *text, bool *value)
{
    if (!text || strcmp(text, "yes") == 0 || strcmp(text, "true") == 0)
        *value = true;
    else if (strcmp(text, "no") == 0 || strcmp(text, "false") == 0)
        *value = false;
    else
        return -EINVAL;
    return 0;
}

int option_set(const struct option_spec *spec, const char *text)
{
    switch (spec->type) {
    case OPTION_FLAG:
        return set_flag(text, spec->value);
    case OPTION_TIMES:
        if (!text) {
            ++*(uint64_t *)spec->value;
            return 0;
        }
        return option_count(text, spec->value);
    case OPTION_STRING:
        *(const char **)spec->value = text;
        return 0;
    case OPTION_COUNT:
        return option_count(text, spec->value);
    case OPTION_DURATION:
        return option_duration(text, spec->value);
    case OPTION_SIZE:
        return option_size(text, spec->value);
    case OPTION_PERCENT:
        return option_percent(text, spec->value);
    }
    return -EINVAL;
}

const char *option_wanted(enum option_type type)
{
    switch (type) {
    case OPTION_FLAG:
        return "neither yes nor no";
    case OPTION_STRING:
        break;
    case OPTION_TIMES:
    case OPTION_COUNT:
        return "not a whole number, like 10";
    case OPTION_DURATION:
        return "not a duration, like 250ms, 10s, 1.5h or 7d";
    case OPTION_SIZE:
        return "not a size, like 65536, 64K, 16M or 2G";
    case OPTION_PERCENT:
        return "not a percentage, like 0.5 or 20";
    }
    return "not a text";
}
