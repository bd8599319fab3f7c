/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/rights.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/privilege.h"

/* The inode number of the first namespace of process ids (include/linux/proc_ns.h): the same on every kernel. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

static const struct {
    struct right right;
    unsigned number;
} table[] = {
    {{"CAP_BPF", "load programs and maps", true, false}, CAP_BPF},
    {{"CAP_PERFMON", "attach programs and let them read the kernel's memory", true, false}, CAP_PERFMON},
    {{"CAP_SYS_PTRACE", "name the volumes of other users' containers", false, false}, CAP_SYS_PTRACE},
    {{"CAP_DAC_READ_SEARCH", "look into what other users keep to themselves: what their calls hang on, how full it is", false,
      false},
     CAP_DAC_READ_SEARCH},
    {{"CAP_SYS_ADMIN", "the flavours tracepoint and fentry, where tracefs and debugfs are not open to us", false,
      false},
     CAP_SYS_ADMIN},
};

#define RIGHTS (sizeof(table) / sizeof(*table))

unsigned rights(const struct right **list)
{
    static struct right filled[RIGHTS];

    for (unsigned i = 0; i < RIGHTS; i++) {
        filled[i] = table[i].right;
        filled[i].had = privilege_has(table[i].number);
    }
    *list = filled;
    return RIGHTS;
}

bool rights_host_pids(void)
{
    struct stat st;

    /* Where /proc is not mounted nothing else will work either. */
    return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino == FIRST_PID_NAMESPACE;
}
