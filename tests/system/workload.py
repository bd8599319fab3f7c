# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes every kind of call that a Python program can make, in an order that is the same each time.

    python3 workload.py DIRECTORY     on a directory of the volume under test, which it leaves changed
"""
import ctypes
import mmap
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading


def fails(function, *args, **options):
    try:
        function(*args, **options)
    except OSError:
        return
    sys.exit(f"{function} {args} was expected to fail")


def write(name, size, flags=os.O_WRONLY | os.O_CREAT):
    fd = os.open(name, flags, 0o644)
    for at in range(0, size, 10000):
        os.write(fd, b"x" * min(10000, size - at))
    os.close(fd)


def transfers():
    """All the ways to read and write a file by descriptor."""
    write("data", 300000)
    fd = os.open("data", os.O_RDWR)
    os.read(fd, 4096)
    os.read(fd, 0)
    os.pread(fd, 100000, 250000)
    os.pread(fd, 10, 1 << 30)
    os.readv(fd, [bytearray(1000), bytearray(3000)])
    os.preadv(fd, [bytearray(512)] * 3, 7)
    os.pwrite(fd, b"y" * 777, 123)
    os.writev(fd, [b"a" * 11, b"b" * 13])
    os.pwritev(fd, [b"c" * 17], 300000, os.RWF_DSYNC)
    os.write(fd, b"")
    os.lseek(fd, 0, os.SEEK_END)
    fails(os.lseek, fd, -1, os.SEEK_SET)
    os.fsync(fd)
    os.fdatasync(fd)
    os.ftruncate(fd, 400000)
    os.posix_fallocate(fd, 0, 500000)
    copy = os.dup(fd)
    os.read(copy, 1)
    os.dup2(fd, copy)
    os.close(fd)
    os.unlink("data")
    os.pread(copy, 5000, 0)
    os.fstat(copy)
    os.close(copy)
    fails(os.close, copy)
    fails(os.read, copy, 1)
    directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    fails(os.read, directory, 10)
    os.fsync(directory)
    os.close(directory)
    reader = os.open("moved", os.O_RDONLY | os.O_CREAT)
    fails(os.write, reader, b"no")
    os.close(reader)


def between():
    """Transfers between two files, and between a file and what is no storage."""
    write("from", 200000)
    source, sink = os.open("from", os.O_RDONLY), os.open("to", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.sendfile(sink, source, 0, 70000)
    os.sendfile(sink, source, 199000, 70000)
    os.sendfile(sink, source, 200000, 1)
    os.copy_file_range(source, sink, 65536, 0, 100000)
    os.copy_file_range(source, sink, 65536, 200000)
    fails(os.copy_file_range, sink, source, 100, 0, 0)
    fails(os.sendfile, source, sink, 0, 10)
    ends = os.pipe()
    os.splice(source, ends[1], 5000, 0)
    os.splice(ends[0], sink, 3000)
    os.read(ends[0], 2000)
    left, right = socket.socketpair()
    os.sendfile(left.fileno(), source, 100, 900)
    os.read(right.fileno(), 900)
    os.write(left.fileno(), b"z")
    memory = os.memfd_create("memory")
    os.write(memory, b"m" * 100)
    os.fstat(memory)
    os.sendfile(sink, memory, 0, 50)
    os.sendfile(memory, source, 0, 60)
    os.closerange(source, sink + 1)
    for fd in (*ends, memory):
        os.close(fd)
    left.close()
    right.close()


def ranges():
    """close_range() of many descriptors, of far ones, and of none."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(most, 20000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    fd = os.open(".", os.O_RDONLY)
    for number in (fd + 1, 63, 64, 127, 200, 201, most - 1):
        os.dup2(fd, number)
    os.closerange(64, 128)
    os.closerange(65, 100)
    os.closerange(70, 202)
    os.closerange(fd, 1 << 30)
    for _ in range(700):
        os.open(".", os.O_RDONLY)
    os.closerange(fd, 1 << 30)


