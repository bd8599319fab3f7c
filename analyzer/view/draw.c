/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/draw.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "analyzer/human.h"
#include "lib/utf8.h"

#define LABEL_EVERY 4
#define LABEL_AT    3 /* puts labels at 64 B, 1 KiB, 16 KiB */

void pen_init(struct pen *pen, FILE *out)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

    pen->out = out;
    pen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    pen->color = isatty(fileno(out)) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

void draw_tone(const struct pen *pen, enum tone tone)
{
    static const char *const codes[] = {
        [TONE_PLAIN] = "0", [TONE_STRONG] = "1", [TONE_FAINT] = "2",
        [TONE_GOOD] = "32", [TONE_BAD] = "31",
    };

    if (pen->color)
        fprintf(pen->out, "\033[%sm", codes[tone]);
}

/* Bytes of the character at text and how many columns it takes: two for most of East Asia's, none for what combines. */
static size_t measure(const struct pen *pen, const char *text, unsigned *columns)
{
    mbstate_t state = {0};
    wchar_t character;
    size_t length = pen->utf8 ? mbrtowc(&character, text, strlen(text), &state) : 1;
    int width = pen->utf8 && length && length <= MB_CUR_MAX ? wcwidth(character) : 1;

    *columns = width < 0 ? 1 : (unsigned)width; /* newer than the C library: most take one */
    return length && length <= MB_CUR_MAX ? length : 1;
}

/* Writes so much of the text as has that width (0: any), nothing of it that a terminal would obey; without a place to
   write to it is measured only. The columns that it takes. */
static unsigned draw_part(const struct pen *pen, FILE *out, const char *text, const char *end, unsigned width)
{
    unsigned columns = 0;

    while (text < end) {
        unsigned taken;
        size_t control = utf8_control(text), length = measure(pen, text, &taken);
        bool shown = !control && (pen->utf8 || (unsigned char)*text <= 0x7f);

        taken = shown ? taken : 1;
        if (width && columns + taken > width)
            break;
        if (out && shown)
            fwrite(text, 1, length, out);
        else if (out)
            fputc('?', out);
        text += length;
        columns += taken;
    }
    return columns;
}

unsigned draw_text(const struct pen *pen, const char *text, unsigned width)
{
    return draw_part(pen, pen->out, text, text + strlen(text), width);
}

void draw_bar(const struct pen *pen, double fraction, unsigned width)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned eighths, whole;

    fraction = fraction > 1 ? 1 : fraction > 0 ? fraction : 0;
    eighths = (unsigned)lround(fraction * width * 8);
    if (fraction > 0 && !eighths)
        eighths = 1; /* a trace is not nothing */
    whole = pen->utf8 ? eighths / 8 : (eighths + 7) / 8;
    for (unsigned i = 0; i < whole; i++)
        fputs(pen->utf8 ? "█" : "#", pen->out);
    if (pen->utf8)
        fputs(parts[eighths % 8], pen->out);
    for (unsigned i = whole + (pen->utf8 && eighths % 8); i < width; i++)
        fputc(' ', pen->out);
}

/* Bytes up to where a line may end: a share is no share without its "%". */
static size_t unbroken(const char *text)
{
    size_t length = strcspn(text, " ");

    while (strncmp(text + length, " %", 2) == 0)
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

/* Sentences from a column on, 0: that of the indent, which all further lines begin at. */
static void draw_words(const struct pen *pen, const char *const *sentences, uint32_t count, unsigned column,
                       unsigned indent, unsigned width)
{
    bool begun = false;

    for (uint32_t i = 0; i < count; i++)
        for (const char *word = sentences[i]; *word;) {
            size_t length = unbroken(word);
            bool last = !word[length];
            unsigned needed = draw_part(pen, NULL, word, word + length, 0) + (last && i + 1 < count);

            if (!column || (begun && column + 1 + needed > width)) {
                fprintf(pen->out, "%s%*s", begun ? "\n" : "", (int)indent, "");
                column = indent;
            } else if (begun) {
                fputc(' ', pen->out);
                column++;
            }
            draw_part(pen, pen->out, word, word + length, 0);
            fputs(last && i + 1 < count ? ";" : "", pen->out);
            begun = true;
            column += needed;
            word += length + !last;
        }
    if (begun)
        fputc('\n', pen->out);
}

void draw_paragraph(const struct pen *pen, const char *const *sentences, uint32_t count,
                    unsigned indent, unsigned width)
{
    draw_words(pen, sentences, count, 0, indent, width);
}

void draft_begin(struct draft *draft, const struct pen *pen)
{
    *draft = (struct draft){.pen = *pen, .to = pen};
    draft->pen.color = false;
    draft->pen.out = open_memstream(&draft->text, &draft->size);
    if (!draft->pen.out)
        draft->pen.out = pen->out; /* a long line is better than none */
}

void draft_end(struct draft *draft, unsigned column, unsigned indent, unsigned width)
{
    const char *sentence;

    if (draft->pen.out == draft->to->out) {
        fputc('\n', draft->to->out);
        return;
    }
    (void)fclose(draft->pen.out);
    sentence = draft->text ? draft->text : "";
    draw_words(draft->to, &sentence, 1, column, indent, width);
    free(draft->text);
}

static unsigned octave_of(unsigned bucket)
{
    uint64_t value = bucket_lower(bucket);

    return value ? bucket_msb(value) + 1 : 0;
}

void axis_hold(struct axis *axis, const struct histogram *h)
{
    unsigned low, high;

    if (!h->length)
        return;
    low = octave_of(h->cells[0].bucket);
    high = octave_of(h->cells[h->length - 1].bucket) + 1;
    if (axis->first == axis->last) {
        axis->first = low;
        axis->last = high;
    }
    axis->first = low < axis->first ? low : axis->first;
    axis->last = high > axis->last ? high : axis->last;
}

void draw_octaves(const struct pen *pen, const struct axis *axis, const struct histogram *h)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char letters[] = " .:-=+*#@";
    uint64_t counts[66] = {0}, most = 0;

    for (unsigned i = 0; i < h->length; i++) {
        unsigned octave = octave_of(h->cells[i].bucket);

        counts[octave] += h->cells[i].count;
        most = counts[octave] > most ? counts[octave] : most;
    }
    for (unsigned i = axis->first; i < axis->last; i++) {
        unsigned level = most ? (unsigned)ceil(8.0 * (double)counts[i] / (double)most) : 0;

        for (unsigned k = 0; k < DRAW_OCTAVE; k++)
            if (pen->utf8)
                fputs(blocks[level], pen->out);
            else
                fputc(letters[level], pen->out);
    }
}

void draw_axis(const struct pen *pen, const struct axis *axis, char *(*label)(char *, double))
{
    char text[HUMAN_SIZE];
    int gap = 0;

    for (unsigned i = axis->first; i < axis->last; i++) {
        if (i % LABEL_EVERY == LABEL_AT) {
            fprintf(pen->out, "%*s%s", gap, "", label(text, ldexp(1, (int)i - 1)));
            gap = -(int)strlen(text);
        }
        gap += DRAW_OCTAVE;
    }
}
