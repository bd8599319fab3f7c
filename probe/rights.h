/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the probe may do here: capabilities, and the namespace of process ids. */
#ifndef UNBLEND_PROBE_RIGHTS_H
#define UNBLEND_PROBE_RIGHTS_H

#include <stdbool.h>

struct right {
    const char *name; /* "CAP_BPF" */
    const char *for_what;
    bool needed; /* nothing works without; the others are for parts */
    bool had;    /* effective now */
};

/* The table of them, filled in for this process. Valid until the next question. */
unsigned rights(const struct right **list);

/* False in a container with process ids of its own: the kernel's are others. */
bool rights_host_pids(void);

#endif
