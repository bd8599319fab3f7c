/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scope-bound release of what a function owns: _cleanup_(x_freep) struct x *p = NULL; */
#ifndef UNBLEND_LIB_CLEANUP_H
#define UNBLEND_LIB_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
    if (*file)
        fclose(*file);
}

#define _cleanup_free_   _cleanup_(cleanup_free)
#define _cleanup_close_  _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

/* Hands an owned pointer on: the variable forgets it. */
#define take_pointer(p)                                                                            \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/* The same with a descriptor. */
static inline int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

#endif
