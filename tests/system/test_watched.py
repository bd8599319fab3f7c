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

    def written(self, name, batches):
        path = self.path(name)
        harness.must([os.path.join(harness.bindir(), "tests/system/json_recording"), path],
                     input="".join(json.dumps(batch) + "\n" for batch in batches))
        return path

    def report(self, recording):
        """The JSON, and what was said."""
        done = subprocess.run([harness.unblend(), "report", "--format", "json", recording], env=harness.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
        return json.loads(done.stdout), done.stderr

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

    def test_a_clock_that_is_set_back(self):
        """Written is the later half first: what is told does not depend on it."""
        batches = [dict(made.batch(second, 0), seq=seq) for seq, second in enumerate([*range(30, 60), *range(30)])]
        batches[2]["coverage"] = dict(batches[2]["coverage"], in_flight_ops=7)
        back = self.written("back.rec", batches)
        text, _, gaps = self.coverage(back)
        self.assertIn("the clock of node07 was set back", text)
        self.assertIn("clock", gaps)
        told, said = self.report(back)
        self.assertEqual("", said)
        batches.sort(key=lambda batch: batch["start_ns"])
        self.assertEqual(self.report(self.written("sorted.rec", batches))[0], told)
        self.assertNotIn("clock", self.coverage(self.recording("right.rec", "a", range(60), 60))[2])

    def test_a_clock_that_is_far_ahead(self):
        batches = [made.batch(second, 0) for second in range(20)]
        self.move(batches[10], 365 * 70)
        text, _, gaps = self.coverage(self.written("ahead.rec", batches))
        self.assertRegex(text, r"\n +the clock of node07 was set back, that of node07 is far ahead, up to\n +2096-")
        self.assertIn("clock", gaps)

    def test_a_clock_that_is_far_ahead_hides_how_much_grew(self):
        batches = [made.batch(second, 0) for second in range(21)]
        for day, batch in enumerate(batches):
            self.move(batch, day - 20)
            for volume in batch["volumes"]:
                volume["space"] = [(100 + 10 * day) * 10**9, 10**12, 0, 0]
        self.assertTrue(self.growth(self.written("right.rec", batches)))
        self.assertRegex(self.html("right.rec"), r"Demand \w+ by .* of 20 days")
        self.move(batches[-1], 365 * 70)
        self.assertFalse(self.growth(self.written("ahead.rec", batches)))
        page = self.html("ahead.rec")
        self.assertEqual(2, page.count("Cannot tell, because the clock of node07 is far ahead."))
        self.assertNotRegex(page, "Demand \\w+ by|no volume grows")
        self.assertIn("how fast volumes grow cannot be told", page)

    @staticmethod
    def move(batch, days):
        batch["start_ns"] += 10**9 * 86400 * days
        for flow in batch.get("flows", []):
            flow["first"] += 10 * 86400 * days

    def growth(self, path):
        return [volume["growth_bytes_day"] for volume in self.report(path)[0]["cluster"]["capacity"]["volumes"]
                if volume["growth_bytes_day"] or volume["full_at"]]

    def html(self, name):
        return harness.must([harness.unblend(), "report", "--format", "html", self.path(name)],
                            env=harness.environment())

    def test_a_frame_that_comes_twice(self):
        """The first counts, also where the other says something else: as the collector has it."""
        batches = [made.batch(second, 0) for second in range(20)]
        once = self.report(self.written("once.rec", batches))[0]
        again = made.batch(9, 3)
        told, said = self.report(self.written("again.rec", [*batches[:10], batches[9], *batches[10:], again]))
        self.assertEqual(once, told)
        self.assertRegex(said, r"^unblend: warning: \S+again.rec holds 2 batches more than once, and each counts once, "
                               r"as it comes first\n$")

    def test_what_was_dropped_is_said_twice(self):
        batches = [made.batch(second, 0) for second in range(20)]
        dropped = {"stream": batches[0]["stream"], "first_seq": 100, "last_seq": 104, "ops": 50, "start_ns": None,
                   "end_ns": None, "why": "quota"}
        for second in (10, 11):
            batches[second]["coverage"]["dropped"] = [dropped]
        told, _ = self.report(self.written("dropped.rec", batches))
        self.assertEqual((50, 5, 50), tuple(told["coverage"][key]
                                            for key in ("lost_ops", "dropped_batches", "dropped_ops")))

    def test_frames_that_are_refused(self):
        """One line for the first of them with its place, one for all; the rest counts."""
        batches = [made.batch(second, 0) for second in range(20)]
        for second in (5, 7, 9):
            batches[second]["interval_ms"] = 0
        told, said = self.report(self.written("refused.rec", batches))
        self.assertTrue(told["coverage"]["damaged"])
        self.assertEqual("2026-03-01T12:00:20.000Z", told["span"]["end"])
        first, last = said.rstrip("\n").split("\n")
        self.assertRegex(first, r"^unblend: warning: \S+refused.rec is damaged: frame 6 at byte \d+: interval_ms: "
                                r"must not be 0; ")
        self.assertRegex(last, r"refused.rec is damaged in 3 places, the first of which is told above$")
        batches[5]["interval_ms"] = 1000
        batches[7]["interval_ms"] = 1000
        self.assertEqual(1, self.report(self.written("one.rec", batches))[1].count("\n"))

    def test_what_no_node_can_have_done(self):
        """It is no batch: two of them would have no sum."""
        batches = [made.batch(second, 0) for second in range(20)]
        expected, _ = self.report(self.written("sound.rec", batches[:5] + batches[6:8] + batches[9:]))
        for second in (5, 8):
            read = next(r for r in batches[second]["records"] if r.get("cache"))
            read["cache"] = [2**63 - 1, 0, 0, 0]
        told, said = self.report(self.written("forged.rec", batches))
        self.assertRegex(said, r"^unblend: warning: \S+forged.rec is damaged: frame 6 at byte \d+: "
                               r"records\[\d+\].cache: is more than a node can have done")
        self.assertTrue(told["coverage"]["damaged"])
        self.assertEqual(expected["cluster"]["ops"], told["cluster"]["ops"])


if __name__ == "__main__":
    unittest.main()
