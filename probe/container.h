/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node's files say of pods and containers: the kubelet's folders (/var/log/pods, /var/lib/kubelet/pods) and the
 * configurations that container runtimes keep. Nothing is asked over a network or a socket; what no file says stays "".
 */
#ifndef UNBLEND_PROBE_CONTAINER_H
#define UNBLEND_PROBE_CONTAINER_H

#include "lib/record.h"
#include "probe/cgroup.h"

#define CONTAINER_NAME_MAX 254

struct container_facts {
    char namespace[CONTAINER_NAME_MAX]; /* of the pod */
    char pod[CONTAINER_NAME_MAX];
    char name[CONTAINER_NAME_MAX]; /* the container's */
    struct label *labels;          /* those that were chosen and are known */
    uint32_t label_count;
};

/*
 * Of the pod or container that a cgroup belongs to. chosen are the names of the labels to be kept, the last one NULL;
 * root is as in probe/host.h. 0 or -ENOMEM; broken and unreadable files say nothing.
 */
int container_find(const char *root, const struct cgroup_owner *owner, const char *const *chosen,
                   struct container_facts *facts);
void container_clear(struct container_facts *facts);

/* For tests and fuzzers. The name of a folder in /var/log/pods, NAMESPACE_POD_UID: whether it is this pod's. */
bool container_pod_folder(const char *folder, const char *uid, struct container_facts *facts);
/* A downward API file of labels, name="value" a line; text is changed. 0 or -ENOMEM. */
int container_label_lines(char *text, const char *const *chosen, struct container_facts *facts);
/* A runtime's configuration: of OCI, with annotations, or Docker's. 0 or -ENOMEM. */
int container_config(const char *text, size_t size, const char *const *chosen, struct container_facts *facts);

#endif
