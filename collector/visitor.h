/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections, and who of them has shown a token. The others get some seconds for a request, however it trickles, and
 * are so many at most: when more wait for room, and none of these shows one for two seconds, those go that say
 * nothing, or the older half. Who waits for us is not sent away. Nobody without a token keeps those out who have one.
 */
#ifndef UNBLEND_COLLECTOR_VISITOR_H
#define UNBLEND_COLLECTOR_VISITOR_H

#include <microhttpd.h>
#include <stdbool.h>

#define UNPROVEN_MAX 1024u /* connections that have not shown a token */
#define UNPROVEN_S   10u   /* that they get for a whole request */

struct visitors;
struct visitor;

/* tls: what is cut off gets no answer in clear. 0 or -errno. */
int visitors_new(bool tls, struct visitors **out);
void visitors_free(struct visitors *visitors); /* after the last connection; NULL is fine */

/* Until there is room for one more, which is kept for him. False: visitors_shut() was called. */
bool visitors_await_room(struct visitors *visitors);

/* The one for whom room was kept does not come. */
void visitors_gave_up(struct visitors *visitors);

/* There is no more room for anybody. */
void visitors_shut(struct visitors *visitors);

/* How many are in, with a token and without. */
unsigned visitors_count(struct visitors *visitors);

/* For MHD_OPTION_NOTIFY_CONNECTION, with the visitors as its context. */
void visitors_notify(void *context, struct MHD_Connection *connection, void **slot,
                     enum MHD_ConnectionNotificationCode code);

/* The visitor of a connection. */
struct visitor *visitor_of(struct MHD_Connection *connection);

/* It has sent a request. */
void visitor_asks(struct visitor *visitor);

/* The library has said in the log why it refuses somebody: nothing more is to be said when he leaves. */
void visitors_said(struct visitors *visitors);

/* Its numeric address. */
const char *visitor_address(const struct visitor *visitor);

/* It waits for us, not we for it: its time stands still. */
void visitor_busy(struct visitors *visitors, struct visitor *visitor, bool busy);

/* It has shown a token. */
void visitor_prove(struct visitors *visitors, struct visitor *visitor);

#endif
