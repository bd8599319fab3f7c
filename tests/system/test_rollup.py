#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollups and retention on a real PostgreSQL: every tier has the same sums, whatever comes late and whoever is killed.

UNBLEND_BINDIR as for collecting.py."""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import collecting  # noqa: E402
from collecting import BINDIR, Collector, Database, batch, command, lines  # noqa: E402

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
HOUR_S = 3600
DAY_S = 86400
SUMS = ("sum(ops), sum(bytes), sum(errors), sum(latency_sum_ns), sum(sequential), sum(consecutive), sum(random), "
        "sum(cache_hit_ops), sum(cache_miss_bytes), sum(read_faults)")
HISTOGRAMS = ("(select array_agg(row(c.bucket, c.count)::text order by c.bucket) "
              "from unblend.histogram_merge(array_agg({0})) as c)")


def spread(values, seed):
    """A histogram's pairs: so many values over some buckets."""
    chosen, bucket, text = random.Random(seed), 40 + seed % 50, []
    while values:
        count = chosen.randint(1, values)
        text.append(f"{bucket}:{count}" if count > 1 else f"{bucket}")
        bucket, values = chosen.randint(1, 20), values - count
    return " ".join(text)


def made(node, seq, at_s, jobs=("slurm:1", "slurm:2"), **more):
    """An interval of a node that differs from all others."""
    seed = hash((node, seq)) & 0xffff
    records = []
    for job in range(len(jobs)):
        for op in ("read", "write", "open"):
            ops = seed % 7 + job + 1
            record = {"job": job, "volume": seq % 2, "op": op, "bytes": 0 if op == "open" else 4096 * ops + seed,
                      "errors": seed % 2, "latency_sum_ns": 1000 * ops + seed, "latency_ns": spread(ops, seed + job),
                      "in_flight": seq % 3, "oldest_ns": seq % 3 * 1000, "in_flight_ns": seq % 3 * 2000}
            if op != "open":
                record.update({"size": spread(ops, seed), "sequential": ops})
            records.append(record)
    value = batch(seq, node=node, start_ns=int(at_s) * 10**9 + 123, records=records, **more)
    value["jobs"] = [{**value["jobs"][0], "job": job, "start_ns": int(at_s) // DAY_S * DAY_S * 10**9} for job in jobs]
    value["volumes"] = [{**value["volumes"][0], "volume": f"/data{i}", "source": f"srv:/{i}"} for i in (0, 1)]
    value["coverage"].update({"lost_ops": seq % 5, "unattributed_ops": seq % 4})
    if seq % 3:  # the ranks of one job, now and then
        value["jobs"][0].update({"watched_ns": 10**10 + seq, "exposed_ns": 10**9 * (seq % 7)})
    return value


class Rollups(Database):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.directory = os.path.join(collecting.ROOT, cls.__name__)
        cls.conninfo = f"host={cls.directory} port=5432 dbname=unblend user=unblend"
        cls.collector = Collector("--embedded", cls.directory, *cls.options).wait_ready()

    def setUp(self):
        pass  # a class is one story

    def send(self, token, values):
        status, answer = self.collector.post(lines(*values), token)
        self.assertEqual(status, 200, (answer, self.collector.log()))

    def wait_rolled(self, seconds=120):
        """Until the queues are empty, but for what is not over yet."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            waiting = self.sql("select (select count(*) from unblend.pending_1m) + (select count(*) from "
                               "unblend.pending_1h where time < date_trunc('hour', now() - interval '30 s'))")
            if waiting == "0":
                return
            time.sleep(0.3)
        raise AssertionError(f"{waiting} batches wait:\n" + self.collector.log())

    def tier(self, suffix, unit, until):
        """All sums and histograms by node, job, volume, operation and unit of time."""
        keys = f"node, job, volume, op, date_trunc('{unit}', time)"
        return self.sql(f"select {keys}, {SUMS}, {HISTOGRAMS.format('size')}, {HISTOGRAMS.format('latency')} "
                        f"from unblend.samples{suffix} where time < {until} group by {keys} order by {keys}")

    def intervals(self, suffix, unit, until):
        keys = f"node, date_trunc('{unit}', time)"
        return self.sql(f"select {keys}, sum(lost_ops), sum(unattributed_ops), sum(duration_ns), min(start_ns), "
                        f"(select array_agg(distinct j.job order by j.job) from unblend.jobs as j "
                        f"where j.job_id = any(select unnest(job_ids) from unblend.intervals{suffix} as i "
                        f"where i.node = o.node)) from unblend.intervals{suffix} as o where time < {until} "
                        f"group by {keys} order by {keys}")

    def stalls(self, suffix, unit, until):
        """Where nobody watched, nobody says so."""
        return self.sql(f"select node, job, date_trunc('{unit}', time), sum(watched), sum(exposed) "
                        f"from unblend.intervals{suffix} as i "
                        f"cross join lateral unnest(i.job_ids, i.job_watched_ns, i.job_exposed_ns) as u (job_id, watched, exposed) "
                        f"join unblend.jobs as j using (cluster, node, job_id) where time < {until} group by 1, 2, 3 order by 1, 2, 3")

    def cover(self, until):
        """What was watched of the cluster, by the hour, is what its nodes' hours are."""
        self.assertEqual(
            self.sql(f"select time, array_to_string(node_ids, ' '), watched_ns, records, lost, killed, unattributed, overflow, "
                     f"shed_ms[1] from unblend.cover_1h where time < {until} order by time"),
            self.sql(f"select time, string_agg(distinct node_id::text, ' ' order by node_id::text), sum(duration_ns), "
                     f"sum(records), sum(lost), sum(killed), sum(unattributed), sum(overflow), sum(shed_ms[1]) "
                     f"from unblend.batch_1h where time < {until} group by time order by time"))

    def totals(self, suffix, unit, subject, column, until):
        name = f"{column}, " if column else "'', "
        raw = self.sql(f"select {name} op, date_trunc('{unit}', time), sum(ops), sum(bytes), sum(errors), "
                       f"sum(latency_sum_ns), {HISTOGRAMS.format('size')}, {HISTOGRAMS.format('latency')} "
                       f"from unblend.samples where time < {until} group by 1, 2, 3 order by 1, 2, 3")
        merged = ", ".join(
            f"{m} as (select name, op, at, array_agg(row(bucket, count)::text order by bucket) as cells from "
            f"(select name, op, date_trunc('{unit}', time) as at, bucket, sum(count) as count from "
            f"unblend.totals_{suffix}, unnest({m}_buckets, {m}_counts) as u(bucket, count) where subject = '{subject}' "
            f"group by 1, 2, 3, 4) as c group by 1, 2, 3)" for m in ("size", "latency"))
        rolled = self.sql(f"with {merged}, t as (select name, op, date_trunc('{unit}', time) as at, sum(ops), "
                          f"sum(bytes), sum(errors), sum(latency_sum_ns) from unblend.totals_{suffix} "
                          f"where subject = '{subject}' and time < {until} group by 1, 2, 3) "
                          f"select t.*, size.cells, latency.cells from t left join size using (name, op, at) "
                          f"left join latency using (name, op, at) order by 1, 2, 3")
        self.assertEqual(rolled, raw)
        self.assertTrue(raw)

    def check(self):
        hour = "date_trunc('hour', now() - interval '30 s')"
        for suffix, unit, until in (("1m", "minute", "now()"), ("1h", "hour", hour)):
            raw = self.tier("", unit, until)
            self.assertEqual(self.tier("_" + suffix, unit, until), raw)
            self.assertEqual(self.intervals("_" + suffix, unit, until), self.intervals("", unit, until))
            stalls = self.stalls("", unit, until)
            self.assertEqual(self.stalls("_" + suffix, unit, until), stalls)
            for subject, column in (("cluster", ""), ("node", "node"), ("job", "job"), ("volume", "volume")):
                self.totals(suffix, unit, subject, column, until)
            demand = "demand_by_minute" if suffix == "1m" else "demand_by_hour"
            self.assertEqual(
                self.sql(f"select sum(read_ops), sum(read_bytes), sum(write_bytes), sum(metadata_ops), sum(errors) "
                         f"from unblend.{demand} where subject = 'job' and time < {until}"),
                self.sql(f"select sum(ops) filter (where op = 'read'), sum(bytes) filter (where op = 'read'), "
                         f"sum(bytes) filter (where op = 'write'), sum(ops) filter (where class = 'metadata'), "
                         f"sum(errors) from unblend.samples where time < {until}"))
        self.cover(hour)


class TestSums(Rollups):
    def test_1_equal_whatever_is_late(self):
        start = int(time.time()) // HOUR_S * HOUR_S - 3 * HOUR_S
        nodes = {node: self.enroll(node) for node in ("n1", "n2", "n3")}
        values = {node: [made(node, seq, start + 60 + 10 * seq) for seq in range(400)] for node in nodes}
        for node, token in nodes.items():
            self.send(token, values[node][:150])
        self.wait_rolled()
        self.check()
        before = self.sql("select count(*) from unblend.samples_1m")
        for node, token in nodes.items():  # the same again: nothing
            self.send(token, values[node][100:150])
        shuffled = values["n1"][150:] + values["n2"][150:]
        random.Random(5).shuffle(shuffled)
        for at in range(0, len(shuffled), 97):
            for node in ("n1", "n2"):
                self.send(nodes[node], [v for v in shuffled[at:at + 97] if v["node"] == node])
        self.wait_rolled()
        self.check()
        self.assertGreater(int(self.sql("select count(*) from unblend.samples_1m")), int(before))
        self.assertEqual(self.sql("select count(*) from unblend.pending_1m"), "0")
        type(self).start = start

    def test_2_gauges_are_of_the_end(self):
        token = self.enroll("gauge")
        at = self.start + 60
        values = [made("gauge", seq, at + 10 * seq, jobs=("slurm:1",)) for seq in range(6)]
        self.send(token, values)  # seq 5 is the last: 2 in flight
        self.wait_rolled()
        self.assertEqual(self.sql("select distinct in_flight, oldest_ns, in_flight_ns from unblend.samples_1m "
                                  "where node = 'gauge' and volume = '/data1'"), "2|2000|4000")
        self.assertEqual(self.sql("select distinct in_flight from unblend.samples_1m "
                                  "where node = 'gauge' and volume = '/data0'"), "0")

    def test_3_functions(self):
        since, until = f"to_timestamp({self.start})", f"to_timestamp({self.start + 2 * HOUR_S})"
        for subject, name, where in (("cluster", "%", "true"), ("job", "slurm:1", "job = 'slurm:1'")):
            for op in ("read", "open"):
                expected = self.sql(
                    f"select date_trunc('minute', time), c.bucket, sum(c.count) from unblend.samples, "
                    f"unblend.histogram_cells(latency) as c where op = '{op}' and {where} and time >= {since} "
                    f"and time < {until} group by 1, 2 order by 1, 2")
                got = self.sql(f"select time, bucket, sum(count) from unblend.cells('{subject}', 'c1', "
                               f"'{name}', '{op}', 'latency', {since}, {until}) group by 1, 2 order by 1, 2")
                self.assertEqual(got, expected)
        heat = self.sql(f"select sum(count), count(distinct time), bool_and(lower < upper) from "
                        f"unblend.heatmap('cluster', '%', '%', 'read', 'size', {since}, {until}, '10 minutes')")
        self.assertEqual(heat, self.sql(
            f"select sum(c.count), count(distinct floor(extract(epoch from time) / 600)), true from unblend.samples, "
            f"unblend.histogram_cells(size) as c where op = 'read' and time >= {since} and time < {until}"))
        until = f"to_timestamp({min(self.start + 2 * HOUR_S, (self.start // DAY_S + 1) * DAY_S)})"  # of one day
        self.assertEqual(
            self.sql(f"select quantile, value from unblend.quantiles('cluster', '%', '%', 'write', 'latency', {since}, "
                     f"{until}, '1 day', array[0.5, 0.99]) order by 1"),
            self.sql(f"select q, unblend.histogram_quantile(array_agg(latency), q) from unblend.samples, "
                     f"unnest(array[0.5, 0.99]) as q where op = 'write' and time >= {since} and time < {until} "
                     f"group by q order by q"))
        self.assertEqual(self.sql("select unblend.histogram_quantile(array[8, 72, 8]::smallint[], "
                                  "array[1, 5, 3]::bigint[], 0.5)"), "2048")

    def test_3_panels(self):
        """One row in a step and part, a few, and many: all are what the raw rows are."""
        shares, ops = "array[0, 0.5, 0.99, 1]", "array['read', 'write', 'open']"
        since, until = f"to_timestamp({self.start})", f"to_timestamp({self.start + 2 * HOUR_S})"
        steps = ((60, "'1 minute'"), (300, "'5 minutes'"), (3600, "'1 hour'"), (None, "null"))
        kinds = set()
        for metric, (step_s, step) in itertools.product(("latency", "size"), steps):
            at = f"floor(extract(epoch from time) / {step_s})::bigint * {step_s}" if step_s else f"{self.start}"
            raw = f"(select * from unblend.samples where op = any({ops}) and time >= {since} and time < {until}) as s"
            asked = f"'cluster', array['c1'], null, {ops}, '{metric}', {since}, {until}, {step}"
            for by, part in (("op", 'op::text collate "C"'), ("", "''")):
                self.assertEqual(
                    self.sql("select extract(epoch from time)::bigint, part, quantile, value "
                             f"from unblend.quantiles({asked}, {shares}, '{by}')"),
                    self.sql(f"select * from (select {at}, {part}, q, "
                             f"unblend.histogram_quantile(array_agg({metric}), q) as value "
                             f"from {raw}, unnest({shares}) as q group by 1, 2, 3) as s "
                             "where value is not null order by 1, 2, 3"))
                self.assertEqual(
                    self.sql("select extract(epoch from time)::bigint, part, bucket, count "
                             f"from unblend.cells({asked}, '{by}')"),
                    self.sql(f"select {at}, {part}, c.bucket, sum(c.count)::float8 from {raw}, "
                             f"unblend.histogram_cells({metric}) as c group by 1, 2, 3 order by 1, 2, 3"))
                kinds |= set(self.sql(f"select distinct least(rows, 9) from unblend.histogram_rows({asked}, '{by}')")
                             .split("\n"))
        self.assertLessEqual({"1", "2", "9"}, kinds)

    def test_3_whole_hours(self):
        """Sums over a span are of hours, of minutes at its edges, and of minutes where hours are not made yet."""
        since, until = self.start + 600, self.start + 2 * HOUR_S + 1200
        hour = f"to_timestamp({self.start + HOUR_S})"  # the one that is whole
        raw = self.sql("select node, sum(bytes) filter (where op = 'read'), "
                       "sum(ops) filter (where class = 'metadata'), "
                       f"sum(errors) from unblend.samples where class <> 'block' and time >= to_timestamp({since}) "
                       f"and time < to_timestamp({until}) group by 1 order by 1")
        asked = (f"select name, read_bytes, metadata_ops, errors from unblend.demand('node', array['c1'], null, "
                 f"to_timestamp({since}), to_timestamp({until}), null)")
        gone = f"delete from unblend.demand_1h where time = {hour}"
        waits = ("insert into unblend.pending_1h (node_id, batch_id, time) "
                 f"values (1, 1, {hour} + interval '5 minutes')")
        self.assertIn("n1|", raw)
        self.assertGreater(self.sql(f"select count(*) from unblend.demand_1h where time = {hour}"), "0")
        self.assertEqual(self.sql("begin", asked, "rollback"), raw)
        self.assertNotEqual(self.sql("begin", gone, asked, "rollback"), raw)
        self.assertEqual(self.sql("begin", gone, waits, asked, "rollback"), raw)

    def test_4_nothing_twice_when_killed(self):
        """Collectors that die in the middle of rounds, two of them on one database."""
        nodes = {node: self.enroll(node) for node in ("k1", "k2")}
        second = Collector("--db", self.conninfo)
        failed = []

        def feed(node, token):
            for at in range(0, 600, 30):
                values = [made(node, seq, self.start + 6 * seq) for seq in range(at, at + 30)]
                try:
                    collecting.post_until_taken(lambda: self.collector, lines(*values), token)
                except AssertionError as error:
                    failed.append(error)

        threads = [threading.Thread(target=feed, args=pair) for pair in nodes.items()]
        for thread in threads:
            thread.start()
        chosen = random.Random(7)
        for _ in range(4):
            time.sleep(chosen.uniform(0.2, 0.8))
            second.kill()
            second = Collector("--db", self.conninfo)
        for thread in threads:
            thread.join()
        second.stop()
        self.assertEqual(failed, [])
        self.wait_rolled()
        self.check()
        self.assertEqual(self.sql("select sum(ops) from unblend.samples_1m where node like 'k_'"),
                         str(sum(r["latency_ns"]
                                 and sum(int((p.split(":") + ["1"])[1]) for p in r["latency_ns"].split())
                                 for node in nodes for seq in range(600)
                                 for r in made(node, seq, self.start + 6 * seq)["records"])))


class TestLate(Rollups):
    def test_what_comes_late_sets_no_clock_back(self):
        """An hour has two sums then, one within the other: a report of them says the same as one of the raw rows."""
        start = int(time.time()) // HOUR_S * HOUR_S - 3 * HOUR_S
        token = self.enroll("n1")
        values = [made("n1", seq, start + 60 + 10 * seq) for seq in range(60)]
        for some in values[:12] + values[24:], values[12:24]:
            self.send(token, some)
            self.wait_rolled()
        for dropped in None, "raw", "1m":
            if dropped:
                self.sql(f"update unblend.tier set since = date_trunc('hour', now()) where tier = '{dropped}'")
            done = subprocess.run([os.path.join(BINDIR, "unblend"), "report", "-f", "json", "--db", self.conninfo],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            coverage = json.loads(done.stdout)["coverage"]
            self.assertEqual([hook["why"] for hook in coverage["hooks"] if hook["hook"] == "clock"], [], dropped)
            self.assertEqual(coverage["twice_ms"], 0)


class TestNames(Rollups):
    def test_a_name_that_no_index_takes(self):
        """Of a database that let one in once everything is summed up all the same; now it is refused."""
        at = (int(time.time()) - 600) // 60 * 60
        token = self.enroll("n1")
        values = [made("n1", seq, at + 10 * seq) for seq in range(1, 5)]
        job = {**values[0]["jobs"][0], "job": "j" * 2001}
        status, answer = self.collector.post({**values[0], "jobs": [job, values[0]["jobs"][1]]}, token)
        self.assertEqual((status, answer.get("field")), (400, "jobs[0].job"))
        self.send(token, values[:2])
        long = "(select string_agg(md5(g::text), '') from generate_series(1, 100) as g)"
        self.sql(f"update unblend.job set job = {long} where job = 'slurm:1'",
                 f"update unblend.volume set volume = {long} where volume = '/data1'")
        self.send(token, values[2:])  # of the same rows
        done = command("prune", "--db", self.conninfo)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.wait_rolled()
        for subject in ("cluster", "node", "job", "volume"):
            self.assertEqual(self.sql(f"select sum(ops), sum(bytes) from unblend.totals_1m where subject = '{subject}'"),
                             self.sql("select sum(ops), sum(bytes) from unblend.samples"))
        self.assertEqual(self.sql("select max(octet_length(name)) from unblend.subject"), str(400 + 3 + 32))


class TestEdges(Rollups):
    """Rates of a load that is always the same, whatever the span that is asked for."""

    def test_rates_at_edges(self):
        token = self.enroll("n1")
        now = int(time.time())
        hour = now // HOUR_S * HOUR_S
        first = hour - 44 * HOUR_S
        job = {**batch()["jobs"][0], "watched_ns": 60 * 10**9, "exposed_ns": 6 * 10**9}
        self.send(token, [batch(seq, start_ns=(first + 60 * seq) * 10**9, duration_ns=60 * 10**9, interval_ms=60000,
                                jobs=[job], records=[{"job": 0, "volume": 0, "op": "read", "bytes": 60000, "errors": 0,
                                                      "latency_sum_ns": 60, "size": "80:60", "latency_ns": "60:60"}])
                          for seq in range((now - first) // 60)])
        self.wait_rolled()
        rates = (("demand('cluster', array['c1'], null, {})", "read_bytes / 1000"),
                 ("operations('job', array['c1'], array['slurm:42'], null, {})", "bytes / 1000"),
                 ("series(array['c1'], array['n1'], null, {}, 'node')", "read_bytes / 1000"),
                 ("coverage(array['c1'], null, {})", "watched_ns / 1e9"),
                 ("coverage(array['c1'], array['n1'], {})", "watched_ns / 1e9"),
                 ("stalls(array['c1'], array['slurm:42'], {}, '')", "watched_ns / 1e9"))
        ends = [hour - 2 * HOUR_S, hour - 2 * HOUR_S + 601, hour - 2 * HOUR_S + 2000, now]
        for (function, amount), since_s, until_s, step in itertools.product(
                rates, (hour - 42 * HOUR_S + 1000, now - 5 * HOUR_S), ends, ("'1 hour'", "'3 hours'", "'1 minute'", "null")):
            span = f"to_timestamp({since_s}), to_timestamp({until_s}), {step}"
            found = self.sql(f"select count(*) > 0, min({amount} / seconds), max({amount} / seconds) "
                             f"from unblend.{function.format(span)}").split("|")
            self.assertEqual((found[0], *map(float, found[1:])), ("t", 1, 1), (function, span))


def counts(report):
    """What must not depend on the tier that a report was read from."""
    def of(ops):
        return {op: {key: value for key, value in figures.items()
                     if key in ("ops", "bytes", "errors", "size", "latency_ns")}
                for op, figures in ops.items()}
    return {"jobs": {job["job"]: {"ops": of(job["ops"]), "ratios": job["ratios"], "nodes": job["nodes"],
                                  "volumes": {v["volume"]: of(v["ops"]) for v in job["volumes"]}}
                     for job in report["jobs"]},
            "ops": of(report["cluster"]["ops"]), "coverage": {key: report["coverage"][key] for key in
                                                              ("lost_ops", "unattributed_ops", "overflow_ops")}}


class TestRetention(Rollups):
    options = ("--keep-raw", "90d")

    def report(self, since="20d", until=None):
        done = subprocess.run([os.path.join(BINDIR, "unblend"), "report", "--format", "json", "--db", self.conninfo,
                               "--since", since, *(("--until", until) if until else ())],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def restart(self, *options):
        self.collector.stop()
        type(self).collector = Collector("--embedded", self.directory, *options).wait_ready()

    def wait_for(self, query, wanted, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            got = self.sql(query)
            if got == wanted:
                return
            time.sleep(0.2)
        raise AssertionError(f"{query}: {got}, not {wanted}\n{self.collector.log()}")

    def since(self, tier):
        return float(self.sql(f"select coalesce(extract(epoch from since), 0) from unblend.tiers "
                              f"where tier = '{tier}'"))

    def test_1_reports_stay_equal(self):
        """Raw rows go, then minutes: the report is made of what is there, and its counts are the same."""
        token = self.enroll("n1")
        now = int(time.time())
        values = []
        for at, days in enumerate((9, 5, 3, 0)):
            first = (now - days * DAY_S) // DAY_S * DAY_S + HOUR_S if days else now - 4000
            # attempts of one job in one hour: they share a name
            values += [made("n1", 200 * at + seq, first + 10 * seq) for seq in range(200)]
        self.send(token, values)
        self.restart("--keep-raw", "90d")  # gives the days that wait in the default partition one of their own
        self.wait_for("select count(*) from unblend.sample_default", "0")
        self.wait_rolled()
        whole = self.report()
        self.assertTrue(any(job["burst"]["peak_to_mean"] for job in whole["jobs"]))
        pinned = [f"to_timestamp({(now - 5 * DAY_S) // DAY_S * DAY_S + t})" for t in (HOUR_S, HOUR_S + 600)]
        moments = [self.sql(f"select to_char({p}, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')") for p in pinned]
        done = command("keep", "--db", self.conninfo, "--since", moments[0], "--until", moments[1])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f"raw rows from {moments[0]} to {moments[1]} are kept\n")
        incident = self.report(*moments)

        self.restart("--keep-raw", "48h")
        self.wait_for("select count(*) > 0 from unblend.tiers where tier = 'raw' and since is not null", "t")
        self.wait_for(f"select count(distinct time::date) from unblend.samples where time < now() "
                      f"- interval '2 days 6 hours'", "1")  # the pinned day
        self.assertIn("dropped the raw rows from", self.collector.log())
        self.assertEqual(counts(self.report()), counts(whole))
        self.assertEqual(self.report(*moments), incident)

        done = command("prune", "--db", self.conninfo, "--keep-minutes", "4d")
        self.assertRegex(done.stdout, r"^\d+ batches summed up, [1-9]\d* pieces dropped, 0 wait, \d+ MiB in use\n$")
        self.assertEqual(self.sql("select count(distinct time::date) from unblend.samples_1m "
                                  "where time < now() - interval '2 days'"), "1")
        self.assertEqual(counts(self.report()), counts(whole))
        self.assertLess(self.since("1m"), self.since("raw"))
        self.assertEqual(self.since("1h"), 0)
        type(self).whole, type(self).now, type(self).moments = whole, now, moments

    def test_2_late_for_what_was_dropped(self):
        """It counts all the same."""
        token = self.enroll("late")
        values = [made("late", seq, (self.now - 9 * DAY_S) // DAY_S * DAY_S + HOUR_S + 10 * seq) for seq in range(50)]
        self.send(token, values)
        self.wait_rolled()
        before, after = counts(self.whole)["ops"], counts(self.report())["ops"]
        for op in ("read", "write", "open"):
            self.assertEqual(after[op]["bytes"] - before[op]["bytes"],
                             sum(r["bytes"] for v in values for r in v["records"] if r["op"] == op))

    def test_2_since_within_a_sum(self):
        """An hour's row begins where its first interval did: asked from just before that on, all of it is there."""
        token = self.enroll("evening")
        for days, within, before in ((9, 1830, 60), (3, 30, 10)):  # hours, then minutes
            at = (self.now - days * DAY_S) // DAY_S * DAY_S + 3 * HOUR_S + within
            values = [made("evening", 100 * days + seq, at + 10 * seq, jobs=("slurm:evening",)) for seq in (1, 2)]
            self.send(token, values)
            self.wait_rolled()
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at + 10 - before))
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at + HOUR_S))
            self.assertEqual(counts(self.report(since, until))["ops"]["read"]["bytes"],
                             sum(r["bytes"] for v in values for r in v["records"] if r["op"] == "read"))
            late = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at + 11))
            self.assertEqual(self.report(late, until)["jobs"], [])

    def test_3_size(self):
        """Near its limit the database loses the oldest raw rows, each with a word, and never what was pinned."""
        self.restart("--keep-raw", "90d", "--max-db-size", "1M")
        self.collector.wait_line("dropped the raw rows from .*: the database had .* of --max-db-size 1 MiB")
        self.collector.wait_line("nothing may be dropped but what is new")
        self.assertEqual(self.sql("select count(distinct time::date) from unblend.samples "
                                  "where time < now() - interval '4 days' and node = 'n1'"), "1")
        self.assertNotEqual(self.sql("select count(*) from unblend.samples_1h"), "0")
        before, after = counts(self.whole)["ops"], counts(self.report())["ops"]
        self.assertGreaterEqual(after["read"]["ops"], before["read"]["ops"])
        done = command("keep", "--db", self.conninfo, "--since", "30d", "--until", "1h", "--release")
        self.assertEqual((done.returncode, done.stdout), (0, "1 pins released\n"))
        self.assertEqual(command("prune", "--db", self.conninfo).returncode, 0)
        self.assertEqual(self.sql("select count(*) from unblend.samples where time < now() - interval '4 days' "
                                  "and node = 'n1'"), "0")

    def test_4_asked_too_late(self):
        """Of what has no raw rows any more the sums are reported, whatever was to be kept."""
        before = counts(self.report(*self.moments))
        self.assertTrue(before["jobs"])
        done = command("keep", "--db", self.conninfo, "--since", self.moments[0], "--until", self.moments[1])
        self.assertEqual((done.returncode, done.stdout), (0, "no raw rows are kept\n"))
        self.assertIn("were dropped before", done.stderr)
        self.assertEqual(counts(self.report(*self.moments)), before)

    def test_4_left_in_part(self):
        """What is left is kept, and said; what is kept already can be kept twice."""
        left, soon, later = self.sql(
            "select to_char(at, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from unblend.tiers, unnest(array[since, now() + "
            "interval '1 hour', now() + interval '2 hours']) with ordinality as t (at, n) where tier = 'raw' "
            "order by n").split()
        done = command("keep", "--db", self.conninfo, "--since", self.moments[0], "--until", later)
        self.assertRegex(done.stdout, f"^raw rows from {left} to [^ ]* are kept\n$")
        self.assertIn("some raw rows of that time were dropped before", done.stderr)
        self.sql("update unblend.tier set since = now() where tier = 'raw'")  # as when what is newer is dropped
        done = command("keep", "--db", self.conninfo, "--since", left, "--until", soon)
        self.assertRegex(done.stdout, f"^raw rows from {left} to [^ ]* are kept\n$")
        self.assertEqual(done.stderr, "")
        self.sql(f"update unblend.tier set since = '{left}' where tier = 'raw'")
        done = command("keep", "--db", self.conninfo, "--since", self.moments[0], "--until", later, "--release")
        self.assertEqual((done.returncode, done.stdout), (0, "2 pins released\n"))

    def test_4_wrong_usage(self):
        for options in (("--since", "1h"), ("--since", "1h", "--until", "2h"), ("--since", "soon", "--until", "1h")):
            done = command("keep", "--db", self.conninfo, *options)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"^unblend-collector: wrong span: [^\n]*\n$")

    def test_5_reader(self):
        """Who may read views only reads sums, too."""
        self.assertEqual(command("init-db", "--embedded", self.directory, "--reader", "eye").returncode, 0)
        got = self.sql("set role eye; select count(*) > 0 from unblend.heatmap('cluster', '%', '%', 'read', 'latency', "
                       "now() - interval '20 days', now(), '1 day')")
        self.assertEqual(got, "t")