def names():
    """Calls by path, absolute and relative, that succeed and that fail."""
    here = os.getcwd()
    os.mkdir("dir")
    fails(os.mkdir, "dir")
    fails(os.mkdir, here + "/missing/dir")
    write("dir/one", 10)
    write("dir/one", 10)
    write("dir/one", 10, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    fails(os.open, "dir/one", os.O_CREAT | os.O_EXCL)
    fails(os.open, "dir/missing", os.O_RDONLY)
    fails(os.open, "dir/one/below", os.O_RDONLY | os.O_CREAT)
    fails(os.open, "dir", os.O_WRONLY)
    os.link("dir/one", here + "/dir/two")
    fails(os.link, "dir/one", "dir/two")
    os.symlink("two", "dir/three")
    os.readlink("dir/three")
    fails(os.readlink, "dir/two")
    os.stat("dir/three")
    os.lstat(here + "/dir/three")
    fails(os.stat, "dir/four")
    fails(os.lstat, "/nonexistent/four")
    os.access("dir/two", os.R_OK)
    os.access("dir/four", os.R_OK)
    os.statvfs(here)
    os.chmod("dir/two", 0o600)
    os.chown("dir/two", 1, 1)
    os.lchown("dir/three", 1, 1)
    os.utime("dir/two", (1, 2))
    fails(os.utime, "dir/four")
    os.setxattr("dir/two", "trusted.key", b"value")
    os.getxattr("dir/two", "trusted.key")
    fails(os.getxattr, "dir/two", "trusted.other")
    os.listxattr(here + "/dir/two")
    os.removexattr("dir/two", "trusted.key")
    os.truncate("dir/two", 5)
    fails(os.truncate, "dir/four", 5)
    os.rename("dir/two", "dir/four")
    os.rename("dir/four", "dir/one/../four" if os.path.isdir("dir/one") else "dir/five")
    fails(os.rename, "dir/two", "dir/six")
    write("dir/two", 1)
    os.mkfifo("dir/fifo")
    fifo = os.open("dir/fifo", os.O_RDWR | os.O_NONBLOCK)
    os.write(fifo, b"into")
    os.read(fifo, 4)
    os.close(fifo)
    os.stat("dir/fifo")
    nameless = os.open("dir", os.O_TMPFILE | os.O_RDWR)
    os.write(nameless, b"n" * 100)
    os.close(nameless)
    os.mknod("dir/node", 0o600)
    os.rename("dir", "renamed")
    deep = "/".join(["renamed"] + [letter * 100 for letter in "abcd"])
    os.makedirs(deep)
    os.stat(f"{here}/{deep}")
    fails(os.stat, f"{here}/{deep}/missing")
    fails(os.unlink, f"{here}/{deep}/../missing")
    write(f"{deep}/file", 9)
    write("renamed/five", 3)
    fails(os.rmdir, "renamed")
    os.listdir("renamed")
    shutil.rmtree("renamed")


def directories():
    """Paths relative to descriptors and to other volumes."""
    here = os.getcwd()
    os.makedirs("tree/a/b/c")
    for i in range(300):
        write(f"tree/a/b/{i}", i % 3)
    for _, _, files in os.walk("tree"):
        files.sort()
    top = os.open("tree/a", os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open("b/1", os.O_RDONLY, dir_fd=top)
    os.fchmod(fd, 0o640)
    os.fchown(fd, 2, 2)
    os.utime(fd)
    os.setxattr(fd, "trusted.a", b"b")
    os.getxattr(fd, "trusted.a")
    os.listxattr(fd)
    os.fstatvfs(fd)
    os.stat(fd)
    os.close(fd)
    os.stat("b/2", dir_fd=top)
    fails(os.stat, "b/x", dir_fd=top)
    os.unlink("b/3", dir_fd=top)
    fails(os.unlink, "b/3", dir_fd=top)
    os.mkdir("d", dir_fd=top)
    os.rmdir("d", dir_fd=top)
    os.rename("b/4", "b/5", src_dir_fd=top, dst_dir_fd=top)
    os.link("b/6", "b/new", src_dir_fd=top, dst_dir_fd=top)
    os.symlink("b/6", "link", dir_fd=top)
    os.access("link", os.F_OK, dir_fd=top)
    os.fchdir(top)
    os.stat("b/7")
    fails(os.stat, "b/y")
    os.close(top)
    # From the volume above: what succeeds is where it is, what fails is where it was asked from.
    os.chdir(os.path.dirname(os.path.dirname(here)))
    os.stat(os.path.relpath(here))
    fails(os.stat, os.path.relpath(here + "/missing"))
    os.listdir(os.path.relpath(here))
    os.chdir("/")
    fails(os.stat, here[1:] + "/missing")
    fails(os.stat, here + "/missing")
    fails(os.open, "/proc/nothing", os.O_RDONLY)
    os.stat("/proc/self")
    os.stat("/dev/null")
    fails(os.stat, "/dev/nothing")
    fails(os.open, "/dev/pts/nothing", os.O_RDONLY)
    null = os.open("/dev/null", os.O_RDWR | os.O_CREAT)
    os.write(null, b"gone")
    os.read(null, 1)
    os.close(null)
    shared = "/dev/shm/unblend-test"
    write(shared, 5000)
    os.stat(shared)
    os.unlink(shared)
    os.chdir(here)


def mapped():
    write("map", 8192)
    with open("map", "r+b") as file, mmap.mmap(file.fileno(), 0) as area:
        area[:3] = b"map"
        area.flush()


def unusual():
    """Addresses that cannot be read, and calls that Python has no name for."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.open(ctypes.c_void_p(8), 0)
    libc.access(ctypes.c_void_p(8), 0)
    write("odd", 100)
    fd = os.open("odd", os.O_RDONLY)
    libc.read(fd, ctypes.c_void_p(8), 50)
    libc.syncfs(fd)
    libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 7)
    libc.posix_fadvise(fd, ctypes.c_long(0), ctypes.c_long(0), 4)
    libc.flock(fd, 2)
    libc.creat(b"created", 0o644)
    libc.creat(b"created", 0o644)
    os.close(fd)


def others():
    """Threads, children, and programs that other programs start."""
    write("shared", 100000)
    fd = os.open("shared", os.O_RDONLY)
    threads = [threading.Thread(target=lambda at=at: [os.pread(fd, 1000, at) for _ in range(100)])
               for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(5):
        child = os.fork()
        if not child:
            os.read(fd, 100 * number)
            os.stat(f"tree/a/b/{number + 100}")
            os._exit(0)  # without what Python does at its end
        assert os.waitpid(child, 0) == (child, 0)
    os.set_inheritable(fd, True)
    subprocess.run(["cat"], stdin=fd, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["sh", "-c", "exec sh -c 'exec head -c 10 shared'"], stdout=subprocess.DEVNULL,
                   check=True)
    output = subprocess.run(["wc", "-c", "shared"], capture_output=True, check=True).stdout
    assert output == b"100000 shared\n"
    fails(subprocess.run, ["no-such-program"])
    os.close(fd)
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(b"t" * 20000)


def main():
    os.chdir(sys.argv[1])
    for part in (transfers, between, ranges, names, directories, mapped, unusual, others):
        part()


if __name__ == "__main__":
    main()
