#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a long reading is: one line on a terminal, gone at the end; nothing where there is no terminal."""
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import threading
import time
import urllib.request

import harness
import made
from test_path import Collector

RECORDING = os.path.join(harness.SOURCE, "tests/system/reports/recording.json")
WAIT_S = 60


def screen(text):
    """The lines that stand on a terminal after that."""
    lines, column = [""], 0
    for letter in text.replace("\r\n", "\n"):
        if letter == "\r":
            column = 0
        elif letter == "\n":
            lines.append("")
            column = 0
        else:
            lines[-1] = lines[-1][:column] + letter + lines[-1][column + 1:]
            column += 1
    return [line.rstrip() for line in lines]


class Run:
    """A command whose stderr is a terminal of its own; its stdout goes to a file."""

    def __init__(self, command, out):
        self.out, self.said = out, ""
        self.master, slave = pty.openpty()
        with open(out, "wb") as file:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=slave,
                                            start_new_session=True,
                                            preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.reader = threading.Thread(target=self.listen)
        self.reader.start()

    def listen(self):
        while True:
            try:
                got = os.read(self.master, 4096)
            except OSError:  # nobody has the other side any more
                return
            if not got:
                return
            self.said += got.decode()

    def says(self, pattern):
        deadline = time.monotonic() + WAIT_S
        while not re.search(pattern, self.said):
            if time.monotonic() > deadline:
                raise AssertionError(f"no {pattern!r} but {self.said!r}")
            time.sleep(0.02)

    def end(self):
        """The exit status; what it wrote."""
        status = self.process.wait(WAIT_S)
        self.reader.join(WAIT_S)
        with open(self.out, encoding="utf-8") as file:
            return status, file.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(WAIT_S)
        os.close(self.master)


class ShareTest(harness.SystemTest):
    def start(self, name, *command):
        run = Run([harness.unblend(), *command], self.path(name))
        self.addCleanup(run.stop)
        return run

    def check_shares(self, run, slice_s):
        """It is stopped most of the time, so that reading lasts, however fast the machine is."""
        deadline = time.monotonic() + WAIT_S
        while not re.search(r"\r\d+ % read", run.said) and run.process.poll() is None and time.monotonic() < deadline:
            os.kill(run.process.pid, signal.SIGSTOP)
            time.sleep(0.4)
            os.kill(run.process.pid, signal.SIGCONT)
            time.sleep(slice_s)
        status, out = run.end()
        self.assertEqual(0, status)
        self.assertIn("node07", out)
        shares = [int(share) for share in re.findall(r"\r(\d+) % read", run.said)]
        self.assertTrue(shares, run.said)
        self.assertEqual(sorted(shares), shares)
        self.assertLessEqual(shares[-1], 100)
        self.assertEqual([""], screen(run.said))


class DatabaseTest(ShareTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.directory, 0o755)
        cls.collector = Collector(cls.directory)
        cls.addClassCleanup(cls.collector.stop)

    def post(self, token, batches):
        body = "\n".join(map(json.dumps, batches)).encode()
        request = urllib.request.Request(f"http://{self.collector.listen}/v1/batches", body,
                                         {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            self.assertEqual(200, answer.status)

    def test_of_a_span_the_share_is_known(self):
        with open(RECORDING, encoding="utf-8") as lines:
            batches = [json.loads(line) for line in lines]
        token = self.collector.enroll(batches[0]["node"])
        for i in range(100):
            first, later_ns = i * len(batches), i * len(batches) * 10**9
            self.post(token, [{**batch, "seq": first + k, "start_ns": batch["start_ns"] + later_ns} for k, batch in enumerate(batches)])
        self.check_shares(self.start("database", "report", "--db", self.collector.conninfo()), 0.004)


class ProgressTest(ShareTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recording = os.path.join(cls.directory, "made.rec")
        with open(RECORDING, encoding="utf-8") as lines:
            harness.must([os.path.join(harness.bindir(), "tests/system/json_recording"), cls.recording], stdin=lines)
        with open(cls.recording, "rb") as file:
            cls.bytes = file.read()

    def pipe(self, name):
        """A recording of which only half comes before finish() is called."""
        path = self.path(name)
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR)
        os.write(writer, self.bytes[:len(self.bytes) // 2])  # fits into the pipe

        def finish():
            os.write(writer, self.bytes[len(self.bytes) // 2:])
            os.close(writer)
        return path, finish

    def test_a_line_comes_and_goes_on_terminals_only(self):
        """A recording comes through a pipe and stops half-way: how much of it there is, nobody knows."""
        commands = {"report": ["report"], "learn": ["learn", "mine", "-o", self.path("mine.json")],
                    "export": ["export", "fio"]}
        expected = {name: harness.must([harness.unblend(), *command, self.recording])
                    for name, command in commands.items()}
        quiet_path, quiet_finish = self.pipe("quiet.rec")
        quiet = subprocess.Popen([harness.unblend(), "report", quiet_path], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(quiet.kill)
        pipes = {name: self.pipe(name + ".rec") for name in commands}
        runs = {name: self.start(name, *command, pipes[name][0]) for name, command in commands.items()}
        for name, run in runs.items():
            run.says(r"\rreading, \d+:\d\d *\r")
            minutes, seconds = re.match(r"\rreading, (\d+):(\d\d)", run.said).groups()
            self.assertGreaterEqual(60 * int(minutes) + int(seconds), 2)
            self.assertEqual(1, len(screen(run.said)), name)
            pipes[name][1]()
            status, out = run.end()
            self.assertEqual((0, expected[name]), (status, out), name)
            self.assertEqual([""], screen(run.said), name)
        quiet_finish()
        self.assertEqual((expected["report"].encode(), b""), quiet.communicate(timeout=WAIT_S))

    def test_a_short_reading_shows_nothing(self):
        run = self.start("short", "report", self.recording)
        started = time.monotonic()
        self.assertEqual(0, run.end()[0])
        if time.monotonic() - started < 1.5:
            self.assertEqual("", run.said)
        self.assertEqual([""], screen(run.said))

    def test_what_is_logged_meanwhile_can_be_read(self):
        """Damage behind the half that came first."""
        path = self.path("damaged.rec")
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR)
        half = len(self.bytes) // 2
        os.write(writer, self.bytes[:half])
        run = self.start("damaged", "report", path)
        run.says("reading, 0:")
        os.write(writer, bytes(200) + self.bytes[half:])
        os.close(writer)
        self.assertEqual(0, run.end()[0])
        lines = screen(run.said)
        self.assertEqual("", lines[-1])
        self.assertTrue(lines[:-1])
        for line in lines[:-1]:
            self.assertRegex(line, r"^unblend: warning: \S*damaged\.rec is damaged: .* is used$")

    def test_an_interrupt_leaves_no_line_behind(self):
        run = self.start("interrupted", "report", self.pipe("endless.rec")[0])
        run.says("reading, 0:")
        os.write(run.master, b"\x03")
        self.assertEqual((-signal.SIGINT, ""), run.end())
        self.assertEqual([""], screen(run.said))

    def test_of_a_file_the_share_is_known(self):
        run = self.start("big", "report", made.recording(self.path("big.rec"), 6400))
        self.check_shares(run, 0.01)


if __name__ == "__main__":
    harness.main()
