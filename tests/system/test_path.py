#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole path: a job on a watched node, through agent and collector into PostgreSQL, and back as a report.
Truth is fio's own account, and a local recording beside it."""
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
from concurrent import futures

import harness

NODE = os.uname().nodename
MIX = os.path.join(harness.SOURCE, "tests", "workload", "mix.py")
ANSWER_S = 30


def system_user():
    try:
        pwd.getpwnam("unblend")
    except KeyError:
        harness.must(["useradd", "--system", "--no-create-home", "unblend"])


def until(condition, what, seconds=ANSWER_S):
    """Waits for a condition; its absence is a failure that says what was missing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


class Daemon:
    """A daemon with its messages in a file."""

    def __init__(self, directory, program, *arguments, prefix=(), **popen):
        self.log = os.path.join(directory, f"{program}.log")
        self.output = open(self.log, "a", encoding="utf-8")
        self.said_before = os.path.getsize(self.log)
        self.process = subprocess.Popen(
            [*prefix, os.path.join(harness.bindir(), program), *arguments], stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=self.output, cwd="/", **popen)

    def said(self):
        """Its messages, without those of an earlier one in the same directory."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self.said_before)
            return file.read()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout=30)
        self.output.close()
        return status


def free_port():
    """One that nobody listens on now; whoever starts again wants the same one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Collector(Daemon):
    def __init__(self, directory):
        self.directory = directory
        self.embedded = os.path.join(directory, "pg")
        self.listen = f"127.0.0.1:{free_port()}"
        self.start()

    def start(self):
        super().__init__(self.directory, "unblend-collector", "--embedded", self.embedded, "--listen",
                         self.listen)
        until(self.is_ready, f"the collector is ready: {self.said()}", 60)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.listen}/readyz", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def enroll(self, node=NODE):
        return harness.must([os.path.join(harness.bindir(), "unblend-collector"), "enroll", node,
                             "--embedded", self.embedded]).strip()

    def conninfo(self):
        return harness.must([os.path.join(harness.bindir(), "unblend-collector"), "conninfo",
                             "--embedded", self.embedded]).strip()


class Agent(Daemon):
    def __init__(self, directory, collector, token, *more, state=None):
        self.socket = os.path.join(directory, "agent.sock")
        self.state = state or os.path.join(directory, "state")
        self.copy = os.path.join(directory, "copy.rec")
        super().__init__(directory, "unblend-agent", "--collector", f"http://{collector.listen}",
                         "--token-file", token, "--state", self.state, "--socket", self.socket,
                         "--interval", "1s", "--max-cost", "0", "--copy", self.copy, *more)
        until(self.answers, "the agent answers")

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the agent has ended: {self.said()}")
        return "watching" in self.said()

    def waiting(self):
        return len([n for n in os.listdir(os.path.join(self.state, "spool")) if n.isdigit()])

    def record(self, job, command, recording):
        return harness.run([harness.unblend(), "record", "--agent", self.socket, "--job", job, "-o",
                            recording, "--", *command], env=harness.environment())


def from_database(collector, *options):
    done = harness.run([harness.unblend(), "report", "--format", "json", "--db", collector.conninfo(),
                        *options])
    if done.returncode:
        raise AssertionError(f"report --db: exit {done.returncode}: {done.stderr}")
    return harness.Report(json.loads(done.stdout))


def fio(mount, seconds=0, *more):
    """A fio command on files that lie there already, and where it writes its account."""
    account = os.path.join(os.path.dirname(mount), "fio.json")
    command = [harness.tool("fio"), "--name=x", f"--filename={mount}/data", "--ioengine=psync",
               "--rw=randrw", "--rwmixread=47", "--bs=4k", "--size=16m", "--allow_file_create=0",
               "--output-format=json", f"--output={account}", *more]
    if seconds:
        command += ["--time_based", f"--runtime={seconds}", "--rate_iops=2000"]
    return command, account


def fio_counts(account):
    with open(account, encoding="utf-8") as file:
        jobs = json.load(file)["jobs"]
    return {name: (sum(job[name]["total_ios"] for job in jobs), sum(job[name]["io_bytes"] for job in jobs))
            for name in ("read", "write")}


class PathTest(harness.SystemTest):
    """A volume, a collector and a token for each class of tests."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        system_user()
        os.chmod(cls.directory, 0o755)
        cls.volume = harness.Volume(cls.directory, 128)
        cls.addClassCleanup(cls.volume.close)
        with open(os.path.join(cls.volume.mount, "data"), "wb") as file:
            file.write(os.urandom(16 << 20))
        os.sync()
        cls.collector = Collector(cls.directory)
        cls.addClassCleanup(lambda: cls.collector.stop())
        cls.token = os.path.join(cls.directory, "token")
        cls.write_token(cls.collector.enroll())

    @classmethod
    def write_token(cls, token):
        with open(cls.token, "w", encoding="utf-8") as file:
            file.write(token + "\n")

    def start_agent(self, *more, **options):
        directory = tempfile.mkdtemp(prefix="agent-", dir=self.directory)
        os.chmod(directory, 0o755)
        agent = Agent(directory, self.collector, self.token, *more, **options)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        return agent

    def assert_volume_equals_fio(self, report, job, account):
        ops = {}
        for entry in report.data["jobs"]:
            for volume in entry["volumes"]:
                if entry["job"] == job and self.volume.mount in volume["mounts"]:
                    ops = volume["ops"]
        for name, (count, size) in fio_counts(account).items():
            self.assertEqual((count, size, 0), harness.count(ops, name), f"{job}: {name}")


