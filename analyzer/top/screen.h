/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make up the screen share: its state, and who paints and does what. */
#ifndef UNBLEND_ANALYZER_TOP_SCREEN_H
#define UNBLEND_ANALYZER_TOP_SCREEN_H

#include <stdio.h>

#include "analyzer/feature.h"
#include "analyzer/top/feed.h"
#include "analyzer/top/keys.h"
#include "analyzer/top/run.h"
#include "analyzer/top/settings.h"

struct screen;

enum mode {
    MODE_TABLE,
    MODE_DETAIL,
    MODE_HELP,
    MODE_SETUP, /* columns and theme */
    MODE_SORT,  /* a list of columns to sort by */
    MODE_PROMPT,
};

#define PROMPT_SIZE 256

/* A line that is being typed. */
struct prompt {
    const char *label;
    char text[PROMPT_SIZE];
    /* Takes the line; a message in screen->message if it cannot be taken. */
    void (*done)(struct screen *screen, const char *text);
};

/* Who is selected, whatever becomes of the entity. */
struct selection {
    enum entity_kind kind;
    uint32_t pid, tid;
    int64_t start_ns;
    char name[256], volume[256];
};

/* Volumes and operations of who is looked at closely, since that began. */
struct detail {
    struct selection who;
    double seconds;
    struct tally tally;
    struct detail_volume {
        char name[128], fstype[32];
        struct amounts amounts;
    } * volumes;
    uint32_t volume_count;
    struct histogram burst[FLOW_KINDS], steady[FLOW_KINDS];
    struct files *files; /* NULL unless asked for */
    uint64_t painted; /* the sample that its page is of, which is not made anew for each key; 0 for none */
    int painted_width;
};

struct screen {
    const struct top_arguments *arguments;
    struct catalogue catalogue;
    struct model *model;
    struct feed *feed;
    struct settings settings;
    struct sample sample; /* the last one in the model */
    struct sample held;   /* what came while frozen */
    unsigned tab;
    struct row_options options;
    bool kilobytes, command_lines, frozen, ended, quit;
    enum mode mode, before_prompt;
    struct selection selected;
    struct row *rows; /* as painted last; entities may be gone after a sample */
    uint32_t row_count, cursor, first;
    int table_y, table_height;
    unsigned fitting[TAB_COLUMNS_MAX], fitting_count;
    int column_x[TAB_COLUMNS_MAX];
    int tab_x[SETTINGS_TABS];
    int tab_y;
    char **lines; /* of the page that is shown: help or details */
    uint32_t line_count, first_line;
    unsigned list_cursor; /* in setup and sort */
    struct prompt prompt;
    char search[PROMPT_SIZE], filter_text[PROMPT_SIZE], message[PROMPT_SIZE];
    struct filter *filter;
    struct detail detail;
    struct recording_writer *tape;
    char tape_path[PROMPT_SIZE];
    uint64_t interval_ns, speed_halves; /* speed: halves of the original */
    int64_t target_ns; /* where a step back leads that has not come yet; 0 for none */
    uint64_t taken;
};

/* The columns of the tab that is shown. */
static inline struct layout *layout_of(struct screen *screen)
{
    return &screen->settings.layout[screen->tab];
}

/* Paints everything. 0 or -ENOMEM. */
int screen_paint(struct screen *screen);
/* Lines that the header takes at this size; it paints them from line 0 on. */
int header_paint(struct screen *screen);
int table_paint(struct screen *screen, int y);
void footer_paint(struct screen *screen);
void setup_paint(struct screen *screen, int y);
void page_paint(struct screen *screen, int y);

/* Keys. */
void act(struct screen *screen, int code);
void setup_key(struct screen *screen, int code);
void sort_begin(struct screen *screen);
void prompt_begin(struct screen *screen, const char *label, const char *text,
                  void (*done)(struct screen *screen, const char *text));
void prompt_key(struct screen *screen, int code);
void say(struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The page: lines of text with SGR codes. Takes the text over. */
void page_set(struct screen *screen, char *text);
int page_help(struct screen *screen);
int page_detail(struct screen *screen);

/* Details are gathered from each sample while they are shown. 0, -ENOMEM or -ERANGE. */
void detail_begin(struct screen *screen);
int detail_add(struct screen *screen, const struct batch *batch);
void detail_clear(struct detail *detail);
/* Begins to look up its files, or ends it. */
void detail_files(struct screen *screen);

/* Recording from within. */
void tape_toggle(struct screen *screen);
void tape_write(struct screen *screen, const struct batch *batch);
void tape_end(struct screen *screen);

/* Takes a sample into the model. 0 or -errno. */
int screen_take(struct screen *screen, struct sample *sample, bool warming);

#endif
