/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/serve.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/embedded.h"
#include "collector/identity.h"
#include "collector/ingest.h"
#include "collector/listen.h"
#include "collector/metrics.h"
#include "collector/password.h"
#include "collector/store.h"
#include "collector/upkeep.h"
#include "lib/address.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/option.h"
#include "lib/porter.h"
#include "lib/privilege.h"

#define THREADS   6
#define WRITERS   2 /* of bodies that go together: one reads while the other waits; more make smaller groups */
#define QUEUE_MAX 4096
#define PEM_MAX   (1u << 20)
#define PATIENCE  50 /* looks, five a second */
#define LOCK_S    30 /* for enroll and its like to be done with the directory */

/* What runs, in the order of its start. */
struct daemon {
    const struct serve_options *options;
    char *conninfo;
    char *client_ca;
    int socket;
    struct embedded *embedded;
    struct pool *pool, *writers;
    struct listener *listener;
    struct forward *forward;
    struct outward outward; /* of what is forwarded */
    struct store *store; /* of the main thread */
    struct upkeep *upkeep;
    struct privilege_choice choice;
    bool was_up, said;
    unsigned looks; /* at the database while it was away */
};

static int read_pem(const char *path, char **out)
{
    int fd = porter_open(path, O_RDONLY | O_CLOEXEC, 0), err = 0;
    _cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    _cleanup_free_ char *text = calloc(1, PEM_MAX + 1);

    if (!text)
        return -ENOMEM;
    if (!file)
        err = fd < 0 ? fd : -ENOMEM;
    else if (fread(text, 1, PEM_MAX, file) == 0)
        err = -EIO;
    if (err) {
        log_error("cannot read %s: %s: check --tls-cert, --tls-key and --tls-client-ca", path, log_errno(err));
        return err;
    }
    *out = take_pointer(text);
    return 0;
}

/* What was shown before, if anything, is shown on where this fails. 0 or -errno, logged. */
static int read_identity(const struct serve_options *o)
{
    _cleanup_free_ char *certificate = NULL;
    char *key = NULL;
    int err = read_pem(o->tls_cert, &certificate);

    if (!err)
        err = read_pem(o->tls_key, &key);
    if (err)
        return err;
    err = identity_set(certificate, key);
    explicit_bzero(key, strlen(key));
    free(key);
    if (err)
        log_error("cannot serve HTTPS: check --tls-cert %s and --tls-key %s, they must be PEM and match", o->tls_cert,
                  o->tls_key);
    return err;
}

static int listen_on(const char *from, const char *address, bool tls, int *socket)
{
    int err = address_listen(from, address, tls, socket);

    if (err == -EPERM && !tls)
        log_error("%scannot listen on %s: tokens would cross the network in clear, "
                  "give --tls-cert and --tls-key or listen on 127.0.0.1",
                  from, address);
    return err;
}

/* PostgreSQL does not run as root, and a cluster's files need an owner who is nobody else. */
static int check_user(const struct serve_options *o, const struct privilege_choice *choice)
{
    uid_t uid;
    gid_t gid;

    if (!o->setup.embedded || geteuid() != 0)
        return 0;
    if (choice->user && (o->user || strcmp(choice->user, SYSTEM_USER) == 0))
        return 0;
    if (choice->user) /* there is none: logged */
        return privilege_user(SYSTEM_USER, &uid, &gid);
    log_error("cannot use %s for the database: PostgreSQL does not run as root: give another --user",
              o->setup.embedded);
    return -EINVAL;
}

static int drop(struct daemon *d)
{
    const struct serve_options *o = d->options;
    const struct porter_file files[] = {
        {o->tls_cert, PORTER_READ},
        {o->tls_key, PORTER_READ},
        {o->forward.url ? o->forward.token_file : NULL, PORTER_READ},
        {o->forward.url ? o->forward.ca_file : NULL, PORTER_READ},
    };
    int err = o->setup.db ? password_keep(d->choice.user) : 0;

    if (!err)
        err = porter_drop(d->choice.user, NULL, 0, files, sizeof(files) / sizeof(*files));
    /* Which that user may not be allowed to see: initdb and shells mind. */
    if (!err && o->setup.embedded && chdir("/"))
        err = -errno;
    return err;
}

/* Everything that may need root, then no more root, unless it is asked for. */
static int start_as_root(struct daemon *d)
{
    const struct serve_options *o = d->options;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    int err = 0;

    if (o->tls_cert)
        err = read_identity(o);
    if (!err && o->tls_client_ca)
        err = read_pem(o->tls_client_ca, &d->client_ca);
    if (!err && o->forward.url)
        err = outward_new(&o->forward.outward, &d->outward);
    if (!err)
        err = listen_on(option_from(&o->listen), o->listen, o->tls_cert, &d->socket);
    if (!err)
        err = privilege_choose(o->user, &d->choice);
    if (!err)
        err = check_user(o, &d->choice);
    if (!err && d->choice.user)
        err = privilege_user(d->choice.user, &uid, &gid);
    if (!err && o->setup.embedded)
        err = embedded_prepare(o->setup.embedded, uid, gid);
    return err || !d->choice.user ? err : drop(d);
}

