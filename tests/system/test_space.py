#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How full volumes are: the agent asks, in a child that a hung mount may keep, and the report tells when they are
full."""
import json
import os
import signal
import subprocess
import tempfile
import time

import harness
from harness import SystemTest

PATIENCE_S = 150  # two rounds of asking, on a loaded machine
DAY_NS = 86400 * 10**9
START_NS = 1772323200 * 10**9  # 2026-03-01
TOTAL = 10 << 40
A_DAY = 100 << 30


class AskTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(64)
        with open(os.path.join(cls.volume.mount, "data"), "wb") as file:
            file.write(bytes(20 << 20))
            os.fsync(file.fileno())

    def wait_until(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    def start_hung_mount(self):
        """A file system that was seen, and whose server has stopped."""
        directory = tempfile.mkdtemp(dir=self.directory)
        source, mount = os.path.join(directory, "source"), os.path.join(directory, "mnt")
        os.mkdir(source)
        os.mkdir(mount)
        daemon = subprocess.Popen([harness.tool("bindfs"), "-f", source, mount])

        def end():
            daemon.send_signal(signal.SIGCONT)
            harness.run([harness.tool("umount"), "-l", mount])
            daemon.kill()
            daemon.wait()
        self.addCleanup(end)
        self.wait_until(lambda: os.path.ismount(mount))
        return daemon, mount

    def told(self, recording):
        """{mount point: space}, as far as they have been told."""
        if not os.path.exists(recording):
            return {}
        return {mount: volume["space"] for batch in harness.batches(recording) for volume in batch["volumes"]
                for mount in volume["mounts"] if "space" in volume}

    def test_a_mount_that_hangs_keeps_nobody_waiting(self):
        daemon, hung = self.start_hung_mount()
        recording, socket = self.path("agent.rec"), self.path("agent.sock")
        with open(self.path("agent.log"), "w", encoding="utf-8") as log:
            agent = subprocess.Popen([os.path.join(harness.bindir(), "unblend-agent"), "--socket", socket,
                                      "--interval", "1s",
                                      "--state", self.path("state"), "--copy", recording], stderr=log)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.kill)
        self.wait_until(lambda: os.path.exists(socket))
        daemon.send_signal(signal.SIGSTOP)
        waiter = subprocess.Popen(["ls", hung], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(waiter.wait)
        self.addCleanup(waiter.kill)

        def touch_and_look():
            os.listdir(self.volume.mount)
            return self.volume.mount in self.told(recording)
        self.wait_until(touch_and_look)
        used, total, used_files, total_files = self.told(recording)[self.volume.mount]
        s = os.statvfs(self.volume.mount)
        self.assertEqual(((s.f_blocks - s.f_bfree) * s.f_frsize, (s.f_blocks - s.f_bfree + s.f_bavail) * s.f_frsize),
                         (used, total))
        self.assertEqual((s.f_files - s.f_ffree, s.f_files), (used_files, total_files))
        self.assertGreater(used, 20 << 20)
        self.assertNotIn(hung, self.told(recording))
        count = len(harness.batches(recording))
        self.wait_until(lambda: len(harness.batches(recording)) > count + 2)  # nobody waits for it
        daemon.send_signal(signal.SIGCONT)
        agent.terminate()
        agent.wait(PATIENCE_S)


def batch(day, used):
    return {
        "schema": "unblend.batch/1", "cluster": "c1", "node": "n1", "role": "client", "kernel": "6.1.0", "boot_id": "b",
        "stream": "0" * 31 + "9", "seq": day, "start_ns": START_NS + day * DAY_NS, "duration_ns": 60 * 10**9,
        "interval_ms": 60000,
        "jobs": [{"job": "j", "kind": "slurm", "user": "ann", "command": "", "labels": {}, "start_ns": None,
                  "end_ns": None, "exit": None}],
        "volumes": [{"volume": "nas:/data", "source": "nas:/data", "fstype": "nfs4", "scope": "shared",
                     "mounts": ["/data"], "space": [used, TOTAL, 5, 0]}],
        "records": [{"job": 0, "volume": 0, "op": "stat", "bytes": 0, "errors": 0, "latency_sum_ns": 1000,
                     "latency_ns": "80:1"}],
        "coverage": {"lost_ops": 0, "killed_ops": 0, "in_flight_ops": 0, "unattributed_ops": 0, "overflow_ops": 0,
                     "hooks": [], "bypass": []},
    }


class GrowthTest(SystemTest):
    def report(self, days, *options):
        lines, path = self.path("days.json"), self.path("days.rec")
        with open(lines, "w", encoding="utf-8") as file:
            for day in range(days):
                wobble = (day * 7 % 5 - 2) * (5 << 30)
                file.write(json.dumps(batch(day, (5 << 40) + day * A_DAY + wobble)) + "\n")
        with open(lines, encoding="utf-8") as file:
            harness.must([os.path.join(harness.bindir(), "tests/system/json_recording"), path], stdin=file)
        return harness.must([harness.unblend(), "report", *options, path])

    def volume(self, days):
        return json.loads(self.report(days, "-f", "json"))["cluster"]["capacity"]["volumes"][0]

    def test_three_weeks_tell_when_it_is_full(self):
        volume = self.volume(22)
        self.assertEqual(TOTAL, volume["total_bytes"])
        self.assertIsNone(volume["used_files"], "nobody counts them")
        growth = volume["growth_bytes_day"]
        self.assertLess(growth["low"], A_DAY)
        self.assertGreater(growth["high"], A_DAY)
        self.assertAlmostEqual(1, growth["value"] / A_DAY, delta=0.02)
        self.assertLess(growth["high"] - growth["low"], A_DAY / 5)
        # 5 TiB are left at the beginning: 51.2 days.
        self.assertLessEqual(volume["full_at"]["early"][:10], "2026-04-21")
        self.assertGreaterEqual(volume["full_at"]["late"][:10], "2026-04-21")
        self.assertGreater(volume["full_at"]["early"][:10], "2026-04-16")
        self.assertIn("nas:/data, between 2026-04-", self.report(22, "-f", "html"))

    def test_a_week_does_not(self):
        volume = self.volume(8)
        self.assertGreater(volume["used_bytes"], 5 << 40)
        self.assertIsNone(volume["growth_bytes_day"])
        self.assertIsNone(volume["full_at"])
        self.assertIn("Cannot tell, because two weeks are needed", self.report(8, "-f", "html"))


if __name__ == "__main__":
    harness.main()
