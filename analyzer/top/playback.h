/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which moment is shown, and how fast time goes on. What cannot be done is said below the table. */
#ifndef UNBLEND_ANALYZER_TOP_PLAYBACK_H
#define UNBLEND_ANALYZER_TOP_PLAYBACK_H

#include "analyzer/top/screen.h"

/* In a replay only: "14:05", "14:05:30" of the day that is shown, "+30s", "-5m", or a full time; "" stays. */
void playback_jump(struct screen *screen, const char *text);
/* A sample on, or one back for a negative number; in a replay only. It is frozen then. */
void playback_step(struct screen *screen, int by);

/* Stops, or goes on with what has come meanwhile. */
void playback_freeze(struct screen *screen);
/* A replay's speed, or else how often a sample is taken. */
void playback_pace(struct screen *screen, bool faster);

#endif
