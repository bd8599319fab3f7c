/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that is scrolled through: the help, and details. */
#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"
#include "lib/cleanup.h"

void page_set(struct screen *screen, char *text)
{
    uint32_t count = 1;

    if (screen->lines)
        free(screen->lines[0]);
    free(screen->lines);
    screen->line_count = 0;
    for (const char *c = text; c && *c; c++)
        count += *c == '\n';
    screen->lines = text ? calloc(count + 1u, sizeof(*screen->lines)) : NULL;
    if (!screen->lines) {
        free(text);
        return;
    }
    screen->lines[0] = text; /* owns them all */
    for (char *line = text; line && (*line || !screen->line_count);)
        screen->lines[screen->line_count++] = strsep(&line, "\n");
}

/* A line with the codes of view/draw.h in it. */
static void put_line(int y, const char *line)
{
    static const struct {
        const char *code;
        enum ink ink;
    } codes[] = {{"0m", INK_PLAIN}, {"1m", INK_STRONG}, {"2m", INK_DIM}, {"32m", INK_GOOD}, {"31m", INK_BAD}};
    enum ink ink = INK_PLAIN;
    int x = 0;

    while (*line) {
        size_t length = strcspn(line, "\033");
        char part[1024];

        snprintf(part, sizeof(part), "%.*s", (int)(length < sizeof(part) ? length : sizeof(part) - 1), line);
        x += put_text(y, x, COLS - x, ink, false, part);
        line += length;
        if (*line++ != '\033')
            return;
        line += *line == '[';
        for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
            if (strncmp(line, codes[i].code, strlen(codes[i].code)) == 0)
                ink = codes[i].ink;
        length = strcspn(line, "m");
        line += length + (line[length] == 'm');
    }
}

void page_paint(struct screen *screen, int y)
{
    uint32_t height = LINES > y + 1 ? (uint32_t)(LINES - y - 1) : 1;

    if (screen->first_line + height > screen->line_count)
        screen->first_line = screen->line_count > height ? screen->line_count - height : 0;
    for (uint32_t i = 0; i < height && screen->first_line + i < screen->line_count; i++)
        put_line(y + (int)i, screen->lines[screen->first_line + i]);
    if (screen->line_count > height) {
        char text[64];

        snprintf(text, sizeof(text), "lines %u to %u of %u", screen->first_line + 1, screen->first_line + height,
                 screen->line_count);
        put_right(LINES - 1, COLS / 2, COLS - COLS / 2, INK_DIM, text);
    }
    put_text(LINES - 1, 0, COLS / 2, INK_DIM, false, "Esc back   Up Down PgUp PgDn scroll");
}

int page_help(struct screen *screen)
{
    size_t size;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return -ENOMEM;
    fputs("\033[1munblend top\033[0m: every storage operation, as it happens\n\n\033[1mKeys\033[0m\n", out);
    for (unsigned i = 0; i < key_count; i++)
        fprintf(out, "  \033[1m%-10s\033[0m %s\n", keys[i].name, keys[i].help);
    fputs("\n\033[1mTabs\033[0m\n", out);
    for (unsigned i = 0; i < tab_count; i++)
        fprintf(out, "  \033[1m%-10s\033[0m %s%s\n", tabs[i].title, tabs[i].help,
                tabs[i].cluster ? " (with --db)" : "");
    fputs("\n\033[1mColumns\033[0m\n", out);
    for (unsigned i = 0; i < column_count; i++)
        fprintf(out, "  \033[1m%-10s\033[0m %s\n", columns[i].title, columns[i].help);
    fputs("\n\033[1mWhat is shown\033[0m\n"
          "  A dash is a value that was not observed, never a zero; n/a has its reason in the coverage line.\n"
          "  Grey rows are processes that have ended, or do nothing for the moment.\n",
          out);
    if (fclose(out))
        return -ENOMEM;
    page_set(screen, text);
    return 0;
}
