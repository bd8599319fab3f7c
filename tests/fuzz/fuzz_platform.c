/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of storage platforms, as the kernel and others write them: the first byte chooses whose. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/platform_file.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *context, const struct platform_row *row)
{
    unsigned *rows = context;

    CHECK(row->volume && row->fstype && row->known);
    CHECK(row->layer < LAYERS && row->request > REQUEST_ALL && row->request < REQUESTS);
    CHECK(row->ops <= INT64_MAX && row->errors <= INT64_MAX);
    CHECK(++*rows <= PLATFORM_ROWS_MAX * REQUESTS);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);
    char why[160] = "";
    unsigned rows = 0;
    int err = 0;

    if (!text || !size)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (data[0] % 5) {
    case 0:
        err = platform_mountstats(text, look, &rows);
        break;
    case 1:
        err = platform_nfsd(text, look, &rows);
        break;
    case 2:
        err = platform_lustre("scratch", text, look, &rows);
        break;
    case 3:
        err = platform_nvidia(text, look, &rows);
        break;
    default:
        err = platform_parse(text, 1000, look, &rows, why, sizeof(why));
        CHECK(!err == !*why);
        err = 0;
    }
    CHECK(!err);
    return 0;
}
