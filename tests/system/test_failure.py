# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong around a recording: one line says so, and nothing that was counted is lost."""
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import threading
import time

import harness

FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
MAGIC = b"UNBLEND1"


def frames(path):
    """Where each frame of a recording begins and ends: u32 length, u32 checksum, payload."""
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(MAGIC)
    at, found = len(MAGIC), []
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        found.append((at, at + 8 + length))
        at += 8 + length
    return data, found


class RightsTest(harness.SystemTest):
    """No rights, no type information, no place to write: the command is not even started."""

    def setUp(self):
        self.marker = self.path("started")
        if os.path.exists(self.marker):
            os.unlink(self.marker)

    def refuse(self, command, *parts):
        done = harness.run(command, env=harness.environment())
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, *parts)
        self.assertFalse(os.path.exists(self.marker), "the command has run")

    def hidden(self, script):
        """Runs a shell script where nobody else sees its mounts."""
        return [harness.tool("unshare"), "-m", "sh", "-c", script]

    def test_unwritable_output(self):
        for place in (self.path("missing/x.rec"), self.directory, "/proc/x.rec", "/dev/full/x.rec"):
            with self.subTest(place=place):
                self.refuse([harness.unblend(), "record", "-o", place, "--", "touch", self.marker],
                            place)

    def test_output_in_use(self):
        path = self.path("busy.rec")
        first = subprocess.Popen([harness.unblend(), "record", "-o", path, "--", "sleep", "30"],
                                 stdin=subprocess.DEVNULL, env=harness.environment())
        try:
            limit = time.monotonic() + 20
            while not os.path.exists(path) and time.monotonic() < limit:
                time.sleep(0.02)
            time.sleep(0.3)
            self.refuse([harness.unblend(), "record", "-o", path, "--", "touch", self.marker], path)
        finally:
            first.send_signal(signal.SIGTERM)
            first.wait(20)

    def test_no_rights(self):
        # A copy that everybody can reach, and no agent that could do it in our stead.
        program = shutil.copy(harness.unblend(), self.path("unblend"))
        os.chmod(self.directory, 0o777)
        script = ("[ -d /run/unblend ] && mount -t tmpfs none /run/unblend;"
                  f"cd {self.directory}; exec {harness.tool('setpriv')} --reuid=65534 --regid=65534 "
                  f"--clear-groups {program} record -- touch {self.marker}")
        self.refuse(self.hidden(script), "not permitted", "root")
        self.assertFalse(os.path.exists(self.path("unblend.rec")))

    def test_children_that_a_parent_ignores(self):
        """Some supervisors ignore the end of children, which those inherit: it is told to us all the same."""
        path = self.path("ignored.rec")
        done = harness.run([harness.unblend(), "record", "-o", path, "--", "sh", "-c", "exit 3"],
                           env=harness.environment(), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual((3, ""), (done.returncode, done.stderr))
        hooks = {hook["hook"]: hook["why"] for hook in harness.report(path).coverage["hooks"]}
        self.assertRegex(hooks["tp_btf/sys_enter"], "self-test: [1-9][0-9]* calls exact, 0 wrong")

    def test_closed_standard_files(self):
        """Their numbers are not given to a recording, into which messages would go then."""
        path, seen = self.path("closed.rec"), self.path("seen")
        done = harness.run(["sh", "-c", f"exec {harness.unblend()} record -o {path} -- "
                                        f"sh -c 'readlink /proc/$PPID/fd/[012] >{seen}' <&- >&- 2>&-"],
                           env=harness.environment())
        self.assertEqual(0, done.returncode)
        with open(seen, encoding="utf-8") as file:
            self.assertEqual(["/dev/null"] * 3, file.read().split())
        done = harness.run(["sh", "-c", f"exec {harness.unblend()} report {path} >&-"], env=harness.environment())
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "cannot write the report")

    def test_few_files(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        done = harness.run([harness.unblend(), "record", "-o", self.path("few.rec"), "--", "touch", self.marker],
                           env=harness.environment(), preexec_fn=few)
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "ulimit -n")
        self.assertFalse(os.path.exists(self.marker), "the command has run")

    def test_kernel_without_type_information(self):
        script = (f"mount -t tmpfs none /sys/kernel/btf && exec {harness.unblend()} record "
                  f"-o {self.path('btf.rec')} -- touch {self.marker}")
        self.refuse(self.hidden(script), "BTF", "/sys/kernel/btf/vmlinux")

    def test_doctor_without_type_information(self):
        script = f"mount -t tmpfs none /sys/kernel/btf && exec {harness.unblend()} doctor --json"
        done = harness.run(self.hidden(script))
        self.assertIn(done.returncode, (0, 1))
        self.assertIn("BTF", done.stdout)
        json.loads(done.stdout)


class FullDiskTest(harness.SystemTest):
    def test_full_disk(self):
        """The command goes on; what was recorded until then can be read."""
        place = self.mount_tmpfs(self.path("small"), "size=32k")
        recording, marker = os.path.join(place, "full.rec"), self.path("ended")
        done = harness.record(recording, ["sh", "-c", "for i in $(seq 1500); do /bin/true; done; "
                                          f"touch {marker}"], "-i", "10ms")
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, recording, "No space left")
        self.assertTrue(os.path.exists(marker), "the command did not reach its end")
        ops = harness.report(recording).volume("/")
        self.assertGreater(ops["open"]["ops"], 0)
        self.assertGreater(os.stat(recording).st_size, 16 << 10)


class DamageTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = os.path.join(cls.directory, "whole.rec")
        script = "for i in 1 2 3 4 5 6 7 8; do head -c 100 /etc/passwd; sleep 0.1; done"
        done = harness.record(cls.whole, ["sh", "-c", script], "-i", "100ms")
        if done.returncode:
            raise AssertionError(done.stderr)
        cls.data, cls.frames = frames(cls.whole)
        if len(cls.frames) < 6:
            raise AssertionError(f"only {len(cls.frames)} frames")

    def write(self, data):
        path = self.path("damaged.rec")
        with open(path, "wb") as file:
            file.write(data)
        return path

    def totals(self, data):
        """What the report of an undamaged recording says."""
        report = harness.report(self.write(data)).data
        return {job["job"]: {name: harness.count(job["ops"], name) for name in job["ops"]}
                for job in report["jobs"]}

    def damaged(self, data):
        """The report of a damaged one: one line of warning, and the rest of it all the same."""
        done = harness.run([harness.unblend(), "report", "--format", "json", self.write(data)])
        self.assertEqual(done.returncode, 0)
        self.assert_one_line(done.stderr, "damaged.rec", "damaged")
        report = json.loads(done.stdout)
        self.assertIs(report["coverage"]["damaged"], True)
        return {job["job"]: {name: harness.count(job["ops"], name) for name in job["ops"]}
                for job in report["jobs"]}

    def without(self, index):
        begin, end = self.frames[index]
        return self.data[:begin] + self.data[end:]

    def test_flipped_bits_cost_one_batch(self):
        middle = len(self.frames) // 2
        begin, end = self.frames[middle]
        expected = self.totals(self.without(middle))
        generator = random.Random(1)
        for bit in generator.sample(range(8 * (begin + 8), 8 * end), 12):
            with self.subTest(bit=bit - 8 * begin):
                data = bytearray(self.data)
                data[bit // 8] ^= 1 << bit % 8
                self.assertEqual(self.damaged(data), expected)

    def test_flipped_bits_of_length_and_checksum(self):
        middle = len(self.frames) // 2
        begin = self.frames[middle][0]
        expected = self.totals(self.without(middle))
        for bit in range(0, 64, 5):
            with self.subTest(bit=bit):
                data = bytearray(self.data)
                data[begin + bit // 8] ^= 1 << bit % 8
                self.assertEqual(self.damaged(data), expected)

    def test_torn_tail(self):
        begin, end = self.frames[-1]
        expected = self.totals(self.data[:begin])
        for cut in (1, 5, (end - begin) // 2, end - begin - 8, end - begin - 1):
            with self.subTest(cut=cut):
                self.assertEqual(self.damaged(self.data[:end - cut]), expected)

    def test_zeros_at_the_end(self):
        """What a file system may leave after a crash."""
        expected = self.totals(self.data)
        self.assertEqual(self.damaged(self.data + bytes(4096)), expected)

    def test_no_recording(self):
        for data in (b"", b"UNBL", b"not a recording at all\n" * 10, bytes(1000)):
            with self.subTest(data=data[:10]):
                done = harness.run([harness.unblend(), "report", "--format", "json",
                                    self.write(data)])
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assert_one_line(done.stderr, "damaged.rec")

    def test_missing_recording(self):
        done = harness.run([harness.unblend(), "report", "--format", "json", "/nonexistent.rec"])
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assert_one_line(done.stderr, "/nonexistent.rec", "No such file")


class InFlightTest(harness.SystemTest):
    """A volume that hangs: what waits for it is neither lost nor counted too early."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(32)

    def freeze(self, request):
        fd = os.open(self.volume.mount, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, request, 0)
        finally:
            os.close(fd)

    def thaw(self):
        try:
            self.freeze(FITHAW)
        except OSError:
            pass  # it is thawed

    def freeze_until_later(self, recording):
        """Until two seconds and a half after the recording has begun."""
        def wait():
            limit = time.monotonic() + 20
            while not os.path.exists(self.path(recording)) and time.monotonic() < limit:
                time.sleep(0.02)
            time.sleep(2.5)
            self.thaw()

        self.freeze(FIFREEZE)
        self.addCleanup(self.thaw)
        thread = threading.Thread(target=wait)
        thread.start()
        self.addCleanup(thread.join)

    def test_call_that_hangs_at_the_end(self):
        self.freeze_until_later("end.rec")
        report = self.record(["mkdir", os.path.join(self.volume.mount, "one")], "-d", "1s",
                             name="end.rec")
        self.assertEqual((1, 0), (report.coverage["in_flight_ops"], report.coverage["killed_ops"]))
        named = [volume["ops"] for volume in report.job()["volumes"]
                 if self.volume.mount in volume["mounts"]]
        self.assertEqual([ops for ops in named if "mkdir" in ops], [])

    def test_call_that_hangs_and_returns(self):
        self.freeze_until_later("two.rec")
        report = self.record(["mkdir", os.path.join(self.volume.mount, "two")], name="two.rec")
        mkdir = report.volume(self.volume.mount)["mkdir"]
        self.assertEqual((mkdir["ops"], mkdir["errors"]), (1, 0))
        self.assertGreater(mkdir["latency_ns"]["max"], 10 ** 9)
        self.assertEqual(report.coverage["in_flight_ops"], 0)


if __name__ == "__main__":
    harness.main()
