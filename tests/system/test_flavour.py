# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flavour counts the same; what is not available says why; the mix of calls decides."""
import json
import subprocess

import harness
from known import Known

FLAVOURS = ["tp_btf", "tracepoint", "fentry", "kprobe"]
# Calls of one kind as fast as they go.
LOOPS = {
    "others": "import os\nwhile True: os.getppid()",
    "counted": "import os\nf = os.open('/etc/passwd', os.O_RDONLY)\nwhile True: os.pread(f, 1, 0)",
}


def doctor(*prefix):
    done = harness.run([*prefix, harness.unblend(), "doctor", "--json"])
    return done.returncode, json.loads(done.stdout)


def hook_of_calls(coverage):
    """The hook that watches most calls."""
    return next(hook for hook in coverage["hooks"] if "sys_" in hook["hook"] and "self-test" in (hook["why"] or ""))

ALONE = True  # see tests/system/run


class DoctorTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.status, cls.said = doctor()

    def test_every_flavour_is_tried(self):
        self.assertEqual(self.status, 0)
        self.assertEqual([f["flavour"] for f in self.said["flavours"]], FLAVOURS)
        for flavour in self.said["flavours"]:
            self.assertTrue(flavour["why"], flavour)
            self.assertEqual(flavour["self_test"] is not None, flavour["state"] == "available", flavour)
        self.assertEqual([f["flavour"] for f in self.said["flavours"] if f["chosen"]], [self.said["flavour"]])

    def test_every_call_is_fired(self):
        results = {call["call"]: call for call in self.said["self_test"]}
        self.assertEqual(results.pop("sync")["result"], "not fired")
        for call in results.values():
            self.assertIn(call["result"], ("exact", "absent"), call)
            self.assertEqual(call["counted"], 3 if call["result"] == "exact" else None, call)
            self.assertTrue(call["flavour"], call)
        self.assertGreater(sum(call["result"] == "exact" for call in results.values()), 60)

    def test_rights_are_named(self):
        rights = {right["capability"]: right for right in self.said["capabilities"]}
        self.assertEqual({name for name in rights if rights[name]["needed"]}, {"CAP_BPF", "CAP_PERFMON"})
        self.assertTrue(all(right["had"] for right in rights.values() if right["needed"]))
        self.assertTrue(self.said["host_pids"])


class FlavourTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.available = {f["flavour"] for f in doctor()[1]["flavours"] if f["state"] == "available"}
        cls.known = Known(cls.make_volume(64), cls.directory)

    def test_each_counts_the_same_or_says_why_not(self):
        for flavour in FLAVOURS:
            with self.subTest(flavour=flavour):
                if flavour in self.available:
                    report = self.record(self.known.command, "--flavour", flavour)
                    self.assertEqual(self.known.counted(report.volume(self.known.volume.mount)),
                                     self.known.expected())
                    self.assertEqual(report.lost(), 0)
                    self.assertIn(flavour, hook_of_calls(report.coverage)["hook"])
                    continue
                done = harness.record(self.path("no.rec"), ["true"], "--flavour", flavour)
                self.assertEqual(done.returncode, 1)
                self.assert_one_line(done.stderr, f"not through {flavour}: ")

    def test_wrong_names(self):
        for names in ("nothing", "tp_btf,tp_btf", "tp_btf,", "auto,kprobe", ""):
            done = harness.record(self.path("no.rec"), ["true"], "--flavour", names)
            self.assertEqual(done.returncode, 2, names)
            self.assert_one_line(done.stderr, "flavour: ", "tracepoint")

    def test_first_that_works(self):
        report = self.record(self.known.command, "--flavour", "kprobe,tp_btf")
        expected = "kprobe" if "kprobe" in self.available else "tp_btf"
        self.assertIn(expected, hook_of_calls(report.coverage)["hook"])

    def under(self, loop):
        """The hook chosen for the whole node while two processes make calls of one kind."""
        loops = [subprocess.Popen([harness.PYTHON, "-c", LOOPS[loop]]) for _ in range(2)]
        try:
            harness.must([harness.unblend(), "record", "--all", "-d", "200ms", "-o", self.path("mix.rec")])
        finally:
            for process in loops:
                process.kill()
                process.wait()
        return hook_of_calls(harness.report(self.path("mix.rec")).coverage)

    def test_the_mix_decides(self):
        counted, others = self.under("counted"), self.under("others")
        if counted["hook"].startswith("kprobe"):
            self.assertEqual(others["hook"], counted["hook"])  # tracepoints would lose calls here
            return
        self.assertEqual(counted["hook"], "tp_btf/sys_enter")
        self.assertIn(" % of ", counted["why"])
        if "tracepoint" in self.available:
            self.assertEqual(others["hook"], "tracepoint/syscalls/sys_enter_*")
        self.assertIn("do not count", others["why"])
