#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What agents tell of jobs without their processes: whether those who read wrote, too."""
import os
import unittest

import harness
from harness import PYTHON
from test_path import PathTest, from_database

FILES, SIZE = 600, 48 << 10
READ = """
import os, sys
for name in os.listdir(sys.argv[1]):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        file.read()
"""
WRITE = f"""
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    for _ in range({FILES * SIZE // 10240}):
        file.write(bytes(10240))
"""


class TestReworked(PathTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.small = os.path.join(cls.volume.mount, "small")
        os.mkdir(cls.small)
        for i in range(FILES):
            with open(os.path.join(cls.small, f"{i}.jpg"), "wb") as file:
                file.write(os.urandom(SIZE))
        cls.packed = os.path.join(cls.volume.mount, "packed")

    def told(self, name, command):
        """(the job's profiles, bytes that who wrote had read, bytes read) by way of an agent and the database"""
        agent = self.start_agent()
        done = agent.record(name, command, self.path(name + ".rec"))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(0, agent.stop())
        shares = {}
        for job in from_database(self.collector, "--job", name).data["jobs"]:
            shares.update({share["profile"]: share for share in job["profiles"] if share["kind"] == "pattern"})
        sums = harness.must([harness.tool("psql"), "-XAtqF,", self.collector.conninfo(), "-c",
                             "select sum(cache_hit_ops) filter (where op = 'write'), "
                             "sum(bytes) filter (where op in ('read', 'mmap_fault')) from unblend.samples "
                             f"where job = '{name}'"]).split(",")
        return shares, *map(int, sums)

    def test_a_packer_is_one(self):
        shares, reworked, read = self.told("packs", ["tar", "-cf", self.packed, "-C", self.small, "."])
        self.assertGreater(reworked, 0.98 * FILES * SIZE)
        self.assertLessEqual(reworked, read)
        self.assertGreater(shares["preprocess"]["share_bytes"], 0.98, shares)
        self.assertTrue(any("read by processes that wrote" in line for line in shares["preprocess"]["evidence"]), shares)

    def test_who_reads_beside_who_writes_is_none(self):
        """The same bytes in the same second: all that tells them apart are processes, which stay on the node."""
        shares, reworked, read = self.told("reads-and-writes", [
            "sh", "-c", '"$0" -c "$1" "$3" & "$0" -c "$2" "$4" & wait', PYTHON, READ, WRITE, self.small, self.packed])
        self.assertGreater(read, FILES * SIZE)
        self.assertLess(reworked, 0.1 * FILES * SIZE)
        self.assertNotIn("preprocess", shares)


if __name__ == "__main__":
    unittest.main()
