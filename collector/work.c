/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/embedded.h"
#include "lib/log.h"
#include "lib/privilege.h"

/* PostgreSQL does not run as root, and its files are its user's. */
static int become(const struct values *values)
{
    const char *user = values->serve.user ? values->serve.user : SYSTEM_USER;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    int err = geteuid() == 0 ? privilege_user(user, &uid, &gid) : 0;

    if (!err)
        err = embedded_prepare(values->serve.setup.embedded, uid, gid);
    if (!err && uid != (uid_t)-1)
        err = privilege_drop(user, NULL, 0);
    /* Which that user may not be allowed to see: initdb and shells mind. */
    if (!err && uid != (uid_t)-1 && chdir("/"))
        err = -errno;
    return err;
}

int work_with_database(const struct values *values, bool set_up, work_function *work, void *context)
{
    const struct setup *setup = &values->serve.setup;
    _cleanup_(store_freep) struct store *store = NULL;
    _cleanup_free_ char *conninfo = NULL;
    struct embedded *embedded = NULL;
    int err = setup->embedded ? become(values) : 0;

    if (err)
        return EXIT_FAILURE;
    conninfo = setup->embedded ? embedded_conninfo(setup->embedded) : strdup(setup->db);
    err = conninfo ? store_new(conninfo, &store) : -ENOMEM;
    if (err)
        log_error("cannot start: %s: free some memory", log_errno(err));
    if (!err && (set_up || setup->embedded))
        err = setup_database_wait(setup, conninfo, &embedded);
    if (!err)
        err = work(store, values, context);
    embedded_stop(embedded);
    return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
