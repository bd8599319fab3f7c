#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each rule has a program that shows what it finds, and one that does much the same and does not."""
import os

import harness
import trouble

PROGRAM = os.path.join(harness.SOURCE, "tests/system/trouble.py")
SEVERITIES = ("critical", "high", "medium", "low")

# Programs on one volume: what is found, and by whom it is not.
PAIRS = {
    "small-reads": ("small_reads", "large_reads"),
    "metadata-storm": ("metadata_storm", "small_files"),
    "reopened-files": ("reopened_files", "opened_once"),
    "reread-files": ("reread_files", "large_reads"),
    "random-reads": ("random_reads", "large_reads"),
    "unaligned-direct-io": ("unaligned_direct_io", "aligned_direct_io"),
    "fsync-bound-checkpoint": ("fsync_bound_checkpoint", "synced_once"),
    "straggler": ("straggler", "even_ranks"),
}
COPIES = ("silo_copy", "summary")


class FindingTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume, cls.other = cls.make_volume(192), cls.make_volume(96)
        trouble.prepare(cls.volume.mount)
        programs = sorted({program for pair in (*PAIRS.values(), COPIES) for program in pair})
        path = os.path.join(cls.directory, "all.rec")
        # One after the other, each a job of its own.
        command = [harness.PYTHON, "-I", "-S", PROGRAM, "one_by_one", cls.volume.mount, cls.other.mount, *programs]
        done = harness.record(path, command)
        if done.returncode or done.stderr:
            raise AssertionError(f"record: exit {done.returncode}: {done.stderr}")
        cls.report = harness.report(path)

    def found(self, program, mount):
        """What is found of a program on a volume."""
        names = [volume["volume"] for job in self.report.data["jobs"] for volume in job["volumes"]
                 if job["job"] == program and mount in volume["mounts"]]
        self.assertEqual(1, len(names), program)
        return {one["id"]: one for one in self.report.data["findings"]
                if one["job"] == program and one["volume"] in names}

    def assert_whole(self, finding):
        self.assertIn(finding["severity"], SEVERITIES)
        self.assertEqual("op_seconds", finding["cost"]["unit"])
        self.assertLessEqual(0, finding["cost"]["low"])
        self.assertLessEqual(finding["cost"]["low"], finding["cost"]["high"])
        self.assertTrue(0 < finding["confidence"] <= 1, finding)
        self.assertTrue(finding["gain"] is None or 0 <= finding["gain"] <= 1, finding)
        self.assertTrue(finding["evidence"] and finding["remedy"])

    def pair(self, rule, shows, shows_not, mount):
        found = self.found(shows, mount)
        self.assertIn(rule, found)
        self.assert_whole(found[rule])
        self.assertNotIn(rule, self.found(shows_not, mount))

    def test_copies_between_volumes(self):
        self.pair("silo-copy", *COPIES, self.other.mount)

    def test_cache_thrash(self):
        """What a device read for whom is known of the job of a recording's own command."""
        for program, expected in (("cache_thrash", True), ("reread_files", False)):
            report = self.record([harness.PYTHON, "-I", "-S", PROGRAM, program, self.volume.mount])
            self.assertEqual(expected, "cache-thrash" in [one["id"] for one in report.data["findings"]], program)

    def test_the_dearest_come_first(self):
        costs = [one["cost"]["high"] for one in self.report.data["findings"]]
        self.assertEqual(sorted(costs, reverse=True), costs)

    def test_ten_are_shown(self):
        text = harness.must([harness.unblend(), "report", self.path("all.rec")])
        shown = text[text.index("Findings"):].split("\n\n", maxsplit=1)[0]
        self.assertEqual(min(10, len(self.report.data["findings"])), shown.count("% sure)"))
        self.assertIn(f"and {len(self.report.data['findings']) - 10} more", shown)


def add_cases():
    for rule, (shows, shows_not) in PAIRS.items():
        def test(self, rule=rule, shows=shows, shows_not=shows_not):
            self.pair(rule, shows, shows_not, self.volume.mount)
        setattr(FindingTest, "test_" + rule.replace("-", "_"), test)


add_cases()

if __name__ == "__main__":
    harness.main()