class TestEquality(PathTest):
    def test_database_equals_copy_and_agrees_with_a_local_recording(self):
        agent = self.start_agent()
        command, account = fio(self.volume.mount)
        local = os.path.join(self.directory, "beside.rec")
        through = os.path.join(self.directory, "through.rec")
        # The job within the job: both probes watch the same fio, from before its first instruction.
        done = agent.record("equal", [harness.unblend(), "record", "-o", local, "--job", "equal", "--",
                                      *command], through)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(0, agent.stop())
        everything = from_database(self.collector)
        copy = harness.report(agent.copy)
        self.assertEqual(copy.data, everything.data)
        self.assertIsNotNone(everything.data["cluster"]["burst"]["peak_to_mean"][0])
        self.assert_volume_equals_fio(everything, "equal", account)

        # fio's part alone lies on the volume, so there the two recordings must agree in everything but time.
        mine, theirs = harness.report(local).volume(self.volume.mount), None
        for job in everything.data["jobs"]:
            for volume in job["volumes"]:
                if job["job"] == "equal" and self.volume.mount in volume["mounts"]:
                    theirs = volume["ops"]
        self.assertEqual(sorted(mine), sorted(theirs))
        for name, op in mine.items():
            for key in ("ops", "bytes", "errors", "size"):
                self.assertEqual(op[key], theirs[name][key], f"{name}: {key}")


