#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes come and go: they join, vanish, and are born again; and the daemons run without the rights of root."""
import os
import re
import signal
import tempfile
import time
import unittest

import harness
import test_path
from test_path import Agent, Collector, Daemon, until

KEPT = {"CapPrm": "000000c000080004", "CapEff": "000000c000080004"}  # as test_unprivileged names them


class NodesTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test_path.system_user()
        os.chmod(cls.directory, 0o755)
        Collector.port = 9600 + os.getpid() % 350  # not that of test_path, which may run beside us
        cls.collector = Collector(cls.directory)
        cls.addClassCleanup(cls.collector.stop)

    def sql(self, query):
        return harness.must([harness.tool("psql"), "-XAtq", self.collector.conninfo(), "-c", query]).strip()

    def status(self, pid):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)

    def token(self, name, *arguments):
        token = harness.must([os.path.join(harness.bindir(), "unblend-collector"), "enroll", *arguments, "--embedded",
                              self.collector.embedded]).strip()
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(token + "\n")
        os.chmod(path, 0o644)
        return path

    def agent(self, name, token, *more):
        os.makedirs(self.path(name), exist_ok=True)
        agent = Agent(self.path(name), self.collector, token, "--node", name, *more)
        self.addCleanup(agent.stop)
        return agent

    def batches(self, node):
        return int(self.sql(f"select count(*) from unblend.intervals where node = '{node}'"))


class TestUnits(unittest.TestCase):
    """What systemd itself thinks of the units as they are installed."""

    def test_exposure(self):
        for name, most in (("agent", 30), ("collector", 20)):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as directory:
                unit = os.path.join(directory, f"unblend-{name}.service")
                with open(os.path.join(harness.SOURCE, f"packaging/systemd/unblend-{name}.service.in"),
                          encoding="utf-8") as file:
                    text = re.sub("@[a-z]+@", "/usr", file.read())
                with open(unit, "w", encoding="utf-8") as file:
                    file.write(text)
                done = harness.run([harness.tool("systemd-analyze"), "security", "--offline=true", "--no-pager",
                                    f"--threshold={most}", unit])
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class TestNodes(NodesTest):
    def test_unprivileged_daemons_and_a_join_token(self):
        """The node joins by itself, as a user of its own, with three rights; the collector has none."""
        directory = self.path("joined")
        os.makedirs(directory)
        join = self.token("join", "--join", "joined*", "--expires", "1h", "--max", "1")
        agent = Daemon(directory, "unblend-agent", "--user", "unblend", "--collector",
                       f"http://{self.collector.listen}",
                       "--join-file", join, "--token-file", os.path.join(directory, "state", "token"), "--state",
                       os.path.join(directory, "state"), "--socket", os.path.join(directory, "run", "agent.sock"),
                       "--interval", "1s", "--node", "joined1")
        self.addCleanup(agent.stop)
        until(lambda: "watching" in agent.said() or agent.process.poll() is not None,
              f"the agent watches: {agent.said()}", 60)
        status = self.status(agent.process.pid)
        self.assertEqual({key: status[key] for key in KEPT}, KEPT)
        self.assertNotEqual(status["Uid"].split()[0], "0")
        self.assertEqual(status["NoNewPrivs"], "1")
        until(lambda: self.batches("joined1") > 1, f"batches have come: {agent.said()}", 60)
        own = os.stat(os.path.join(directory, "state", "token"))
        self.assertEqual((own.st_mode & 0o777, own.st_uid), (0o600, int(status["Uid"].split()[0])))
        with open(join, encoding="utf-8") as file:
            self.assertNotIn(file.read().strip(), agent.said() + self.collector.said())
        with open(f"/proc/{agent.process.pid}/cmdline", encoding="utf-8") as file:
            self.assertIsNone(re.search("[0-9a-f]{64}", file.read()))
        collector = self.status(self.collector.process.pid)
        self.assertEqual((int(collector["CapEff"], 16), collector["NoNewPrivs"]), (0, "1"))
        self.assertNotEqual(collector["Uid"].split()[0], "0")

    def test_farewell_within_five_seconds(self):
        agent = self.agent("leaving", self.token("leaving.token", "leaving"), "--interval", "1m")
        done = agent.record("last-words", ["cat", "/etc/passwd"], self.path("last.rec"))
        self.assertEqual(done.returncode, 0, done.stderr)
        started = time.monotonic()
        self.assertEqual(agent.stop(), 0)
        self.assertLess(time.monotonic() - started, 8)  # five, and what a loaded machine adds
        self.assertEqual(self.sql("select count(*) from unblend.jobs where node = 'leaving' and job = 'last-words'"),
                         "1")

    def test_a_node_that_vanished_shows_a_gap_and_is_born_again(self):
        token = self.token("spot.token", "spot")
        first = self.agent("spot", token)
        until(lambda: self.batches("spot") >= 2, "two intervals of the first life", 60)
        first.stop(signal.SIGKILL)
        time.sleep(4)
        second = self.agent("spot2", token, "--node", "spot")  # another state directory: another machine, the same name
        until(lambda: int(self.sql("select count(distinct stream) from unblend.intervals where node = 'spot'")) == 2,
              f"the second life is heard of: {second.said()}", 60)
        gaps = self.sql("select count(*) from (select start_ns - lag(start_ns + duration_ns) "
                        "over (order by start_ns) as gap from unblend.intervals "
                        "where node = 'spot') as g where gap > 3000000000")
        self.assertEqual(gaps, "1")
        self.assertEqual(self.sql("select count(*) from unblend.node_gaps where node = 'spot' "
                                  "and until - since > interval '3 seconds'"), "1")
        self.assertEqual(self.sql("select count(*) from unblend.nodes where node = 'spot'"), "1")
        self.assertEqual(self.sql("select now() - last_seen < interval '20 seconds' from unblend.nodes "
                                  "where node = 'spot'"), "t")


if __name__ == "__main__":
    harness.main()
