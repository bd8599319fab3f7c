#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""unblend-collector against a real PostgreSQL: what it takes, refuses, and survives.

UNBLEND_BINDIR names the build directory (default: the current one). As root the system user unblend is made
if it is missing; else everything runs as the caller."""

import gzip
import http.client
import json
import os
import pwd
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
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
    """A running collector; files: how many it may have open."""

    def __init__(self, *args, tls=False, files=None):
        self.errors = open(os.path.join(ROOT, f"stderr-{time.monotonic_ns()}"), "w+")
        limit = ["prlimit", f"--nofile={files}"] if files else []
        self.process = subprocess.Popen([*limit, COLLECTOR, "--listen", "127.0.0.1:0", *args], stderr=self.errors)
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
                         "unblend.ledger")
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


class TestIngest(Database):
    def test_accepts_and_counts(self):
        self.assertEqual(self.collector.post(batch(3), self.token), (200, {"stored": 1, "duplicates": 0}))
        self.assertEqual(self.sums(), "1|3|12288")

    def test_same_again_changes_nothing(self):
        for duplicates in (0, 1, 1):
            status, answer = self.collector.post(batch(1), self.token)
            self.assertEqual((status, answer["duplicates"]), (200, duplicates))
        self.assertEqual(self.sums(), "1|1|4096")

    def test_changed_body_is_a_conflict(self):
        self.collector.post(batch(1), self.token)
        status, answer = self.collector.post(batch(1, kernel="6.2.0"), self.token)
        self.assertEqual((status, answer["field"]), (409, "seq"))
        self.assertEqual(self.sums(), "1|1|4096")

    def test_other_stream_is_no_conflict(self):
        self.collector.post(batch(1), self.token)
        self.assertEqual(self.collector.post(batch(1, stream="f" * 32), self.token)[0], 200)
        self.assertEqual(self.sums(), "2|2|8192")

    def test_gaps_close_in_any_order(self):
        for seq in (5, 2, 9, 3, 1, 4, 7, 0, 8, 6):
            self.assertEqual(self.collector.post(batch(seq) if seq else batch(0, records=[]), self.token),
                             (200, {"stored": 1, "duplicates": 0}))
            self.assertEqual(self.collector.post(batch(seq) if seq else batch(0, records=[]), self.token),
                             (200, {"stored": 0, "duplicates": 1}))
        self.assertEqual(self.sql("select count(*) from unblend.gap"), "0")
        self.assertEqual(self.sql("select next_seq from unblend.stream"), "10")
        self.assertEqual(self.sums(), "9|45|184320")

    def test_ledger_stays_small(self):
        for first in range(0, 2200, 100):
            body = lines(*(batch(seq, records=[]) for seq in range(first, first + 100)))
            self.assertEqual(self.collector.post(body, self.token)[0], 200)
        self.assertLessEqual(int(self.sql("select count(*) from unblend.ledger")), 1000 + 64)
        changed = {"kernel": "x", "records": []}
        self.assertEqual(self.collector.post(batch(1300, **changed), self.token)[0], 409)
        self.assertEqual(self.collector.post(batch(7, records=[]), self.token),
                         (200, {"stored": 0, "duplicates": 1}))

    def test_lines_are_all_or_none(self):
        bad = batch(2)
        bad["records"][0]["size"] = "nonsense"
        status, answer = self.collector.post(lines(batch(1), bad, batch(3)), self.token)
        self.assertEqual((status, answer["line"], answer["field"]), (400, 2, "records[0].size"))
        self.assertIn("line 2: records[0].size", answer["error"])
        self.assertEqual(self.sums(), "0|0|0")
        self.assertEqual(self.sql("select count(*) from unblend.ledger"), "0")
        status, answer = self.collector.post(lines(batch(1), batch(2), batch(3)) + b"\n", self.token)
        self.assertEqual((status, answer["stored"]), (200, 3))
        self.assertEqual(self.sums(), "3|6|24576")

    def test_one_batch_over_several_lines(self):
        body = json.dumps(batch(1), indent=2).encode()
        self.assertEqual(self.collector.post(body, self.token)[0], 200)
        self.assertEqual(self.collector.post(body, self.token)[1]["duplicates"], 1)

    def test_conflict_in_a_line_stores_nothing(self):
        self.collector.post(batch(2), self.token)
        status, answer = self.collector.post(lines(batch(1), batch(2, kernel="x")), self.token)
        self.assertEqual((status, answer["line"]), (409, 2))
        self.assertEqual(self.sums(), "1|2|8192")

    def test_field_of_every_refusal(self):
        for field, change in (("cluster", ""), ("node", ""), ("role", "boss"), ("stream", "12"), ("stream", "G" * 32),
                              ("seq", -1), ("seq", 2**63 - 1), ("start_ns", -5), ("interval_ms", 0),
                              ("duration_ns", 10**18), ("jobs", 7), ("schema", "unblend.batch/99")):
            with self.subTest(field=field, change=change):
                status, answer = self.collector.post({**batch(1), field: change}, self.token)
                self.assertEqual((status, answer.get("field"), answer["line"]), (400, field, 1))
        self.assertEqual(self.sums(), "0|0|0")

    def test_garbage(self):
        for body in (b"", b"\n\n", b"hello", b"{", b"[]", b"\x00\xff\xfe", b'{"schema":"\\u0000"}',
                     b"[" * 100000, b'{"a":' * 5000):
            with self.subTest(body=body[:10]):
                status, answer = self.collector.post(body, self.token)
                self.assertEqual((status, answer["line"]), (400, 1))

    def test_who_is_not_let_in(self):
        self.assertEqual(self.collector.post(batch(1), None)[0], 401)
        self.assertEqual(self.collector.post(batch(1), "0" * 64)[0], 401)
        self.assertEqual(self.collector.post(batch(1), "' or 1=1 --")[0], 401)
        self.assertEqual(self.collector.post(batch(1), self.token[:-1])[0], 401)
        status, answer = self.collector.post(batch(1, node="n2"), self.token)
        self.assertEqual((status, answer["field"]), (403, "node"))
        self.assertEqual(self.sums(), "0|0|0")
        # the refused line must not let its good neighbour through
        self.assertEqual(self.collector.post(lines(batch(1), batch(2, node="n2")), self.token)[0], 403)
        self.assertEqual(self.sums(), "0|0|0")

    def test_tokens_are_hashed_replaced_and_revoked(self):
        first = self.enroll("n7")
        self.assertRegex(first, "^[0-9a-f]{64}$")
        stored = self.sql("select encode(sha256, 'hex') from unblend.token where node = 'n7'")
        self.assertEqual(stored, self.sql(f"select encode(sha256('{first}'::bytea), 'hex')"))
        self.assertEqual(self.collector.post(batch(1, node="n7"), first)[0], 200)
        second = self.enroll("n7")
        self.assertEqual(self.collector.post(batch(2, node="n7"), first)[0], 401)
        self.assertEqual(self.collector.post(batch(2, node="n7"), second)[0], 200)
        self.assertEqual(command("revoke", "n7", "--embedded", self.directory).returncode, 0)
        self.assertEqual(self.collector.post(batch(3, node="n7"), second)[0], 401)
        again = command("revoke", "n7", "--embedded", self.directory)
        self.assertEqual(again.returncode, 1)
        self.assertEqual(again.stderr.count("\n"), 1)

    def test_token_of_one_cluster(self):
        token = self.enroll("n8", "--cluster", "c1")
        self.assertEqual(self.collector.post(batch(1, node="n8"), token)[0], 200)
        self.assertEqual(self.collector.post(batch(1, node="n8", cluster="c2"), token)[0], 403)

    def test_encodings(self):
        body = lines(batch(1))
        zstd = subprocess.run(["zstd", "-c"], input=body, capture_output=True, check=True).stdout
        self.assertEqual(self.collector.post(zstd, self.token, "zstd")[1]["stored"], 1)
        self.assertEqual(self.collector.post(gzip.compress(body), self.token, "gzip")[1]["duplicates"], 1)
        self.assertEqual(self.collector.post(body, self.token, "identity")[1]["duplicates"], 1)
        self.assertEqual(self.collector.post(body, self.token, "br")[0], 415)
        self.assertEqual(self.collector.post(zstd[:-9], self.token, "zstd")[0], 400)
        self.assertEqual(self.collector.post(b"not gzip", self.token, "gzip")[0], 400)

    def test_limits(self):
        self.assertEqual(self.collector.post(b" " * (16 * 2**20 + 1), self.token)[0], 413)
        bomb = gzip.compress(b" " * (129 * 2**20), 1)
        self.assertEqual(self.collector.post(bomb, self.token, "gzip")[0], 413)
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)

    def test_a_large_batch(self):
        jobs = [{**batch()["jobs"][0], "job": f"slurm:{n}"} for n in range(3000)]
        records = [{"job": n, "volume": 0, "op": op, "bytes": 1, "errors": 0, "latency_sum_ns": 1,
                    "latency_ns": "60:2 1:3 9"} for n in range(3000)
                   for op in ("open", "close", "stat", "seek", "readdir", "create", "unlink", "rename", "mkdir",
                              "fsync", "truncate", "setattr", "block_flush", "mmap_fault", "block_discard", "write")]
        for record in records:
            if record["op"] == "write":
                record["size"] = "80:2"
        value = batch(1, jobs=jobs, records=records)
        body = subprocess.run(["zstd", "-c"], input=lines(value), capture_output=True, check=True).stdout
        status, answer = self.collector.post(body, self.token, "zstd")
        self.assertEqual((status, answer.get("stored")), (200, 1))
        self.assertEqual(self.sums(), f"48000|{48000 * 6}|48000")
        self.assertEqual(self.dump(), [value])

    def test_chunked(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.collector.port, timeout=60)
        body = lines(batch(4))
        connection.request("POST", "/v1/batches", iter([body[:100], body[100:]]),
                           {"Authorization": "Bearer " + self.token}, encode_chunked=True)
        self.assertEqual(json.loads(connection.getresponse().read()), {"stored": 1, "duplicates": 0})
        # and the connection goes on
        connection.request("POST", "/v1/batches", body, {"Authorization": "Bearer " + self.token})
        self.assertEqual(json.loads(connection.getresponse().read())["duplicates"], 1)
        connection.close()

    def test_other_paths(self):
        self.assertEqual(self.collector.request("GET", "/healthz")[0], 200)
        self.assertEqual(self.collector.request("GET", "/v1/batches")[0], 405)
        self.assertEqual(self.collector.request("GET", "/../etc/passwd")[0], 404)
        self.assertEqual(self.collector.request("DELETE", "/metrics")[0], 405)

    def test_metrics(self):
        def metric(name):
            text = self.collector.request("GET", "/metrics")[1]
            self.assertTrue(text.endswith("# EOF\n"))
            return float(re.search("^" + re.escape(name) + " (.*)$", text, re.M)[1])

        names = ("unblend_collector_batches_total", "unblend_collector_duplicates_total",
                 "unblend_collector_records_total", 'unblend_collector_answers_total{status="400"}',
                 "unblend_collector_commit_seconds_count")
        before = [metric(name) for name in names]
        for _ in range(2):
            self.collector.post(lines(batch(1), batch(2)), self.token)
        self.collector.post(b"x", self.token)
        self.assertEqual([metric(n) - b for n, b in zip(names, before)], [2, 2, 2, 1, 2])
        self.assertEqual(metric("unblend_collector_database_up"), 1)

    def test_processes_are_folded(self):
        value = batch(1, processes=[
            {"pid": 7, "uid": 1, "start_ns": START, "command": "secret-name", "job": 0, "exited": False},
            {"pid": 8, "uid": 1, "start_ns": START, "command": "secret-name", "job": 0, "exited": False}])
        value["records"] = [{**value["records"][0], "process": 0}, {**value["records"][0], "process": 1}]
        self.assertEqual(self.collector.post(value, self.token)[0], 200)
        self.assertEqual(self.sums(), "1|2|8192")
        self.assertNotIn("secret-name", json.dumps(self.dump()))

    def test_a_clock_that_is_far_off(self):
        self.assertEqual(self.collector.post(batch(1, start_ns=86400 * 10**9), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(2, start_ns=2**62), self.token)[0], 200)
        self.assertEqual(self.sql("select count(*) from unblend.sample_default"), "2")
        self.assertEqual([b["seq"] for b in self.dump()], [1, 2])


class TestReadBack(Database):
    """What comes out of the database is what went in."""

    def batches(self):
        job = batch()["jobs"][0]
        second = {"job": "k8s:ns/pod", "kind": "kubernetes", "user": None, "command": "", "labels": {},
                  "start_ns": None, "end_ns": None, "exit": None}
        local = {"volume": "?", "source": "", "fstype": "", "scope": "local", "mounts": []}
        rows = [{"job": j, "volume": v, "op": op, "bytes": 5 * n, "errors": n % 3, "latency_sum_ns": n * 1001,
                 **({"size": "0:3 1:2 79:1000000 300"} if op in ("read", "write") else {}),
                 "latency_ns": "0:3000000000000 9:2 400"}
                for n, (j, v, op) in enumerate([(1, 1, "stat"), (0, 0, "write"), (0, 1, "block_flush"),
                                                (1, 0, "mmap_fault"), (0, 0, "read")])]
        rows[1] |= {"in_flight": 2, "oldest_ns": 7, "in_flight_ns": 12}
        rows[3] |= {"size": "80:2", "faults": [4, 5, 600]}
        rows[4] |= {"order": [1, 2, 3], "cache": [7, 70, 8, 80], "error_codes": {"ENOENT": 1, "EIO": 9, "400": 3}}
        for row in rows:
            row.update({k: v.replace(":1 ", " ") for k, v in row.items() if isinstance(v, str)})
        coverage = {"lost_ops": 1, "killed_ops": 2, "in_flight_ops": 3, "unattributed_ops": 4, "overflow_ops": 5,
                    "hooks": [{"hook": "z", "state": "unavailable", "why": 'no "BTF" \\ here'},
                              {"hook": "a", "state": "attached", "why": None}],
                    "bypass": [{"what": "spdk", "device": "0000:00:1f.2", "bytes": None, "why": "bound to vfio"}]}
        more = {"jobs": [job, second], "volumes": [{**batch()["volumes"][0], "space": [70, 100, 5, 0]}, local],
                "records": rows}
        return [
            batch(1),
            batch(2, coverage=coverage, **more),
            batch(3, jobs=[{**job, "end_ns": START + 777, "exit": 137}, second], records=[]),
            batch(4, jobs=[second, {**job, "command": "bash; \u00fc\n'x'"}], records=[], role="storage", kernel="é",
                  slot_ms=100, flows=self.flows()),
            batch(5, jobs=[], volumes=[], records=[]),
        ]

    def flows(self):
        first = START // 100_000_000
        return [{"job": 1, "volume": 0, "first": first + 400, "slots": 100, "read_bytes": "0*20 4096*3 0*76 9000000000",
                 "read_ops": "0*20 1*3 0*76 5", "metadata_ops": "7*100", "data_burst_ns": "64:3 8:2",
                 "data_steady_ns": "72:3",
                 "metadata_steady_ns": "40:700", "in_flight_max": {"all": 3, "read": 2, "stat": 1},
                 "files": "2 4:4096 2a8:7 fedcba9876543210:9000000000"},
                {"job": 0, "volume": 0, "first": 0, "slots": 0, "in_flight_max": {"all": 1, "fsync": 1},
                 "files": "0 1:5 4:4096"}]

    def test_flows_in_sql(self):
        value = self.batches()[3]
        self.assertEqual(self.collector.post(value, self.token)[0], 200)
        first = value["flows"][0]["first"]
        self.assertEqual(self.sql("select slot, value from unblend.flows, unblend.slot_values(first_slot, read_bytes) "
                                  "where value > 0 order by slot"),
                         "\n".join([f"{first + n}|4096" for n in (20, 21, 22)] + [f"{first + 99}|9000000000"]))
        self.assertEqual(self.sql("select sum(value), count(*) from unblend.flows, "
                                  "unblend.slot_values(first_slot, metadata_ops)"), "700|100")
        self.assertEqual(self.sql("select in_flight_max->>'read' from unblend.flows where slots > 0"), "2")
        self.assertEqual(self.sql("select sum(c.count) from unblend.flows, unblend.histogram_cells(data_burst) as c"),
                         "5")
        # with both, one in four files is in the sample: 4, 2a8 and fedc...
        self.assertEqual(self.sql("select (unblend.files_together(array_agg(files))).* from unblend.flows"),
                         f"12|{4 * (4096 + 7 + 9000000000)}")
        self.assertEqual(self.sql("select (unblend.files_together(array['0 1:5 2:6', '0 2:8'])).*"), "2|13")

    def test_a_step_that_came_between(self):
        """It is the one that is missing, whatever stands behind it; one that nobody knows is a newer program's."""
        self.sql("drop database if exists between")
        self.sql("create database between encoding 'UTF8' template template0")
        between = self.conninfo.replace("dbname=unblend", "dbname=between")
        schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../collector/schema")
        steps = sorted(name[:-4] for name in os.listdir(schema) if re.match(r"\d+-.*\.sql$", name))
        script = ("create schema unblend; create table unblend.migration (version integer primary key, "
                  "name text not null, applied_at timestamptz not null default now());")
        for version, name in enumerate([name for name in steps if name != "008-dropped"]):
            with open(os.path.join(schema, name + ".sql"), encoding="utf-8") as file:
                script += file.read()
            script += f"insert into unblend.migration (version, name) values ({version}, '{name}');"
        psql = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", between]
        done = subprocess.run(psql, input=script, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"lacks 1 of {len(steps)} steps: run unblend-collector init-db",
                      command("prune", "--db", between).stderr)
        self.assertEqual(command("init-db", "--db", between).returncode, 0)
        done = subprocess.run([*psql, "-c", "select name from unblend.migration order by name"], capture_output=True,
                              text=True, timeout=60, check=True)
        self.assertEqual(done.stdout.split(), steps)
        subprocess.run([*psql, "-c", "insert into unblend.migration values (1000, '999-later')"], timeout=60,
                       check=True)
        done = command("init-db", "--db", between)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has 1 steps that this program does not know: install the newer Unblend", done.stderr)

    def test_a_filled_database_of_the_version_before(self):
        self.sql("drop database if exists older")
        self.sql("create database older encoding 'UTF8' template template0")
        older = self.conninfo.replace("dbname=unblend", "dbname=older")
        schema = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../collector/schema")
        script = ("create schema unblend; create table unblend.migration (version integer primary key, "
                  "name text not null, applied_at timestamptz not null default now());")
        for version in range(1, 6):
            name = next(f for f in os.listdir(schema) if f.startswith(f"{version:03}-"))
            with open(os.path.join(schema, name)) as file:
                script += file.read()
            script += f"insert into unblend.migration (version, name) values ({version}, '{name[:-4]}');"
        value = batch(2)
        row, job, volume = value["records"][0], value["jobs"][0], value["volumes"][0]
        script += f"""
            insert into unblend.node (cluster, node) values ('c1', 'n1');
            insert into unblend.stream (node_id, stream, next_seq) values (1, '{STREAM}', 3);
            insert into unblend.host (node_id, digest, role, kernel, boot_id, hooks, bypasses)
                values (1, '', 'client', '6.1.0', '6a1c', '{json.dumps(value["coverage"]["hooks"])}', '[]');
            insert into unblend.job (node_id, digest, job, kind, "user", command, labels, start_ns)
                values (1, '', '{job["job"]}', 'slurm', 'ann', 'python3', '{json.dumps(job["labels"])}', {START});
            insert into unblend.volume (node_id, digest, volume, source, fstype, scope, mounts)
                values (1, '', '/data', 'srv:/data', 'nfs4', 'shared', '{json.dumps(volume["mounts"])}');
            insert into unblend.batch (time, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost,
                    killed, in_flight, unattributed, overflow, records, job_ids, volume_ids)
                values (unblend.timestamp_of({value["start_ns"]}), 1, 1, 2, 1, {value["start_ns"]},
                    {value["duration_ns"]}, 10000, 0, 0, 0, 0, 0, 1, '{{1}}', '{{1}}');
            insert into unblend.sample (time, batch_id, job_id, volume_id, node_id, position, op, ops, bytes, errors,
                    latency_sum_ns, size, latency)
                values (unblend.timestamp_of({value["start_ns"]}), 1, 1, 1, 1, 0, 'read', 2, {row["bytes"]}, 0,
                    {row["latency_sum_ns"]}, '\\x5002', '\\x3c02');"""
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", older], input=script, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(command("init-db", "--db", older).returncode, 0)
        done = subprocess.run([DUMP, older], capture_output=True, text=True, timeout=60)
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()], [value], done.stderr)
        # what was there before has its rollups, too
        done = command("prune", "--db", older, "--keep-raw", "3650d")
        self.assertTrue(done.stdout.startswith("1 batches summed up"), done.stdout + done.stderr)
        done = subprocess.run(["psql", "-XAtq", older, "-c", "select (select sum(ops) from unblend.samples_1m), "
                               "(select sum(ops) from unblend.samples_1h), (select sum(bytes) from unblend.totals_1m "
                               "where subject = 'job')"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.strip(), f"2|2|{row['bytes']}", done.stderr)
        self.sql("drop database older")

    def test_exactly(self):
        sent = self.batches()
        for value in (sent[3], sent[1], sent[4], sent[0], sent[2]):
            self.assertEqual(self.collector.post(value, self.token)[0], 200)
        self.assertEqual(self.dump(), sent)
        self.assertEqual(self.sql("select volume, used_bytes, total_bytes, used_files is null, total_files is null "
                                  "from unblend.space"), f"{batch()['volumes'][0]['volume']}|70|100|t|t")
        self.assertEqual(self.sql("select ended is not null, exit from unblend.jobs where job = 'slurm:42' "
                                  "and command = 'python3'"), "t|137")

    def test_report_is_that_of_a_recording(self):
        path = os.path.join(ROOT, "same.rec")
        sent = self.batches() + [batch(seq) for seq in range(6, 40)]
        # reads that come in one tenth of a second of each interval, by a job of their own
        for seq in range(40, 60):
            job = {**batch()["jobs"][0], "job": "slurm:43"}
            first = (START + seq * 10_000_000_000) // 100_000_000
            sent.append(batch(seq, jobs=[job], slot_ms=100, flows=[
                {"job": 0, "volume": 0, "first": first + 50, "slots": 1, "read_bytes": f"{4096 * seq}",
                 "read_ops": f"{seq}", "data_burst_ns": pairs(56, seq), "in_flight_max": {"all": 2, "read": 2}}]))
        for value in sent:
            self.assertEqual(self.collector.post(value, self.token)[0], 200)
        subprocess.run([os.path.join(BINDIR, "tests/system/json_recording"), path], input=lines(*sent) + b"\n",
                       check=True)
        reports = []
        for source in ([path], ["--db", self.conninfo]):
            result = subprocess.run([os.path.join(BINDIR, "unblend"), "report", "--format", "json", *source],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            reports.append(json.loads(result.stdout))
        self.assertEqual(reports[0], reports[1])
        burst = next(job for job in reports[0]["jobs"] if job["job"] == "slurm:43")["burst"]
        self.assertAlmostEqual(burst["peak_to_mean"][0], 59 / (sum(range(40, 60)) / 2001), delta=1)
        self.assertAlmostEqual(burst["idle"][0], 1 - 20 / 2001, delta=0.001)
        self.assertEqual(burst["in_burst_latency_ns"]["p50"], 512)
        self.assertIsNone(burst["steady_latency_ns"])

    def test_window(self):
        token = self.enroll("n2")
        for seq in range(1, 200):
            self.assertEqual(self.collector.post(batch(seq), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(1, node="n2"), token)[0], 200)
        starts = [b["start_ns"] for b in self.dump()]
        self.assertEqual((len(starts), starts), (200, sorted(starts)))
        self.assertEqual(len(self.dump("n2")), 1)
        self.assertEqual(len(self.dump("n?")), 200)
        first, last = batch(50)["start_ns"], batch(60)["start_ns"]
        self.assertEqual([b["seq"] for b in self.dump("n1", str(first), str(last))], list(range(50, 60)))
        self.assertEqual([b["seq"] for b in self.dump("n1", str(first + 1), str(last + 1))], list(range(51, 61)))

    def fill(self, count):
        """Batches 1 to count, those behind the first made of it by SQL, a millisecond apart. Readers take what records
        says for how much comes with a batch: each thousandth says a lot."""
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)
        for table, changed in (("batch", "'seq', n, 'start_ns', t.start_ns + n * 1000000::bigint, 'records', "
                                         "case when n % 1000 = 0 then 100000 else 1 end"),
                               ("sample", "'bytes', 4096 * n")):
            self.sql(f"insert into unblend.{table} select (jsonb_populate_record(t, jsonb_build_object('batch_id', "
                     f"t.batch_id + n, 'time', t.time + n * interval '1 ms', {changed}))).* "
                     f"from unblend.{table} as t, generate_series(2, {count}) as n")

    def test_more_than_is_read_at_once(self):
        self.fill(9500)
        read = self.dump()
        self.assertEqual([b["seq"] for b in read], list(range(1, 9501)))
        self.assertEqual([b["records"][0]["bytes"] for b in read], [4096 * seq for seq in range(1, 9501)])
        first = batch(1)
        for value in read:
            self.assertEqual((value["jobs"], value["volumes"], value["coverage"]),
                             (first["jobs"], first["volumes"], first["coverage"]))

    def test_the_database_goes_away_while_it_is_read(self):
        """What is read waits in a pipe until the connection is gone: some batches were not asked for by then."""
        self.fill(9500)
        reader = subprocess.Popen([DUMP, self.conninfo + " application_name=cut-off"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(reader.kill)
        first = reader.stdout.readline()
        backend = "from pg_stat_activity where application_name = 'cut-off'"
        self.assertEqual(self.sql(f"select pg_terminate_backend(pid) {backend}"), "t")
        deadline = time.monotonic() + 60
        while self.sql(f"select count(*) {backend}") != "0":
            self.assertLess(time.monotonic(), deadline, "the connection does not end")
            time.sleep(0.05)
        rest, why = reader.communicate(timeout=60)
        self.assertEqual(json.loads(first)["seq"], 1)
        self.assertLess(rest.count("\n"), 9499)
        self.assertEqual(reader.returncode, 1)
        self.assertRegex(why, r"^dump_database: cannot read the database: .*: check --db, and that a collector has set "
                              r"it up\n$")

    def test_histograms_in_sql(self):
        value = batch(1)
        value["records"][0].update({"size": "0:2 8:3 64:1000 328:5".replace(":1 ", " "), "latency_ns": "5:1010"})
        self.assertEqual(self.collector.post(value, self.token)[0], 200)
        cells = self.sql("select string_agg(bucket || ':' || c.count || ':' || unblend.bucket_lower(bucket), ' ') "
                         "from unblend.samples, unblend.histogram_cells(size) as c")
        self.assertEqual(cells, f"0:2:0 8:3:8 72:1000:2048 400:5:{8 << 49}")
        quantiles = self.sql("select unblend.histogram_quantile(array_agg(size), q) from unblend.samples, "
                             "unnest(array[0, 0.002, 0.004, 0.5, 0.99505, 1]) as q group by q order by q")
        self.assertEqual(quantiles.split(), ["0", "8", "8", "2048", str(8 << 49), str(8 << 49)])
        self.assertEqual(self.sql("select unblend.bucket_lower(b) from unnest(array[7, 8, 16, 17, 487, 495]) as b"),
                         "\n".join(map(str, (7, 8, 16, 18, 15 << 59, 15 << 60))))

    def test_views_agree_on_operations(self):
        classes = dict(line.split("|") for line in self.sql(
            "select op, unblend.operation_class(op) from unnest(enum_range(null::unblend.operation)) as op").split())
        ops = ("read write open close stat seek readdir create unlink rename mkdir truncate setattr fsync mmap_fault "
               "block_read block_write block_flush block_discard").split()
        self.assertEqual(list(classes), ops)
        self.assertEqual([op for op in ops if classes[op] == "metadata"],
                         "open close stat readdir create unlink rename mkdir truncate setattr".split())
        records = [{"job": 0, "volume": 0, "op": op, "bytes": 0, "errors": 0, "latency_sum_ns": 1,
                    "latency_ns": "60"} for op in ops]
        self.assertEqual(self.collector.post(batch(1, records=records), self.token)[0], 200)
        self.assertEqual([r["op"] for r in self.dump()[0]["records"]], ops)


class TestSurvival(Database):
    def postmaster(self):
        with open(os.path.join(self.directory, "data/postmaster.pid")) as file:
            return int(file.readline())

    def write_through(self, disturb, first=1, count=60):
        """Sends batches one after the other while something happens to the collector or its database."""
        def run():
            for seq in range(first, first + count):
                seen.extend(post_until_taken(lambda: self.collector, batch(seq), self.token))
                taken.append(seq)
        seen, taken = [], []
        thread = threading.Thread(target=run)
        thread.start()
        while len(taken) < count // 4 and thread.is_alive():
            time.sleep(0.001)
        disturb()
        thread.join(120)
        self.assertFalse(thread.is_alive())
        self.collector.wait_ready()
        total = sum(range(first, first + count))
        self.assertEqual(self.sums(), f"{count}|{total}|{total * 4096}")
        self.assertEqual(self.sql("select count(*) from unblend.gap where first_seq > 0"), "0")
        return seen

    def test_database_killed(self):
        old = self.postmaster()
        seen = self.write_through(lambda: os.kill(old, signal.SIGKILL))
        self.assertIn(503, seen)
        self.assertLessEqual(set(seen), {503, None})
        self.collector.wait_ready()
        self.assertNotEqual(self.postmaster(), old)

    def test_collector_killed_and_its_server_adopted(self):
        old = self.postmaster()

        def disturb():
            type(self).collector.kill()
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
        self.write_through(disturb)
        self.assertEqual(self.postmaster(), old)
        self.assertIn("took over", self.collector.log())
        # what was adopted is stopped like what was started
        self.assertEqual(type(self).collector.stop(), 0)
        self.assertFalse(os.path.exists(os.path.join(self.directory, "data/postmaster.pid")))
        type(self).collector = Collector("--embedded", self.directory).wait_ready()

    def test_both_killed(self):
        def disturb():
            type(self).collector.kill()
            os.kill(self.postmaster(), signal.SIGKILL)
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
        self.write_through(disturb)

    def test_unready_while_the_database_is_away(self):
        server = self.postmaster()
        os.kill(server, signal.SIGKILL)
        status, _, headers = self.collector.request("POST", "/v1/batches", lines(batch(1)),
                                                    {"Authorization": "Bearer " + self.token})
        if status != 200:  # it may be up again already
            self.assertEqual(status, 503)
            self.assertGreater(int(headers["Retry-After"]), 0)
        self.assertEqual(self.collector.request("GET", "/healthz")[0], 200)
        post_until_taken(lambda: self.collector, batch(1), self.token)

    def test_stale_pid_file_of_a_stranger(self):
        self.assertEqual(type(self).collector.stop(), 0)
        stranger = subprocess.Popen(["sleep", "60"], user="unblend" if os.geteuid() == 0 else None)
        try:
            with open(os.path.join(self.directory, "data/postmaster.pid"), "w") as file:
                file.write(f"{stranger.pid}\n{self.directory}/data\n")
            type(self).collector = Collector("--embedded", self.directory).wait_ready()
            self.assertNotIn("took over", self.collector.log())
            self.assertIsNone(stranger.poll())
        finally:
            stranger.kill()
            stranger.wait()

    def test_two_collectors_one_database(self):
        beside = Collector("--db", self.conninfo).wait_ready()
        try:
            tokens = {node: self.enroll(node) for node in ("n1", "n3")}
            type(self).token = tokens["n1"]
            failed = []

            def send(collector, order):
                for seq in order:
                    for node, token in tokens.items():
                        status, answer = collector.post(batch(seq, node=node), token)
                        if status != 200:
                            failed.append((status, answer))
            orders = [range(1, 41), range(40, 0, -1), range(1, 41), range(20, 41)]
            threads = [threading.Thread(target=send, args=(c, o))
                       for c, o in zip([self.collector, beside] * 2, orders)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            self.assertEqual(failed, [])
            self.assertEqual(self.sums(), f"80|{2 * 820}|{2 * 820 * 4096}")
            self.assertEqual(self.sql("select count(*) from unblend.gap where first_seq > 0"), "0")
        finally:
            self.assertEqual(beside.stop(), 0)

    def test_partitions_are_made_under_load(self):
        """Days that wait in the default partition get their own while others write to them."""
        self.assertEqual(type(self).collector.stop(), 0)  # it would drop what is older than two days
        type(self).collector = Collector("--embedded", self.directory, "--keep-raw", "90d").wait_ready()
        tokens = [self.enroll(node) for node in ("n1", "n3", "n5")]
        type(self).token = tokens[0]
        now = time.time_ns() // 10**9 * 10**9
        failed, done = [], []

        def send(node, token):
            for seq in range(1, 241):
                start = now - (2 + seq % 40) * 86400 * 10**9
                answer = self.collector.post(batch(seq, node=node, start_ns=start), token)
                if answer[0] != 200:
                    failed.append(answer)
            done.append(node)
        threads = [threading.Thread(target=send, args=pair) for pair in zip(("n1", "n3", "n5"), tokens)]
        for thread in threads:
            thread.start()
        while len(done) < 3:
            self.assertEqual(command("init-db", "--db", self.conninfo, "--keep-raw", "90d").returncode, 0)
        for thread in threads:
            thread.join()
        command("init-db", "--db", self.conninfo, "--keep-raw", "90d")
        self.assertEqual(failed, [], self.collector.log())
        self.assertEqual(self.sums(), f"720|{3 * 28920}|{3 * 28920 * 4096}")
        self.assertEqual(self.sql("select count(*) from unblend.sample_default"), "0", self.sql(
            "select (select string_agg(distinct time::text, ', ') from unblend.sample_default), now(), "
            "(select string_agg(tier || ' since ' || coalesce(since::text, '-'), ', ') from unblend.tier), "
            "(select string_agg(relname || ' ' || pg_get_expr(relpartbound, oid), ', ' order by relname) from pg_class "
            "where relname ~ '^sample_[0-9]+$')"))
        self.assertGreaterEqual(int(self.sql("select count(*) from pg_inherits "
                                             "where inhparent = 'unblend.sample'::regclass")), 48)
        self.assertEqual(len(self.dump()), 720)

    def test_second_collector_on_one_directory(self):
        # a short wait is enough: it must not disturb the first one
        second = subprocess.Popen([COLLECTOR, "--listen", "127.0.0.1:0", "--embedded", self.directory],
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)
        _, errors = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another collector", errors)
        self.assertEqual(errors.count("\n"), 1)

    def test_requests_under_way_are_finished(self):
        body = lines(*(batch(seq) for seq in range(1, 400)))
        result = []
        thread = threading.Thread(target=lambda: result.append(self.collector.post(body, self.token)))
        thread.start()
        time.sleep(0.15)
        self.assertEqual(type(self).collector.stop(), 0)
        thread.join()
        type(self).collector = Collector("--embedded", self.directory).wait_ready()
        if result and result[0][0] == 200:
            self.assertEqual(self.sums().split("|")[0], "399")
        else:
            self.assertEqual(self.sums(), "0|0|0")


class TestStart(unittest.TestCase):
    def refused(self, status, *args):
        result = command(*args)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("unblend-collector"), result.stderr)
        return result.stderr

    def test_wrong_usage(self):
        self.refused(2)
        self.refused(2, "--db", "x", "--embedded", "y")
        self.refused(2, "enroll", "--db", "host=/nowhere")
        self.refused(2, "enroll", "a", "b", "--db", "host=/nowhere")
        self.refused(2, "nonsense", "--db", "host=/nowhere")
        self.refused(2, "--no-such-option")
        self.refused(2, "--db", "host=/nowhere", "--tls-cert", "x")
        self.refused(2, "--db", "host=/nowhere", "--listen", "here")

    def test_no_tls_no_network(self):
        for address in ("0.0.0.0:0", "[::]:0"):
            self.assertIn("--tls-cert", self.refused(2, "--db", "host=/nowhere", "--listen", address))

    def test_database_cannot_be_had(self):
        self.refused(1, "init-db", "--db", "host=/nowhere")
        self.refused(1, "enroll", "n1", "--db", "host=/nowhere")
        self.refused(1, "enroll", "n1", "--embedded", "/dev/null/x")

    def test_serves_without_a_database(self):
        collector = Collector("--db", "host=/nowhere")
        try:
            self.assertEqual(collector.request("GET", "/healthz")[0], 200)
            status, _, headers = collector.request("GET", "/readyz")
            self.assertEqual(status, 503)
            status, _ = collector.post(batch(1), "0" * 64)
            self.assertEqual(status, 503)
        finally:
            self.assertEqual(collector.stop(), 0)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.refused(1, "--db", "host=/nowhere", "--listen", "127.0.0.1:%d" % server.getsockname()[1])

    def test_help(self):
        for args in (["--help"], ["enroll", "--help"], ["--version"]):
            result = command(*args)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(result.stdout)

    def test_foreign_database_by_init_db_and_tls(self):
        """--db on a server of somebody else's, with a configuration file, over HTTPS."""
        directory = os.path.join(ROOT, "foreign")
        server = Collector("--embedded", directory).wait_ready()  # any PostgreSQL will do
        admin = f"host={directory} user=unblend"
        base = os.path.join(ROOT, "tls")
        os.mkdir(base)
        conninfo = admin + " dbname=other"
        collector = None
        try:
            subprocess.run(["psql", "-Xq", admin + " dbname=postgres", "-c",
                            "create role plain login", "-c", "create database other owner plain"], check=True)
            conninfo += " options='-c role=plain'"  # no superuser
            self.refused(1, "enroll", "n1", "--db", conninfo)
            self.assertEqual(command("init-db", "--db", conninfo).returncode, 0)
            self.assertEqual(command("init-db", "--db", conninfo).returncode, 0)
            token = command("enroll", "--db", conninfo, "n1").stdout.strip()
            cert, key = os.path.join(base, "cert.pem"), os.path.join(base, "key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
                            "-days", "2", "-keyout", key, "-out", cert], check=True, capture_output=True)
            config = os.path.join(base, "collector.conf")
            with open(config, "w") as file:
                file.write(f"db = {conninfo}\ntls-cert = {cert}\ntls-key = {key}\n")
            collector = Collector("--config", config, tls=True).wait_ready()
            self.assertEqual(collector.post(batch(1), token), (200, {"stored": 1, "duplicates": 0}))
            with self.assertRaises((OSError, http.client.HTTPException)):
                plain = http.client.HTTPConnection("127.0.0.1", collector.port, timeout=5)
                plain.request("GET", "/healthz")
                plain.getresponse()
            owner = subprocess.run(["psql", "-XAtq", conninfo, "-c", "select distinct tableowner from pg_tables "
                                    "where schemaname = 'unblend'"], capture_output=True, text=True).stdout
            self.assertEqual(owner, "plain\n")
        finally:
            if collector:
                collector.stop()
            server.stop()


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--bindir":
        BINDIR = os.path.abspath(sys.argv[2])
        COLLECTOR = os.path.join(BINDIR, "unblend-collector")
        DUMP = os.path.join(BINDIR, "tests/system/dump_database")
        del sys.argv[1:3]
    unittest.main(verbosity=2)
