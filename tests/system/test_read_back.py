#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What comes out of the database is what went in."""

import json
import os
import re
import subprocess
import time
import unittest

import collecting
from collecting import BINDIR, DUMP, STREAM, START, batch, pairs, lines, command, Database
from collecting import setUpModule, tearDownModule  # noqa: F401


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
        rows[4] |= {"order": [1, 2, 3], "cache": [7, 70, 8, 80], "error_codes": {"ENOENT": 1, "EIO": 9, "400": 3},
                    "joint": "575:4 2000:7 1392"}
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

    def test_windows_inside_an_interval(self):
        """However long agents make theirs, and wherever in one the span begins."""
        at = START // 10**9 // 600 * 600
        value = batch(start_ns=at * 10**9, duration_ns=600 * 10**9, interval_ms=600000, slot_ms=100, flows=[
            {"job": 0, "volume": 0, "first": at * 10, "slots": 6000, "read_bytes": "4096*6000", "read_ops": "1*6000"}])
        self.assertEqual(self.collector.post(value, self.token)[0], 200)
        for since in (0, 59, 61, 300, 599):
            self.assertEqual(self.sql(
                f"select count(*), min(value), max(value) from unblend.windows(array['c1'], array['slurm:42'], 'bytes', "
                f"to_timestamp({at + since}), to_timestamp({at + 600}), 1000)"), f"{600 - since}|40960|40960")

    def test_large_files_in_sql(self):
        """They stand for fewer others than small ones do, unless an older agent's list is among them."""
        self.assertEqual(self.sql("select (unblend.files_together(array['2+ 2:1048576 4:5 11:4194303'])).*"),
                         f"7|{2 * 1048576 + 4 * 5 + 4194303}")
        self.assertEqual(self.sql("select (unblend.files_together(array['2+ 2:1048576 4:5', '2 8:9'])).*"), "8|56")
        self.assertEqual(self.sql("select (unblend.files_together(array['30+ 400:1099511627776'])).files"), "1024")

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
        path = os.path.join(collecting.ROOT, "same.rec")
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

    def test_joint_counts_in_sql(self):
        """Of small files 4 reads of 2 KiB; of files of unknown size 7 that jumped, of large ones one of the last size."""
        value = batch(1)
        value["records"][0].update({"joint": "568:4 1488:7 1911"})
        self.assertEqual(self.collector.post(value, self.token)[0], 200)
        self.assertEqual(self.sql("select coalesce(files, '?') || ' ' || jumped || ' ' || bucket || ' ' || c.count "
                                  "from unblend.samples, unblend.joint_cells(joint) as c order by 1"),
                         "? true 72 7\nlarge true 495 1\nsmall false 72 4")

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
