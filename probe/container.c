/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/container.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/host.h"

/* Where runtimes keep what they know of a container. */
static const char *const configs[] = {
    "/var/lib/docker/containers/%s/config.v2.json",
    "/var/lib/containers/storage/overlay-containers/%s/userdata/config.json",
    "/run/containers/storage/overlay-containers/%s/userdata/config.json",
    "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
    "/run/containerd/io.containerd.runtime.v2.task/default/%s/config.json",
};

/* What they call what. */
static const struct {
    const char *annotation;
    size_t field;
} annotations[] = {
    {"io.kubernetes.cri.sandbox-namespace", offsetof(struct container_facts, namespace)},
    {"io.kubernetes.cri.sandbox-name", offsetof(struct container_facts, pod)},
    {"io.kubernetes.cri.container-name", offsetof(struct container_facts, name)},
    {"io.kubernetes.pod.namespace", offsetof(struct container_facts, namespace)},
    {"io.kubernetes.pod.name", offsetof(struct container_facts, pod)},
    {"io.kubernetes.container.name", offsetof(struct container_facts, name)},
    {"io.podman.annotations.name", offsetof(struct container_facts, name)},
    {"nerdctl/name", offsetof(struct container_facts, name)},
};

static void fill(char *field, const char *value)
{
    if (value && *value && !*field)
        snprintf(field, CONTAINER_NAME_MAX, "%s", value);
}

static bool is_chosen(const char *const *chosen, const char *name)
{
    for (; chosen && *chosen; chosen++)
        if (strcmp(*chosen, name) == 0)
            return true;
    return false;
}

static int add_label(struct container_facts *facts, const char *name, const char *value)
{
    struct label label, *grown;

    for (uint32_t i = 0; i < facts->label_count; i++)
        if (strcmp(facts->labels[i].name, name) == 0)
            return 0;
    grown = reallocarray(facts->labels, facts->label_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    facts->labels = grown;
    label = (struct label){strdup(name), strdup(value)};
    if (!label.name || !label.value) {
        free((char *)label.name);
        free((char *)label.value);
        return -ENOMEM;
    }
    grown[facts->label_count++] = label;
    return 0;
}

void container_clear(struct container_facts *facts)
{
    for (uint32_t i = 0; i < facts->label_count; i++) {
        free((char *)facts->labels[i].name);
        free((char *)facts->labels[i].value);
    }
    free(facts->labels);
    *facts = (struct container_facts){.labels = NULL};
}

bool container_pod_folder(const char *folder, const char *uid, struct container_facts *facts)
{
    const char *first = strchr(folder, '_'), *last = strrchr(folder, '_');

    if (!first || first == last || first == folder || last == first + 1 || strcmp(last + 1, uid) != 0)
        return false;
    snprintf(facts->namespace, sizeof(facts->namespace), "%.*s", (int)(first - folder), folder);
    snprintf(facts->pod, sizeof(facts->pod), "%.*s", (int)(last - first - 1), first + 1);
    return true;
}

/* A quoted string of Go's, as far as labels can have it: unquoted in place. NULL when it is none. */
static char *unquote(char *text)
{
    char *to = text, *from = text + 1;

    if (*text != '"')
        return NULL;
    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1])
            from++;
        *to++ = *from;
    }
    if (*from != '"')
        return NULL;
    *to = '\0';
    return text;
}

int container_label_lines(char *text, const char *const *chosen, struct container_facts *facts)
{
    char *line;
    int err = 0;

    while (!err && (line = strsep(&text, "\n"))) {
        char *name = strsep(&line, "="), *value = line ? unquote(line) : NULL;

        if (value && is_chosen(chosen, name))
            err = add_label(facts, name, value);
    }
    return err;
}

static int add_labels(const json_t *object, const char *const *chosen, struct container_facts *facts)
{
    const char *name;
    json_t *value;
    int err = 0;

    json_object_foreach((json_t *)object, name, value)
        if (!err && json_is_string(value) && is_chosen(chosen, name))
            err = add_label(facts, name, json_string_value(value));
    return err;
}

static int read_annotations(const json_t *object, const char *const *chosen, struct container_facts *facts)
{
    const char *inner = json_string_value(json_object_get(object, "io.kubernetes.cri-o.Labels"));
    json_auto_t *labels = inner ? json_loads(inner, 0, NULL) : NULL;
    int err;

    for (size_t i = 0; i < sizeof(annotations) / sizeof(*annotations); i++)
        fill((char *)facts + annotations[i].field,
             json_string_value(json_object_get(object, annotations[i].annotation)));
    err = add_labels(object, chosen, facts);
    return err ? err : add_labels(labels, chosen, facts);
}

