# SPDX-License-Identifier: GPL-2.0-or-later
"""What every system test needs: the built programs, recordings, volumes of its own. Cleans up always.

The programs are taken from UNBLEND_BINDIR, else from the build directory in or beside the source tree.
"""
import atexit
import fcntl
import functools
import hashlib
import json
import mmap
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Not whatever a version manager has put in front of it: that is a shell script with I/O of its own.
PYTHON = "/usr/bin/python3"
COMMAND_TIMEOUT_S = 120

LOOP_CTL_GET_FREE = 0x4C82
LOOP_MAJOR = 7
MAP_LOCKED = 0x2000

PACKAGES = {
    "bindfs": "bindfs",
    "fio": "fio",
    "iostat": "sysstat",
    "strace": "strace",
    "zstd": "zstd",
    "bpftool": "bpftool",
    "mkfs.ext4": "e2fsprogs",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "unshare": "util-linux",
    "blkdiscard": "util-linux",
    "fsfreeze": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "tmux": "tmux",
    "systemd-analyze": "systemd",
    "rpmbuild": "rpm",
    "munged": "munge",
    "srun": "slurm-client",
    "sbatch": "slurm-client",
    "sinfo": "slurm-client",
    "scancel": "slurm-client",
    "tar": "tar",
    "find": "findutils",
    PYTHON: "python3",
}


def tool(name):
    """The path of a program that the tests need; its absence is a failure that names the package."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/bin:/bin")
    if not path:
        raise AssertionError(f"{name} was not found: install the package {PACKAGES.get(name, name)}")
    return path


def bindir():
    named = os.environ.get("UNBLEND_BINDIR")
    for directory in [named] if named else [os.path.join(SOURCE, "build"), SOURCE]:
        if os.access(os.path.join(directory, "unblend"), os.X_OK):
            return os.path.abspath(directory)
    raise AssertionError("unblend was not found: build it, or set UNBLEND_BINDIR to where it is")


def unblend():
    return os.path.join(bindir(), "unblend")


def run(command, **options):
    """subprocess.run() with text, no standard input but what is given, and a limit of time."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("timeout", COMMAND_TIMEOUT_S)
    return subprocess.run(command, text=True, errors="replace", check=False, **options)


def must(command, **options):
    done = run(command, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def environment():
    """Few variables and the C locale, so that two runs of a workload make the same calls."""
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/nonexistent",
            "PYTHONHASHSEED": "0"}


class Report:
    """`unblend report --format json`, with the lookups that tests make."""

    def __init__(self, data):
        self.data = data
        self.coverage = data["coverage"]

    def lost(self):
        """What was lost, but for block requests whose end this machine's kernel has shown to nobody: those that a device
        got, and that neither ended nor are there. 0 when nothing else was."""
        lost = self.coverage["lost_ops"]
        if any(hook["hook"] == "block-ends" for hook in self.coverage["hooks"]):
            for device in self.data["storage"]["devices"]:
                depth = device["in_flight"]["at_issue"]
                lost -= sum(count for low, high, count in depth["histogram"]) if depth else 0
                lost += device["in_flight"]["now"] + sum(kind["ops"] for kind in device["requests"].values())
        return lost

    def job(self):
        """The only job there is."""
        if len(self.data["jobs"]) != 1:
            raise AssertionError(f"one job expected: {[job['job'] for job in self.data['jobs']]}")
        return self.data["jobs"][0]

    def volume(self, mount):
        """What the jobs did on the volume with that mount point: {operation: {...}}."""
        found = [volume["ops"] for volume in self.job()["volumes"] if mount in volume["mounts"]]
        if len(found) != 1:
            raise AssertionError(f"{mount}: named by {len(found)} volumes of the report")
        return found[0]

    def device(self, name):
        """What a block device was asked for: {operation: {...}}, {} when nothing."""
        for volume in self.job()["volumes"]:
            if volume["fstype"] == "block" and volume["source"] == name:
                return volume["ops"]
        return {}


def report(recording, *options):
    done = run([unblend(), "report", "--format", "json", *options, recording])
    if done.returncode or done.stderr:
        raise AssertionError(f"report: exit {done.returncode}: {done.stderr}")
    return Report(json.loads(done.stdout))


def batches(recording):
    """The batches of a recording."""
    program = os.path.join(bindir(), "tests/system/dump_recording")
    return [json.loads(line) for line in must([program, recording]).splitlines()]


def write_recording(path, of):
    """A recording of batches; its path."""
    program = os.path.join(bindir(), "tests/system/json_recording")
    must([program, path], input="".join(json.dumps(batch) + "\n" for batch in of))
    return path


def write_site_key(path, seed):
    """A key of one's own, the same for the same seed: one that a program makes is told on standard error."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(hashlib.sha256(seed.encode()).hexdigest() + "\n")


def record(recording, command, *options, **popen):
    """`unblend record -o RECORDING OPTIONS -- COMMAND`, as subprocess.run() returns it."""
    popen.setdefault("env", environment())
    return run([unblend(), "record", "-o", recording, *options, "--", *command], **popen)


def start_agent(test, socket, *options):
    """An agent without a collector, once it answers there; it goes with the test."""
    agent = subprocess.Popen([os.path.join(bindir(), "unblend-agent"), "--socket", socket, "--state",
                              os.path.join(os.path.dirname(socket), "state"), *options], stderr=subprocess.DEVNULL)
    test.addCleanup(agent.wait)
    test.addCleanup(agent.kill)
    for _ in range(600):
        if os.path.exists(socket):
            return agent
        time.sleep(0.1)
    raise AssertionError("the agent does not begin")


def count(ops, name):
    """(operations, bytes, errors) of one operation; zeros when there was none."""
    found = ops.get(name)
    return (found["ops"], found["bytes"], found["errors"]) if found else (0, 0, 0)


def make_loop_nodes():
    """The kernel may have more loop devices than a container's /dev shows."""
    control = "/dev/loop-control"
    if not os.path.exists(control):
        os.mknod(control, stat.S_IFCHR | 0o600, os.makedev(10, 237))
    with open(control, "rb") as file:
        number = fcntl.ioctl(file, LOOP_CTL_GET_FREE)
    device = f"/dev/loop{number}"
    if not os.path.exists(device):
        os.mknod(device, stat.S_IFBLK | 0o600, os.makedev(LOOP_MAJOR, number))


