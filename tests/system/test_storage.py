# SPDX-License-Identifier: GPL-2.0-or-later
"""The storage side: what devices and FUSE servers were asked, against what fio, iostat and the files themselves say."""
import json
import os
import subprocess
import tempfile
import time

import harness

BLOCK = 4096


def totals(entry):
    return {name: (request["ops"], request["bytes"], request["errors"]) for name, request in entry["requests"].items()}


class DeviceTest(harness.SystemTest):
    """A loop device that nobody uses but fio, through no file system."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(64)
        harness.must([harness.tool("umount"), cls.volume.mount])
        cls.volume.mounted = False
        cls.device = cls.volume.device

    def fio(self, output, *options):
        return [harness.tool("fio"), "--name=device", f"--filename={self.device}", "--direct=1", "--ioengine=libaio",
                "--bs=4k", "--size=32m", "--output-format=json", f"--output={output}", *options]

    def backend(self, recording):
        report = harness.report(recording).data
        found = [entry for entry in report["storage"]["devices"] if entry["source"] == self.device]
        self.assertEqual(1, len(found))
        return found[0]

    def assert_counted(self, recording, expected, counted):
        """Requests by kind, but for those that the kernel let nobody see, on a crowded machine: they count as lost."""
        lost = harness.report(recording).coverage["lost_ops"]
        missing = {name: expected[name] - counted[name][0] for name in expected}
        self.assertTrue(all(number >= 0 for number in missing.values()), missing)
        self.assertLessEqual(sum(missing.values()), lost)
        for name, (ops, size, errors) in counted.items():
            if name in expected:
                self.assertEqual((ops * BLOCK, 0), (size, errors))

    @harness.by_chance_unseen
    def test_what_fio_says(self):
        output, recording = self.path("fio.json"), self.path("fio.rec")
        done = harness.record(recording, self.fio(output, "--rw=randrw", "--iodepth=8"), "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(output, encoding="utf-8") as file:
            said = json.load(file)["jobs"][0]
        entry = self.backend(recording)
        job, = [party for party in entry["parties"] if party["for"] == "job"]
        self.assert_counted(recording, {name: said[name]["total_ios"] for name in ("read", "write")}, totals(job))
        for name in ("read", "write"):
            request = job["requests"][name]
            self.assertEqual({"p1": 4096, "p50": 4096, "p99": 4096},
                             {key: request["size"][key] for key in ("p1", "p50", "p99")})
            # Of the time that fio saw, the device had a part.
            self.assertGreater(request["service_ns"]["mean"], 0)
            self.assertLessEqual(request["service_ns"]["mean"], said[name]["lat_ns"]["mean"])
            self.assertLessEqual(request["queue_ns"]["mean"], said[name]["lat_ns"]["mean"])
        self.assertLessEqual(entry["in_flight"]["now"], harness.report(recording).coverage["lost_ops"])
        self.assertGreater(entry["in_flight"]["at_issue"]["max"], 1)
        self.assertLessEqual(entry["in_flight"]["at_issue"]["p50"], 8)
        # By the block layer's operations, too.
        ops, = [volume["ops"] for other in harness.report(recording).data["jobs"] if other["job"] == job["job"]
                for volume in other["volumes"] if volume["source"] == self.device]
        for name in ("read", "write"):
            self.assertEqual(harness.count(ops, "block_" + name), totals(job)[name])

    def iostat(self):
        """KiB read and written since the machine's start."""
        name = os.path.basename(self.device)
        done = harness.must([harness.tool("iostat"), "-d", "-k", "-o", "JSON", name], env={**os.environ, "LC_ALL": "C"})
        disk, = json.loads(done)["sysstat"]["hosts"][0]["statistics"][0]["disk"]
        return {"read": disk["kB_read"], "write": disk["kB_wrtn"]}

    def counters(self):
        """What iostat computes from: requests and milliseconds from their making to their end."""
        with open(f"/sys/block/{os.path.basename(self.device)}/stat", encoding="ascii") as file:
            fields = [int(field) for field in file.read().split()]
        return {"read": (fields[0], fields[1], fields[3]), "write": (fields[4], fields[5], fields[7])}

    @harness.by_chance_unseen
    def test_what_iostat_says(self):
        recording = self.path("iostat.rec")
        before, counted = self.iostat(), self.counters()
        done = harness.record(recording, self.fio(self.path("iostat-fio.json"), "--rw=randrw", "--iodepth=4"), "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        after, counts = self.iostat(), self.counters()
        entry, theirs = self.backend(recording), {}
        requests = entry["requests"]
        for name in ("read", "write"):
            ops, merges, waited_ms = (b - a for a, b in zip(counted[name], counts[name]))
            self.assertEqual(ops * BLOCK // 1024, after[name] - before[name])
            self.assertEqual(merges, requests[name]["merges"])
            theirs[name] = ops
            # Ours begins when the request is inserted or issued, and each of theirs is cut to a millisecond or less.
            ours_ms = requests[name]["ops"] * (requests[name]["queue_ns"]["mean"] +
                                               requests[name]["service_ns"]["mean"]) / 1e6
            self.assertLessEqual(ours_ms, waited_ms * 1.02 + 2)
        self.assert_counted(recording, theirs, totals(entry))

    def test_merges(self):
        recording = self.path("merges.rec")
        done = harness.record(recording, ["sh", "-c", f"dd if=/dev/zero of={self.device} bs=64k count=64 "
                                          "conv=notrunc 2>/dev/null; sync"], "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        write = self.backend(recording)["requests"]["write"]
        self.assertEqual(64 << 16, write["bytes"])
        self.assertGreater(write["merges"], 0)
        self.assertLess(write["ops"], 64 << 4)


class WritebackTest(harness.SystemTest):
    def test_nobody_waits_for_it(self):
        volume, recording = self.make_volume(64), self.path("writeback.rec")
        with open(os.path.join(volume.mount, "data"), "wb") as file:
            file.write(bytes(8 << 20))
            file.flush()
            # The kernel's own thread writes it back, and the test has nothing to do with it.
            done = harness.record(recording, ["sync"], "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        entry, = [entry for entry in harness.report(recording).data["storage"]["devices"]
                  if entry["source"] == volume.device]
        parties = {party["for"]: party["requests"]["write"]["bytes"] for party in entry["parties"]
                   if "write" in party["requests"]}
        self.assertGreaterEqual(parties.get("writeback", 0), 8 << 20, parties)


class FuseTest(harness.SystemTest):
    """A file system served by a process."""

    SIZE = 4 << 20

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = tempfile.mkdtemp(dir=cls.directory)
        cls.mount = tempfile.mkdtemp(dir=cls.directory)
        with open(os.path.join(cls.source, "data"), "wb") as file:
            file.write(os.urandom(cls.SIZE))
        cls.daemon = subprocess.Popen([harness.tool("bindfs"), "-f", cls.source, cls.mount])
        cls.addClassCleanup(cls.end)
        for _ in range(200):
            if os.path.ismount(cls.mount):
                return
            time.sleep(0.05)
        raise AssertionError("bindfs does not mount")

    @classmethod
    def end(cls):
        harness.run([harness.tool("umount"), "-l", cls.mount])
        cls.daemon.wait(30)

    def test_requests_and_who_serves(self):
        recording = self.path("fuse.rec")
        done = harness.record(recording, ["sh", "-c", 'cat "$0/data" >/dev/null; echo hi >"$0/new"; sleep 0.2',
                                          self.mount], "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = harness.report(recording).data
        if not {hook["hook"]: hook
                for hook in report["coverage"]["hooks"]}["raw_tp/fuse_request_send"]["state"] == "attached":
            self.assertEqual([], report["storage"]["backends"])
            return
        entry, = [entry for entry in report["storage"]["backends"] if entry["source"] == self.source]
        self.assertEqual("fuse", entry["layer"])
        self.assertEqual(self.SIZE, entry["requests"]["read"]["bytes"])
        self.assertEqual((1, 3, 0), totals(entry)["write"])
        self.assertGreater(entry["requests"]["metadata"]["ops"], 2)
        self.assertEqual(["bindfs"], [server["command"] for server in entry["servers"]])
        # Its own reads are told apart: they are of its job and on the volume behind.
        server = entry["servers"][0]["job"]
        job, = [job for job in report["jobs"] if job["job"] == server]
        self.assertGreaterEqual(job["ops"]["read"]["bytes"], self.SIZE)
        self.assertNotIn(server, [party["job"] for party in entry["parties"]])
        text = harness.must([harness.unblend(), "report", recording])
        self.assertIn("served by bindfs", text)


if __name__ == "__main__":
    harness.main()
