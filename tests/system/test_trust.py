#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whoever should not get in, and whoever wants to keep others out, against a collector with TLS: each is refused with
the right status and a line in the log that holds no secret, while honest nodes go on."""
import contextlib
import gzip
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import unittest

import harness
import collecting
from collecting import Collector, Database, batch, command, lines

UNPROVEN_S = 10
UNPROVEN_MAX = 1024
SWEEP_S = 0.25
CROWD = 12
SPARE_FILES = 256


def openssl(*arguments):
    harness.must([harness.tool("openssl"), *arguments])


def make_authority(directory):
    """A certificate authority of our own: its key and certificate."""
    key, cert = os.path.join(directory, "ca.key"), os.path.join(directory, "ca.pem")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=ca", "-days", "2", "-keyout", key,
            "-out", cert)
    return key, cert


def make_certificate(directory, authority, name, address=None):
    """A certificate for a name, signed by the authority."""
    ca_key, ca = authority
    key, request, cert, extra = (os.path.join(directory, name + end) for end in (".key", ".csr", ".pem", ".ext"))
    with open(extra, "w", encoding="utf-8") as file:
        file.write(f"subjectAltName=DNS:{name}" + (f",IP:{address}" if address else "") + "\n")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2",
            "-extfile", extra, "-out", cert)
    return key, cert


class Honest:
    """Nodes that send a batch now and then, each on a connection of its own, until they are stopped."""

    def __init__(self, test, count=4):
        self.test, self.ending, self.sent, self.trouble, self.slowest = test, False, 0, [], 0.0
        self.threads = [threading.Thread(target=self.run, args=(f"honest{n}", test.enroll(f"honest{n}")))
                        for n in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, node, token):
        seq = 0
        while not self.ending:
            seq += 1
            started = time.monotonic()
            try:
                answer = self.test.collector.post(batch(seq, node=node), token)
                if answer[0] != 200:
                    self.trouble.append(answer)
            except (OSError, http.client.HTTPException) as error:
                self.trouble.append(error)
            self.sent += 1
            self.slowest = max(self.slowest, time.monotonic() - started)
            time.sleep(0.4)

    def stop(self):
        self.ending = True
        for thread in self.threads:
            thread.join()


class TrustTest(Database):
    """A collector that takes HTTPS only, as beyond loopback."""

    options = ()

    @classmethod
    def setUpClass(cls):
        collecting.setUpModule()
        cls.addClassCleanup(collecting.tearDownModule)
        cls.root = collecting.ROOT
        cls.authority = make_authority(cls.root)
        cls.key, cls.cert = make_certificate(cls.root, cls.authority, "collector", "127.0.0.1")
        cls.directory = os.path.join(cls.root, cls.__name__)
        cls.conninfo = f"host={cls.directory} port=5432 dbname=unblend user=unblend"
        cls.collector = Collector("--embedded", cls.directory, "--tls-cert", cls.cert, "--tls-key", cls.key,
                                  *cls.options, tls=True).wait_ready()
        cls.token = cls.enroll("n1")

    def setUp(self):
        self.assertIsNone(self.collector.process.poll(), "the collector has ended")
        self.secrets = [self.token]
        self.seen = len(self.collector.log())

    def tearDown(self):
        log = self.collector.log()
        for secret in self.secrets:
            self.assertNotIn(secret, log)

    @contextlib.contextmanager
    def refused(self, status, words=""):
        """Of what is done inside, the log says one line with that status."""
        before = len(self.collector.log())
        yield
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and "refused" not in self.collector.log()[before:]:
            time.sleep(0.05)
        said = [line for line in self.collector.log()[before:].splitlines() if "refused" in line]
        self.assertEqual(len(said), 1, said)
        self.assertIn(f"refused {status}: ", said[0])
        self.assertIn(words, said[0])

    def post(self, status, body, token, encoding=None, words=""):
        if token:
            self.secrets.append(token)
        with self.refused(status, words):
            answer = self.collector.post(body, token, encoding)
        self.assertEqual(answer[0], status, answer)
        return answer[1]

    def join(self, token, node, **more):
        body = json.dumps({"node": node, **more})
        self.secrets.append(token)
        status, text, _ = self.collector.request("POST", "/v1/enroll", body, {"Authorization": "Bearer " + token})
        answer = json.loads(text)
        if "token" in answer:
            self.secrets.append(answer["token"])
        return status, answer

    def join_token(self, *arguments):
        done = command("enroll", "--embedded", self.directory, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.secrets.append(done.stdout.strip())
        return done.stdout.strip()

    def connect(self):
        context = ssl.create_default_context(cafile=self.authority[1])
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.collector.port), timeout=30),
                                   server_hostname="127.0.0.1")

    def exchange(self, data):
        """Raw bytes there, and what comes back; the other side may have had enough before it got all of them."""
        with self.connect() as connection:
            got = b""
            with contextlib.suppress(OSError):
                connection.sendall(data)
            with contextlib.suppress(OSError):
                while part := connection.recv(65536):
                    got += part
            return got


class TestStrangers(TrustTest):
    def test_tokens(self):
        self.post(401, batch(1), None, words="a token is needed")
        self.post(401, batch(1), "0" * 64, words="not known")
        self.post(401, batch(1), "'; drop table unblend.token; --", words="no token")
        revoked = self.enroll("n2")
        self.assertEqual(self.collector.post(batch(1, node="n2"), revoked)[0], 200)
        self.assertEqual(command("revoke", "n2", "--embedded", self.directory).returncode, 0)
        self.post(401, batch(2, node="n2"), revoked)
        self.post(403, batch(1, node="n3"), self.token, words="another node")
        limited = self.enroll("n4", "--cluster", "c1")
        self.post(403, batch(1, node="n4", cluster="c2"), limited, words="another cluster")
        self.post(403, batch(1, cluster="other/c1"), self.token, words="must not hold a /")
        self.assertEqual(self.sql("select count(*) from unblend.node where node in ('n3', 'n4')"), "0")

    def test_join_tokens(self):
        join = self.join_token("--join", "gpu-*", "--expires", "1h", "--max", "2", "--cluster", "c1")
        status, answer = self.join(join, "gpu-1")
        self.assertEqual((status, answer["node"], answer["cluster"]), (200, "gpu-1", "c1"))
        self.assertEqual(self.collector.post(batch(1, node="gpu-1"), answer["token"])[0], 200)
        self.assertIn("node gpu-1 of cluster c1 has enrolled from 127.0.0.1", self.collector.log())
        for status, node, more in ((409, "gpu-1", {}), (403, "cpu-1", {}), (403, "gpu-2", {"cluster": "c2"}),
                                   (400, "", {}), (400, "gpu-2", {"cluster": "x/y"}), (400, "gpu-2", {"cluster": 5})):
            with self.subTest(node=node, more=more), self.refused(status):
                self.assertEqual(self.join(join, node, **more)[0], status)
        with self.refused(401):
            self.assertEqual(self.join("1" * 64, "gpu-2")[0], 401)
        with self.refused(401):  # a node's own token makes no other
            self.assertEqual(self.join(answer["token"], "gpu-2")[0], 401)
        self.assertEqual(self.join(join, "gpu-2")[0], 200)
        with self.refused(403, "used up"):
            self.assertEqual(self.join(join, "gpu-3")[0], 403)
        self.assertEqual(self.collector.post(batch(2, node="gpu-1"), answer["token"])[0], 200)
        self.assertEqual(self.sql("select node, cluster, address from unblend.enrolment where node like 'gpu%' "
                                  "order by node"),
                         "gpu-1|c1|127.0.0.1\ngpu-2|c1|127.0.0.1")

    def test_join_token_that_has_expired_and_one_revoked(self):
        join = self.join_token("--join", "e*", "--expires", "1s", "--max", "5")
        time.sleep(1.2)
        with self.refused(401, "expired"):
            self.assertEqual(self.join(join, "e1")[0], 401)
        join = self.join_token("--join", "r*", "--expires", "1h", "--max", "5")
        self.assertEqual(self.join(join, "r1", cluster="c1")[0], 200)
        self.assertEqual(command("revoke", "--join", "r*", "--embedded", self.directory).returncode, 0)
        with self.refused(401):
            self.assertEqual(self.join(join, "r2")[0], 401)

    def test_a_name_is_reborn_only_after_its_silence(self):
        join = self.join_token("--join", "s*", "--expires", "1h", "--max", "9", "--reborn", "2s")
        first = self.join(join, "s1", cluster="c1")[1]["token"]
        with self.refused(409):
            self.assertEqual(self.join(join, "s1", cluster="c1")[0], 409)
        time.sleep(2.2)
        second = self.join(join, "s1", cluster="c1")
        self.assertEqual(second[0], 200)
        self.post(401, batch(1, node="s1"), first)
        self.assertEqual(self.collector.post(batch(1, node="s1"), second[1]["token"])[0], 200)
        # a name that a person has enrolled is never taken over
        self.enroll("s2")
        time.sleep(2.2)
        with self.refused(409):
            self.assertEqual(self.join(join, "s2", cluster="c1")[0], 409)

    def test_wrong_usage_of_enroll(self):
        for arguments in (("--join", "x*"), ("--join", "x*", "--expires", "1h"), ("--join", "x*", "--max", "1"),
                          ("n1", "--join", "x*", "--expires", "1h", "--max", "1"), (), ("--site", "a/b"),
                          ("--site", ""), ("--site", "a", "--key", "xyz")):
            done = command("enroll", "--embedded", self.directory, *arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), arguments)

    def test_bodies(self):
        self.post(413, b" " * (16 * 2**20 + 1), self.token)
        self.post(413, gzip.compress(b" " * (129 * 2**20), 1), self.token, "gzip")
        bomb = subprocess.run(["sh", "-c", "head -c 300M /dev/zero | zstd -q -c"], check=True,
                              capture_output=True).stdout
        self.assertLess(len(bomb), 1 << 20)
        self.post(413, bomb, self.token, "zstd")
        with self.refused(413):
            self.assertEqual(self.collector.request("POST", "/v1/enroll", b"x" * 5000,
                                                    {"Authorization": "Bearer " + "2" * 64})[0], 413)
        self.post(415, batch(1), self.token, "br")

    def test_sql_in_every_string(self):
        evil = "'; drop schema unblend cascade; -- \\ \" $1 %s \x7f"
        value = batch(1, cluster=evil, kernel=evil, boot_id=evil, jobs=[{
            "job": evil, "kind": "env", "user": evil, "command": evil, "labels": {evil: evil}, "start_ns": 1,
            "end_ns": None, "exit": None}], volumes=[{"volume": evil, "source": evil, "fstype": evil, "scope": "local",
                                                      "mounts": [evil]}])
        value["coverage"]["hooks"] = [{"hook": evil, "state": "unavailable", "why": evil}]
        value["coverage"]["bypass"] = [{"what": evil, "device": evil, "bytes": None, "why": evil}]
        status, answer = self.collector.post(value, self.token)
        self.assertIn(status, (200, 400), answer)
        value["jobs"][0]["kind"] = evil
        self.post(400, value, self.token)
        self.assertEqual(self.sql("select count(*) from unblend.token where node = 'n1'"), "1")
        node = self.enroll(evil)
        self.secrets.append(node)
        self.assertEqual(self.collector.post(batch(1, node=evil), node)[0], 200)
        self.assertEqual(self.sql("select count(*) from unblend.nodes where node like '%drop schema%'"), "1")
        self.post(403, batch(1, node=evil + "x"), self.token)
        self.assertEqual(command("revoke", evil, "--embedded", self.directory).returncode, 0)
        self.post(401, batch(2, node=evil), node)

    def test_paths(self):
        for path in ("/../etc/passwd", "/v1/batches/../../etc/passwd", "//v1/batches", "/v1/batches%00", "/V1/BATCHES",
                     "/v1/batches/", "/%2e%2e/%2e%2e/etc/shadow", "/?../../x", "/" + "a" * 3000):
            with self.subTest(path=path[:30]), self.refused(404, "unknown path"):
                answer = self.exchange(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n"
                                       f"Connection: close\r\n\r\n".encode())
                self.assertTrue(answer.startswith(b"HTTP/1.1 404"), answer[:60])
        with self.refused(405):
            self.assertEqual(self.collector.request("PUT", "/v1/batches")[0], 405)
        # a token in the path or behind a question mark is not written down
        self.secrets.append("3" * 64)
        with self.refused(404):
            self.collector.request("GET", "/v1/" + "3" * 64 + "?" + "3" * 64)

    def test_clocks_far_off(self):
        self.assertEqual(self.collector.post(batch(11, start_ns=86400 * 10**9), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(12, start_ns=2**62), self.token)[0], 200)
        self.post(400, batch(13, start_ns=-5), self.token, words="start_ns")
        self.post(400, batch(13, start_ns=2**64), self.token)
        self.post(400, batch(13, duration_ns=10**18), self.token)

    def test_header_floods(self):
        with self.refused(431):
            flood = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 100)
                                                                       for n in range(1000))
            answer = self.exchange(flood + b"\r\n")
        self.assertIn(answer.split(b"\r\n")[0].split(b" ")[1:2], ([b"431"], []))


class TestTls(TrustTest):
    def test_downgrade(self):
        """TLS 1.1 and older, and no TLS at all."""
        for version in ("-tls1", "-tls1_1"):
            done = harness.run([harness.tool("openssl"), "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-connect",
                                f"127.0.0.1:{self.collector.port}"])
            self.assertNotEqual(done.returncode, 0, version)
            self.assertIn("Cipher is (NONE)", done.stdout)
            self.collector.wait_line(r"cut off: a connection from 127.0.0.1: no TLS 1.2 or 1.3 could be agreed upon",
                                     10)
        with socket.create_connection(("127.0.0.1", self.collector.port), timeout=15) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            with contextlib.suppress(OSError):
                self.assertNotIn(b"200", plain.recv(1000))
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=self.authority[1])
            context.minimum_version = context.maximum_version = version
            with socket.create_connection(("127.0.0.1", self.collector.port), timeout=15) as raw:
                with context.wrap_socket(raw, server_hostname="127.0.0.1") as connection:
                    self.assertEqual(connection.version().replace("v", ""),
                                     version.name.replace("v", "").replace("_", "."))

    def test_plain_http_off_loopback(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            done = command("--db", "host=/nowhere", "--listen", address)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
            self.assertIn("--tls-cert", done.stderr)

    def test_an_agent_sends_no_token_in_clear(self):
        agent = os.path.join(harness.bindir(), "unblend-agent")
        token = os.path.join(self.root, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write(self.token)
        for url in ("http://127.0.0.1.example.com", "http://localhost.example.com:1", "http://127.0.0.1@example.com",
                    "http://example.com", "ftp://127.0.0.1", "https://", "http://[::1].example.com",
                    "file:///etc/passwd"):
            with self.subTest(url=url):
                done = harness.run([agent, "--collector", url, "--token-file", token, "--state",
                                    os.path.join(self.root, "state"), "--socket", os.path.join(self.root, "s")],
                                    timeout=20)
                self.assertIn(done.returncode, (1, 2))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class TestCertificates(TrustTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.collector.stop()
        cls.collector = Collector("--embedded", cls.directory, "--tls-cert", cls.cert, "--tls-key", cls.key,
                                  "--tls-client-ca", cls.authority[1], tls=True).wait_ready()

    def request(self, certificate):
        context = ssl.create_default_context(cafile=self.authority[1])
        if certificate:
            context.load_cert_chain(certificate[1], certificate[0])
        connection = http.client.HTTPSConnection("127.0.0.1", self.collector.port, timeout=30, context=context)
        connection.request("POST", "/v1/batches", lines(batch(1)), {"Authorization": "Bearer " + self.token})
        status = connection.getresponse().status
        connection.close()
        return status

    def test_certificates(self):
        own = make_certificate(self.root, self.authority, "n1")
        self.assertEqual(self.request(own), 200)
        with self.refused(403, "certificate is needed"):
            self.assertEqual(self.request(None), 403)
        with self.refused(403, "another name"):
            self.assertEqual(self.request(make_certificate(self.root, self.authority, "n2")), 403)
        os.mkdir(os.path.join(self.root, "forged"))
        forged = os.path.join(self.root, "forged")
        with self.refused(403, "not one of"):
            self.assertEqual(self.request(make_certificate(forged, make_authority(forged), "n1")), 403)


class TestCrowd(TrustTest):
    def test_a_fleet_that_comes_back_at_once(self):
        """More connect than may come in before the first hand is shaken: the others wait, and nobody is sent away."""
        context = ssl.create_default_context(cafile=self.authority[1])
        body = lines(batch(1))
        request = (f"POST /v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        with contextlib.ExitStack() as stack:
            fleet = [stack.enter_context(socket.create_connection(("127.0.0.1", self.collector.port), timeout=30))
                     for _ in range(UNPROVEN_MAX + CROWD)]
            time.sleep(3 * SWEEP_S)
            for first_or_last in fleet[:CROWD] + fleet[-CROWD:]:
                connection = stack.enter_context(context.wrap_socket(first_or_last, server_hostname="127.0.0.1"))
                connection.sendall(request)
                self.assertEqual(b"HTTP/1.1 200", connection.recv(1000)[:12])

    def test_more_than_there_are_descriptors_for(self):
        """They wait, which is said once, and are served when there are some again."""
        collector = Collector("--embedded", os.path.join(self.root, "few"), "--tls-cert", self.cert, "--tls-key", self.key,
                              tls=True, files=SPARE_FILES + 344).wait_ready()
        self.addCleanup(collector.stop)
        with contextlib.ExitStack() as stack:
            for _ in range(344 + CROWD):
                stack.enter_context(socket.create_connection(("127.0.0.1", collector.port), timeout=30))
            collector.wait_line("no more connections than the 344 that are there: .*: the others wait")
            time.sleep(3 * SWEEP_S)
        self.assertEqual(collector.request("GET", "/healthz")[0], 200)
        self.assertEqual(collector.log().count("no more connections"), 1)


class TestFloods(TrustTest):
    options = ("--node-rate", "5")

    def setUp(self):
        super().setUp()
        self.honest = Honest(self)
        self.addCleanup(self.honest.stop)

    def check_honest(self, at_least=20):
        deadline = time.monotonic() + 30
        sent = self.honest.sent
        while self.honest.sent < sent + at_least and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertGreaterEqual(self.honest.sent, sent + at_least)
        self.assertEqual(self.honest.trouble, [])

    def test_slow_senders_by_the_thousand(self):
        """More than may come in at a time; they say a byte a second."""
        slow = []
        try:
            for _ in range(1500):
                connection = socket.create_connection(("127.0.0.1", self.collector.port), timeout=30)
                connection.setblocking(False)
                slow.append(connection)
            self.check_honest()
            deadline = time.monotonic() + UNPROVEN_S + 20
            living = set(slow)
            while living and time.monotonic() < deadline:
                for connection in list(living):
                    try:
                        connection.send(b"\x16")
                    except BlockingIOError:
                        pass
                    except OSError:
                        living.discard(connection)
                time.sleep(0.5)
            self.assertFalse(living, f"{len(living)} slow senders were not cut off")
            self.check_honest()
        finally:
            for connection in slow:
                connection.close()
        self.assertIn("cut off", self.collector.log()[self.seen:])

    def test_tokens_tried_at_random(self):
        statuses = {}

        def attack():
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.collector.port, timeout=30, context=context)
            for n in range(250):
                try:
                    connection.request("POST", "/v1/batches", b"{}", {"Authorization": f"Bearer {n:064x}"})
                    answer = connection.getresponse()
                    answer.read()
                    statuses[answer.status] = statuses.get(answer.status, 0) + 1
                except (OSError, http.client.HTTPException):
                    connection.close()

        threads = [threading.Thread(target=attack) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(statuses), {401, 429})
        self.assertGreater(statuses.get(429, 0), 0)
        self.check_honest()
        self.assertLess(self.collector.log()[self.seen:].count("refused"), 400)

    def test_a_node_that_sends_too_often(self):
        token = self.enroll("busy")
        context = ssl._create_unverified_context()
        seen, waits = {}, []
        connection = http.client.HTTPSConnection("127.0.0.1", self.collector.port, timeout=30, context=context)
        for _ in range(200):
            connection.request("POST", "/v1/batches", b"\n", {"Authorization": "Bearer " + token})
            answer = connection.getresponse()
            answer.read()
            seen[answer.status] = seen.get(answer.status, 0) + 1
            if answer.status == 429:
                waits.append(int(answer.headers["Retry-After"]))
        connection.close()
        self.assertEqual(set(seen), {400, 429}, seen)
        self.assertGreater(min(waits), 0)
        self.check_honest()

    def test_a_length_that_is_only_said(self):
        """It costs what could have been taken: a burst is worth 50 requests, and 16 MiB those of 65."""
        token = self.enroll("boasting")
        context = ssl._create_unverified_context()
        statuses = []
        for length in (99999999999, 1):
            connection = http.client.HTTPSConnection("127.0.0.1", self.collector.port, timeout=30, context=context)
            connection.putrequest("POST", "/v1/batches")
            for header in (("Authorization", "Bearer " + token), ("Content-Length", str(length))):
                connection.putheader(*header)
            connection.endheaders(b"\n" if length == 1 else None)
            answer = connection.getresponse()
            statuses.append(answer.status)
            wait_s = int(answer.headers.get("Retry-After", 0))
            connection.close()
        self.assertEqual(statuses, [413, 429])
        self.assertLess(wait_s, 10)


del Database  # its subclasses are the tests

if __name__ == "__main__":
    unittest.main(verbosity=2)
