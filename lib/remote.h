/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collector somewhere else, to which something is posted: by an agent its batches, by a collector what it forwards.
 * One set of rules for both: TLS 1.2 or later and a certificate that fits, or plain HTTP to this very machine; no
 * redirect is followed; proxies as the environment or the options name them.
 *
 * Not thread safe. Links libcurl.
 */
#ifndef UNBLEND_LIB_REMOTE_H
#define UNBLEND_LIB_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#define REMOTE_TOKEN_MAX 512

struct remote;

struct remote_options {
    const char *url;           /* https://HOST:PORT; plain http to loopback only */
    const char *token_file;    /* read anew for each post, so that it can be replaced */
    const char *ca_file;       /* NULL: the system's */
    const char *cert, *key;    /* of the client, PEM files; NULL: none */
    const char *proxy;         /* http://HOST:PORT; NULL: as the environment says */
    const char *name;          /* of this program */
    unsigned timeout_ms;       /* of a whole post; 0: a minute */
    bool (*may_go_on)(void *); /* asked about once a second during a post; NULL: it may */
    void *context;
};

/* What came back. */
struct remote_answer {
    long status;            /* HTTP; 0: there was no answer */
    unsigned retry_after_s; /* 0: not said */
    char text[4096];        /* its body as far as it fits; with status 0 why there was none */
};

/* Whether a token may be sent there. */
bool remote_is_safe(const char *url);

/* The strings are not copied. 0, -ENOMEM, or -EINVAL for a URL that will not do. */
int remote_new(const struct remote_options *options, struct remote **out);
void remote_free(struct remote *remote); /* NULL is fine */

/* The first line of a file that holds a token, without blanks at its end. 0 or -errno. */
int remote_token(const char *path, char token[REMOTE_TOKEN_MAX]);

/* Posts; encoding is NULL or as in Content-Encoding, token as it shall be shown, or NULL. */
void remote_post(struct remote *remote, const char *path, const char *token, const char *encoding, const void *data,
                 size_t size, struct remote_answer *answer);

/* The next post makes a new connection: with certificates as they are by then. */
void remote_reconnect(struct remote *remote);

static inline void remote_freep(struct remote **remote)
{
    remote_free(*remote);
}

#endif
