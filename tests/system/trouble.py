# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that do one thing as it should not be done, and the same as it should: trouble.py NAME DIRECTORY..."""
import compileall
import mmap
import os
import sys
import time

BIG = 32 << 20


def make(path, size):
    if not os.path.exists(path):
        with open(path, "wb", 0) as file:
            for at in range(0, size, 1 << 20):
                file.write(os.urandom(min(1 << 20, size - at)))
            os.fsync(file.fileno())
    return path


def prepare(directory):
    """The data of all programs; not watched."""
    make(os.path.join(directory, "big"), BIG)
    small = os.path.join(directory, "small")
    os.makedirs(small, exist_ok=True)
    for number in range(1000):
        make(os.path.join(small, str(number)), 4096)
    large = os.path.join(directory, "large")
    os.makedirs(large, exist_ok=True)
    for number in range(1000):
        with open(os.path.join(large, str(number)), "wb") as file:
            file.truncate(2 << 20)


def read_all(path, size, passes=1, forget=False, flags=0):
    fd = os.open(path, os.O_RDONLY | flags)
    for _ in range(passes):
        if forget:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(fd, 0, os.SEEK_SET)
        while os.read(fd, size):
            pass
    os.close(fd)


def small_reads(directory):
    read_all(os.path.join(directory, "big"), 512)


def large_reads(directory):
    read_all(os.path.join(directory, "big"), 1 << 20, forget=True)


def metadata_storm(directory):
    """A quarter of a second is too little to be told; long lists take long, and are few operations."""
    for _ in range(4000):
        os.listdir(os.path.join(directory, "small"))


def labels(directory):
    for _ in range(10):
        for number in range(1000):
            with open(os.path.join(directory, "small", str(number)), "rb") as file:
                file.read()


def small_files(directory):
    """As many opens, and each is read, with all that it has in one large piece."""
    for number in range(1000):
        fd = os.open(os.path.join(directory, "small", str(number)), os.O_RDONLY)
        for _ in range(3):
            os.pread(fd, 4096, 0)
        os.close(fd)


def reopened_files(directory):
    for number in range(6000):
        fd = os.open(os.path.join(directory, "big"), os.O_RDONLY)
        os.pread(fd, 1000, number * 4096)
        os.close(fd)


def opened_once(directory):
    fd = os.open(os.path.join(directory, "big"), os.O_RDONLY)
    for number in range(6000):
        os.pread(fd, 1000, number * 4096)
    os.close(fd)


def look_into(directory, first, end):
    for number in range(first, end):
        fd = os.open(os.path.join(directory, "large", str(number)), os.O_RDONLY)
        os.pread(fd, 1000, number * 1024)
        os.close(fd)


def many_files(directory):
    """As many opens of files of one size, each of another file."""
    look_into(directory, 0, 1000)


def many_processes(directory):
    """As many opens of few files, each by another process."""
    for _ in range(60):
        child = os.fork()
        if not child:
            look_into(directory, 0, 20)
            os._exit(0)
        os.waitpid(child, 0)


def reread_files(directory):
    read_all(os.path.join(directory, "big"), 65536, passes=4)


def cache_thrash(directory):
    read_all(os.path.join(directory, "big"), 65536, passes=4, forget=True)


