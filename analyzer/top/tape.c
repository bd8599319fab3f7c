/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recording from within: what is shown goes to a file, too, from a key on to the next. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/top/screen.h"
#include "lib/log.h"
#include "lib/recording.h"

static void begin(struct screen *screen, const char *path)
{
    uint64_t cut;
    int err;

    if (!*path)
        return;
    /* a recording that is there is gone on with, anything else is left alone */
    err = recording_append(path, &screen->tape, &cut);
    if (err) {
        screen->tape = NULL;
        say(screen, "cannot record to %s: %s", path,
            err == -EBADMSG ? "it is there, and no recording" : log_errno(err));
        return;
    }
    snprintf(screen->tape_path, sizeof(screen->tape_path), "%s", path);
    say(screen, "recording to %s; w ends it", path);
}

void tape_end(struct screen *screen)
{
    int err;

    if (!screen->tape)
        return;
    err = recording_close(screen->tape);
    screen->tape = NULL;
    if (err)
        say(screen, "cannot close %s: %s", screen->tape_path, log_errno(err));
    else
        say(screen, "recorded to %s", screen->tape_path);
}

void tape_toggle(struct screen *screen)
{
    if (screen->tape)
        tape_end(screen);
    else
        prompt_begin(screen, "Record to: ", "unblend.rec", begin);
}

void tape_write(struct screen *screen, const struct batch *batch)
{
    int err = screen->tape ? recording_write(screen->tape, batch) : 0;

    if (!err)
        return;
    tape_end(screen);
    say(screen, "the recording %s has ended: %s", screen->tape_path, log_errno(err));
}
