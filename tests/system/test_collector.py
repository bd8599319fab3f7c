#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""unblend-collector against a real PostgreSQL: what it takes and refuses, and how it starts."""

import gzip
import http.client
import json
import os
import re
import socket
import subprocess
import time
import unittest

import collecting
from collecting import BINDIR, START, batch, lines, pairs, Collector, command, Database
from collecting import setUpModule, tearDownModule  # noqa: F401


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

    def test_more_mounts_than_a_volume_has(self):
        for count, status, field in ((64, 200, None), (65, 400, "volumes[0].mounts")):
            volume = {**batch(1)["volumes"][0], "mounts": [f"/m{i}" for i in range(count)]}
            got, answer = self.collector.post(batch(1, volumes=[volume]), self.token)
            self.assertEqual((got, answer.get("field")), (status, field))

    def test_what_no_node_can_have_done(self):
        record = {**batch(1)["records"][0], "bytes": 2**62}
        status, answer = self.collector.post(batch(1, records=[record]), self.token)
        self.assertEqual((status, answer.get("field")), (400, "records[0].bytes"))

    def test_what_was_stored_of_it_spoils_nobodys_sums(self):
        """Of a database that took it once, a report has the others, and names whose it is."""
        other = self.enroll("n2")
        for seq in (1, 2, 3):
            self.assertEqual(self.collector.post(batch(seq), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(4, node="n2"), other)[0], 200)
        self.sql("update unblend.sample set bytes = 4611686018427387904 where ops in (1, 2)")
        result = subprocess.run([os.path.join(BINDIR, "unblend"), "report", "--db", self.conninfo, "--format", "json"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"^unblend: warning: what node n1 of c1 told at .* records\[0\]\.bytes .*\n$")
        report = json.loads(result.stdout)
        self.assertEqual(report["cluster"]["ops"]["read"]["bytes"], 4096 * (3 + 4))
        self.assertEqual(report["coverage"]["dropped_batches"], 2)

    def test_a_report_of_nothing(self):
        """A span that ends before it begins is wrong; a label may be none of this span's, which is said."""
        report = [os.path.join(BINDIR, "unblend"), "report", "--db", self.conninfo]
        self.assertEqual(self.collector.post(batch(1), self.token)[0], 200)
        for since, until in (("1h", "2h"), ("2026-03-02", "2026-03-01"), ("2026-03-01", "2026-03-01")):
            with self.subTest(since=since, until=until):
                result = subprocess.run([*report, "--since", since, "--until", until], capture_output=True, text=True,
                                        timeout=60)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertRegex(result.stderr, f"^unblend.*: .*--since {since} and --until {until}: .*\n$")
        for label, said in (("account", ""), ("acount", "unblend: warning: --by acount: no job has such a label.*\n")):
            with self.subTest(label=label):
                result = subprocess.run([*report, "--by", label], capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, f"^{said}$")

    def test_whose_sums_have_no_number(self):
        records = [{**batch(1)["records"][0], "latency_ns": pairs(60, 2**56)}]
        many = [batch(seq, records=records) for seq in range(1, 129)]
        self.assertEqual(self.collector.post(lines(*many), self.token)[0], 200)
        result = subprocess.run([os.path.join(BINDIR, "unblend"), "report", "--db", self.conninfo],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("node n1 of c1", result.stderr)

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
        status, answer = self.collector.post(batch(1, node="n8", cluster="c2"), token)
        self.assertEqual((status, answer["field"]), (403, "cluster"))

    def test_a_token_of_one_cluster_and_one_of_all(self):
        """Each is in the place of its like only; who shuts out of one cluster hears that the other goes on."""
        one, every = self.enroll("n9", "--cluster", "c1"), self.enroll("n9")
        for seq, token in ((1, one), (2, every)):
            self.assertEqual(self.collector.post(batch(seq, node="n9"), token)[0], 200)
        for status in 0, 1:
            result = command("revoke", "n9", "--cluster", "c1", "--embedded", self.directory)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn("node n9 writes in c1 all the same", result.stderr)
        self.assertEqual(self.collector.post(batch(3, node="n9"), one)[0], 401)
        self.assertEqual(self.collector.post(batch(3, node="n9"), every)[0], 200)
        result = command("revoke", "n9", "--embedded", self.directory)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

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

    def test_the_methods_that_are_allowed(self):
        for method, path, allowed in (("GET", "/v1/batches", "POST"), ("GET", "/v1/enroll", "POST"),
                                      ("DELETE", "/metrics", "GET, HEAD"), ("POST", "/healthz", "GET, HEAD")):
            with self.subTest(method=method, path=path):
                status, _, headers = self.collector.request(method, path)
                self.assertEqual((status, headers["Allow"]), (405, allowed))

    def test_headers_that_can_be_read_in_two_ways(self):
        """Whoever stands in front may take the other way: what follows would be another's request."""
        body = lines(batch(1))
        length, token = f"Content-Length: {len(body)}", f"Authorization: Bearer {self.token}"
        for headers in ((length, "Content-Length: 4", token), ("Content-Length: 4", length, token),
                        (length, token, "Authorization: Bearer " + "0" * 64), (length, token, token),
                        (token, "Transfer-Encoding: gzip"), (token, length, "Transfer-Encoding: chunked")):
            with self.subTest(headers=headers), socket.create_connection(("127.0.0.1", self.collector.port)) as s:
                s.settimeout(5)
                s.sendall("\r\n".join(("POST /v1/batches HTTP/1.1", "Host: x", *headers, "", "")).encode() + body)
                self.assertRegex(s.makefile("rb").read(), rb"(?s)^HTTP/1.1 400 .*Connection: close")
        self.assertEqual(self.sums(), "0|0|0")

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

    def test_whose_clock_is_years_ahead(self):
        """The collector and the report name the node, and a report takes no longer for the years between."""
        def ahead():
            text = self.collector.request("GET", "/metrics")[1]
            return float(re.search("^unblend_collector_batches_ahead_total (.*)$", text, re.M)[1])

        before, now_ns, token = ahead(), time.time_ns(), self.enroll("n2100")
        for seq in range(1, 4):
            self.assertEqual(self.collector.post(batch(seq, start_ns=now_ns - seq * 10**10), self.token)[0], 200)
        other = {**batch(1)["jobs"][0], "job": "other"}
        for seq, start_s in ((1, 4102444800), (2, 4102444801)):
            far = batch(seq, node="n2100", start_ns=start_s * 10**9, jobs=[other])
            self.assertEqual(self.collector.post(far, token)[0], 200)
        self.assertEqual(ahead(), before + 2)
        self.assertEqual(len(re.findall(r"node n2100 of c1: its clock is \d+ s ahead", self.collector.log())), 1)
        # AddressSanitizer reserves terabytes of addresses.
        limit = [] if "ASAN_OPTIONS" in os.environ else ["prlimit", f"--as={2 << 30}"]
        command = [*limit, os.path.join(BINDIR, "unblend"), "report", "--db", self.conninfo]
        for shape in ("json", "html", "text"):
            result = subprocess.run([*command, "--format", shape], capture_output=True, text=True, timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, "^unblend: warning: the clock of node n2100 of c1 is .* ahead .*\n$")
            self.assertLess(len(result.stdout), 2 << 20)
            if shape == "json":
                nodes = {node["node"]: node["clock_ahead_s"] for node in json.loads(result.stdout)["nodes"]}
        self.assertIsNone(nodes["n1"])
        self.assertGreater(nodes["n2100"], 365 * 86400)


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
        self.assertIn("no command 'nonsense'", self.refused(2, "nonsense", "--db", "host=/nowhere"))
        self.assertIn("no command 'nonsense'", self.refused(2, "--db", "host=/nowhere", "nonsense", "n1"))
        self.refused(2, "--no-such-option")
        self.refused(2, "--db", "host=/nowhere", "--tls-cert", "x")
        self.refused(2, "--db", "host=/nowhere", "--listen", "here")
        for port in ("65536", "65537", "99999", "18446744073709551696", " 80", "+80", "-1", "80x"):
            with self.subTest(port=port):
                self.assertIn("is no port", self.refused(2, "--db", "host=/nowhere", "--listen", "127.0.0.1:" + port))

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

    def test_ready_when_partitions_are_made(self):
        """Rows that came before would be moved there, under whoever reads them."""
        directory = os.path.join(collecting.ROOT, "fresh")
        collector = Collector("--embedded", directory).wait_ready()
        try:
            made = subprocess.run(
                ["psql", "-XAtq", f"host={directory} user=unblend dbname=unblend", "-c", "select count(*) > 1 from pg_inherits "
                 "where inhparent = 'unblend.cover_1h'::regclass"], capture_output=True, text=True).stdout
        finally:
            collector.stop()
        self.assertEqual(made, "t\n")  # the last that is made

    def test_foreign_database_by_init_db_and_tls(self):
        """--db on a server of somebody else's, with a configuration file, over HTTPS."""
        directory = os.path.join(collecting.ROOT, "foreign")
        server = Collector("--embedded", directory).wait_ready()  # any PostgreSQL will do
        admin = f"host={directory} user=unblend"
        base = os.path.join(collecting.ROOT, "tls")
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
    unittest.main(verbosity=2)
