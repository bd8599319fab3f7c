# SPDX-License-Identifier: GPL-2.0-or-later
"""GPU-hours lost to I/O, with a GPU whose every busy moment is known: the program that uses it says when it was."""
import json
import mmap
import os

import harness
import slow

LIBRARIES = "tests/system/gpu"
CARD_BYTES = 1 << 20
DIVIDED_AT = 4

# Steps of a training job: it waits for a piece (which a thread may have read ahead), then computes on the GPU, then
# does something else. Reading begins after the calm steps. It says for how long it waited.
TRAINER = """
import mmap, os, queue, struct, sys, threading, time
path, card, calm, steps, piece, stride, compute, other, ahead = *sys.argv[1:3], *map(float, sys.argv[3:])
fd = os.open(card, os.O_RDWR)
gpu = mmap.mmap(fd, 0)
os.close(fd)
gpu[0:4] = struct.pack("=I", os.getpid())
fd = os.open(path, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
def read(step):
    os.pread(fd, int(piece), int(step) * int(stride))
def use(step):
    begin = time.time()
    until = time.thread_time() + compute
    while time.thread_time() < until:
        pass
    gpu[16 + 16 * step:32 + 16 * step] = struct.pack("=dd", begin, time.time())
    gpu[8:12] = struct.pack("=I", step + 1)
    time.sleep(other)
ready = queue.Queue(int(ahead) or 1)
def load():
    for step in range(int(steps)):
        read(step)
        ready.put(step)
for step in range(int(calm)):
    use(step)
if ahead:
    threading.Thread(target=load, daemon=True).start()
waited = 0
for step in range(int(steps)):
    before = time.monotonic()
    ready.get() if ahead else read(step)
    waited += time.monotonic() - before
    use(int(calm) + step)
print(waited)
"""


class GpuTest(slow.SlowTest):
    def train(self, calm, steps, compute_s, other_s=0, ahead=0, divided=False, libraries=LIBRARIES):
        """For how long the job waited, and the report."""
        card = self.path("card")
        with open(card, "wb") as file:
            file.truncate(CARD_BYTES)
            if divided:
                os.pwrite(file.fileno(), b"\1", DIVIDED_AT)
        environment = {**harness.environment(), "UNBLEND_TEST_GPU": card,
                       "LD_LIBRARY_PATH": os.path.join(harness.bindir(), libraries)}
        done = harness.record(self.path("gpu.rec"),
                              [harness.PYTHON, "-I", "-S", "-c", TRAINER, self.data, card,
                               *map(str, (calm, steps, slow.PIECE, slow.STRIDE, compute_s, other_s, ahead))],
                              "-i", "0.2", env=environment)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return float(done.stdout), harness.report(self.path("gpu.rec"))

    def lost_s(self, report):
        hours = report.job()["io_wait"]["gpu_hours"]
        return 3600 * hours["low"], 3600 * hours["high"]

    def hook(self, report):
        return [(hook["state"], hook["why"]) for hook in report.coverage["hooks"] if hook["hook"] == "gpu"]

    def test_what_is_waited_for_is_lost(self):
        waited, report = self.train(0, 240, 0.03)  # long enough for the interpreter's start to be little of it
        low, high = self.lost_s(report)
        self.assertEqual([("attached", None)], self.hook(report))
        self.assertLess(240 * self.DELAY_S, waited)
        self.assertAlmostEqual(waited, low, delta=0.15 * waited)
        self.assertAlmostEqual(waited, high, delta=0.15 * waited)
        self.assertLess(report.job()["io_wait"]["gpu_hours"]["usual_idle"], 0.1)

    def test_nothing_is_lost_when_reading_is_ahead(self):
        waited, report = self.train(0, 100, 0.06, ahead=8)
        low, high = self.lost_s(report)
        self.assertLess(waited, 1)
        self.assertLess(low, 0.5)
        self.assertLess(high, 0.5)

    def test_what_is_usual_is_not_lost(self):
        """A GPU that is idle half the time whether there is I/O or not."""
        _, report = self.train(80, 80, 0.03, other_s=0.03, ahead=8)
        hours = report.job()["io_wait"]["gpu_hours"]
        low, high = self.lost_s(report)
        self.assertAlmostEqual(0.5, hours["usual_idle"], delta=0.1)
        self.assertAlmostEqual(0.5, hours["idle"], delta=0.1)
        self.assertLess(low, 0.1 * 3600 * hours["watched"])
        self.assertLess(high, 0.1 * 3600 * hours["watched"])

    def test_a_divided_one_tells_nothing(self):
        _, report = self.train(0, 10, 0.01, divided=True)
        self.assertIsNone(report.job()["io_wait"]["gpu_hours"])
        state, why = self.hook(report)[0]
        self.assertEqual("unavailable", state)
        self.assertIn("MIG", why)

    def test_without_the_library(self):
        _, report = self.train(0, 10, 0.01, libraries="nowhere")
        self.assertIsNone(report.job()["io_wait"]["gpu_hours"])
        self.assertEqual([("unavailable", "libnvidia-ml.so.1 is not here")], self.hook(report))

    def test_it_is_told(self):
        self.train(0, 60, 0.03)
        text = " ".join(harness.run([harness.unblend(), "report", self.path("gpu.rec")]).stdout.split())
        self.assertRegex(text, r"GPUs: idle for \d+ % of .*, \d+ % when there was no I/O; lost to I/O .* to ")
        page = harness.run([harness.unblend(), "report", "--format", "html", self.path("gpu.rec")]).stdout
        self.assertIn("of their time", page)


if __name__ == "__main__":
    harness.main()