static int start(struct daemon *d)
{
    const struct serve_options *o = d->options;
    struct retention retention = {.max_bytes = o->max_db_bytes};
    struct listen_options listening;
    char name[96];
    int err = start_as_root(d);

    if (err)
        return err;
    d->conninfo = o->setup.embedded ? embedded_conninfo(o->setup.embedded) : strdup(o->setup.db);
    if (!d->conninfo)
        return -ENOMEM;
    if (o->setup.embedded) {
        err = embedded_start(o->setup.embedded, o->setup.sockets, LOCK_S, &d->embedded);
        if (err == -EBUSY)
            log_error("cannot use %s: another collector runs its database: stop that one first",
                      o->setup.embedded);
        if (err)
            return err;
    }
    err = store_new(d->conninfo, &d->store);
    if (!err)
        err = pool_new(d->conninfo, THREADS, QUEUE_MAX, &d->pool);
    if (!err)
        err = pool_new(d->conninfo, WRITERS, QUEUE_MAX, &d->writers);
    if (err)
        return err;
    memcpy(retention.keep_ns, o->setup.keep_ns, sizeof(retention.keep_ns));
    if (o->forward.url) {
        ingest_forward(&d->outward);
        err = forward_start(&o->forward, d->conninfo, &d->forward);
        if (err)
            return err;
    }
    address_name(d->socket, name, sizeof(name));
    listening = (struct listen_options){.is_tls = o->tls_cert,
                                        .client_ca = d->client_ca,
                                        .node_rate = o->node_rate};
    err = listen_start(d->socket, &listening, d->pool, d->writers, &d->listener);
    d->socket = -1; /* the listener's, or closed */
    if (!err)
        err = upkeep_start(d->conninfo, &retention, &d->upkeep);
    if (err)
        return err;
    if (o->setup.embedded)
        log_info("database: %s", d->conninfo);
    log_info("listening on %s://%s%s", o->tls_cert ? "https" : "http", name, d->choice.note);
    return 0;
}

/* Says in one line that the database went or came, and only then. */
static void note(struct daemon *d, int err, const char *why)
{
    bool up = !err;

    atomic_store(&metrics.database_up, up);
    if (up && !d->was_up) {
        log_info("the database is there");
        listen_ready(d->listener);
        notify_status("serving");
    }
    /* An embedded server is given some time to start before anybody is alarmed. */
    if (!up && !d->was_up && !d->said && d->embedded && ++d->looks < PATIENCE)
        return;
    if (!up && (d->was_up || !d->said))
        log_warning("the database is away, batches are answered with 503 until it is back: %s",
                    why);
    if (!up && (d->was_up || !d->said))
        notify_status("the database is away");
    d->said = true;
    d->was_up = up;
}

/* Once a second: the server runs, the schema is there. */
static void look_after(struct daemon *d)
{
    char why[256] = "";
    int err;

    if (d->embedded) {
        embedded_watch(d->embedded);
        err = d->was_up ? 0 : setup_database(&d->options->setup, d->conninfo, why);
        if (err) {
            note(d, err, why);
            return;
        }
    }
    err = store_check(d->store);
    note(d, err, store_why(d->store));
}

static void stop(struct daemon *d)
{
    listen_stop(d->listener);
    forward_stop(d->forward);
    upkeep_stop(d->upkeep);
    pool_free(d->pool);
    pool_free(d->writers);
    store_free(d->store);
    embedded_stop(d->embedded);
    if (d->socket >= 0)
        close(d->socket);
    free(d->conninfo);
    free(d->client_ca);
    identity_clear();
}

/* A certificate that was renewed. Tokens are read for each request, and need no word. */
static void reload(const struct daemon *d)
{
    notify_reloading();
    if (d->options->tls_cert && read_identity(d->options) == 0)
        log_info("the certificate was read again");
    notify_ready(d->was_up ? "serving" : "the database is away");
}

int serve(const struct serve_options *options)
{
    const struct timespec second = {.tv_sec = 1}, soon = {.tv_nsec = 200000000};
    struct daemon d = {.options = options, .socket = -1};
    sigset_t signals;
    int err, signal_;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    sigprocmask(SIG_BLOCK, &signals, NULL); /* before the first thread: all of them inherit it */
    signal(SIGPIPE, SIG_IGN);
    err = start(&d);
    if (!err)
        notify_ready("waiting for the database"); /* it takes nobody's batches before, and says so to them */
    while (!err) {
        look_after(&d);
        notify_alive();
        signal_ = sigtimedwait(&signals, NULL, d.was_up ? &second : &soon);
        if (signal_ == SIGHUP) {
            reload(&d);
        } else if (signal_ > 0) {
            log_info("ending: %s", strsignal(signal_));
            break;
        }
    }
    notify_stopping();
    stop(&d);
    return err;
}