int container_config(const char *text, size_t size, const char *const *chosen, struct container_facts *facts)
{
    json_auto_t *config = json_loadb(text, size, 0, NULL);
    const char *name = json_string_value(json_object_get(config, "Name")); /* Docker's begins with a slash */
    int err = read_annotations(json_object_get(config, "annotations"), chosen, facts);

    if (!err)
        err = read_annotations(json_object_get(json_object_get(config, "Config"), "Labels"), chosen, facts);
    fill(facts->name, name && *name == '/' ? name + 1 : NULL);
    return err;
}

static int read_configs(const char *root, const char *id, const char *const *chosen, struct container_facts *facts)
{
    int err = 0;

    for (size_t i = 0; !err && *id && i < sizeof(configs) / sizeof(*configs); i++) {
        _cleanup_free_ char *text = NULL;
        char path[512];
        size_t size;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof(path), configs[i], id);
#pragma GCC diagnostic pop
        if (host_read(root, &text, &size, "%s", path) == 0)
            err = container_config(text, size, chosen, facts);
    }
    return err;
}

/* A pod's volumes of one kind, each with files that the kubelet has written. */
struct volumes_of {
    const char *root, *uid, *kind;
    const char *const *chosen;
    struct container_facts *facts;
};

static int read_pod_volume(const char *name, void *context)
{
    const struct volumes_of *of = context;
    _cleanup_free_ char *labels = NULL, *namespace = NULL;

    if (host_read(of->root, &namespace, NULL, "/var/lib/kubelet/pods/%s/volumes/%s/%s/namespace", of->uid, of->kind,
                  name) == 0) {
        namespace[strcspn(namespace, "\n")] = '\0';
        fill(of->facts->namespace, namespace);
    }
    if (host_read(of->root, &labels, NULL, "/var/lib/kubelet/pods/%s/volumes/%s/%s/labels", of->uid, of->kind, name))
        return 0;
    return container_label_lines(labels, of->chosen, of->facts);
}

/* "10.0.0.7\tNAME": the last line that the kubelet writes, unless the pod has aliases of its own. */
static void read_hosts(char *text, struct container_facts *facts)
{
    char *line, *name = NULL;

    while ((line = strsep(&text, "\n"))) {
        char *tab = strchr(line, '\t');

        if (*line == '#' && name && strstr(line, "HostAliases"))
            break;
        if (tab && *line != '#')
            name = tab + 1;
    }
    if (!name)
        return;
    name[strcspn(name, "\t .")] = '\0';
    if (strncmp(name, "localhost", 9) != 0 && strncmp(name, "ip6-", 4) != 0 && strncmp(name, "fe00", 4) != 0)
        fill(facts->pod, name);
}

static int find_folder(const char *name, void *context)
{
    const struct volumes_of *of = context;

    return container_pod_folder(name, of->uid, of->facts) ? 1 : 0;
}

static int find_pod(const char *root, const struct cgroup_owner *owner, const char *const *chosen,
                    struct container_facts *facts)
{
    struct volumes_of of = {.root = root, .uid = owner->id, .chosen = chosen, .facts = facts};
    static const char *const kinds[] = {"kubernetes.io~projected", "kubernetes.io~downward-api"};
    _cleanup_free_ char *hosts = NULL;
    bool named = host_list(root, "/var/log/pods", find_folder, &of) == 1;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        char folder[512];

        of.kind = kinds[i];
        snprintf(folder, sizeof(folder), "/var/lib/kubelet/pods/%s/volumes/%s", owner->id, of.kind);
        if (host_list(root, folder, read_pod_volume, &of) == -ENOMEM)
            return -ENOMEM;
    }
    if (!named && host_read(root, &hosts, NULL, "/var/lib/kubelet/pods/%s/etc-hosts", owner->id) == 0)
        read_hosts(hosts, facts);
    return 0;
}

int container_find(const char *root, const struct cgroup_owner *owner, const char *const *chosen,
                   struct container_facts *facts)
{
    int err;

    *facts = (struct container_facts){.labels = NULL};
    err = owner->kind == CGROUP_POD ? find_pod(root, owner, chosen, facts) : 0;
    if (!err)
        err = read_configs(root, owner->kind == CGROUP_POD ? owner->container : owner->id, chosen, facts);
    if (err)
        container_clear(facts);
    return err;
}
