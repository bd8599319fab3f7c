#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A collector and its PostgreSQL survive each other's end, and losing their connection."""

import os
import signal
import subprocess
import threading
import time
import unittest

from collecting import COLLECTOR, batch, lines, Collector, post_until_taken, command, Database
from collecting import setUpModule, tearDownModule  # noqa: F401


class TestSurvival(Database):
    def postmaster(self):
        with open(os.path.join(self.directory, "data/postmaster.pid")) as file:
            return int(file.readline())

    def write_through(self, disturb, first=1, count=60):
        """Sends batches one after the other while something happens to the collector or its database."""
        def run():
            for seq in range(first, first + count):
                seen.extend(post_until_taken(lambda: self.collector, batch(seq), self.token))
                taken.append(seq)
        seen, taken = [], []
        thread = threading.Thread(target=run)
        thread.start()
        while len(taken) < count // 4 and thread.is_alive():
            time.sleep(0.001)
        disturb()
        thread.join(120)
        self.assertFalse(thread.is_alive())
        self.collector.wait_ready()
        total = sum(range(first, first + count))
        self.assertEqual(self.sums(), f"{count}|{total}|{total * 4096}")
        self.assertEqual(self.sql("select count(*) from unblend.gap where first_seq > 0"), "0")
        return seen

    def test_database_killed(self):
        old = self.postmaster()
        seen = self.write_through(lambda: os.kill(old, signal.SIGKILL))
        self.assertIn(503, seen)
        self.assertLessEqual(set(seen), {503, None})
        self.collector.wait_ready()
        self.assertNotEqual(self.postmaster(), old)

    def test_collector_killed_and_its_server_adopted(self):
        old = self.postmaster()

        def disturb():
            type(self).collector.kill()
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
        self.write_through(disturb)
        self.assertEqual(self.postmaster(), old)
        self.assertIn("took over", self.collector.log())
        # what was adopted is stopped like what was started
        self.assertEqual(type(self).collector.stop(), 0)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "data/postmaster.pid")))
        type(self).collector = Collector("--embedded", self.directory).wait_ready()

    def test_both_killed(self):
        def disturb():
            type(self).collector.kill()
            os.kill(self.postmaster(), signal.SIGKILL)
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
        self.write_through(disturb)

    def test_unready_while_the_database_is_away(self):
        server = self.postmaster()
        os.kill(server, signal.SIGKILL)
        status, _, headers = self.collector.request("POST", "/v1/batches", lines(batch(1)),
                                                    {"Authorization": "Bearer " + self.token})
        if status != 200:  # it may be up again already
            self.assertEqual(status, 503)
            self.assertGreater(int(headers["Retry-After"]), 0)
        self.assertEqual(self.collector.request("GET", "/healthz")[0], 200)
        post_until_taken(lambda: self.collector, batch(1), self.token)

    def test_stale_pid_file_of_a_stranger(self):
        self.assertEqual(type(self).collector.stop(), 0)
        stranger = subprocess.Popen(["sleep", "60"], user="unblend" if os.geteuid() == 0 else None)
        try:
            with open(os.path.join(self.directory, "data/postmaster.pid"), "w") as file:
                file.write(f"{stranger.pid}\n{self.directory}/data\n")
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
            self.assertNotIn("took over", self.collector.log())
            self.assertIsNone(stranger.poll())
        finally:
            stranger.kill()
            stranger.wait()

    def test_two_collectors_one_database(self):
        beside = Collector("--db", self.conninfo).wait_ready()
        try:
            tokens = {node: self.enroll(node) for node in ("n1", "n3")}
            type(self).token = tokens["n1"]
            failed = []

            def send(collector, order):
                for seq in order:
                    for node, token in tokens.items():
                        status, answer = collector.post(batch(seq, node=node), token)
                        if status != 200:
                            failed.append((status, answer))
            orders = [range(1, 41), range(40, 0, -1), range(1, 41), range(20, 41)]
            threads = [threading.Thread(target=send, args=(c, o))
                       for c, o in zip([self.collector, beside] * 2, orders)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            self.assertEqual(failed, [])
            self.assertEqual(self.sums(), f"80|{2 * 820}|{2 * 820 * 4096}")
            self.assertEqual(self.sql("select count(*) from unblend.gap where first_seq > 0"), "0")
        finally:
            self.assertEqual(beside.stop(), 0)

    def test_partitions_are_made_under_load(self):
        """Days that wait in the default partition get their own while others write to them."""
        self.assertEqual(type(self).collector.stop(), 0)  # it would drop what is older than two days
        type(self).collector = Collector("--embedded", self.directory, "--keep-raw", "90d").wait_ready()
        tokens = [self.enroll(node) for node in ("n1", "n3", "n5")]
        type(self).token = tokens[0]
        now = time.time_ns() // 10**9 * 10**9
        failed, done = [], []

        def send(node, token):
            for seq in range(1, 241):
                start = now - (2 + seq % 40) * 86400 * 10**9
                answer = self.collector.post(batch(seq, node=node, start_ns=start), token)
                if answer[0] != 200:
                    failed.append(answer)
            done.append(node)
        threads = [threading.Thread(target=send, args=pair) for pair in zip(("n1", "n3", "n5"), tokens)]
        for thread in threads:
            thread.start()
        while len(done) < 3:
            self.assertEqual(command("init-db", "--db", self.conninfo, "--keep-raw", "90d").returncode, 0)
        for thread in threads:
            thread.join()
        command("init-db", "--db", self.conninfo, "--keep-raw", "90d")
        self.assertEqual(failed, [], self.collector.log())
        self.assertEqual(self.sums(), f"720|{3 * 28920}|{3 * 28920 * 4096}")
        self.assertEqual(self.sql("select count(*) from unblend.sample_default"), "0", self.sql(
            "select (select string_agg(distinct time::text, ', ') from unblend.sample_default), now(), "
            "(select string_agg(tier || ' since ' || coalesce(since::text, '-'), ', ') from unblend.tier), "
            "(select string_agg(relname || ' ' || pg_get_expr(relpartbound, oid), ', ' order by relname) from pg_class "
            "where relname ~ '^sample_[0-9]+$')"))
        self.assertGreaterEqual(int(self.sql("select count(*) from pg_inherits "
                                             "where inhparent = 'unblend.sample'::regclass")), 48)
        self.assertEqual(len(self.dump()), 720)

    def test_second_collector_on_one_directory(self):
        # a short wait is enough: it must not disturb the first one
        second = subprocess.Popen([COLLECTOR, "--listen", "127.0.0.1:0", "--embedded", self.directory],
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)
        _, errors = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another collector", errors)
        self.assertEqual(errors.count("\n"), 1)

    def test_requests_under_way_are_finished(self):
        body = lines(*(batch(seq) for seq in range(1, 400)))
        result = []
        thread = threading.Thread(target=lambda: result.append(self.collector.post(body, self.token)))
        thread.start()
        time.sleep(0.15)
        self.assertEqual(type(self).collector.stop(), 0)
        thread.join()
        type(self).collector = Collector("--embedded", self.directory).wait_ready()
        if result and result[0][0] == 200:
            self.assertEqual(self.sums().split("|")[0], "399")
        else:
            self.assertEqual(self.sums(), "0|0|0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
