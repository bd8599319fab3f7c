/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "analyzer/human.h"
#include "analyzer/top/files.h"
#include "analyzer/top/paint.h"
#include "analyzer/top/search.h"
#include "lib/cleanup.h"
#include "lib/log.h"

#define HELD_RECORDS_MAX 200000 /* while frozen: above that, processes are folded into jobs */
#define ESCAPE_DELAY_MS  25

/* What is said on stderr meanwhile would spoil the screen: it is kept, and said afterwards. */
struct quiet {
    int stderr_fd, kept;
};

static void quiet_begin(struct quiet *quiet)
{
    quiet->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    quiet->kept = memfd_create("said", MFD_CLOEXEC);
    if (quiet->stderr_fd >= 0 && quiet->kept >= 0)
        dup2(quiet->kept, STDERR_FILENO);
}

static void quiet_end(struct quiet *quiet)
{
    char text[4096];
    off_t at = 0;
    ssize_t got;

    if (quiet->stderr_fd < 0 || quiet->kept < 0)
        return;
    dup2(quiet->stderr_fd, STDERR_FILENO);
    while ((got = pread(quiet->kept, text, sizeof(text), at)) > 0) {
        if (write(STDERR_FILENO, text, (size_t)got) < 0)
            break;
        at += got;
    }
    close(quiet->kept);
    close(quiet->stderr_fd);
}

int screen_paint(struct screen *screen)
{
    int y, err = 0;

    erase();
    if (!screen->sample.batch) {
        put_text(0, 0, COLS, INK_PLAIN, false,
                 screen->ended ? "unblend top: there is no interval in it"
                               : "unblend top: the first interval is being measured");
        refresh();
        return 0;
    }
    y = header_paint(screen);
    if (screen->mode == MODE_DETAIL)
        err = page_detail(screen);
    if (screen->mode == MODE_DETAIL || screen->mode == MODE_HELP) {
        page_paint(screen, screen->mode == MODE_HELP ? (erase(), 0) : y);
    } else if (screen->mode == MODE_SETUP || screen->mode == MODE_SORT) {
        setup_paint(screen, y);
    } else {
        err = table_paint(screen, y);
        footer_paint(screen);
    }
    if (screen->mode == MODE_PROMPT) {
        int x = text_columns(screen->prompt.label);

        put_text(LINES - 1, 0, COLS, INK_STRONG, true, screen->prompt.label);
        x += put_text(LINES - 1, x, COLS - x, INK_PLAIN, true, screen->prompt.text);
        move(LINES - 1, x < COLS ? x : COLS - 1);
    } else if (screen->mode != MODE_TABLE && *screen->message) {
        put_text(LINES - 1, 0, COLS, INK_STRONG, true, screen->message);
    }
    curs_set(screen->mode == MODE_PROMPT);
    refresh();
    return err;
}

int screen_take(struct screen *screen, struct sample *sample, bool warming)
{
    int err = model_add(screen->model, sample);

    if (!err && screen->mode == MODE_DETAIL && !warming)
        err = detail_add(screen, sample->batch);
    if (!err)
        tape_write(screen, sample->batch);
    /* rows point at entities that the model may have let go of */
    free(screen->rows);
    screen->rows = NULL;
    screen->row_count = 0;
    sample_clear(&screen->sample);
    screen->sample = *sample;
    *sample = (struct sample){0};
    screen->taken += !warming;
    screen->target_ns = warming ? screen->target_ns : 0;
    return err;
}

/* Takes what is ready. 1 for more to come at once, 0, -ECANCELED when enough was shown, or -errno. */
static int take(struct screen *screen)
{
    _cleanup_(sample_clear) struct sample sample = {0};
    bool jumped = false, warming = false;
    int got = feed_take(screen->feed, &sample, &jumped, &warming), err;

    if (got == -ENODATA) {
        screen->ended = true;
        return 0;
    }
    if (got != 1)
        return got;
    screen->ended = false;
    if (!sample.batch->duration_ns || (screen->arguments->local && !screen->taken &&
                                       sample.batch->duration_ns < screen->arguments->interval_ns / 2))
        return 0; /* rates over a splinter of an interval would mislead; live ones begin with one */
    if (screen->frozen && !screen->arguments->replay) {
        bool keep = !screen->held.batch || screen->held.batch->record_count < HELD_RECORDS_MAX;

        return sample_merge(&screen->held, &sample, keep);
    }
    if (jumped) {
        model_reset(screen->model);
        screen->model->filter = screen->filter;
    }
    err = screen_take(screen, &sample, warming);
    if (err)
        return err;
    if (screen->arguments->count && screen->taken >= screen->arguments->count)
        return -ECANCELED;
    return warming;
}

