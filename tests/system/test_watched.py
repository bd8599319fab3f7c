#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report says of recordings that were cut, that leave time between them, or that overlap."""
import json
import os
import subprocess
import time
import unittest

import harness
import made


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class WatchedTest(harness.SystemTest):
    def recording(self, name, stream, seconds, end_s=None):
        """Of one command, which ended then."""
        path = self.path(name)
        with subprocess.Popen([os.path.join(harness.bindir(), "tests/system/json_recording"), path],
                              stdin=subprocess.PIPE, text=True) as tool:
            for second in seconds:
                batch = made.batch(second, 0)
                batch["stream"] = stream * 32
                batch["jobs"][0]["kind"] = "command"
                if second + 1 == end_s:
                    batch["jobs"][0].update(end_ns=(made.START_S + end_s) * 10**9, exit=0)
                json.dump(batch, tool.stdin)
                tool.stdin.write("\n")
        self.assertEqual(0, tool.returncode)
        return path

    def coverage(self, *recordings):
        """The lines below the title, and those of the JSON."""
        text = harness.must([harness.unblend(), "report", *recordings], env=harness.environment())
        lines = text[text.index("Coverage"):].split("\n")
        told = json.loads(harness.must([harness.unblend(), "report", "--format", "json", *recordings],
                                       env=harness.environment()))["coverage"]
        return "\n".join(lines[:6]), told, {hook["hook"] for hook in told["hooks"]}

    def test_an_end_that_is_missing(self):
        text, _, gaps = self.coverage(self.recording("whole.rec", "a", range(5), 5))
        self.assertIn("complete: ", text)
        self.assertNotIn("incomplete", text)
        self.assertNotIn("recording-end", gaps)
        text, _, gaps = self.coverage("--until", moment(made.START_S + 4), self.path("whole.rec"))
        self.assertNotIn("incomplete", text)
        self.assertNotIn("recording-end", gaps)
        text, _, gaps = self.coverage(self.recording("cut.rec", "a", range(4)))
        self.assertIn("incomplete: ", text)
        self.assertIn("\n          train-resnet had not ended when the recording did\n", text)
        self.assertIn("recording-end", gaps)

    def test_time_between(self):
        text, told, gaps = self.coverage(self.recording("one.rec", "a", range(5), 5),
                                         self.recording("two.rec", "b", range(15, 20), 20))
        self.assertIn("\n          not watched for 10 s between recordings, which is no idle time\n", text)
        self.assertEqual(10000, told["unwatched_ms"])
        self.assertIn("unwatched", gaps)

    def test_overlap(self):
        text, told, gaps = self.coverage(self.recording("one.rec", "a", range(5), 5),
                                         self.recording("two.rec", "b", range(3, 5), 5))
        self.assertIn("incomplete: ", text)
        self.assertIn("\n          recordings overlap for 2 s: what both of them saw counts twice\n", text)
        self.assertEqual(2000, told["twice_ms"])
        self.assertIn("twice", gaps)


if __name__ == "__main__":
    unittest.main()
