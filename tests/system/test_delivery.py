# SPDX-License-Identifier: GPL-2.0-or-later
"""From the spool to the ledger: what an agent does with each answer, what it drops and how that is told, and what
many agents at once are to a collector. The agent is `feeder`: the spool and the push that ship, with known input."""
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import harness
import collecting
# unittest runs setUpModule() and tearDownModule()
from collecting import batch, lines, setUpModule, tearDownModule, unittest  # noqa: F401

FEEDER = os.path.join(harness.bindir(), "tests/system/feeder")
OLD_SPOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spool-1")


def until(condition, what, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.03)
    raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")


class FakeCollector(http.server.ThreadingHTTPServer):
    """Answers as the test wants: respond(batches) returns (status, headers). Keeps what came."""

    daemon_threads = True

    def __init__(self, respond):
        self.respond, self.bodies, self.times, self.connections = respond, [], [], 0
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def batches(self):
        return [value for body in list(self.bodies) for value in body]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        plain = subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout
        batches = [json.loads(line) for line in plain.splitlines() if line]
        status, headers = self.server.respond(batches)
        self.server.times.append(time.monotonic())
        self.server.bodies.append(batches)
        self.answer(status, headers)

    def answer(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "2")
        self.end_headers()
        try:
            self.wfile.write(b"{}")
        except OSError:  # killed meanwhile
            self.close_connection = True

    def log_message(self, *_):
        pass


