# SPDX-License-Identifier: GPL-2.0-or-later
"""io_uring and libaio: fio's own account and the recording's must agree, to the operation and to the byte; and requests
that hang on each other, are not told of, are cancelled, or are never completed."""
import json
import os
import subprocess
import time

import harness

SIZE = 3 << 20
RINGS = {
    "plain": [],
    "vectors": ["--nonvectored=0"],
    "fixed_buffers": ["--fixedbufs"],
    "registered_files": ["--registerfiles"],
    "polling_thread": ["--sqthread_poll"],
    "polling_thread_registered": ["--sqthread_poll", "--registerfiles", "--fixedbufs"],
    "workers": ["--force_async=1"],
    "some_by_workers": ["--force_async=3"],
    "threads": ["--thread", "--numjobs=3"],
}
CONTEXTS = {
    "plain": [],
    "reaped_by_the_program": ["--userspace_reap"],
    "batches": ["--iodepth=64", "--iodepth_batch=16", "--iodepth_batch_complete_min=4"],
    "threads": ["--thread", "--numjobs=3", "--userspace_reap"],
    "processes": ["--numjobs=2"],
}

DIRECT = ("plain", "polling_thread_registered", "workers", "reaped_by_the_program")


class FioTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(96)
        harness.must([*cls.fio("psync", "write"), "--numjobs=3"], cwd=cls.directory)

    @classmethod
    def fio(cls, engine, how, *options):
        return [harness.tool("fio"), "--name=job", f"--directory={cls.volume.mount}", "--filename_format=$jobnum",
                f"--ioengine={engine}", f"--rw={how}", "--bs=4k", f"--size={SIZE}", "--iodepth=16",
                "--group_reporting", "--randseed=1", "--output-format=json",
                f"--output={cls.directory}/fio.json", *options]

    def compare(self, engine, *options):
        command = self.fio(engine, "randrw", "--fsync=100", "--allow_file_create=0", "--fallocate=none", *options)
        report = self.record(command, cwd=self.directory)
        with open(self.path("fio.json"), encoding="utf-8") as file:
            (job,) = json.load(file)["jobs"]
        ops = report.volume(self.volume.mount)
        for name in ("read", "write"):
            self.assertGreater(job[name]["total_ios"], 0)
            self.assertEqual((job[name]["total_ios"], job[name]["io_bytes"], 0), harness.count(ops, name), name)
            self.assertEqual(0, ops[name]["size"]["zero"])
            for histogram in ("size", "latency_ns"):
                self.assertEqual(ops[name]["ops"], sum(row[2] for row in ops[name][histogram]["histogram"]))
            # fio looks at the clock later than the kernel at completion, and earlier at submission.
            self.assertLess(ops[name]["latency_ns"]["p50"], 2 * job[name]["lat_ns"]["max"])
        self.assertEqual(job["sync"]["total_ios"], ops["fsync"]["ops"])
        self.assertEqual(0, report.lost())
        for name in ("overflow_ops", "killed_ops", "in_flight_ops", "unattributed_ops"):
            self.assertEqual(0, report.coverage[name], name)
        return report

    def test_order_is_that_of_submission(self):
        for engine in ("io_uring", "libaio"):
            with self.subTest(engine):
                report = self.record(self.fio(engine, "read", "--allow_file_create=0"), cwd=self.directory)
                self.assertEqual(0, report.job()["ratios"]["random"] // 0.01)
                self.assertGreater(report.job()["ratios"]["consecutive"], 0.99)


def add_cases():
    for engine, cases in (("io_uring", RINGS), ("libaio", CONTEXTS)):
        for case, options in cases.items():
            for direct in (0, 1) if case in DIRECT else (0,):
                def test(self, engine=engine, options=tuple(options), direct=direct):
                    self.compare(engine, f"--direct={direct}", *options)
                setattr(FioTest, f"test_{engine}_{case}_{'direct' if direct else 'buffered'}", test)


add_cases()

# What the programs below begin with: a ring by hand.
RING = """
import ctypes, mmap, os, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
OPENAT, CLOSE, READ, WRITE, TIMEOUT, CANCEL, NOP = 18, 19, 22, 23, 11, 14, 0
FIXED, LINK, ASYNC, SILENT = 1, 4, 16, 64
class Ring:
    def __init__(self, entries=32):
        params = bytearray(120)
        buffer = (ctypes.c_char * 120).from_buffer(params)
        self.fd = libc.syscall(425, entries, buffer)
        (self.sq_entries, self.cq_entries) = struct.unpack_from("II", params)
        (_, self.sq_tail, _, _, _, _, self.sq_array) = struct.unpack_from("7I", params, 40)
        (self.cq_head, self.cq_tail, _, _, _, self.cqes) = struct.unpack_from("6I", params, 80)
        size = max(self.sq_array + 4 * self.sq_entries, self.cqes + 16 * self.cq_entries)
        self.queue = mmap.mmap(self.fd, size, offset=0)
        self.sqes = mmap.mmap(self.fd, 64 * self.sq_entries, offset=0x10000000)
        self.kept = []
    def slots(self, count):
        files = (ctypes.c_int * count)(*([-1] * count))
        assert libc.syscall(427, self.fd, 2, files, count) == 0
    def push(self, opcode, fd=-1, data=None, length=0, offset=0, flags=0, op_flags=0, slot=0, tag=0):
        address = data if isinstance(data, int) else 0
        if isinstance(data, (bytes, bytearray)):
            keep = ctypes.create_string_buffer(bytes(data), max(len(data), length) + 1)
            self.kept.append(keep)
            address = ctypes.addressof(keep)
        (tail,) = struct.unpack_from("I", self.queue, self.sq_tail)
        at = tail % self.sq_entries
        struct.pack_into("<BBHiQQIIQHHiQQ", self.sqes, 64 * at, opcode, flags, 0, fd, offset, address, length,
                         op_flags, tag, 0, 0, slot, 0, 0)
        struct.pack_into("I", self.queue, self.sq_array + 4 * at, at)
        struct.pack_into("I", self.queue, self.sq_tail, tail + 1)
    def enter(self, submit, wait):
        done = libc.syscall(426, self.fd, submit, wait, 1 if wait else 0, None, 0)
        assert done == submit, ctypes.get_errno()
        results = {}
        (head,), (tail,) = (struct.unpack_from("I", self.queue, at) for at in (self.cq_head, self.cq_tail))
        while head != tail:
            tag, res, _ = struct.unpack_from("QiI", self.queue, self.cqes + 16 * (head % self.cq_entries))
            results[tag] = res
            head += 1
        struct.pack_into("I", self.queue, self.cq_head, head)
        return results
path = sys.argv[1].encode()
ring = Ring()
"""

# And a context of libaio.
CONTEXT = """
import ctypes, mmap, os, signal, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
PREAD, PWRITE = 0, 1
context = ctypes.c_ulong(0)
assert libc.syscall(206, 32, ctypes.byref(context)) == 0
kept = []
def control(opcode, fd, length, offset=0):
    buffer = ctypes.create_string_buffer(length)
    iocb = ctypes.create_string_buffer(struct.pack("<QIIHhIQQqQII", 0, 0, 0, opcode, 0, fd,
                                                   ctypes.addressof(buffer), length, offset, 0, 0, 0), 64)
    kept.append((buffer, iocb))
    return ctypes.addressof(iocb)
def submit(*controls):
    return libc.syscall(209, context, len(controls), (ctypes.c_ulong * len(controls))(*controls))
def fetch(count):
    events = ctypes.create_string_buffer(32 * count)
    done = libc.syscall(208, context, count, count, events, None)
    return [struct.unpack_from("QQqq", events, 32 * i)[2] for i in range(done)]
path = sys.argv[1]
"""


class RequestTest(harness.DataTest):
    def program(self, text, status=0):
        done = harness.record(self.path("async.rec"), [harness.PYTHON, "-I", "-S", "-c", text, self.data])
        self.assertEqual((status, ""), (done.returncode, done.stderr))
        report = harness.report(self.path("async.rec"))
        self.assertEqual((0, 0), (report.lost(), report.coverage["overflow_ops"]))
        return report, report.volume(self.volume.mount)

    def test_a_chain_through_a_slot(self):
        """Opened, read and closed without a descriptor: when they are submitted, there is no file yet."""
        _, ops = self.program(RING + """
ring.slots(4)
for i in range(20):
    ring.push(OPENAT, -100, path, op_flags=os.O_RDONLY, flags=LINK, slot=2, tag=1)
    ring.push(READ, 1, bytes(5000), 5000, 0, flags=FIXED | LINK, tag=2)
    ring.push(READ, 1, bytes(3000), 3000, 5000, flags=FIXED | LINK, tag=3)
    ring.push(CLOSE, 0, slot=2, tag=4)
    assert ring.enter(4, 4) == {1: 0, 2: 5000, 3: 3000, 4: 0}
""")
        self.assertEqual({"open": (20, 0, 0), "read": (40, 160000, 0), "close": (20, 0, 0)},
                         {name: harness.count(ops, name) for name in ops})

    def test_success_that_is_not_told(self):
        _, ops = self.program(RING + """
fd = os.open(path, os.O_RDONLY)
for i in range(30):
    ring.push(READ, fd, bytes(700), 700, 0, flags=SILENT | LINK, tag=1)
    ring.push(READ, fd, bytes(300), 300, 0, tag=2)
    assert ring.enter(2, 1) == {2: 300}
""")
        self.assertEqual((60, 30 * 1000, 0), harness.count(ops, "read"))

    def test_success_that_is_not_told_before_other_requests(self):
        """The kernel uses their memory again for what is no operation, and whose result is another one."""
        for other, options in ("NOP", "tag=3"), ("TIMEOUT", "data=struct.pack('qq', 0, 1000), length=1, tag=3"):
            with self.subTest(other):
                _, ops = self.program(RING + f"""
fd = os.open(path, os.O_RDONLY)
for i in range(8):
    ring.push(READ, fd, bytes(700), 700, 0, flags=SILENT)
    ring.enter(1, 0)
time.sleep(0.1)
for i in range(40):
    ring.push({other}, {options})
    assert list(ring.enter(1, 1)) == [3]
""")
                self.assertEqual((8, 8 * 700, 0), harness.count(ops, "read"))

    def test_cancelled_with_what_they_depend_on(self):
        _, ops = self.program(RING + """
fd = os.open(path, os.O_RDONLY)
for i in range(10):
    ring.push(OPENAT, -100, path + b"/none", op_flags=os.O_RDONLY, flags=LINK, tag=1)
    ring.push(READ, fd, bytes(700), 700, 0, tag=2)
    assert ring.enter(2, 2) == {1: -20, 2: -125}
""")
        self.assertEqual((10, 0, 10), harness.count(ops, "read"))
        self.assertEqual((11, 0, 10), harness.count(ops, "open"))

    def test_more_completions_than_the_ring_holds(self):
        _, ops = self.program(RING + """
small = Ring(2)
fd = os.open(path, os.O_RDONLY)
results = []
for i in range(40):
    small.push(READ, fd, bytes(100 + i), 100 + i, 0, tag=i)
    libc.syscall(426, small.fd, 1, 0, 0, None, 0)
while len(results) < 40:
    results += small.enter(0, 1).items()
assert sorted(results) == [(i, 100 + i) for i in range(40)], results
""")
        self.assertEqual((40, sum(range(100, 140)), 0), harness.count(ops, "read"))

    def test_a_ring_that_is_used_by_a_child(self):
        report, ops = self.program(RING + """
fd = os.open(path, os.O_RDONLY)
if not os.fork():
    ring.push(READ, fd, bytes(700), 700, 0, tag=1)
    assert ring.enter(1, 1) == {1: 700}
    os._exit(0)
os.wait()
""")
        self.assertEqual((1, 700, 0), harness.count(ops, "read"))

    def test_requests_that_io_submit_refuses(self):
        """The bad one is nobody's file; those behind it have not begun, until they are submitted again."""
        _, ops = self.program(CONTEXT + """
fd = os.open(path, os.O_RDONLY)
for i in range(10):
    controls = [control(PREAD, fd, 100), control(PREAD, 9999, 100), control(PREAD, fd, 200)]
    assert submit(*controls) == 1
    assert submit(*controls[1:]) == -1
    assert submit(controls[2]) == 1
    assert sorted(fetch(2)) == [100, 200]
""")
        self.assertEqual((20, 3000, 0), harness.count(ops, "read"))

    def test_completions_that_nobody_fetches(self):
        """They are seen in the ring when the process exits, if it has ever looked there."""
        _, ops = self.program(CONTEXT + """
fd = os.open(path, os.O_RDONLY)
ctypes.string_at(context.value, 32)
for i in range(10):
    assert submit(control(PREAD, fd, 100)) == 1
os._exit(0)
""")
        self.assertEqual((10, 1000, 0), harness.count(ops, "read"))

    def on_volume(self, report):
        (volume,) = [volume for volume in report.job()["volumes"] if self.volume.mount in volume["mounts"]]
        return volume

    def hang(self, text):
        """A program whose requests hang in a frozen file system: the report while they do, and the one of the end."""
        recording, ready = self.path("hang.rec"), self.path("ready")
        if os.path.exists(ready):
            os.unlink(ready)
        process = subprocess.Popen([harness.unblend(), "record", "-o", recording, "-i", "100ms", "--",
                                    harness.PYTHON, "-I", "-S", "-c", text, self.data, ready],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=harness.environment())
        try:
            harness.must([harness.tool("fsfreeze"), "-f", self.volume.mount])
            limit = time.monotonic() + 20
            while not os.path.exists(ready) and time.monotonic() < limit:
                time.sleep(0.02)
            time.sleep(1.5)
            hanging = self.on_volume(harness.report(recording))["in_flight"]
        finally:
            harness.must([harness.tool("fsfreeze"), "-u", self.volume.mount])
        self.assertEqual("", process.communicate(timeout=30)[1])
        return hanging, harness.report(recording)

    def test_requests_that_hang_are_in_flight(self):
        hanging, report = self.hang(RING + """
while True:  # until it is frozen
    fd = os.open(path, os.O_WRONLY)
    ring.push(WRITE, fd, bytes(100), 100, 0, flags=ASYNC, tag=1)
    libc.syscall(426, ring.fd, 1, 0, 0, None, 0)
    limit = time.monotonic() + 0.2
    while not (told := ring.enter(0, 0)) and time.monotonic() < limit:
        time.sleep(0.01)
    os.close(fd)
    if not told:
        break
libc.syscall(426, ring.fd, 0, 0, 0, None, 0)
os.close(os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY))
while not ring.enter(0, 0):
    time.sleep(0.01)
""")
        self.assertEqual(1, hanging["now"])
        self.assertGreater(hanging["oldest_ns"], 0.9e9)
        self.assertEqual(0, self.on_volume(report)["in_flight"]["now"])
        write = report.volume(self.volume.mount)["write"]
        self.assertEqual(write["bytes"], 100 * write["ops"])
        self.assertGreater(write["latency_ns"]["max"], 0.9e9)
        self.assertEqual((0, 0), (report.coverage["in_flight_ops"], report.coverage["killed_ops"]))

    def test_killed_with_a_request_under_way(self):
        """Nobody learns its result: it is no operation, and said to be cut off."""
        report, ops = self.program(RING + """
fd = os.open(path, os.O_RDONLY)
ring.push(READ, fd, bytes(700), 700, 0, tag=1)
assert ring.enter(1, 1) == {1: 700}
clock = ctypes.create_string_buffer(struct.pack("qq", 60, 0))
ring.push(TIMEOUT, -1, ctypes.addressof(clock), 1, 0, flags=LINK, tag=2)
ring.push(READ, fd, bytes(800), 800, 0, tag=3)
libc.syscall(426, ring.fd, 2, 0, 0, None, 0)
if not os.fork():
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
time.sleep(10)
""", status=137)
        self.assertEqual((1, 700, 0), harness.count(ops, "read"))
        self.assertEqual((1, 1), (report.coverage["in_flight_ops"], report.coverage["killed_ops"]))


if __name__ == "__main__":
    harness.main()
