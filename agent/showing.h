/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample on its way to those who watch: by thread or by process, packed or as JSON, everybody's or their own. Each
 * form that more than one of them gets is made once, when the first asks for it.
 */
#ifndef UNBLEND_AGENT_SHOWING_H
#define UNBLEND_AGENT_SHOWING_H

#include "agent/client.h"
#include "lib/record.h"

struct frame {
    void *data;
    size_t size;
};

struct showing {
    const struct batch *batch;
    struct batch *folded; /* by process, where the batch is by thread; NULL while nobody has asked */
    bool by_thread;
    struct frame frames[2][2]; /* of all processes: by thread?, packed? */
};

void showing_begin(const struct batch *batch, struct showing *showing);
void showing_clear(struct showing *showing);

/* Sends a client what it may see. Without memory nothing is sent: the next sample comes soon. False when the client is
   gone or too slow. */
bool showing_put(struct showing *showing, struct client *client);

#endif
