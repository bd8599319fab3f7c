/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"

/* Directories that may hold the server's programs: Debian, Red Hat and PGDG, SUSE. */
static const char *const places[] = {
    "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/lib/postgresql*/bin",
    "/usr/local/pgsql/bin",      "/usr/local/bin",   "/usr/bin",
};

extern char **environ;

static int read_line(const char *path, char *line, int size)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");

    if (!file)
        return -errno;
    if (!fgets(line, size, file))
        return -EIO;
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

/* The major version that a directory's server reports; 0 when there is none. */
static int version_of(const char *bin)
{
    char command[PATH_MAX + 32], line[128] = "";
    int version = 0;
    FILE *output;

    snprintf(command, sizeof(command), "%s/postgres", bin);
    if (access(command, X_OK))
        return 0;
    snprintf(command, sizeof(command), "%s/initdb", bin);
    if (access(command, X_OK))
        return 0;
    /* A shell complains when it may not enter the directory it starts in, as a system user may not in /root. */
    snprintf(command, sizeof(command), "cd / && '%s/postgres' --version 2>/dev/null", bin);
    output = popen(command, "re");
    if (!output)
        return 0;
    if (fgets(line, sizeof(line), output))
        sscanf(line, "postgres (PostgreSQL) %d", &version);
    pclose(output);
    return version;
}

static void consider(const char *bin, int wanted, int *best, char out[PATH_MAX])
{
    int version = strlen(bin) < PATH_MAX && !strchr(bin, '\'') ? version_of(bin) : 0;

    if (version > *best && (!wanted || version == wanted)) {
        *best = version;
        snprintf(out, PATH_MAX, "%s", bin);
    }
}

int cluster_programs(const char *data, char bin[PATH_MAX])
{
    char path[PATH_MAX], line[64];
    const char *search = getenv("PATH");
    _cleanup_free_ char *copy = strdup(search ? search : "");
    int wanted = 0, best = 0;

    snprintf(path, sizeof(path), "%s/PG_VERSION", data);
    if (read_line(path, line, sizeof(line)) == 0)
        wanted = atoi(line);
    for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
        glob_t found;

        if (glob(places[i], 0, NULL, &found) == 0)
            for (size_t j = 0; j < found.gl_pathc; j++)
                consider(found.gl_pathv[j], wanted, &best, bin);
        globfree(&found);
    }
    for (char *rest = copy, *part; rest && (part = strsep(&rest, ":"));)
        if (*part == '/')
            consider(part, wanted, &best, bin);
    if (best)
        return 0;
    if (wanted)
        log_error("cannot start PostgreSQL: %s was made by version %d: install postgresql-%d, or "
                  "convert it "
                  "by pg_upgrade",
                  data, wanted, wanted);
    else
        log_error("cannot start PostgreSQL: no server found: install the package postgresql, or "
                  "use --db");
    return -ENOENT;
}

bool cluster_exists(const char *data)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s/PG_VERSION", data);
    return access(path, F_OK) == 0;
}

/* Starts a program with all signals as they were at birth and its output in a file. */
static int spawn(const char *const argv[], const char *log, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int err;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0); /* ^C at the terminal is for the collector alone */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    err = posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return -err;
}

static int write_file(const char *data, const char *name, const char *text)
{
    char path[PATH_MAX];
    _cleanup_fclose_ FILE *file = NULL;

    snprintf(path, sizeof(path), "%s/%s", data, name);
    file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fflush(file) || fsync(fileno(file)))
        return errno ? -errno : -EIO;
    return 0;
}

/* Who may enter: by the socket only, as the one role, by system account. */
static int write_access(const char *data)
{
    const struct passwd *me = getpwuid(geteuid());
    char map[512];
    int err = write_file(data, "pg_hba.conf", "local all all peer map=unblend\n");

    snprintf(map, sizeof(map), "unblend root " CLUSTER_USER "\nunblend \"%s\" " CLUSTER_USER "\n",
             me ? me->pw_name : CLUSTER_USER);
    if (!err)
        err = write_file(data, "pg_ident.conf", map);
    return err;
}

