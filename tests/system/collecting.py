# SPDX-License-Identifier: GPL-2.0-or-later
"""A collector with a real PostgreSQL, for tests of both.

UNBLEND_BINDIR names the build directory (default: the current one). As root the system user unblend is made
if it is missing; else everything runs as the caller."""

import http.client
import json
import os
import pwd
import re
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest

BINDIR = os.path.abspath(os.environ.get("UNBLEND_BINDIR", "."))
COLLECTOR = os.path.join(BINDIR, "unblend-collector")
DUMP = os.path.join(BINDIR, "tests/system/dump_database")
STREAM = "0123456789abcdef0123456789abcdef"
START = 1_795_000_000_000_000_000


def setUpModule():
    global ROOT
    if os.geteuid() == 0:
        try:
            pwd.getpwnam("unblend")
        except KeyError:
            subprocess.run(["useradd", "--system", "unblend"], check=True)
    ROOT = tempfile.mkdtemp(prefix="unblend-test-")
    os.chmod(ROOT, 0o755)


def tearDownModule():
    shutil.rmtree(ROOT, ignore_errors=True)


def batch(seq=1, node="n1", stream=STREAM, cluster="c1", **more):
    """A batch whose sums are known: seq operations, 4096 bytes each."""
    value = {
        "schema": "unblend.batch/1", "cluster": cluster, "node": node, "role": "client",
        "kernel": "6.1.0", "boot_id": "6a1c", "stream": stream, "seq": seq,
        "start_ns": START + seq * 10_000_000_000 + 123, "duration_ns": 10_000_000_321,
        "interval_ms": 10000,
        "jobs": [{"job": "slurm:42", "kind": "slurm", "user": "ann", "command": "python3",
                  "labels": {"z-first": "1", "account": "phys"}, "start_ns": START, "end_ns": None,
                  "exit": None}],
        "volumes": [{"volume": "/data", "source": "srv:/data", "fstype": "nfs4", "scope": "shared",
                     "mounts": ["/data", "/mnt/data"]}],
        "records": [{"job": 0, "volume": 0, "op": "read", "bytes": 4096 * seq, "errors": 0,
                     "latency_sum_ns": 1000 * seq, "size": pairs(80, seq), "latency_ns": pairs(60, seq)}],
        "coverage": {"lost_ops": 0, "killed_ops": 0, "in_flight_ops": 0, "unattributed_ops": 0,
                     "overflow_ops": 0, "hooks": [{"hook": "sys_enter", "state": "attached", "why": None}],
                     "bypass": []},
    }
    value.update(more)
    return value


def pairs(bucket, count):
    return f"{bucket}:{count}" if count > 1 else f"{bucket}"


def lines(*batches):
    return "\n".join(json.dumps(b) for b in batches).encode()


class Collector:
    """A running collector; files: how many it may have open; place: where it is started."""

    def __init__(self, *args, tls=False, files=None, place=None):
        self.errors = open(os.path.join(ROOT, f"stderr-{time.monotonic_ns()}"), "w+")
        limit = ["prlimit", f"--nofile={files}"] if files else []
        self.process = subprocess.Popen([*limit, COLLECTOR, "--listen", "127.0.0.1:0", *args], stderr=self.errors,
                                        cwd=place)
        self.tls = tls
        self.port = int(self.wait_line(r"listening on https?://[^:]+:(\d+)")[1])

    def log(self):
        with open(self.errors.name) as file:
            return file.read()

    def wait_line(self, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.log())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} not in:\n{self.log()}")

    def request(self, method, path, body=None, headers=None):
        if self.tls:
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def post(self, body, token, encoding=None):
        headers = {"Authorization": "Bearer " + token} if token else {}
        if encoding:
            headers["Content-Encoding"] = encoding
        if isinstance(body, dict):
            body = lines(body)
        status, text, _ = self.request("POST", "/v1/batches", body, headers)
        return status, json.loads(text)

    def wait_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.request("GET", "/readyz")[0] == 200:
                return self
            time.sleep(0.1)
        raise AssertionError("never ready:\n" + self.log())

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.errors.close()
        return self.process.wait(90)

    def kill(self):
        self.errors.close()
        self.process.kill()
        self.process.wait()


def post_until_taken(collector, body, token, seconds=60):
    """As an agent does it; the statuses seen before the 200. collector() is whichever runs now."""
    seen = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            status, _ = collector().post(body, token)
        except (OSError, http.client.HTTPException):
            status = None
        if status == 200:
            return seen
        seen.append(status)
        time.sleep(0.1)
    raise AssertionError(f"never taken: {seen}\n{collector().log()}")


def command(*args):
    return subprocess.run([COLLECTOR, *args], capture_output=True, text=True, timeout=120)


class Database(unittest.TestCase):
    """One collector with one embedded database for each class of tests."""

    @classmethod
    def setUpClass(cls):
        cls.directory = os.path.join(ROOT, cls.__name__)
        cls.conninfo = f"host={cls.directory} port=5432 dbname=unblend user=unblend"
        cls.collector = Collector("--embedded", cls.directory).wait_ready()
        cls.token = cls.enroll("n1")

    @classmethod
    def tearDownClass(cls):
        cls.collector.stop()

    @classmethod
    def enroll(cls, node, *more):
        result = command("enroll", node, "--embedded", cls.directory, *more)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    @classmethod
    def sql(cls, *queries):
        """What all of them say: one after the other, in one session."""
        words = [word for query in queries for word in ("-c", query)]
        result = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", cls.conninfo, *words],
                                capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def setUp(self):
        if self.collector.process.poll() is not None:  # a test that failed left none
            type(self).collector = Collector("--embedded", self.directory)
        self.collector.wait_ready()
        self.wipe()

    def wipe(self):
        """The collector's own work takes locks in another order: PostgreSQL may end either, which then tries again."""
        for attempt in range(5):
            try:
                self.sql("truncate unblend.sample, unblend.flow, unblend.batch, unblend.stream, unblend.gap, "
                         "unblend.ledger, unblend.batch_1m, unblend.batch_1h, unblend.sample_1m, unblend.sample_1h")
                return
            except AssertionError as error:
                if "deadlock detected" not in str(error) or attempt == 4:
                    raise

    def sums(self):
        return self.sql("select count(*), coalesce(sum(ops), 0), coalesce(sum(bytes), 0) from unblend.samples")

    def dump(self, *args):
        result = subprocess.run([DUMP, self.conninfo, *args], capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]
