/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/top.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/human.h"
#include "lib/cleanup.h"
#include "lib/log.h"

#define HEADER_LINES 5

/* A source is waited for in a thread of its own, so that keys are answered at once. */
struct reader {
    struct source *source;
    bool paced;
    int pipe[2]; /* pointers to batches; NULL at the end */
    int err;
};

struct screen {
    struct top_options *options;
    struct reader reader;
    struct batch *now; /* the sample shown */
    struct batch *sum; /* of all samples */
    uint32_t first;    /* row at the top */
    bool help, frozen, ended;
    uint64_t left; /* samples still to be shown; 0 for any number */
};

/* A recording is shown as fast as it happened. */
static void wait_for(uint64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

static void *read_batches(void *argument)
{
    struct reader *reader = argument;
    struct batch *batch;
    uint64_t duration_ns;
    int got;

    do {
        got = reader->source->next(reader->source, &batch);
        if (got == -EINTR)
            continue;
        if (got < 0)
            reader->err = got;
        if (got != 1)
            batch = NULL;
        /* once written the batch is the other thread's */
        duration_ns = batch && reader->paced ? batch->duration_ns : 0;
        if (write(reader->pipe[1], &batch, sizeof(batch)) != sizeof(batch))
            break;
        wait_for(duration_ns);
    } while (got == 1 || got == -EINTR);
    return NULL;
}

static void show_help(void)
{
    mvaddstr(0, 0, "unblend top: every storage operation of every process, as it happens");
    mvaddstr(2, 0, "  left, right   the column to sort by        r   the other way round");
    mvaddstr(3, 0, "  up, down      scroll                       o   only who is active");
    mvaddstr(4, 0,
             "  p             processes or jobs            a   amounts since the start, or rates");
    mvaddstr(5, 0, "  s, space      freeze                       q   quit");
    for (unsigned i = 0; i < top_column_count; i++)
        mvprintw((int)i + 7, 2, "%-9s %s", top_columns[i].title, top_columns[i].help);
    mvaddstr((int)top_column_count + 8, 0, "any key goes back");
}

/* Adds text with control characters shown as "?", cut to the width and padded to it. */
static void put_text(const char *text, int width)
{
    char clean[TOP_CELL];
    int length = 0;

    for (; text[length] && length < width && length + 1 < TOP_CELL; length++)
        clean[length] =
            (unsigned char)text[length] < ' ' || text[length] == 0x7f ? '?' : text[length];
    clean[length] = '\0';
    addstr(clean);
    for (; length < width; length++)
        addch(' ');
}

static void show_titles(const struct top_options *options)
{
    move(HEADER_LINES - 1, 0);
    attron(A_REVERSE);
    for (unsigned i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];
        char title[TOP_CELL];

        snprintf(title, sizeof(title), "%s", column->title);
        if (options->accumulated && strchr(title, '/'))
            *strchr(title, '/') = '\0';
        if (i == options->sort)
            attron(A_BOLD | A_UNDERLINE);
        printw("%*s", column->unit == TOP_TEXT ? -column->width : column->width, title);
        attroff(A_BOLD | A_UNDERLINE);
        addch(' ');
    }
    attroff(A_REVERSE);
}

static void show_rows(const struct top_sample *sample, uint32_t first)
{
    char buffer[TOP_CELL];

    for (int y = HEADER_LINES; y < LINES; y++) {
        uint32_t at = first + (uint32_t)(y - HEADER_LINES);

        if (at >= sample->count)
            return;
        move(y, 0);
        for (unsigned i = 0; i < top_column_count && getcurx(stdscr) < COLS; i++) {
            const struct top_column *column = &top_columns[i];
            int room = COLS - getcurx(stdscr) - 1;

            put_text(top_cell(column, &sample->rows[at], sample->seconds, buffer),
                     column->width < room ? column->width : room);
            if (getcurx(stdscr) + 1 < COLS)
                addch(' ');
        }
    }
}

static void show_header(const struct screen *screen, const struct top_sample *sample)
{
    const struct batch *batch = sample->batch;
    char line[256], time[HUMAN_SIZE], span[HUMAN_SIZE];

    human_time(time, batch->start_ns + (int64_t)batch->duration_ns);
    human_duration(span, (double)batch->duration_ns / 1e9);
    mvprintw(0, 0, "unblend top  %.8s UTC  %s %s%s%s  h help", time + 11,
             screen->options->accumulated ? "amounts over" : "rates over", span,
             screen->frozen ? "  FROZEN" : "", screen->ended ? "  END" : "");
    top_totals(sample, line, sizeof(line));
    mvaddnstr(1, 0, line, COLS);
    top_coverage(batch, line, sizeof(line));
    if (batch->coverage.lost || batch->coverage.overflow || batch->coverage.shed_ms[SHED_METADATA_ONLY] ||
        batch->coverage.shed_ms[SHED_DETACHED])
        attron(A_BOLD);
    mvaddnstr(2, 0, line, COLS);
    attroff(A_BOLD);
    top_stuck(batch, line, sizeof(line));
    attron(A_BOLD);
    mvaddnstr(3, 0, line, COLS);
    attroff(A_BOLD);
}

