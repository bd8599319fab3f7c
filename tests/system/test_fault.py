# SPDX-License-Identifier: GPL-2.0-or-later
"""Page faults on mapped files, against the kernel's own count of a process's major faults (getrusage)."""
import json
import os

import harness

PAGE = os.sysconf("SC_PAGESIZE")
PAGES = 1024

# Says how many major faults the touching took; the file has been dropped from the cache before.
PROGRAM = """
import json, mmap, os, resource, sys
path, advice, way = sys.argv[1:4]
page = mmap.PAGESIZE
fd = os.open(path, os.O_RDWR)
size = os.fstat(fd).st_size
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
prot = mmap.PROT_READ | (mmap.PROT_WRITE if way == "write" else 0)
area = mmap.mmap(fd, size, flags=mmap.MAP_SHARED, prot=prot)
if advice == "random":
    area.madvise(mmap.MADV_RANDOM)
out = os.open("/dev/null", os.O_WRONLY)
pipe = os.pipe()
before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
for offset in range(0, size, page):
    if way == "read":
        area[offset]
    elif way == "write":
        area[offset] = 1
    else:  # the kernel copies from the mapped page: the fault is in a system call
        os.write(pipe[1], memoryview(area)[offset:offset + 1])
        os.read(pipe[0], 1)
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before))
"""


class FaultTest(harness.DataTest):
    SIZE = PAGES * PAGE

    def faults(self, advice, way):
        path = self.path("fault.rec")
        done = harness.record(path, [harness.PYTHON, "-I", "-S", "-c", PROGRAM, self.data, advice, way])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        report = harness.report(path)
        self.assertEqual(0, report.lost())
        os.sync()
        self.kinds = self.on_volume(report)["faults"]
        return json.loads(done.stdout), report.volume(self.volume.mount).get("mmap_fault")

    def test_each_page_by_itself(self):
        for way in ("read", "write", "syscall"):
            with self.subTest(way):
                majors, found = self.faults("random", way)
                self.assertEqual(PAGES, majors)
                self.assertEqual((majors, PAGES * PAGE, 0), (found["ops"], found["bytes"], found["errors"]))
                self.assertEqual((PAGE, PAGE), (found["size"]["p1"], found["size"]["p99"]))
                self.assertEqual(majors, sum(count for _, _, count in found["latency_ns"]["histogram"]))
                writes = PAGES if way == "write" else 0
                self.assertEqual({"major": PAGES, "read": PAGES - writes, "write": writes, "minor": 0}, self.kinds)

    def test_readahead_belongs_to_the_fault_that_asked_for_it(self):
        majors, found = self.faults("normal", "read")
        self.assertEqual(majors, found["ops"])
        self.assertLess(majors, PAGES / 4)
        self.assertGreater(found["bytes"], 0)
        self.assertLessEqual(found["bytes"], PAGES * PAGE)

    def minor(self, way, around):
        """Faults on a file that is in the cache: (those that the kernel counted, those on the volume)."""
        program = PROGRAM.replace("os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)", "").replace(
            "ru_majflt", "ru_minflt")
        self.keep_cached()
        done = harness.record(self.path("fault.rec"),
                              [harness.PYTHON, "-I", "-S", "-c", program, self.data, around, way])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        report = harness.report(self.path("fault.rec"))
        self.assertNotIn("mmap_fault", report.volume(self.volume.mount))
        kinds = self.on_volume(report)["faults"]
        self.assertEqual((0, 0, 0), (kinds["major"], kinds["read"], kinds["write"]))
        return json.loads(done.stdout), kinds["minor"]

    def test_minor_writes(self):
        """One page each, as writing does not map pages around; fewer where the cache has huge pages."""
        kernel, minor = self.minor("write", "normal")
        self.assertGreater(minor, 0)
        self.assertLessEqual(minor, min(PAGES, kernel))
        self.assertLess(kernel, minor + 50)  # the program's own memory

    def test_minor_reads(self):
        """Pages around the one that is touched are mapped with it: many fewer faults than pages."""
        kernel, minor = self.minor("read", "normal")
        self.assertGreater(minor, 0)
        self.assertLess(minor, PAGES / 4)
        self.assertLessEqual(minor, kernel)
        self.assertLess(kernel, minor + 50)

    def test_minor_faults_in_system_calls(self):
        kernel, minor = self.minor("syscall", "normal")
        self.assertLessEqual(minor, kernel)
        self.assertLess(kernel, minor + 50)

    def test_populated_pages_are_not_counted(self):
        """MAP_POPULATE reads ahead inside of mmap(): no fault that anybody had to wait for by touching."""
        program = PROGRAM.replace("flags=mmap.MAP_SHARED", "flags=mmap.MAP_SHARED | mmap.MAP_POPULATE")
        done = harness.record(self.path("fault.rec"),
                              [harness.PYTHON, "-I", "-S", "-c", program, self.data, "normal", "read"])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        report = harness.report(self.path("fault.rec"))
        self.assertEqual(0, json.loads(done.stdout))
        self.assertNotIn("mmap_fault", report.volume(self.volume.mount))
