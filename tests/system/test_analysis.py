#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A part of the ground truth (tests/workload/truth): real programs that need no packages, each named as what it is.

And what depends on recordings of several programs: learning a profile, unmixing a volume's sum, and recordings that
are not as they should be.
"""
import json
import os
import subprocess
import sys
import tempfile

import harness
from harness import PYTHON, SystemTest

TRUTH = os.path.join(harness.SOURCE, "tests/workload/truth")
sys.path.insert(0, TRUTH)
import data  # noqa: E402
import programs  # noqa: E402
import score  # noqa: E402

SECONDS = 1.2
NAMES = ("pread-records", "seek-records", "tarfile-samples", "cat-shards", "tar-list", "find-scan", "du-scan",
         "walk-scan", "dd-copy", "raw-save", "log-writer", "untar")
BLEND = ("pread-records", "walk-scan", "raw-save")
# What checksums of 6,400 images (7z h -scrcCRC32) were counted as, without their process.
CHECKSUMS = (
    {"op": "stat", "errors": 8, "error_codes": {"ENOENT": 8}, "order": [0, 881, 7256], "latency_ns": "60:8137"},
    {"op": "open", "size": "136:6000 1:400", "latency_ns": "60:7281"},
    {"op": "close", "latency_ns": "60:7281"},
    {"op": "seek", "latency_ns": "60:19200"},
    {"op": "readdir", "latency_ns": "60:1762"},
    {"op": "read", "bytes": 3596654320, "latency_ns": "60:119360", "order": [0, 112960, 0],
     "size": "0:6400 13:40 37:40 9:40 2:40 1:40 1:40 1:40 1:40 1:40 2:120 4:40 2:80 1:120 1:80 1:40 2:40 3:40 1:120 1:160 "
             "2:40 1:160 1:280 1:120 1:360 1:120 1:160 1:160 1:160 1:480 1:560 1:320 1:480 1:360 1:400 1:400 1:200 1:440 "
             "1:106560"},
)


class AnalysisTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(1600)
        cls.recordings = {name: cls.record_program(name) for name in NAMES}

    @classmethod
    def record_program(cls, name):
        root = data.ensure(cls.volume.mount, programs.PROGRAMS[name].needs)
        path = os.path.join(cls.directory, name + ".rec")
        with tempfile.TemporaryDirectory(dir=cls.volume.mount) as out:
            done = harness.record(path, [PYTHON, os.path.join(TRUTH, "programs.py"), name, root, out,
                                         str(SECONDS), "1"])
        if done.returncode:
            raise AssertionError(f"{name}: {done.stderr}")
        return path

    def test_programs_are_what_they_are(self):
        said = {name: score.classify(path, self.volume.mount)[0] for name, path in self.recordings.items()}
        self.assertEqual({name: programs.PROGRAMS[name].truth for name in NAMES}, said)

    def volume_name(self, name):
        return next(volume["volume"] for job in harness.report(self.recordings[name]).data["jobs"]
                    for volume in job["volumes"] if self.volume.mount in volume["mounts"])

    def test_a_learned_profile_is_found(self):
        profiles = self.path("profiles")
        os.makedirs(profiles)
        out = os.path.join(profiles, "walker.json")
        text = harness.must([harness.unblend(), "learn", "walker", "-o", out, "--volume", self.volume_name("walk-scan"),
                             self.recordings["walk-scan"]])
        self.assertIn("shard-streaming", text)
        self.assertRegex(text, r"ingest-scan +not told apart")
        found = score.classify(self.recordings["walk-scan"], self.volume.mount, "--profiles", profiles)
        self.assertEqual("walker", found[0])
        other = score.classify(self.recordings["cat-shards"], self.volume.mount, "--profiles", profiles)
        self.assertEqual("shard-streaming", other[0])

    def test_who_looks_about_beside_what_is_learned_is_no_part_of_it(self):
        folder = os.path.join(self.volume.mount, "beside")
        os.makedirs(folder)
        for i in range(60):
            with open(os.path.join(folder, str(i)), "wb"):
                pass
        large, recording = os.path.join(self.volume.mount, "large"), self.path("beside.rec")
        with open(large, "wb") as file:
            file.truncate(512 << 20)
        done = harness.record(recording, ["sh", "-c", f"for i in 1 2 3; do ls -l {folder}; done; cat {large} > /dev/null"],
                              stdout=subprocess.DEVNULL)
        self.assertEqual(0, done.returncode)
        text = harness.must([harness.unblend(), "learn", "reader", "-o", self.path("reader.json"),
                             "--volume", self.volume_name("walk-scan"), recording])
        self.assertIn("from 1 process", text)

    def test_learning_wants_all_it_needs(self):
        for arguments, words in ((["x"], "no recording"), (["x", self.recordings["untar"]], "-o is missing"),
                                 (["-o", "y"], "no name")):
            done = harness.run([harness.unblend(), "learn", *arguments])
            self.assertEqual(2, done.returncode)
            self.assert_one_line(done.stderr, words)
        done = harness.run([harness.unblend(), "learn", "x", "-o", self.path("x"), "--volume", "none",
                            self.recordings["untar"]])
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "too little")

    def rewrite(self, name, change, *recordings):
        """A recording of the batches of others, as they come back from change()."""
        return harness.write_recording(self.path(name), [change(batch) for recording in recordings
                                                         for batch in harness.batches(recording)])

    def sums(self, recording):
        """Operations and bytes of a program on the volume."""
        for job in harness.report(recording, "--by", "volume").data["jobs"]:
            if any(self.volume.mount in volume["mounts"] for volume in job["volumes"]):
                ops = {op: one for op, one in job["ops"].items() if not op.startswith("block_")}
                return sum(one["ops"] for one in ops.values()), sum(one["bytes"] for one in ops.values())
        raise AssertionError("nothing on the volume")

    def test_a_sum_of_one_program_is_no_blend(self):
        """It walks its folders as well, which no recipe of images says; what it could be then is in the intervals."""
        batch = harness.batches(self.recordings["du-scan"])[0]
        batch.update(processes=[], jobs=batch["jobs"][:1], volumes=batch["volumes"][:1], flows=[], storage=[],
                     records=[{"job": 0, "volume": 0, "bytes": 0, "errors": 0, "latency_sum_ns": 1000000, **record}
                              for record in CHECKSUMS])
        path = harness.write_recording(self.path("checksums.rec"), [batch])
        for options in ((), ("--by", "volume")):
            said = [one for one in harness.report(path, *options).data["jobs"][0]["profiles"]
                    if one["kind"] == "pattern" and one["share_ops"]]
            self.assertEqual([("cv-training", 1, 1)],
                             [(one["profile"], one["share_ops"], one["share_bytes"]) for one in said])
            low, high = said[0]["share_ops_interval"]
            self.assertLess(low, 0.97)
            self.assertEqual(1, high)

    def test_a_volume_is_unmixed_without_processes(self):
        def anonymous(batch):
            batch["processes"] = []
            records = {}
            for record in batch["records"]:
                record.pop("process", None)
                mounts = batch["volumes"][record["volume"]]["mounts"]
                if self.volume.mount in mounts and not record["op"].startswith("block_"):
                    records.setdefault((record["job"], record["volume"], record["op"]), []).append(record)
            batch["records"] = [one for same in records.values() for one in same[:1]]
            batch.pop("flows", None)  # with slot_ms, it is only there when something moved
            return batch

        stripped = [self.rewrite(f"{name}-sum.rec", anonymous, self.recordings[name]) for name in BLEND]
        truth = {programs.PROGRAMS[name].truth: self.sums(path) for name, path in zip(BLEND, stripped)}
        whole = [sum(values) for values in zip(*truth.values())]
        job = [job for job in harness.report(stripped[0], "--by", "volume", *stripped[1:]).data["jobs"]
               if any(self.volume.mount in volume["mounts"] for volume in job["volumes"])][0]
        found = {one["profile"]: one for one in job["profiles"] if one["kind"] == "pattern"}
        for profile, (ops, size) in truth.items():
            self.assertIn(profile, found)
            self.assertAlmostEqual(ops / whole[0], found[profile]["share_ops"], delta=0.05, msg=profile)
            self.assertAlmostEqual(size / whole[1], found[profile]["share_bytes"], delta=0.05, msg=profile)

    def test_clocks_may_jump_and_intervals_be_missing(self):
        def shift(batch):
            shift.count += 1
            batch["start_ns"] += (0, 3600, -86400)[shift.count % 3] * 10**9
            return batch

        shift.count = 0
        jumped = self.rewrite("jumped.rec", shift, self.recordings["cat-shards"])
        self.assertEqual(self.sums(self.recordings["cat-shards"]), self.sums(jumped))
        self.assertEqual("shard-streaming", score.classify(jumped, self.volume.mount)[0])

    def test_an_empty_window_is_no_failure(self):
        empty = harness.report(self.recordings["untar"], "--until", "2001-01-01T00:00:00Z")
        self.assertEqual([], empty.data["jobs"])
        self.assertIsNone(empty.data["cluster"]["effective_profiles"])

    def test_one_record_is_too_little_to_name(self):
        def one(batch):
            batch["records"] = [record for record in batch["records"] if record["op"] == "open"][:1]
            batch["records"][0:1] = [{**record, "latency_ns": "80", "latency_sum_ns": 1000, "errors": 0, "size": ""}
                                     for record in batch["records"]]
            for record in batch["records"]:
                record.pop("error_codes", None)
            batch.pop("flows", None)  # with slot_ms, it is only there when something moved
            return batch

        first = self.rewrite("one.rec", one, self.recordings["untar"])
        for job in harness.report(first).data["jobs"]:
            self.assertEqual(["unknown"], [p["profile"] for p in job["profiles"] if p["kind"] == "pattern"])

    def test_counts_of_any_length_stand_in_their_columns(self):
        def many(batch):
            first = batch["records"][0]
            batch["records"] = [{"job": first["job"], "volume": first["volume"], "op": "stat", "bytes": 0, "errors": 12345678,
                                 "error_codes": {"ENOENT": 12345678}, "latency_ns": "60:30000000000", "latency_sum_ns": 10**13}]
            for key in ("flows", "slot_ms"):
                batch.pop(key, None)
            return batch

        path = self.rewrite("many.rec", many, self.recordings["untar"])
        text = harness.must([harness.unblend(), "report", path])
        self.assertRegex(text, r"\n  stat  +[\d.]+G +[\d.]+M +")
        self.assertEqual([], [line for line in text.splitlines() if len(line) > 80])

    def test_a_missing_hook_lowers_confidence_and_is_named(self):
        def lacking(batch):
            for hook in batch["coverage"]["hooks"]:
                if hook["hook"] == "mmap_fault":
                    hook.update(state="unavailable", why="a test")
            return batch

        path = self.rewrite("lacking.rec", lacking, self.recordings["cat-shards"])
        before = score.classify(self.recordings["cat-shards"], self.volume.mount)
        after = score.classify(path, self.volume.mount)
        self.assertEqual(before[0], after[0])
        self.assertLess(after[1], before[1])
        evidence = [line for job in harness.report(path).data["jobs"] for one in job["profiles"]
                    for line in one["evidence"]]
        self.assertTrue(any("mmap_fault" in line and "a test" in line for line in evidence))

    def test_another_version_is_told_by_its_name(self):
        path = self.path("later.rec")
        with open(self.recordings["untar"], "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(b"UNBLEND9" + content[8:])
        done = harness.run([harness.unblend(), "report", path])
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, path)


if __name__ == "__main__":
    harness.main()
