# SPDX-License-Identifier: GPL-2.0-or-later
"""The probe with no more rights than it needs, and in containers."""
import os
import subprocess

import harness
from known import Known
from test_flavour import doctor

NOBODY = 65534


def nobody(*capabilities):
    """The words that make a command run as nobody with these capabilities only."""
    words = ",".join(["-all", *[f"+{name}" for name in capabilities]])
    return [harness.tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            f"--inh-caps={words}", f"--ambient-caps={words}", f"--bounding-set={words}"]

ALONE = True  # see tests/system/run


class NobodyTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.directory, 0o777)
        cls.known = Known(cls.make_volume(64), cls.directory)
        os.chmod(os.path.dirname(cls.known.volume.mount), 0o755)
        for path in (cls.known.volume.mount, cls.known.volume.mount + "/data", cls.known.output):
            os.chown(path, NOBODY, NOBODY)

    def record_as(self, prefix, *options):
        return harness.run([*prefix, harness.unblend(), "record", "-o", self.path("nobody.rec"), *options, "--",
                            *self.known.command], env=harness.environment(), cwd=self.directory)

    def test_two_capabilities_are_enough(self):
        done = self.record_as(nobody("bpf", "perfmon"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = harness.report(self.path("nobody.rec"))
        self.assertEqual(self.known.counted(report.volume(self.known.volume.mount)), self.known.expected())
        self.assertEqual(report.job()["user"], "nobody")

    def test_none_says_which(self):
        for had in ([], ["bpf"], ["perfmon"]):
            done = self.record_as(nobody(*had), "--flavour", "tp_btf")  # not through an agent's socket
            self.assertEqual(done.returncode, 1)
            self.assert_one_line(done.stderr, "BPF", "PERFMON")

    def test_doctor_tells_what_is_had(self):
        status, said = doctor(*nobody("bpf", "perfmon"))
        self.assertEqual(status, 0)
        self.assertEqual([right["capability"] for right in said["capabilities"] if right["had"]],
                         ["CAP_BPF", "CAP_PERFMON"])
        self.assertEqual([call["call"] for call in said["self_test"] if call["result"] == "wrong"], [])
        status, said = doctor(*nobody())
        self.assertEqual(status, 1)
        self.assertIsNone(said["flavour"])
        self.assertFalse(any(right["had"] for right in said["capabilities"]))


class ContainerTest(harness.SystemTest):
    """A root of its own in namespaces of its own, as a container engine makes it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.known = Known(cls.make_volume(64), cls.directory)
        cls.root = os.path.join(cls.directory, "root")
        os.mkdir(cls.root)

    def inside(self, *command, pids=()):
        return [harness.tool("unshare"), "--mount", "--uts", "--ipc", "--net", *pids, "sh", "-c",
                'mount --rbind / "$0" && exec chroot "$0" "$@"', self.root, *command]

    def test_a_command_with_the_hosts_pids(self):
        done = harness.run(self.inside(harness.unblend(), "record", "-o", self.path("in.rec"), "--",
                                       *self.known.command))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = harness.report(self.path("in.rec"))
        self.assertEqual(self.known.counted(report.volume(self.known.volume.mount)), self.known.expected())

    def test_the_node_with_the_hosts_pids(self):
        """What runs outside is seen from inside."""
        with subprocess.Popen(self.inside(harness.unblend(), "record", "--all", "-o", self.path("all.rec"), "--",
                                          "sh", "-c", "echo ready; read end"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as recorder:
            self.assertEqual(recorder.stdout.readline(), "ready\n")
            harness.must(self.known.command, cwd=self.directory)
            recorder.stdin.write("end\n")
            recorder.stdin.close()
            self.assertEqual(recorder.wait(30), 0)
        report = harness.report(self.path("all.rec"))
        found = [volume["ops"] for job in report.data["jobs"] if job["job"].endswith("/fio")
                 for volume in job["volumes"] if self.known.volume.mount in volume["mounts"]]
        self.assertEqual(len(found), 1)
        self.assertEqual(self.known.counted(found[0]), self.known.expected())

    def test_pids_of_its_own_are_refused_in_one_line(self):
        pids = ("--pid", "--fork", "--mount-proc")
        done = harness.run(self.inside(harness.unblend(), "record", "-o", self.path("no.rec"), "true", pids=pids))
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, "process ids", "--pid=host")
        status, said = doctor(*self.inside(pids=pids))
        self.assertEqual((status, said["host_pids"]), (1, False))
