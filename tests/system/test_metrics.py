#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What agent and collector tell to a real Prometheus, against I/O whose sums are known."""
import json
import os
import re
import signal
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import harness
import collecting
from test_path import NODE, Daemon, system_user, until

WRITES, BLOCK = 50, 65536  # of each, and a read back
WORK = f"""
import os
fd = os.open("data", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
for n in range({WRITES}):
    os.write(fd, b"x" * {BLOCK})
os.lseek(fd, 0, os.SEEK_SET)
while os.read(fd, {BLOCK}):
    pass
os.close(fd)
"""
JOB = 'odd "job\\name'  # with all that a label's value has to escape


class Prometheus:
    def __init__(self, directory, **targets):
        config = os.path.join(directory, "prometheus.json")  # JSON is YAML, too
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "1s"},
                       "scrape_configs": [{"job_name": name, "static_configs": [{"targets": [target]}]}
                                          for name, target in targets.items()]}, file)
        self.log = os.path.join(directory, "prometheus.log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [harness.tool("prometheus"), f"--config.file={config}", "--web.listen-address=127.0.0.1:0",
                 f"--storage.tsdb.path={directory}/tsdb"], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, "GOMAXPROCS": "2"})
        self.address = None
        try:
            until(self.is_there, "Prometheus listens", 60)
        except BaseException:
            self.stop()
            raise

    def is_there(self):
        with open(self.log, encoding="utf-8") as file:
            found = re.search(r'msg="Listening on" address=(\S+)', file.read())
        self.address = found and found[1]
        return found

    def ask(self, path, **query):
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}",
                                    timeout=30) as answer:
            return json.load(answer)["data"]

    def value(self, query):
        """The only value that there is; None when there is none."""
        result = self.ask("query", query=query)["result"]
        return float(result[0]["value"][1]) if len(result) == 1 else None

    def stop(self):
        self.process.kill()
        self.process.wait()


class MetricsTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.directory, 0o755)
        system_user()
        collecting.ROOT = cls.directory
        cls.pg = os.path.join(cls.directory, "pg")
        cls.collector = collecting.Collector("--embedded", cls.pg).wait_ready()
        cls.addClassCleanup(cls.collector.stop)
        cls.token = os.path.join(cls.directory, "token")
        with open(cls.token, "w", encoding="utf-8") as file:
            file.write(collecting.command("enroll", NODE, "--embedded", cls.pg).stdout)
        cls.volume = cls.make_volume(32)

    def agent(self, *arguments):
        here = tempfile.mkdtemp(dir=self.directory)
        agent = Daemon(here, "unblend-agent", "--socket", os.path.join(here, "agent.sock"), "--interval", "1s",
                       "--max-cost", "0", "--metrics", "127.0.0.1:0", *arguments)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop(signal.SIGKILL))
        until(lambda: "watching" in agent.said(), "the agent watches", 60)
        agent.address = re.search(r"metrics on http://(\S+)/metrics", agent.said())[1]
        return agent

    @staticmethod
    def text(address, path="/metrics"):
        with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    def work(self):
        harness.must([harness.PYTHON, "-S", "-c", WORK], cwd=self.volume.mount,
                     env={**harness.environment(), "UNBLEND_JOB": JOB})

    def test_prometheus_reads_both(self):
        agent = self.agent("--collector", f"http://127.0.0.1:{self.collector.port}", "--token-file", self.token,
                           "--state", os.path.join(self.directory, "state"))
        prometheus = Prometheus(self.directory, agent=agent.address, collector=f"127.0.0.1:{self.collector.port}")
        self.addCleanup(prometheus.stop)
        self.work()
        of = f'{{job_name="{JOB}",operation="%s"}}'.replace("\\", "\\\\").replace('odd "job', 'odd \\"job')
        written = "unblend_transferred_bytes_total" + of % "write"
        until(lambda: prometheus.value(written) == WRITES * BLOCK, "what was written is known", 60)
        volume = next(series["metric"]["volume"] for series in prometheus.ask("query", query=written)["result"])
        of = of[:-1] + f',volume="{volume}"}}'  # Python reads itself from another one
        self.assertEqual(WRITES, prometheus.value("unblend_operations_total" + of % "write"))
        self.assertEqual(WRITES + 1, prometheus.value("unblend_operations_total" + of % "read"))
        self.assertEqual(0, prometheus.value("unblend_errors_total" + of % "read"))
        self.assertGreater(prometheus.value("unblend_waited_seconds_total" + of % "write"), 0)
        # The histograms are of the volume, whichever job it was: and here it was this one alone that wrote.
        le = f'unblend_operation_bytes_bucket{{volume="{volume}",operation="write",le="%s"}}'
        self.assertEqual(0, prometheus.value(le % (32768 - 1)) or 0)
        self.assertEqual(WRITES, prometheus.value(le % "131071.0") or prometheus.value(le % 131071))
        self.assertEqual(WRITES * BLOCK, prometheus.value(
            f'unblend_operation_bytes_sum{{volume="{volume}",operation="write"}}'))
        middle = prometheus.value('histogram_quantile(0.5, sum by (le) (unblend_operation_seconds_bucket'
                                  f'{{volume="{volume}",operation="write"}}))')
        self.assertTrue(1e-7 < middle < 10, middle)
        self.assertIsNotNone(prometheus.value("unblend_lost_operations_total"))
        until(lambda: (prometheus.value("unblend_collector_batches_total") or 0) > 0,
              "the collector's counts come, too")
        self.assertEqual(1, prometheus.value("unblend_collector_database_up"))
        until(lambda: prometheus.value("unblend_agent_pushing") == 1, "the agent says that it pushes")
        for target in prometheus.ask("targets")["activeTargets"]:
            self.assertEqual(("up", ""), (target["health"], target["lastError"]))

    def test_pseudonyms_hold_here_too(self):
        agent = self.agent("--pseudonyms", "--site-key", self.path("site.key"))
        self.work()
        until(lambda: re.search(rf"^unblend_operations_total.*operation=\"write\"\}} {WRITES}$",
                                self.text(agent.address)[1], re.M), "the writes are counted", 60)
        kind, text = self.text(agent.address)
        self.assertTrue(kind.startswith("application/openmetrics-text"), kind)
        self.assertNotIn("odd", text)
        self.assertNotIn(self.volume.mount, text)
        self.assertTrue(text.endswith("# EOF\n"))
        # A hook that two programs use is one sample, as every set of labels is.
        samples = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual([], sorted({sample for sample in samples if samples.count(sample) > 1}))
        self.assertIn('unblend_hook_attached{hook="tp_btf/sched_process_exec"}', samples)

    def test_nothing_else_is_there(self):
        agent = self.agent()
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.text(agent.address, "/")
        self.assertEqual(404, refused.exception.code)
        refused.exception.close()
        done = harness.run([os.path.join(harness.bindir(), "unblend-agent"), "--socket", self.path("x.sock"),
                            "--metrics", agent.address])
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr.replace("unblend-agent:", "unblend:"), agent.address, "choose another")


if __name__ == "__main__":
    harness.main()
