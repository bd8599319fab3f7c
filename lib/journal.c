/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/journal.h"

#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET "/run/systemd/journal/socket"

static int fd = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The service manager names the stream that it has given to us as device:inode. stderr may have been led elsewhere
   since, and whoever did that wants the lines there. */
static bool stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    uintmax_t device, inode;
    struct stat st;

    return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == device && st.st_ino == inode;
}

static void find(void)
{
    static const struct sockaddr_un journal = {.sun_family = AF_UNIX, .sun_path = SOCKET};

    if (!stderr_is_journal())
        return;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&journal, sizeof(journal))) {
        close(fd);
        fd = -1;
    }
}

bool journal_send(int priority, const char *program, const char *text)
{
    char entry[4096];
    int length;

    pthread_once(&once, find);
    if (fd < 0)
        return false;
    length = snprintf(entry, sizeof(entry),
                      "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nUNBLEND_VERSION=" PACKAGE_VERSION "\nTID=%ld\nMESSAGE=%s\n",
                      priority, program, (long)gettid(), text);
    if (length < 0 || (size_t)length >= sizeof(entry))
        return false;
    return send(fd, entry, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) == length;
}
