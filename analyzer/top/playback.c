/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/playback.h"

#include <stdio.h>

#include "lib/log.h"
#include "lib/moment.h"
#include "lib/option.h"

#define INTERVAL_MIN_NS 100000000ull
#define INTERVAL_MAX_NS 3600000000000ull
#define SPEED_MAX       2048 /* halves */
#define DAY_NS          86400000000000LL

void playback_jump(struct screen *screen, const char *text)
{
    int64_t now = screen->model->end_ns, to;
    unsigned hours, minutes, seconds = 0;
    char rest;
    uint64_t span;
    int fields = sscanf(text, "%2u:%2u:%2u%c", &hours, &minutes, &seconds, &rest);

    if (!*text)
        return;
    if ((*text == '+' || *text == '-') && option_duration(text + 1, &span) == 0)
        to = now + (*text == '+' ? 1 : -1) * (int64_t)span - (int64_t)(screen->model->seconds * 1e9);
    else if ((fields == 2 || fields == 3) && hours < 24 && minutes < 60 && seconds < 60)
        to = now - now % DAY_NS + (hours * 3600LL + minutes * 60 + seconds) * 1000000000LL;
    else if (moment_parse(text, now, &to) != 0) {
        say(screen, "'%s' is no time: 14:05, 14:05:30, +30s, -5m or 2026-03-01T12:00:00Z", text);
        return;
    }
    feed_seek(screen->feed, to);
}

void playback_step(struct screen *screen, int by)
{
    const struct batch *batch = screen->sample.batch;

    if (!screen->arguments->replay) {
        say(screen, "only a replay has other samples: --replay FILE");
        return;
    }
    if (by < 0 && !batch)
        return; /* before the first one there is none */
    screen->frozen = true;
    feed_pause(screen->feed, true);
    if (by > 0) {
        feed_step(screen->feed);
    } else {
        /* pressed again before it has come, it is one more */
        screen->target_ns =
            screen->target_ns ? screen->target_ns - batch->interval_ms * 1000000LL : batch->start_ns - 1;
        feed_seek(screen->feed, screen->target_ns);
    }
}

void playback_freeze(struct screen *screen)
{
    screen->frozen = !screen->frozen;
    feed_pause(screen->feed, screen->frozen);
    if (!screen->frozen && screen->held.batch) {
        int err = screen_take(screen, &screen->held, false);

        if (err)
            say(screen, "cannot go on: %s", log_errno(err));
    }
}

void playback_pace(struct screen *screen, bool faster)
{
    uint64_t interval = screen->interval_ns;

    if (screen->arguments->replay) {
        uint64_t speed = faster ? screen->speed_halves * 2 : screen->speed_halves / 2;

        screen->speed_halves = speed < 1 ? 1 : speed > SPEED_MAX ? SPEED_MAX : speed;
        feed_speed(screen->feed, (double)screen->speed_halves / 2);
        return;
    }
    /* 0.1, 0.2, 0.5, 1, 2, 5, ...: steps that are read at a glance */
    for (uint64_t step = INTERVAL_MIN_NS, i = 0; step <= INTERVAL_MAX_NS; step = step * (i++ % 3 == 1 ? 5 : 4) / 2)
        if (faster ? step < interval : step > interval) {
            screen->interval_ns = step;
            if (!faster)
                break;
        } else if (faster) {
            break;
        }
    feed_interval(screen->feed, screen->interval_ns);
}