class Feeder:
    def __init__(self, directory, port, token="x", node="n1", first=1, pause_ms=20, spool_max=1 << 30, state=None,
                 patient=False):
        self.state = state or os.path.join(directory, "state")
        self.account = os.path.join(directory, "account")
        self.log = os.path.join(directory, "log")
        path = os.path.join(directory, "token")
        with open(path, "w", encoding="utf-8") as file:
            file.write(token)
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [FEEDER, self.state, f"http://127.0.0.1:{port}", path, node, self.account, str(first), str(pause_ms),
                 str(spool_max), "0"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **({"PATIENT": "1"} if patient else {})})

    def said(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def done(self):
        """[(number, stream, seq)] of what was promised."""
        if not os.path.exists(self.account):
            return []
        with open(self.account, encoding="utf-8") as file:
            words = [line.split() for line in file]
        return [(int(w[1]), w[2], int(w[3])) for w in words if w[0] == "done" and len(w) == 4]

    def files(self, folder="spool"):
        path = os.path.join(self.state, folder)
        return sorted(n for n in os.listdir(path) if n.isdigit()) if os.path.isdir(path) else []

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


class TestAnswers(unittest.TestCase):
    """What an agent does with an answer."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(shutil.rmtree, self.directory)

    def start(self, respond, **options):
        collector = FakeCollector(respond)
        self.addCleanup(collector.server_close)
        self.addCleanup(collector.shutdown)
        feeder = Feeder(self.directory, collector.server_address[1], **options)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        return collector, feeder

    @staticmethod
    def number(value):
        return value["duration_ns"] - 10_000_000_000

    def test_a_refused_batch_is_set_aside_and_blocks_nobody(self):
        def respond(batches):
            return (400 if any(self.number(value) == 5 for value in batches) else 200), {}
        collector, feeder = self.start(respond)
        until(lambda: len(feeder.done()) > 30, "batches are made")
        until(lambda: any(self.number(value) == 20 for value in collector.batches()), "those behind it go out")
        until(lambda: len(feeder.files("refused")) == 1, feeder.said)
        self.assertRegex(feeder.said(), r"batch 5 was refused and is kept in refused/: .*HTTP 400")
        # and the collector is told that it will never come
        told = until(lambda: [d for value in collector.batches() for d in value["coverage"].get("dropped", [])], "told")
        self.assertEqual((5, 5, "refused", 1 + 5 % 17 + 1 + 5 % 18), (told[0]["first_seq"], told[0]["last_seq"],
                                                                   told[0]["why"], told[0]["ops"]))
        until(lambda: "dropped" not in collector.batches()[-1]["coverage"],
              "it is told until it has arrived, no longer")

    def test_who_is_no_collector(self):
        _, feeder = self.start(lambda batches: (404, {}))
        until(lambda: "HTTP 404: no collector answers there: check --collector" in feeder.said(), feeder.said)

    def test_many_go_in_one_body_and_singly_when_that_is_refused(self):
        away = [True]

        def respond(batches):
            if away[0]:
                return 503, {}
            return (400 if any(self.number(value) == 7 for value in batches) else 200), {}
        collector, feeder = self.start(respond)
        until(lambda: len(feeder.files()) > 40, "batches wait")
        away[0] = False
        until(lambda: len(feeder.files()) < 5, "they go out")
        sizes = [len(body) for body in collector.bodies]
        self.assertGreater(max(sizes), 20)
        self.assertEqual(["%020d" % 7], feeder.files("refused"))
        # the connection was kept
        self.assertLess(collector.connections, len(collector.bodies) / 4)

    def test_a_conflict_takes_a_new_stream(self):
        seen = []

        def respond(batches):
            for value in batches:
                if self.number(value) == 5:
                    seen.append((value["stream"], value["seq"]))
                    if len(set(seen)) == 1:
                        return 409, {}
            return 200, {}
        collector, feeder = self.start(respond)
        until(lambda: len(set(seen)) == 2, "it comes again under another name")
        streams = until(lambda: {v["stream"] for v in collector.batches() if self.number(v) > 20}, "later ones")
        self.assertEqual(1, len(streams - {stream for stream, _ in seen}))
        until(lambda: len(feeder.files()) < 3, "all has gone out")

    def test_what_cannot_be_stored_now_waits_for_those_behind_it(self):
        def respond(batches):
            return (500 if any(self.number(value) == 3 for value in batches) else 200), {}
        collector, feeder = self.start(respond)
        until(lambda: any(self.number(value) > 30 and len(body) == 1 for body in collector.bodies for value in body) or
              len(collector.batches()) > 60, "those behind it go out")
        until(lambda: feeder.files()[:1] == ["%020d" % 3], "it waits")
        self.assertEqual([], feeder.files("refused"))

    def test_retry_after_is_kept_and_spread(self):
        """At least what was asked passes, and never the same: or a fleet would come back as one."""
        collector, feeder = self.start(lambda _: (503, {"Retry-After": "1"}), patient=True)
        until(lambda: len(collector.times) > 3, feeder.said)
        gaps = [after - before for before, after in zip(collector.times, collector.times[1:])]
        self.assertGreater(min(gaps), 0.99)
        self.assertGreater(max(gaps) - min(gaps), 0.01)
        self.assertEqual(1, feeder.said().count("HTTP 503"))  # said once


class TestSpool(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(shutil.rmtree, self.directory)

    def test_one_agent_a_directory(self):
        one = Feeder(self.directory, 1)
        self.addCleanup(one.stop, signal.SIGKILL)
        until(one.files, "it spools")
        two = Feeder(tempfile.mkdtemp(dir=self.directory), 1, state=one.state)
        self.assertEqual(1, two.process.wait(30))
        self.assertIn("another agent uses it", two.said())

    def test_the_disk_is_full_at_the_start(self):
        state = os.path.join(self.directory, "full")
        os.mkdir(state)
        harness.must([harness.tool("mount"), "-t", "tmpfs", "-o", "size=64k,nr_inodes=3", "tmpfs", state])
        self.addCleanup(harness.run, [harness.tool("umount"), "-l", state])
        for name in ("a", "b"):
            with open(os.path.join(state, name), "w", encoding="utf-8"):
                pass
        feeder = Feeder(self.directory, 1, state=state)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        until(lambda: "keeping the counts in memory" in feeder.said(), feeder.said)
        self.assertIsNone(feeder.process.poll())
        harness.must([harness.tool("mount"), "-o", "remount,size=1m,nr_inodes=100", state])
        until(lambda: len(feeder.files()) > 3, feeder.said)


class TestLedger(collecting.Database):
    def setUp(self):
        super().setUp()
        self.sql("truncate unblend.dropped")
        self.path = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(shutil.rmtree, self.path)

    def feeder(self, **options):
        feeder = Feeder(self.path, self.collector.port, self.token, **options)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        return feeder

    def drops(self):
        return self.sql("select first_seq, last_seq, ops, why from unblend.drops order by stream, first_seq").split()

    def test_a_spool_of_before(self):
        """The format of the first release: a stream of its own, and its highest number."""
        state = os.path.join(self.path, "state")
        shutil.copytree(OLD_SPOOL, state)
        token = self.enroll("old")
        feeder = Feeder(self.path, self.collector.port, token, node="old", pause_ms=0)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        until(lambda: not feeder.files(), feeder.said)
        self.assertEqual("3|15|61440", self.sums())
        self.assertEqual(["4", "5", "6"], self.sql("select seq from unblend.intervals order by seq").split())
        feeder.stop()
        # and once more, as from a backup
        shutil.rmtree(state)
        shutil.copytree(OLD_SPOOL, state)
        feeder = Feeder(self.path, self.collector.port, token, node="old", pause_ms=20)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        until(lambda: len(feeder.done()) > 5 and len(feeder.files()) < 3, feeder.said)
        self.assertEqual("3|15", self.sql("select count(*), sum(ops) from unblend.samples where job = 'slurm:42'"))

    def test_an_old_spool_with_a_damaged_batch(self):
        state = os.path.join(self.path, "state")
        shutil.copytree(OLD_SPOOL, state)
        with open(os.path.join(state, "spool", "%020d" % 5), "r+b") as file:
            file.seek(200)
            file.write(b"\0\0\0\0")
        with open(os.path.join(state, "spool", "%020d" % 6), "r+b") as file:
            file.truncate(100)
        feeder = Feeder(self.path, self.collector.port, self.enroll("old"), node="old", pause_ms=50)
        self.addCleanup(feeder.stop, signal.SIGKILL)
        until(lambda: len(self.drops()) == 2 and not feeder.files()[1:], feeder.said)
        self.assertEqual(["5|5||damaged", "6|6||damaged"], self.drops())
        self.assertEqual(["%020d" % 5, "%020d" % 6], feeder.files("refused"))
        self.assertEqual(2, feeder.said().count("is damaged and has been set aside"))
        report = json.loads(harness.must([harness.unblend(), "report", "-f", "json", "--db", self.conninfo]))
        self.assertEqual((2, None), (report["coverage"]["dropped_batches"], report["coverage"]["dropped_ops"]))

    def test_a_full_spool_drops_the_oldest_and_says_so(self):
        feeder = Feeder(self.path, 1, self.token, pause_ms=2, spool_max=1 << 20)  # nobody listens there
        self.addCleanup(feeder.stop, signal.SIGKILL)
        until(lambda: len(feeder.done()) > 300, "more than fit")
        feeder.stop(signal.SIGKILL)
        kept = feeder.files()
        self.assertLessEqual(len(kept), 256)
        self.assertIn("--spool-max is reached: dropped the oldest batch, 32 so far", feeder.said())
        made = feeder.done()
        dropped = [n for n, _, seq in made if seq < int(kept[0])]
        again = self.feeder(first=100001, pause_ms=50)
        until(lambda: self.drops() and not again.files()[1:], again.said)
        again.stop()
        rows = [row.split("|") for row in self.drops()]
        self.assertEqual({"quota"}, {row[3] for row in rows})
        self.assertEqual(len(dropped), sum(int(row[1]) - int(row[0]) + 1 for row in rows))
        ops = sum(2 + n % 17 + n % 18 for n in dropped)
        self.assertEqual(ops, sum(int(row[2]) for row in rows))
        self.assertEqual("0", self.sql("select count(*) from unblend.gap where first_seq > 0"))
        report = json.loads(harness.must([harness.unblend(), "report", "-f", "json", "--db", self.conninfo]))
        self.assertEqual((len(dropped), ops, ops), tuple(report["coverage"][key] for key in (
            "dropped_batches", "dropped_ops", "lost_ops")))
        self.assertIn(f"{len(dropped)} batches dropped on the way",
                      harness.must([harness.unblend(), "report", "--db", self.conninfo]))

    def declare(self, seq, *ranges):
        value = batch(seq)
        value["coverage"]["dropped"] = [
            {"stream": collecting.STREAM, "first_seq": first, "last_seq": last, "ops": ops, "start_ns": None,
             "end_ns": None, "why": "quota"} for first, last, ops in ranges]
        return value

    def test_what_is_declared_dropped_and_what_comes_all_the_same(self):
        value = self.declare(9, (2, 6, 20), (8, 8, 8))
        for duplicates in (0, 1):
            self.assertEqual(self.collector.post(value, self.token), (200, {"stored": 1 - duplicates,
                                                                           "duplicates": duplicates}))
        self.assertEqual(["2|6|20|quota", "8|8|8|quota"], self.drops())
        self.assertEqual(["0|1", "7|7"], self.sql("select first_seq, last_seq from unblend.gap order by 1").split())
        self.assertEqual(self.collector.post(self.declare(10, (2, 6, 20), (9, 9, 9)), self.token)[0], 200)
        self.assertEqual(["2|6|20|quota", "8|8|8|quota"], self.drops())  # said again, and one that is there
        for seq in (4, 8, 7, 4):
            self.assertEqual(self.collector.post(batch(seq), self.token)[0], 200)
        self.assertEqual(["2|3|16|quota", "5|6|0|quota"], self.drops())
        self.assertEqual(self.collector.post(batch(5), self.token)[0], 200)
        self.assertEqual(["2|3|11|quota", "6|6|0|quota"], self.drops())  # 2, 3 and 6 together
        self.assertEqual("6|43", self.sql("select count(*), sum(ops) from unblend.samples"))

    def test_less_was_declared_than_comes(self):
        self.assertEqual(self.collector.post(self.declare(5, (3, 4, 2)), self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(3), self.token)[0], 200)
        self.assertEqual(["4|4|0|quota"], self.drops())
        report = json.loads(harness.must([harness.unblend(), "report", "-f", "json", "--db", self.conninfo]))
        self.assertEqual((1, 0), (report["coverage"]["dropped_batches"], report["coverage"]["lost_ops"]))

    def test_a_range_that_is_wrong_is_refused(self):
        for change, field in (({"first_seq": 5, "last_seq": 4}, "last_seq"), ({"stream": "x"}, "stream"),
                              ({"why": 7}, "why"), ({"ops": -1}, "ops"), ({"last_seq": 2**63 - 1}, "last_seq"),
                              ({"last_seq": 3}, "last_seq"), ({"last_seq": 2**62}, "last_seq"),
                              ({"stream": "0" * 32, "last_seq": 2**62}, "last_seq")):
            value = self.declare(3, (1, 2, 0))
            value["coverage"]["dropped"][0].update(change)
            status, answer = self.collector.post(value, self.token)
            self.assertEqual((400, f"coverage.dropped[0].{field}"), (status, answer.get("field")), answer)

    def test_a_clash_is_told_when_its_hash_is_long_gone(self):
        for first in range(0, 1200, 100):
            body = lines(*(batch(seq, records=[]) for seq in range(first, first + 100)))
            self.assertEqual(self.collector.post(body, self.token)[0], 200)
        self.assertEqual(self.collector.post(batch(7, records=[]), self.token)[1]["duplicates"], 1)
        other = batch(7, start_ns=batch(900)["start_ns"] + 5)
        self.assertEqual(self.collector.post(other, self.token)[0], 409)

    def send_while_slow(self, tokens, body_of):
        """Bodies of all nodes wait for a lock at the same time; then they are stored together. The answers."""
        answers = {}

        def send(node):
            answers[node] = self.collector.post(body_of(node), tokens[node])
        locker = subprocess.Popen(["psql", "-XAtq", self.conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        locker.stdin.write("begin; lock table unblend.stream; select 'locked';\n")
        locker.stdin.flush()
        self.assertEqual("locked", locker.stdout.readline().strip())
        threads = [threading.Thread(target=send, args=(node,)) for node in tokens]
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        locker.communicate("commit;\n", timeout=30)
        for thread in threads:
            thread.join(60)
        return answers

    def test_many_agents_share_a_transaction_and_not_a_fault(self):
        """While the database is slow bodies wait; then they are stored together, each with its own answer."""
        tokens = {node: self.enroll(node) for node in [f"g{n}" for n in range(40)]}
        self.assertEqual(self.collector.post(batch(1, node="g7"), tokens["g7"])[0], 200)

        def body(node):
            value = batch(1, node=node)
            if node == "g5":
                value["records"][0]["size"] = "nonsense"
            if node == "g7":
                value["kernel"] = "other"
            if node == "g9":
                value["records"][0]["op"] = "block_write"
                value["jobs"][0]["job"] = "a\u0000b"  # PostgreSQL takes no such text
            return value
        answers = self.send_while_slow(tokens, body)
        self.assertEqual(400, answers.pop("g5")[0])
        self.assertEqual(409, answers.pop("g7")[0])
        self.assertEqual(400, answers.pop("g9")[0])
        self.assertEqual({200}, {status for status, _ in answers.values()}, answers)
        self.assertEqual("38", self.sql("select count(*) from unblend.intervals"))
        self.assertLess(int(self.sql("select count(distinct xmin::text) from unblend.batch")), 25)

    def test_many_lines_share_a_transaction_and_not_a_fault(self):
        """The same of bodies of many lines: what is wrong with one of a body's is wrong with the body alone."""
        tokens = {node: self.enroll(node) for node in [f"h{n}" for n in range(30)]}
        for node in tokens:  # so that their streams are known
            for _ in range(2 if node == "h3" else 1):
                self.assertEqual(self.collector.post(batch(0, node=node), tokens[node])[0], 200)
        self.assertEqual(self.collector.post(batch(1, node="h3"), tokens["h3"])[1]["stored"], 1)
        self.assertEqual(self.collector.post(batch(2, node="h7"), tokens["h7"])[1]["stored"], 1)

        def body(node):
            values = [batch(seq, node=node) for seq in (1, 2, 3, 2, 5)]
            if node == "h5":
                values[1]["records"][0]["size"] = "nonsense"
            if node == "h7":
                values[1]["kernel"] = values[3]["kernel"] = "other"
            return b"\n" + lines(*values)
        answers = self.send_while_slow(tokens, body)
        self.assertEqual((400, 3), (answers["h5"][0], answers.pop("h5")[1]["line"]))
        self.assertEqual((409, 3), (answers["h7"][0], answers.pop("h7")[1]["line"]))
        self.assertEqual((200, {"stored": 3, "duplicates": 2}), answers.pop("h3"))
        self.assertEqual({(200, 4, 1)}, {(status, answer.get("stored"), answer.get("duplicates"))
                                         for status, answer in answers.values()}, answers)
        self.assertEqual("0|5", self.sql("select min(seq), max(seq) from unblend.intervals where node = 'h1'"))
        self.assertEqual(str(27 * 5 + 5 + 1 + 2), self.sql("select count(*) from unblend.intervals"))
        self.assertEqual(str(27 + 1), self.sql("select count(*) from unblend.gap where (first_seq, last_seq) = (4, 4)"))
        self.assertEqual("0", self.sql("select count(*) - count(distinct (stream_id, seq)) from unblend.batch"))
        again = self.send_while_slow({node: tokens[node] for node in ("h1", "h2", "h3", "h7")}, body)
        self.assertEqual((409, 3), (again["h7"][0], again.pop("h7")[1]["line"]))
        self.assertEqual({"stored": 0, "duplicates": 5}, again["h1"][1])

    def test_a_server_that_became_a_standby_is_left(self):
        """A session on it would be read-only for ever."""
        def read_only(value):
            self.sql("set transaction_read_only = off; alter database unblend set default_transaction_read_only = " +
                     value)
            self.sql("select pg_terminate_backend(pid) from pg_stat_activity "
                     "where application_name = 'unblend-collector'")
        self.addCleanup(read_only, "off")
        read_only("on")
        status = until(lambda: self.collector.post(batch(1), self.token)[0], "an answer")
        self.assertEqual(503, status)
        self.sql("set transaction_read_only = off; alter database unblend set default_transaction_read_only = off")
        until(lambda: self.collector.post(batch(1), self.token)[0] == 200, self.collector.log)
        self.assertEqual("1|1|4096", self.sums())

    def test_state_brought_back_from_a_copy(self):
        feeder = self.feeder()
        until(lambda: len(feeder.done()) > 20, "batches are made")
        feeder.stop(signal.SIGKILL)
        copy = os.path.join(self.path, "copy")
        shutil.copytree(feeder.state, copy)
        more = self.feeder(first=1001)
        until(lambda: len(more.done()) > 50 and not more.files()[2:], more.said)
        more.stop(signal.SIGKILL)
        waiting = len(more.files())
        shutil.rmtree(more.state)
        shutil.copytree(copy, more.state)
        last = self.feeder(first=2001)
        until(lambda: len(last.done()) > 70 and not last.files()[2:], last.said)
        last.stop()
        numbers = [int(n) - 10**10 for n in self.sql("select duration_ns from unblend.intervals").split()]
        self.assertEqual(len(numbers), len(set(numbers)))
        missing = {n for n, _, _ in last.done()} - set(numbers)
        self.assertLessEqual(len(missing), waiting + len(last.files()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
