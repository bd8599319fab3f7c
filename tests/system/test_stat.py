# SPDX-License-Identifier: GPL-2.0-or-later
"""Which volume a stat belongs to stands in what it tells its program, wherever in its memory that is."""
import mmap
import os
import socket
import stat

import harness

# Stats of every name, into every kind of memory, by both calls: newfstatat and statx of x86_64 and arm64.
PROGRAM = """
import ctypes, mmap, os, platform, sys
call = ctypes.CDLL(None, use_errno=True).syscall
newfstatat, statx = {"x86_64": (262, 332), "aarch64": (79, 291)}[platform.machine()]
FDCWD, NOFOLLOW, BASIC, PAGE, HUGE = -100, 0x100, 0x7ff, mmap.PAGESIZE, 2 << 20
rounds, shared, names = int(sys.argv[1]), sys.argv[2], [name.encode() for name in sys.argv[3:]]

def address(area):
    return ctypes.addressof(ctypes.c_char.from_buffer(area))

private = mmap.mmap(-1, 4 * PAGE, flags=mmap.MAP_PRIVATE)
anonymous = mmap.mmap(-1, 4 * PAGE, flags=mmap.MAP_SHARED)
of_file = mmap.mmap(os.open(shared, os.O_RDWR), PAGE)
huge = mmap.mmap(-1, 3 * HUGE, flags=mmap.MAP_PRIVATE)
huge.madvise(14) # MADV_HUGEPAGE
huge_start = -(-address(huge) // HUGE) * HUGE
places = [address(private) + offset for offset in (0, 8, PAGE - 8, PAGE - 24, PAGE - 32, PAGE - 136, PAGE - 144, PAGE - 256)]
places += [address(anonymous) + PAGE, address(of_file) + 64, huge_start, huge_start + PAGE - 16, huge_start + HUGE - 32]
if os.fork() == 0: # what its pages were shared with is gone at once: they are copied when they are written
    os._exit(0)
os.wait()
for round in range(rounds):
    for place in places:
        for name in names:
            for result in (call(newfstatat, FDCWD, name, ctypes.c_void_p(place), NOFOLLOW),
                           call(statx, FDCWD, name, NOFOLLOW, BASIC, ctypes.c_void_p(place))):
                if result:
                    sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
print(rounds * len(places) * 2)
"""
ROUNDS = 7

# Five stats of what is open, and seven of names, of which one is not there, a round.
ASKING = """
import os, sys
name, missing, rounds = sys.argv[1], sys.argv[1] + ".missing", int(sys.argv[2])
folder, file = os.open(os.path.dirname(name), os.O_RDONLY), os.open(name, os.O_RDONLY)
for round in range(rounds):
    os.fstat(file)
    os.fstat(folder)
    os.fstatvfs(file)
    os.listxattr(file)
    os.stat(file)
    os.stat(name)
    os.lstat(name)
    os.stat(os.path.basename(name), dir_fd=folder)
    os.access(name, os.R_OK)
    os.statvfs(name)
    os.listxattr(name)
    try:
        os.stat(missing)
    except FileNotFoundError:
        pass
"""


class StatTest(harness.DataTest):
    def make(self):
        """One of each kind: what is storage on the volume, what is on another one, and what is no storage."""
        here = [os.path.join(self.volume.mount, name) for name in ("folder", "link", "fifo", "null", "disk", "socket")]
        folder, link, fifo, null, disk, name = here
        os.mkdir(folder)
        os.symlink("data", link)
        os.mkfifo(fifo)
        os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        os.mknod(disk, stat.S_IFBLK | 0o600, os.makedev(7, 0))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(name)
        return [self.data, folder, link], [fifo, null, name], [disk]

    def stats(self, names):
        """How many calls it made for each name, and its report's stats by volume."""
        done, shared = self.path("done"), self.path("shared")
        with open(shared, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        report = self.record(["/bin/sh", "-c", 'exec "$@" > ' + done, "sh", harness.PYTHON, "-I", "-S", "-c", PROGRAM,
                              str(ROUNDS), shared, *names])
        with open(done, encoding="utf-8") as file:
            calls = int(file.read())
        return calls, {(volume["volume"], *volume["mounts"]): volume["ops"]["stat"]["ops"]
                       for volume in report.job()["volumes"] if "stat" in volume["ops"]}

    def count(self, stats, what):
        return sum(ops for names, ops in stats.items() if what in names)

    def test_every_kind_of_file_and_of_memory(self):
        storage, others, devices = self.make()
        calls, stats = self.stats([*storage, "/", *others, *devices])
        self.assertGreater(calls, ROUNDS * 20)
        self.assertEqual(calls * len(storage), self.count(stats, self.volume.mount))
        self.assertGreaterEqual(self.count(stats, "/"), calls)
        without_root, bare = self.stats([*storage, *others])
        self.assertEqual(calls, without_root)
        self.assertEqual(calls * len(storage), self.count(bare, self.volume.mount))
        # What the interpreter asks for at its start comes in both; the root is on one volume, the disk is one of its own.
        self.assertEqual(2 * calls, sum(stats.values()) - sum(bare.values()))

    def test_what_is_open_is_told_from_names(self):
        def asked(rounds):
            of = self.record([harness.PYTHON, "-I", "-S", "-c", ASKING, self.data, str(rounds)]).job()["ops"]["stat"]["of"]
            return of["open"], of["name"]

        few, many = asked(100), asked(1100)
        self.assertEqual((5000, 7000), tuple(more - less for less, more in zip(few, many)))


if __name__ == "__main__":
    harness.main()
