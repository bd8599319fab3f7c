/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user has chosen, kept between runs in $XDG_CONFIG_HOME/unblend/top.json (~/.config without it). What is not
 * understood is left at its default.
 */
#ifndef UNBLEND_ANALYZER_TOP_SETTINGS_H
#define UNBLEND_ANALYZER_TOP_SETTINGS_H

#include "analyzer/top/paint.h"
#include "analyzer/top/tab.h"

#define SETTINGS_TABS 16

struct settings {
    struct layout layout[SETTINGS_TABS]; /* by tab */
    enum theme theme;
    bool ascii;
};

void settings_init(struct settings *settings);

/* From JSON. 0, or -EINVAL with the reason; what came before it is taken. */
int settings_parse(struct settings *settings, const char *json, size_t size, char *why, size_t why_size);

/* 0, also when there is no such file; -errno (logged) for one that cannot be read or is damaged. */
int settings_load(struct settings *settings);
/* 0 or -errno (not logged); *path is where it should be, malloc'ed, NULL without memory or a home. */
int settings_save(const struct settings *settings, char **path);

#endif
