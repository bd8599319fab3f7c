/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/cleanup.h"
#include "lib/log.h"

#define BACKLOG   4096
#define HOST_SIZE 256

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Splits "HOST:PORT" or "[HOST]:PORT". */
static bool split(const char *text, char *host, size_t size, const char **port)
{
    const char *colon = strrchr(text, ':');
    const char *start = text, *end = colon;

    if (!colon || !colon[1])
        return false;
    if (*start == '[') {
        start++;
        end--;
        if (end < start || *end != ']')
            return false;
    } else if (memchr(start, ':', (size_t)(end - start))) {
        return false;
    }
    if (end == start || (size_t)(end - start) >= size)
        return false;
    memcpy(host, start, (size_t)(end - start));
    host[end - start] = '\0';
    *port = colon + 1;
    return true;
}

/* The resolver takes any number, and binds to what is left of it in 16 bits; a name is one of /etc/services. */
static bool is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (isalpha((unsigned char)*text))
        return true;
    return digits && !text[digits] && strtoul(text, NULL, 10) <= UINT16_MAX;
}

static int open_socket(const struct addrinfo *info, int *out)
{
    _cleanup_close_ int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        (info->ai_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
        bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG))
        return -errno;
    *out = take_fd(&fd);
    return 0;
}

/* "HOST:PORT" in two. 0 or -EINVAL, logged. */
static int take_apart(const char *from, const char *address, char *host, size_t size, const char **port)
{
    if (!split(address, host, size, port)) {
        log_error("%scannot listen on %s: it is no ADDR:PORT, write 127.0.0.1:9450 or [::1]:9450", from, address);
        return -EINVAL;
    }
    if (!is_port(*port)) {
        log_error("%scannot listen on %s: '%s' is no port: write a number from 0 to 65535", from, address, *port);
        return -EINVAL;
    }
    return 0;
}

int address_check(const char *from, const char *address)
{
    char host[HOST_SIZE];
    const char *port;

    return take_apart(from, address, host, sizeof(host), &port);
}

int address_listen(const char *from, const char *address, bool beyond, int *fd)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *info;
    char host[HOST_SIZE];
    const char *port;
    int err;

    err = take_apart(from, address, host, sizeof(host), &port);
    if (err)
        return err;
    err = getaddrinfo(host, port, &hints, &info);
    if (err) {
        log_error("%scannot listen on %s: %s: check the address", from, address, gai_strerror(err));
        return -EINVAL;
    }
    if (!beyond && !is_loopback(info->ai_addr)) {
        err = -EPERM;
    } else {
        err = open_socket(info, fd);
        if (err)
            log_error("%scannot listen on %s: %s: choose another address", from, address, log_errno(err));
    }
    freeaddrinfo(info);
    return err;
}

void address_name(int fd, char *text, size_t size)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof(address);
    char host[64] = "?", port[16] = "?";

    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(text, size, address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}
