/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report whose profiles are to be stored: from outside, whoever wrote it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/report_check.h"
#include "lib/cleanup.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);
    char why[REPORT_WHY] = "";
    int err;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    err = report_check(text, size, why);
    CHECK(!err == !*why && memchr(why, '\0', sizeof(why)) && !strchr(why, '\n'));
    return 0;
}
