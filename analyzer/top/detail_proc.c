/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Details that are looked up in /proc while somebody asks for them: the files of a process of this node. */
#include "analyzer/top/detail_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/top/files.h"
#include "analyzer/top/screen.h"

#define FILES_SHOWN 20

/* The process that is looked at, if it is one of this node; otherwise 0, and it is said why. */
static uint32_t own_process(struct screen *screen)
{
    if (screen->mode != MODE_DETAIL || screen->detail.who.kind > ENTITY_THREAD || !screen->detail.who.pid)
        say(screen, "paths of files are those of a process: choose one and press Enter");
    else if (!screen->arguments->local)
        say(screen, "n/a: records hold no paths of files: they are looked up on the node itself");
    else
        return screen->detail.who.pid;
    return 0;
}

void detail_files(struct screen *screen)
{
    struct files *files = screen->detail.files;
    uint32_t pid = files ? 0 : own_process(screen);

    screen->detail.painted = 0;
    free(files);
    screen->detail.files = pid ? files_new(pid) : NULL;
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

void detail_put_proc(const struct pen *pen, const struct screen *screen, const struct entity *e)
{
    if (!entity_is_somebody(e) || !e->pid)
        return;
    if (!screen->arguments->local)
        detail_head(pen, "Files", "n/a: records hold no paths");
    else if (screen->detail.files)
        put_files(pen, screen->detail.files);
    else
        detail_head(pen, "Files", "f looks for those that are open most: paths are looked up on demand only");
}
