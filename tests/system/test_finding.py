#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule has a program that shows what it finds, and one that does much the same and does not."""
import datetime
import json
import os
import signal
import subprocess
import tempfile
import time

import harness
import collecting
import trouble

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
PROGRAM = os.path.join(harness.SOURCE, "tests/system/trouble.py")
PATIENCE_S = 30  # on a loaded machine
SEVERITIES = ("critical", "high", "medium", "low")

# Programs on one volume: what is found, and by whom it is not.
PAIRS = {
    "small-reads": ("small_reads", "large_reads"),
    "small-writes": ("small_writes", "large_writes"),
    "metadata-storm": ("metadata_storm", "small_files"),
    "reopened-files": ("reopened_files", "opened_once"),
    "reread-files": ("reread_files", "large_reads"),
    "random-reads": ("random_reads", "large_reads"),
    "unaligned-direct-io": ("unaligned_direct_io", "aligned_direct_io"),
    "fsync-bound-checkpoint": ("fsync_bound_checkpoint", "synced_once"),
    "fsync-bound-log": ("fsync_bound_log", "fsync_bound_checkpoint"),
    "small-files": ("labels", "large_reads"),
    "straggler": ("straggler", "even_ranks"),
}
COPIES = ("silo_copy", "summary")
SPREAD = ("many_files", "many_processes")  # opens, but not of the same files by one process


class FindingTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume, cls.other = cls.make_volume(192), cls.make_volume(96)
        trouble.prepare(cls.volume.mount)
        programs = sorted({program for pair in (*PAIRS.values(), COPIES, SPREAD) for program in pair})
        path = os.path.join(cls.directory, "all.rec")
        # One after the other, each a job of its own.
        command = [harness.PYTHON, "-I", "-S", PROGRAM, "one_by_one", cls.volume.mount, cls.other.mount, *programs]
        done = harness.record(path, command)
        if done.returncode or done.stderr:
            raise AssertionError(f"record: exit {done.returncode}: {done.stderr}")
        cls.report = harness.report(path)

    def found(self, program, mount):
        """What is found of a program on a volume."""
        names = [volume["volume"] for job in self.report.data["jobs"] for volume in job["volumes"]
                 if job["job"] == program and mount in volume["mounts"]]
        self.assertEqual(1, len(names), program)
        return {one["id"]: one for one in self.report.data["findings"]
                if one["job"] == program and one["volume"] in names}

    def assert_whole(self, finding):
        self.assertIn(finding["severity"], SEVERITIES)
        self.assertEqual("op_seconds", finding["cost"]["unit"])
        self.assertLessEqual(0, finding["cost"]["low"])
        self.assertLessEqual(finding["cost"]["low"], finding["cost"]["high"])
        self.assertTrue(0 < finding["confidence"] <= 1, finding)
        self.assertTrue(finding["gain"] is None or 0 <= finding["gain"] <= 1, finding)
        self.assertTrue(finding["evidence"] and finding["remedy"])

    def pair(self, rule, shows, shows_not, mount):
        found = self.found(shows, mount)
        self.assertIn(rule, found)
        self.assert_whole(found[rule])
        self.assertNotIn(rule, self.found(shows_not, mount))

    def test_copies_between_volumes(self):
        self.pair("silo-copy", *COPIES, self.other.mount)

    def test_reopened_files_and_others(self):
        """What is opened again is told by which files they are, not by their sizes."""
        found = self.found("reopened_files", self.volume.mount)["reopened-files"]
        self.assertEqual(("opens_per_file", 6000), (found["metric"], found["value"]))
        self.assertIn("6,000 opens; distinct files: 1; their bytes: 32 MiB", found["evidence"])
        for program in SPREAD:
            self.assertNotIn("reopened-files", self.found(program, self.volume.mount), program)

    def test_reopened_files_in_a_database(self):
        """There are no processes in what comes there: it is as well found, and less sure."""
        directory = os.path.join(collecting.ROOT, "findings")
        collector = collecting.Collector("--embedded", directory).wait_ready()
        self.addCleanup(collector.stop)
        sent = harness.must([harness.unblend(), "payload", self.path("all.rec")]).encode()
        done = collecting.command("enroll", json.loads(sent.splitlines()[0])["node"], "--embedded", directory)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(200, collector.post(sent, done.stdout.strip())[0])
        found = {}
        for job in ("reopened_files", "many_files", "opened_once"): # by itself, as beside a slow disk it may be a trifle
            text = harness.must([harness.unblend(), "report", "--format", "json", "--job", job, "--db",
                                 f"host={directory} port=5432 dbname=unblend user=unblend"])
            found |= {one["job"]: one for one in json.loads(text)["findings"] if one["id"] == "reopened-files"}
        one, same = found["reopened_files"], self.found("reopened_files", self.volume.mount)["reopened-files"]
        self.assertEqual((same["value"], same["evidence"][0]), (one["value"], one["evidence"][0]))
        self.assertLess(one["confidence"], same["confidence"])
        self.assertFalse({"many_files", "opened_once"} & set(found), found)

    def test_cache_thrash(self):
        """What a device read for whom is known of the job of a recording's own command."""
        for program, expected in (("cache_thrash", True), ("reread_files", False)):
            report = self.record([harness.PYTHON, "-I", "-S", PROGRAM, program, self.volume.mount])
            self.assertEqual(expected, "cache-thrash" in [one["id"] for one in report.data["findings"]], program)

    def test_sync_writes(self):
        """So is what it wrote for whom."""
        for program, expected in (("sync_writes", True), ("small_writes", False), ("fsync_bound_log", False)):
            report = self.record([harness.PYTHON, "-I", "-S", PROGRAM, program, self.volume.mount])
            self.assertEqual(expected, "sync-writes" in [one["id"] for one in report.data["findings"]], program)

    def test_the_dearest_come_first(self):
        costs = [one["cost"]["high"] for one in self.report.data["findings"]]
        self.assertEqual(sorted(costs, reverse=True), costs)

    def test_ten_are_shown_and_no_trifles(self):
        text = harness.must([harness.unblend(), "report", self.path("all.rec")])
        shown = text[text.index("Findings"):].split("\n\n", maxsplit=1)[0]
        start, end = (datetime.datetime.fromisoformat(self.report.data["span"][key].replace("Z", "+00:00"))
                      for key in ("start", "end"))
        findings = self.report.data["findings"]
        weighty = [one for one in findings
                   if one["severity"] != "low" or one["cost"]["high"] >= 0.01 * (end - start).total_seconds()]
        rest = len(findings) - min(10, len(weighty))
        self.assertEqual(min(10, len(weighty)), " ".join(shown.split()).count("% sure)"))
        self.assertGreater(rest, 0)
        self.assertIn(f"and {rest} ", shown)

    def test_lines_fit_a_terminal(self):
        text = harness.must([harness.unblend(), "report", self.path("all.rec")])
        self.assertEqual([], [line for line in text.splitlines() if len(line) > 80])


