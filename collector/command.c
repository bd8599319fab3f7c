/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/citus.h"
#include "collector/command_bundle.h"
#include "collector/command_keep.h"
#include "collector/command_profiles.h"
#include "collector/command_trust.h"
#include "collector/embedded.h"
#include "collector/json_memory.h"
#include "collector/work.h"
#include "lib/address.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/option.h"
#include "lib/output.h"
#include "lib/program.h"
#include "lib/remote.h"

#define PROGRAM  "unblend-collector"
#define SITE_KEY LOCALSTATEDIR "/lib/unblend/site.key"

#define DATABASE "db embedded socket-dir user "
#define KEEPING  "keep-raw keep-minutes keep-hours "
#define OPTIONS  64

enum operand { OPERAND_NONE, OPERAND_NODE, OPERAND_FILE };

struct command {
    const char *name; /* NULL: the daemon */
    const char *usage, *summary;
    enum operand operand; /* may be left out */
    bool without_database;
    int (*run)(const struct values *values); /* exit status */
    const char *options; /* names, each with a blank behind it; NULL: all */
};

static int run_serve(const struct values *values)
{
    const struct serve_options *o = &values->serve;
    int err;

    if (!o->tls_cert != !o->tls_key) {
        log_error("cannot serve HTTPS: --tls-cert and --tls-key belong together: give both");
        return WORK_USAGE;
    }
    if (o->tls_client_ca && !o->tls_cert) {
        log_error("cannot ask for client certificates: --tls-client-ca needs --tls-cert and --tls-key");
        return WORK_USAGE;
    }
    if (o->forward.url && !o->forward.token_file) {
        log_error("cannot forward: --token-file is needed with --forward");
        return WORK_USAGE;
    }
    if (o->forward.url && !remote_is_safe(o->forward.url)) {
        log_error("%scannot forward to %s: a token goes to https:// only, or to http:// on loopback",
                  option_from(&o->forward.url), o->forward.url);
        return WORK_USAGE;
    }
    if (address_check(option_from(&o->listen), o->listen))
        return WORK_USAGE;
    err = serve(o);
    if (err == -EPERM || err == -EINVAL)
        return WORK_USAGE;
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Schema and partitions are there by now. */
static int grant(struct store *store, const struct values *values, void *context)
{
    struct db *db = values->citus ? store_db(store) : NULL;
    const char *role = values->writer;
    int err = db ? citus_distribute(db) : values->citus ? -EAGAIN : 0;

    if (err) {
        log_error("cannot distribute the tables: %s: %s", store_why(store),
                  err == -ENOENT ? "create extension citus there, or leave --citus out" : "see the server's log");
        return err;
    }
    err = role ? store_grant(store, role, true) : 0;
    if (!err && values->reader) {
        role = values->reader;
        err = store_grant(store, role, false);
    }
    if (err)
        log_error("cannot grant to the role %s: %s: make it, or run this as a role that may", role, store_why(store));
    return err;
}

/* What libpq, psql and `unblend report --db` take. */
static int run_conninfo(const struct values *values)
{
    const char *directory = values->serve.setup.embedded;
    _cleanup_free_ char *conninfo = values->serve.setup.embedded
                                        ? embedded_conninfo(values->serve.setup.embedded)
                                        : strdup(values->serve.setup.db);

    /* One that may not be looked at may be there. */
    if (directory && access(directory, F_OK) && (errno == ENOENT || errno == ENOTDIR)) {
        log_error("no database is in %s: %s: give the --embedded directory of a collector", directory,
                  log_errno(-errno));
        return EXIT_FAILURE;
    }
    if (!conninfo || puts(conninfo) < 0) {
        log_error("cannot print the conninfo: %s", log_errno(conninfo ? -errno : -ENOMEM));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int run_init_db(const struct values *values)
{
    return work_with_database(values, true, grant, NULL);
}

static const struct command commands[] = {
    {NULL, "[OPTION...] | COMMAND [OPTION...]",
     "Takes the agents' batches over HTTP into PostgreSQL.\n"
     "Commands: init-db, conninfo, enroll NODE, revoke NODE, prune, keep, export, import FILE, profiles [FILE], "
     "site-key;\n"
     "each has its own --help.",
     OPERAND_NONE, false, run_serve, NULL},
    {"init-db", "(--db CONNINFO | --embedded DIR)", "Makes the schema, or brings it up to date.",
     OPERAND_NONE, false, run_init_db,
     DATABASE KEEPING "citus writer reader "},
    {"conninfo", "--embedded DIR", "Prints how to connect to the embedded database.", OPERAND_NONE,
     false, run_conninfo,
     "db embedded "},
    {"enroll", "(NODE | --join GLOB | --site NAME) [OPTION...] (--db CONNINFO | --embedded DIR)",
     "Lets somebody in: prints a new token, once. A token that a node had before is void.", OPERAND_NODE,
     false, command_enroll,
     DATABASE "cluster join expires max reborn site key "},
    {"revoke", "(NODE | --join GLOB | --site NAME) [OPTION...] (--db CONNINFO | --embedded DIR)",
     "Shuts somebody out, at once.", OPERAND_NODE, false, command_revoke,
     DATABASE "cluster join site "},
    {"prune", "[OPTION...] (--db CONNINFO | --embedded DIR)",
     "Makes partitions, sums up, and drops what is old or too much, now.", OPERAND_NONE, false, command_prune,
     DATABASE KEEPING "max-db-size "},
    {"keep", "--since TIME --until TIME [--release] (--db CONNINFO | --embedded DIR)",
     "Keeps the raw rows of a span of time until they are released.", OPERAND_NONE, false, command_keep,
     DATABASE "since until release "},
    {"export", "[--output FILE] [OPTION...] (--db CONNINFO | --embedded DIR)",
     "Writes raw batches, under pseudonyms, to a signed bundle for another site.", OPERAND_NONE, false, command_export,
     DATABASE "plain site-key fields output since until "},
    {"import", "FILE (--db CONNINFO | --embedded DIR)", "Stores the batches of another site's bundle, each once.",
     OPERAND_FILE, false, command_import,
     DATABASE "site-key "},
    {"profiles", "[FILE] (--db CONNINFO | --embedded DIR)",
     "Stores the profiles of a report in JSON, from FILE or standard input, for dashboards.", OPERAND_FILE, false,
     command_profiles,
     DATABASE},
    {"site-key", "[--site-key FILE]",
     "Prints the public key of this site's bundles, for the other side's enroll --site.",
     OPERAND_NONE, true, command_site_key,
     "site-key "},
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

static bool is_own(const struct command *command, const char *option)
{
    size_t length = strlen(option);

    for (const char *at = command->options; at && *at; at = strchr(at, ' ') + 1)
        if (strncmp(at, option, length) == 0 && at[length] == ' ')
            return true;
    return !command->options;
}

/* With a database of our own we go to "/": what is opened from there on is named from there. 0 or -errno (logged). */
static int name_in_full(struct serve_options *o)
{
    const char **const paths[] = {
        &o->setup.embedded, &o->setup.sockets, &o->tls_cert, &o->tls_key, &o->tls_client_ca, &o->forward.token_file,
        &o->forward.ca_file, &o->forward.outward.site_key,
    };
    static char full[sizeof(paths) / sizeof(*paths)][2 * PATH_MAX];
    char here[PATH_MAX];

    for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        const char *path = *paths[i];

        if (!path || *path == '/')
            continue;
        if (!realpath(".", here) || snprintf(full[i], sizeof(full[i]), "%s/%s", here, path) >= PATH_MAX) {
            log_error("%s: its full path cannot be told: give one that begins with /", path);
            return -EINVAL;
        }
        *paths[i] = full[i];
    }
    return 0;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct values values = {
        .serve = {.listen = "127.0.0.1:9450",
                  .forward.outward = {.pseudonyms = true, .site_key = SITE_KEY},
                  .node_rate = 200, .setup.keep_ns = KEEP_DEFAULT},
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
         "how long batches are kept as they came"},
        {"keep-minutes", 0, OPTION_DURATION, "TIME", &o->setup.keep_ns[TIER_MINUTE],
         "how long their sums by the minute are kept"},
        {"keep-hours", 0, OPTION_DURATION, "TIME", &o->setup.keep_ns[TIER_HOUR],
         "how long their sums by the hour are kept"},
        {"max-db-size", 0, OPTION_SIZE, "SIZE", &o->max_db_bytes,
         "drop the oldest batches, then minutes, before the database is larger"},
        {"tls-client-ca", 0, OPTION_STRING, "FILE", &o->tls_client_ca,
         "who shows a token must have a certificate of these authorities, too, made for that name"},
        {"node-rate", 0, OPTION_COUNT, "N", &o->node_rate,
         "requests a second that a node may send (0: no limit)"},
        {"forward", 0, OPTION_STRING, "URL", &o->forward.url,
         "pass everything on to another site's collector (https://HOST:PORT), under pseudonyms"},
        {"token-file", 0, OPTION_STRING, "FILE", &o->forward.token_file,
         "forward: the token, as the other side's `enroll --site` printed it"},
        {"ca-file", 0, OPTION_STRING, "FILE", &o->forward.ca_file,
         "forward: trust these certificates instead of the system's"},
        {"proxy", 0, OPTION_STRING, "URL", &o->forward.proxy, "forward: through this HTTP proxy"},
        OUTWARD_NAMES(&o->forward.outward, "forward, export: "),
        OUTWARD_ALLOW_LIST(&o->forward.outward, "forward, export: "),
        {"user", 0, OPTION_STRING, "NAME", &o->user,
         "when started as root, become this user (default: unblend, else nobody; root: stay)"},
        {"cluster", 0, OPTION_STRING, "NAME", &values.cluster,
         "enroll, revoke: the token holds in this cluster only"},
        {"join", 0, OPTION_STRING, "GLOB", &values.join,
         "enroll, revoke: a token that nodes with such names exchange once for their own"},
        {"expires", 0, OPTION_DURATION, "TIME", &values.expires_ns, "enroll --join: for how long it is good"},
        {"max", 0, OPTION_COUNT, "N", &values.max, "enroll --join: for how many nodes"},
        {"reborn", 0, OPTION_DURATION, "TIME", &values.reborn_ns,
         "enroll --join: a name may come again when its node was silent for so long (default: never)"},
        {"site", 0, OPTION_STRING, "NAME", &values.site,
         "enroll, revoke: another site, whose collector forwards to us"},
        {"key", 0, OPTION_STRING, "HEX", &values.key, "enroll --site: its bundles are signed by this key"},
        {"output", 'o', OPTION_STRING, "FILE", &values.output, "export: the bundle (default: standard output)"},
        {"since", 0, OPTION_STRING, "TIME", &values.since, "keep: from when on, as unblend report takes it"},
        {"until", 0, OPTION_STRING, "TIME", &values.until, "keep: and until when"},
        {"release", 0, OPTION_FLAG, NULL, &values.release, "keep: keep no longer what was kept inside the span"},
        {"citus", 0, OPTION_FLAG, NULL, &values.citus, "init-db: spread the tables over the workers of Citus"},
        {"writer", 0, OPTION_STRING, "ROLE", &values.writer, "init-db: this role may write what a collector writes"},
        {"reader", 0, OPTION_STRING, "ROLE", &values.reader, "init-db: this role may read the views"},
    };
    bool foreign[OPTIONS];
    char name[64];
    const struct option_program program = {
        .name = name,
        .usage = command->usage,
        .summary = command->summary,
        .options = options,
        .count = sizeof(options) / sizeof(*options),
        .config = SYSCONFDIR "/unblend/collector.conf",
        .foreign = foreign,
    };
    int first, err;

    _Static_assert(sizeof(options) / sizeof(*options) <= OPTIONS, "each has its place");
    for (unsigned i = 0; i < program.count; i++)
        foreign[i] = !is_own(command, options[i].name);
    snprintf(name, sizeof(name), command->name ? PROGRAM " %s" : PROGRAM, command->name);
    err = option_parse(&program, argc, argv, &first);
    if (err)
        return err < 0 ? WORK_USAGE : EXIT_SUCCESS;
    if (argc > first && !command->name) {
        log_error("there is no command '%s': see --help", argv[first]);
        return WORK_USAGE;
    }
    if (argc - first > (command->operand != OPERAND_NONE)) {
        log_error("wrong number of operands: %s: see --help",
                  command->operand == OPERAND_NONE ? "none is taken" : "one is enough");
        return WORK_USAGE;
    }
    if (!command->without_database && !o->setup.db == !o->setup.embedded) {
        log_error("where is the database? give one of --db CONNINFO and --embedded DIR");
        return WORK_USAGE;
    }
    if (outward_check(&o->forward.outward))
        return WORK_USAGE;
    if (o->setup.embedded && name_in_full(o))
        return WORK_USAGE;
    if (command->operand == OPERAND_FILE)
        values.operand = argv[first];
    else if (first < argc && set_node(&values.who, argv[first], values.cluster))
        return WORK_USAGE;
    return command->run(&values);
}

int collector_main(int argc, char **argv)
{
    const struct command *command = find_command(argc > 1 ? argv[1] : NULL);

    program_begin(PROGRAM);
    json_memory_use();
    notify_init();
    if (command->name) {
        argc--;
        argv++;
        operand_last(argc, argv);
    }
    return output_end(run(command, argc, argv));
}
