/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `unblend top` reads from outside: kept settings, and the words of a filter. The first byte chooses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/model.h"
#include "analyzer/top/settings.h"
#include "lib/cleanup.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_settings(const char *text, size_t size)
{
    struct settings settings;
    char why[200] = "";

    settings_init(&settings);
    CHECK(settings_parse(&settings, text, size, why, sizeof(why)) == 0 || *why);
    for (unsigned i = 0; i < tab_count; i++) {
        struct layout whole;
        const struct layout *layout = &settings.layout[i];
        unsigned seen[256] = {0};

        layout_init(&tabs[i], &whole);
        CHECK(layout->count == whole.count && layout->sort < column_count);
        for (unsigned k = 0; k < layout->count; k++)
            CHECK(layout->column[k] < column_count && !seen[layout->column[k]]++);
    }
}

static void check_filter(const char *text)
{
    const struct entity entity = {.name = "name", .user = "user", .job = "job", .volume = "", .mounts = "", .node = "",
                                  .why = ""};
    const struct volume volume = {.name = "v", .source = "s", .fstype = "ext4"};
    struct filter *filter = NULL;
    char why[160];
    int err = filter_new(text, &filter, why, sizeof(why));

    CHECK(err == 0 || err == -EINVAL || err == -ENOMEM);
    CHECK(err == -EINVAL ? *why != '\0' : true);
    if (!err) {
        filter_entity(filter, &entity);
        filter_volume(filter, &volume);
        filter_free(filter);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);

    if (!size)
        return 0;
    CHECK(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] == 's')
        check_settings(text, size - 1);
    else if (size < 200) /* a line at a prompt; the library's regular expressions take their time */
        check_filter(text);
    return 0;
}
