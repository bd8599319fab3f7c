/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/auth.h"
#include "collector/embedded.h"
#include "collector/privilege.h"
#include "collector/serve.h"
#include "collector/store.h"
#include "lib/log.h"
#include "lib/option.h"

#define PROGRAM "unblend-collector"
#define USAGE   2

/* All values that options set; a configuration file may hold any of them, whatever the command. */
struct values {
    struct serve_options serve;
    const char *cluster;
};

struct command {
    const char *name; /* NULL: the daemon */
    const char *usage, *summary;
    bool takes_node;
    int (*run)(const struct values *values, const struct identity *who); /* exit status */
};

static int run_serve(const struct values *values, const struct identity *who)
{
    const struct serve_options *o = &values->serve;
    int err;

    if (!o->tls_cert != !o->tls_key) {
        log_error("cannot serve HTTPS: --tls-cert and --tls-key belong together: give both");
        return USAGE;
    }
    err = serve(o);
    if (err == -EPERM || err == -EINVAL)
        return USAGE;
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Becomes the database's user, makes the database answer, does the work, and leaves all as it was.
 */
static int with_database(const struct setup *setup, bool set_up, const struct identity *who,
                         int (*work)(struct store *store, const struct identity *who))
{
    _cleanup_(store_freep) struct store *store = NULL;
    _cleanup_free_ char *conninfo = NULL;
    struct embedded *embedded = NULL;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    int err = 0;

    if (setup->embedded) {
        if (geteuid() == 0)
            err = privilege_user(SYSTEM_USER, &uid, &gid);
        if (!err)
            err = embedded_prepare(setup->embedded, uid, gid);
        if (!err && uid != (uid_t)-1)
            err = privilege_drop(SYSTEM_USER);
        if (err)
            return EXIT_FAILURE;
    }
    conninfo = setup->embedded ? embedded_conninfo(setup->embedded) : strdup(setup->db);
    err = conninfo ? store_new(conninfo, &store) : -ENOMEM;
    if (err)
        log_error("cannot start: %s: free some memory", log_errno(err));
    if (!err && (set_up || setup->embedded))
        err = setup_database_wait(setup, conninfo, &embedded);
    if (!err)
        err = work(store, who);
    embedded_stop(embedded);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int nothing_more(struct store *store, const struct identity *who)
{
    return 0;
}

static int enroll(struct store *store, const struct identity *who)
{
    char token[TOKEN_DIGITS + 1];
    uint8_t hash[SHA256_SIZE];
    int err = token_new(token, hash);

    if (err) {
        log_error("cannot make a token: %s: is there a random device?", log_errno(err));
        return err;
    }
    err = store_enroll(store, who, hash);
    if (err) {
        log_error("cannot enroll %s: %s: check the database", who->node, store_why(store));
        return err;
    }
    if (puts(token) < 0 || fflush(stdout)) {
        log_error("cannot print the token: %s: enroll the node again", log_errno(-errno));
        return -EIO;
    }
    return 0;
}

static int shut_out(struct store *store, const struct identity *who)
{
    int err = store_revoke(store, who);

    if (err == -ESRCH)
        log_error("cannot revoke %s: it has no token: check the name", who->node);
    else if (err)
        log_error("cannot revoke %s: %s: check the database", who->node, store_why(store));
    return err;
}

/* What libpq, psql and `unblend report --db` take. */
static int run_conninfo(const struct values *values, const struct identity *who)
{
    _cleanup_free_ char *conninfo = values->serve.setup.embedded
                                        ? embedded_conninfo(values->serve.setup.embedded)
                                        : strdup(values->serve.setup.db);

    if (!conninfo || puts(conninfo) < 0) {
        log_error("cannot print the conninfo: %s", log_errno(conninfo ? -errno : -ENOMEM));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int run_init_db(const struct values *values, const struct identity *who)
{
    return with_database(&values->serve.setup, true, who, nothing_more);
}

static int run_enroll(const struct values *values, const struct identity *who)
{
    return with_database(&values->serve.setup, false, who, enroll);
}

static int run_revoke(const struct values *values, const struct identity *who)
{
    return with_database(&values->serve.setup, false, who, shut_out);
}

static const struct command commands[] = {
    {NULL, "[OPTION...] | COMMAND [OPTION...]",
     "Takes the agents' batches over HTTP into PostgreSQL.\n"
     "Commands: init-db, conninfo, enroll NODE, revoke NODE; each has its own --help.",
     false, run_serve},
    {"init-db", "(--db CONNINFO | --embedded DIR)", "Makes the schema, or brings it up to date.",
     false, run_init_db},
    {"conninfo", "--embedded DIR", "Prints how to connect to the embedded database.", false,
     run_conninfo},
    {"enroll", "NODE [--cluster NAME] (--db CONNINFO | --embedded DIR)",
     "Lets a node in: prints its new token, once. A token it had before is void.", true,
     run_enroll},
    {"revoke", "NODE [--cluster NAME] (--db CONNINFO | --embedded DIR)", "Shuts a node out.", true,
     run_revoke},
};

static const struct command *find_command(const char *name)
{
    for (unsigned i = 1; name && i < sizeof(commands) / sizeof(*commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return &commands[0];
}

/* "enroll NODE --db X" reads well, and options end at the first operand: so the operand goes to the
 * end. */
static void operand_last(int argc, char **argv)
{
    char *operand;

    if (argc < 3 || *argv[1] == '-')
        return;
    operand = argv[1];
    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof(*argv));
    argv[argc - 1] = operand;
}

static int set_node(struct identity *who, const char *node, const char *cluster)
{
    if (!*node || strlen(node) >= sizeof(who->node) || strlen(cluster) >= sizeof(who->cluster)) {
        log_error("wrong name: NODE must have 1 to 255 bytes, --cluster at most 255");
        return -EINVAL;
    }
    strcpy(who->node, node);
    strcpy(who->cluster, cluster);
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct values values = {
        .serve = {.listen = "127.0.0.1:9450", .setup.keep_ns = KEEP_DEFAULT},
        .cluster = "",
    };
    struct serve_options *o = &values.serve;
    const struct option_spec options[] = {
        {"listen", 0, OPTION_STRING, "ADDR:PORT", &o->listen,
         "where to listen; beyond loopback with TLS only"},
        {"db", 0, OPTION_STRING, "CONNINFO", &o->setup.db,
         "the PostgreSQL database, as libpq takes it"},
        {"embedded", 0, OPTION_STRING, "DIR", &o->setup.embedded,
         "run a private PostgreSQL in DIR instead"},
        {"socket-dir", 0, OPTION_STRING, "DIR", &o->setup.sockets,
         "put its socket there, with a link in the --embedded directory"},
        {"tls-cert", 0, OPTION_STRING, "FILE", &o->tls_cert, "certificate chain, PEM"},
        {"tls-key", 0, OPTION_STRING, "FILE", &o->tls_key, "its private key, PEM"},
        {"keep-raw", 0, OPTION_DURATION, "TIME", &o->setup.keep_ns[TIER_RAW],
         "how long batches are kept as they came (default 48h)"},
        {"keep-minutes", 0, OPTION_DURATION, "TIME", &o->setup.keep_ns[TIER_MINUTE],
         "how long their sums by the minute are kept (default 30d)"},
        {"keep-hours", 0, OPTION_DURATION, "TIME", &o->setup.keep_ns[TIER_HOUR],
         "how long their sums by the hour are kept (default 730d)"},
        {"max-db-size", 0, OPTION_SIZE, "SIZE", &o->max_db_bytes,
         "drop the oldest batches, then minutes, before the database is larger"},
        {"user", 0, OPTION_STRING, "NAME", &o->user, "when started as root, become this user"},
        {"cluster", 0, OPTION_STRING, "NAME", &values.cluster,
         "enroll, revoke: the node's token holds in this cluster only"},
    };
    char name[64];
    const struct option_program program = {
        .name = name,
        .usage = command->usage,
        .summary = command->summary,
        .options = options,
        .count = sizeof(options) / sizeof(*options),
        .config = SYSCONFDIR "/unblend/collector.conf",
    };
    char here[PATH_MAX], absolute[2 * PATH_MAX];
    struct identity who = {.node = ""};
    int first, err;

    snprintf(name, sizeof(name), command->name ? PROGRAM " %s" : PROGRAM, command->name);
    err = option_parse(&program, argc, argv, &first);
    if (err)
        return err < 0 ? USAGE : EXIT_SUCCESS;
    if (argc - first != command->takes_node) {
        log_error("wrong number of operands: %s: see --help",
                  command->takes_node ? "one NODE is needed" : "none is taken");
        return USAGE;
    }
    if (!o->setup.db == !o->setup.embedded) {
        log_error("where is the database? give one of --db CONNINFO and --embedded DIR");
        return USAGE;
    }
    if (o->setup.embedded && *o->setup.embedded != '/') {
        if (!realpath(".", here) ||
            snprintf(absolute, sizeof(absolute), "%s/%s", here, o->setup.embedded) >= PATH_MAX) {
            log_error("%s: its full path cannot be told: give one that begins with /", o->setup.embedded);
            return USAGE;
        }
        o->setup.embedded = absolute;
    }
    if (command->takes_node && set_node(&who, argv[first], values.cluster))
        return USAGE;
    return command->run(&values, &who);
}

int collector_main(int argc, char **argv)
{
    const struct command *command = find_command(argc > 1 ? argv[1] : NULL);

    log_program(PROGRAM);
    if (command->name) {
        argc--;
        argv++;
        operand_last(argc, argv);
    }
    return run(command, argc, argv);
}
