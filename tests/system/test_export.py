#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded, exported, run by fio and recorded again is much the same; and it names nobody when it is not to."""
import json
import os
import re
import shutil
import subprocess

import harness
import made

AS_NODE = "import os, socket, sys; socket.sethostname(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
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

    def round_trip(self, name, *options, prepare=None):
        first, second = self.make_volume(160), self.make_volume(160)
        if prepare:
            harness.must([harness.PYTHON, "-I", "-S", PROGRAM, prepare, first.mount])
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

    def test_files_below_a_block_are_looked_at(self):
        before, after, text = self.round_trip("tiny")
        recorded, again = (harness.count(one["ops"], "stat")[0] for one in (before, after))
        self.assertAlmostEqual(1, again / recorded, delta=0.1, msg=text)

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

    def test_which_sizes_are_read_at_random(self):
        before, after, text = self.round_trip("jumps")
        self.assert_same(before, after)
        sections = re.findall(r"^rw=(read|randread)\n(?:percentage_random=(\d+)\nnorandommap=1\n)?bs=(\d+)$", text,
                              re.MULTILINE)
        self.assertEqual([("randread", "100", "4096"), ("read", "", "65536")], sorted(sections), text)
        for report in (before, after):
            jumped = {low: count for low, high, count in report["ops"]["read"]["jumped"]["histogram"]}
            self.assertAlmostEqual(1, jumped.get(4096, 0) / 2000, delta=0.01)
            self.assertLess(jumped.get(65536, 0), 10)

    def test_records_anywhere_and_small_files(self):
        before, after, text = self.round_trip("mixed", prepare="mixed_files")
        self.assert_same(before, after)
        for operation in ("open", "close", "stat"):
            recorded, again = (harness.count(one["ops"], operation)[0] for one in (before, after))
            self.assertAlmostEqual(1, again / recorded, delta=0.03, msg=operation)
        self.assertEqual(harness.count(before["ops"], "fsync"), harness.count(after["ops"], "fsync"), text)
        self.assertAlmostEqual(before["ratios"]["metadata_ops"], after["ratios"]["metadata_ops"], delta=0.02)
        recorded, again = (one["working_set"]["windows"][0]["bytes"]["value"] for one in (before, after))
        self.assertAlmostEqual(1, again / recorded, delta=0.02)
        self.assertNotRegex(text, r"of [\d,]+ (opens|syncs)")

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

    def test_dlio_is_of_the_data(self):
        """Two files, twice, by two processes; what a shell reads to begin with is none of it."""
        volume = self.make_volume(64)
        for name, size in ("list", 4096), ("a", 4 << 20), ("b", 3 << 20):
            with open(os.path.join(volume.mount, name), "wb") as file:
                file.write(bytes(size))
        script = "for i in 1 2 3 4; do cat list > /dev/null; done; cat a a > /dev/null; cat b b > /dev/null"
        name = self.record_on("helpers", ["sh", "-c", script], volume, cwd=volume.mount)["volume"]
        done = self.export("dlio", "--volume", name, self.path("helpers.rec"))
        for line in "num_files_train: 2", "read_threads: 2", "epochs: 2":
            self.assertIn(f"\n  {line}\n", done.stdout)
        mean = int(re.search(r"record_length_bytes: (\d+)", done.stdout)[1])
        self.assertAlmostEqual(1, mean / (3.5 * (1 << 20)), delta=0.001)  # by the bytes, which are exact

    def test_dlio_has_sizes_as_they_are(self):
        volume = self.make_volume(64)
        for number in range(50):
            with open(os.path.join(volume.mount, f"{number}"), "wb") as file:
                file.write(bytes(50000))
        name = self.record_on("exact", ["sh", "-c", "cat [0-9]* > /dev/null"], volume, cwd=volume.mount)["volume"]
        done = self.export("dlio", "--volume", name, self.path("exact.rec"))
        self.assertIn("\n  record_length_bytes: 50000\n", done.stdout)
        self.assertIn("\n  num_files_train: 50\n", done.stdout)

    def test_dlio_draws_no_lengths_below_nothing(self):
        volume = self.make_volume(64)
        for number in range(100):
            with open(os.path.join(volume.mount, f"{number}"), "wb") as file:
                file.write(bytes(30 << 20 if not number else 50000))
        name = self.record_on("odd", ["sh", "-c", "cat [0-9]* > /dev/null"], volume, cwd=volume.mount)["volume"]
        done = self.export("dlio", "--volume", name, self.path("odd.rec"))
        lengths = dict(re.findall(r"(record_length_bytes\w*): (\d+)", done.stdout))
        mean, deviation = (int(lengths["record_length_bytes" + end]) for end in ("", "_stdev"))
        self.assertAlmostEqual(1, mean / ((30 * (1 << 20) + 99 * 50000) / 100), delta=0.02)
        self.assertLessEqual(deviation, mean / 2)
        true = int(re.search(r"standard deviation is (\d+) bytes", done.stdout)[1])
        self.assertAlmostEqual(1, true / (30 * (1 << 20) / 10), delta=0.07)

    def test_dlio_without_anything_read(self):
        volume = self.make_volume(64)
        script = "for i in 1 2 3; do dd if=/dev/zero of=$i bs=1M count=8 2>/dev/null; done"
        name = self.record_on("saving", ["sh", "-c", script], volume, cwd=volume.mount)["volume"]
        recording = self.path("saving.rec")
        done = self.export("dlio", recording)
        self.assertEqual(1, done.returncode)
        self.assertEqual(f"unblend: cannot export {recording} for DLIO, which trains on what it reads: no job read "
                         "anything: choose fio\n", done.stderr)
        done = self.export("dlio", "--volume", name, "--job", "nosuch", recording)
        self.assertEqual(1, done.returncode)
        self.assertEqual(f"unblend: cannot export {recording}: no job like nosuch did anything on {name}: see 'unblend "
                         "report' for jobs and volumes\n", done.stderr)

    def test_wrong_use(self):
        for arguments, words in (([], "fio or dlio"), (["tar", "x"], "'tar'"), (["fio"], "no recording"),
                                 (["fio", "--db", "x", "y"], "both")):
            done = self.export(*arguments)
            self.assertEqual(2, done.returncode)
            self.assert_one_line(done.stderr, words)
        done = self.export("fio", self.path("none"))
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "none")


