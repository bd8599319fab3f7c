/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/option_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/log.h"

#define LINE_MAX_BYTES 8192
#define FILE_MAX_BYTES (1u << 20) /* a device has no end */
#define WRONG_MAX      20         /* lines that are told: this is another file, then */
#define BLANKS         " \t\r\n\v\f"

struct file {
    const struct option_program *program;
    const char *path;
    FILE *stream;
    unsigned line;
    size_t bytes;
    unsigned *set_on; /* the line that set an option, 0 for none */
    const bool *given;
};

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, BLANKS);
    length = strlen(text);
    while (length && strchr(BLANKS, text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* A "#" begins a comment where a word could begin, so "http://host/#part" stays whole. */
static void cut_comment(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '#' && (c == text || strchr(BLANKS, c[-1]))) {
            *c = '\0';
            return;
        }
}

static int find(const struct option_program *program, const char *name)
{
    for (unsigned i = 0; i < program->count; i++)
        if (strcmp(program->options[i].name, name) == 0)
            return (int)i;
    return -ENOENT;
}

static int bad(const struct file *f, const char *name, const char *why)
{
    log_error("%s:%u: '%.200s' %s", f->path, f->line, name, why);
    return -EINVAL;
}

/* Strings that options point to; they live to the end, and a leak checker should find them. */
struct kept {
    struct kept *next;
    char text[];
};

static struct kept *kept;

static const char *keep(const char *text)
{
    size_t size = strlen(text) + 1;
    struct kept *copy = malloc(sizeof(*copy) + size);

    if (!copy)
        return NULL;
    copy->next = kept;
    kept = copy;
    return memcpy(copy->text, text, size);
}

/* What option_from() tells. */
struct origin {
    struct origin *next;
    const void *value;
    char place[];
};

static struct origin *origins;

void option_forget(void)
{
    while (origins) {
        struct origin *next = origins->next;

        free(origins);
        origins = next;
    }
}

const char *option_from(const void *value)
{
    for (const struct origin *o = origins; o; o = o->next)
        if (o->value == value)
            return o->place;
    return "";
}

/* Without memory a complaint names no place, and that is all. */
static void remember(const struct file *f, const void *value)
{
    size_t size = strlen(f->path) + 16;
    struct origin *origin = malloc(sizeof(*origin) + size);

    if (!origin)
        return;
    snprintf(origin->place, size, "%s:%u: ", f->path, f->line);
    origin->value = value;
    origin->next = origins;
    origins = origin;
}

/* Checks the value even where the command line has another one. */
static int take(const struct file *f, unsigned at, const char *value)
{
    struct option_spec spec = f->program->options[at];
    union {
        bool flag;
        uint64_t number;
        const char *text;
    } unused;

    if (f->given[at])
        spec.value = &unused;
    else if (spec.type == OPTION_STRING && value) {
        value = keep(value);
        if (!value)
            return bad(f, spec.name, "cannot be set: no memory");
    }
    if (!value && spec.type != OPTION_FLAG && spec.type != OPTION_TIMES)
        return bad(f, spec.name, "needs a value: write 'name = value'");
    if (option_set(&spec, value)) {
        log_error("%s:%u: %s: '%.200s' is %s", f->path, f->line, spec.name, value,
                  option_wanted(spec.type));
        return -EINVAL;
    }
    if (!f->given[at])
        remember(f, spec.value);
    return 0;
}

static int parse_line(const struct file *f, char *text)
{
    char *name, *value;
    int at;

    cut_comment(text);
    name = trim(text);
    if (!*name)
        return 0;
    value = strchr(name, '=');
    if (value) {
        *value = '\0';
        value = trim(value + 1);
        name = trim(name);
    }
    at = find(f->program, name);
    if (at < 0)
        return bad(f, name, "is no option: see --help for the names");
    if (f->set_on[at]) {
        log_error("%s:%u: '%s' was set on line %u already: remove one of them", f->path, f->line,
                  name, f->set_on[at]);
        return -EINVAL;
    }
    f->set_on[at] = f->line;
    return take(f, (unsigned)at, value);
}

/* A line into text. 1, 0 at the end, -EINVAL for one that is no line of text (logged, and passed), -EFBIG (logged). */
static int read_line(struct file *f, char text[LINE_MAX_BYTES])
{
    size_t length = 0;
    bool too_long = false, binary = false;
    int c;

    while ((c = getc(f->stream)) != EOF && ++f->bytes <= FILE_MAX_BYTES && c != '\n') {
        binary |= c == '\0';
        if (length + 1 < LINE_MAX_BYTES)
            text[length++] = (char)c;
        else
            too_long = true;
    }
    text[length] = '\0';
    if (f->bytes > FILE_MAX_BYTES) {
        log_error("%s: it is larger than 1 MiB: give a configuration file", f->path);
        return -EFBIG;
    }
    if (too_long || binary) {
        log_error("%s:%u: the line %s", f->path, f->line,
                  binary ? "holds a NUL byte: this is no text file" : "is too long");
        return -EINVAL;
    }
    return c != EOF || length;
}

static int parse(struct file *f)
{
    char text[LINE_MAX_BYTES];
    int err = 0, more;
    unsigned wrong = 0;

    for (f->line = 1; (more = read_line(f, text)) != 0; f->line++) {
        if (more > 0 && !parse_line(f, text))
            continue;
        err = -EINVAL; /* go on: all bad lines are shown at once */
        if (more == -EFBIG)
            return err;
        if (++wrong == WRONG_MAX) {
            log_error("%s: the rest is not read: so many wrong lines are of no configuration file", f->path);
            return err;
        }
    }
    if (ferror(f->stream)) {
        log_error("cannot read %s: %s", f->path, log_why(-errno));
        err = -EINVAL;
    }
    return err;
}

int option_file(const struct option_program *program, const char *path, bool must_exist,
                const bool *given)
{
    _cleanup_free_ unsigned *set_on = calloc(program->count + 1, sizeof(*set_on));
    _cleanup_fclose_ FILE *stream = fopen(path, "re");
    struct file f = {program, path, stream, 0, 0, set_on, given};

    if (!stream && errno == ENOENT && !must_exist)
        return 0;
    if (!stream) {
        log_error("cannot read the configuration file %s: %s: name another with --config", path,
                  log_errno(-errno));
        return -EINVAL;
    }
    if (!set_on) {
        log_error("cannot read %s: no memory", path);
        return -EINVAL;
    }
    return parse(&f);
}
