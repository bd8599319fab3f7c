/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups as schedulers and runtimes name them, in both versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "probe/cgroup.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2b1f5c3e-8a5d-4f0e-9d53-0d6a6ce1a111"
#define UID_ "2b1f5c3e_8a5d_4f0e_9d53_0d6a6ce1a111"

static const struct {
    const char *path;
    enum cgroup_kind kind;
    const char *id, *container, *runtime;
} cases[] = {
    /* Slurm, version 1 and 2 */
    {"/slurm/uid_1000/job_4242/step_0/task_1", CGROUP_SLURM, "4242", "", NULL},
    {"/slurm_n17/uid_1000/job_4242", CGROUP_SLURM, "4242", "", NULL},
    {"/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0", CGROUP_SLURM, "7", "", NULL},
    {"/system.slice/n17_slurmstepd.scope/job_7/step_extern/slurm", CGROUP_SLURM, "7", "", NULL},
    {"/system.slice/slurmd.service", CGROUP_UNIT, "slurmd.service", "", NULL},
    {"/kubepods/burstable/pod" UID "/" ID "/system.slice/slurmstepd.scope/job_9/step_0", CGROUP_SLURM, "9", "", NULL},
    {"/home/job_1", CGROUP_OTHER, "", "", NULL},
    {"/slurm/uid_0/job_x", CGROUP_OTHER, "", "", NULL},
    {"/slurm/uid_0/job_", CGROUP_OTHER, "", "", NULL},
    /* Kubernetes: cgroupfs and systemd drivers, all qualities of service, kind's own prefix */
    {"/kubepods/pod" UID "/" ID, CGROUP_POD, UID, ID, NULL},
    {"/kubepods/besteffort/pod" UID "/" ID, CGROUP_POD, UID, ID, NULL},
    {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope",
     CGROUP_POD, UID, ID, "containerd"},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", CGROUP_POD, UID, ID, "cri-o"},
    {"/kubepods.slice/kubepods-pod" UID_ ".slice/docker-" ID ".scope", CGROUP_POD, UID, ID, "docker"},
    {"/system.slice/docker-" ID ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
     "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" ID ".scope", CGROUP_POD, UID, ID, "containerd"},
    {"/kubepods/pod0123456789abcdef0123456789abcdef/" ID, CGROUP_POD, "0123456789abcdef0123456789abcdef", ID, NULL},
    {"/kubepods.slice/kubepods-burstable.slice", CGROUP_OTHER, "", "", NULL},
    {"/kubepods/podium", CGROUP_OTHER, "", "", NULL},
    /* containers, and what runs in them */
    {"/docker/" ID, CGROUP_CONTAINER, ID, "", "docker"},
    {"/system.slice/docker-" ID ".scope", CGROUP_CONTAINER, ID, "", "docker"},
    {"/docker/" ID "/system.slice/nginx.service", CGROUP_CONTAINER, ID, "", "docker"},
    {"/machine.slice/libpod-" ID ".scope/container", CGROUP_CONTAINER, ID, "", "podman"},
    {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", CGROUP_CONTAINER, ID, "",
     "podman"},
    {"/machine.slice/libpod-conmon-" ID ".scope", CGROUP_OTHER, "", "", NULL},
    {"/libpod_parent/libpod-" ID, CGROUP_CONTAINER, ID, "", "podman"},
    {"/system.slice/nerdctl-" ID ".scope", CGROUP_CONTAINER, ID, "", "containerd"},
    {"/actions_job/" ID, CGROUP_CONTAINER, ID, "", NULL},
    {"/lxc.payload.web/init.scope", CGROUP_CONTAINER, "web", "", "lxc"},
    {"/lxc/web", CGROUP_CONTAINER, "web", "", "lxc"},
    {"/lxc.payload./x", CGROUP_OTHER, "", "", NULL},
    {"/docker/0123", CGROUP_OTHER, "", "", NULL},
    /* units, and what is none */
    {"/system.slice/postgresql@15-main.service", CGROUP_UNIT, "postgresql@15-main.service", "", NULL},
    {"/system.slice/system-getty.slice/getty@tty1.service", CGROUP_UNIT, "getty@tty1.service", "", NULL},
    {"/system.slice/run-r1f.scope", CGROUP_UNIT, "run-r1f.scope", "", NULL},
    {"/user.slice/user-1000.slice/session-3.scope", CGROUP_OTHER, "", "", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/init.scope", CGROUP_OTHER, "", "", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/train.service", CGROUP_UNIT, "train.service", "", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/app.slice/run-u5.scope", CGROUP_UNIT, "run-u5.scope", "", NULL},
    {"/user.slice/user-1000.slice/user@1000.service/tmux-spawn-7.scope", CGROUP_OTHER, "", "", NULL},
    {"/init.scope", CGROUP_OTHER, "", "", NULL},
    {"/", CGROUP_OTHER, "", "", NULL},
    {"", CGROUP_OTHER, "", "", NULL},
    {"no/slash\xff//at/all.service/", CGROUP_UNIT, "all.service", "", NULL},
};

static void test_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cgroup_owner owner;

        cgroup_parse(cases[i].path, &owner);
        if (owner.kind != cases[i].kind || strcmp(owner.id, cases[i].id) != 0 ||
            strcmp(owner.container, cases[i].container) != 0 || !owner.runtime != !cases[i].runtime ||
            (owner.runtime && strcmp(owner.runtime, cases[i].runtime) != 0))
            fail_msg("%s: kind %d, id %s, container %s, runtime %s", cases[i].path, owner.kind, owner.id,
                     owner.container, owner.runtime ? owner.runtime : "-");
    }
}

static void test_long_names(void **state)
{
    char path[5000] = "/";
    struct cgroup_owner owner;

    (void)state;
    memset(path + 1, 'x', 4000);
    strcpy(path + 4001, ".service");
    cgroup_parse(path, &owner);
    assert_int_equal(CGROUP_OTHER, owner.kind); /* its end is beyond what a kernel allows */
}

static void expect_lines(const char *lines, enum cgroup_kind kind, const char *id)
{
    struct cgroup_owner owner;
    char text[1024];

    snprintf(text, sizeof(text), "%s", lines);
    cgroup_parse_lines(text, &owner);
    assert_int_equal(kind, owner.kind);
    assert_string_equal(id, owner.id);
}

static void test_lines(void **state)
{
    (void)state;
    expect_lines("0::/system.slice/cron.service\n", CGROUP_UNIT, "cron.service");
    expect_lines("12:devices:/slurm/uid_1/job_5/step_0\n11:memory:/slurm/uid_1/job_5\n"
                 "4:pids:/system.slice/slurmd.service\n"
                 "1:name=systemd:/system.slice/slurmd.service\n0::/system.slice/slurmd.service\n",
                 CGROUP_SLURM, "5");
    expect_lines("5:cpu,cpuacct:/docker/" ID "\n0::/\n", CGROUP_CONTAINER, ID);
    expect_lines("1:name=systemd:/a:b.service\n", CGROUP_UNIT, "a:b.service");
    expect_lines("", CGROUP_OTHER, "");
    expect_lines("nonsense\n:\n::\n3:x\n", CGROUP_OTHER, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
