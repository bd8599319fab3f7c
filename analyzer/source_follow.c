/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"

#define HISTORY_NS INT64_C(60000000000) /* how far back the first sample may lie */
#define GRACE_NS                                                                                   \
    INT64_C(10000000000) /* how long the nodes' batches of an interval are waited for */
#define CLOCKS_NS INT64_C(500000000)
#define FIRST_NS  (GRACE_NS + GRACE_NS / 2) /* how long the first batch of all is waited for */

struct follower {
    struct source source; /* first: it is what the caller holds */
    const char *conninfo;
    _Atomic uint64_t interval_ns; /* between looks at the database */
    unsigned samples; /* so many are asked for; 0: as long as they come */
    bool patient;
    int64_t began_ns;
    int64_t after_ns;             /* intervals up to here have been handed out */
    int64_t length_ns;            /* of the interval that was seen last */
    struct source *database;      /* open while an interval is read */
    struct source_window window;  /* the database's, which borrows it */
    struct batch *ahead;          /* of the same interval, of the next node; NULL for none */
};

static void close_database(struct follower *follower)
{
    batch_free(follower->ahead);
    follower->ahead = NULL;
    source_freep(&follower->database);
    follower->database = NULL;
}

/* Opens the database for the earliest interval that has not been handed out, of those that began so long ago. 1 with
   its first batch in ahead, 0 when there is none, -errno (logged). */
static int begin_interval(struct follower *follower, int64_t ago_ns)
{
    struct source *database = NULL;
    int got;

    follower->window = (struct source_window){.since_ns = follower->after_ns, .until_ns = wall_clock_ns() - ago_ns};
    got = source_database(follower->conninfo, &follower->window, &database);
    if (!got)
        got = database->next(database, &follower->ahead);
    if (got == 1)
        follower->database = database;
    else
        source_freep(&database);
    return got;
}

static int64_t length_of(const struct batch *batch)
{
    return batch->interval_ms * INT64_C(1000000);
}

/* Whether slow nodes' batches of the interval that was begun have been waited for. */
static bool is_over(const struct follower *follower)
{
    return follower->ahead->start_ns + length_of(follower->ahead) <= wall_clock_ns() - GRACE_NS;
}

/* As above, but none from before it is over. Until then it is not read again: as long as it was, the next ones are. */
static int begin_whole_interval(struct follower *follower)
{
    int got = begin_interval(follower, GRACE_NS + follower->length_ns);

    if (got != 1)
        return got;
    follower->length_ns = length_of(follower->ahead);
    if (is_over(follower))
        return 1;
    close_database(follower);
    return 0;
}

/* When the last interval before that one began; 0 when there is none. 0 or -errno (logged). */
static int before(struct follower *follower, int64_t start_ns, int64_t *out)
{
    return source_newest(follower->conninfo, start_ns - CLOCKS_NS, out);
}

/* Slow nodes are waited for from its end on; where there is an interval before it, that one is complete. 0 or -errno
   (logged). */
static int last_complete(struct follower *follower, int64_t *last_ns)
{
    const int64_t now_ns = wall_clock_ns();
    int64_t earlier_ns = 0, length_ns = 0;
    int got;

    follower->after_ns = *last_ns - CLOCKS_NS;
    got = begin_interval(follower, GRACE_NS);
    if (got == 1 && !is_over(follower)) {
        length_ns = length_of(follower->ahead);
        got = before(follower, *last_ns, &earlier_ns);
    }
    close_database(follower);
    if (earlier_ns + 2 * length_ns > now_ns - HISTORY_NS) /* what is still gathered took as long as that one */
        *last_ns = earlier_ns;
    return got < 0 ? got : 0;
}

static void say_age(const struct follower *follower, int64_t last_ns)
{
    int64_t age_ns = wall_clock_ns() - last_ns;
    char when[40], age[32];

    if (age_ns - length_of(follower->ahead) > HISTORY_NS / 2)
        log_warning("nothing has come since %s, %s ago: this is the last that did", human_time(when, last_ns),
                    human_duration(age, (double)age_ns / 1e9));
}

/* Whoever asks for so many samples gets the latest, however long ago they came. Nodes' clocks differ a little. 1, 0 if
   there is none, or -errno (logged). */
static int begin_with_last(struct follower *follower)
{
    int64_t last_ns = 0, first_ns, earlier_ns = 1;
    int got = source_newest(follower->conninfo, wall_clock_ns() - GRACE_NS, &last_ns);

    if (!got && last_ns)
        got = last_complete(follower, &last_ns);
    if (got || !last_ns)
        return got;
    first_ns = last_ns;
    for (unsigned n = 1; !got && n < follower->samples; n++) {
        got = before(follower, first_ns, &earlier_ns);
        if (earlier_ns < last_ns - HISTORY_NS)
            break;
        first_ns = earlier_ns;
    }
    follower->after_ns = first_ns - CLOCKS_NS;
    if (!got)
        got = begin_interval(follower, GRACE_NS);
    if (got == 1)
        say_age(follower, last_ns);
    return got;
}

/* The next interval, if there is one; whoever is not patient begins with the last, or waits for the first for a while. 1, 0
   or -errno (logged). */
static int look(struct follower *follower)
{
    int got = follower->patient ? begin_whole_interval(follower) : begin_with_last(follower);

    if (got == 1)
        follower->patient = true;
    if (got || follower->patient || wall_clock_ns() < follower->began_ns + FIRST_NS)
        return got;
    log_error("no node has told anything yet: see that an agent sends, unblend-agent(8)");
    return -ENODATA;
}

static int follower_next(struct source *source, struct batch **out)
{
    struct follower *follower = (struct follower *)source;
    struct batch *batch;
    int got;

    while (!follower->ahead) {
        const uint64_t interval_ns = follower->interval_ns;
        const struct timespec pause = {(time_t)(interval_ns / 1000000000), (long)(interval_ns % 1000000000)};

        got = look(follower);
        if (got < 0)
            return got;
        if (follower->ahead)
            follower->after_ns =
                follower->ahead->start_ns + length_of(follower->ahead) / 2 + 1;
        else if (nanosleep(&pause, NULL))
            return -EINTR;
    }
    batch = take_pointer(follower->ahead);
    got = follower->database->next(follower->database, &follower->ahead);
    /* clocks differ a little: half an interval later is another one */
    if (got != 1 || follower->ahead->start_ns >= follower->after_ns)
        close_database(follower);
    if (got < 0) {
        batch_free(batch);
        return got;
    }
    *out = batch;
    return 1;
}

static bool follower_more(struct source *source)
{
    return ((struct follower *)source)->ahead != NULL;
}

static void follower_pace(struct source *source, uint64_t interval_ns)
{
    ((struct follower *)source)->interval_ns = interval_ns;
}

static void follower_free(struct source *source)
{
    close_database((struct follower *)source);
    free(source);
}

int source_follow(const char *conninfo, uint64_t interval_ns, unsigned samples, struct source **out)
{
    struct follower *follower = calloc(1, sizeof(*follower));

    if (!follower) {
        log_error("cannot follow the database: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    follower->source = (struct source){
        .next = follower_next, .free = follower_free, .more = follower_more, .pace = follower_pace};
    follower->conninfo = conninfo;
    follower->interval_ns = interval_ns;
    follower->samples = samples;
    follower->patient = !samples;
    follower->began_ns = wall_clock_ns();
    follower->after_ns = follower->began_ns - HISTORY_NS - GRACE_NS;
    *out = &follower->source;
    return 0;
}
