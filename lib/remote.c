/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/remote.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/porter.h"

#define REQUEST_MS 60000
#define CONNECT_MS 15000

struct remote {
    struct remote_options options;
    CURL *curl;
    int memory[3]; /* copies of ca_file, cert and key, as porter_name() makes them; -1: none */
};

static bool is_loopback(const char *host)
{
    struct in_addr address;

    if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
        return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* What libcurl takes for the host is what it will connect to. */
bool remote_is_safe(const char *url)
{
    CURLU *parts = curl_url();
    char *scheme = NULL, *host = NULL, *user = NULL;
    bool safe = false;

    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK && *host &&
        curl_url_get(parts, CURLUPART_USER, &user, 0) != CURLUE_OK)
        safe = strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && is_loopback(host));
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(parts);
    return safe;
}

static size_t keep(char *data, size_t one, size_t size, void *context)
{
    struct remote_answer *answer = context;
    size_t length = strlen(answer->text), room = sizeof(answer->text) - 1 - length;

    memcpy(answer->text + length, data, size < room ? size : room);
    answer->text[length + (size < room ? size : room)] = '\0';
    return one * size;
}

static int progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct remote *remote = context;

    return remote->options.may_go_on && !remote->options.may_go_on(remote->options.context);
}

/* What libcurl would find in the environment for an http:// URL; NULL: nothing. */
static const char *proxy_in_clear(void)
{
    static const char *const names[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
    const char *proxy = NULL;

    for (unsigned i = 0; !proxy && i < sizeof(names) / sizeof(*names); i++)
        proxy = getenv(names[i]);
    return proxy;
}

static void set_up(struct remote *remote)
{
    const struct remote_options *o = &remote->options;
    bool clear = strncasecmp(o->url, "http:", 5) == 0;
    const char *proxy;

    curl_easy_setopt(remote->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(remote->curl, CURLOPT_TIMEOUT_MS, (long)(o->timeout_ms ? o->timeout_ms : REQUEST_MS));
    curl_easy_setopt(remote->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(remote->curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(remote->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(remote->curl, CURLOPT_USERAGENT, o->name);
    curl_easy_setopt(remote->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(remote->curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(remote->curl, CURLOPT_XFERINFODATA, remote);
    /* In clear a token does not go to a proxy elsewhere, either. */
    proxy = o->proxy ? o->proxy : clear ? proxy_in_clear() : NULL;
    if (clear && proxy && !remote_is_safe(strstr(proxy, "://") ? proxy : "x"))
        curl_easy_setopt(remote->curl, CURLOPT_PROXY, "");
    else if (proxy)
        curl_easy_setopt(remote->curl, CURLOPT_PROXY, proxy);
}

/* libcurl reads them for each new connection. */
static void name_files(struct remote *remote)
{
    const struct remote_options *o = &remote->options;
    char name[PORTER_NAME];

    if (o->ca_file)
        curl_easy_setopt(remote->curl, CURLOPT_CAINFO, porter_name(o->ca_file, &remote->memory[0], name));
    if (o->cert)
        curl_easy_setopt(remote->curl, CURLOPT_SSLCERT, porter_name(o->cert, &remote->memory[1], name));
    if (o->key)
        curl_easy_setopt(remote->curl, CURLOPT_SSLKEY, porter_name(o->key, &remote->memory[2], name));
}

int remote_new(const struct remote_options *options, struct remote **out)
{
    struct remote *remote;

    if (!remote_is_safe(options->url))
        return -EINVAL;
    remote = calloc(1, sizeof(*remote));
    if (!remote)
        return -ENOMEM;
    remote->options = *options;
    memset(remote->memory, -1, sizeof(remote->memory));
    remote->curl = curl_easy_init();
    if (!remote->curl) {
        free(remote);
        return -ENOMEM;
    }
    set_up(remote);
    *out = remote;
    return 0;
}

void remote_free(struct remote *remote)
{
    if (!remote)
        return;
    curl_easy_cleanup(remote->curl);
    for (unsigned i = 0; i < 3; i++)
        cleanup_close(&remote->memory[i]);
    free(remote);
}

void remote_reconnect(struct remote *remote)
{
    curl_easy_setopt(remote->curl, CURLOPT_FRESH_CONNECT, 1L);
}

int remote_token(const char *path, char token[REMOTE_TOKEN_MAX])
{
    int fd = porter_open(path, O_RDONLY | O_CLOEXEC, 0);
    _cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    if (!file)
        return fd < 0 ? fd : -ENOMEM;
    if (!fgets(token, REMOTE_TOKEN_MAX, file))
        return -ENODATA;
    token[strcspn(token, " \t\r\n")] = '\0';
    return *token ? 0 : -ENODATA;
}

static struct curl_slist *headers_of(const char *token, const char *encoding)
{
    struct curl_slist *headers = NULL;
    char line[REMOTE_TOKEN_MAX + 64];

    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    snprintf(line, sizeof(line), "Unblend-Sent-Ns: %" PRId64, wall_clock_ns());
    headers = curl_slist_append(headers, line);
    if (encoding) {
        snprintf(line, sizeof(line), "Content-Encoding: %s", encoding);
        headers = curl_slist_append(headers, line);
    }
    if (token) {
        snprintf(line, sizeof(line), "Authorization: Bearer %s", token);
        headers = curl_slist_append(headers, line);
        explicit_bzero(line, sizeof(line));
    }
    return headers;
}

void remote_post(struct remote *remote, const char *path, const char *token, const char *encoding, const void *data,
                 size_t size, struct remote_answer *answer)
{
    const char *base = remote->options.url;
    struct curl_slist *headers = headers_of(token, encoding);
    char url[2048];
    curl_off_t after = 0;
    CURLcode result;

    *answer = (struct remote_answer){.status = 0};
    snprintf(url, sizeof(url), "%.1900s%s%s", base, base[strlen(base) - 1] == '/' ? "" : "/", path);
    name_files(remote);
    curl_easy_setopt(remote->curl, CURLOPT_URL, url);
    curl_easy_setopt(remote->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(remote->curl, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(remote->curl, CURLOPT_POSTFIELDS, data);
    curl_easy_setopt(remote->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    result = curl_easy_perform(remote->curl);
    curl_easy_setopt(remote->curl, CURLOPT_FRESH_CONNECT, 0L);
    curl_slist_free_all(headers);
    if (result != CURLE_OK) {
        snprintf(answer->text, sizeof(answer->text), "%s", curl_easy_strerror(result));
        return;
    }
    curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(remote->curl, CURLINFO_RETRY_AFTER, &after);
    answer->retry_after_s = after > 0 && after < 86400 ? (unsigned)after : 0;
    answer->text[strcspn(answer->text, "\r\n")] = '\0';
}
