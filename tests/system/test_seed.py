# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and mount namespaces that were there before the probe."""
import os
import subprocess
import time

import harness

RECORD = 4096
ORDERS = ("sequential", "consecutive", "random")


class SeedTest(harness.DataTest):
    def inherited(self, code):
        """How many of its transfers were of which order, on a descriptor that has been read from before."""
        fd = os.open(self.data, os.O_RDONLY)
        self.addCleanup(os.close, fd)
        for _ in range(8):
            os.read(fd, RECORD)
        program = f"import os, sys\nfd = int(sys.argv[1])\n{code}\n"
        report = self.record([harness.PYTHON, "-I", "-S", "-c", program, str(fd)], pass_fds=[fd])
        volume = self.on_volume(report)
        self.assertEqual(64, volume["ops"]["read"]["ops"])
        return volume["ratios"], volume["ops"]["read"]["cached"]

    def orders(self, code):
        return tuple(self.inherited(code)[0][key] for key in ORDERS)

    def test_goes_on_where_it_stood(self):
        self.assertEqual((0, 1, 0), self.orders("for i in range(64): os.read(fd, 4096)"))

    def test_after_a_seek_the_first_is_unknown(self):
        """63 of 64 have an order: nobody has seen what came before the first."""
        self.assertEqual((0, 1, 0), self.orders("os.lseek(fd, 0, 0)\nfor i in range(64): os.read(fd, 4096)"))
        self.assertEqual((0, 0, 1), self.orders("for i in range(64, 0, -1): os.pread(fd, 4096, i * 4096)"))

    def test_a_mount_namespace_of_before(self):
        """A path that fails in it belongs to its mount from the first call on."""
        point = self.path("private")
        os.mkdir(point)
        script = (f"mount -t tmpfs none {point} && exec 9>{point}/open && echo ready && read go && "
                  f"for i in 1 2 3 4 5; do true < {point}/missing; done; echo done; read go")
        process = subprocess.Popen([harness.tool("unshare"), "-m", "/bin/sh", "-c", script], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate)
        self.assertEqual("ready\n", process.stdout.readline())
        recording = self.path("all.rec")
        recorder = subprocess.Popen([harness.unblend(), "record", "-i", "1h", "-o", recording])
        self.addCleanup(recorder.kill)
        limit = time.monotonic() + 20
        while not os.path.exists(recording) and time.monotonic() < limit:
            time.sleep(0.01)
        process.stdin.write("go\n")
        process.stdin.flush()
        self.assertEqual("done\n", process.stdout.readline())
        recorder.terminate()
        recorder.wait(20)
        found = [volume["ops"]["open"]["error_codes"].get("ENOENT") for job in
                 harness.report(recording).data["jobs"] for volume in job["volumes"]
                 if point in volume["mounts"] and "open" in volume["ops"]]
        self.assertEqual([5], found)


if __name__ == "__main__":
    harness.main()
