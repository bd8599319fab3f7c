# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads, seeks and closes by how large their file is: exact, whichever call it is, and whatever the same thread has used
before."""
import os
import unittest

import harness
from harness import PYTHON
from test_path import PathTest

SIZES = {"small": 40 << 10, "medium": 300 << 10, "large": 5 << 20}
FILES, BLOCK = 40, 8 << 10
READS = {name: FILES * -(-size // BLOCK) for name, size in SIZES.items()} | {"large": 640}

# Files in turns, so that a thread's descriptors lead to other kinds all the time; the large one is never closed.
PROGRAM = f"""
import os, sys
mount, rounds = sys.argv[1], int(sys.argv[2])
large = os.open(mount + "/large", os.O_RDONLY)
for round in range(rounds):
    for i in range({FILES}):
        for name in ("small", "medium"):
            file = os.open(f"{{mount}}/{{name}}{{i}}", os.O_RDONLY)
            while os.read(file, {BLOCK}):
                pass
            os.close(file)
        for k in range({READS["large"] // FILES}):
            os.pread(large, {BLOCK}, (i * 7 + k) * {BLOCK})
"""

THREADS = """
import os, sys, threading
def read(name, size):
    file = os.open(sys.argv[1] + "/" + name, os.O_RDONLY)
    for i in range(3000):
        os.pread(file, 512, i * 512 % size)
threads = [threading.Thread(target=read, args=of) for of in (("small0", 40 << 10), ("medium0", 300 << 10), ("large", 5 << 20))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""

# It is a file of another kind from the next slot of 100 ms on.
GROWING = """
import os, sys, time
file = os.open(sys.argv[1] + "/grows", os.O_RDWR | os.O_CREAT)
for size, reads in ((100 << 10, 30), (1 << 20, 20), (5 << 20, 10)):
    os.ftruncate(file, size)
    time.sleep(0.25)
    for i in range(reads):
        os.pread(file, 1000, i * 1000)
"""

BETWEEN = """
import os, sys
small, large = (os.open(sys.argv[1] + "/" + name, os.O_RDONLY) for name in ("small1", "large"))
copy = os.open(sys.argv[1] + "/copy", os.O_WRONLY | os.O_CREAT)
here, there = os.pipe()
for i in range(10):
    os.copy_file_range(small, copy, 4096, 0, 0)
for i in range(7):
    os.sendfile(there, large, i * 4096, 4096)
    os.read(here, 4096)
"""

# More files than a thread's memory has places for. What fails is of no file.
SEEKS = """
import os, sys
mount = sys.argv[1]
kinds = {"small0": os.O_RDONLY, "medium0": os.O_RDONLY, "large": os.O_RDONLY, "small1": os.O_RDWR, "medium1": os.O_WRONLY}
files = [(os.open(mount + "/" + name, flags), i + 1) for i, (name, flags) in enumerate(kinds.items()) for copy in range(3)]
folder = os.open(mount, os.O_RDONLY)
for round in range(7):
    for file, times in files:
        for i in range(times):
            os.lseek(file, i, os.SEEK_SET)
    os.lseek(folder, 0, os.SEEK_SET)
    try:
        os.lseek(folder, -1, os.SEEK_SET)
    except OSError:
        pass
for file, times in files:
    os.close(file)
os.close(folder)
for flags in (os.O_RDONLY, os.O_RDWR) * 20: # one address after the other, mostly
    file = os.open(mount + "/medium2", flags)
    os.lseek(file, 10, os.SEEK_SET)
    os.close(file)
"""


def make(mount):
    for name, size in SIZES.items():
        for i in range(1 if name == "large" else FILES):
            with open(os.path.join(mount, name if name == "large" else f"{name}{i}"), "wb") as file:
                file.write(os.urandom(size))


# Names once, twice and so on in each round, then what is open.
STATS = """
import ctypes, os, platform, sys
mount = sys.argv[1]
call, buffer = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(256)
fstat = {"x86_64": 5, "aarch64": 80}[platform.machine()]  # which the C library does not make
names = [mount + "/" + name for name in ("small0", "medium0", "large", "", "nothing")]
kinds = {"small0": os.O_RDONLY, "medium0": os.O_RDONLY, "large": os.O_RDONLY, "small1": os.O_RDWR, "": os.O_RDONLY}
files = [os.open(mount + "/" + name, flags) for name, flags in kinds.items()]
for round in range(200):
    for i, name in enumerate(names):
        for time in range(i + 1):
            try:
                os.stat(name)
            except OSError:
                pass
    for i, file in enumerate(files):
        for time in range(i + 6):
            os.fstat(file)
        for time in range(i + 20):
            call(fstat, file, buffer)
"""


class FileSizeTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(96)
        make(cls.volume.mount)

    def reads(self, command):
        return self.record(command, cwd=self.directory).volume(self.volume.mount)["read"]

    def expect(self, read, small, medium, large):
        self.assertEqual({"small_files": small, "medium_files": medium, "large_files": large}, read["of"])
        self.assertEqual(small + medium + large, read["ops"] - read["size"]["zero"])

    def run_python(self, program, *arguments):
        return self.reads([PYTHON, "-I", "-S", "-c", program, self.volume.mount, *arguments])

    def test_files_in_turns(self):
        read = self.run_python(PROGRAM, "3")
        self.expect(read, *(3 * READS[name] for name in SIZES))
        self.assertEqual(3 * sum(READS.values()), read["cached"]["known_ops"])

    def test_by_threads(self):
        self.expect(self.run_python(THREADS), 3000, 3000, 3000)

    def test_one_that_grows(self):
        self.expect(self.run_python(GROWING), 30, 20, 10)

    def test_between_files(self):
        self.expect(self.run_python(BETWEEN), 10, 0, 7)

    def test_seeks_and_closes(self):
        ops = self.record([PYTHON, "-I", "-S", "-c", SEEKS, self.volume.mount], cwd=self.directory).volume(self.volume.mount)
        self.assertEqual({"small_files": 7 * 3, "medium_files": 7 * 6 + 20, "large_files": 7 * 9,
                          "others": 7 * (12 + 15 + 1) + 20}, ops["seek"]["of"])
        self.assertEqual(7, ops["seek"]["errors"])
        self.assertEqual({"small_files": 3, "medium_files": 3 + 20, "large_files": 3, "others": 6 + 1 + 20},
                         ops["close"]["of"])

    def test_stats(self):
        stat = self.record([PYTHON, "-I", "-S", "-c", STATS, self.volume.mount],
                           cwd=self.directory).volume(self.volume.mount)["stat"]
        self.assertEqual({"open": 200 * (6 + 7 + 8 + 9 + 10 + 20 + 21 + 22 + 23 + 24), "name": 200 * (1 + 2 + 3 + 4 + 5),
                          "small_files": 200 * (1 + 6 + 9 + 20 + 23), "medium_files": 200 * (2 + 7 + 21),
                          "large_files": 200 * (3 + 8 + 22)}, stat["of"])
        self.assertEqual(200 * 5, stat["errors"])

    def test_requests(self):
        for engine in ("io_uring", "libaio"):
            for name, at in (("small2", 0), ("medium2", 1), ("large", 2)):
                with self.subTest(engine, file=name):
                    read = self.reads([harness.tool("fio"), "--name=job", f"--filename={self.volume.mount}/{name}",
                                       f"--ioengine={engine}", "--rw=randread", "--bs=4k", "--iodepth=8", "--readonly",
                                       "--size=100%", f"--output={self.directory}/fio.out"])
                    expected = [0, 0, 0]
                    expected[at] = list(SIZES.values())[at] // 4096
                    self.expect(read, *expected)

    def test_a_device_has_no_size(self):
        report = self.record([PYTHON, "-I", "-S", "-c",
                              "import os, sys\nfile = os.open(sys.argv[1], os.O_RDONLY)\n"
                              "for i in range(100):\n    os.pread(file, 4096, i * 4096)\n", self.volume.device])
        reads = [volume["ops"]["read"] for volume in report.data["jobs"][0]["volumes"] if volume["fstype"] == "block"
                 and "read" in volume["ops"]]
        self.assertEqual([(100, None)], [(read["ops"], read["of"]) for read in reads])


class ToldTest(PathTest):
    def test_the_database_has_them(self):
        make(self.volume.mount)
        agent = self.start_agent()
        done = agent.record("reads", [PYTHON, "-I", "-S", "-c", PROGRAM, self.volume.mount, "2"], self.path("reads.rec"))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(0, agent.stop())
        for view in ("samples", "samples_1m"):
            sums = harness.must([harness.tool("psql"), "-XAtqF,", self.collector.conninfo(), "-c",
                                 "select sum(small_file_reads), sum(medium_file_reads), sum(large_file_reads), "
                                 f"count(small_file_reads) filter (where op <> 'read') from unblend.{view} as s "
                                 "join unblend.volumes as v using (volume_id) where s.job = 'reads' and v.mounts::text "
                                 f"like '%{self.volume.mount}%'"])
            if view == "samples" or sums.strip() != ",,,0": # the minute may not have been summed up yet
                self.assertEqual([*(2 * READS[name] for name in SIZES), 0], [*map(int, sums.split(","))], view)


if __name__ == "__main__":
    unittest.main()
