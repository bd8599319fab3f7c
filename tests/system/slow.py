# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system on which every read takes as long as is said."""
import os
import subprocess
import tempfile
import time

import harness

PATIENCE_S = 30
PIECE = 32768   # one request
STRIDE = 1 << 18  # pieces that far apart are not read ahead together


class SlowTest(harness.SystemTest):
    """It is mounted at .mount, with 64 MiB in .data; one server answers one request after the other."""

    DELAY_S = 0.03  # of each request that the server reads a file for
    OPTIONS = ()    # of bindfs
    SIZE = 64 << 20

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.top = tempfile.mkdtemp(prefix="unblend-wait-")
        cls.addClassCleanup(harness.shutil.rmtree, cls.top, ignore_errors=True)
        source, cls.mount = os.path.join(cls.top, "source"), os.path.join(cls.top, "mnt")
        os.mkdir(source)
        os.mkdir(cls.mount)
        cls.data = os.path.join(cls.mount, "data")
        with open(os.path.join(source, "data"), "wb") as file:
            file.truncate(cls.SIZE)
        cls.daemon = subprocess.Popen(
            [harness.tool("strace"), "-f", "-qq", "-o", "/dev/null", "-e", "trace=pread64", "-e",
             f"inject=pread64:delay_enter={int(cls.DELAY_S * 1e6)}", harness.tool("bindfs"), "-f", *cls.OPTIONS,
             source, cls.mount])
        cls.addClassCleanup(cls.end_daemon)
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.ismount(cls.mount):
            if time.monotonic() > deadline:
                raise AssertionError("bindfs did not mount")
            time.sleep(0.05)

    @classmethod
    def end_daemon(cls):
        harness.run([harness.tool("umount"), "-l", cls.mount])
        cls.daemon.terminate()
        cls.daemon.wait(PATIENCE_S)
