#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Exposed I/O as agents tell it: of ranks by their variable, through a collector, into reports and sums."""
import os
import tempfile

import harness
import slow
from test_path import Agent, Collector, from_database, system_user, until
from test_wait import LOADER


class ExposedTest(slow.SlowTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        system_user()
        os.chmod(cls.directory, 0o755)
        cls.collector = Collector(cls.directory)
        cls.addClassCleanup(cls.collector.stop)
        cls.token = os.path.join(cls.directory, "token")
        with open(cls.token, "w", encoding="ascii") as file:
            file.write(cls.collector.enroll())

    def start_agent(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        os.chmod(directory, 0o755)
        agent = Agent(directory, self.collector, self.token)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def load(self, agent, job, variable, steps, compute_s, ahead):
        """The loader's own word; by the agent, which counts on."""
        done = agent.record(job, [harness.tool("env"), variable, harness.PYTHON, "-I", "-S", "-c", LOADER, self.data, str(steps),
                                  str(slow.PIECE), str(compute_s), str(ahead)], self.path(f"{job}.rec"))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return float(done.stdout.split()[0])

    def sums(self, view):
        return harness.must([harness.tool("psql"), self.collector.conninfo(), "-Atc",
                             f"select coalesce(sum(w), 0), coalesce(sum(e), 0) from unblend.{view}, "
                             "unnest(job_watched_ns, job_exposed_ns) as u (w, e)"]).strip()

    def test_agents_watch_ranks(self):
        agent = self.start_agent()
        waits = self.load(agent, "waits", "RANK=0", 160, 0.03, 0)
        hidden = self.load(agent, "hidden", "SLURM_PROCID=3", 60, 0.06, 8)
        self.load(agent, "nobody", "OTHER=0", 20, 0.03, 0)
        self.assertEqual(0, agent.stop())
        exposed = {job["job"]: job["io_wait"]["exposed"] for job in from_database(self.collector).data["jobs"]}
        told = exposed["waits"]
        self.assertGreater(waits, 0.2)
        self.assertAlmostEqual(waits, told["share"], delta=0.05)
        self.assertGreater(told["watched_s"], 2)
        self.assertLess(hidden, 0.2)
        self.assertAlmostEqual(0, exposed["hidden"]["share"], delta=0.1)
        self.assertIsNone(exposed["nobody"])
        # What left the node, what was stored and what it was summed up to are the same.
        jobs = [job for batch in harness.batches(agent.copy) for job in batch["jobs"] if "watched_ns" in job]
        self.assertEqual({"waits", "hidden"}, {job["job"] for job in jobs})
        sent = "|".join(str(sum(job[name] for job in jobs)) for name in ("watched_ns", "exposed_ns"))
        self.assertEqual(sent, self.sums("intervals"))
        until(lambda: self.sums("intervals_1m") == sent, "the minutes have it, too", 120)


if __name__ == "__main__":
    harness.main()
