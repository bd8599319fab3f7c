/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line typed at the bottom of the screen. */
#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"

void say(struct screen *screen, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(screen->message, sizeof(screen->message), format, arguments);
    va_end(arguments);
}

void prompt_begin(struct screen *screen, const char *label, const char *text,
                  void (*done)(struct screen *screen, const char *text))
{
    screen->before_prompt = screen->mode == MODE_DETAIL ? MODE_DETAIL : MODE_TABLE;
    screen->mode = MODE_PROMPT;
    screen->prompt = (struct prompt){.label = label, .done = done};
    snprintf(screen->prompt.text, sizeof(screen->prompt.text), "%s", text);
}

void prompt_key(struct screen *screen, int code)
{
    struct prompt *prompt = &screen->prompt;
    size_t length = strlen(prompt->text);

    switch (code) {
    case '\n':
    case '\r':
    case KEY_ENTER:
        screen->mode = screen->before_prompt;
        prompt->done(screen, prompt->text);
        break;
    case 27:
        screen->mode = screen->before_prompt;
        break;
    case KEY_BACKSPACE:
    case 127:
    case '\b':
        /* a character of several bytes goes whole */
        while (length && ((unsigned char)prompt->text[length - 1] & 0xc0) == 0x80)
            length--;
        prompt->text[length ? length - 1 : 0] = '\0';
        break;
    case 'u' & 0x1f:
        *prompt->text = '\0';
        break;
    default:
        if (code >= ' ' && code < 256 && code != 127 && length + 1 < sizeof(prompt->text)) {
            prompt->text[length] = (char)code;
            prompt->text[length + 1] = '\0';
        }
    }
}
