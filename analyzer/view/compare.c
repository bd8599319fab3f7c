/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moved, in each of the views. */
#include "analyzer/view/compare.h"

#include <math.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/view/html.h"
#include "analyzer/view/json.h"

#define LISTED 60

static const char *figure(char *buffer, const struct moved *m, double value)
{
    if (strstr(m->metric, "_ns"))
        return human_ns(buffer, value);
    if (strstr(m->metric, "bytes"))
        return html_byte_rate_text(buffer, value);
    if (strncmp(m->metric, "size", 4) == 0)
        return human_bytes(buffer, value);
    if (strcmp(m->metric, "in_flight") == 0) {
        snprintf(buffer, HUMAN_SIZE, "%.3g", value);
        return buffer;
    }
    return strcat(human_rate(buffer, value), "/s");
}

/* "x 0.42 (0.40 to 0.45)" */
static const char *change(char *buffer, const struct moved *m)
{
    if (isnan(m->low) || !(m->before > 0))
        snprintf(buffer, 2 * HUMAN_SIZE, "from nothing");
    else
        snprintf(buffer, 2 * HUMAN_SIZE, "x %.3g (%.3g to %.3g)", m->after / m->before, fmax(m->low, 0), m->high);
    return buffer;
}

static void names(const struct pen *pen, const char *what, const char *const *list, uint32_t count)
{
    if (!count)
        return;
    fprintf(pen->out, "  %s: ", what);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        fputs(i ? ", " : "", pen->out);
        draw_text(pen, list[i], 40);
    }
    fprintf(pen->out, count > 8 ? " and %u more\n" : "\n", count - 8);
}

void compare_text(const struct pen *pen, const struct comparison *c)
{
    char before[HUMAN_SIZE], after[HUMAN_SIZE], text[2 * HUMAN_SIZE];

    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fputs("What moved beyond noise                         metric              before       after\n", pen->out);
    draw_tone(pen, TONE_PLAIN);
    for (uint32_t i = 0; i < c->count && i < LISTED; i++) {
        const struct moved *m = &c->list[i];
        unsigned columns = 2 + draw_text(pen, "  ", 0) + draw_text(pen, m->what, 0);

        if (m->name) {
            fputc(' ', pen->out);
            columns += 1 + draw_text(pen, m->name, 26);
        }
        if (m->op)
            columns += (unsigned)fprintf(pen->out, " %s", m->op);
        fprintf(pen->out, "%*s %-15s %10s  %10s  %s\n", columns < 46 ? (int)(46 - columns) : 0, "", m->metric,
                figure(before, m, m->before), figure(after, m, m->after), change(text, m));
    }
    if (!c->count)
        fputs("  nothing\n", pen->out);
    if (c->count > LISTED)
        fprintf(pen->out, "  and %u more; --format json has all\n", c->count - LISTED);
    fprintf(pen->out, "  %u compared and within noise, %u with too little to tell\n", c->within, c->unknown);
    names(pen, "only before", c->gone, c->gone_count);
    names(pen, "only after", c->come, c->come_count);
}

static json_t *moved(const struct moved *m)
{
    return json_pack("{s:s,s:o,s:s,s:o,s:f,s:f,s:o,s:o,s:o}", "what", m->what, "name", json_text(m->name), "metric",
                     m->metric, "op", json_text(m->op), "before", m->before, "after", m->after, "change",
                     json_number(m->before > 0 ? m->after / m->before : NAN), "change_low", json_number(m->low),
                     "change_high", json_number(m->high));
}

static json_t *strings(const char *const *list, uint32_t count)
{
    json_t *array = json_array();
    bool failed = !array;

    for (uint32_t i = 0; i < count; i++)
        json_add(&failed, array, json_string(list[i]));
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

json_t *compare_json(const struct comparison *c)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < c->count; i++)
        json_add(&failed, list, moved(&c->list[i]));
    if (failed) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:{s:o,s:o},s:o,s:I,s:I,s:o,s:o}", "before",
                     "start", json_time(c->before->totals.start_ns), "end", json_time(c->before->totals.end_ns),
                     "moved", list, "within_noise", (json_int_t)c->within, "cannot_tell", (json_int_t)c->unknown,
                     "only_before", strings(c->gone, c->gone_count), "only_after", strings(c->come, c->come_count));
}

static void html_names(FILE *out, const char *what, const char *const *list, uint32_t count)
{
    if (!count)
        return;
    fprintf(out, "<p>%s: ", what);
    for (uint32_t i = 0; i < count && i < LISTED; i++) {
        fputs(i ? ", " : "", out);
        html_text(out, list[i]);
    }
    fputs(count > LISTED ? " and more.</p>\n" : ".</p>\n", out);
}

void compare_html(FILE *out, const struct comparison *c)
{
    static const char *const columns[] = {"<What", "<Name", "<Operation", "<Metric", "Before", "After",
                                          "<Change", NULL};
    char text[2 * HUMAN_SIZE], start[HUMAN_SIZE], end[HUMAN_SIZE];

    fputs("<section>\n", out);
    html_heading(out, "moved", "What moved");
    fprintf(out, "<p>Compared with %s to %s UTC: %u figures moved beyond noise, %u did not, of %u too little was seen "
                 "to tell.</p>\n",
            html_moment(start, c->before->totals.start_ns), html_moment(end, c->before->totals.end_ns), c->count,
            c->within, c->unknown);
    if (c->count) {
        html_table(out, "Beyond noise: all tests together call noise a change once in a hundred comparisons", columns);
        for (uint32_t i = 0; i < c->count && i < 2 * LISTED; i++) {
            const struct moved *m = &c->list[i];

            fputs("<tr>", out);
            html_name(out, m->what);
            html_words(out, m->name ? m->name : "\xe2\x80\x93");
            html_words(out, m->op ? m->op : "\xe2\x80\x93");
            html_words(out, m->metric);
            html_cell(out, figure(text, m, m->before), m->before);
            html_cell(out, figure(text, m, m->after), m->after);
            html_words(out, change(text, m));
            fputs("</tr>\n", out);
        }
        html_table_end(out);
    }
    html_names(out, "Only before", c->gone, c->gone_count);
    html_names(out, "Only after", c->come, c->come_count);
    fputs("</section>\n", out);
}