class PseudonymTest(harness.SystemTest):
    """
    An input that goes to somebody else names nobody. What does the work, and where, is called hush-something, so that
    half a name that leaks is found, too.
    """

    NODES = ("hush-node", "hush-other")
    PSEUDONYM = r"\b(?:job|mount)-[0-9a-f]{20}\b"

    def made(self, node):
        """A node's recording with a name of its own for all that can have one."""
        path = self.path(node + ".rec")
        with subprocess.Popen([os.path.join(harness.bindir(), "tests/system/json_recording"), path],
                              stdin=subprocess.PIPE, text=True) as tool:
            for second in range(5):
                batch = {**made.batch(second, 0), "cluster": "hush-cluster", "node": node}
                for n, job in enumerate(batch["jobs"]):
                    job.update(job=f"hush-job{n}", user=f"hush-user{n}", command=f"hush-command{n}",
                               labels={"account": f"hush-account{n}"})
                for n, volume in enumerate(batch["volumes"]):
                    volume.update(volume=f"hush-volume{n}", source=f"hush-server:/{n}", mounts=[f"/hush/mount{n}"])
                for n, process in enumerate(batch["processes"]):
                    process.update(command=f"hush-program{n}")
                json.dump(batch, tool.stdin)
                tool.stdin.write("\n")
        self.assertEqual(0, tool.returncode)
        return path

    def recorded(self):
        """A copy made by a program with a name, on a node with a name."""
        volume = self.make_volume(32)
        program = self.path("hush-copy")
        shutil.copy(harness.tool("cp"), program)
        with open(os.path.join(volume.mount, "from"), "wb") as file:
            file.write(bytes(1 << 20))
        path = self.path("recorded.rec")
        done = harness.run([harness.tool("unshare"), "--uts", harness.PYTHON, "-I", "-S", "-c", AS_NODE, self.NODES[0],
                            harness.unblend(), "record", "-o", path, "-j", "hush-job", "--", program,
                            os.path.join(volume.mount, "from"), os.path.join(volume.mount, "to")])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return path

    def names(self, *recordings):
        """All names that a recording has, by what they name."""
        found = {kind: set() for kind in ("cluster", "node", "job", "user", "command", "volume", "mount", "source",
                                          "label")}
        for batch in (batch for recording in recordings for batch in harness.batches(recording)):
            found["cluster"].add(batch["cluster"])
            found["node"].add(batch["node"])
            for job in batch["jobs"]:
                found["job"].add(job["job"])
                found["user"].add(job["user"])
                found["command"].add(job["command"])
                found["label"].update(job["labels"].values())
            found["command"].update(process["command"] for process in batch.get("processes", []))
            for volume in batch["volumes"]:
                found["volume"].add(volume["volume"])
                found["mount"].update(volume["mounts"])
                found["source"].add(volume["source"])
        return {kind: names - {None, "", "?"} for kind, names in found.items()}

    def any_of(self, names):
        """Some are as short as a slash: they are looked for as words."""
        longest = sorted(names, key=len, reverse=True)
        return rf"(?<![\w./-])(?:{'|'.join(map(re.escape, longest))})(?![\w./-])"

    def assert_unnamed(self, names, text):
        for kind, some in names.items():
            if some:
                self.assertEqual([], re.findall(self.any_of(some), text), kind)
        self.assertNotIn("hush", text)

    def export(self, format_, recordings, *options):
        done = harness.run([harness.unblend(), "export", format_, *options, *recordings])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def keyed(self, key, *options):
        path = self.path(key + ".key")
        harness.write_site_key(path, key)
        return ("--pseudonyms", "--site-key", path, *options)

    def assert_exports(self, recordings, names):
        for format_ in ("fio", "dlio"):
            with self.subTest(format=format_):
                plain = self.export(format_, recordings)
                self.assertTrue([name for name in names["job"] if name in plain])
                self.assertTrue([name for name in names["volume"] if name in plain])
                first, again, other = (self.export(format_, recordings, *self.keyed(key)) for key in ("a", "a", "b"))
                self.assert_unnamed(names, first)
                self.assert_unnamed(names, other)
                self.assertEqual(first, again)
                called, otherwise = (re.findall(self.PSEUDONYM, text) for text in (first, other))
                self.assertEqual({"job", "mount"}, {name.split("-")[0] for name in called})
                self.assertEqual(len(called), len(otherwise))
                self.assertEqual(set(), set(called) & set(otherwise))
                # names are all that is changed
                nameless = re.sub(self.any_of(names["job"] | names["volume"]), "NAME", plain)
                self.assertEqual(nameless, re.sub(self.PSEUDONYM, "NAME", first))
                self.assertEqual(nameless, re.sub(self.PSEUDONYM, "NAME", other))

    def test_of_what_a_program_did(self):
        recording = self.recorded()
        names = self.names(recording)
        for kind, name in (("node", self.NODES[0]), ("job", "hush-job"), ("command", "hush-copy")):
            self.assertIn(name, names[kind])
        for kind in ("user", "volume", "mount", "source"):
            self.assertTrue(names[kind], kind)
        self.assert_exports([recording], names)

    def test_of_all_that_can_have_a_name(self):
        recordings = [self.made(node) for node in self.NODES]
        names = self.names(*recordings)
        for kind, some in names.items():
            self.assertTrue(some, kind)
        self.assertEqual(set(self.NODES), names["node"])
        self.assert_exports(recordings, names)

    def test_a_name_has_one_pseudonym_in_all_that_a_site_makes(self):
        recordings = [self.made(node) for node in self.NODES]
        one, other = (re.findall(self.PSEUDONYM, self.export("fio", [recording], *self.keyed("a")))
                      for recording in recordings)
        self.assertEqual(one, other)
        report = harness.report(recordings[0], *self.keyed("a"))
        self.assertEqual({name for name in one if name.startswith("job")},
                         {job["job"] for job in report.data["jobs"]} & set(one))
        self.assertEqual({name for name in one if name.startswith("mount")},
                         {volume["volume"] for job in report.data["jobs"] for volume in job["volumes"]} & set(one))

    def test_what_is_asked_for_has_its_true_name(self):
        recording = self.made(self.NODES[0])
        text = self.export("fio", [recording], *self.keyed("a", "--job", "hush-job0", "--volume", "hush-volume1"))
        self.assert_unnamed(self.names(recording), text)
        job, volume = re.findall(self.PSEUDONYM, text)
        self.assertEqual(text,
                         self.export("fio", [recording], *self.keyed("a", "--job", "hush-job0", "--volume", volume)))
        self.assertIn(job, self.export("fio", [recording], *self.keyed("a")))
        self.assertIn("hush-volume1", self.export("fio", [recording], *self.keyed("a", "--plain", "mount,source",
                                                                                  "--volume", "hush-volume1")))


if __name__ == "__main__":
    harness.main()
