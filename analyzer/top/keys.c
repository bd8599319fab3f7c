/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/keys.h"

#include <curses.h>

#define CONTROL(letter) ((letter) & 0x1f)
#define ESCAPE          27

const struct key keys[] = {
    {ACTION_HELP, {'h', '?', KEY_F(1)}, "h ? F1", "explain keys and columns"},
    {ACTION_QUIT, {'q', 'Q', KEY_F(10)}, "q F10", "quit"},
    {ACTION_NEXT_TAB, {'\t'}, "Tab", "the next tab"},
    {ACTION_PREVIOUS_TAB, {KEY_BTAB}, "Shift-Tab", "the tab before"},
    {ACTION_UP, {KEY_UP, CONTROL('p')}, "Up", "one row up"},
    {ACTION_DOWN, {KEY_DOWN, CONTROL('n')}, "Down", "one row down"},
    {ACTION_PAGE_UP, {KEY_PPAGE}, "PgUp", "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_NPAGE}, "PgDn", "a screen down"},
    {ACTION_FIRST, {KEY_HOME}, "Home", "to the first row"},
    {ACTION_LAST, {KEY_END}, "End", "to the last row"},
    {ACTION_DETAIL, {'\r', '\n', KEY_ENTER}, "Enter", "details of the row: histograms, volumes, profile; and back"},
    {ACTION_BACK, {ESCAPE}, "Esc", "back to the rows; there, take the filter away"},
    {ACTION_SORT_LEFT, {KEY_LEFT}, "Left", "sort by the column to the left"},
    {ACTION_SORT_RIGHT, {KEY_RIGHT}, "Right", "sort by the column to the right"},
    {ACTION_SORT, {KEY_F(6), '>', '.'}, "F6 >", "choose the column to sort by"},
    {ACTION_NUMBER, {0}, "1-9", "sort by that column of those shown"},
    {ACTION_REVERSE, {'r', 'I'}, "r I", "the other way round"},
    {ACTION_ACTIVE, {'o'}, "o", "only rows that do I/O, or all"},
    {ACTION_THREADS, {'p', 'H'}, "p H", "threads or processes; in the details of a process, its threads"},
    {ACTION_SINCE_START, {'a'}, "a", "amounts since the start, or rates"},
    {ACTION_COMMAND, {'c'}, "c", "command lines with arguments, of this node's processes, or names"},
    {ACTION_KILOBYTES, {'K'}, "K", "bytes in KiB, or in the unit that fits"},
    {ACTION_TREE, {KEY_F(5)}, "F5", "processes as a tree, by job"},
    {ACTION_SEARCH, {KEY_F(3)}, "F3", "find a row by a part of its name; again: the next"},
    {ACTION_FILTER, {'/', KEY_F(4), '\\'}, "/ F4", "filter: user: pid: job: volume: fs: node: or a regular expression"},
    {ACTION_USER, {'u'}, "u", "only a user's rows"},
    {ACTION_FREEZE, {'s', ' ', 'Z', 'z'}, "s Space Z", "freeze, and go on; sorting and scrolling still work"},
    {ACTION_FASTER, {'+', '='}, "+", "a shorter interval; in a replay, play faster"},
    {ACTION_SLOWER, {'-', '_'}, "-", "a longer interval; in a replay, play slower"},
    {ACTION_STEP, {'t'}, "t", "in a replay, the next sample"},
    {ACTION_STEP_BACK, {'T'}, "T", "in a replay, the sample before"},
    {ACTION_JUMP, {'b'}, "b", "in a replay, to a time: 14:05, +30s, -5m, 2026-03-01T12:00:00Z"},
    {ACTION_RECORD, {'w'}, "w", "record to a file from now on, or end the recording"},
    {ACTION_FILES, {'f'}, "f", "in the details of a process of this node: the files that it has open most"},
    {ACTION_SETUP, {KEY_F(2), 'S'}, "F2 S", "choose and order columns, and the theme; kept for the next time"},
    {ACTION_REDRAW, {CONTROL('l')}, "Ctrl-L", "draw the screen anew"},
    {ACTION_MOUSE, {KEY_MOUSE}, "Mouse", "choose tabs, columns and rows; a second click opens the row"},
};
const unsigned key_count = sizeof(keys) / sizeof(*keys);

enum action key_action(int code, unsigned *number)
{
    if (code >= '1' && code <= '9') {
        *number = (unsigned)(code - '1');
        return ACTION_NUMBER;
    }
    for (unsigned i = 0; i < key_count; i++)
        for (unsigned k = 0; k < 4 && keys[i].code[k]; k++)
            if (keys[i].code[k] == code)
                return keys[i].action;
    return ACTION_NONE;
}