/* The last line of a file that says why; "" if there is none. */
static void last_words(const char *path, char *text, int size)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    char line[512];

    *text = '\0';
    while (file && fgets(line, sizeof(line), file))
        if (strstr(line, "rror") || strstr(line, "FATAL"))
            snprintf(text, (size_t)size, "%.*s", (int)strcspn(line, "\n"), line);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    return remove(path);
}

int cluster_create(const char *bin, const char *data)
{
    char program[PATH_MAX + 16], log[PATH_MAX + 16], fresh[PATH_MAX + 16], why[256];
    const char *const argv[] = {program, "-D",         fresh, "-U",   CLUSTER_USER,       "-E",
                                "UTF8",  "--locale=C", "-A",  "peer", "--data-checksums", NULL};
    pid_t pid;
    int status, err;

    snprintf(program, sizeof(program), "%s/initdb", bin);
    snprintf(log, sizeof(log), "%s.log", data);
    snprintf(fresh, sizeof(fresh), "%s.new", data); /* gets its name when it is whole */
    nftw(fresh, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    err = spawn(argv, log, &pid);
    if (!err && (waitpid(pid, &status, 0) != pid || status))
        err = -EIO;
    if (!err)
        err = write_access(fresh);
    if (!err && rename(fresh, data))
        err = -errno;
    if (err) {
        last_words(log, why, sizeof(why));
        log_error(
            "cannot make a database in %s: %s: see that the directory is writable and has room",
            data, *why ? why : log_errno(err));
    }
    return err;
}

int cluster_start(const char *bin, const char *data, const char *socket_directory, pid_t *pid)
{
    char program[PATH_MAX + 16], log[PATH_MAX + 16];
    const char *const argv[] = {program,
                                "-D",
                                data,
                                "-k",
                                socket_directory,
                                "-p",
                                "5432",
                                "-c",
                                "listen_addresses=",
                                "-c",
                                "unix_socket_permissions=0770",
                                "-c",
                                "max_connections=60",
                                "-c",
                                "logging_collector=on",
                                "-c",
                                "log_directory=log",
                                "-c",
                                "log_filename=postgresql-%a.log",
                                "-c",
                                "log_truncate_on_rotation=on",
                                "-c",
                                "log_rotation_age=1d",
                                "-c",
                                "fsync=on",
                                NULL};
    int err;

    snprintf(program, sizeof(program), "%s/postgres", bin);
    snprintf(log, sizeof(log), "%s.log", data);
    err = spawn(argv, log, pid);
    if (err)
        log_error("cannot start %s: %s: see %s", program, log_errno(err), log);
    return err;
}

pid_t cluster_server(const char *data)
{
    char path[PATH_MAX + 32], link[PATH_MAX], line[32];
    _cleanup_free_ char *real = realpath(data, NULL);
    ssize_t length;
    long pid;

    snprintf(path, sizeof(path), "%s/postmaster.pid", data);
    if (read_line(path, line, sizeof(line)))
        return 0;
    pid = strtol(line, NULL, 10);
    if (pid <= 1 || kill((pid_t)pid, 0))
        return 0;
    /* The number may long belong to somebody else: a server works in its data directory. */
    snprintf(path, sizeof(path), "/proc/%ld/cwd", pid);
    length = readlink(path, link, sizeof(link) - 1);
    if (length < 0 || !real)
        return 0;
    link[length] = '\0';
    return strcmp(link, real) == 0 ? (pid_t)pid : 0;
}

void cluster_forget(const char *data)
{
    char path[PATH_MAX + 32];

    if (cluster_server(data))
        return;
    snprintf(path, sizeof(path), "%s/postmaster.pid", data);
    unlink(path);
}
