#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent posts as OpenTelemetry metrics, against I/O whose sums are known."""
import os
import re
import signal
import tempfile

import harness
import otlp
from test_metrics import BLOCK, JOB, WORK, WRITES
from test_path import Daemon, until

TOKEN = "a-bearer-token-of-the-receiver"


class OtlpTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(32)

    def agent(self, *arguments):
        here = tempfile.mkdtemp(dir=self.directory)
        agent = Daemon(here, "unblend-agent", "--socket", os.path.join(here, "agent.sock"), "--interval", "1s",
                       "--max-cost", "0", *arguments)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop(signal.SIGKILL))
        until(lambda: "watching" in agent.said(), "the agent watches", 60)
        return agent

    def receiver(self, *statuses):
        receiver = otlp.Receiver(*statuses)
        self.addCleanup(receiver.close)
        return receiver

    def work(self):
        harness.must([harness.PYTHON, "-S", "-c", WORK], cwd=self.volume.mount,
                     env={**harness.environment(), "UNBLEND_JOB": JOB})

    @staticmethod
    def wait_for_work(receiver):
        """The first request that has all writes, and their point."""
        def find():
            for request in list(receiver.seen):
                point = otlp.point(otlp.metrics(request)["unblend.operations"], job=JOB, operation="write")
                if point and point.as_int == WRITES:
                    return request, point
            return None

        until(find, "the writes are told", 60)
        return find()

    def check_histogram(self, metric, count, total, **wanted):
        point = otlp.point(metric, **wanted)
        self.assertEqual(otlp.CUMULATIVE, metric.exponential_histogram.aggregation_temporality)
        self.assertEqual(count, point.count)
        self.assertEqual(count, point.zero_count + sum(point.positive.bucket_counts))
        if total is not None:
            self.assertEqual(total, point.sum)
        return point

    def test_sums_are_those_of_the_work(self):
        receiver = self.receiver()
        token = self.path("token")
        with open(token, "w", encoding="utf-8") as file:
            file.write(TOKEN + "\n")
        agent = self.agent("--otlp", receiver.url, "--otlp-token-file", token, "--node", "n1", "--cluster", "c1")
        self.work()
        request, written = self.wait_for_work(receiver)
        self.assertEqual([], receiver.wrong)
        self.assertEqual({f"Bearer {TOKEN}"}, {headers["Authorization"] for headers in receiver.headers})
        resource = otlp.attributes(request.resource_metrics[0].resource)
        self.assertEqual(("n1", "c1", "client", "unblend-agent"),
                         (resource["host.name"], resource["unblend.cluster"], resource["unblend.role"],
                          resource["service.name"]))
        told, volume = otlp.metrics(request), otlp.attributes(written)["unblend.volume"]
        of_job = {"job": JOB, "volume": volume}
        self.assertLess(written.start_time_unix_nano, written.time_unix_nano)
        operations = told["unblend.operations"]
        self.assertEqual((otlp.CUMULATIVE, True), (operations.sum.aggregation_temporality, operations.sum.is_monotonic))
        self.assertEqual(WRITES + 1, otlp.point(operations, operation="read", **of_job).as_int)
        for operation in "read", "write":
            self.assertEqual(WRITES * BLOCK,
                             otlp.point(told["unblend.transferred"], operation=operation, **of_job).as_int)
            self.assertEqual(0, otlp.point(told["unblend.errors"], operation=operation, **of_job).as_int)
        self.assertIsNone(otlp.point(told["unblend.transferred"], operation="close", **of_job))
        # Nobody else uses this volume.
        sizes = told["unblend.operation.size"]
        point = self.check_histogram(sizes, WRITES, WRITES * BLOCK, volume=volume, operation="write")
        self.assertEqual((4, 16 * 16 - 1, [WRITES]),  # (2^(255 / 16), 2^16]
                         (point.scale, point.positive.offset, list(point.positive.bucket_counts)))
        self.assertEqual(1, self.check_histogram(sizes, WRITES + 1, WRITES * BLOCK, volume=volume,
                                                 operation="read").zero_count)
        self.check_histogram(told["unblend.operation.duration"], WRITES,
                             otlp.point(told["unblend.waited"], operation="write", **of_job).as_int,
                             volume=volume, operation="write")
        for name in "lost", "killed", "unattributed", "overflow":
            self.assertEqual(1, len(told["unblend." + name].sum.data_points), name)
        self.assertEqual("gauge", told["unblend.in_flight"].WhichOneof("one"))
        count = len(receiver.seen)
        agent.stop(signal.SIGTERM)
        self.assertGreater(len(receiver.seen), count)  # what the last interval has begun
        self.assertEqual(f"otlp {receiver.url}: reached", re.search(r"otlp .*", agent.said())[0])

    def test_a_receiver_that_refuses_has_it_later(self):
        receiver = self.receiver(503, 400, 500)
        agent = self.agent("--otlp", receiver.url)
        self.work()
        self.wait_for_work(receiver)
        until(lambda: "reached" in agent.said(), "the receiver takes it")
        said = re.findall(r"otlp .*?: (it answered \d+|reached)", agent.said())
        self.assertEqual(["it answered 503", "it answered 400", "it answered 500", "reached"], said)
        self.assertEqual([], receiver.wrong)
        self.assertEqual({None}, {headers["Authorization"] for headers in receiver.headers})

    def test_pseudonyms_hold_here_too(self):
        receiver = self.receiver()
        self.agent("--otlp", receiver.url, "--pseudonyms", "--site-key", self.path("site.key"))
        self.work()

        def is_told():
            return receiver.seen and any(
                p.as_int == WRITES and otlp.attributes(p)["unblend.operation"] == "write"
                for p in otlp.metrics(receiver.seen[-1])["unblend.operations"].sum.data_points)

        until(is_told, "the writes are told", 60)
        text = str(receiver.seen)
        self.assertNotIn("odd", text)
        self.assertNotIn(self.volume.mount, text)

    def test_wrong_options_are_one_line(self):
        for url in "http://192.0.2.1:4318", "ftp://localhost", "nonsense":
            done = harness.run([os.path.join(harness.bindir(), "unblend-agent"), "--socket", self.path("x.sock"),
                                "--otlp", url])
            self.assertEqual(2, done.returncode)
            self.assert_one_line(done.stderr.replace("unblend-agent:", "unblend:"), url, "https://")
        done = harness.run([os.path.join(harness.bindir(), "unblend-agent"), "--otlp-token-file", "token"])
        self.assertEqual(2, done.returncode)
        self.assert_one_line(done.stderr.replace("unblend-agent:", "unblend:"), "token", "--otlp")


if __name__ == "__main__":
    harness.main()
