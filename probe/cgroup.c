/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CONTAINER_ID 64 /* hex digits */

/* One component of a path, and what is known of those before it. */
struct walk {
    char name[CGROUP_ID_MAX];
    char before[CGROUP_ID_MAX]; /* the component before it */
    bool in_kubepods, in_user;  /* below kubepods, below a user's slice */
};

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);

    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

static void set(struct cgroup_owner *owner, enum cgroup_kind kind, const char *id, size_t length)
{
    *owner = (struct cgroup_owner){.kind = kind};
    snprintf(owner->id, sizeof(owner->id), "%.*s", (int)length, id);
}

/* slurm/uid_1000/job_7, slurmstepd.scope/job_7, NODE_slurmstepd.scope/job_7 */
static bool parse_slurm(const struct walk *at, struct cgroup_owner *owner)
{
    size_t digits;

    if (!starts(at->name, "job_") ||
        !(starts(at->before, "uid_") || starts(at->before, "slurm") || ends(at->before, "slurmstepd.scope")))
        return false;
    digits = strspn(at->name + 4, "0123456789");
    if (!digits || at->name[4 + digits])
        return false;
    set(owner, CGROUP_SLURM, at->name + 4, digits);
    return true;
}

/* kubepods-burstable-podUID.slice, with _ for -, and kubepods/burstable/podUID */
static bool parse_pod(const struct walk *at, struct cgroup_owner *owner)
{
    const char *uid = NULL;
    size_t length;

    if (at->in_kubepods && starts(at->name, "pod"))
        uid = at->name + 3;
    else if (ends(at->name, ".slice") && strstr(at->name, "kubepods") && strstr(at->name, "-pod"))
        uid = strstr(at->name, "-pod") + 4;
    if (!uid)
        return false;
    length = strspn(uid, "0123456789abcdefABCDEF-_");
    if (length < 8 || (uid[length] && strcmp(uid + length, ".slice") != 0))
        return false;
    set(owner, CGROUP_POD, uid, length);
    for (char *c = owner->id; *c; c++)
        if (*c == '_')
            *c = '-';
    return true;
}

static const struct {
    const char *prefix, *runtime;
} scopes[] = {
    {"docker-", "docker"},    {"libpod-", "podman"},          {"cri-containerd-", "containerd"},
    {"crio-", "cri-o"},       {"nerdctl-", "containerd"},     {"containerd-", "containerd"},
};

/* A container's id in a component, and which runtime's it is. */
static const char *container_id(const struct walk *at, const char **runtime)
{
    const char *id = at->name;

    *runtime = strcmp(at->before, "docker") == 0 ? "docker" : NULL;
    for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
        if (starts(at->name, scopes[i].prefix)) {
            id += strlen(scopes[i].prefix);
            *runtime = scopes[i].runtime;
        }
    if (strspn(id, "0123456789abcdef") != CONTAINER_ID || (id[CONTAINER_ID] && strcmp(id + CONTAINER_ID, ".scope") != 0))
        return NULL;
    return id;
}

static bool parse_container(const struct walk *at, struct cgroup_owner *owner)
{
    const char *runtime, *id = container_id(at, &runtime);

    if (id && owner->kind == CGROUP_POD) {
        if (!*owner->container) {
            snprintf(owner->container, sizeof(owner->container), "%.*s", CONTAINER_ID, id);
            owner->runtime = runtime;
        }
        return true;
    }
    if (owner->kind >= CGROUP_CONTAINER)
        return id != NULL; /* a container in a container, or in a job, is its outer one's */
    if (id) {
        set(owner, CGROUP_CONTAINER, id, CONTAINER_ID);
        owner->runtime = runtime;
        return true;
    }
    if (!starts(at->name, "lxc.payload.") && strcmp(at->before, "lxc") != 0)
        return false;
    id = starts(at->name, "lxc.payload.") ? at->name + strlen("lxc.payload.") : at->name;
    if (!*id)
        return false;
    set(owner, CGROUP_CONTAINER, id, strlen(id));
    owner->runtime = "lxc";
    return true;
}

/* Of a user's own units only services count, and what systemd-run makes: a session is no job. */
static bool is_unit(const struct walk *at)
{
    if (ends(at->name, ".service"))
        return !starts(at->name, "user@") && !strstr(at->name, "-conmon-");
    if (!ends(at->name, ".scope") || strstr(at->name, "-conmon-"))
        return false;
    return at->in_user ? starts(at->name, "run-")
                       : strcmp(at->name, "init.scope") != 0 && !starts(at->name, "session-");
}

static void look_at(const struct walk *at, struct cgroup_owner *owner)
{
    if (parse_slurm(at, owner) || parse_pod(at, owner) || parse_container(at, owner))
        return;
    if (owner->kind <= CGROUP_UNIT && is_unit(at))
        set(owner, CGROUP_UNIT, at->name, strlen(at->name));
}

void cgroup_parse(const char *path, struct cgroup_owner *owner)
{
    struct walk at = {.before = ""};

    *owner = (struct cgroup_owner){.kind = CGROUP_OTHER};
    while (*path) {
        size_t length = strcspn(path, "/");

        if (length) {
            snprintf(at.name, sizeof(at.name), "%.*s", (int)(length < sizeof(at.name) ? length : sizeof(at.name) - 1),
                     path);
            look_at(&at, owner);
            at.in_kubepods |= strstr(at.name, "kubepods") != NULL;
            at.in_user |= starts(at.name, "user-") && ends(at.name, ".slice");
            memcpy(at.before, at.name, sizeof(at.before));
        }
        path += length + (path[length] == '/');
    }
}

void cgroup_parse_lines(char *text, struct cgroup_owner *owner)
{
    char *line;

    *owner = (struct cgroup_owner){.kind = CGROUP_OTHER};
    while ((line = strsep(&text, "\n"))) {
        struct cgroup_owner of_line;

        /* "4:memory:/path", and a path may have colons */
        if (!strsep(&line, ":") || !line || !strsep(&line, ":") || !line)
            continue;
        cgroup_parse(line, &of_line);
        if (of_line.kind > owner->kind)
            *owner = of_line;
    }
}
