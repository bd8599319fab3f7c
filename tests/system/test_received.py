# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes written that had just come from the network: each byte's way is known, because a server sends it on request."""
import os
import socketserver
import threading

import harness

KIB = 1024
MIB = KIB * KIB
CREDIT = 16 * MIB

# Receives so many bytes a step, then writes so many, so often: "receive:write:times,..." A negative receive only looks at
# them; a write that is marked with "t" is another thread's.
PROGRAM = """
import os, socket, sys, threading
address, path, steps = sys.argv[1], sys.argv[2], sys.argv[3]
if address.startswith("/"):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
else:
    connection = socket.create_connection(("127.0.0.1", int(address)))
fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
for step in steps.split(","):
    received, written, times = step.split(":")
    for _ in range(int(times)):
        if int(received) < 0:
            connection.recv(-int(received), socket.MSG_PEEK)
        elif int(received):
            connection.recv(int(received), socket.MSG_WAITALL)
        if written.startswith("t"):
            thread = threading.Thread(target=os.write, args=(fd, bytes(int(written[1:]))))
            thread.start()
            thread.join()
        elif int(written):
            os.write(fd, bytes(int(written)))
"""

URLLIB = """
import shutil, sys, urllib.request
with urllib.request.urlopen(sys.argv[1]) as source, open(sys.argv[2], "wb") as target:
    shutil.copyfileobj(source, target)
"""


# As clients of object stores do it: threads that receive parts, which another one writes.
PARTS = """
import queue, sys, threading, urllib.request
url, path, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
parts, target = queue.Queue(16), open(path, "wb", buffering=0)
def receive():
    with urllib.request.urlopen(url) as source:
        while part := source.read(256 * 1024):
            parts.put(part)
    parts.put(None)
def write():
    left = workers
    while left:
        part = parts.get()
        if part is None:
            left -= 1
        else:
            target.write(part)
threads = [threading.Thread(target=receive) for _ in range(workers)] + [threading.Thread(target=write)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

# Who computes together with others: receives so much at each of its steps, and writes what it has learnt now and then.
LEARNS = """
import os, socket, sys, threading
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def exchange():
    connection.recv(64 << 20, socket.MSG_WAITALL)
for step in range(9):
    other = threading.Thread(target=exchange)
    other.start()
    other.join()
    if step % 3 == 2:
        fd = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for _ in range(32):
            os.write(fd, bytes(1 << 20))
        os.fsync(fd)
        os.close(fd)
