/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/error_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *error_code_name(unsigned code, char *buffer)
{
    const char *name = strerrorname_np((int)code);

    if (code && name)
        return name;
    snprintf(buffer, ERROR_NAME_SIZE, "%u", code);
    return buffer;
}

unsigned error_code_by_name(const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);

    if (*name >= '1' && *name <= '9' && !*end)
        return number < ERROR_CODES ? (unsigned)number : 0;
    for (unsigned code = 1; code < ERROR_CODES; code++) {
        const char *known = strerrorname_np((int)code);

        if (known && strcmp(known, name) == 0)
            return code;
    }
    return 0;
}
