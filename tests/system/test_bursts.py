# SPDX-License-Identifier: GPL-2.0-or-later
"""Demand by tenths of a second: the slots' sums are the counts, known bursts come out as they were made, and latencies
in bursts are apart from the rest."""
import datetime
import json
import os
import threading
import time

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATOR = os.path.join(HERE, "..", "workload", "bursts.py")
SLOT_NS = 100_000_000
METADATA = ("open", "close", "stat", "readdir", "create", "unlink", "rename", "mkdir", "truncate", "setattr")
SECONDS = 12


def runs(text):
    """The slots of a run-length list."""
    values = []
    for run in text.split():
        value, _, times = run.partition("*")
        values += [int(value)] * int(times or 1)
    return values


def flow_sums(batches):
    """What the flows hold, by job, volume and demand; and of each demand by slot."""
    sums, slots = {}, {}
    for batch in batches:
        for flow in batch.get("flows", []):
            key = batch["jobs"][flow["job"]]["job"], batch["volumes"][flow["volume"]]["volume"]
            for demand in ("read_bytes", "write_bytes", "read_ops", "write_ops", "metadata_ops"):
                for i, value in enumerate(runs(flow.get(demand, ""))):
                    sums[key + (demand,)] = sums.get(key + (demand,), 0) + value
                    at = slots.setdefault(key + (demand,), {})
                    at[flow["first"] + i] = at.get(flow["first"] + i, 0) + value
    return {key: value for key, value in sums.items() if value}, slots


def count_of(pairs):
    return sum(int(pair.partition(":")[2] or 1) for pair in pairs.split())


def record_sums(batches):
    """What the records hold, by the same keys."""
    sums = {}
    for batch in batches:
        for record in batch["records"]:
            key = batch["jobs"][record["job"]]["job"], batch["volumes"][record["volume"]]["volume"]
            ops = count_of(record["latency_ns"])
            if record["op"] in ("read", "write"):
                pairs = ((record["op"] + "_bytes", record["bytes"]), (record["op"] + "_ops", ops))
            elif record["op"] in METADATA:
                pairs = (("metadata_ops", ops),)
            else:
                continue
            for demand, value in pairs:
                sums[key + (demand,)] = sums.get(key + (demand,), 0) + value
    return {key: value for key, value in sums.items() if value}


def figures(values):
    mean = sum(values) / len(values)
    variance = sum((x - mean) ** 2 for x in values) / len(values)
    return {"peak_to_mean": max(values) / mean, "cv": variance ** 0.5 / mean, "fano": variance / mean,
            "idle": values.count(0) / len(values)}


