#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What leaves a site: by forwarding, through a proxy, by bundles. It is what was printed beforehand, names nobody, and
arrives once."""
import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import harness
import receiver
import collecting
from collecting import Collector, batch, command
from listening import Listener

NAMES = ("secret-cluster", "secret-node", "secret-job", "secret-user", "secret-command", "/secret/mount",
         "secret-server", "secret-label")


def secret_batch(seq, node="secret-node"):
    return batch(seq, node=node, cluster="secret-cluster", jobs=[{
        "job": "secret-job", "kind": "slurm", "user": "secret-user", "command": "secret-command",
        "labels": {"account": "secret-label"}, "start_ns": 1, "end_ns": None, "exit": None}],
        volumes=[{"volume": "/secret/mount", "source": "secret-server:/x", "fstype": "nfs4", "scope": "shared",
                  "mounts": ["/secret/mount"]},
                 {"volume": "/secret/mount/over", "source": "overlay", "fstype": "overlay", "scope": "local",
                  "mounts": ["/secret/mount/over"], "lower": "/secret/mount"}])


class Receiver(receiver.PostServer):
    """A collector of somebody else's that keeps the very bytes, and answers as it is told."""

    def __init__(self):
        self.status, self.bodies = 503, []
        super().__init__(self.take)

    def take(self, _path, _headers, body):
        status = self.status
        if status == 200:
            self.bodies.append(body)
        return status

    def plain(self):
        return b"".join(subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
                        for body in self.bodies)


class Proxy(Listener):
    """An HTTP proxy that tunnels (CONNECT), and counts."""

    def __init__(self):
        self.tunnels = 0
        super().__init__()

    def serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        host, port = head.split()[1].decode().rsplit(":", 1)
        with socket.create_connection((host, int(port))) as server:
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            self.tunnels += 1
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        client.close()
                        return
                    (server if ready is client else client).sendall(data)


class Relay(Listener):
    """A port that stays, whoever listens behind it at the time."""

    def __init__(self):
        self.target = None
        super().__init__()

    def serve(self, client):
        with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as server:
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    (server if ready is client else client).sendall(data)


class OutwardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        collecting.setUpModule()
        cls.addClassCleanup(collecting.tearDownModule)
        cls.root = collecting.ROOT

    def collector(self, name, *options, **more):
        collector = Collector("--embedded", os.path.join(self.root, name), *options, **more).wait_ready()
        collector.directory = os.path.join(self.root, name)
        self.addCleanup(collector.stop)
        return collector

    def enroll(self, collector, *arguments):
        done = command("enroll", *arguments, "--embedded", collector.directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def sql(self, collector, query):
        return harness.must(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1",
                             f"host={collector.directory} port=5432 dbname=unblend user=unblend", "-c", query]).strip()

    def conninfo(self, collector):
        return f"host={collector.directory} port=5432 dbname=unblend user=unblend"

    def token_file(self, name, token):
        path = os.path.join(self.root, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(token + "\n")
        os.chmod(path, 0o644)  # the collector's user reads it
        return path

    def key(self, name):
        return os.path.join(self.root, name + ".key")

    def until(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.1)
        self.fail(f"not within {seconds} s: {condition()}")

    def unnamed(self, text):
        for name in NAMES:
            self.assertNotIn(name, text)

    def send(self, collector, first, last, node="secret-node"):
        token = self.enroll(collector, node)
        for seq in range(first, last):
            self.assertEqual(collector.post(secret_batch(seq, node), token)[0], 200)


class TestForward(OutwardTest):
    def test_what_leaves_was_printed_before_and_names_nobody(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        collector = self.collector("a", "--forward", f"http://127.0.0.1:{receiver.port}", "--token-file",
                                   self.token_file("a.token", "0" * 64), "--site-key", self.key("a"))
        self.send(collector, 1, 6)
        done = harness.run([harness.unblend(), "payload", "--db", self.conninfo(collector)])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), 5)
        receiver.status = 200
        self.until(lambda: self.sql(collector, "select count(*) from unblend.outbox") == "0", 60)
        self.assertEqual(receiver.plain().decode(), done.stdout)
        self.unnamed(done.stdout)
        first = json.loads(done.stdout.splitlines()[0])
        self.assertRegex(first["node"], "^node-[0-9a-f]{20}$")
        self.assertEqual(first["volumes"][0]["volume"], first["volumes"][0]["mounts"][0])
        self.assertEqual(first["volumes"][1]["lower"], first["volumes"][0]["volume"])
        self.assertEqual(first["jobs"][0]["kind"], "slurm")
        self.assertEqual(first["records"], secret_batch(1)["records"])

    def test_what_the_other_side_cannot_take_now_holds_nobody_up(self):
        trouble, taken, bodies = {2, 4}, [], []

        def take(path, headers, body):
            plain = subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
            seqs = [json.loads(line)["seq"] for line in plain.splitlines()]
            bodies.append(seqs)
            if trouble & set(seqs):
                return 500
            if len(seqs) > 5:
                return 413  # as of a proxy
            taken.extend(seqs)
            return 200

        server = receiver.PostServer(take)
        self.addCleanup(server.close)
        token = self.token_file("b.token", "0" * 64)
        os.rename(token, token + ".away")  # until all of them wait
        collector = self.collector("b", "--forward", f"http://127.0.0.1:{server.port}", "--token-file", token, "--site-key",
                                   self.key("b"))
        self.send(collector, 1, 41)
        os.rename(token + ".away", token)
        self.until(lambda: sorted(taken) == sorted(set(range(1, 41)) - trouble), 60)
        self.assertLess(sum(map(len, bodies)), 40 + 3 * 40)  # what was refused together is not sent together again and again
        self.until(lambda: self.sql(collector, "select count(*), count(refused) from unblend.outbox") == "2|0")
        trouble.clear()
        self.until(lambda: self.sql(collector, "select count(*) from unblend.outbox") == "0", 60)
        self.assertEqual(sorted(taken), list(range(1, 41)))

    def test_two_sites_with_equal_names_stay_apart_and_nothing_is_doubled(self):
        centre = self.collector("centre")
        for site in ("north", "south"):
            token = self.enroll(centre, "--site", site)
            key = () if site == "north" else ("--plain", "all")
            collector = self.collector(site, "--forward", f"http://127.0.0.1:{centre.port}", "--token-file",
                                       self.token_file(site + ".token", token), "--site-key", self.key(site), *key)
            self.send(collector, 1, 4)
            self.until(lambda: self.sql(
                centre, f"select count(*) from unblend.samples where cluster like '{site}/%'") == "3")
        self.assertEqual(self.sql(centre, "select count(distinct (cluster, node)), sum(ops) from unblend.samples"),
                         "2|12")
        self.assertEqual(self.sql(centre, "select cluster, node from unblend.nodes where cluster like 'south/%'"),
                         "south/secret-cluster|secret-node")
        # a site's token writes under its own clusters only
        token = self.enroll(centre, "--site", "west")
        self.assertEqual(centre.post(batch(1, cluster="north/x", node="n"), token)[0], 200)
        self.assertEqual(self.sql(centre, "select cluster from unblend.nodes where node = 'n'"), "west/north/x")
        self.assertEqual(command("revoke", "--site", "west", "--embedded", centre.directory).returncode, 0)
        self.assertEqual(centre.post(batch(2, cluster="c", node="n"), token)[0], 401)

    def test_through_a_proxy_and_a_time_without_the_other_side(self):
        import test_trust
        authority = test_trust.make_authority(self.root)
        key, cert = test_trust.make_certificate(self.root, authority, "collector", "127.0.0.1")
        centre = self.collector("far", "--tls-cert", cert, "--tls-key", key, tls=True)
        proxy = Proxy()
        token = self.enroll(centre, "--site", "near")
        collector = self.collector("near", "--forward", f"https://127.0.0.1:{centre.port}", "--ca-file", authority[1],
                                   "--token-file", self.token_file("near.token", token), "--site-key", self.key("near"),
                                   "--proxy", f"http://127.0.0.1:{proxy.port}")
        self.send(collector, 1, 3)
        self.until(lambda: self.sql(centre, "select count(*) from unblend.samples") == "2")
        self.assertGreater(proxy.tunnels, 0)

    def test_names_of_files_are_from_where_it_was_started(self):
        """It has become another user and gone elsewhere when it opens them."""
        import test_trust
        authority = test_trust.make_authority(self.root)
        key, cert = test_trust.make_certificate(self.root, authority, "collector", "127.0.0.1")
        centre = self.collector("there", "--tls-cert", os.path.relpath(cert, self.root), "--tls-key",
                                os.path.relpath(key, self.root), tls=True, place=self.root)
        self.token_file("here.token", self.enroll(centre, "--site", "here"))
        collector = self.collector("here", "--forward", f"https://127.0.0.1:{centre.port}", "--ca-file",
                                   os.path.relpath(authority[1], self.root), "--token-file", "here.token", "--site-key",
                                   "here.key", place=self.root)
        self.send(collector, 1, 3)
        self.until(lambda: self.sql(centre, "select count(*) from unblend.samples") == "2")
        os.kill(centre.process.pid, signal.SIGHUP)
        centre.wait_line("the certificate was read again", 20)


