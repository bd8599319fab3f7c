# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads that were served without the device: each call's fate is known, because the cache is dropped and filled by
hand."""
import os

import harness

PAGE = 4096
PAGES = 256

# One page a call, without readahead. Each letter is a pass over the file: "c"old after dropping it, "w"arm while it is
# held in memory.
PROGRAM = """
import mmap, os, sys
path, passes, flags = sys.argv[1], sys.argv[2], int(sys.argv[3])
fd = os.open(path, os.O_RDONLY | flags)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
held = None
for way in passes:
    if way == "w":
        held = held or mmap.mmap(fd, 256 * 4096, flags=mmap.MAP_SHARED | 0x2000, prot=mmap.PROT_READ)  # MAP_LOCKED
    else:
        held = held and held.close()
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    for page in range(256):
        os.pread(fd, 4096, page * 4096)
os.pread(fd, 4096, 256 * 4096)
"""

# Into memory that is aligned, as O_DIRECT wants it; half of the calls before it is turned on.
DIRECT = """
import fcntl, mmap, os, sys
buffer = mmap.mmap(-1, 4096)
fd = os.open(sys.argv[1], os.O_RDONLY)
for page in range(256):
    os.preadv(fd, [buffer], page * 4096)
fcntl.fcntl(fd, fcntl.F_SETFL, os.O_DIRECT)
for page in range(256):
    os.preadv(fd, [buffer], page * 4096)
"""


class CacheTest(harness.DataTest):
    SIZE = PAGES * PAGE

    def cached(self, program, *arguments, path=None, options=()):
        """(reads, what is said of the page cache) on the volume of the data."""
        report = self.record([harness.PYTHON, "-I", "-S", "-c", program, path or self.data, *arguments], *options)
        self.assertEqual(0, report.lost())
        read = report.volume(self.volume.mount if path is None else os.path.dirname(path))["read"]
        return read["ops"], read["cached"]

    def expect(self, hits, misses):
        return {"ops": hits, "bytes": hits * PAGE, "known_ops": hits + misses, "known_bytes": (hits + misses) * PAGE}

    def test_each_call_by_itself(self):
        for passes in ("c", "cw", "cwww", "cwcw"):
            with self.subTest(passes):
                reads, cached = self.cached(PROGRAM, passes, "0")
                # The one at the end of the file returned nothing: nobody served it.
                self.assertEqual(PAGES * len(passes) + 1, reads)
                self.assertEqual(self.expect(PAGES * passes.count("w"), PAGES * passes.count("c")), cached)

    def test_in_many_intervals(self):
        reads, cached = self.cached(PROGRAM, "cw" * 40, "0", options=("-i", "10ms"))
        self.assertEqual(PAGES * 80 + 1, reads)
        self.assertEqual(self.expect(PAGES * 40, PAGES * 40), cached)

    def test_readahead_is_the_task_s_own(self):
        """Read from front to back: a call that reads ahead is no hit, and what it has read ahead are hits."""
        program = PROGRAM.replace("os.POSIX_FADV_RANDOM", "os.POSIX_FADV_NORMAL")
        reads, cached = self.cached(program, "c", "0")
        misses = cached["known_ops"] - cached["ops"]
        self.assertEqual(PAGES, cached["known_ops"])
        self.assertGreater(misses, 0)
        self.assertLess(misses, PAGES / 8)

    def test_read_and_readv(self):
        program = PROGRAM.replace("os.pread(fd, 4096, page * 4096)", "os.read(fd, 4096)").replace(
            "for way in passes:", "for way in passes:\n    os.lseek(fd, 0, 0)")
        self.assertEqual(self.expect(PAGES, PAGES), self.cached(program, "cw", "0")[1])

    def test_direct_is_not_known(self):
        program = PROGRAM.replace("os.pread(fd, 4096, page * 4096)", "os.preadv(fd, [buffer], page * 4096)").replace(
            "held = None", "held = None\nbuffer = mmap.mmap(-1, 4096)").replace(
            "os.pread(fd, 4096, 256 * 4096)\n", "")
        reads, cached = self.cached(program, "ww", str(os.O_DIRECT))
        self.assertEqual((2 * PAGES, None), (reads, cached))

    def test_what_is_direct_from_now_on_is_not_known(self):
        self.keep_cached()
        reads, cached = self.cached(DIRECT)
        self.assertEqual((2 * PAGES, self.expect(PAGES, 0)), (reads, cached))

    def test_what_few_reads_did_is_not_said_of_all(self):
        self.cached(DIRECT + "for again in range(8 * 256):\n    os.preadv(fd, [buffer], 0)\n")
        text = harness.must([harness.unblend(), "report", self.path("unblend.rec")])
        self.assertRegex(text, r"% of the [\d,]+ of [\d,]+ reads of which it is known came")

    def test_tmpfs_has_no_device(self):
        mount = self.mount_tmpfs(self.path("memory"))
        path = os.path.join(mount, "data")
        with open(path, "wb") as file:
            file.write(bytes(PAGES * PAGE))
        reads, cached = self.cached(PROGRAM, "w", "0", path=path)
        self.assertEqual((PAGES + 1, None), (reads, cached))

    def test_transfers_between_descriptors(self):
        """What is written adds pages to the cache, too: they are not the file's that is read."""
        ways = {
            "sendfile": "os.sendfile(to, fd, page * 4096, 4096)",
            "copy_file_range": "os.copy_file_range(fd, to, 4096, page * 4096)",
            "splice": "os.splice(fd, ends[1], 4096, page * 4096); os.splice(ends[0], to, 4096)",
        }
        for way, call in ways.items():
            for passes in ("c", "cwcw"):
                with self.subTest(way, passes=passes):
                    program = PROGRAM.replace("os.pread(fd, 4096, page * 4096)", call).replace(
                        "held = None", "held = None\nends = os.pipe()\n"
                        "to = os.open(path + '.copy', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)")
                    reads, cached = self.cached(program, passes, "0")
                    self.assertEqual(PAGES * len(passes) + 1, reads)
                    self.assertEqual(self.expect(PAGES * passes.count("w"), PAGES * passes.count("c")), cached)

    def test_reads_after_a_transfer(self):
        """Which file was written is of no more concern."""
        program = PROGRAM.replace("held = None", "held = None\nto = os.open(path + '.copy', os.O_WRONLY | os.O_CREAT)\n"
                                  "os.sendfile(to, os.open(path + '.other', os.O_RDWR | os.O_CREAT), 0, 4096)", 1)
        with open(self.data + ".other", "wb") as file:
            file.write(bytes(PAGE))
        reads, cached = self.cached(program, "cw", "0")
        self.assertEqual(PAGES * 2 + 2, reads)
        self.assertEqual(PAGES, cached["known_ops"] - cached["ops"])


if __name__ == "__main__":
    harness.main()
