# SPDX-License-Identifier: GPL-2.0-or-later
"""A loader on a file system of known delay: what it waits for shows, and what prefetching hides does not."""
import os
import subprocess
import tempfile
import time

import harness

PATIENCE_S = 30
DELAY_S = 0.03  # of each request that the file system's server reads a file for
PIECE = 32768   # one request

# Reads a piece for each step and computes for a while (of its own CPU time); says what share of the time it waited.
LOADER = """
import os, queue, sys, threading, time
path, steps, piece, compute, ahead = sys.argv[1], *map(float, sys.argv[2:])
fd = os.open(path, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
def read(step):
    os.pread(fd, int(piece), int(step) * (1 << 18))
ready = queue.Queue(int(ahead) or 1)
def load():
    for step in range(int(steps)):
        read(step)
        ready.put(step)
if ahead:
    threading.Thread(target=load, daemon=True).start()
waited = 0
begin = time.monotonic()
for step in range(int(steps)):
    before = time.monotonic()
    ready.get() if ahead else read(step)
    waited += time.monotonic() - before
    until = time.thread_time() + compute
    while time.thread_time() < until:
        pass
print(waited / (time.monotonic() - begin))
"""


class WaitTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.top = tempfile.mkdtemp(prefix="unblend-wait-")
        cls.addClassCleanup(harness.shutil.rmtree, cls.top, ignore_errors=True)
        source, cls.mount = os.path.join(cls.top, "source"), os.path.join(cls.top, "mnt")
        os.mkdir(source)
        os.mkdir(cls.mount)
        with open(os.path.join(source, "data"), "wb") as file:
            file.truncate(64 << 20)
        cls.daemon = subprocess.Popen(
            [harness.tool("strace"), "-f", "-qq", "-o", "/dev/null", "-e", "trace=pread64", "-e",
             f"inject=pread64:delay_enter={int(DELAY_S * 1e6)}", harness.tool("bindfs"), "-f", source, cls.mount])
        cls.addClassCleanup(cls.end_daemon)
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.ismount(cls.mount):
            if time.monotonic() > deadline:
                raise AssertionError("bindfs did not mount")
            time.sleep(0.05)

    @classmethod
    def end_daemon(cls):
        harness.run([harness.tool("umount"), "-l", cls.mount])
        cls.daemon.terminate()
        cls.daemon.wait(PATIENCE_S)

    def load(self, steps, compute_s, ahead):
        """The loader's own word, and the job of the report."""
        command = [harness.PYTHON, "-I", "-S", "-c", LOADER, os.path.join(self.mount, "data"), str(steps), str(PIECE),
                   str(compute_s), str(ahead)]
        done = harness.record(self.path("wait.rec"), command, "-i", "0.2")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return float(done.stdout), harness.report(self.path("wait.rec")).job()

    def test_who_reads_for_itself_waits(self):
        said, job = self.load(60, 0.03, 0)
        self.assertGreater(said, 0.2)
        self.assertAlmostEqual(said, job["io_wait"]["exposed"]["share"], delta=0.05)

    def test_prefetching_hides_it(self):
        said, job = self.load(60, 0.06, 8)
        self.assertLess(said, 0.2)
        self.assertAlmostEqual(0, job["io_wait"]["exposed"]["share"], delta=0.1)
        # Its thread waits all the same.
        self.assertGreater(job["io_wait"]["thread_seconds"]["small_reads"], 0.9 * 60 * DELAY_S)

    def test_thread_seconds_are_those_of_operations(self):
        _, job = self.load(20, 0.001, 0)
        wait = job["io_wait"]["thread_seconds"]
        self.assertGreater(wait["small_reads"], 0.9 * 20 * DELAY_S)
        self.assertLess(wait["metadata"] + wait["fsync"], wait["small_reads"])
        self.assertIsNone(job["io_wait"]["gpu_hours"])


if __name__ == "__main__":
    harness.main()
