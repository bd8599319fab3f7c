# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes while somebody looks at it: mounts that are taken away in use, numbers of processes that come back at
once."""
import os

import harness

# DIRECTORY: mounts a tmpfs there, takes it away while a file on it is open, and reads on.
VANISH = """
import ctypes, os, sys
libc, directory = ctypes.CDLL(None, use_errno=True), sys.argv[1]
def must(result):
    if result:
        raise OSError(ctypes.get_errno(), "mount")
for turn in range(int(sys.argv[2])):
    must(libc.mount(b"vanishing", directory.encode(), b"tmpfs", 0, None))
    fd = os.open(directory + "/file", os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(5000))
    must(libc.umount2(directory.encode(), 2))
    for i in range(10):
        os.pread(fd, 500, i * 500)
    os.close(fd)
"""

# FILE TIMES: children of which each has the number of the one before, where nobody else takes it; prints how often
# it had.
AGAIN = """
import os, sys
path, times = sys.argv[1], int(sys.argv[2])
reads, same, before = {"odd": 0, "even": 0}, 0, 0
for turn in range(times):
    if before:
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(before - 1))
    job, count = ("odd", 3) if turn % 2 else ("even", 2)
    pid = os.fork()
    if not pid:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execve("/usr/bin/head", ["head", "-c1"] + [path] * count, {"UNBLEND_JOB": job})
    os.waitpid(pid, 0)
    reads[job] += count
    same += pid == before
    before = pid
print(same, reads["odd"], reads["even"])
"""


class GoneTest(harness.DataTest):
    def test_a_mount_that_vanishes_in_use(self):
        """What is done to a file of it that is open is still done to it."""
        directory = self.path("vanishing")
        os.mkdir(directory)
        report = self.record([harness.PYTHON, "-I", "-S", "-c", VANISH, directory, "20"])
        reads = writes = closes = 0
        for volume in report.job()["volumes"]:
            if volume["fstype"] == "tmpfs":  # one that had gone before anybody looked has no other name
                ops = volume["ops"]
                reads += ops.get("read", {}).get("ops", 0)
                writes += ops.get("write", {}).get("bytes", 0)
                closes += ops.get("close", {}).get("ops", 0)
        self.assertEqual((200, 20 * 5000, 20), (reads, writes, closes))
        self.assertEqual((0, 0), (report.lost(), report.coverage["in_flight_ops"]))

    def test_a_number_that_comes_back_at_once(self):
        """A process is its number and its start: who comes next under the number has its own job."""
        if not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK):
            return  # a kernel that does not let anybody choose
        done = harness.record(self.path("again.rec"), [harness.PYTHON, "-I", "-S", "-c", AGAIN, self.data, "60"])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        same, odd, even = map(int, done.stdout.split())
        self.assertGreater(same, 0)
        report = harness.report(self.path("again.rec"))
        reads = {job["job"]: sum(volume["ops"].get("read", {}).get("ops", 0) for volume in job["volumes"]
                                 if self.volume.mount in volume["mounts"]) for job in report.data["jobs"]}
        self.assertEqual((odd, even), (reads["odd"], reads["even"]))
        self.assertEqual(0, report.lost())
