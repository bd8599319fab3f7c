/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/governor.h"

#define IN_A_ROW     3
#define PATIENCE_MAX 192
#define FORGET       60 /* calm intervals, all watched, after which a vain step up is forgotten */
#define LOOK_FULL    10 /* the programs are measured in one interval of so many, */
#define LOOK_LESS    2  /* and in one of so many while less is watched */
#define WELL_BELOW   0.5

void governor_init(struct governor *governor, double limit)
{
    *governor = (struct governor){.limit = limit, .patience = IN_A_ROW, .unmeasured = LOOK_FULL};
}

bool governor_measures(const struct governor *g)
{
    if (!(g->limit > 0))
        return false;
    return g->above || g->step == PROBE_DETACHED ||
           g->unmeasured + 1 >= (g->step ? LOOK_LESS : LOOK_FULL);
}

static void step_down(struct governor *g)
{
    g->above = g->below = 0;
    if (g->step == PROBE_DETACHED)
        return;
    if (g->climbed && g->calm <= IN_A_ROW * LOOK_LESS)
        g->patience = g->patience * 2 < PATIENCE_MAX ? g->patience * 2 : PATIENCE_MAX;
    g->step++;
    g->calm = 0;
    g->climbed = false;
}

static void step_up(struct governor *g)
{
    g->above = g->below = 0;
    g->step--;
    g->calm = 0;
    g->climbed = true;
}

enum probe_step governor_interval(struct governor *g, double price, bool whole)
{
    if (!(g->limit > 0))
        return g->step;
    g->unmeasured = whole ? 0 : g->unmeasured + 1;
    g->calm++;
    if (price > g->limit) {
        g->above++;
        g->below = 0;
    } else if (whole) {
        g->above = 0;
        g->below = price < g->limit * WELL_BELOW ? g->below + 1 : 0;
    }
    if (g->above >= IN_A_ROW)
        step_down(g);
    else if (g->step && g->below >= g->patience)
        step_up(g);
    else if (!g->step && g->calm >= FORGET)
        g->patience = IN_A_ROW;
    return g->step;
}
