# SPDX-License-Identifier: GPL-2.0-or-later
"""The block layer, on a loop device that nobody else uses: writes, flushes and discards of a job are its own."""
import os

import harness

SIZE_MIB = 16


class BlockTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        image = os.path.join(cls.directory, "image")
        with open(image, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, SIZE_MIB << 20)
        harness.make_loop_nodes()
        cls.device = harness.must([harness.tool("losetup"), "-f", "--show", image]).strip()
        cls.addClassCleanup(harness.run, [harness.tool("losetup"), "-d", cls.device])

    def on_device(self, command):
        report = self.record(["sh", "-c", command])
        self.assertEqual(0, report.lost())
        return report.device(self.device)

    @harness.by_chance_unseen
    def test_writes_and_flushes(self):
        """dd's fsync writes everything back and then has the device flush its cache."""
        write = f"dd if=/dev/zero of={self.device} bs=1M count=4 conv=fsync 2>/dev/null"
        found = self.on_device(f"for i in 1 2 3; do {write}; done")
        self.assertEqual(3 * 4 << 20, found["block_write"]["bytes"])
        self.assertEqual((3, 0, 0), harness.count(found, "block_flush"))
        self.assertGreater(found["block_flush"]["latency_ns"]["p50"], 0)

    @harness.by_chance_unseen
    def test_reads_past_the_cache(self):
        found = self.on_device(f"dd if={self.device} of=/dev/null bs=64k count=32 iflag=direct 2>/dev/null")
        self.assertEqual((32, 32 * 65536, 0), harness.count(found, "block_read"))
        self.assertEqual(65536, found["block_read"]["size"]["p50"])

    @harness.by_chance_unseen
    def test_discards(self):
        found = self.on_device(f"{harness.tool('blkdiscard')} -f {self.device} 2>/dev/null")
        self.assertEqual(SIZE_MIB << 20, found["block_discard"]["bytes"])


class ExitTest(harness.SystemTest):
    """What a process leaves open is closed when it is no longer counted among the living."""

    PROCESSES, FILES, BLOCKS = 100, 8, 50
    PROGRAM = """
import os, sys
for i in range(int(sys.argv[1])):
    if not os.fork():
        for k in range(int(sys.argv[2])):
            # Closing a file that was cut and written again has it written back.
            os.write(os.open(f"{k}", os.O_WRONLY | os.O_TRUNC | os.O_CREAT), bytes(4096 * int(sys.argv[3])))
        os._exit(0)
    os.wait()
"""

    @harness.by_chance_unseen
    def test_requests_after_the_exit(self):
        volume = self.make_volume(64)
        report = self.record(["python3", "-c", self.PROGRAM, *map(str, (self.PROCESSES, self.FILES, self.BLOCKS))],
                             "--interval", "100ms", cwd=volume.mount)
        written = report.device(volume.device)["block_write"]
        self.assertEqual((self.PROCESSES - 1) * self.FILES * self.BLOCKS * 4096, written["bytes"])
        self.assertEqual((0, 0), (report.lost(), report.coverage["unattributed_ops"]))