class ServedTest(harness.SystemTest):
    """On file systems with a server: one that takes its time to write, and does one thing after the other."""

    WRITE_S = 0.02

    def serve(self, *options):
        top = tempfile.mkdtemp(prefix="unblend-finding-")
        self.addCleanup(harness.shutil.rmtree, top, ignore_errors=True)
        source, mount = os.path.join(top, "source"), os.path.join(top, "mnt")
        os.mkdir(source)
        os.mkdir(mount)
        trouble.make(os.path.join(source, "big"), trouble.BIG)
        trouble.prepare_modules(source)
        daemon = subprocess.Popen([*options, harness.tool("bindfs"), "-f", "-o", "subtype=sshfs", source, mount])
        self.addCleanup(self.end, daemon, mount)
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.ismount(mount):
            self.assertLess(time.monotonic(), deadline, "bindfs did not mount")
            time.sleep(0.05)
        return daemon, mount

    @staticmethod
    def end(daemon, mount):
        harness.run([harness.tool("umount"), "-l", mount])
        daemon.terminate()
        daemon.wait(PATIENCE_S)

    def watch(self, program, *arguments, options=()):
        command = [harness.PYTHON, "-I", "-S", PROGRAM, program, *arguments]
        done = harness.record(self.path("served.rec"), command, *options)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return harness.report(self.path("served.rec"))

    def test_who_writes_stops_who_reads(self):
        slow = (harness.tool("strace"), "-f", "-qq", "-o", "/dev/null",
                "-e", "trace=pwrite64,write,writev,pwritev",
                "-e", f"inject=pwrite64:delay_enter={int(self.WRITE_S * 1e6)}")
        _, mount = self.serve(*slow)
        report = self.watch("together", mount, "loader", "saver", options=("-i", "0.5"))
        found = {one["id"]: one for one in report.data["findings"] if one["job"] == "loader"}
        for rule in ("checkpoint-stops-readers", "noisy-neighbour"):
            self.assertIn(rule, found, [(one["id"], one["job"], one["value"]) for one in report.data["findings"]])
            self.assertGreater(found[rule]["value"], 2)
        self.assertIn("saver", found["noisy-neighbour"]["evidence"][0])
        met = [one for one in report.data["cluster"]["overlaps"] if (one["job"], one["with"]) == ("loader", "saver")]
        met = max(met, key=lambda one: one["seconds"])
        if met["latency_alone_low_ns"] is not None:  # enough intervals alone
            self.assertLessEqual(met["latency_alone_low_ns"], met["latency_alone_ns"])
            self.assertLessEqual(met["latency_alone_ns"], met["latency_alone_high_ns"])
        self.assertLess(met["ops_s_together"], met["ops_s_alone"])
        report = self.watch("one_by_one", mount, mount, "loader", "saver", options=("-i", "0.5"))
        found = {one["id"] for one in report.data["findings"]}
        self.assertFalse({"checkpoint-stops-readers", "noisy-neighbour"} & found, found)

    def test_imports_from_shared_storage(self):
        _, mount = self.serve()
        found = {one["id"]: one for one in self.watch("imports", mount).data["findings"]}
        self.assertIn("imports-from-shared-storage", found)
        trouble.prepare_modules(self.directory)
        found = {one["id"] for one in self.watch("imports", self.directory).data["findings"]}
        self.assertNotIn("imports-from-shared-storage", found)

    def test_a_hung_mount(self):
        daemon, mount = self.serve()
        report = self.watch("read_one", mount)
        self.assertNotIn("hung-mount", {one["id"] for one in report.data["findings"]})
        daemon.send_signal(signal.SIGSTOP)
        path = self.path("hung.rec")
        command = [harness.unblend(), "record", "-o", path, "-d", "8", "--", harness.PYTHON, "-I", "-S", PROGRAM,
                   "read_one", mount]
        recorder = subprocess.Popen(command, env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(recorder.communicate, timeout=PATIENCE_S)
        self.addCleanup(daemon.send_signal, signal.SIGCONT)
        time.sleep(3)
        deadline = time.monotonic() + PATIENCE_S
        found = {}
        while "hung-mount" not in found:
            self.assertLess(time.monotonic(), deadline, "it was not found")
            time.sleep(0.5)
            done = harness.run([harness.unblend(), "report", "--format", "json", path])
            found = {one["id"]: one for one in json.loads(done.stdout)["findings"]} if done.stdout else {}
        self.assertEqual("critical", found["hung-mount"]["severity"])

    def test_a_missing_hook_is_named(self):
        _, mount = self.serve()
        self.watch("imports", mount)
        sure = harness.report(self.path("served.rec")).data["findings"]
        batches = harness.batches(self.path("served.rec"))
        for batch in batches:
            batch["coverage"]["hooks"].append({"hook": "sys_exit", "state": "unavailable", "why": "it was taken away"})
        unsure = harness.report(harness.write_recording(self.path("lacking.rec"), batches)).data["findings"]
        self.assertEqual([one["id"] for one in sure], [one["id"] for one in unsure])
        for one, other in zip(sure, unsure):
            self.assertLess(other["confidence"], one["confidence"])
            self.assertTrue(any("it was taken away" in sentence for sentence in other["evidence"]), other)


def add_cases():
    for rule, (shows, shows_not) in PAIRS.items():
        def test(self, rule=rule, shows=shows, shows_not=shows_not):
            self.pair(rule, shows, shows_not, self.volume.mount)
        setattr(FindingTest, "test_" + rule.replace("-", "_"), test)


add_cases()

if __name__ == "__main__":
    harness.main()
