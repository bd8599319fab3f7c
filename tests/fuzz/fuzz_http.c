/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to the collector, through libmicrohttpd and the handler, in front of a store that takes everything.
 * Input that begins with an even byte is the body of a good request, other input is what comes over the wire.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/listen_private.h"
#include "collector/request.h"
#include "collector/route.h"
#include "lib/cleanup.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] = "POST /v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                           "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\nContent-Length: %zu\r\n"
                           "\r\n";
static unsigned begun;

/* --- a store and a pool that do nothing, at once --- */

const char *store_why(const struct store *store)
{
    return "";
}

int store_check(struct store *store)
{
    return 0;
}

int store_identify(struct store *store, struct asker *askers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        *askers[i].who = (struct identity){.node = "n1"};
        askers[i].known = true;
    }
    return 0;
}

int store_begin(struct store *store)
{
    CHECK(!begun++);
    return 0;
}

int store_put(struct store *store, struct store_item *items, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(begun && strcmp(items[i].batch->node, "n1") == 0);
        items[i].verdict = VERDICT_STORED;
    }
    return 0;
}

int store_outbox_put(struct store *store, const void *body, size_t size)
{
    return 0;
}

int store_commit(struct store *store)
{
    CHECK(begun);
    begun = 0;
    return 0;
}

void store_rollback(struct store *store)
{
    CHECK(begun);
    begun = 0;
}

int store_join(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
               const uint8_t hash[SHA256_SIZE], int64_t *left)
{
    CHECK(*who->node);
    *left = 1;
    return 0;
}

bool pool_push(struct pool *pool, struct task *task)
{
    task->run(task, NULL);
    return true;
}

/* --- the daemon, driven from here --- */

static struct listener listener;

static void completed(void *context, struct MHD_Connection *connection, void **slot,
                      enum MHD_RequestTerminationCode code)
{
    if (*slot)
        request_free(*slot);
    *slot = NULL;
}

static void start(void)
{
    CHECK(!visitors_new(false, &listener.visitors));
    CHECK(!limit_new(0, 0, &listener.nodes) && !limit_new(0, 0, &listener.failures) &&
          !limit_new(0, 0, &listener.others));
    listener.daemon = MHD_start_daemon(MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
                                       route_request, &listener, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
                                       MHD_OPTION_NOTIFY_CONNECTION, visitors_notify, listener.visitors,
                                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(32 << 10), MHD_OPTION_END);
    CHECK(listener.daemon);
}

static void check_answers(const char *text, size_t size)
{
    if (size)
        CHECK(size > 12 && memcmp(text, "HTTP/1.", 7) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answers[1 << 16];
    const struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char line[512];
    int ends[2];
    ssize_t got;

    if (size < 1 || size > 100000)
        return 0;
    if (!listener.daemon)
        start();
    begun = 0;
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    if (data[0] % 2 == 0) {
        int length = snprintf(line, sizeof(line), head, size - 1);

        CHECK(write(ends[0], line, (size_t)length) == length);
    }
    CHECK(size == 1 || send(ends[0], data + 1, size - 1, MSG_DONTWAIT) > 0);
    shutdown(ends[0], SHUT_WR);
    CHECK(MHD_add_connection(listener.daemon, ends[1], (const struct sockaddr *)&address, sizeof(address)) == MHD_YES);
    for (unsigned i = 0; i < 200; i++) {
        const union MHD_DaemonInfo *info;

        MHD_run(listener.daemon);
        info = MHD_get_daemon_info(listener.daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (!info || !info->num_connections)
            break;
    }
    got = recv(ends[0], answers, sizeof(answers), MSG_DONTWAIT);
    check_answers(answers, got > 0 ? (size_t)got : 0);
    close(ends[0]);
    MHD_run(listener.daemon);
    MHD_run(listener.daemon);
    return 0;
}
