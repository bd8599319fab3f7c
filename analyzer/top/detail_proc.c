/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Details that are looked up in /proc while somebody asks for them: files and threads of a process of this node. */
#include "analyzer/top/detail_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/files.h"
#include "analyzer/top/screen.h"
#include "analyzer/top/threads.h"
#include "lib/clock.h"

#define FILES_SHOWN   20
#define THREADS_SHOWN 20
#define THREADS_MS    500 /* rates over less than that would jump */

/* The process that is looked at, if it is one of this node; otherwise 0, and it is said why. */
static uint32_t own_process(struct screen *screen, const char *of_what)
{
    if (screen->mode != MODE_DETAIL || screen->detail.who.kind != ENTITY_PROCESS || !screen->detail.who.pid)
        say(screen, "%s are those of a process: choose one and press Enter", of_what);
    else if (!screen->arguments->local)
        say(screen, "n/a: records hold no %s: they are looked up on the node itself", of_what);
    else
        return screen->detail.who.pid;
    return 0;
}

void detail_files(struct screen *screen)
{
    struct files *files = screen->detail.files;
    uint32_t pid = files ? 0 : own_process(screen, "paths of files");

    screen->detail.painted = 0;
    free(files);
    screen->detail.files = pid ? files_new(pid) : NULL;
}

void detail_threads(struct screen *screen)
{
    struct threads *threads = screen->detail.threads;
    uint32_t pid = threads ? 0 : own_process(screen, "threads");

    screen->detail.painted = 0;
    threads_free(threads);
    screen->detail.threads = pid ? threads_new(pid) : NULL;
}

static const char *reason(int err)
{
    return err == -ENOENT || err == -ESRCH ? "the process has ended" : strerror(-err);
}

static void put_files(const struct pen *pen, struct files *files)
{
    char text[96];

    snprintf(text, sizeof(text), "how often each was found open, of %llu looks, ten a second",
             (unsigned long long)files->looks);
    detail_head(pen, "Files open most", text);
    if (files->err)
        fprintf(pen->out, "n/a: %s\n", reason(files->err));
    else if (!files->count)
        fputs("none was open at these moments\n", pen->out);
    files_sort(files);
    for (uint32_t i = 0; i < files->count && i < FILES_SHOWN; i++) {
        const struct file_seen *file = &files->at[i];

        fprintf(pen->out, "%5.0f %%", 100 * (double)file->seen / (double)files->looks);
        if (file->last == files->looks && file->descriptors > 1)
            fprintf(pen->out, " %4ux  ", file->descriptors);
        else
            fputs("        ", pen->out);
        draw_text(pen, file->path, 0);
        fputc('\n', pen->out);
    }
    if (files->count > FILES_SHOWN || files->left)
        fprintf(pen->out, "         and %llu more\n",
                (unsigned long long)(files->count > FILES_SHOWN ? files->count - FILES_SHOWN : 0) + files->left);
}

static void put_threads(const struct pen *pen, struct threads *threads)
{
    if (monotonic_ns() - threads->ns >= THREADS_MS * 1000000LL)
        threads_look(threads); /* without memory the last look stays */
    detail_head(pen, "Threads", "all their read and write calls, of sockets and pipes too, as /proc counts them");
    if (threads->err)
        fprintf(pen->out, "n/a: %s\n", reason(threads->err));
    if (!threads->count)
        return;
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, "%7s %-15s %c %8s %8s %11s %11s\n", "thread", "name", ' ', "reads/s", "writes/s", "read/s",
            "written/s");
    draw_tone(pen, TONE_PLAIN);
    for (uint32_t i = 0; i < threads->count && i < THREADS_SHOWN; i++) {
        const struct thread_seen *thread = &threads->at[i];
        char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];

        fprintf(pen->out, "%7u ", thread->tid);
        fprintf(pen->out, "%*s%c ", 16 - (int)draw_text(pen, thread->name, 15), "", thread->state);
        if (threads->seconds > 0)
            fprintf(pen->out, "%8s %8s %11s %11s\n", human_rate(a, thread->rates[THREAD_READS]),
                    human_rate(b, thread->rates[THREAD_WRITES]), human_bytes(c, thread->rates[THREAD_READ_BYTES]),
                    human_bytes(d, thread->rates[THREAD_WRITTEN_BYTES]));
        else
            fprintf(pen->out, "%8s %8s %11s %11s\n", "-", "-", "-", "-");
    }
    if (threads->count > THREADS_SHOWN || threads->left)
        fprintf(pen->out, "        and %u more\n",
                (threads->count > THREADS_SHOWN ? threads->count - THREADS_SHOWN : 0) + threads->left);
}

void detail_put_proc(const struct pen *pen, const struct screen *screen, const struct entity *e)
{
    if (e->kind != ENTITY_PROCESS || !e->pid)
        return;
    if (!screen->arguments->local) {
        detail_head(pen, "Files, threads", "n/a: records hold neither paths nor threads");
        return;
    }
    if (screen->detail.files)
        put_files(pen, screen->detail.files);
    else
        detail_head(pen, "Files", "f looks for those that are open most: paths are looked up on demand only");
    if (screen->detail.threads)
        put_threads(pen, screen->detail.threads);
    else
        detail_head(pen, "Threads", "H lists them: records count them with their process");
}
