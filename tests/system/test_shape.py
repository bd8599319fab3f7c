# SPDX-License-Identifier: GPL-2.0-or-later
"""Where transfers start, how large opened files are, and what hangs: seen by a program whose every call is known."""
import json
import os
import subprocess
import time

import harness

RECORD = 4096
SIZE = 1 << 20

TO = "to = os.open(sys.argv[1] + 'to', os.O_CREAT | os.O_WRONLY)\n"

# Each part moves RECORD bytes a call on an open file of its own.
SHAPES = {
    # front to back: the first at 0 and each where the last one ended
    "consecutive": "for i in range(64): os.read(fd, 4096)",
    "consecutive pread": "for i in range(64): os.pread(fd, 4096, i * 4096)",
    # forwards with gaps
    "sequential": "for i in range(64): os.pread(fd, 4096, 4096 + i * 8192)",
    # backwards
    "random": "for i in range(64, 0, -1): os.pread(fd, 4096, i * 8192)",
    "writes": "for i in range(64): os.write(fd, bytes(4096))",
    "after a seek": "os.lseek(fd, 65536, 0)\nfor i in range(64): os.read(fd, 4096)",
    "reopened": "for i in range(64):\n  f = os.open(sys.argv[1], os.O_RDONLY)\n  os.read(f, 4096)\n  os.close(f)",
    "two descriptors": "g = os.open(sys.argv[1], os.O_RDONLY)\n"
                       "for i in range(32): os.read(fd, 4096); os.read(g, 4096)",
    "inherited": "if os.fork() == 0:\n  for i in range(32): os.read(fd, 4096)\n  os._exit(0)\n"
                 "os.wait()\nfor i in range(32): os.read(fd, 4096)",
    # one position, whoever uses it
    "parent and child in turns": "for i in range(8):\n  for j in range(4): os.read(fd, 4096)\n"
                                 "  if os.fork() == 0:\n    for j in range(4): os.read(fd, 4096)\n    os._exit(0)\n"
                                 "  os.wait()",
    "duplicate": "g = os.dup(fd)\nfor i in range(32): os.read(fd, 4096); os.read(g, 4096)",
    "handed to a thread": "import threading\nfor i in range(32): os.read(fd, 4096)\n"
                          "t = threading.Thread(target=lambda: [os.read(fd, 4096) for i in range(32)])\n"
                          "t.start(); t.join()",
    "two threads in turns": "import threading\nlocks = [threading.Lock(), threading.Lock()]\nlocks[1].acquire()\n"
                            "def part(mine, other):\n  for i in range(32):\n"
                            "    mine.acquire(); os.read(fd, 4096); other.release()\n"
                            "t = threading.Thread(target=part, args=(locks[1], locks[0]))\n"
                            "t.start(); part(*locks); t.join()",
    # more files than a thread keeps in mind
    "many files": "files = [os.open(sys.argv[1], os.O_RDONLY) for i in range(8)]\n"
                  "for i in range(8):\n  for f in files: os.read(f, 4096)",
    "closed elsewhere": "import threading\ndef part():\n  global f\n  os.close(f); f = os.open(sys.argv[1], "
                        "os.O_RDONLY)\n"
                        "for i in range(8):\n  f = os.open(sys.argv[1], os.O_RDONLY)\n"
                        "  for j in range(4): os.read(f, 4096)\n"
                        "  t = threading.Thread(target=part); t.start(); t.join()\n"
                        "  for j in range(4): os.read(f, 4096)\n  os.close(f)",
    # the kernel keeps what is open where another file's was
    "one file after the other, handed to a thread": "import threading\n"
        "def part(count):\n  for i in range(count): os.write(f, bytes(4096))\n"
        "for i in range(16):\n  f = os.open(sys.argv[1] + str(i % 2), os.O_CREAT | os.O_RDWR)\n"
        "  if i % 2 == 0:\n    part(4); os.close(f)\n    continue\n"
        "  part(2)\n  t = threading.Thread(target=part, args=(2,)); t.start(); t.join()\n  os.close(f)",
    "one file after the other, among others": "for i in range(16):\n"
        "  f = os.open(sys.argv[1] + str(i % 3), os.O_CREAT | os.O_RDWR)\n"
        "  others = []\n  os.write(f, bytes(4096)); os.write(f, bytes(4096))\n"
        "  if i % 2: others = [os.open(sys.argv[1], os.O_RDONLY) for j in range(4)]\n"
        "  os.write(f, bytes(4096)); os.write(f, bytes(4096))\n  for g in [*others, f]: os.close(g)",
    "one file after the other, by threads": "import threading\n"
        "def part(i):\n  f = os.open(sys.argv[1] + str(i % 3), os.O_CREAT | os.O_RDWR)\n"
        "  os.write(f, bytes(4096)); os.write(f, bytes(4096)); os.close(f)\n"
        "for i in range(16):\n  part(i)\n  t = threading.Thread(target=part, args=(i + 1,)); t.start(); t.join()",
    # both sides of a transfer between descriptors, by the file's own offset or one that is given
    "sendfile": TO + "for i in range(32): os.sendfile(to, fd, None, 4096)",
    "sendfile at an offset": TO + "for i in range(32): os.sendfile(to, fd, 8192 * (31 - i), 4096)",
    "copy_file_range": TO + "for i in range(32): os.copy_file_range(fd, to, 4096, 8192 * i, 4096 * (31 - i))",
    "copy_file_range by own offsets": TO + "for i in range(32): os.copy_file_range(fd, to, 4096)",
    "splice": "ends = os.pipe()\n" + TO +
        "for i in range(32):\n  os.splice(fd, ends[1], 4096, 4096 * (31 - i)); os.splice(ends[0], to, 4096)",
    "splice to an offset, among reads": "ends = os.pipe()\n"
        "for i in range(16):\n  os.splice(fd, ends[1], 4096); os.read(fd, 4096)\n"
        "  os.splice(ends[0], fd, 4096, None, 8192 * i); os.read(fd, 4096)",
}

