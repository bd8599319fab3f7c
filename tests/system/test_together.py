#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of which several programs, or one program in turns, do several things, as people run them."""
import os
import random
import tempfile

import harness
from harness import PYTHON, SystemTest

FILES, SIZE = 600, 40000
TRAINER = """
import os, sys
samples, out = sys.argv[1:3]
for epoch in range(3):
    for name in os.listdir(samples):
        with open(os.path.join(samples, name), "rb") as file:
            file.read()
    path = os.path.join(out, "model-%d" % epoch)
    with open(path + ".tmp", "wb", buffering=0) as file:
        for _ in range(8):
            file.write(bytes(1 << 20))
    os.rename(path + ".tmp", path)
"""

# As a file server does for three clients: each in a thread of the one process, or only those that are named.
SERVER = """
import os, random, sys, threading
samples, shards, *clients = sys.argv[1:]

def files():
    for _ in range(4):
        for name in os.listdir(samples):
            with open(os.path.join(samples, name), "rb") as file:
                file.read()

def streams():
    for _ in range(2):
        for name in os.listdir(shards):
            with open(os.path.join(shards, name), "rb", buffering=0) as file:
                while file.read(65536):
                    pass

def records():
    rng = random.Random(1)
    fds = [os.open(os.path.join(shards, name), os.O_RDONLY) for name in sorted(os.listdir(shards))]
    for _ in range(6000):
        os.pread(rng.choice(fds), 12000, rng.randrange(2000) * 12288)

threads = [threading.Thread(target=globals()[name]) for name in clients]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
SHARDS, SHARD = 8, 32 << 20
PROFILES = {"files": "losf", "streams": "shard-streaming", "records": "sample-read"}


class TogetherTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.samples = os.path.join(cls.directory, "samples")
        os.makedirs(cls.samples)
        rng = random.Random(1)
        for number in range(FILES):
            with open(os.path.join(cls.samples, f"{number}.jpg"), "wb") as file:
                file.write(rng.randbytes(SIZE + rng.randrange(SIZE)))

        cls.shards = os.path.join(cls.directory, "shards")
        os.makedirs(cls.shards)
        for number in range(SHARDS):
            with open(os.path.join(cls.shards, f"{number}.tar"), "wb") as file:
                file.write(rng.randbytes(1 << 20) * (SHARD >> 20))

    def setUp(self):
        super().setUp()
        self.out = tempfile.mkdtemp(dir=self.directory)

    def shares(self, *command):
        report = self.record(list(command))
        return {one["profile"]: (one["share_ops"], one["share_bytes"] or 0, one["confidence"])
                for one in report.job()["profiles"] if one["kind"] == "pattern"}

    def ops_of(self, *commands):
        """Share of the file layer's operations that processes of these commands have."""
        own = everything = 0
        for batch in harness.batches(self.path("unblend.rec")):
            for record in batch["records"]:
                if not record["op"].startswith("block_"):
                    ops = sum(int(cell.partition(":")[2] or 1) for cell in record["latency_ns"].split())
                    everything += ops
                    process = record.get("process")
                    own += ops if process is not None and batch["processes"][process]["command"] in commands else 0
        return own / everything

    def test_a_copy_is_told_beside_a_walk(self):
        found = self.shares("sh", "-c", f"tar cf - -C {self.samples} . | tar xf - -C {self.out} & "
                                        f"find {(self.samples + ' ') * 20} -size +1G & wait")
        self.assertEqual({"stage-copy", "ingest-scan"}, {profile for profile, of in found.items() if of[0] > 0.03})
        self.assertGreater(found["stage-copy"][1], 0.95)
        self.assertAlmostEqual(self.ops_of("tar"), found["stage-copy"][0], delta=0.05)
        self.assertAlmostEqual(self.ops_of("find"), found["ingest-scan"][0], delta=0.05)

    def test_who_trains_and_saves_does_two_things(self):
        found = self.shares(PYTHON, "-I", "-S", "-c", TRAINER, self.samples, self.out)
        self.assertNotIn("preprocess", found)
        self.assertGreater(found["losf"][0], 0.9)
        self.assertGreater(found["losf"][2], 0.8)
        self.assertAlmostEqual(24 / (24 + 3 * FILES * 1.5 * SIZE / (1 << 20)), found["checkpoint"][1], delta=0.03)

    def serve(self, *clients):
        """What is said, and all operations and bytes."""
        found = self.shares(PYTHON, "-I", "-S", "-c", SERVER, self.samples, self.shards, *clients)
        ops = [one for batch in harness.batches(self.path("unblend.rec")) for one in batch["records"]
               if not one["op"].startswith("block_")]
        return found, sum(int(cell.partition(":")[2] or 1) for one in ops for cell in one["latency_ns"].split()), sum(
            int(one["bytes"]) for one in ops)

    def test_one_process_does_what_several_programs_do(self):
        alone = {}
        for client in PROFILES:
            found, *alone[client] = self.serve(client)
            self.assertGreater(found[PROFILES[client]][1], 0.95, client)
        for clients in (("files", "streams"), ("streams", "records"), tuple(PROFILES)):
            found = self.serve(*clients)[0]
            for kind in 0, 1:
                whole = sum(alone[client][kind] for client in clients)
                for client in clients:
                    self.assertAlmostEqual(alone[client][kind] / whole, found[PROFILES[client]][kind], delta=0.05,
                                           msg=f"{client} of {clients}: {found}")

    def test_who_reads_each_file_once_may_look_for_viruses(self):
        found = self.shares("grep", "-r", "-c", ".", self.samples)
        self.assertGreater(found["losf"][0], 0.9)
        self.assertLess(found["losf"][2], 0.65)


if __name__ == "__main__":
    harness.main()
