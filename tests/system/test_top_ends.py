# SPDX-License-Identifier: GPL-2.0-or-later
"""How `unblend top` ends: what it reads is damaged or goes, its terminal dies, it is told to."""
import os
import re
import signal
import subprocess
import sys
import time

import harness
from top_case import TopTest

# Reads a file that it keeps open, in a thread that has a name.
READER = """
import ctypes, os, sys, threading, time
def read():
    ctypes.CDLL(None).prctl(15, b"a reader")
    while True:
        os.pread(file, 4096, 0)
        time.sleep(0.005)
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(file, bytes(4096))
threading.Thread(target=read, daemon=True).start()
time.sleep(600)
"""


class TestEnds(TopTest):
    def test_a_damaged_recording(self):
        damaged = self.path("damaged.rec")
        with open(self.recording, "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 0xff
        with open(damaged, "wb") as file:
            file.write(data)
        with self.top(80, 24, "--replay", damaged, "--speed", "1000") as terminal:
            terminal.wait("END")
            terminal.press("q")
            self.assertEqual(0, terminal.ended())
            self.assertRegex(terminal.said(), r"^unblend: warning: \S+damaged.rec is damaged: [^\n]*\n$")
            terminal.wait("Coverage", absent=True)

    def test_no_recording(self):
        with self.top(80, 24, "--replay", "/etc/passwd") as terminal:
            self.assertEqual(1, terminal.ended())
            self.assertEqual("unblend: cannot read /etc/passwd: it is no Unblend recording: give what `unblend record` "
                             "wrote\n", terminal.said())

    def test_a_recording_of_nothing(self):
        empty = self.path("empty.rec")
        harness.must([os.path.join(harness.bindir(), "tests/system/json_recording"), empty], stdin=subprocess.DEVNULL)
        with self.top(80, 24, "--replay", empty) as terminal:
            terminal.wait("there is no interval in it")
            terminal.press("T", "t", "b")
            terminal.type("+1h")
            terminal.press("Enter", "q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))

    def test_a_terminal_without_a_cursor(self):
        with self.played(80, 24, TERM="dumb") as terminal:
            self.assertEqual(1, terminal.ended())
            self.assertEqual("unblend: cannot use this terminal: TERM is 'dumb', whose cursor cannot be moved: "
                             "'unblend top -b' needs none\n", terminal.said())
            self.assertEqual("", terminal.screen().strip())

    def test_a_terminal_that_dies(self):
        with self.played(80, 24) as terminal:
            terminal.wait("END")
            pid = terminal.pid()
            subprocess.run([*terminal.tmux, "kill-server"], check=False)
            for _ in range(200):
                if not os.path.exists(f"/proc/{pid}"):
                    return
                time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
            self.fail("it lives on without a terminal")

    def test_signals_give_the_terminal_back(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            with self.played(80, 24) as terminal:
                terminal.wait("END")
                os.kill(terminal.pid(), number)
                terminal.ended()
                terminal.wait("Coverage", absent=True)

    def test_an_agent_that_goes(self):
        socket = self.path("agent.sock")
        agent = harness.start_agent(self, socket)
        reader = subprocess.Popen([sys.executable, "-c", READER, self.path("kept")])
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        with self.top(160, 90, "--agent", socket) as terminal:
            terminal.wait("PID USER")
            terminal.press("-", "+", "+", "+")
            terminal.wait(r"every 0\.20 s")
            terminal.press("c", "f")
            terminal.wait("choose one and press Enter")
            terminal.press("c", "H")
            terminal.wait(r"(?s)TID +PID USER.*a reader")
            terminal.press("p", "/")
            terminal.type(f"pid:{reader.pid}")
            terminal.press("Enter")
            terminal.wait(rf" {reader.pid} +[a-z]")
            terminal.press("Enter")
            terminal.wait("Operations")
            terminal.press("f")
            terminal.wait(rf"Files open most[^%]* 100 % +{re.escape(self.path('kept'))}")
            terminal.press("H")
            terminal.wait(rf"TID +PID USER[^\n]*\n +[0-9]+ +{reader.pid} [^\n]*a reader")
            terminal.press("Enter")
            terminal.wait(rf"a reader +process {reader.pid}, thread [0-9]+")
            terminal.press("Escape", "Escape", "s")
            terminal.wait("FROZEN")
            time.sleep(1.5)
            terminal.press("s", "w")
            terminal.press("Escape", "b")
            terminal.wait("only in a replay")
            agent.terminate()
            self.assertEqual(1, terminal.ended())
            self.assertRegex(terminal.said(), r"^unblend: agent \S+: it has closed the connection[^\n]*\n$")
            terminal.wait("Coverage", absent=True)
