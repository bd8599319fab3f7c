# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures and their errors: each call's error is known, because it is brought about on purpose."""
import os

import harness

PROGRAM = """
import errno, os, sys
top = sys.argv[1]
os.chdir(top)

def fail(number, code, call, *arguments):
    for i in range(number):
        try:
            call(*arguments)
        except OSError as error:
            assert error.errno == code, error
        else:
            raise AssertionError("it did not fail")

os.mkdir("d")
fd = os.open("file", os.O_RDWR | os.O_CREAT)
fail(11, errno.ENOENT, os.open, "missing", os.O_RDONLY)
fail(7, errno.ENOTDIR, os.open, "file/below", os.O_RDONLY)
fail(5, errno.EISDIR, os.open, "d", os.O_WRONLY)
fail(3, errno.EEXIST, os.mkdir, "d")
fail(2, errno.ENOTEMPTY, os.rmdir, "..")
fail(4, errno.EINVAL, os.pread, fd, 10, -1)
fail(9, errno.ENAMETOOLONG, os.stat, "x" * 256)
room = os.statvfs(top)
os.posix_fallocate(fd, 0, room.f_bavail * room.f_bsize)
other = os.open("other", os.O_RDWR | os.O_CREAT)
fail(8, errno.ENOSPC, os.write, other, bytes(1 << 16))
os.chmod(".", 0o755)
os.seteuid(65534)
fail(10, errno.EACCES, os.open, "new", os.O_RDWR | os.O_CREAT)
fail(1, errno.EPERM, os.chmod, "file", 0o777)
"""

EXPECTED = {
    "open": {"ENOENT": 11, "ENOTDIR": 7, "EISDIR": 5, "EACCES": 10},
    "mkdir": {"EEXIST": 3},
    "unlink": {"ENOTEMPTY": 2},
    "read": {"EINVAL": 4},
    "write": {"ENOSPC": 8},
    "stat": {"ENAMETOOLONG": 9},
    "setattr": {"EPERM": 1},
}

# More kinds of failure than a thread has room for on one volume: those of later kinds are counted without a name.
MANY = """
import os, sys
os.chdir(sys.argv[1])
os.symlink("loop", "loop")
names = ["missing", "file/below", "x" * 256, "loop/below"]
calls = [os.stat, os.unlink, os.rmdir, os.mkdir, lambda name: os.rename(name, "y"), os.listdir,
         lambda name: os.open(name, 0), lambda name: os.truncate(name, 1), lambda name: os.chmod(name, 0o600),
         lambda name: os.link("nothing", name), lambda name: os.getxattr(name, "user.x")]
open("file", "w").close()
for call in calls:
    for name in names:
        for i in range(2):
            try:
                call(name)
            except OSError:
                pass
"""

# An open that waits for the end of a lease while timers interrupt it, again and again, after which the kernel makes it again, or the
# program, which is told. The holder has the lease for half a second more, once it is asked to give it up. A folder is made for each
# failure that the program has seen.
INTERRUPTED = """
import ctypes, errno, fcntl, os, signal, sys, time
path = sys.argv[1] + "/leased"
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
ready, tell = os.pipe()
if os.fork() == 0:
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    os.write(tell, b"x")
    signal.sigwait([signal.SIGIO])
    time.sleep(0.5)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    os._exit(0)
os.read(ready, 1)
alarms = []
woken, wake = os.pipe2(os.O_NONBLOCK)
signal.set_wakeup_fd(wake) # the handler itself writes to it
signal.signal(signal.SIGALRM, lambda *_: alarms.append(1))
signal.siginterrupt(signal.SIGALRM, sys.argv[2] == "told")
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
libc = ctypes.CDLL(None, use_errno=True)
name, failed = path.encode(), 0
while (fd := libc.open(name, os.O_RDONLY)) < 0:
    assert ctypes.get_errno() == errno.EINTR
    failed += 1
os.close(fd)
signal.setitimer(signal.ITIMER_REAL, 0)
os.wait()
assert alarms
for each in range(failed):
    os.mkdir(f"{sys.argv[1]}/{each}")
"""


class ErrorsTest(harness.SystemTest):
    def on_tmpfs(self, program, *arguments):
        mount = self.mount_tmpfs(self.path("memory"), "size=4m,mode=755")
        report = self.record([harness.PYTHON, "-I", "-S", "-c", program, mount, *arguments])
        return report.volume(mount)

    def test_each_by_its_name(self):
        ops = self.on_tmpfs(PROGRAM)
        self.assertEqual(EXPECTED, {name: op["error_codes"] for name, op in ops.items() if op["error_codes"]})
        for op in ops.values():
            self.assertEqual(op["errors"], sum(op["error_codes"].values()))

    def test_more_kinds_than_there_is_room_for(self):
        ops = self.on_tmpfs(MANY)
        kinds = [code for op in ops.values() for code in op["error_codes"]]
        self.assertIn("?", kinds)
        self.assertEqual(23, len([code for code in kinds if code != "?"]))
        for op in ops.values():
            self.assertEqual(op["errors"], sum(op["error_codes"].values()))

    def test_made_again_it_is_one(self):
        """A call that a signal interrupts and the kernel makes again has one end, and all of its time."""
        ops = self.on_tmpfs(INTERRUPTED, "again")
        self.assertEqual(((1, 0, 0), (1, 0, 0), (1, 0, 0)), tuple(harness.count(ops, name) for name in ("create", "open", "close")))
        self.assertGreater(ops["open"]["latency_ns"]["p50"], 4e8)

    def test_made_again_by_the_program_they_are_many(self):
        """The same call, with the same arguments, from the same place: the signal's handler had returned to a failure."""
        ops = self.on_tmpfs(INTERRUPTED, "told")
        failed = ops["mkdir"]["ops"]
        self.assertGreater(failed, 2)
        self.assertEqual((failed + 1, 0, failed), harness.count(ops, "open"))
        self.assertEqual({"EINTR": failed}, ops["open"]["error_codes"])


if __name__ == "__main__":
    harness.main()
