# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's own account of its I/O and the recording's must agree, to the operation and to the byte."""
import json
import os

import harness

# Block size, and so many MiB (or a multiple of the block size close to it) for each of fio's jobs.
BLOCKS = {"4k": (4096, 8 << 20), "100k": (102400, 102400 * 160), "1m": (1 << 20, 24 << 20)}
READ_SHARE = 47


def bucket_lower(value):
    """The lower bound of a value's bucket: eight buckets an octave."""
    shift = max(value.bit_length() - 4, 0)
    return value >> shift << shift


class FioTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(256)

    def fio(self, block, jobs, direct):
        """The command; it writes nothing but its job's data on the volume."""
        _, size = BLOCKS[block]
        return [harness.tool("fio"), "--name=job", f"--directory={self.volume.mount}",
                "--filename_format=$jobnum", "--ioengine=psync", "--rw=randrw",
                f"--rwmixread={READ_SHARE}", f"--bs={block}", f"--size={size}", f"--numjobs={jobs}",
                f"--direct={direct}", "--group_reporting", "--randseed=1", "--output-format=json",
                f"--output={self.path('fio.json')}"]

    def lay_out(self, command):
        harness.must([*command, "--create_only=1"], cwd=self.directory)

    def compare(self, block, jobs, direct):
        command = self.fio(block, jobs, direct)
        self.lay_out(command)
        report = self.record([*command, "--allow_file_create=0"], cwd=self.directory)
        with open(self.path("fio.json"), encoding="utf-8") as file:
            (job,) = json.load(file)["jobs"]
        ops = report.volume(self.volume.mount)
        bytes_, size = BLOCKS[block]
        self.assertEqual(job["read"]["io_bytes"] + job["write"]["io_bytes"], size * jobs)
        for name in ("read", "write"):
            with self.subTest(operation=name):
                self.assertGreater(job[name]["total_ios"], 0)
                self.assertEqual(harness.count(ops, name),
                                 (job[name]["total_ios"], job[name]["io_bytes"], 0))
                self.assert_histograms(ops[name])
                self.assertEqual(ops[name]["size"]["p50"], bucket_lower(bytes_))
                self.assertEqual(ops[name]["size"]["zero"], 0)
        self.assertEqual(0, report.lost())
        for name in ("overflow_ops", "killed_ops", "unattributed_ops"):
            self.assertEqual(report.coverage[name], 0, name)
        # fio makes the directories of its files, which are there: each mkdir fails, and nothing else.
        self.assertEqual([op for op in ops if op != "mkdir" and ops[op]["errors"]], [])
        self.assertEqual(ops["mkdir"]["errors"], ops["mkdir"]["ops"])
        return report, ops

    def assert_histograms(self, operation):
        for name in ("size", "latency_ns"):
            total = sum(count for _, _, count in operation[name]["histogram"])
            self.assertEqual(total, operation["ops"], name)

    def buffered(self, block, jobs):
        self.compare(block, jobs, direct=0)

    @harness.by_chance_unseen
    def direct(self, block, jobs):
        """Past the cache, so the device is asked for no less than the program asked for."""
        report, ops = self.compare(block, jobs, direct=1)
        device = report.device(self.volume.device)
        for name in ("read", "write"):
            asked = harness.count(device, "block_" + name)
            self.assertGreaterEqual(asked[1], ops[name]["bytes"], name)
            self.assertLess(asked[1], 2 * ops[name]["bytes"], name)
            self.assertEqual(asked[2], 0, name)
            self.assert_histograms(device["block_" + name])

    def test_open_files_stay_as_they_are(self):
        """The run that is counted finds its files complete: it makes none and fills none."""
        command = self.fio("4k", 1, 0)
        self.lay_out(command)
        before = os.stat(os.path.join(self.volume.mount, "0"))
        _, ops = self.compare("4k", 1, direct=0)
        after = os.stat(os.path.join(self.volume.mount, "0"))
        self.assertEqual((before.st_ino, before.st_size), (after.st_ino, after.st_size))
        self.assertNotIn("create", ops)


def add_cases():
    for block in BLOCKS:
        for jobs in (1, 4):
            for mode in ("buffered", "direct"):
                def test(self, block=block, jobs=jobs, mode=mode):
                    getattr(self, mode)(block, jobs)
                setattr(FioTest, f"test_{mode}_{block}_{jobs}_jobs", test)


add_cases()

if __name__ == "__main__":
    harness.main()
