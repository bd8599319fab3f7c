#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that are worse than their peers are named, and no others: on recordings of several nodes, made up."""

import harness
import made

INTERVALS = 12


class SuspectTest(harness.SystemTest):
    def batch(self, node, second, time=130, errors=0, oldest_ns=0, ops=500, local=False, size=120):
        read = made.record(0, 0, None, "read", ops, time, size, errors=errors)
        read.pop("process")
        if oldest_ns:
            read.update(in_flight=1, oldest_ns=oldest_ns, in_flight_ns=oldest_ns)
        volume = f"{node}:ext4:/dev/nvme0n1" if local else "nas:/data"
        template = made.batch(second, 0)
        return {**template, "node": node, "processes": [], "storage": [], "flows": [], "jobs": template["jobs"][:1],
                "records": [read], "volumes": [{**template["volumes"][1], "volume": volume}]}

    def recording(self, name, change, nodes=8, local=False):
        """Batches of nodes n0, n1, ...; change(node, second) says how one differs."""
        batches = [self.batch(f"n{node}", second, local=local, **change(node, second))
                   for second in range(INTERVALS) for node in range(nodes)]
        return harness.write_recording(self.path(name), batches)

    def suspects(self, recording):
        text = harness.must([harness.unblend(), "report", "--suspects", recording])
        told = harness.report(recording, "--suspects").data["suspects"]
        self.assertEqual(sorted({one["node"] for one in told}), text.split())
        return told

    def test_a_slow_node(self):
        told = self.suspects(self.recording("slow.rec", lambda node, _: {"time": 160 if node == 3 else 130 + node % 2}))
        self.assertEqual([("n3", "read", "p99_s")], [(one["node"], one["op"], one["metric"]) for one in told])
        self.assertGreater(told[0]["mads"], 6)
        self.assertEqual((INTERVALS, INTERVALS, 7), (told[0]["bad_intervals"], told[0]["intervals"], told[0]["peers"]))

    def test_local_volumes_are_compared(self):
        told = self.suspects(self.recording("local.rec", lambda node, _: {"time": 160 if node == 5 else 130},
                                            local=True))
        self.assertEqual(["n5:ext4:/dev/nvme0n1"], [one["volume"] for one in told])

    def test_errors_and_hanging_calls(self):
        told = self.suspects(self.recording("ill.rec", lambda node, second: (
            {"errors": 100} if node == 1 else {"oldest_ns": 10**9 * (second + 1)} if node == 2 else {})))
        self.assertEqual([("n1", "errors"), ("n2", "oldest_s")], [(one["node"], one["metric"]) for one in told])

    def test_three_of_five(self):
        told = self.suspects(self.recording("now.rec", lambda node, second: (
            {"time": 160} if node == 3 and second % 3 == 0 or node == 4 and second % 2 == 0 else {})))
        self.assertEqual(["n4"], [one["node"] for one in told])

    def test_five_peers(self):
        self.assertEqual([], self.suspects(self.recording("few.rec", lambda node, _: {"time": 160} if node == 3 else {},
                                                          nodes=5)))

    def test_a_node_that_does_something_else(self):
        path = self.recording("rank0.rec", lambda node, _: {"time": 160, "size": 150} if node == 0 else {})
        done = harness.run([harness.unblend(), "report", "--suspects", path])
        self.assertEqual((0, ""), (done.returncode, done.stdout))
        self.assertIn("1 node takes longer than others, but for something else", done.stderr)
        data = harness.report(path, "--suspects").data
        self.assertEqual([], data["suspects"])
        self.assertEqual([("n0", "read", "p99_s", INTERVALS)],
                         [(one["node"], one["op"], one["metric"], one["unlike_intervals"])
                          for one in data["suspects_unlike"]])

    def test_without_asking(self):
        path = self.recording("even.rec", lambda node, _: {"time": 130 + node % 3})
        self.assertIsNone(harness.report(path).data["suspects"])
        self.assertIsNone(harness.report(path).data["suspects_unlike"])
        self.assertEqual([], self.suspects(path))


if __name__ == "__main__":
    harness.main()
