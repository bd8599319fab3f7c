# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel memory is bounded, and what does not fit is counted under a coarser key: ten thousand processes at once."""
import json
import os
import re
import subprocess

import harness

PROCESSES = 10000
MIB = 1 << 20
# Beside its size: the state of threads, for which there is always room.
STATES = 16384 * 448


def kernel_memory(pid):
    """What the kernel says that the maps and programs of a process take."""
    objects = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                info = dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.MULTILINE))
        except OSError:
            continue
        if "memlock" in info:
            objects[info.get("map_id", "program " + info.get("prog_id", ""))] = int(info["memlock"])
    return sum(objects.values())


def latency_sums(recording, mount):
    """The time that calls on a volume have taken together, by operation."""
    sums = {}
    for batch in harness.batches(recording):
        for record in batch["records"]:
            if mount in batch["volumes"][record["volume"]]["mounts"]:
                sums[record["op"]] = sums.get(record["op"], 0) + record["latency_sum_ns"]
    return sums


ALONE = True  # see tests/system/run


class BoundedTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.crowd = os.path.join(harness.bindir(), "tests/workload/crowd")
        cls.disk = cls.make_volume(32).mount
        cls.memory = cls.make_memory()
        # The file is there before anybody counts.
        harness.must([cls.crowd, cls.disk, cls.memory])

    def record_crowd(self, name, *options, processes=PROCESSES, threads=1, rounds=1):
        """The report, what was really done by mount point, and the kernel memory while all are alive."""
        recording = self.path(name)
        recorder = subprocess.Popen(
            [harness.unblend(), "record", "-o", recording, *options, "--", self.crowd, "-n", "-s", "1500",
             "-p", str(processes), "-t", str(threads), "-r", str(rounds), self.disk, self.memory],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=harness.environment())
        memory = 0
        while True:
            try:
                done, said = recorder.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                memory = max(memory, kernel_memory(recorder.pid))
        self.assertEqual((0, ""), (recorder.returncode, said))
        return harness.report(recording), json.loads(done), memory

    def check_totals(self, report, done):
        for mount, directory in ((self.disk, self.disk), ("/dev/shm", self.memory)):
            ops = report.volume(mount)
            for name, (count, size) in done[directory].items():
                if count:
                    self.assertEqual((count, size, 0), harness.count(ops, name), f"{name} on {mount}")

    def check_latency(self, report, name):
        """The sum of times lies where the histogram says, whichever way an operation was counted."""
        for mount in (self.disk, "/dev/shm"):
            sums = latency_sums(self.path(name), mount)
            for operation, cell in report.volume(mount).items():
                cells = cell["latency_ns"]["histogram"]
                self.assertEqual(cell["ops"], sum(count for low, high, count in cells))
                self.assertTrue(sum(low * count for low, high, count in cells) <= sums[operation] <=
                                sum(high * count for low, high, count in cells), f"{operation} on {mount}")

    def test_ten_thousand_processes_fit(self):
        report, done, memory = self.record_crowd("fit.rec")
        self.check_totals(report, done)
        self.check_latency(report, "fit.rec")
        self.assertEqual((0, 0), (report.lost(), report.coverage["overflow_ops"]))
        self.assertLess(16 * MIB, memory)
        self.assertLess(memory + PROCESSES * 448, 64 * MIB)

    def test_what_does_not_fit_is_counted_coarser(self):
        for size in (2, 16):
            with self.subTest(f"{size} MiB"):
                report, done, memory = self.record_crowd("coarse.rec", "--kernel-memory", f"{size}M")
                self.check_totals(report, done)
                self.check_latency(report, "coarse.rec")
                self.assertEqual(0, report.lost())
                self.assertGreater(report.coverage["overflow_ops"], 0)
                self.assertLess(memory, size * MIB)
                self.assertLess(memory + PROCESSES * 448, max(size * MIB, STATES + 4 * MIB))

    def test_threads_without_a_state_are_counted(self):
        """More threads than may have one: each of their calls borrows one, and counts for its job alone, or as lost
        where too many are in calls at once, as behind a lock whose holder does not run."""
        report, done, _ = self.record_crowd("threads.rec", "-a", "--kernel-memory", "16M",
                                            processes=1000, threads=20)
        totals = {}
        for job in report.data["jobs"]:
            for volume in job["volumes"]:
                for mount, directory in ((self.disk, self.disk), ("/dev/shm", self.memory)):
                    if mount in volume["mounts"]:
                        for name, cell in volume["ops"].items():
                            key = directory, name
                            totals[key] = totals.get(key, 0) + cell["ops"]
        missing = [ops["write"][0] - totals[directory, "write"] for directory, ops in done.items()]
        self.assertTrue(all(0 <= ops < done[self.disk]["write"][0] / 2 for ops in missing), missing)
        # Others of the node may read the same volumes, and what they lose is lost, too.
        missing += [max(0, ops["read"][0] - totals[directory, "read"]) for directory, ops in done.items()]
        self.assertLessEqual(sum(missing), report.coverage["lost_ops"])
        self.assertGreater(report.coverage["overflow_ops"], 0)
