# SPDX-License-Identifier: GPL-2.0-or-later
"""Who plays in exactly_once.py: the proxy between agents and collectors, agents that are fed, and collectors."""
import collections
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import harness
from listening import Listener

SPOOL_MAX = 1 << 40


class Proxy(Listener):
    """Between agents and collectors: a request at a time, to any collector, with the faults that are asked for."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.backends, self.faults, self.kept = [], collections.deque(), []
        self.answers = collections.Counter()
        super().__init__()

    @staticmethod
    def message(connection, before=b""):
        """One HTTP message, and what came behind it; None at the end of the connection."""
        data = before
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return None, b""
            data += piece
        head, _, rest = data.partition(b"\r\n\r\n")
        found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        length = int(found[1]) if found else 0
        while len(rest) < length:
            piece = connection.recv(65536)
            if not piece:
                return None, b""
            rest += piece
        return head + b"\r\n\r\n" + rest[:length], rest[length:]

    def backend(self):
        with self.lock:
            ports = list(self.backends)
        self.random.shuffle(ports)
        for port in ports:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=20)
            except OSError:
                continue
        return None

    def exchange(self, request):
        """The answer of some collector; None when there is none."""
        backend = self.backend()
        if not backend:
            return None
        with backend:
            try:
                backend.sendall(request)
                answer, _ = self.message(backend)
            except OSError:
                return None
        if answer:
            self.answers[answer[9:12].decode()] += 1
        return answer

    def next_fault(self):
        try:
            return self.faults.popleft()
        except IndexError:
            return None

    def serve(self, client):
        rest = b""
        client.settimeout(60)
        with client:
            try:
                while True:
                    request, rest = self.message(client, rest)
                    if not request:
                        return
                    fault = self.next_fault()
                    if fault == "cut":  # it never arrives as a whole
                        backend = self.backend()
                        if backend:
                            with backend:
                                backend.sendall(request[:self.random.randrange(1, len(request))])
                        return
                    answer = self.exchange(request)
                    if fault == "twice":
                        self.exchange(request)
                    if self.random.random() < 0.05:
                        self.kept.append(request)
                    if not answer or fault == "mute":  # after the commit, before the answer
                        return
                    client.sendall(answer)
            except OSError:
                return

    def replay(self):
        """Requests of before, once more and in any order."""
        some, self.kept = self.kept, []
        self.random.shuffle(some)
        for request in some:
            self.exchange(request)


class Feeder:
    """An agent, its state directory and its account of what it was given; a new process for each start."""

    def __init__(self, run, node, state, spool_max=SPOOL_MAX):
        self.run, self.node, self.state, self.spool_max = run, node, state, spool_max
        self.account = os.path.join(run.directory, f"account-{os.path.basename(state)}")  # not on the disk that fills
        self.grave = f"{state}.grave"
        self.process, self.clock_s, self.pause_ms = None, 0, run.pause_ms
        self.snapshots = []

    def start(self):
        os.makedirs(self.grave, exist_ok=True)
        self.run.first[self.node] += 1_000_000
        self.process = subprocess.Popen(
            [self.run.feeder, self.state, f"http://127.0.0.1:{self.run.proxy.port}", self.run.tokens[self.node],
             self.node, self.account, str(self.run.first[self.node]), str(self.pause_ms), str(self.spool_max),
             str(self.clock_s)], env={**os.environ, "GRAVE": self.grave}, stdin=subprocess.DEVNULL,
            stdout=self.run.log, stderr=self.run.log)

    def kill(self, number=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(30)

    def contents(self):
        return contents(self.run, self.state)

    def restart(self):
        self.kill()
        self.start()

    def clear_grave(self):
        shutil.rmtree(self.grave, ignore_errors=True)

    def cut_power(self):
        """What was not flushed when the power went may be as before: names, deletions, contents."""
        rng = self.run.random
        for name in sorted(os.listdir(self.grave)):
            kind, _, file = name.partition("-")
            buried = os.path.join(self.grave, name)
            real = os.path.join(self.state, "spool" if file.isdigit() else "", file)
            if rng.random() < 0.5:
                continue
            if kind == "gone" and not os.path.exists(real) and os.path.isdir(os.path.dirname(real)):
                os.link(buried, real)
            elif kind == "old" and os.path.isdir(os.path.dirname(real)):
                os.replace(buried, real)
            elif kind == "made" and f"old-{file}" not in os.listdir(self.grave) and os.path.exists(real):
                os.unlink(real)
            elif kind == "torn" and os.path.exists(real):
                damage(real, rng)
        torn = os.path.join(self.state, "spool", "new")
        if os.path.exists(torn):
            damage(torn, rng)
        self.clear_grave()


def contents(run, state):
    """What waits in a state directory, {file: number}, and {(stream, seq)} of what is to be told as dropped."""
    waiting, untold = {}, set()
    for line in harness.run([run.feeder, state]).stdout.splitlines():
        words = line.split()
        if words[0] == "dropped":
            untold |= {(words[1], seq) for seq in range(int(words[2]), int(words[3]) + 1)}
        else:
            waiting[words[0]] = int(words[1])
    return waiting, untold


def damage(path, rng):
    """A torn write, or a flipped bit."""
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        if size and rng.random() < 0.5:
            file.truncate(rng.randrange(size))
        elif size:
            at = rng.randrange(size)
            file.seek(at)
            byte = file.read(1)[0] ^ (1 << rng.randrange(8))
            file.seek(at)
            file.write(bytes([byte]))


class Collector:
    def __init__(self, run, name, *arguments):
        self.run, self.name, self.arguments = run, name, arguments
        self.process = self.port = None

    def start(self):
        path = f"{self.run.directory}/{self.name}-{time.monotonic_ns()}.log"
        with open(path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([self.run.collector, "--listen", "127.0.0.1:0", *self.arguments],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with open(path, encoding="utf-8") as log:
                found = re.search(r"listening on http://[^:]+:(\d+)", log.read())
            if found:
                self.port = int(found[1])
                with self.run.proxy.lock:
                    self.run.proxy.backends.append(self.port)
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        with open(path, encoding="utf-8") as log:
            raise AssertionError(f"collector {self.name} did not start:\n{log.read()}")

    def kill(self, number=signal.SIGKILL):
        with self.run.proxy.lock:
            if self.port in self.run.proxy.backends:
                self.run.proxy.backends.remove(self.port)
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(90)
