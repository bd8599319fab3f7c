# SPDX-License-Identifier: GPL-2.0-or-later
"""A job in parts: data is brought in, and then read three times with a pause between, as in epochs."""
import os
import unittest

import harness

WORKLOAD = r"""
import os, sys, time
folder, files, pause, epochs = sys.argv[1], 30, float(sys.argv[2]), int(sys.argv[3])
os.makedirs(folder)
for i in range(files):
    with open(f"{folder}/{i}", "wb") as file:
        file.write(b"x" * 1000000)
    time.sleep(0.1)
for epoch in range(epochs):
    for i in range(files):
        with open(f"{folder}/{i}", "rb", buffering=0) as file:
            while file.read(65536):
                pass
        time.sleep(0.1)
    time.sleep(pause)
"""


ALONE = True  # its pauses are to be pauses; see tests/system/run


class PhaseTest(harness.SystemTest):
    def phases(self, name, pause, epochs=3):
        """On a volume of their own: what a program is made of lies elsewhere."""
        recording = self.path(f"{name}.rec")
        folder = os.path.join(self.make_memory(), name)
        done = harness.record(recording, [harness.PYTHON, "-c", WORKLOAD, folder, str(pause), str(epochs)])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        text = harness.must([harness.unblend(), "report", recording])
        return harness.report(recording).job()["rhythm"], text

    def test_an_ingest_and_three_epochs(self):
        """Python's start may have an interval for itself, which is metadata."""
        rhythm, text = self.phases("epochs", 3)
        phases = [phase for phase in rhythm["phases"] if phase["kind"] != "mixed"]
        self.assertEqual("write", phases[phases[0]["kind"] == "metadata"]["kind"])
        self.assertEqual(3, sum(phase["kind"] == "read" for phase in phases))
        self.assertGreaterEqual(sum(phase["kind"] == "quiet" for phase in phases), 2)
        self.assertAlmostEqual(30e6, sum(phase["write_bytes"] for phase in rhythm["phases"]), delta=1e5)
        self.assertEqual((3, "phases"), (rhythm["epochs"]["count"], rhythm["epochs"]["told_by"]))
        self.assertAlmostEqual(6.5, rhythm["epochs"]["length_s"], delta=1.6)
        self.assertAlmostEqual(30e6, rhythm["epochs"]["bytes"], delta=6e6)
        self.assertRegex(text, r"(?m)^  phases: (metadata \d+ s \([^()]*\), )?write [34] s .*quiet")
        self.assertRegex(text, r"(?m)^  epochs: 3, one every \S+ s, each reads about ")

    def test_without_a_pause_the_working_set_tells(self):
        rhythm, text = self.phases("on", 0)
        self.assertEqual(1, sum(phase["kind"] == "read" for phase in rhythm["phases"]))
        self.assertEqual((3, "working-set"), (rhythm["epochs"]["count"], rhythm["epochs"]["told_by"]))
        self.assertAlmostEqual(3.2, rhythm["epochs"]["length_s"], delta=0.8)
        self.assertAlmostEqual(30e6, rhythm["epochs"]["bytes"], delta=2e6)
        self.assertRegex(text, r"(?m)^  epochs: about 3, one every \S+ s, each reads about ")

    def test_what_is_read_once_has_none(self):
        rhythm, text = self.phases("once", 0, epochs=1)
        self.assertIsNone(rhythm["epochs"])
        self.assertNotIn("epochs:", text)


if __name__ == "__main__":
    harness.main()
