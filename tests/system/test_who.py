# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose operations, and on which volume: by environment, cgroup and launcher, in containers and after the end."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import harness

CONTAINER = "0123456789abcdef" * 4
POD = "2b1f5c3e-8a5d-4f0e-9d53-0d6a6ce1a111"
WAIT_S = 90


def unified():
    """Where cgroups of version 2 are."""
    for path in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.path.exists(os.path.join(path, "cgroup.procs")):
            return path
    return None


def hierarchies():
    """A name and a folder for each version that is mounted and can be written to."""
    found = {"v2": unified()}
    for controller in ("freezer", "memory", "pids"):
        path = os.path.join("/sys/fs/cgroup", controller)
        if os.path.exists(os.path.join(path, "cgroup.procs")):
            found["v1"] = path
            break
    return {name: path for name, path in found.items() if path}


class Node:
    """The whole node, recorded while a `with` lasts."""

    def __init__(self, recording, *options):
        self.recording = recording
        self.command = [harness.unblend(), "record", "--all", "-o", recording, *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=harness.environment())
        end = time.monotonic() + WAIT_S
        while not (os.path.exists(self.recording) and os.path.getsize(self.recording)):
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"it does not record: {self.process.poll()}")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=WAIT_S)[1]
        if self.process.returncode or said:
            raise AssertionError(f"record: exit {self.process.returncode}: {said}")

    def jobs(self, *options):
        return {job["job"]: job for job in harness.report(self.recording, *options).data["jobs"]}