static int show(struct screen *screen)
{
    const struct batch *batch = screen->options->accumulated ? screen->sum : screen->now;
    struct top_sample sample;
    int err;

    erase();
    if (screen->help) {
        show_help();
    } else if (!batch) {
        mvaddstr(0, 0, "unblend top: the first interval is being measured");
    } else {
        err = top_sample_new(batch, screen->options, &sample);
        if (err)
            return err;
        if (screen->first >= sample.count)
            screen->first = sample.count ? sample.count - 1 : 0;
        show_header(screen, &sample);
        show_titles(screen->options);
        show_rows(&sample, screen->first);
        top_sample_clear(&sample);
    }
    refresh();
    return 0;
}

/* False for the key that ends it all. */
static bool press(struct screen *screen, int key)
{
    struct top_options *options = screen->options;

    if (key == 'q' || key == 'Q' || key == KEY_F(10))
        return false;
    if (key == ERR || key == KEY_RESIZE)
        return true;
    if (screen->help) {
        screen->help = false;
        return true;
    }
    switch (key) {
    case KEY_LEFT:
        options->sort = (options->sort + top_column_count - 1) % top_column_count;
        break;
    case KEY_RIGHT:
        options->sort = (options->sort + 1) % top_column_count;
        break;
    case KEY_UP:
        screen->first -= screen->first > 0;
        break;
    case KEY_DOWN:
        screen->first++;
        break;
    case 'r':
        options->reverse = !options->reverse;
        break;
    case 'o':
        options->active = !options->active;
        break;
    case 'a':
        options->accumulated = !options->accumulated;
        break;
    case 'p':
        options->jobs = !options->jobs;
        break;
    case 's':
    case ' ':
        screen->frozen = !screen->frozen;
        break;
    case 'h':
    case '?':
    case KEY_F(1):
        screen->help = true;
        break;
    }
    return true;
}

/* Takes the batch that is ready. 0, -ECANCELED when enough was shown, or -errno. */
static int take(struct screen *screen)
{
    struct batch *batch;
    int err;

    if (read(screen->reader.pipe[0], &batch, sizeof(batch)) != sizeof(batch))
        return -EIO;
    if (!batch) {
        screen->ended = true;
        return screen->reader.err;
    }
    if (!screen->sum && batch_new(&screen->sum)) {
        batch_free(batch);
        return -ENOMEM;
    }
    err = batch_merge(screen->sum, batch, true);
    if (err || screen->frozen) {
        batch_free(batch);
        return err;
    }
    batch_free(screen->now);
    screen->now = batch;
    return screen->left && !--screen->left ? -ECANCELED : 0;
}

static int run(struct screen *screen)
{
    struct pollfd events[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = screen->reader.pipe[0], .events = POLLIN}};

    for (;;) {
        int err = show(screen);

        if (err)
            return err;
        if (poll(events, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (events[0].revents & (POLLHUP | POLLERR))
            return 0; /* the terminal has gone */
        for (int key = getch();; key = getch()) {
            if (!press(screen, key))
                return 0;
            if (key == ERR)
                break;
        }
        err = events[1].revents & POLLIN ? take(screen) : 0;
        if (screen->ended)
            events[1].fd = -1;
        if (err)
            return err == -ECANCELED ? 0 : err;
    }
}

int top_screen(struct source *source, struct top_options *options, uint64_t count)
{
    static struct screen screen; /* the reading thread may outlive this function */
    pthread_t thread;
    SCREEN *terminal;
    int err;

    screen = (struct screen){
        .options = options, .left = count, .reader = {.source = source, .paced = options->paced}};
    if (pipe2(screen.reader.pipe, O_CLOEXEC)) {
        err = -errno;
        log_error("cannot start: %s", log_errno(err));
        return err;
    }
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal) {
        log_error("cannot use this terminal: TERM is not known; 'unblend top -b' needs none");
        return -ENOTTY;
    }
    set_term(terminal);
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    err = -pthread_create(&thread, NULL, read_batches, &screen.reader);
    if (!err)
        err = run(&screen);
    endwin();
    delscreen(terminal);
    if (err && err != screen.reader.err)
        log_error("cannot go on: %s", log_errno(err));
    batch_free(screen.now);
    batch_free(screen.sum);
    return err;
}
