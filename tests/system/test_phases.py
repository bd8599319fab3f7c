# SPDX-License-Identifier: GPL-2.0-or-later
"""A job in parts: data is brought in, and then read three times with a pause between, as in epochs."""
import unittest

import harness

WORKLOAD = r"""
import os, sys, time
folder, files, pause = sys.argv[1], 30, float(sys.argv[2])
os.makedirs(folder)
for i in range(files):
    with open(f"{folder}/{i}", "wb") as file:
        file.write(b"x" * 1000000)
    time.sleep(0.1)
for epoch in range(3):
    for i in range(files):
        with open(f"{folder}/{i}", "rb", buffering=0) as file:
            while file.read(65536):
                pass
        time.sleep(0.1)
    time.sleep(pause)
"""


class PhaseTest(harness.SystemTest):
    def phases(self, name, pause):
        recording = self.path(f"{name}.rec")
        done = harness.record(recording, [harness.PYTHON, "-c", WORKLOAD, self.path(name), str(pause)])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        text = harness.must([harness.unblend(), "report", recording])
        return harness.report(recording).job()["rhythm"], text

    def test_an_ingest_and_three_epochs(self):
        rhythm, text = self.phases("epochs", 3)
        phases = [phase for phase in rhythm["phases"] if phase["kind"] != "mixed"]
        self.assertEqual("write", phases[0]["kind"])
        self.assertEqual(3, sum(phase["kind"] == "read" for phase in phases))
        self.assertGreaterEqual(sum(phase["kind"] == "quiet" for phase in phases), 2)
        self.assertAlmostEqual(30e6, sum(phase["write_bytes"] for phase in rhythm["phases"]), delta=1e5)
        self.assertEqual(3, rhythm["epochs"]["count"])
        self.assertAlmostEqual(6.5, rhythm["epochs"]["length_s"], delta=1.6)
        self.assertAlmostEqual(30e6, rhythm["epochs"]["bytes"], delta=6e6)
        self.assertRegex(text, r"(?m)^  phases: write [34] s .*quiet")
        self.assertRegex(text, r"(?m)^  epochs: 3, one every \S+ s, each reads about ")

    def test_without_a_pause_there_are_none(self):
        rhythm, text = self.phases("on", 0)
        self.assertIsNone(rhythm["epochs"])
        self.assertEqual(1, sum(phase["kind"] == "read" for phase in rhythm["phases"]))
        self.assertNotIn("epochs:", text)


if __name__ == "__main__":
    harness.main()
