# SPDX-License-Identifier: GPL-2.0-or-later
"""The file systems that the programs of the ground truth run on, and the page cache made cold."""
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system"))
import harness  # noqa: E402

SFTP_SERVER = "/usr/lib/openssh/sftp-server"
SIZE_MIB = 3072


class Ext4:
    """Like all of them: where it is mounted, and where files are put to be there."""

    def __init__(self, directory):
        self.volume = harness.Volume(directory, SIZE_MIB, sparse=True)
        self.mount = self.store = self.volume.mount
        # Without flushes an fsync waits for the image's page cache, and not for a disk that every program here shares.
        harness.must([harness.tool("mount"), "-o", "remount,barrier=0", self.mount])

    def close(self):
        self.volume.close()


class Memory:
    def __init__(self, directory):
        self.mount = os.path.join(directory, "tmpfs")
        os.mkdir(self.mount)
        harness.must([harness.tool("mount"), "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "truth", self.mount])
        self.store = self.mount

    def close(self):
        harness.run([harness.tool("umount"), "-l", self.mount])


class Fuse:
    """sshfs without ssh: it speaks to an SFTP server over a pair of sockets."""

    def __init__(self, directory):
        self.mount = os.path.join(directory, "fuse")
        self.store = os.path.join(directory, "served")
        os.mkdir(self.mount)
        os.mkdir(self.store)
        ours, theirs = socket.socketpair()
        self.server = subprocess.Popen([SFTP_SERVER], stdin=theirs, stdout=theirs)
        self.client = subprocess.Popen(["sshfs", "-f", "-o", "passive,allow_other,cache=yes", ":" + self.store,
                                        self.mount], stdin=ours, stdout=ours)
        ours.close()
        theirs.close()
        for _ in range(100):
            if os.path.ismount(self.mount):
                break
            time.sleep(0.05)
        else:
            self.close()
            raise AssertionError("sshfs did not mount within 5 s")

    def close(self):
        harness.run([harness.tool("umount"), "-l", self.mount])
        for process in (self.client, self.server):
            process.terminate()
            process.wait()


KINDS = {"ext4": Ext4, "tmpfs": Memory, "fuse": Fuse}


class Place:
    """A volume of each kind, for one program at a time; what sshfs serves lies on the one with ext4."""

    def __init__(self, directory):
        self.volumes = {}
        try:
            for kind, make in KINDS.items():
                os.makedirs(os.path.join(directory, kind))
                self.volumes[kind] = make(os.path.join(directory, kind))
                directory = self.volumes["ext4"].mount
        except BaseException:
            self.close()
            raise

    def close(self):
        for volume in reversed(self.volumes.values()):
            volume.close()


class Cold:
    """Keeps a program's files out of the page cache while it is entered, and nobody else's: the kernel is told one by
    one. From outside, so that the program's calls stay its own."""

    PERIOD_S = 0.7

    def __init__(self, root):
        self.root, self.over = root, threading.Event()
        self.thread = threading.Thread(target=self.evict)

    def evict(self):
        while True:
            for directory, _, names in os.walk(self.root):
                for name in names:
                    try:
                        fd = os.open(os.path.join(directory, name), os.O_RDONLY)
                    except OSError:
                        continue
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                    os.close(fd)
            if self.over.wait(self.PERIOD_S):
                return

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