class TestSurvival(PathTest):
    def test_collector_killed_during_a_run(self):
        agent = self.start_agent()
        command, account = fio(self.volume.mount, 6)
        recorder = subprocess.Popen(
            [harness.unblend(), "record", "--agent", agent.socket, "--job", "killed", "-o",
             os.path.join(self.directory, "killed.rec"), "--", *command],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            time.sleep(1.5)
            self.collector.stop(signal.SIGKILL)
            until(lambda: agent.waiting() > 0, "batches wait while the collector is away")
            self.collector.start()
        self.assertEqual(("", 0), (recorder.communicate(timeout=90)[1], recorder.returncode))
        until(lambda: agent.waiting() == 0, "what came since is sent, too")
        self.assert_volume_equals_fio(from_database(self.collector), "killed", account)


class TestRevival(PathTest):
    def test_agent_killed_keeps_what_was_safe(self):
        directory = tempfile.mkdtemp(prefix="agent-", dir=self.directory)
        agent = Agent(directory, self.collector, self.token)
        self.collector.stop(signal.SIGKILL)
        harness.must(["find", "/usr/share/doc", "-maxdepth", "1"])
        until(lambda: agent.waiting() >= 2, "two batches are safe on disk")
        # In the middle of an interval, when nothing is being written: the copy then has what the spool has.
        waiting = agent.waiting()
        until(lambda: agent.waiting() > waiting, "a batch more")
        time.sleep(0.5)
        agent.stop(signal.SIGKILL)
        self.assertGreaterEqual(agent.waiting(), 2)
        self.collector.start()
        again = Agent(directory, self.collector, self.token)
        until(lambda: again.waiting() == 0, "the batches of before the crash have gone out")
        self.assertEqual(0, again.stop())
        self.assertEqual(harness.report(again.copy).data, from_database(self.collector).data)


class TestTrouble(PathTest):
    def test_wrong_token_then_the_right_one(self):
        with open(self.token, encoding="utf-8") as file:
            right = file.read().strip()
        self.write_token("0" * 64)
        agent = self.start_agent()
        until(lambda: "HTTP 401" in agent.said(), "the agent says that it is not let in")
        until(lambda: agent.waiting() >= 2, "it keeps spooling")
        self.assertIsNone(agent.process.poll())
        self.assertEqual(1, agent.said().count("HTTP 401"), agent.said())
        self.write_token(right)
        until(lambda: agent.waiting() <= 1, "the batches have gone out", 90)
        self.assertEqual(0, agent.stop())
        self.assertEqual(0, agent.waiting())

    def test_no_token_goes_to_a_proxy_in_clear(self):
        """Whatever the environment calls it. There is none: who asks it never reaches the collector."""
        for name in "http_proxy", "all_proxy", "ALL_PROXY":
            with unittest.mock.patch.dict(os.environ, {name: f"socks5://127.0.0.1:{free_port()}"}):
                agent = self.start_agent()
            done = agent.record(name, ["true"], os.path.join(self.directory, f"{name}.rec"))
            self.assertEqual((0, ""), (done.returncode, done.stderr), name)
            self.assertEqual(0, agent.stop())
            self.assertNotIn("spooling until", agent.said(), name)

    def test_full_disk(self):
        state = self.mount_tmpfs(tempfile.mkdtemp(prefix="tiny-", dir=self.directory), "size=256k")
        agent = self.start_agent(state=state)
        ballast = os.open(os.path.join(state, "ballast"), os.O_WRONLY | os.O_CREAT)
        self.addCleanup(os.close, ballast)

        def full():
            """What the agent deletes meanwhile, because it is acknowledged, is taken, too."""
            try:
                while True:
                    os.write(ballast, bytes(4096))
            except OSError:
                return "cannot spool" in agent.said()

        until(full, "the agent says that the disk is full")
        command, account = fio(self.volume.mount)
        recorder = subprocess.Popen(
            [harness.unblend(), "record", "--agent", agent.socket, "--job", "full", "-o",
             os.path.join(self.directory, "full.rec"), "--", *command],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until(lambda: os.path.exists(account), "fio has run")
        time.sleep(2)
        self.assertEqual(1, agent.said().count("cannot spool"), agent.said())
        os.ftruncate(ballast, 0)
        self.assertEqual(("", 0), (recorder.communicate(timeout=90)[1], recorder.returncode))
        self.assertEqual(0, agent.stop())
        self.assert_volume_equals_fio(from_database(self.collector), "full", account)

    def test_unusable_options_end_the_agent(self):
        program = os.path.join(harness.bindir(), "unblend-agent")
        here = self.directory
        for status, options, word in (
                (1, ["--token-file", f"{here}/none"], "none"),
                (1, ["--token-file", self.token, "--state", "/dev/null/x"], "/dev/null/x"),
                (2, ["--token-file", self.token, "--role", "king"], "king"),
                (2, [], "--token-file"),
                (2, ["--token-file", self.token, "--collector", "http://192.0.2.1:1"], "192.0.2.1"),
                (2, ["--token-file", self.token, "--otlp", "http://192.0.2.1:1"], "192.0.2.1")):
            done = harness.run([program, "--collector", "http://127.0.0.1:1", "--state", f"{here}/s",
                                "--socket", f"{here}/x.sock", *options])
            self.assertEqual(status, done.returncode, done.stderr)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)
            self.assertIn(word, done.stderr)

    def test_no_rights(self):
        done = harness.run([harness.tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups",
                            os.path.join(harness.bindir(), "unblend-agent"), "--socket",
                            "/tmp/unblend-none.sock"])
        self.assertEqual((1, 1), (done.returncode, done.stderr.count("\n")), done.stderr)
        self.assertIn("not permitted", done.stderr)

    def test_several_find_a_server_without_a_database(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        os.chmod(directory, 0o755)
        server = os.path.join(directory, "pg")
        program = os.path.join(harness.bindir(), "unblend-collector")
        daemon = Daemon(directory, "unblend-collector", "--embedded", server, "--listen", "127.0.0.1:0")
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.stop())
        until(lambda: "listening" in daemon.said(), f"the server is there: {daemon.said()}")
        with futures.ThreadPoolExecutor() as pool:
            tokens = list(pool.map(lambda node: harness.must([program, "enroll", f"n{node}", "--embedded", server]), range(4)))
        self.assertEqual(4, len(set(tokens)))
        until(lambda: "the database is there" in daemon.said(), "the collector has it, too")
        self.assertEqual(0, daemon.stop())

    def test_database_that_is_not_there(self):
        done = harness.run([harness.unblend(), "report", "--db", "host=/nonexistent dbname=unblend"])
        self.assertEqual((1, 1), (done.returncode, done.stderr.count("\n")), done.stderr)


class TestSocket(PathTest):
    def test_others_are_hidden_from_the_unprivileged(self):
        agent = self.start_agent()
        nobody = [harness.tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
        busy = "while :; do cat /etc/passwd > /dev/null; sleep 0.05; done"
        mine = subprocess.Popen([*nobody, "sh", "-c", busy])
        theirs = subprocess.Popen(["sh", "-c", busy])
        self.addCleanup(mine.wait)
        self.addCleanup(mine.kill)
        self.addCleanup(theirs.wait)
        self.addCleanup(theirs.kill)
        time.sleep(1.2)

        def users(prefix):
            done = harness.run([*prefix, harness.unblend(), "top", "-b", "-n", "1", "--json", "--agent",
                                agent.socket])
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            sample = json.loads(done.stdout.splitlines()[0])
            return {process["user"] for process in sample["processes"] if process["pid"]}

        self.assertEqual({"nobody"}, users(nobody))
        self.assertIn("root", users([]))
        self.assertIn("nobody", users([]))

    def test_the_unprivileged_see_the_bursts_of_their_own_jobs(self):
        agent = self.start_agent()
        directory = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(shutil.rmtree, directory)
        os.chmod(directory, 0o777)
        recording = os.path.join(directory, "mine.rec")
        harness.must([harness.tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", harness.unblend(),
                      "record", "--agent", agent.socket, "--job", "mine", "-o", recording, "--", "sh", "-c",
                      "for i in 1 2 3 4 5 6; do cat /etc/passwd > /dev/null; sleep 0.3; done"])
        job, = (job for job in harness.report(recording).data["jobs"] if job["job"] == "mine")
        self.assertGreater(job["burst"]["peak_to_mean"][0], 1)
        self.assertGreater(job["burst"]["idle"][0], 0.3)

    def test_the_unprivileged_hear_of_the_end_of_a_job_that_did_nothing_any_more(self):
        agent = self.start_agent()
        directory = tempfile.mkdtemp(prefix="unblend-test-")
        self.addCleanup(shutil.rmtree, directory)
        os.chmod(directory, 0o777)
        recording = os.path.join(directory, "idle.rec")
        done = harness.run([harness.tool("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups",
                            harness.unblend(), "record", "--agent", agent.socket, "--job", "idle", "-o", recording, "--",
                            harness.PYTHON, "-c", "import os, time; time.sleep(2.5); os._exit(7)"])
        self.assertEqual((7, ""), (done.returncode, done.stderr))
        attempt, = (job["attempts"][0] for job in harness.report(recording).data["jobs"] if job["job"] == "idle")
        self.assertEqual(7, attempt["exit"])
        self.assertIsNotNone(attempt["end"])

    def test_second_agent_is_refused_and_a_dead_socket_is_not(self):
        agent = self.start_agent()
        program = os.path.join(harness.bindir(), "unblend-agent")
        done = harness.run([program, "--socket", agent.socket])
        self.assertEqual(1, done.returncode)
        self.assertIn("another agent", done.stderr)
        agent.stop(signal.SIGKILL)
        again = Agent(os.path.dirname(agent.socket), self.collector, self.token)
        self.assertEqual(0, again.stop())

    def test_garbage_on_the_socket(self):
        import socket
        agent = self.start_agent()
        for line in (b"\n", b"{}\n", b"[1]\n", b'{"request":"job","job":"x","pid":1}x\n', b"\xff\xfe\n",
                     b'{"request":"job","job":"","pid":1}\n', b'{"request":"exit"}\n', b"x" * 5000 + b"\n"):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(5)
                client.connect(agent.socket)
                client.sendall(line)
                self.assertIn(b'"ok":false', client.recv(4096), line)
        self.assertIsNone(agent.process.poll())

    def test_who_hangs_up_while_its_flush_is_done(self):
        """The sample that a flush takes is shown to who watches: here to the one that has asked for it, and is gone."""
        import socket
        with unittest.mock.patch.dict(os.environ, MALLOC_PERTURB_="165"):  # what is used after it was given back shows
            agent = self.start_agent()
        for _ in range(3):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(5)
                client.connect(agent.socket)
                client.sendall(b'{"request":"watch"}\n')
                self.assertIn(b'"ok":true', client.recv(4096))
                client.sendall(b'{"request":"flush"}\n')
        self.assertEqual(0, agent.record("after", ["true"], os.path.join(self.directory, "after.rec")).returncode)
        self.assertIsNone(agent.process.poll(), agent.said())

    def test_flushes_do_not_crowd_the_spool(self):
        """Whoever asks for many at once has one of them done, and that for all who wait meanwhile."""
        import socket
        agent = self.start_agent()
        before = len(harness.batches(agent.copy))
        clients = []
        for _ in range(8):
            client = socket.socket(socket.AF_UNIX)
            self.addCleanup(client.close)
            client.settimeout(20)
            client.connect(agent.socket)
            client.sendall(b'{"request":"flush"}\n' * 100)
            clients.append(client)
        began = time.monotonic()
        for client in clients:
            self.assertIn(b'"ok":true', client.recv(4096))
        self.assertEqual(0, agent.stop())
        most = len(clients) + 2 + time.monotonic() - began  # those of the intervals, and the last one
        self.assertLessEqual(len(harness.batches(agent.copy)) - before, most)


class TestProfiles(PathTest):
    def profiles(self, report, name):
        for job in report.data["jobs"]:
            if job["job"] == name:
                return {p["profile"]: p for p in job["profiles"] if p["kind"] == "pattern"}
        raise AssertionError(f"{name} is not in the report")

    def test_the_mix_falls_into_its_parts_and_a_compiler_into_none(self):
        agent = self.start_agent()
        data = os.path.join(self.directory, "mix")
        harness.must([harness.PYTHON, MIX, "prepare", data])
        recording = os.path.join(self.directory, "mix.rec")
        done = agent.record("mix", [harness.PYTHON, MIX, "run", data], recording)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        source = os.path.join(self.directory, "program.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n"
                       "int main(void) { printf(\"%f\\n\", sin(rand())); return 0; }\n")
        compiled = os.path.join(self.directory, "gcc.rec")
        command = f"for i in $(seq 40); do gcc -O2 {source} -o {source}.out -lm || exit 1; done"
        done = agent.record("compile", ["sh", "-c", command], compiled)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(0, agent.stop())

        stored = from_database(self.collector)
        for report in (harness.report(recording), stored):
            found = self.profiles(report, "mix")
            for name in ("losf", "shard-streaming", "checkpoint"):
                self.assertIn(name, found, sorted(found))
                self.assertTrue(found[name]["evidence"], name)
            self.assertAlmostEqual(1, sum(p["share_ops"] for p in found.values()), places=6)
            self.assertAlmostEqual(1, sum(p["share_bytes"] for p in found.values()), places=6)
            self.assertGreater(found["losf"]["share_ops"], 0.6)
            self.assertGreater(found["shard-streaming"]["share_bytes"], 0.25)
            self.assertGreater(found["checkpoint"]["share_bytes"], 0.3)
        for report in (harness.report(compiled), stored):
            found = self.profiles(report, "compile")
            self.assertGreater(found["unknown"]["share_ops"], 0.9, found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
