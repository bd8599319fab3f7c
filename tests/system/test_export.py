#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded, exported, run by fio and recorded again is much the same."""
import os

import harness

PROGRAM = os.path.join(harness.SOURCE, "tests/system/mixture.py")

# From its documentation, by section.
DLIO_KEYS = {
    "model": {"name", "model_size_bytes"},
    "framework": set(),
    "workflow": {"generate_data", "train", "checkpoint"},
    "dataset": {"data_folder", "format", "num_files_train", "num_samples_per_file", "record_length_bytes",
                "record_length_bytes_stdev"},
    "reader": {"data_loader", "batch_size", "read_threads", "file_shuffle", "sample_shuffle"},
    "train": {"epochs", "computation_time"},
    "checkpoint": {"checkpoint_folder", "steps_between_checkpoints", "fsync"},
}


class ExportTest(harness.SystemTest):
    def record_on(self, name, command, volume, **options):
        path = self.path(name + ".rec")
        done = harness.record(path, command, **options)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        report = harness.report(path)
        found = [one for one in report.job()["volumes"] if volume.mount in one["mounts"]]
        self.assertEqual(1, len(found))
        return found[0]

    def export(self, *arguments):
        return harness.run([harness.unblend(), "export", *arguments])

    def round_trip(self, name, *options):
        first, second = self.make_volume(160), self.make_volume(160)
        before = self.record_on(name, [harness.PYTHON, "-I", "-S", PROGRAM, name, first.mount], first)
        job = self.path(name + ".fio")
        done = self.export("fio", "-o", job, "--volume", before["volume"], *options, self.path(name + ".rec"))
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        fio = [harness.tool("fio"), "--output=" + self.path(name + ".out"), job]
        after = self.record_on(name + "-again", fio, second, cwd=second.mount)
        with open(job, encoding="utf-8") as file:
            return before, after, file.read()

    def assert_same(self, before, after):
        for ratio in ("read_ops", "read_bytes"):
            self.assertAlmostEqual(before["ratios"][ratio], after["ratios"][ratio], delta=0.01, msg=ratio)
        for operation in ("read", "write"):
            for quantile in ("p50", "p95", "p99"):
                self.assertEqual(before["ops"][operation]["size"][quantile], after["ops"][operation]["size"][quantile],
                                 (operation, quantile))
            self.assertAlmostEqual(1, after["ops"][operation]["bytes"] / before["ops"][operation]["bytes"], delta=0.01)
            self.assertAlmostEqual(1, after["ops"][operation]["ops"] / before["ops"][operation]["ops"], delta=0.01)

    def test_many_files(self):
        before, after, text = self.round_trip("files")
        self.assert_same(before, after)
        for operation in ("create", "stat", "unlink"):
            recorded, again = (harness.count(one["ops"], operation)[0] for one in (before, after))
            self.assertAlmostEqual(1, again / recorded, delta=0.1, msg=operation)
        self.assertEqual(before["ops"]["read"]["size"]["zero"], after["ops"]["read"]["size"]["zero"])
        self.assertIn("fio is not told of", text)

    def test_more_sizes_than_splits(self):
        before, after, text = self.round_trip("sizes")
        self.assertGreater(len(before["ops"]["read"]["size"]["histogram"]), 64)
        self.assertIn("bssplit=", text)
        self.assertIn("thinktime=", text)
        self.assert_same(before, after)

    def test_one_size(self):
        before, after, text = self.round_trip("stream")
        self.assert_same(before, after)
        self.assertNotIn("percentage_random", text)

    def dlio(self, name):
        done = self.export("dlio", "--volume", self.volume_of(name), self.path(name + ".rec"))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        found, section = {}, None
        for line in done.stdout.splitlines():
            if line and not line.startswith("#"):
                key, _, value = line.strip().partition(":")
                section = section if line.startswith(" ") else key
                self.assertIn(key, DLIO_KEYS[section] if line.startswith(" ") else DLIO_KEYS)
                found[key] = value.strip()
        return found

    def volume_of(self, name):
        volume = self.make_volume(160)
        return self.record_on(name, [harness.PYTHON, "-I", "-S", PROGRAM, name, volume.mount], volume)["volume"]

    def test_dlio_keys_are_those_it_knows(self):
        samples = self.dlio("files")
        self.assertEqual(("600", "1"), (samples["num_files_train"], samples["num_samples_per_file"]))
        self.assertEqual("npz", samples["format"])
        self.assertAlmostEqual(12288, int(samples["record_length_bytes"]), delta=1600)
        shards = self.dlio("stream")
        self.assertEqual("tfrecord", shards["format"])
        self.assertEqual("262144", shards["record_length_bytes"])

    def test_wrong_use(self):
        for arguments, words in (([], "fio or dlio"), (["tar", "x"], "'tar'"), (["fio"], "no recording"),
                                 (["fio", "--db", "x", "y"], "both")):
            done = self.export(*arguments)
            self.assertEqual(2, done.returncode)
            self.assert_one_line(done.stderr, words)
        done = self.export("fio", self.path("none"))
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "none")


if __name__ == "__main__":
    harness.main()