"""


class Sender(socketserver.BaseRequestHandler):
    """Zeros without end; an HTTP request gets so many of them."""

    LENGTH = 192 * MIB

    def handle(self):
        zeros = bytes(MIB)
        try:
            if self.server.speaks_http:
                while b"\r\n\r\n" not in self.request.recv(64 * KIB):
                    pass
                self.request.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % self.LENGTH)
                for _ in range(self.LENGTH // MIB):
                    self.request.sendall(zeros)
            else:
                while True:
                    self.request.sendall(zeros)
        except OSError:
            pass  # the program has had enough


class Receiving(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.memory = cls.make_memory()

    def serve(self, kind, address, speaks_http=False):
        server = kind(address, Sender)
        server.daemon_threads, server.speaks_http = True, speaks_http
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def tcp(self, **options):
        return str(self.serve(socketserver.ThreadingTCPServer, ("127.0.0.1", 0), **options).server_address[1])

    def written(self, report):
        self.assertEqual(0, report.lost())
        return report.volume("/dev/shm")["write"]


class CountTest(Receiving):
    """To the byte."""

    def written_by(self, steps, address=None):
        """What the program has written."""
        command = [harness.PYTHON, "-I", "-S", "-c", PROGRAM, address or self.tcp(), os.path.join(self.memory, "out"),
                   ",".join(steps)]
        return self.written(self.record(command))

    def received(self, *steps, address=None):
        """(bytes written, of which received)"""
        write = self.written_by(steps, address)
        return write["bytes"], write["received_bytes"]

    def test_all_that_is_written_was_received(self):
        for size in (1, 1000, 64 * KIB, 4 * MIB):
            with self.subTest(size):
                self.assertEqual((size * 40, size * 40), self.received(f"{size}:{size}:40"))

    def test_nothing_was_received(self):
        self.assertEqual((64 * KIB * 100, 0), self.received(f"0:{64 * KIB}:100"))

    def test_a_part(self):
        self.assertEqual((2 * MIB * 10, MIB * 10), self.received(f"{MIB}:{2 * MIB}:10"))

    def test_through_a_smaller_buffer(self):
        """One receive, many writes: all of them are covered, and none of those that follow."""
        steps = [f"{MIB}:0:1", f"0:{16 * KIB}:64"] * 4 + [f"0:{16 * KIB}:10"]
        self.assertEqual((4 * MIB + 160 * KIB, 4 * MIB), self.received(*steps))

    def test_through_a_larger_buffer(self):
        self.assertEqual((4 * MIB, 4 * MIB), self.received(*[f"{64 * KIB}:0:16", f"0:{MIB}:1"] * 4))

    def test_what_was_received_long_ago_is_forgotten(self):
        """Who talks to others while it computes does not download its checkpoint."""
        self.assertEqual((64 * MIB, CREDIT), self.received(f"{MIB}:0:40", f"0:{64 * MIB}:1"))

    def test_a_look_receives_nothing(self):
        self.assertEqual((8 * MIB, 4 * MIB), self.received(*[f"{-64 * KIB}:0:1", f"{64 * KIB}:{128 * KIB}:1"] * 64))

    def test_from_the_same_node_is_no_network(self):
        path = self.path("socket")
        self.serve(socketserver.ThreadingUnixStreamServer, path)
        self.assertEqual((MIB, 0), self.received(f"{64 * KIB}:{64 * KIB}:16", address=path))

    def test_of_another_thread(self):
        """What threads hand to each other nobody sees; only how much their process has received and written."""
        write = self.written_by([f"{64 * KIB}:t{64 * KIB}:16"])
        self.assertEqual((MIB, 0, MIB), (write["bytes"], write["received_bytes"], write["process_received_bytes"]))

    def test_of_the_process(self):
        """All that it received, whether it wrote more or less; what comes after its last write belongs to none."""
        for steps, received in (([f"{MIB}:t{16 * KIB}:10"], 10 * MIB), ([f"{16 * KIB}:t{MIB}:10"], 160 * KIB),
                                ([f"0:{MIB}:10"], 0)):
            with self.subTest(steps):
                self.assertEqual(received, self.written_by(steps)["process_received_bytes"])

    def test_two_volumes_share_it_by_what_is_written(self):
        code = ("import os, socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
                "s.recv(8 << 20, socket.MSG_WAITALL); "
                "[os.write(os.open(p, os.O_WRONLY | os.O_CREAT, 0o600), bytes(n << 20)) for p, n in zip(sys.argv[2:], (3, 1))]")
        mounts = [self.mount_tmpfs(self.path(name)) for name in ("a", "b")]
        report = self.record([harness.PYTHON, "-I", "-S", "-c", code, self.tcp(), *(f"{mount}/out" for mount in mounts)],
                             "-i", "60s")  # so that both are drained at once
        self.assertEqual([6 * MIB, 2 * MIB],
                         [report.volume(mount)["write"]["process_received_bytes"] for mount in mounts])


class DownloadTest(Receiving):
    def test_downloads_are_copies(self):
        url = f"http://127.0.0.1:{self.tcp(speaks_http=True)}/"
        out = os.path.join(self.memory, "out")
        for name, command in {"curl": [harness.tool("curl"), "-s", "-o", out, url],
                              "urllib": [harness.PYTHON, "-c", URLLIB, url, out]}.items():
            with self.subTest(name):
                report = self.record(command)
                write = self.written(report)
                self.assertEqual(Sender.LENGTH, write["bytes"])
                self.assertGreater(write["received_bytes"], 0.99 * Sender.LENGTH)
                found = self.main_profile(report)
                self.assertEqual("stage-copy", found["profile"])
                self.assertGreater(found["share_bytes"], 0.95)
                self.assertTrue(any("had just come from the network" in line for line in found["evidence"]), found)

    def main_profile(self, report):
        return max((p for p in report.job()["profiles"] if p["kind"] == "pattern"), key=lambda p: p["share_bytes"])

    def test_downloads_in_parts_are_copies(self):
        """Threads receive, another writes."""
        url = f"http://127.0.0.1:{self.tcp(speaks_http=True)}/"
        for workers in (1, 4):
            with self.subTest(workers):
                report = self.record([harness.PYTHON, "-c", PARTS, url, os.path.join(self.memory, "out"), str(workers)])
                write = self.written(report)
                self.assertEqual(workers * Sender.LENGTH, write["bytes"])
                self.assertLess(write["received_bytes"], 0.1 * write["bytes"])
                self.assertAlmostEqual(1, write["process_received_bytes"] / write["bytes"], delta=0.01)
                found = self.main_profile(report)
                self.assertEqual("stage-copy", found["profile"])
                self.assertGreater(found["share_bytes"], 0.95)
                self.assertTrue(any("came from the network meanwhile" in line for line in found["evidence"]), found)

    def test_who_computes_with_others_writes_checkpoints(self):
        report = self.record([harness.PYTHON, "-I", "-S", "-c", LEARNS, self.tcp(), os.path.join(self.memory, "out")])
        write = self.written(report)
        self.assertEqual((96 * MIB, 9 * 64 * MIB), (write["bytes"], write["process_received_bytes"]))
        self.assertEqual("checkpoint", self.main_profile(report)["profile"])


if __name__ == "__main__":
    harness.main()
