# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top` through an agent: several at once, each at its own pace and by thread or by process, and all exact."""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import harness

# Threads that read so often each once a line comes; each says how often, and its number, first.
READERS = r"""
import os, sys, threading
go = threading.Event()
def read(file, times):
    os.write(1, b"%d %d\n" % (times, threading.get_native_id()))
    go.wait()
    for _ in range(times):
        os.pread(file, 4096, 0)
threads = [threading.Thread(target=read, args=(os.open(sys.argv[1], os.O_RDONLY), 1000 * (i + 1))) for i in range(4)]
for thread in threads:
    thread.start()
sys.stdin.readline()
go.set()
for thread in threads:
    thread.join()
"""
DAEMON = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
for i in range(600):
    if i == 25:
        os.setuid(65534)
    os.pread(file, 4096, 0)
    time.sleep(0.1)
"""
READS = [1000, 2000, 3000, 4000]
KEYS = "ops", "read_ops", "read_bytes", "metadata_ops", "errors"


class TestAgent(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(harness.shutil.rmtree, self.directory, ignore_errors=True)
        os.chmod(self.directory, 0o755)
        self.socket = os.path.join(self.directory, "agent.sock")
        self.data = os.path.join(self.directory, "data")
        with open(self.data, "wb") as file:
            file.write(bytes(4096))
        self.agent = harness.start_agent(self, self.socket)

    def top(self, *options, **others):
        """One that watches, and what it writes."""
        written = tempfile.TemporaryFile("w+", dir=self.directory)
        unblend = os.path.join(self.directory, "unblend")  # what was built may lie where only root may look
        if not os.path.exists(unblend):
            harness.shutil.copy(harness.unblend(), unblend)
        top = subprocess.Popen([unblend, "top", "--json", "--agent", self.socket, *options],
                               stdout=written, **others)
        self.addCleanup(written.close)
        self.addCleanup(top.wait)
        self.addCleanup(top.kill)
        for _ in range(200):
            if os.fstat(written.fileno()).st_size:
                return top, written
            time.sleep(0.05)
        self.fail(f"{options}: no sample")

    def read(self, **others):
        """Lets them read; their process, and their numbers."""
        readers = subprocess.Popen([sys.executable, "-c", READERS, self.data], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, **others)
        numbers = dict(map(int, readers.stdout.readline().split()) for _ in READS)
        readers.communicate("\n", timeout=60)
        return readers.pid, [numbers[times] for times in READS]

    def samples(self, top, seconds=3):
        time.sleep(seconds)
        process, written = top
        process.terminate()
        process.wait()
        written.seek(0)
        return [json.loads(line) for line in written if line.endswith("\n")]

    def sums(self, samples, pid):
        """What a process did over all samples, by thread (None: of samples by process)."""
        sums = collections.defaultdict(collections.Counter)
        for sample in samples:
            for row in sample.get("threads") or sample.get("processes") or []:
                if row["pid"] == pid:
                    for key in KEYS:
                        sums[row.get("tid")][key] += round(row[key + "_s"] * sample["interval_s"])
        return sums

    def test_each_at_its_own_pace(self):
        tops = {0.1: self.top("-d", "0.1", "--threads"), 2: self.top("-d", "2"), 1: self.top("--tab", "threads")}
        pid, numbers = self.read()
        time.sleep(4)
        for pace, top in tops.items():
            with self.subTest(pace):
                samples = self.samples(top, 0)
                sums = self.sums(samples, pid)
                if pace == 2:
                    self.assertEqual([None], list(sums))
                    self.assertGreaterEqual(sums[None]["read_ops"], sum(READS))  # and what Python itself reads
                else:
                    self.assertEqual(READS, [sums[number]["read_ops"] for number in numbers])
                    self.assertEqual([4096 * n for n in READS], [sums[n]["read_bytes"] for n in numbers])
                lengths = sorted(sample["interval_s"] for sample in samples)
                self.assertAlmostEqual(pace, lengths[len(lengths) // 2], delta=pace / 4)

    def test_processes_have_the_sum_of_their_threads(self):
        by_thread, by_process = self.top("-d", "0.2", "--threads"), self.top()
        pid, _ = self.read()
        time.sleep(3)
        threads, whole = (self.sums(self.samples(top, 0), pid) for top in (by_thread, by_process))
        self.assertEqual([None], list(whole))
        self.assertGreater(len(threads), len(READS))
        self.assertEqual(whole[None], sum(threads.values(), collections.Counter()))

    def test_without_rights_of_its_own(self):
        """One's own threads, tenths of a second, and of all others only the sum."""
        top = self.top("-d", "0.1", "--threads", user="nobody", group="nogroup")
        pid, numbers = self.read(user="nobody", group="nogroup")
        other, _ = self.read()
        samples = self.samples(top)
        sums = self.sums(samples, pid)
        self.assertEqual(READS, [sums[number]["read_ops"] for number in numbers])
        self.assertEqual({}, self.sums(samples, other))
        self.assertGreaterEqual(self.sums(samples, None)[None]["read_ops"], sum(READS))

    def test_who_goes_on_as_somebody_else(self):
        """As daemons do: root at first, then another user, with an execve (test above) and without one."""
        daemon = subprocess.Popen([sys.executable, "-c", DAEMON, self.data])
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        users = [row["user"] for sample in self.samples(self.top()) for row in sample["processes"]
                 if row["pid"] == daemon.pid]
        self.assertEqual(("root", "nobody"), (users[0], users[-1]))

    def test_what_begins_while_the_agent_is_late_has_its_process(self):
        """Nobody watched before, and the interval is over before the agent comes to it."""
        recording = os.path.join(self.directory, "late.rec")
        work = (f"kill -STOP {self.agent.pid}; dd if={self.data} of=/dev/null bs=1 count=1000; sleep 1.5; "
                f"kill -CONT {self.agent.pid}")
        time.sleep(2)
        harness.must([harness.unblend(), "record", "--agent", self.socket, "--job", "late", "-o", recording, "--",
                      "sh", "-c", work])
        shown = harness.must([harness.unblend(), "top", "--json", "--replay", recording])
        reads = collections.Counter()
        for sample in map(json.loads, shown.splitlines()):
            for row in sample["processes"]:
                reads[row["command"]] += round(row["read_ops_s"] * sample["interval_s"])
        self.assertGreaterEqual(reads["dd"], 1000, reads)


if __name__ == "__main__":
    unittest.main()
