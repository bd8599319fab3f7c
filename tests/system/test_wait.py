# SPDX-License-Identifier: GPL-2.0-or-later
"""A loader on a file system of known delay: what it waits for shows, and what prefetching hides does not."""
import harness
import slow

# Reads a piece for each step and computes for a while (of its own CPU time); says what share of that time, and of its life, it waited.
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
def now(): # less what others on its processors cost it
    with open("/proc/self/schedstat") as file:
        return time.monotonic() - int(file.read().split()[1]) / 1e9
begin = time.monotonic()
for step in range(int(steps)):
    before = now()
    ready.get() if ahead else read(step)
    waited += now() - before
    until = time.thread_time() + compute
    while time.thread_time() < until:
        pass
with open("/proc/self/stat") as file:
    born = int(file.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
print(waited / (time.monotonic() - begin), waited / (time.clock_gettime(time.CLOCK_BOOTTIME) - born))
"""


# Each second sleeps while it does no I/O, then computes while another thread reads: it never waits for one.
TURNS = """
import os, sys, threading, time
path, seconds, piece = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
fd = os.open(path, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
first = int(time.time()) + 1
def load():
    step = 0
    for second in range(first, first + seconds):
        time.sleep(max(0, second + 0.5 - time.time()))
        while time.time() < second + 0.95:
            os.pread(fd, piece, step * (1 << 18))
            step += 1
threading.Thread(target=load, daemon=True).start()
for second in range(first, first + seconds):
    time.sleep(max(0, second + 0.45 - time.time()))
    while time.time() < second + 1:
        pass
"""


class WaitTest(slow.SlowTest):
    def load(self, steps, compute_s, ahead, *launcher):
        """The loader's own word, and the job of the report."""
        command = [*launcher, harness.PYTHON, "-I", "-S", "-c", LOADER, self.data, str(steps), str(slow.PIECE),
                   str(compute_s), str(ahead)]
        done = harness.record(self.path("wait.rec"), command, "-i", "0.2")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return float(done.stdout.split()[1]), harness.report(self.path("wait.rec")).job()

    def test_who_reads_for_itself_waits(self):
        said, job = self.load(60, 0.03, 0)
        self.assertGreater(said, 0.2)
        self.assertAlmostEqual(said, job["io_wait"]["exposed"]["share"], delta=0.05)

    def test_prefetching_hides_it(self):
        said, job = self.load(60, 0.06, 8)
        self.assertLess(said, 0.2)
        self.assertAlmostEqual(0, job["io_wait"]["exposed"]["share"], delta=0.1)
        # Its thread waits all the same.
        self.assertGreater(job["io_wait"]["thread_seconds"]["small_reads"], 0.9 * 60 * self.DELAY_S)

    def test_a_shell_does_not_wait_for_the_io_of_what_it_started(self):
        _, job = self.load(80, 0.06, 8, "/bin/sh", "-c", '"$@"; exit $?', "sh")
        exposed = job["io_wait"]["exposed"]
        self.assertLess(exposed["seconds"], 0.15 * 80 * 0.06)
        self.assertGreater(exposed["watched_s"], 0.6 * 80 * 0.06)

    def test_who_sleeps_and_reads_in_turns_does_not_wait(self):
        done = harness.record(self.path("turns.rec"), [harness.PYTHON, "-I", "-S", "-c", TURNS, self.data, "4",
                                                       str(slow.PIECE)], "-i", "1")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        wait = harness.report(self.path("turns.rec")).job()["io_wait"]
        self.assertGreater(wait["thread_seconds"]["all"], 0.4 * 4 * 0.8)
        self.assertLess(wait["exposed"]["seconds"], 0.2 * 4)

    def test_thread_seconds_are_those_of_operations(self):
        _, job = self.load(20, 0.001, 0)
        wait = job["io_wait"]["thread_seconds"]
        self.assertGreater(wait["small_reads"], 0.9 * 20 * self.DELAY_S)
        self.assertLess(wait["metadata"] + wait["fsync"], wait["small_reads"])
        self.assertIsNone(job["io_wait"]["gpu_hours"])


if __name__ == "__main__":
    harness.main()
