# SPDX-License-Identifier: GPL-2.0-or-later
"""The volume of calls by path that leave no descriptor: where paths do not begin at the root, and below long names."""
import os

import harness

# The first call has the mounts read that are seen from there, which takes a second at most.
CONFINED = """
import os, sys, time
os.chroot(sys.argv[1])
os.chdir("/")
os.mkdir("/asked")
time.sleep(2)
for name in ("/one", "/two", "/proc", "/proc/below", "/inner/three"):
    os.mkdir(name)
for name in ("/none", "/inner/none", "/dev/shm/none", "/proc/none"):
    try:
        os.stat(name)
    except FileNotFoundError:
        pass
os.rmdir("/inner/three")
"""

LONG = """
import os, sys
os.mkdir(sys.argv[1] + "/made")
os.rmdir(sys.argv[1] + "/made")
os.close(os.open(sys.argv[1] + "/file", os.O_WRONLY | os.O_CREAT))
os.mkdir(sys.argv[2] + "/made")
"""


class MountsTest(harness.SystemTest):
    def counts(self, report, mount, *names):
        """How many succeeded; mount None: of those whose volume is not known."""
        ops = report.volume(mount) if mount else {}
        for volume in report.job()["volumes"]:
            if not mount and volume["volume"] == "?":
                ops = volume["ops"]
        return tuple(ops[name]["ops"] - ops[name]["errors"] if name in ops else 0 for name in names)

    def missed(self, report, mount):
        return report.volume(mount)["stat"]["error_codes"].get("ENOENT", 0)

    def confined(self, root, outer):
        inner = self.mount_tmpfs(os.path.join(root, "inner"))
        report = self.record([harness.PYTHON, "-I", "-S", "-c", CONFINED, root])
        self.assertEqual((4, 0), self.counts(report, outer, "mkdir", "unlink"))
        self.assertEqual((1, 1), self.counts(report, inner, "mkdir", "unlink"))
        self.assertEqual((3, 1), (self.missed(report, outer), self.missed(report, inner)))
        self.assertEqual((1,), self.counts(report, None, "mkdir"))

    def test_in_a_chroot_at_a_mount(self):
        root = self.mount_tmpfs(self.path("root"))
        self.confined(root, root)

    def test_in_a_chroot_in_a_folder(self):
        outer = self.mount_tmpfs(self.path("outer"))
        self.confined(os.path.join(outer, "folder"), outer)

    def test_below_a_name_that_is_too_long(self):
        """It is not taken for the mount above."""
        outer = self.mount_tmpfs(self.path("above"))
        long = self.mount_tmpfs(os.path.join(outer, "a" * 100, "b" * 100))
        report = self.record([harness.PYTHON, "-I", "-S", "-c", LONG, long, os.path.join(outer, "a" * 100)])
        self.assertEqual((1, 1), self.counts(report, None, "mkdir", "unlink"))
        self.assertEqual((1, 1), self.counts(report, long, "create", "close"))
        self.assertEqual((1,), self.counts(report, outer, "mkdir"))


if __name__ == "__main__":
    harness.main()