class Volume:
    """An ext4 file system on a loop device, mounted at .mount; close() removes all of it. A sparse one takes room as it is
    filled, and fails in the middle when there is none."""

    def __init__(self, directory, size_mib, sparse=False):
        self.image = os.path.join(directory, "image")
        self.mount = os.path.join(directory, "mnt")
        self.device = None
        self.mounted = False
        atexit.register(self.close)  # an interrupt leaves out what a class wanted cleaned up
        with open(self.image, "wb") as file:
            if sparse:
                file.truncate(size_mib << 20)
            else:
                os.posix_fallocate(file.fileno(), 0, size_mib << 20)
        # No work left for a kernel thread to do later, while a test counts.
        must([tool("mkfs.ext4"), "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0",
              self.image])
        os.mkdir(self.mount)
        try:
            self._attach()
            must([tool("mount"), "-t", "ext4", self.device, self.mount])
            self.mounted = True
        except BaseException:
            self.close()
            raise

    def _attach(self):
        for attempt in range(5):
            make_loop_nodes()
            done = run([tool("losetup"), "-f", "--show", self.image])
            if not done.returncode:
                self.device = done.stdout.strip()
                return
            time.sleep(0.2 * (attempt + 1))  # somebody else took the free one
        raise AssertionError(f"losetup: {done.stderr.strip()}")

    def close(self):
        if self.mounted:
            done = run([tool("umount"), self.mount])
            if done.returncode:
                run([tool("umount"), "-l", self.mount])
            self.mounted = False
        if self.device:
            run([tool("losetup"), "-d", self.device])
            self.device = None
        if os.path.exists(self.image):
            os.unlink(self.image)


def by_chance_unseen(test):
    """
    For tests of the block layer's counts. A sandbox's kernel may run no programs on top of its supervisor's threads,
    and tell nobody: a request's completion that interrupts one of those is not seen. What is wrong is so three times.
    """
    @functools.wraps(test)
    def attempt(*arguments):
        for _ in range(2):
            try:
                return test(*arguments)
            except AssertionError as error:
                print(f"{test.__name__} is tried again: {error}", file=sys.stderr)
        return test(*arguments)
    return attempt


class SystemTest(unittest.TestCase):
    """A test on the real kernel: as root, with a directory of its own that goes away."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise AssertionError("system tests watch the kernel: run them as root")
        unblend()
        cls.directory = tempfile.mkdtemp(prefix="unblend-test-")
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        atexit.register(shutil.rmtree, cls.directory, ignore_errors=True)

    @classmethod
    def make_volume(cls, size_mib):
        directory = tempfile.mkdtemp(dir=cls.directory)
        volume = Volume(directory, size_mib)
        cls.addClassCleanup(volume.close)
        return volume

    @classmethod
    def make_memory(cls):
        """A directory on a tmpfs."""
        directory = tempfile.mkdtemp(dir="/dev/shm", prefix="unblend-test-")
        cls.addClassCleanup(shutil.rmtree, directory)
        return directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def mount_tmpfs(self, path, options="mode=755"):
        """A file system of its own, until the test ends; returns path."""
        os.makedirs(path, exist_ok=True)
        must([tool("mount"), "-t", "tmpfs", "-o", options, "none", path])
        self.addCleanup(run, [tool("umount"), "-l", path])
        return path

    def record(self, command, *options, name="unblend.rec", **popen):
        """Records the command, which must succeed, and returns the report."""
        done = record(self.path(name), command, *options, **popen)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return report(self.path(name))

    def assert_one_line(self, text, *parts):
        """What users see of a failure: one line on stderr, PROGRAM: what: why."""
        self.assertEqual(text.count("\n"), 1, f"one line expected: {text!r}")
        self.assertTrue(text.startswith("unblend: "), text)
        for part in parts:
            self.assertIn(part, text)


class DataTest(SystemTest):
    """A volume with one file of data, on the disk, that nobody but the test uses."""

    SIZE = 1 << 20
    VOLUME_MIB = 32

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(cls.VOLUME_MIB)
        cls.data = os.path.join(cls.volume.mount, "data")
        with open(cls.data, "wb") as file:
            file.write(os.urandom(cls.SIZE))
        cls.fd = os.open(cls.data, os.O_RDONLY)
        cls.addClassCleanup(os.close, cls.fd)
        os.fsync(cls.fd)

    def keep_cached(self):
        """The data is in the page cache, and stays there until the test's end: a machine that is short of memory, or
        whose memory somebody else reclaims, drops pages at any time."""
        area = mmap.mmap(self.fd, self.SIZE, flags=mmap.MAP_SHARED | MAP_LOCKED, prot=mmap.PROT_READ)
        self.addCleanup(area.close)

    def on_volume(self, report):
        """What the report's only job did on it."""
        found = [volume for volume in report.job()["volumes"] if self.volume.mount in volume["mounts"]]
        self.assertEqual(1, len(found))
        return found[0]


def main():
    """Like unittest.main(), and a SIGTERM ends the tests as a Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    unittest.main(verbosity=2)
