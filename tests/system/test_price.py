# SPDX-License-Identifier: GPL-2.0-or-later
"""It watches its own price: too dear, it watches less, says so, and comes back; killed, it leaves nothing."""
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import harness

STEPS = ["job_keys", "metadata_only", "detached"]
DATA = {"read", "write", "seek", "mmap_fault", "block_read", "block_write", "block_flush", "block_discard"}


def steps_of(batches):
    """What each interval was: None, or the step."""
    found = []
    for batch in batches:
        shed = batch["coverage"].get("shed_ms", {})
        found.append(max(shed, key=STEPS.index) if shed else None)
    return found


def bpf_objects():
    """The ids of all programs and links that the kernel has."""
    return {(kind, entry["id"]) for kind in ("prog", "link")
            for entry in json.loads(harness.must([harness.tool("bpftool"), "-j", kind, "list"]))}


def bpf_objects_of(pid):
    """Those that a process holds, in whichever of its threads."""
    held = set()
    for path in glob.glob(f"/proc/{pid}/task/*/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as file:
                info = dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.MULTILINE))
        except FileNotFoundError:
            continue
        held |= {(kind, int(info[f"{kind}_id"])) for kind in ("prog", "link") if f"{kind}_id" in info}
    return held


ALONE = True  # see tests/system/run


class PriceTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.crowd = os.path.join(harness.bindir(), "tests/workload/crowd")
        cls.memory = cls.make_memory()
        harness.must([cls.crowd, cls.memory])

    def test_each_step_and_back(self):
        """A busy command that then waits: down to the last step, and up again when it is quiet."""
        recording = self.path("steps.rec")
        # What is much and what is little depends on what else the machine does: other programs' calls cost, too.
        for limit in ("2", "4", "1", "0.7"):
            done = harness.record(recording, [self.crowd, "-p", "4", "-r", "100000", "-s", "8000", self.memory],
                                  "-i", "100ms", "--max-cost", limit)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            batches = harness.batches(recording)
            steps = steps_of(batches)
            order = [step for i, step in enumerate(steps) if not i or step != steps[i - 1]]
            if order[:4] == [None, *STEPS] and order[-1] is None:
                break
        self.assertEqual([None, *STEPS], order[:4])
        self.assertEqual(["metadata_only", "job_keys", None], order[-3:])
        for previous, step, batch in zip([None, *steps], steps, batches):
            coverage = batch["coverage"]
            hooks = {hook["hook"]: hook for hook in coverage["hooks"] if hook["state"] != "attached"}
            too_dear = {name for name, hook in hooks.items() if "--max-cost" in hook["why"]}
            self.assertEqual(bool(step), "processes" in too_dear)
            self.assertEqual(step in ("metadata_only", "detached"), "read, write, seek" in too_dear)
            self.assertEqual(step == "detached", any("sys_enter" in name for name in too_dear))
            if step != previous:
                continue  # it has the last operations of the step before, too
            operations = {record["op"] for record in batch["records"]}
            if step:
                self.assertNotIn("processes", batch)
            if step == "metadata_only":
                self.assertEqual(set(), operations & DATA)
            if step == "detached":
                self.assertEqual(set(), operations)
        report = harness.report(recording)
        self.assertEqual({step: sum(batch["coverage"].get("shed_ms", {}).get(step, 0) for batch in batches)
                          for step in STEPS}, report.coverage["shed_ms"])
        text = harness.must([harness.unblend(), "report", recording])
        self.assertIn("detached: everything is missing", text)
        # Nothing is counted twice on the way.
        truth = json.loads(done.stdout)[self.memory]
        for name, (count, _) in truth.items():
            self.assertLessEqual(report.volume("/dev/shm")[name]["ops"], count, name)

    def agent(self, *options):
        socket = os.path.join(tempfile.mkdtemp(dir=self.directory), "agent.sock")
        agent = subprocess.Popen([os.path.join(harness.bindir(), "unblend-agent"), "--socket", socket,
                                  "--state", self.path("state"), *options],
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(agent.kill)
        for _ in range(100):
            if os.path.exists(socket):
                return agent, socket
            time.sleep(0.1)
        raise AssertionError("the agent does not answer")

    def test_the_agent_says_it_and_top_shows_it(self):
        agent, socket = self.agent("--max-cost", "0.0001")
        top = subprocess.Popen([harness.unblend(), "top", "--json", "-n", "30", "--agent", socket],
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(top.kill)
        seen = {}
        for line in top.stdout:
            sample = json.loads(line)
            shed = sample["coverage"]["shed_ms"]
            step = next((step for step in reversed(STEPS) if shed[step]), None)
            seen[step] = sample
            if step == "detached":
                break
        self.assertEqual([None, *STEPS], list(seen))
        self.assertIsNone(seen["metadata_only"]["totals"]["read_bytes_s"])
        self.assertIsNotNone(seen["metadata_only"]["totals"]["metadata_ops_s"])
        self.assertTrue(all(value is None for value in seen["detached"]["totals"].values()))
        agent.terminate()
        said = agent.communicate(timeout=20)[1]
        for words in ("job keys", "metadata only", "detached"):
            self.assertIn(words, said)

    def test_an_agent_has_a_limit_by_itself(self):
        """1 % of the node, or half a processor; nothing else of this machine's is that dear, so all is watched."""
        agent, socket = self.agent("--verbose")
        top = json.loads(harness.must([harness.unblend(), "top", "--json", "-n", "1", "--agent", socket]))
        self.assertEqual({0}, set(top["coverage"]["shed_ms"].values()))
        agent.terminate()
        limit = re.search(r"watching may cost ([\d.]+) % of the node", agent.communicate(timeout=20)[1])
        self.assertAlmostEqual(max(1, 50 / os.cpu_count()), float(limit[1]), 3)

    def left_a_second_after(self, watcher, how):
        """What it held and the kernel still has then."""
        for _ in range(100):
            held = bpf_objects_of(watcher.pid)
            if {kind for kind, _ in held} == {"prog", "link"}:
                break
            time.sleep(0.1)
        time.sleep(1)  # all of it is there
        held = bpf_objects_of(watcher.pid)
        self.assertEqual({"prog", "link"}, {kind for kind, _ in held & bpf_objects()})
        watcher.send_signal(how)
        if how == signal.SIGTERM:
            watcher.communicate(timeout=20)
        time.sleep(1)
        left = held & bpf_objects()
        watcher.communicate(timeout=20)
        return left

    def test_killed_it_leaves_nothing(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(f"agent, {how.name}"):
                self.assertEqual(set(), self.left_a_second_after(self.agent()[0], how))
            for flavour in ("tp_btf", "tracepoint"):
                with self.subTest(f"record, {flavour}, {how.name}"):
                    watcher = subprocess.Popen([harness.unblend(), "record", "-a", "--flavour", flavour, "-o",
                                                self.path("killed.rec")], stderr=subprocess.PIPE)
                    self.addCleanup(watcher.kill)
                    self.assertEqual(set(), self.left_a_second_after(watcher, how))
