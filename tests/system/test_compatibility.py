#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What earlier versions have written is read as they meant it: recordings, batches on the wire, and databases."""
import glob
import hashlib
import json
import os
import unittest

import harness
import collecting
from collecting import command

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = sorted(glob.glob(os.path.join(HERE, "compat-*")))
FOREVER = ("--keep-raw", "36500d")  # the data is of a day long ago


def said(report):
    """What a report says, as far as expected.json has it."""
    def ops(of):
        return {name: [op["ops"], op["bytes"], op["errors"]] for name, op in of["ops"].items()}
    return {"nodes": [node["node"] for node in report["nodes"]],
            "jobs": {job["job"]: {"user": job["user"], "ops": ops(job),
                                  "volumes": {volume["volume"]: {"source": volume["source"], "fstype": volume["fstype"],
                                                                 "mounts": volume["mounts"], "ops": ops(volume)}
                                              for volume in job["volumes"]}}
                     for job in report["jobs"]}}


class CompatibilityTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        collecting.setUpModule()
        cls.addClassCleanup(collecting.tearDownModule)
        cls.root = collecting.ROOT
        cls.pg = os.path.join(cls.root, "pg")
        cls.collector = collecting.Collector("--embedded", cls.pg, *FOREVER).wait_ready()
        cls.addClassCleanup(cls.collector.stop)

    def conninfo(self, name):
        return f"host={self.pg} port=5432 dbname={name} user=unblend"

    def psql(self, name, *arguments):
        return harness.must([harness.tool("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", self.conninfo(name), *arguments])

    def test_there_are_versions(self):
        self.assertTrue(VERSIONS)

    def check(self, folder, *source):
        done = harness.run([harness.unblend(), "report", "--format", "json", *source])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), said(json.loads(done.stdout)))

    def test_recordings(self):
        for folder in VERSIONS:
            self.check(folder, os.path.join(folder, "recording.rec"))

    def test_the_wire(self):
        token = command("enroll", "node1", "--embedded", self.pg).stdout.strip()
        for folder in VERSIONS:
            with open(os.path.join(folder, "batch.json"), "rb") as file:
                body = file.read()
            count = body.count(b"\n")
            self.assertEqual((200, {"stored": count, "duplicates": 0}), self.collector.post(body, token))
            self.assertEqual((200, {"stored": 0, "duplicates": count}), self.collector.post(body, token))
            self.check(folder, "--db", self.conninfo("unblend"))
            self.psql("unblend", "-c",
                      "truncate unblend.sample, unblend.flow, unblend.batch, unblend.stream, unblend.gap, "
                                       "unblend.ledger")

    def test_databases(self):
        for folder in VERSIONS:
            name = os.path.basename(folder).replace("-", "_").replace(".", "_")
            self.psql("postgres", "-c", f"create database {name}")
            self.psql(name, "-f", os.path.join(folder, "database.sql"))
            done = command("init-db", "--db", self.conninfo(name))
            self.assertEqual(0, done.returncode, done.stderr)
            self.check(folder, "--db", self.conninfo(name))
            # And life goes on in it: what it has is known, what is new comes in.
            collector = collecting.Collector("--db", self.conninfo(name), *FOREVER).wait_ready()
            try:
                token = command("enroll", "node1", "--db", self.conninfo(name)).stdout.strip()
                with open(os.path.join(folder, "batch.json"), "rb") as file:
                    body = file.read()
                count = body.count(b"\n")
                self.assertEqual((200, {"stored": 0, "duplicates": count}), collector.post(body, token))
                self.assertEqual((200, {"stored": 1, "duplicates": 0}),
                                 collector.post(collecting.batch(1, node="node1", cluster="default",
                                                                 stream="f" * 32), token))
            finally:
                collector.stop()

    def test_migrations_stay_as_they_were(self):
        for folder in VERSIONS:
            with open(os.path.join(folder, "schema.sha256"), encoding="ascii") as file:
                rows = [line.split() for line in file]
            self.assertGreater(len(rows), 10)
            for digest, name in rows:
                with open(os.path.join(harness.SOURCE, "collector/schema", name), "rb") as file:
                    self.assertEqual(digest, hashlib.sha256(file.read()).hexdigest(), f"{name} was changed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