def random_reads(directory):
    """All of the file, from its end to its front; the kernel is told to read nothing ahead."""
    fd = os.open(os.path.join(directory, "big"), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for at in range(BIG - 16384, -1, -16384):
        os.pread(fd, 16384, at)
    os.close(fd)


def direct(directory, size):
    fd = os.open(os.path.join(directory, "big"), os.O_RDONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, size)
    for number in range(2000):
        os.preadv(fd, [memory], number * size)
    os.close(fd)


def unaligned_direct_io(directory):
    direct(directory, 512)


def aligned_direct_io(directory):
    direct(directory, 8192)


def checkpoint(directory, every):
    fd = os.open(os.path.join(directory, "checkpoint"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number in range(1, 201):
        os.write(fd, bytes(65536))
        if number % every == 0:
            os.fsync(fd)
    os.close(fd)


def fsync_bound_checkpoint(directory):
    checkpoint(directory, 1)


def fsync_bound_log(directory):
    fd = os.open(os.path.join(directory, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _ in range(200):
        os.write(fd, bytes(700))
        os.fsync(fd)
    os.close(fd)


def small_writes(directory):
    fd = os.open(os.path.join(directory, "lines"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(20000):
        os.write(fd, bytes(300))
    os.close(fd)


def large_writes(directory):
    fd = os.open(os.path.join(directory, "lines"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(20):
        os.write(fd, bytes(300000))
    os.close(fd)


def sync_writes(directory):
    fd = os.open(os.path.join(directory, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC)
    for _ in range(500):
        os.write(fd, bytes(300))
    os.close(fd)


def synced_once(directory):
    checkpoint(directory, 200)


def prepare_modules(directory):
    """Folders in which an interpreter looks for modules that are in the last one only."""
    for folder in range(6):
        os.makedirs(os.path.join(directory, f"path{folder}"), exist_ok=True)
    for number in range(200):
        package = os.path.join(directory, "path5", f"module{number}")
        os.makedirs(package, exist_ok=True)
        with open(os.path.join(package, "__init__.py"), "w", encoding="ascii") as file:
            file.write(f"value = {number}\n" * 40)
    compileall.compile_dir(os.path.join(directory, "path5"), quiet=1)


def imports(directory):
    """Packages, which are looked for in all folders."""
    sys.path[:0] = [os.path.join(directory, f"path{folder}") for folder in range(6)]
    for number in range(200):
        __import__(f"module{number}")


def silo_copy(directory, other):
    with open(os.path.join(directory, "big"), "rb", 0) as source, open(os.path.join(other, "copy"), "wb", 0) as copy:
        while data := source.read(1 << 20):
            copy.write(data)
        os.fsync(copy.fileno())


def summary(directory, other):
    """Reads as much, and writes what it found out."""
    with open(os.path.join(directory, "big"), "rb", 0) as source, open(os.path.join(other, "sums"), "wb", 0) as sums:
        while data := source.read(1 << 20):
            sums.write(data[:4096])


def ranks(directory, direct):
    """Six processes that read the same at the same time; some of them past the cache."""
    children = []
    for rank in range(6):
        child = os.fork()
        if not child:
            fd = os.open(os.path.join(directory, "big"), os.O_RDONLY | (os.O_DIRECT if rank in direct else 0))
            memory = mmap.mmap(-1, 4096)
            for at in range(0, BIG, 16384):
                os.preadv(fd, [memory], at)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def straggler(directory):
    ranks(directory, [3])


def even_ranks(directory):
    ranks(directory, range(6))


def sample(directory, seconds, pace_s=0.002):
    """Reads pieces past the cache for so long."""
    fd = os.open(os.path.join(directory, "big"), os.O_RDONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, 4096)
    until, at = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        os.preadv(fd, [memory], at)
        at = (at + 4096) % BIG
        time.sleep(pace_s)
    os.close(fd)


def read_one(directory):
    fd = os.open(os.path.join(directory, "big"), os.O_RDONLY)
    os.pread(fd, 4096, 0)
    os.close(fd)


def loader(directory):
    sample(directory, 4.5)


def saver(directory):
    """Two checkpoints, with a pause before each; writes go to the server one by one."""
    memory = mmap.mmap(-1, 1 << 20)
    for _ in range(2):
        time.sleep(0.8)
        fd = os.open(os.path.join(directory, "checkpoint"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_DIRECT)
        until = time.monotonic() + 1.2
        while time.monotonic() < until:
            os.pwritev(fd, [memory], 0)
        os.close(fd)


def together(directory, *names):
    """All at once, each a job."""
    children = [os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, "-I", "-S", __file__, name, directory],
                           {**os.environ, "UNBLEND_JOB": name}) for name in names]
    for child in children:
        if os.waitpid(child, 0)[1]:
            sys.exit("a program failed")


def one_by_one(directory, other, *names):
    """Each in a process of its own, and each a job."""
    for name in names:
        arguments = [directory, other] if name in ("silo_copy", "summary") else [directory]
        command = [sys.executable, "-I", "-S", __file__, name, *arguments]
        if os.spawnve(os.P_WAIT, sys.executable, command, {**os.environ, "UNBLEND_JOB": name}):
            sys.exit(f"{name} failed")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
