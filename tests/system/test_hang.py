# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system whose server has stopped: what waits for it is named while it waits, and nobody else waits."""
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time

import harness

PATIENCE_S = 30  # on a loaded machine; the figures say by themselves how fast it was
STUCK_NS = 10**9

# Each hangs in one operation on the directory that is its argument; by paths of all kinds and by a descriptor.
WAITERS = {
    "open": ["sh", "-c", 'exec head -c 1 "$0/data"'],
    "mkdir": ["sh", "-c", 'cd /; exec mkdir ".$0/sub/../made"'],
    "unlink": ["sh", "-c", 'exec rm -f -- "$0//./data"'],
    "read": [harness.PYTHON, "-I", "-S", "-c",
             "import os, sys\nfd = os.open(sys.argv[1] + '/data', os.O_RDONLY)\n"
             "print('ready', flush=True)\nsys.stdin.readline()\nos.read(fd, 4096)"],
}


class Samples:
    """The lines that a `top --json` prints, as they come."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith("\n"):  # else it was ended while it wrote
                self.lines.put(json.loads(line))

    def next(self):
        return self.lines.get(timeout=PATIENCE_S)

    def skip(self):
        """Those that came while nobody looked are old."""
        while not self.lines.empty():
            self.lines.get()

    def close(self):
        self.process.terminate()
        self.process.communicate()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


class HangTest(harness.SystemTest):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="unblend-hang-")  # where the daemon's mount is seen by its own name
        self.addCleanup(harness.shutil.rmtree, self.directory, ignore_errors=True)
        self.source = os.path.join(self.directory, "source")
        self.mount = os.path.join(self.directory, "mnt")
        os.mkdir(self.source)
        os.mkdir(self.mount)
        os.mkdir(os.path.join(self.source, "sub"))
        with open(os.path.join(self.source, "data"), "wb") as file:
            file.write(bytes(65536))
        self.daemon = subprocess.Popen([harness.tool("bindfs"), "-f", self.source, self.mount])
        self.addCleanup(self.end_daemon)
        self.wait_until(lambda: os.path.ismount(self.mount))

    def end_daemon(self):
        self.daemon.send_signal(signal.SIGCONT)
        harness.run([harness.tool("umount"), "-l", self.mount])
        self.daemon.terminate()
        try:
            self.daemon.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()

    def wait_until(self, condition):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def start_agent(self):
        socket = os.path.join(self.directory, "agent.sock")
        return harness.start_agent(self, socket, "--interval", "1s"), socket

    def start_waiters(self):
        waiters = {name: subprocess.Popen([*command, self.mount], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
                   for name, command in WAITERS.items() if name == "read"}
        self.assertEqual("ready\n", waiters["read"].stdout.readline())
        self.daemon.send_signal(signal.SIGSTOP)
        waiters["read"].stdin.write("go\n")
        waiters["read"].stdin.flush()
        for name, command in WAITERS.items():
            if name != "read":
                waiters[name] = subprocess.Popen([*command, self.mount], stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL)
        return waiters

    def find_stuck(self, samples, waiters):
        """What the first sample says that shows all of them; and the longest interval until then."""
        pids = {waiter.pid for waiter in waiters.values()}
        longest_s = 0
        for _ in range(PATIENCE_S):
            sample = samples.next()
            longest_s = max(longest_s, sample["interval_s"])
            stuck = {entry["pid"]: entry for entry in sample["stuck"] if entry["pid"] in pids}
            if len(stuck) == len(pids):
                return stuck, longest_s
        raise AssertionError(f"of {pids} only {stuck} shown as stuck")

    def test_who_waits_for_a_stopped_daemon(self):
        agent, socket = self.start_agent()
        tops = {"own": Samples([harness.unblend(), "top", "--json", "-n", "600", "-d", "1"]),
                "agent": Samples([harness.unblend(), "top", "--json", "-n", "600", "-d", "1", "--agent", socket])}
        for samples in tops.values():
            self.addCleanup(samples.close)
            samples.next()
        waiters = self.start_waiters()
        for waiter in waiters.values():
            self.addCleanup(waiter.communicate)
        self.addCleanup(self.daemon.send_signal, signal.SIGCONT)
        for name, samples in tops.items():
            with self.subTest(name):
                stuck, longest_s = self.find_stuck(samples, waiters)
                for op, waiter in waiters.items():
                    entry = stuck[waiter.pid]
                    first = {"mkdir": "mkdir", "unlink": ("unlink", "stat")}.get(op, op)
                    self.assertIn(entry["op"], first if isinstance(first, tuple) else (first,))
                    self.assertTrue(entry["volume"].endswith(":" + self.source), entry)
                    self.assertGreaterEqual(entry["oldest_ns"], STUCK_NS)
                # Two intervals after the last of them was stuck, at the latest; a crowded machine has longer ones.
                youngest_ns = min(entry["oldest_ns"] for entry in stuck.values())
                self.assertLess(youngest_ns, STUCK_NS + 2 * longest_s * 10**9)
        # Everybody else goes on.
        for samples in tops.values():
            samples.skip()
            samples.next()
        said = harness.must([harness.unblend(), "top", "-b", "-n", "2", "-d", "1", "--agent", socket])
        self.assertIn("stuck: ", said)
        self.assertIn(self.source, said)
        doctor = json.loads(harness.run([harness.unblend(), "doctor", "--json"]).stdout)
        self.assertTrue(doctor["works"] if "works" in doctor else doctor["flavour"])
        self.assertIsNone(agent.poll())
        # And afterwards nothing is stuck.
        self.daemon.send_signal(signal.SIGCONT)
        for waiter in waiters.values():
            waiter.wait(PATIENCE_S)
        tops["agent"].skip()
        for _ in range(PATIENCE_S):
            if not [entry for entry in tops["agent"].next()["stuck"] if entry["volume"].endswith(self.source)]:
                return
        self.fail("it is over, and still shown")

    def test_a_platforms_file_that_hangs(self):
        """Its counters are left out, and that is said; all else is counted at its time."""
        path = os.path.join(self.mount, "platform.csv")
        with open(path, "w", encoding="ascii") as file:
            file.write("volume,request,ops\nstore,read,1\n")
        self.daemon.send_signal(signal.SIGSTOP)
        self.addCleanup(self.daemon.send_signal, signal.SIGCONT)
        done = harness.record(self.path("platform.rec"), ["sleep", "3"], "--platform-metrics", path)
        self.assertEqual(0, done.returncode)
        self.assert_one_line(done.stderr, f"platform-metrics {path}: reading it hangs")
        batches = harness.batches(self.path("platform.rec"))
        self.assertGreaterEqual(len(batches), 3)
        for batch in batches:
            hooks = {hook["hook"]: hook for hook in batch["coverage"]["hooks"]}
            self.assertEqual(("unavailable", "reading it hangs"),
                             tuple(hooks["platform-metrics"][key] for key in ("state", "why")))

    def test_who_is_killed_there_has_not_returned(self):
        recording = os.path.join(self.directory, "killed.rec")
        program = WAITERS["read"][-1].replace("os.read", "os.kill(int(sys.argv[2]), 19)\nos.read")
        recorder = subprocess.Popen([harness.unblend(), "record", "-o", recording, "--", *WAITERS["read"][:-1], program, self.mount,
                                     str(self.daemon.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(recorder.communicate)
        self.assertEqual("ready\n", recorder.stdout.readline())
        recorder.stdin.write("go\n")
        recorder.stdin.flush()
        with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children", encoding="utf-8") as children:
            waiter = children.read().split()[0]
        self.wait_until(lambda: state_of(waiter) == "D")
        os.kill(int(waiter), signal.SIGKILL)
        time.sleep(1)
        self.daemon.send_signal(signal.SIGCONT)  # closing the file asks it, too
        recorder.wait(PATIENCE_S)
        report = harness.report(recording)
        self.assertEqual((0, 0, 0), harness.count(report.volume(self.mount), "read"))
        self.assertEqual((1, 1), (report.coverage["killed_ops"], report.coverage["in_flight_ops"]))


if __name__ == "__main__":
    harness.main()
