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

    def received(self, *steps, address=None):
        """(bytes written, of which received)"""
        command = [harness.PYTHON, "-I", "-S", "-c", PROGRAM, address or self.tcp(), os.path.join(self.memory, "out"),
                   ",".join(steps)]
        write = self.written(self.record(command))
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
        """It is not told: what threads hand to each other nobody sees."""
        self.assertEqual((MIB, 0), self.received(f"{64 * KIB}:t{64 * KIB}:16"))


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
                found = max((p for p in report.job()["profiles"] if p["kind"] == "pattern"), key=lambda p: p["share_bytes"])
                self.assertEqual("stage-copy", found["profile"])
                self.assertGreater(found["share_bytes"], 0.95)
                self.assertTrue(any("had just come from the network" in line for line in found["evidence"]), found)


if __name__ == "__main__":
    harness.main()