static void press_keys(struct screen *screen)
{
    for (int key = getch(); key != ERR && !screen->quit; key = getch())
        if (key != KEY_RESIZE)
            act(screen, key);
}

static int run(struct screen *screen, int signals)
{
    struct pollfd events[3] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = feed_fd(screen->feed), .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
    int more = 0, happened = 1;

    while (!screen->quit) {
        int err = more == 1 || !happened ? 0 : screen_paint(screen);

        if (err)
            return err;
        happened = poll(events, 3, screen->detail.files ? files_look(screen->detail.files) : -1);
        if (happened < 0 && errno != EINTR)
            return -errno;
        if (events[2].revents & POLLIN)
            return 0; /* told to end */
        if (events[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
            log_error("the terminal has gone");
            return -EIO;
        }
        press_keys(screen);
        more = events[1].revents & POLLIN ? take(screen) : 0;
        if (more < 0)
            return more == -ECANCELED ? 0 : more;
    }
    return 0;
}

static int open_terminal(SCREEN **out)
{
    SCREEN *terminal = newterm(NULL, stdout, stdin);

    if (!terminal) {
        log_error("cannot use this terminal: TERM is not known; 'unblend top -b' needs none");
        return -ENOTTY;
    }
    set_term(terminal);
    if (!tigetstr("cup")) {
        endwin();
        delscreen(terminal);
        log_error("cannot use this terminal: TERM is '%s', whose cursor cannot be moved: 'unblend top -b' needs none",
                  getenv("TERM"));
        return -ENOTTY;
    }
    cbreak();
    noecho();
    nonl();
    set_escdelay(ESCAPE_DELAY_MS);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    mousemask(BUTTON1_PRESSED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
    *out = terminal;
    return 0;
}

/* Signals that end it are read like keys, so that the terminal is always given back. */
static int open_signals(void)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int screen_init(struct screen *screen, struct source *source, const struct top_arguments *arguments)
{
    int err = catalogue_load(NULL, &screen->catalogue);

    if (err)
        return err;
    screen->arguments = arguments;
    screen->tab = arguments->tab;
    screen->options = (struct row_options){
        .active = arguments->active, .since_start = arguments->since_start, .tree = arguments->tree};
    screen->kilobytes = arguments->style.kilobytes;
    screen->interval_ns = arguments->interval_ns;
    screen->speed_halves = 2 * arguments->speed;
    settings_init(&screen->settings);
    settings_load(&screen->settings); /* what cannot be read is at its default, and said */
    if (arguments->sort)
        screen->settings.layout[screen->tab].sort = column_find(arguments->sort, strlen(arguments->sort));
    if (arguments->theme)
        screen->settings.theme = (enum theme)top_theme(arguments->theme);
    screen->settings.ascii |= arguments->ascii;
    err = model_new(&screen->catalogue, &screen->model);
    if (!err) {
        screen->model->unhurried = arguments->replay;
        screen->model->local = arguments->local;
        filter_set(screen, arguments->filter);
    }
    if (!err)
        err = feed_new(source, arguments->replay, &screen->feed);
    if (!err)
        feed_speed(screen->feed, (double)screen->speed_halves / 2);
    if (err)
        log_error("cannot begin: %s", log_why(err));
    return err;
}

static void screen_clear(struct screen *screen)
{
    page_set(screen, NULL);
    detail_clear(&screen->detail);
    free(screen->rows);
    sample_clear(&screen->sample);
    sample_clear(&screen->held);
    model_free(screen->model);
    filter_free(screen->filter);
    catalogue_clear(&screen->catalogue);
}

int top_screen(struct source *source, const struct top_arguments *arguments)
{
    _cleanup_(screen_clear) struct screen screen = {0};
    struct quiet quiet;
    SCREEN *terminal;
    int signals = open_signals(), err;

    quiet_begin(&quiet);
    err = signals < 0 ? signals : screen_init(&screen, source, arguments);
    if (!err)
        err = open_terminal(&terminal);
    if (!err) {
        paint_theme(screen.settings.theme, screen.settings.ascii);
        err = run(&screen, signals);
        tape_end(&screen);
        endwin();
        delscreen(terminal);
    }
    quiet_end(&quiet);
    if (*screen.message && screen.tape_path[0])
        log_info("%s", screen.message);
    return err;
}
