#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemons as a service manager knows them: what they tell it, what they do on SIGHUP, and how they log."""
import os
import shutil
import signal
import socket
import ssl
import tempfile
import threading
import unittest

import harness
import collecting
import test_trust
from test_path import Daemon, until


class Manager:
    """The service manager's end of the datagrams of sd_notify(3)."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        os.chmod(self.path, 0o666)
        self.told, self.heard = [], 0
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                text = self.socket.recv(4096).decode()
            except OSError:
                return
            self.told.append(text)

    def hear(self, word):
        """The next datagram that has such a line, behind the one that was asked for before."""
        found = {}

        def is_there():
            while self.heard < len(self.told):
                text = self.told[self.heard]
                self.heard += 1
                if any(line.startswith(word) for line in text.splitlines()):
                    found.update(line.split("=", 1) for line in text.splitlines())
                    return True
            return False
        try:
            until(is_there, word, 60)
        except AssertionError as error:
            raise AssertionError(f"{word} was not told, but {self.told}") from error
        return found

    def environment(self):
        return {**os.environ, "NOTIFY_SOCKET": self.path, "WATCHDOG_USEC": "60000000"}

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class AgentTest(harness.SystemTest):
    def setUp(self):
        self.here = tempfile.mkdtemp(dir=self.directory)
        self.manager = Manager(self.here)
        self.addCleanup(self.manager.close)

    def start(self, *arguments, **popen):
        agent = Daemon(self.here, "unblend-agent", "--socket", os.path.join(self.here, "agent.sock"),
                       "--interval", "1s",
                       *arguments, **popen)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop(signal.SIGKILL))
        return agent

    def test_tells_how_it_is(self):
        copy = os.path.join(self.here, "copy.rec")
        agent = self.start("--copy", copy, env=self.manager.environment())
        self.assertIn("watching", self.manager.hear("READY=1")["STATUS"])
        for _ in range(2):
            self.manager.hear("WATCHDOG=1")
        until(lambda: os.path.getsize(copy), "something is in the copy")
        os.rename(copy, copy + ".1")
        agent.process.send_signal(signal.SIGHUP)
        self.assertGreater(int(self.manager.hear("RELOADING=1")["MONOTONIC_USEC"]), 0)
        self.manager.hear("READY=1")
        until(lambda: os.path.exists(copy) and os.path.getsize(copy), "the copy was opened anew")
        agent.process.terminate()
        self.manager.hear("STOPPING=1")
        self.assertEqual(0, agent.stop())
        for name in (copy, copy + ".1"):
            self.assertTrue(harness.batches(name))

    def test_a_manager_that_is_away_is_nothing(self):
        agent = self.start(env={**os.environ, "NOTIFY_SOCKET": "/nonexistent/notify"})
        until(lambda: "watching" in agent.said(), "the agent watches")
        self.assertEqual(0, agent.stop())


class JournalTest(harness.SystemTest):
    """A journal of our own, in a mount namespace, as /run belongs to everybody."""

    SCRIPT = ('mount -t tmpfs none /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal && '
              'JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec "$@"')

    def entries(self, *command, stderr):
        folder = tempfile.mkdtemp(dir=self.directory)
        journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(journal.close)
        journal.bind(os.path.join(folder, "socket"))
        os.chmod(os.path.join(folder, "socket"), 0o666)
        done = harness.run([harness.tool("unshare"), "--mount", "sh", "-c", self.SCRIPT, folder, *command],
                           stderr=stderr)
        journal.settimeout(0)
        found = []
        while True:
            try:
                found.append(dict(line.split("=", 1) for line in journal.recv(8192).decode().splitlines()))
            except BlockingIOError:
                return done, found

    def test_entries_have_fields(self):
        agent = os.path.join(harness.bindir(), "unblend-agent")
        with open(self.path("stderr"), "w+", encoding="utf-8") as stderr:
            done, entries = self.entries(agent, "--role", "no\none", stderr=stderr)
            stderr.seek(0)
            self.assertEqual("", stderr.read())
        self.assertEqual(2, done.returncode)
        self.assertEqual(1, len(entries))
        self.assertEqual(("3", "unblend-agent", "0.1.0"), (entries[0]["PRIORITY"], entries[0]["SYSLOG_IDENTIFIER"],
                                                           entries[0]["UNBLEND_VERSION"]))
        self.assertTrue(entries[0]["MESSAGE"].startswith("role no\\x0aone: "), entries[0])

    def test_a_stderr_that_was_led_elsewhere(self):
        agent = os.path.join(harness.bindir(), "unblend-agent")
        with open(self.path("stderr"), "w+", encoding="utf-8") as stderr:
            _, entries = self.entries("sh", "-c", f'"$0" --role none 2>{self.path("elsewhere")}', agent, stderr=stderr)
        self.assertEqual([], entries)
        with open(self.path("elsewhere"), encoding="utf-8") as file:
            self.assert_one_line(file.read().replace("unblend-agent: ", "unblend: "), "role none")


class CollectorTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        collecting.setUpModule()
        cls.addClassCleanup(collecting.tearDownModule)
        cls.root = collecting.ROOT
        cls.authority = test_trust.make_authority(cls.root)
        cls.manager = Manager(cls.root)
        cls.addClassCleanup(cls.manager.close)
        cls.key, cls.cert = test_trust.make_certificate(cls.root, cls.authority, "collector", "127.0.0.1")
        if os.geteuid() == 0:  # it becomes that user, and reads them again as such
            for name in (cls.key, cls.cert):
                shutil.chown(name, "unblend")
        before = os.environ.get("NOTIFY_SOCKET")
        os.environ["NOTIFY_SOCKET"] = cls.manager.path
        try:
            cls.collector = collecting.Collector("--embedded", os.path.join(cls.root, "pg"), "--tls-cert", cls.cert,
                                                 "--tls-key", cls.key, tls=True).wait_ready()
        finally:
            if before is None:
                del os.environ["NOTIFY_SOCKET"]
            else:
                os.environ["NOTIFY_SOCKET"] = before
        cls.addClassCleanup(cls.collector.process.kill)

    def shown(self):
        return ssl.get_server_certificate(("127.0.0.1", self.collector.port), timeout=30)

    def connect(self):
        context = ssl._create_unverified_context()
        plain = socket.create_connection(("127.0.0.1", self.collector.port), timeout=30)
        return context.wrap_socket(plain)

    @staticmethod
    def get(connection):
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        text = b""
        while not text.endswith(b"\r\n\r\nok\n"):
            piece = connection.recv(4096)
            if not piece:
                break
            text += piece
        return text.split(b"\r\n", 1)[0]

    def reload(self):
        self.collector.process.send_signal(signal.SIGHUP)
        self.manager.hear("RELOADING=1")
        self.manager.hear("READY=1")

    def test_all_of_a_life(self):
        """In one go, as each step needs the one before."""
        self.manager.hear("READY=1")
        self.manager.hear("STATUS=serving")
        self.manager.hear("WATCHDOG=1")
        with open(self.cert, encoding="ascii") as file:
            first = file.read()
        self.assertEqual(first, self.shown())
        folder = os.path.join(self.root, "renewed")
        os.mkdir(folder)
        key, cert = test_trust.make_certificate(folder, self.authority, "collector", "127.0.0.1")
        shutil.copy(cert, self.cert)
        self.reload()
        self.assertIn("must be PEM and match", self.collector.log())
        self.assertEqual(first, self.shown(), "a key that does not fit leaves all as it was")
        shutil.copy(key, self.key)
        with self.connect() as connection:  # one that has seen the old one goes on
            self.reload()
            self.assertEqual(b"HTTP/1.1 200 OK", self.get(connection))
        with open(cert, encoding="ascii") as file:
            self.assertEqual(file.read(), self.shown())
        self.collector.process.terminate()
        self.manager.hear("STOPPING=1")
        self.assertEqual(0, self.collector.stop())


if __name__ == "__main__":
    harness.main()