def slot_of(text):
    """The tenth of a second of an RFC 3339 time."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1e9) // SLOT_NS


class BurstTest(harness.DataTest):
    def assert_sums(self, recording):
        batches = harness.batches(recording)
        sums, slots = flow_sums(batches)
        self.assertEqual(record_sums(batches), sums)
        return slots

    def test_known_bursts(self):
        recording = self.path("bursts.rec")
        done = harness.must([harness.unblend(), "record", "-o", recording, "--", harness.PYTHON, "-I", "-S", GENERATOR,
                             self.data, str(SECONDS), "7"])
        truth = {int(slot): value for slot, value in json.loads(done)["slots"].items()}
        slots = self.assert_sums(recording)
        report = harness.report(recording)
        job, volume = report.job(), self.on_volume(report)
        seen = slots[job["job"], volume["volume"], "read_bytes"]
        self.assertEqual(sum(value[0] for value in truth.values()), sum(seen.values()))
        # a call that returns at a slot's very end may stand in one slot there and in the other here
        moved = sum(abs(seen.get(s, 0) - truth.get(s, (0, 0))[0]) for s in set(seen) | set(truth)) / 2
        self.assertLess(moved, 0.02 * sum(seen.values()))

        attempt = job["attempts"][0]
        first, last = slot_of(attempt["start"]), slot_of(attempt["end"])
        for index, width in enumerate((1, 10, 100)):
            for demand, part in (("read_bytes", 0), ("data_ops", 1)):
                # windows that the span cuts do not count
                whole = range(-(-first // width), (last + 1) // width)
                values = [sum(value[part] for slot, value in truth.items() if slot // width == window)
                          for window in whole]
                if len(values) < 2:
                    self.assertIsNone(volume["burst"]["by"][demand]["cv"][index])
                    continue
                for name, expected in figures(values).items():
                    got = volume["burst"]["by"][demand][name][index]
                    self.assertAlmostEqual(expected, got, delta=0.05 * expected + 0.01, msg=(width, demand, name))
        self.assertGreater(volume["burst"]["peak_to_mean"][0], 5)
        return recording, volume, truth

    def test_latency_in_bursts(self):
        recording, volume, truth = self.test_known_bursts()
        bursts = sum(cell[2] for cell in volume["burst"]["in_burst_latency_ns"]["histogram"])
        steady = sum(cell[2] for cell in volume["burst"]["steady_latency_ns"]["histogram"])
        self.assertEqual(volume["ops"]["read"]["ops"], bursts + steady)
        # in each second some twenty large reads and at most nine small ones; all of a kind in its slots
        large = sum(ops for size, ops in truth.values() if size > 65536)
        self.assertAlmostEqual(large, bursts, delta=0.1 * large)

    def test_the_factor_decides(self):
        recording = self.path("factor.rec")
        harness.must([harness.unblend(), "record", "--burst-factor", "1000000", "-o", recording, "--", harness.PYTHON,
                      "-I", "-S", GENERATOR, self.data, "2", "7"])
        burst = self.on_volume(harness.report(recording))["burst"]
        self.assertIsNone(burst["in_burst_latency_ns"])
        self.assertIsNotNone(burst["steady_latency_ns"])
        refused = harness.run([harness.unblend(), "record", "--burst-factor", "0", "true"])
        self.assertEqual(2, refused.returncode)

    def test_sums_of_a_busy_program(self):
        """Threads and children that stop anywhere, and long intervals that are drained between."""
        program = ("import os, sys, threading\n"
                   "def work(path):\n"
                   "  fd = os.open(path, os.O_RDWR | os.O_CREAT)\n"
                   "  for i in range(20000):\n"
                   "    os.pwrite(fd, bytes(i % 5000), 0); os.pread(fd, 4096, 0); os.stat(path)\n"
                   "  os.close(fd); os.unlink(path)\n"
                   "base = sys.argv[1]\n"
                   "for i in range(3):\n"
                   "  if os.fork() == 0:\n"
                   "    threads = [threading.Thread(target=work, args=(f'{base}-{i}-{t}',)) for t in range(3)]\n"
                   "    [t.start() for t in threads]; [t.join() for t in threads]\n"
                   "    os._exit(0)\n"
                   "for i in range(3): os.wait()\n")
        for interval in ("50ms", "1s", "5s"):
            with self.subTest(interval):
                recording = self.path("busy.rec")
                harness.must([harness.unblend(), "record", "-i", interval, "-o", recording, "--", harness.PYTHON, "-I",
                              "-S", "-c", program, os.path.join(self.volume.mount, "busy")])
                slots = self.assert_sums(recording)
                self.assertGreater(max(len(at) for at in slots.values()), 3)

    def test_jobs_and_nodes_at_the_same_time(self):
        """Two recordings of the same tenths of a second: the cluster adds their slots, and sees that they overlap."""
        recordings = [self.path("one.rec"), self.path("two.rec")]
        start = str(int(time.time()) + 8)

        def run(index):
            harness.must([harness.unblend(), "record", "-j", f"job-{index}", "-o", recordings[index], "--",
                          harness.PYTHON, "-I", "-S", GENERATOR, self.data, "5", "11", start])

        threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        together = json.loads(harness.must([harness.unblend(), "report", "--format", "json", *recordings]))
        alone = [harness.report(recording) for recording in recordings]
        burst = together["cluster"]["burst"]
        self.assertEqual(0, alone[0].data["cluster"]["burst"]["overlap"])
        slots = [flow_sums(harness.batches(recording))[1] for recording in recordings]
        sums, jobs = {}, {}
        for index, part in enumerate(slots):
            for key, at in part.items():
                if key[2] in ("read_bytes", "write_bytes"):
                    for slot, value in at.items():
                        sums[slot] = sums.get(slot, 0) + value
                        jobs.setdefault(slot, set()).update({index} if value else set())
        first = slot_of(together["span"]["start"])
        values = [sums.get(slot, 0) for slot in range(first, slot_of(together["span"]["end"]) + 1)]
        # the same seed chooses the same tenths, and the second one's own start its interpreter
        busy = [who for who in jobs.values() if who]
        shared = sum(len(who) == 2 for who in busy)
        self.assertGreater(shared, 5)
        self.assertAlmostEqual(shared / len(busy), burst["overlap"], delta=1e-9)
        for name, expected in figures(values).items():
            self.assertAlmostEqual(expected, burst[name][0], delta=0.02 * expected + 0.002, msg=name)


if __name__ == "__main__":
    harness.main()
