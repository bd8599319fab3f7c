/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int saved[3];

static void must(int ok)
{
    if (!ok) {
        perror("capture");
        abort();
    }
}

void capture_begin(int fd)
{
    int memory = memfd_create("capture", MFD_CLOEXEC);

    fflush(NULL);
    saved[fd] = dup(fd);
    /* Two threads may write at the same place of a memfd otherwise. */
    must(fcntl(memory, F_SETFL, O_APPEND) == 0);
    must(memory >= 0 && saved[fd] >= 0 && dup2(memory, fd) == fd);
    close(memory);
}

char *capture_end(int fd)
{
    struct stat st;
    char *text;

    fflush(NULL);
    must(fstat(fd, &st) == 0);
    text = calloc(1, (size_t)st.st_size + 1);
    must(text && pread(fd, text, (size_t)st.st_size, 0) == st.st_size);
    must(dup2(saved[fd], fd) == fd);
    close(saved[fd]);
    return text;
}
