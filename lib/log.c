/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "lib/journal.h"
#include "lib/utf8.h"

#define LINE_SIZE 2048

static const char *program = "unblend";
static bool verbose_;

void log_program(const char *name)
{
    program = name;
}

void log_verbose(bool verbose)
{
    verbose_ = verbose;
}

/* What stands between the program's name and the line, in words, and in the journal as a number. */
static const struct severity {
    const char *words;
    int priority;
} error = {"", LOG_ERR}, warning = {"warning: ", LOG_WARNING}, info = {"", LOG_INFO}, debug = {"debug: ", LOG_DEBUG};

/* One write() a line, so that lines of several threads and processes do not mix. */
static void line(const struct severity *severity, const char *format, va_list args)
{
    char text[LINE_SIZE / 4];
    char out[LINE_SIZE + 8];
    size_t before, length;

    vsnprintf(text, sizeof(text), format, args);
    before = length = (size_t)snprintf(out, 256, "%.200s: %s", program, severity->words);
    for (const char *c = text, *behind = text; *c && length < LINE_SIZE - 4; c++) {
        size_t control = utf8_control(c);

        behind = control ? c + control : behind;
        if (c < behind)
            length += (size_t)snprintf(out + length, 5, "\\x%02x", (unsigned char)*c);
        else
            out[length++] = *c;
    }
    out[length] = '\0';
    if (journal_send(severity->priority, program, out + before))
        return;
    out[length++] = '\n';
    if (write(STDERR_FILENO, out, length) < 0)
        return; /* nowhere left to say so */
}

#define LOG(name, severity)                                                                        \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        line(&severity, format, args);                                                             \
        va_end(args);                                                                              \
    }

LOG(log_error, error)
LOG(log_warning, warning)
LOG(log_info, info)

void log_debug(const char *format, ...)
{
    va_list args;

    if (!verbose_)
        return;
    va_start(args, format);
    line(&debug, format, args);
    va_end(args);
}

const char *log_errno(int err)
{
    static _Thread_local char text[128];

    return strerror_r(-err, text, sizeof(text));
}

static const struct {
    int error;
    const char *what_to_do;
} advice[] = {
    {EACCES, "see its rights (ls -l), or use sudo"},
    {EBADF, "it is closed: leave it open"},
    {EDQUOT, "make room there, or write elsewhere"},
    {EFBIG, "write elsewhere, or raise the limit (ulimit -f)"},
    {EIO, "see the kernel's log (dmesg) for what failed"},
    {EISDIR, "name a file in it"},
    {ELOOP, "check its symbolic links"},
    {EMFILE, "raise the limit of open files (ulimit -n)"},
    {ENAMETOOLONG, "check the name"},
    {ENOENT, "check the name"},
    {ENOEXEC, "it is no program for this machine; a script begins with #!"},
    {ENOMEM, "free some memory and try again"},
    {ENOSPC, "make room there, or write elsewhere"},
    {ENOTDIR, "check the name"},
    {EPERM, "use sudo"},
    {EROFS, "write elsewhere"},
    {ETXTBSY, "somebody writes it: wait for its end"},
};

const char *log_why(int err)
{
    static _Thread_local char text[256];

    for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
        if (advice[i].error == -err) {
            snprintf(text, sizeof(text), "%s: %s", log_errno(err), advice[i].what_to_do);
            return text;
        }
    return log_errno(err);
}
