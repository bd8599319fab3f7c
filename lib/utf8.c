/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Bytes of the character at s, 0 if there is none. The '\0' at the end is no continuation byte. */
static size_t character(const unsigned char *s)
{
    unsigned low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t length;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f; /* U+10FFFF */
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool utf8_valid(const char *s)
{
    const unsigned char *at = (const unsigned char *)s;

    while (*at) {
        size_t length = character(at);

        if (!length)
            return false;
        at += length;
    }
    return true;
}

void utf8_repair(char *to, const char *s)
{
    while (*s) {
        size_t length = character((const unsigned char *)s);

        if (length) {
            memcpy(to, s, length);
            to += length;
            s += length;
        } else {
            memcpy(to, REPLACEMENT, 3);
            to += 3;
            s++;
        }
    }
    *to = '\0';
}

size_t utf8_control(const char *s)
{
    unsigned char a = (unsigned char)s[0], b = a ? (unsigned char)s[1] : 0, c = b ? (unsigned char)s[2] : 0;

    if ((a && a < ' ') || a == 0x7f)
        return 1;
    if (a == 0xc2 && b >= 0x80 && b < 0xa0)
        return 2;
    return a == 0xe2 && ((b == 0x80 && c >= 0xaa && c <= 0xae) || (b == 0x81 && c >= 0xa6 && c <= 0xa9)) ? 3 : 0;
}

void utf8_cut(char *text, size_t most)
{
    size_t at = most;

    if (strlen(text) <= most)
        return;
    while (at && most - at < 3 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    text[at] = '\0';
}

void utf8_one_line(char *text)
{
    for (; *text; text++)
        memset(text, '?', utf8_control(text));
}
