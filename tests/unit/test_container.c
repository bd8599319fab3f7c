/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kubelet's and the runtimes' files say, from trees as they make them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/container.h"
#include "tests/unit/tree.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2b1f5c3e-8a5d-4f0e-9d53-0d6a6ce1a111"
#define POD "/var/lib/kubelet/pods/" UID

static const char *const chosen[] = {"app", "team/role", NULL};

static struct container_facts look(struct made_tree *tree, enum cgroup_kind kind)
{
    struct cgroup_owner owner = {.kind = kind};
    struct container_facts facts;

    strcpy(owner.id, kind == CGROUP_POD ? UID : ID);
    strcpy(owner.container, kind == CGROUP_POD ? ID : "");
    assert_int_equal(0, container_find(tree->root, &owner, chosen, &facts));
    return facts;
}

static const char *label(const struct container_facts *facts, const char *name)
{
    for (uint32_t i = 0; i < facts->label_count; i++)
        if (strcmp(facts->labels[i].name, name) == 0)
            return facts->labels[i].value;
    return "-";
}

static void test_nothing_there(void **state)
{
    struct container_facts facts = look(*state, CGROUP_POD);

    assert_string_equal("", facts.namespace);
    assert_string_equal("", facts.pod);
    assert_int_equal(0, facts.label_count);
    container_clear(&facts);
}

static void test_logs_of_pods(void **state)
{
    struct container_facts facts;

    tree_file(*state, "/var/log/pods/kube-system_dns_00000000-0000-4000-8000-000000000000/x/0.log", "");
    tree_file(*state, "/var/log/pods/team-a_train-0_" UID "/main/0.log", "");
    tree_file(*state, POD "/volumes/kubernetes.io~downward-api/info/labels",
              "app=\"train\"\nother=\"x\"\nteam/role=\"a\\\"b\"\nbroken\n=\nunquoted=x\n");
    facts = look(*state, CGROUP_POD);
    assert_string_equal("team-a", facts.namespace);
    assert_string_equal("train-0", facts.pod);
    assert_int_equal(2, facts.label_count);
    assert_string_equal("train", label(&facts, "app"));
    assert_string_equal("a\"b", label(&facts, "team/role"));
    container_clear(&facts);
}

static void test_folders_of_pods(void **state)
{
    struct container_facts facts;

    tree_file(*state, POD "/volumes/kubernetes.io~projected/kube-api-access-x/namespace", "team-b");
    tree_file(*state, POD "/etc-hosts",
              "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n"
              "::1\tlocalhost ip6-localhost\nfe00::0\tip6-localnet\n"
              "10.244.1.5\ttrain-1\n");
    facts = look(*state, CGROUP_POD);
    assert_string_equal("team-b", facts.namespace);
    assert_string_equal("train-1", facts.pod);
    container_clear(&facts);
}

static void test_runtimes(void **state)
{
    struct container_facts facts;

    tree_file(*state, "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
              "{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"ns\","
              "\"io.kubernetes.cri.sandbox-name\":\"p\",\"io.kubernetes.cri.container-name\":\"main\"}}");
    facts = look(*state, CGROUP_POD);
    assert_string_equal("ns", facts.namespace);
    assert_string_equal("p", facts.pod);
    assert_string_equal("main", facts.name);
    container_clear(&facts);
    tree_file(*state, "/var/lib/docker/containers/" ID "/config.v2.json",
              "{\"Name\":\"/web\",\"Config\":{\"Labels\":{\"app\":\"shop\",\"x\":\"y\"}}}");
    facts = look(*state, CGROUP_CONTAINER);
    assert_string_equal("shop", label(&facts, "app"));
    assert_int_equal(1, facts.label_count);
    container_clear(&facts);
    tree_file(*state, "/var/lib/containers/storage/overlay-containers/" ID "/userdata/config.json",
              "{\"annotations\":{\"io.kubernetes.cri-o.Labels\":\"{\\\"team/role\\\":\\\"r\\\"}\"}}");
    facts = look(*state, CGROUP_CONTAINER);
    assert_string_equal("r", label(&facts, "team/role"));
    container_clear(&facts);
}

static void test_docker_name(void **state)
{
    struct container_facts facts;

    tree_file(*state, "/var/lib/docker/containers/" ID "/config.v2.json",
              "{\"Name\":\"/web\",\"Config\":{\"Labels\":null}}");
    facts = look(*state, CGROUP_CONTAINER);
    assert_string_equal("web", facts.name);
    container_clear(&facts);
}

static void test_broken_files(void **state)
{
    static const char *const broken[] = {"", "{", "[]", "{\"annotations\":7}", "{\"Name\":{}}", "\xff\xfe",
                                         "{\"Config\":[]}"};

    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        struct container_facts facts;

        tree_file(*state, "/var/lib/docker/containers/" ID "/config.v2.json", broken[i]);
        facts = look(*state, CGROUP_CONTAINER);
        assert_string_equal("", facts.name);
        container_clear(&facts);
    }
    for (const char *const *folder = (const char *const[]){"", "_", "__", "a_b", "_b_" UID, "a__" UID,
                                                           "a_b_" UID "x", NULL};
         *folder; folder++) {
        struct container_facts facts = {.labels = NULL};

        assert_false(container_pod_folder(*folder, UID, &facts));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_there, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_logs_of_pods, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_folders_of_pods, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_runtimes, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_docker_name, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(test_broken_files, tree_setup, tree_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