class TestForwardKilled(OutwardTest):
    BATCHES, ROUNDS = 80, 3

    def test_each_batch_arrives_once_whoever_is_killed(self):
        relay = Relay()
        self.addCleanup(relay.close)
        centre = self.collector("killed-centre")
        relay.target = centre.port
        options = ("--forward", f"http://127.0.0.1:{relay.port}", "--token-file",
                   self.token_file("killed.token", self.enroll(centre, "--site", "near")), "--site-key",
                   self.key("killed"))
        near = self.collector("killed-near", *options)
        token = self.enroll(near, "secret-node")
        taken = []

        def send():
            for seq in range(1, self.BATCHES + 1):
                collecting.post_until_taken(lambda: near, secret_batch(seq), token)
                taken.append(seq)
                time.sleep(0.05)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        for _ in range(self.ROUNDS):
            self.until(lambda before=len(taken): len(taken) > min(before + 3, self.BATCHES - 1))
            near.kill()
            near = self.collector("killed-near", *options)
            self.until(lambda before=len(taken): len(taken) > min(before + 3, self.BATCHES - 1))
            centre.kill()
            centre = self.collector("killed-centre")
            relay.target = centre.port
        sender.join(60)
        self.assertEqual(len(taken), self.BATCHES)
        self.until(lambda: self.sql(near, "select count(*) from unblend.outbox") == "0", 60)
        counts = "select count(*), sum(ops), sum(bytes) from unblend.samples"
        wanted = self.BATCHES * (self.BATCHES + 1) // 2
        self.assertEqual(self.sql(near, counts), f"{self.BATCHES}|{wanted}|{4096 * wanted}")
        self.assertEqual(self.sql(centre, counts), f"{self.BATCHES}|{wanted}|{4096 * wanted}")


class TestAgent(OutwardTest):
    """An agent of a site that trusts its collector with figures only."""

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.state = os.path.join(self.root, "agent")
        self.command = [os.path.join(harness.bindir(), "unblend-agent"), "--collector",
                        f"http://127.0.0.1:{self.receiver.port}", "--token-file",
                        self.token_file("agent.token", "0" * 64),
                        "--state", self.state, "--socket", os.path.join(self.root, "agent.sock"), "--interval", "1s",
                        "--node", "this-node", "--pseudonyms", "--site-key", self.key("agent")]

    def agent(self, *more):
        with open(os.path.join(self.root, "agent.err"), "w", encoding="utf-8") as errors:
            agent = subprocess.Popen([*self.command, *more], stderr=errors)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.kill)
        try:
            self.until(lambda: "watching" in self.said(), 60)
        except AssertionError as error:
            raise AssertionError(f"{error}; the agent said {self.said()!r}, exit {agent.poll()}") from None
        return agent

    def said(self):
        with open(os.path.join(self.root, "agent.err"), encoding="utf-8") as file:
            return file.read()

    def work(self):
        """A job that reads, by a command whose name is a secret, too."""
        secret = os.path.join(self.root, "secret-command")
        shutil.copy(harness.tool("cat"), secret)
        for _ in range(3):
            harness.must([secret, "/etc/passwd"], env={**harness.environment(), "UNBLEND_JOB": "secret-job"})

    def spooled(self):
        return harness.must([harness.unblend(), "payload", self.state])

    def test_pseudonyms(self):
        agent = self.agent()
        self.work()
        self.until(lambda: re.search('"kind":"env"', self.spooled()))
        agent.terminate()
        self.assertEqual(agent.wait(30), 0)
        text = self.spooled()
        for name in ("secret-job", "secret-command", os.uname().nodename + ":", '"/', "ext4:/"):
            self.assertEqual(re.findall(f".{{,60}}{re.escape(name)}.{{,20}}", text)[:1], [], name)
        self.assertIn('"node":"this-node"', text)  # the token is for that one
        job = next(job for line in text.splitlines() for job in json.loads(line)["jobs"] if job["kind"] == "env")
        self.assertRegex(job["job"], "^job-[0-9a-f]{20}$")
        self.receiver.status = 200
        again = self.agent("--plain", "job", "--fields", "command")
        self.work()
        self.until(lambda: b'"secret-job"' in self.receiver.plain(), 60)
        again.terminate()
        self.assertEqual(again.wait(30), 0)
        sent = self.receiver.plain().decode()
        self.assertTrue(sent.startswith(text), "what left is not what was printed")
        later, rest = [], sent[len(text):].lstrip()
        while rest:
            value, end = json.JSONDecoder().raw_decode(rest)
            later.append(value)
            rest = rest[end:].lstrip()
        self.assertNotIn("secret-command", sent)
        self.assertEqual({job["user"] for batch in later for job in batch["jobs"]}, {None})
        self.assertEqual({mount for batch in later for volume in batch["volumes"] for mount in volume["mounts"]}, set())

    def test_fields_alone_hide_volumes(self):
        self.command.remove("--pseudonyms")
        self.receiver.status = 200
        agent = self.agent("--fields", "user")
        self.work()
        self.until(lambda: b'"secret-job"' in self.receiver.plain(), 60)
        agent.terminate()
        self.assertEqual(agent.wait(30), 0)
        sent = self.receiver.plain().decode()
        names = set(re.findall('"volume":"([^"]*)"', sent))
        self.assertTrue(names - {"?"}, sent[:2000])
        for name in names - {"?"}:
            self.assertRegex(name, "^mount-[0-9a-f]{20}$")
        self.assertNotIn("ext4:/", sent)


