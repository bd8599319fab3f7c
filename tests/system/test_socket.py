#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's socket, which everybody may write to: what a stranger asks for is bounded, and what is wrong is refused."""
import json
import os
import socket
import subprocess
import tempfile
import time
import unittest

import harness

STRANGER = 65534
FLOOD_S = 3
FLOOD = """
import json, socket, sys, time
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
lines, end, answers = client.makefile("r"), time.monotonic() + float(sys.argv[2]), []
while time.monotonic() < end:
    client.sendall(b'{"request":"flush"}\\n')
    answers.append(json.loads(lines.readline()))
print(json.dumps(answers))
"""

HOLD = """
import socket, sys
clients = [socket.socket(socket.AF_UNIX) for _ in range(80)]
for client in clients:
    client.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""
JOBS = """
import json, os, socket, sys
jobs, answers = 0, []
for _ in range(3):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    lines = client.makefile("r")
    try:
        for i in range(5000):
            client.sendall(b'{"request":"job","job":"j%d","pid":%d}\\n' % (i, os.getpid()))
            answers.append(json.loads(lines.readline()))
    except (OSError, ValueError):
        pass  # it has hung up
print(json.dumps([sum(answer["ok"] for answer in answers), sorted({answer.get("why", "") for answer in answers})]))
"""


class SocketTest(harness.SystemTest):
    def setUp(self):
        os.chmod(self.directory, 0o755)
        here = tempfile.mkdtemp(dir=self.directory)
        os.chmod(here, 0o755)
        self.socket, self.copy = os.path.join(here, "agent.sock"), os.path.join(here, "copy.rec")
        self.agent = harness.start_agent(self, self.socket, "--copy", self.copy, "--interval", "1h", "--user", "root")

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.settimeout(30)
        client.connect(self.socket)
        return client

    def ask(self, line):
        client = self.connect()
        client.sendall(line)
        with client.makefile("r", encoding="utf-8") as lines:
            return json.loads(lines.readline())

    def flood(self, user):
        answers = json.loads(harness.must([harness.tool("setpriv"), f"--reuid={user}", "--clear-groups", harness.PYTHON,
                                           "-c", FLOOD, self.socket, str(FLOOD_S)]))
        self.assertTrue(all(answer["ok"] for answer in answers), answers)
        return len(answers)

    def test_flushes(self):
        """A stranger's wait for the second to be over; those of root are done at once."""
        before = len(harness.batches(self.copy))
        start = time.monotonic()
        self.flood(STRANGER)
        took = time.monotonic() - start
        self.assertLessEqual(len(harness.batches(self.copy)) - before, took + 1)
        self.assertGreater(self.flood(0), FLOOD_S + 1)
        client = self.connect()
        client.sendall(b'{"request":"flush"}\n')
        client.recv(4096)
        self.assertGreater(len(harness.batches(self.copy)), before)

    def test_jobs_of_a_stranger_are_so_many(self):
        """They are kept, and told of in every batch: a loop of them is refused, and nobody else is."""
        made, why = json.loads(harness.must([harness.tool("setpriv"), f"--reuid={STRANGER}", "--clear-groups",
                                             harness.PYTHON, "-c", JOBS, self.socket]))
        self.assertGreaterEqual(made, 100)
        self.assertLess(made, 300)
        self.assertTrue(any(word.startswith("too many jobs of this user") for word in why), why)
        self.assertTrue(any(word.startswith("too many requests of this user") for word in why), why)
        self.assertTrue(self.ask(b'{"request":"job","job":"root","pid":%d}\n' % os.getpid())["ok"])

    def test_strangers_leave_room_for_root(self):
        with subprocess.Popen([harness.tool("setpriv"), f"--reuid={STRANGER}", "--clear-groups", harness.PYTHON, "-c", HOLD,
                               self.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
            self.assertEqual("held\n", held.stdout.readline())
            self.assertTrue(self.ask(b'{"request":"flush"}\n')["ok"])
            held.stdin.close()

    def test_a_flush_that_waits_too_long(self):
        self.assertTrue(self.ask(b'{"request":"flush","timeout_ms":60000}\n')["ok"])
        for wrong in (b'"x"', b"1.5", b"null", b"0", b"-1", b"60001", b"[]"):
            answer = self.ask(b'{"request":"flush","timeout_ms":' + wrong + b'}\n')
            self.assertEqual({"ok": False, "why": "flush takes timeout_ms from 1 to 60000"}, answer, wrong)

    def test_a_line_that_is_too_long(self):
        for line in (b"x" * 5000 + b"\n", b"x" * 200000 + b"\n", b"x" * 4096):
            client = self.connect()
            client.sendall(line)
            self.assertEqual({"ok": False, "why": "a request is a line of at most 4096 bytes"},
                             json.loads(client.recv(4096)))
            if line.endswith(b"\n"):
                self.assertEqual(b"", client.recv(4096))
        self.assertFalse(self.ask(b"x" * 4095 + b"\n")["ok"])

    def test_names_of_one_line(self):
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        for wrong in ({"job": "a\nb"}, {"job": "a", "command": "\x1b[2J"}, {"job": "a", "user": "\x7f"}):
            answer = self.ask(json.dumps({"request": "job", "pid": child.pid, **wrong}).encode() + b"\n")
            self.assertIn("without control characters", answer.get("why", ""), wrong)
        self.assertTrue(self.ask(json.dumps({"request": "job", "pid": child.pid, "job": "ä b"}).encode() + b"\n")["ok"])

    def test_a_command_with_such_a_name(self):
        recording = self.path("run.rec")
        harness.must([harness.unblend(), "record", "--agent", self.socket, "--job", "a\nb", "-o", recording, "--", "cat",
                      "/etc/passwd"])
        self.assertEqual("a?b", harness.report(recording).job()["job"])

    def test_long_names_are_cut_as_without_an_agent(self):
        recording, name = self.path("long.rec"), "ä" * 150
        for way in (["--agent", self.socket], ["--flavour", "auto", "--platform-metrics", os.devnull]):
            harness.must([harness.unblend(), "record", *way, "--job", name, "-o", recording, "--", "cat", "/etc/passwd"])
            self.assertEqual("ä" * 61, harness.report(recording).job()["job"])


class InUseTest(harness.SystemTest):
    """What another one has is told before the probe is loaded, which takes seconds, and which this one may not."""

    def refused(self, *arguments):
        done = harness.run([harness.tool("setpriv"), f"--reuid={STRANGER}", "--clear-groups",
                            os.path.join(harness.bindir(), "unblend-agent"), *arguments])
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr.replace("unblend-agent:", "unblend:"))
        return done.stderr

    def test_the_socket(self):
        os.chmod(self.directory, 0o755)
        path = self.path("used.sock")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)
            server.listen()
            os.chmod(path, 0o666)
            self.assertIn("another agent answers there", self.refused("--socket", path))

    def test_the_port(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            self.assertIn("choose another address", self.refused("--socket", self.path("x.sock"), "--metrics", address))


if __name__ == "__main__":
    unittest.main()