# (sequential, consecutive, random) of the 64 transfers
EXPECTED = {
    "consecutive": (0, 64, 0),
    "consecutive pread": (0, 64, 0),
    "sequential": (64, 0, 0),
    "random": (1, 0, 63),
    "writes": (0, 64, 0),
    "after a seek": (1, 63, 0),
    "reopened": (0, 64, 0),
    "two descriptors": (0, 64, 0),
    "inherited": (0, 64, 0),
    "parent and child in turns": (0, 64, 0),
    "duplicate": (0, 64, 0),
    "handed to a thread": (0, 64, 0),
    "two threads in turns": (0, 64, 0),
    "many files": (0, 64, 0),
    "closed elsewhere": (0, 64, 0),
    "one file after the other, handed to a thread": (0, 64, 0),
    "one file after the other, among others": (0, 64, 0),
    "one file after the other, by threads": (0, 64, 0),
    "sendfile": (0, 64, 0),
    "sendfile at an offset": (1, 32, 31),
    "copy_file_range": (32, 1, 31),
    "copy_file_range by own offsets": (0, 64, 0),
    "splice": (1, 32, 31),
    "splice to an offset, among reads": (16, 32, 16),
}


BUCKETS = 496  # of a histogram (lib/bucket.h)


def joint_cells(pairs):
    """What lib/joint.h says, as (("small", 4096, "all"), count)."""
    bucket = 0
    for pair in pairs.split():
        delta, _, count = pair.partition(":")
        bucket += int(delta)
        size = bucket % BUCKETS
        lower = size if size < 8 else (8 + size % 8) << (size // 8 - 1)
        yield ((("?", "small", "medium", "large")[bucket // BUCKETS % 4], lower,
                ("all", "jumped")[bucket // BUCKETS // 4]), int(count or 1))


class ShapeTest(harness.DataTest):
    SIZE = SIZE

    def test_where_transfers_start(self):
        for name, code in SHAPES.items():
            with self.subTest(name):
                program = f"import os, sys\nfd = os.open(sys.argv[1], os.O_RDWR)\n{code}\n"
                report = self.record([harness.PYTHON, "-I", "-S", "-c", program, self.data])
                ratios = self.on_volume(report)["ratios"]
                got = tuple(round(ratios[key] * 64, 6) for key in ("sequential", "consecutive", "random"))
                self.assertEqual(EXPECTED[name], got)

    def joint(self, command):
        """What a command did on the volume, as joint_cells() has it, by operation."""
        self.record(command)
        joint = {}
        for batch in harness.batches(self.path("unblend.rec")):
            for record in batch["records"]:
                if self.volume.mount in batch["volumes"][record["volume"]]["mounts"]:
                    for key, count in joint_cells(record.get("joint", "")):
                        joint[record["op"], *key] = joint.get((record["op"], *key), 0) + count
        return joint

    def test_which_sizes_jump_and_of_what_files_they_are(self):
        """Counted together: by size, by how large the file is, and by whether it goes on."""
        paths = []
        for size in (16384, SIZE, 8 << 20):
            paths.append(os.path.join(self.volume.mount, f"joint-{size}"))
            with open(paths[-1], "wb") as file:
                file.write(bytes(size))
        program = ("import os, sys\n"
                   "small, medium, large = sys.argv[1:]\n"
                   "for i in range(5):\n  f = os.open(small, os.O_RDONLY)\n"
                   "  for j in range(4): os.read(f, 4096)\n  os.read(f, 4096)\n  os.close(f)\n"
                   "f = os.open(medium, os.O_RDONLY)\n"
                   "for i in range(7): os.pread(f, 4096, 8192 + 65536 * i)\n"
                   "for i in range(6): os.pread(f, 65536, 65536 * i)\n"
                   "os.close(f)\nf = os.open(large, os.O_RDWR)\n"
                   "for i in range(3): os.pread(f, 1 << 20, i << 20)\n"
                   "for i in range(9): os.pread(f, 512, (8 - i) << 20)\n"
                   "for i in range(11): os.pwrite(f, bytes(512), 3000 + 5000 * i)\n"
                   "for i in range(2): os.pwrite(f, bytes(4096), i << 12)\n"
                   "for i in range(13): os.stat(small)\n"
                   "for i in range(4): os.stat(large)\n"
                   "f = os.open(medium, os.O_RDONLY)\n"
                   "for i in range(6): os.fstat(f)\n")
        self.assertEqual({
            ("stat", "small", 0, "all"): 13, ("stat", "small", 0, "jumped"): 13, # by name
            ("stat", "medium", 0, "all"): 6, ("stat", "large", 0, "all"): 4, ("stat", "large", 0, "jumped"): 4,
            ("read", "small", 0, "all"): 5,
            ("read", "small", 4096, "all"): 20,
            ("read", "medium", 4096, "all"): 7, ("read", "medium", 4096, "jumped"): 7,
            # the first of them starts before where the last one ended
            ("read", "medium", 65536, "all"): 6, ("read", "medium", 65536, "jumped"): 1,
            ("read", "large", 1 << 20, "all"): 3, ("read", "large", 0, "all"): 1,
            ("read", "large", 512, "all"): 8, ("read", "large", 512, "jumped"): 8,
            ("write", "?", 512, "jumped"): 11, ("write", "?", 4096, "jumped"): 1,
        }, self.joint([harness.PYTHON, "-I", "-S", "-c", program, *paths]))

    def test_sizes_of_opened_files(self):
        sizes = [0, 1, 4096, 98304, SIZE]
        paths = []
        for size in sizes:
            paths.append(os.path.join(self.volume.mount, f"file-{size}"))
            with open(paths[-1], "wb") as file:
                file.write(bytes(size))
        program = ("import os, sys\n"
                   "for path in sys.argv[1:]:\n  os.close(os.open(path, os.O_RDONLY))\n"
                   "os.close(os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY))\n")
        # A volume has no file_size of its own: the job's holds the interpreter's files too, so take what is added.
        bare = self.record([harness.PYTHON, "-I", "-S", "-c", program.replace("sys.argv[1:]", "[]"), *paths])
        full = self.record([harness.PYTHON, "-I", "-S", "-c", program, *paths])

        def cells(report):
            return {low: count for low, high, count in report.job()["file_size"]["histogram"]}

        before, after = cells(bare), cells(full)
        added = {low: after[low] - before.get(low, 0) for low in after if after[low] != before.get(low, 0)}
        self.assertEqual({size: 1 for size in sizes}, added)

    def test_a_call_that_hangs_is_seen_while_it_hangs(self):
        recording = self.path("hang.rec")
        program = ("import os, sys\nfd = os.open(sys.argv[1], os.O_WRONLY)\nprint('open', flush=True)\n"
                   "sys.stdin.readline()\nos.write(fd, bytes(4096))\n")
        recorder = subprocess.Popen(
            [harness.unblend(), "record", "-i", "200ms", "-o", recording, "--", harness.PYTHON, "-I", "-S",
             "-c", program, self.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual("open\n", recorder.stdout.readline())
        harness.must([harness.tool("fsfreeze"), "-f", self.volume.mount])
        try:
            recorder.stdin.write("go\n")
            recorder.stdin.flush()
            time.sleep(2)
            hanging = self.on_volume(harness.report(recording))["in_flight"]
            top = harness.must([harness.unblend(), "top", "-b", "--json", "--replay", recording])
            text = harness.must([harness.unblend(), "report", recording])
        finally:
            harness.must([harness.tool("fsfreeze"), "-u", self.volume.mount])
        recorder.communicate(timeout=30)
        self.assertEqual(0, recorder.returncode)
        self.assertEqual(1, hanging["now"])
        self.assertGreater(hanging["oldest_ns"], 1_000_000_000)
        self.assertEqual(1, hanging["max"])
        self.assertEqual((1, 1), (hanging["by"]["write"]["now"], hanging["by"]["write"]["max"]))
        # in flight for all but the start and the last interval, on average over the recording
        self.assertGreater(hanging["mean"], 0.5)
        self.assertLess(hanging["mean"], 1)
        stuck, = hanging["stuck"]
        self.assertEqual(("write", 1, hanging["oldest_ns"]), (stuck["op"], stuck["ops"], stuck["oldest_ns"]))
        sample = json.loads(top.splitlines()[-1])
        self.assertEqual([(stuck["pid"], "write")], [(s["pid"], s["op"]) for s in sample["stuck"]])
        self.assertIn("stuck for", text)
        self.assertIn(f"process {stuck['pid']}", text)
        after = self.on_volume(harness.report(recording))
        self.assertEqual(0, after["in_flight"]["now"])
        self.assertEqual([], after["in_flight"]["stuck"])
        self.assertEqual(1, after["in_flight"]["max"])
        self.assertIsNone(after["in_flight"]["oldest_ns"])
        self.assertEqual((1, RECORD, 0), harness.count(after["ops"], "write"))
        self.assertGreater(after["ops"]["write"]["latency_ns"]["max"], 1_500_000_000)

    def test_the_most_at_once(self):
        """So many threads hang at once, then none: seen at the looks between the intervals' ends."""
        program = ("import os, sys, threading\nfd = os.open(sys.argv[1], os.O_WRONLY)\n"
                   "def work(): os.pwrite(fd, bytes(4096), 0)\n"
                   "threads = [threading.Thread(target=work) for i in range(5)]\n"
                   "print('open', flush=True)\nsys.stdin.readline()\n"
                   "[t.start() for t in threads]\n[t.join() for t in threads]\n")
        recording = self.path("most.rec")
        recorder = subprocess.Popen(
            [harness.unblend(), "record", "-i", "1h", "-o", recording, "--", harness.PYTHON, "-I", "-S", "-c", program,
             self.data], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual("open\n", recorder.stdout.readline())
        harness.must([harness.tool("fsfreeze"), "-f", self.volume.mount])
        try:
            recorder.stdin.write("go\n")
            recorder.stdin.flush()
            time.sleep(1)
        finally:
            harness.must([harness.tool("fsfreeze"), "-u", self.volume.mount])
        recorder.communicate(timeout=30)
        flight = self.on_volume(harness.report(recording))["in_flight"]
        self.assertEqual((0, 5), (flight["now"], flight["max"]))
        self.assertEqual(5, flight["by"]["write"]["max"])
        self.assertGreater(flight["mean"], 1)