class TestBundle(OutwardTest):
    """Without a network: exported, carried, imported."""

    def test_bundle(self):
        source, target = self.collector("source"), self.collector("target")
        self.send(source, 1, 8)
        bundle = os.path.join(self.root, "x.bundle")
        key = ("--site-key", self.key("b"))
        done = command("export", "-o", bundle, "--embedded", source.directory, *key)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("7 batches", done.stderr)
        text = harness.must([harness.unblend(), "payload", bundle])
        self.assertEqual(text.count("\n"), 7)
        self.unnamed(text)
        with open(bundle, "rb") as file:
            data = file.read()

        def take(expected, content=data):
            path = os.path.join(self.root, "y.bundle")
            with open(path, "wb") as file:
                file.write(content)
            done = command("import", path, "--embedded", target.directory, "--site-key", self.key("other"))
            self.assertEqual(done.returncode, expected, done.stderr + done.stdout)
            self.assertEqual(done.stderr.count("\n"), 1 if expected else 0, done.stderr)
            return done.stdout + done.stderr

        public = command("site-key", *key).stdout.strip()
        self.assertIn(f"--key {public}", take(1))  # nobody we know
        done = command("enroll", "--site", "there", "--key", public, "--embedded", target.directory)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        size = len(data)
        for bit in [0, 70, 8 * 30 + 3, 8 * 45, 8 * 56, 8 * 60, 8 * 61, 8 * 70, 8 * 124 + 7,
                    *range(8 * 125, 8 * size, 8 * (size // 12) + 3)]:
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            with self.subTest(bit=bit):
                take(1, bytes(damaged))
        for other in (data[:-1], data + b"x", data[:200], data[:56], b"", data + data):
            with self.subTest(size=len(other)):
                take(1, other)
        self.assertEqual(self.sql(target, "select count(*) from unblend.batch"), "0")
        self.assertIn("7 batches of site there stored, 0 were there before, 0 refused", take(0))
        counts = "select count(*), sum(ops), sum(bytes) from unblend.samples"
        self.assertEqual(self.sql(target, counts), self.sql(source, counts))
        self.assertIn("0 batches of site there stored, 7 were there before", take(0))
        self.assertEqual(self.sql(target, counts), self.sql(source, counts))
        self.assertEqual(self.sql(target, "select count(*) from unblend.nodes where cluster !~ "
                                          "'^there/cluster-[0-9a-f]{20}$'"), "0")


class TestPayload(OutwardTest):
    """Of recordings, with and without names; the key stays."""

    def test_recording(self):
        recording = os.path.join(self.root, "x.rec")
        done = harness.record(recording, ["sh", "-c", "cat /etc/passwd; ls /"], "-j", "secret-job")
        self.assertEqual(done.returncode, 0, done.stderr)
        plain = harness.must([harness.unblend(), "payload", recording])
        value = json.loads(plain.splitlines()[-1])
        self.assertIn("secret-job", plain)
        self.assertEqual(value.get("processes", []), [])
        key = ["--pseudonyms", "--site-key", self.key("r")]
        first, second = (harness.must([harness.unblend(), "payload", *key, recording]) for _ in range(2))
        self.assertEqual(first, second)
        for name in ("secret-job", os.uname().nodename, '"sh"', "/etc"):
            self.assertNotIn(name, first)
        self.assertEqual(os.stat(self.key("r")).st_mode & 0o777, 0o600)
        other = harness.must([harness.unblend(), "payload", "--pseudonyms", "--site-key", self.key("s"), recording])
        self.assertNotEqual(first, other)
        self.assertIn("secret-job", harness.must([harness.unblend(), "payload", *key, "--plain", "job", recording]))
        few = json.loads(harness.must([harness.unblend(), "payload", "--fields", "command", *key[1:],
                                       recording]).splitlines()[0])
        self.assertEqual((few["jobs"][0]["user"], few["kernel"], few.get("flows", [])), (None, "", []))
        self.assert_volumes_are_hidden(recording, key)
        report = json.loads(harness.must([harness.unblend(), "report", "-f", "json", *key, recording]))
        self.assertEqual(report["jobs"][0]["job"], json.loads(first.splitlines()[-1])["jobs"][0]["job"])
        hidden = os.path.join(self.root, "hidden.rec")
        done = harness.record(hidden, ["true"], "-j", "secret-job", *key)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(report["jobs"][0]["job"], harness.must([harness.unblend(), "payload", hidden]))

    def test_servers_without_their_commands_are_one(self):
        """Two programs may serve one file system; what leaves names nothing twice, or it would be refused."""
        storage = [{"layer": "fuse", "volume": 0, "request": "all", "for": "server", "job": 0, "server": command}
                   for command in ("mount.first", "mount.second")]
        recording = harness.write_recording(os.path.join(self.root, "served.rec"), [batch(1, storage=storage)])
        key = ["--site-key", self.key("served")]
        for options, left in ((["--fields", "user", *key], 1), (["--pseudonyms", *key], 2), ([], 2)):
            sent = json.loads(harness.must([harness.unblend(), "payload", *options, recording]))
            self.assertEqual(left, len(sent["storage"]), options)
            harness.write_recording(os.path.join(self.root, "sent.rec"), [sent])

    def test_platforms_hold_volumes_by_their_true_names(self):
        """That of --platform, and those of scenarios."""
        recording = harness.write_recording(os.path.join(self.root, "held.rec"),
                                            [secret_batch(seq) for seq in range(1, 9)])
        platform = os.path.join(self.root, "platform.json")
        with open(platform, "w") as file:
            json.dump({"schema": "unblend.platform/1", "name": "p", "iops": 1000, "volumes": ["/secret/*"]}, file)
        for options in [], ["--pseudonyms", "--site-key", self.key("held")]:
            report = json.loads(harness.must([harness.unblend(), "report", "-f", "json", *options, "--platform",
                                              platform, "--what-if", f"1x,2x@{platform}", recording]))
            scenarios = [one["scenario"] for one in report["cluster"]["capacity"]["scenarios"]]
            self.assertEqual(scenarios, ["1x", f"2x@{platform}"], options)

    def assert_volumes_are_hidden(self, recording, key):
        """A volume is called by where it is mounted or by its source: who sends neither does not send its name."""
        def volumes(*options):
            text = harness.must([harness.unblend(), "payload", *options, recording])
            return [[volume["volume"] for volume in json.loads(line)["volumes"]] for line in text.splitlines()]

        known = volumes()
        self.assertTrue(any(known), known)
        for kept in "volume", "user,mount,source", "all":
            self.assertEqual(volumes("--fields", kept, *key[1:]), known, kept)
        for few in "user", "mount", "source", "none":
            hidden = volumes("--fields", few, *key[1:])
            self.assertEqual(hidden, volumes(*key), few)  # the same name as under all pseudonyms
            self.assertEqual([len(set(names)) for names in hidden], [len(set(names)) for names in known])

    def test_a_new_key_is_told(self):
        """Once: whoever mistypes its name would have other pseudonyms than all the rest."""
        key = os.path.join(self.root, "folder", "new.key")
        recording = os.path.join(self.root, "new.rec")
        done = harness.record(recording, ["true"], "--pseudonyms", "--site-key", key)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
        self.assertIn(key, done.stderr)
        self.assertIn("new", done.stderr)
        done = harness.run([harness.unblend(), "payload", "--pseudonyms", "--site-key", key, recording])
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_key_that_others_can_read_is_not_used(self):
        with open(self.key("open"), "w", encoding="utf-8") as file:
            file.write("0" * 64 + "\n")
        os.chmod(self.key("open"), 0o644)
        done = harness.run([harness.unblend(), "payload", "--pseudonyms", "--site-key", self.key("open"), "/dev/null"])
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertNotIn("0" * 16, done.stderr)
        done = harness.run([harness.unblend(), "payload", "--pseudonyms", "--plain", "nonsense", "/dev/null"])
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