class WhoTest(harness.DataTest):
    SIZE = 10000

    def cgroup(self, folder, path):
        """Makes a cgroup and those above it; they go when the test is over."""
        at = folder
        for part in path.split("/"):
            at = os.path.join(at, part)
            if not os.path.isdir(at):
                os.mkdir(at)
                self.addCleanup(self.remove, at)
        return at

    @staticmethod
    def remove(path):
        for _ in range(100):
            try:
                os.rmdir(path)
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.05)

    def run_in(self, cgroup, script, **variables):
        """A shell that is put into a cgroup (None: stays) and runs a script there."""
        move = f"echo $$ > {cgroup}/cgroup.procs; " if cgroup else ""
        harness.must(["/bin/sh", "-c", f"{move}exec /bin/sh -c '{script}'"], env={**harness.environment(), **variables})

    def reads(self, times=1):
        """A shell's words that read the data so many times, each in a process of its own."""
        return f"i=0; while [ $i -lt {times} ]; do /bin/cat {self.data} > /dev/null; i=$((i + 1)); done"

    def assert_reads(self, job, times):
        """What the job did on the volume, every operation of it."""
        found = [volume for volume in job["volumes"] if self.volume.mount in volume["mounts"]]
        self.assertEqual(1, len(found), job["job"])
        self.assertEqual((times, 0, 0), harness.count(found[0]["ops"], "open"))
        self.assertEqual(times * self.SIZE, harness.count(found[0]["ops"], "read")[1])

    def test_short_lived_processes_keep_their_job(self):
        many = 2000
        groups = {f"{4240 + i}": self.cgroup(path, f"slurm/uid_0/job_{4240 + i}/step_0")
                  for i, path in enumerate(hierarchies().values())}
        with Node(self.path("many.rec")) as node:
            self.run_in(None, self.reads(many), UNBLEND_JOB="who-many")
            for cgroup in groups.values():
                self.run_in(cgroup, self.reads(200))
            self.run_in(None, self.reads(100), SLURM_JOB_ID="4249")
        jobs = node.jobs()
        self.assert_reads(jobs["who-many"], many)
        self.assertEqual("env", jobs["who-many"]["kind"])
        for name in groups:
            self.assert_reads(jobs[name], 200)
            self.assertEqual("slurm", jobs[name]["kind"])
        self.assert_reads(jobs["4249"], 100)

    def test_containers_that_are_gone_before_anybody_looks(self):
        root = unified() or list(hierarchies().values())[0]
        with Node(self.path("gone.rec")) as node:
            for path in (f"docker/{CONTAINER}", f"kubepods/besteffort/pod{POD}/{CONTAINER}",
                         "system.slice/who.service"):
                self.run_in(self.cgroup(root, path), self.reads(3))
                self.doCleanups()
        jobs = node.jobs()
        self.assert_reads(jobs[CONTAINER[:12]], 3)
        self.assertEqual({"container": CONTAINER, "runtime": "docker"}, jobs[CONTAINER[:12]]["labels"])
        self.assertEqual("container", jobs[CONTAINER[:12]]["kind"])
        self.assert_reads(jobs[POD], 3)
        self.assertEqual("kubernetes", jobs[POD]["kind"])
        self.assert_reads(jobs["who.service"], 3)
        self.assertEqual("systemd", jobs["who.service"]["kind"])

    def test_pods_have_the_names_that_the_kubelet_gives_their_logs(self):
        tree = self.path("node")
        os.makedirs(f"{tree}/var/log/pods/team-a_train-0_{POD}/main")
        labels = f"{tree}/var/lib/kubelet/pods/{POD}/volumes/kubernetes.io~downward-api/info"
        os.makedirs(labels)
        with open(os.path.join(labels, "labels"), "w", encoding="utf-8") as file:
            file.write('app="resnet"\nother="x"\n')
        os.symlink("/proc", f"{tree}/proc")
        root = unified() or list(hierarchies().values())[0]
        with Node(self.path("pod.rec"), "--root", tree, "--pod-labels", "app") as node:
            self.run_in(self.cgroup(root, f"kubepods/pod{POD}/{CONTAINER}"), self.reads(3))
        job = node.jobs()["team-a/train-0"]
        self.assert_reads(job, 3)
        self.assertEqual({"namespace": "team-a", "pod": "train-0", "app": "resnet"}, job["labels"])
        by_label = node.jobs("--by", "app")
        self.assert_reads(by_label["resnet"], 3)

    def test_what_a_process_says_wins(self):
        inner = f"UNBLEND_JOB=who-inner /bin/cat {self.data} > /dev/null; /bin/cat {self.data} > /dev/null"
        report = self.record(["/bin/sh", "-c", inner], "--job", "who-outer", name="wins.rec")
        jobs = {job["job"]: job for job in report.data["jobs"]}
        self.assert_reads(jobs["who-inner"], 1)
        self.assert_reads(jobs["who-outer"], 1)
        report = self.record(["/bin/sh", "-c", self.reads(2)], name="own.rec",
                             env={**harness.environment(), "UNBLEND_JOB": "who-env"})
        self.assertEqual(("who-env", "env"), (report.job()["job"], report.job()["kind"]))
        self.assert_reads(report.job(), 2)
        report = self.record(["/bin/sh", "-c", self.reads(2)], "--job-env", "RUN,OTHER", name="list.rec",
                             env={**harness.environment(), "OTHER": "who-list", "SLURM_JOB_ID": "1"})
        self.assertEqual("who-list", report.job()["job"])

    def test_ranks_are_one_job(self):
        launcher = self.path("torchrun")
        shutil.copy("/bin/sh", launcher)
        with Node(self.path("ranks.rec")) as node:
            harness.must([launcher, "-c", f"{self.reads(1)} & {self.reads(2)} & wait"], env=harness.environment())
        self.assert_reads(node.jobs()["root/torchrun"], 3)

    def test_names_of_any_bytes(self):
        name = b"who \xff\nline \xc3\xa4"
        with Node(self.path("bytes.rec")) as node:
            subprocess.run(["/bin/sh", "-c", self.reads(1)], check=True,
                           env={**{k.encode(): v.encode() for k, v in harness.environment().items()},
                                b"UNBLEND_JOB": name})
        self.assert_reads(node.jobs()["who \ufffd?line \u00e4"], 1)

    def test_a_container_with_an_overlay_and_a_bind_mount(self):
        mount = self.volume.mount
        for name in ("upper", "work"):
            os.makedirs(os.path.join(mount, name), exist_ok=True)
        merged, bound = self.path("merged"), self.path("bound")
        os.mkdir(merged)
        os.mkdir(bound)
        ready = self.path("ready")
        script = (f"mount -t overlay overlay -o lowerdir={mount},upperdir={mount}/upper,workdir={mount}/work "
                  f"{merged} && mount --bind {mount} {bound} && cat {bound}/data {merged}/data > /dev/null && "
                  f"cat {merged}/missing 2> /dev/null; sleep 3; cat {merged}/data > /dev/null && echo yes > {ready}")
        lower = self.path("lower")
        os.mkdir(lower)
        with Node(self.path("overlay.rec")) as node:
            self.run_in(None, f"unshare -m --propagation private /bin/sh -c \"{script}\"", UNBLEND_JOB="who-box")
        self.assertTrue(os.path.exists(ready))
        volumes = {volume["fstype"]: volume for volume in node.jobs()["who-box"]["volumes"]}
        disk = [volume for volume in node.jobs()["who-box"]["volumes"] if mount in volume["mounts"]]
        self.assertEqual(1, len(disk))
        self.assertEqual(self.SIZE, harness.count(disk[0]["ops"], "read")[1])
        self.assertEqual(2 * self.SIZE, harness.count(volumes["overlay"]["ops"], "read")[1])
        self.assertEqual(disk[0]["volume"], volumes["overlay"]["lower"])
        self.assertIsNone(disk[0]["lower"])

    def test_what_a_container_mounts_later(self):
        """Its mounts were read already when it mounts one more, and then unmounts it: paths go where they lead.

        Another namespace gets the superblock's number at once: what it mounts is not the first one's. Within one
        interval they are one."""
        late, other = self.path("late"), self.path("other")
        os.mkdir(late)
        os.mkdir(other)
        script = (f"cat {late}/missing 2> /dev/null; sleep 3; mount -t tmpfs later {late} && echo word > {late}/file; "
                  f"cat {late}/file > /dev/null; sleep 3; mkdir {late}/a {late}/b; rmdir {late}/a; sleep 3; umount {late}; "
                  f"unshare -m --propagation private sh -c 'mount -t tmpfs other {other}; cat {other}/missing; sleep 3' "
                  f"2> /dev/null; cat {late}/missing 2> /dev/null; sleep 3; mkdir {late}/c; exit 0")
        pathlib.Path(self.path("script")).write_text(script, encoding="utf-8")
        with Node(self.path("late.rec")) as node:
            self.run_in(None, f"unshare -m --propagation private sh {self.path('script')}", UNBLEND_JOB="who-late")
        volumes = node.jobs()["who-late"]["volumes"]
        volume, = [volume for volume in volumes if volume["source"] == "later"]
        self.assertEqual([late], volume["mounts"])
        self.assertEqual((1, 5, 0), harness.count(volume["ops"], "write"))
        self.assertEqual((2, 0, 0), harness.count(volume["ops"], "mkdir"))
        self.assertEqual((1, 0, 0), harness.count(volume["ops"], "unlink"))
        made = [harness.count(other["ops"], "mkdir") for other in volumes if other is not volume]
        self.assertEqual(1, sum(ops - errors for ops, _, errors in made))  # mount(8) tries to make what is there

    def test_wrong_names_are_refused(self):
        for option in ("--job-env=A,,B", "--job-env=A=B", "--pod-labels=a,"):
            done = harness.record(self.path("wrong.rec"), ["/bin/true"], option)
            self.assertEqual(2, done.returncode, option)
            self.assert_one_line(done.stderr, option[2:].split("=", maxsplit=1)[0])


if __name__ == "__main__":
    harness.main()
