/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/settings.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/top/run.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/path.h"

#define SIZE_MAX_BYTES (1 << 20)

void settings_init(struct settings *settings)
{
    *settings = (struct settings){0};
    for (unsigned i = 0; i < tab_count && i < SETTINGS_TABS; i++)
        layout_init(&tabs[i], &settings->layout[i]);
}

static bool has_column(const struct layout *layout, unsigned column, unsigned *at)
{
    for (*at = 0; *at < layout->count; ++*at)
        if (layout->column[*at] == column)
            return true;
    return false;
}

/* The named columns come first, in that order, and are shown; the tab's others are not. */
static void parse_columns(struct layout *layout, const json_t *list)
{
    struct layout old = *layout;
    unsigned count = 0, at;
    const json_t *name;
    size_t i;

    json_array_foreach(list, i, name)
    {
        const char *text = json_is_string(name) ? json_string_value(name) : "";
        unsigned column = column_find(text, strlen(text));

        if (!has_column(&old, column, &at) || old.column[at] == UINT8_MAX)
            continue;
        old.column[at] = UINT8_MAX; /* once */
        layout->column[count] = (uint8_t)column;
        layout->shown[count++] = true;
    }
    if (!count)
        return; /* a tab without columns shows nothing: it stays as it was */
    for (at = 0; at < old.count; at++)
        if (old.column[at] != UINT8_MAX) {
            layout->column[count] = old.column[at];
            layout->shown[count++] = false;
        }
}

static void parse_tab(struct layout *layout, json_t *json)
{
    const char *sort = json_string_value(json_object_get(json, "sort"));
    unsigned at;

    if (json_is_array(json_object_get(json, "columns")))
        parse_columns(layout, json_object_get(json, "columns"));
    if (sort && has_column(layout, column_find(sort, strlen(sort)), &at))
        layout->sort = layout->column[at];
    layout->reverse = json_is_true(json_object_get(json, "reverse"));
}

int settings_parse(struct settings *settings, const char *json, size_t size, char *why, size_t why_size)
{
    json_error_t error;
    json_auto_t *root = json_loadb(json, size, 0, &error);
    const char *theme;

    if (!json_is_object(root)) {
        snprintf(why, why_size, root ? "it is no object" : "line %d: %s", error.line, error.text);
        return -EINVAL;
    }
    for (unsigned i = 0; i < tab_count; i++) {
        json_t *tab = json_object_get(json_object_get(root, "tabs"), tabs[i].key);

        if (json_is_object(tab))
            parse_tab(&settings->layout[i], tab);
    }
    theme = json_string_value(json_object_get(root, "theme"));
    if (theme && top_theme(theme) >= 0)
        settings->theme = (enum theme)top_theme(theme);
    settings->ascii = json_is_true(json_object_get(root, "ascii"));
    return 0;
}

static char *settings_path(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length = -1;

    if (config && *config == '/')
        length = asprintf(&path, "%s/unblend/top.json", config);
    else if (home && *home == '/')
        length = asprintf(&path, "%s/.config/unblend/top.json", home);
    return length < 0 ? NULL : path;
}

int settings_load(struct settings *settings)
{
    _cleanup_free_ char *path = settings_path(), *text = NULL;
    _cleanup_fclose_ FILE *file = path ? fopen(path, "re") : NULL;
    size_t size;
    char why[200];

    if (!file && (!path || errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (!file) {
        int err = -errno;

        log_warning("cannot read %s: %s: the defaults are used", path, log_errno(err));
        return err;
    }
    text = malloc(SIZE_MAX_BYTES);
    if (!text)
        return -ENOMEM;
    size = fread(text, 1, SIZE_MAX_BYTES, file);
    if (settings_parse(settings, text, size, why, sizeof(why))) {
        log_warning("%s is damaged: %s: the defaults are used", path, why);
        return -EINVAL;
    }
    return 0;
}

static json_t *json_of(const struct settings *settings)
{
    json_t *list = json_object();

    for (unsigned i = 0; i < tab_count; i++) {
        const struct layout *layout = &settings->layout[i];
        json_t *names = json_array();

        for (unsigned k = 0; k < layout->count; k++)
            if (layout->shown[k])
                json_array_append_new(names, json_string(columns[layout->column[k]].key));
        json_object_set_new(list, tabs[i].key,
                            json_pack("{s:o,s:s,s:b}", "columns", names, "sort", columns[layout->sort].key, "reverse",
                                      layout->reverse));
    }
    return json_pack("{s:s,s:b,s:o}", "theme", theme_names[settings->theme], "ascii", settings->ascii, "tabs", list);
}

/* The old file stays whole until the new one is. */
int settings_save(const struct settings *settings, char **out)
{
    _cleanup_free_ char *temporary = NULL;
    json_auto_t *json = json_of(settings);
    int fd, err = 0;

    *out = settings_path();
    if (!*out || !json || asprintf(&temporary, "%s.%d", *out, (int)getpid()) < 0)
        return *out ? -ENOMEM : -ENOENT;
    path_make_parents(*out, 0700);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    if (json_dumpfd(json, fd, JSON_INDENT(2)) || write(fd, "\n", 1) != 1)
        err = -EIO;
    if (close(fd) && !err)
        err = -errno;
    if (!err && rename(temporary, *out))
        err = -errno;
    if (err)
        unlink(temporary);
    return err;
}
