# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files are opened, how large they are together and how often they are read: exact for few, a sample for many."""
import json
import os

import harness

# DIRECTORY FIRST END TIMES...: reads those files so often, then the next ones.
PROGRAM = """
import os, sys
words = sys.argv[1:]
while words:
    directory, first, end, times = words[0], *map(int, words[1:4])
    words = words[4:]
    for turn in range(times):
        for n in range(first, end):
            fd = os.open(f"{directory}/{n % 64}/{n}", os.O_RDONLY)
            os.read(fd, 100000)
            os.close(fd)
"""


def size_of(n):
    return 100 + n % 900


class WorkingSetTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.memory = cls.make_memory()
        cls.make_files(cls.memory, 20000)

    @staticmethod
    def make_files(directory, count):
        for n in range(64):
            os.mkdir(os.path.join(directory, str(n)))
        for n in range(count):
            with open(os.path.join(directory, str(n % 64), str(n)), "wb") as file:
                file.write(bytes(size_of(n)))

    def command(self, *words):
        """Without a directory before them, words are about files in memory."""
        return [harness.PYTHON, "-I", "-S", "-c", PROGRAM, *([] if len(words) > 3 else [self.memory]), *map(str, words)]

    @staticmethod
    def working_set(report, mount="/dev/shm"):
        found = [volume["working_set"] for job in report.data["jobs"] for volume in job["volumes"]
                 if volume["volume"].endswith(mount) or mount in volume["mounts"]]
        return found[0]

    def test_few_files_are_counted_exactly(self):
        report = self.record(self.command(0, 500, 4))
        found = self.working_set(report)
        self.assertEqual(1, found["sampled"])
        size = sum(size_of(n) for n in range(500))
        exact = {key: {"value": value, "low": value, "high": value} for key, value in (("files", 500), ("bytes", size))}
        self.assertEqual([{"window_s": 3600, **exact, "read_bytes": 4 * size, "reread": 4}], found["windows"])
        text = harness.must([harness.unblend(), "report", self.path("unblend.rec")])
        self.assertRegex(text, r"working set on .*: 500 files of \d.* KiB, read 4 times\n")

    def test_many_files_are_estimated(self):
        report = self.record(self.command(0, 20000, 2))
        found = self.working_set(report)
        self.assertLess(found["sampled"], 1)
        files, size = found["windows"][0]["files"], found["windows"][0]["bytes"]
        self.assertTrue(0 < files["low"] < files["value"] < files["high"] < 1.5 * files["value"])
        # Inode numbers are what they are: nearly five standard errors.
        self.assertLess(abs(files["value"] - 20000), 2.4 * (files["high"] - files["value"]))
        truth = sum(size_of(n) for n in range(20000))
        self.assertLess(abs(size["value"] - truth), 2.4 * (size["high"] - size["value"]))
        self.assertAlmostEqual(2, found["windows"][0]["reread"], delta=0.5)

    def test_large_files_are_not_left_out(self):
        """Four shards have most of the bytes that are opened beside so many others, and are known one by one."""
        mount = self.mount_tmpfs(self.path("mixed"))
        self.make_files(mount, 5000)
        for n in range(5000, 5004):
            with open(os.path.join(mount, str(n % 64), str(n)), "wb") as file:
                file.truncate(64 << 20)
        found = self.working_set(self.record(self.command(mount, 0, 5004, 1)), mount)
        size = found["windows"][0]["bytes"]
        self.assertLess(found["sampled"], 1)
        truth = (4 * 64 << 20) + sum(size_of(n) for n in range(5000))
        self.assertTrue(4 * 64 << 20 < size["low"] <= size["value"] <= size["high"] < (4 * 64 + 8 << 20), size)
        self.assertLess(abs(size["value"] - truth), 2.4 * (size["high"] - size["value"]))

    def test_few_files_beside_many(self):
        """A thread that has opened so many files that most are left out goes to others, of which none is, in the same second."""
        other = self.mount_tmpfs(self.path("other"))
        self.make_files(other, 500)
        report = self.record(self.command(self.memory, 0, 20000, 1, other, 0, 500, 1))
        found = self.working_set(report, other)
        self.assertEqual((1, 500), (found["sampled"], found["windows"][0]["files"]["value"]))
        self.assertLess(self.working_set(report)["sampled"], 1)

    def test_processes_and_recordings_add_up(self):
        """The same files of two processes, and in two recordings, are the same files."""
        script = " & ".join(" ".join(f"'{word}'" for word in self.command(first, first + 200, 1)) for first in (0, 100))
        report = self.record(["sh", "-c", script + "; wait"])
        self.assertEqual(300, self.working_set(report)["windows"][0]["files"]["value"])
        self.record(self.command(250, 400, 1), name="second.rec")
        both = harness.must([harness.unblend(), "report", "--format", "json", "--by", "node", self.path("unblend.rec"),
                             self.path("second.rec")])
        found = [volume["working_set"] for volume in json.loads(both)["jobs"][0]["volumes"]
                 if "/dev/shm" in volume["mounts"]]
        self.assertEqual(400, found[0]["windows"][0]["files"]["value"])

    def test_no_file_was_opened(self):
        """What was open before is in no working set, and that is said."""
        report = self.record(["stat", os.path.join(self.memory, "1", "1")])
        self.assertIsNone(self.working_set(report))
        self.assertTrue([hook for hook in report.coverage["hooks"] if hook["hook"] == "working-set"
                         and "null" in hook["why"]])
