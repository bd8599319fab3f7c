# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle: agents whose input is known, through everything that can go wrong, against the sums in the database.

The agents are `feeder`, which has the spool and the push that ship; collectors and PostgreSQL are the real ones.
Between them stands a proxy that loses answers, cuts requests off, and sends them again. See FAULTS for what is
done to them. Afterwards each batch that was promised must be in the database once, or be declared dropped there;
one whose only copy a fault destroyed, or that was being written when its agent was killed, at most once.
"""
import collections
import os
import pwd
import random
import shutil
import signal
import tempfile
import threading
import time

import harness
from actors import SPOOL_MAX, Collector, Feeder, Proxy, damage

NODES = ["n1", "n2", "n3"]
STATES_MIB = 64
POSTGRES_MIB = 4096
TIGHT_SPOOL_MAX = 1 << 20  # 256 batches: a node that has to drop some
INTERVAL_NS = 10_000_000_000
SETTLE_S = 120


class Run:
    """All of it, for one seed."""

    def __init__(self, seed, faults, pause_ms=15, feeder="feeder", collector="unblend-collector", say=print,
                 keep=False, kinds=None):
        self.seed, self.wanted, self.pause_ms, self.say, self.keep = seed, faults, pause_ms, say, keep
        self.random = random.Random(seed)
        tests = os.path.join(harness.bindir(), "tests/system")
        self.feeder = os.path.join(tests, feeder)
        self.collector = os.path.join(harness.bindir() if collector.startswith("unblend") else tests, collector)
        self.first = collections.Counter()
        self.untold = set()  # (stream, seq) dropped, and the word of it destroyed
        self.may = {node: set() for node in NODES}  # at most once: all else that was promised exactly once
        self.done, self.later, self.made = collections.Counter(), [], 0
        self.feeders, self.retired = [], []
        self.kinds = [(fault, weight) for fault, weight in self.FAULTS if not kinds or fault.__name__ in kinds]
        self.mounted = []

    # --- setting up and down ---

    def open(self):
        try:
            pwd.getpwnam("unblend")
        except KeyError:
            harness.must(["useradd", "--system", "--no-create-home", "unblend"])
        self.directory = tempfile.mkdtemp(prefix="unblend-oracle-")
        os.chmod(self.directory, 0o755)
        self.states = os.path.join(self.directory, "states")
        os.mkdir(self.states)
        # In memory: after a kill PostgreSQL flushes every file of its own before it serves again.
        self.postgres = os.path.join(self.directory, "pg")
        for path, size in ((self.states, STATES_MIB), (self.postgres, POSTGRES_MIB)):
            os.makedirs(path, exist_ok=True)
            harness.must([harness.tool("mount"), "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", path])
            self.mounted.append(path)
        self.log = open(os.path.join(self.directory, "feeders.log"), "w", encoding="utf-8")
        self.proxy = Proxy(self.seed + 1)
        self.conninfo = f"host={self.postgres} port=5432 dbname=unblend user=unblend"
        self.collectors = [Collector(self, "a", "--embedded", self.postgres),
                           Collector(self, "b", "--db", self.conninfo, "--user", "unblend")]
        self.collectors[0].start()
        self.wait_for_database()
        self.collectors[1].start()
        self.tokens = {}
        for node in NODES:
            self.tokens[node] = os.path.join(self.directory, f"token-{node}")
            token = harness.must([self.collector, "enroll", node, "--embedded", self.postgres])
            with open(self.tokens[node], "w", encoding="utf-8") as file:
                file.write(token)
        for node in NODES:
            self.add_feeder(node, TIGHT_SPOOL_MAX if node == NODES[-1] else SPOOL_MAX).start()

    def add_feeder(self, node, spool_max=SPOOL_MAX):
        self.made += 1
        feeder = Feeder(self, node, os.path.join(self.states, f"{self.made}-{node}"), spool_max)
        self.feeders.append(feeder)
        return feeder

    def wait_for_database(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.query("select max(version) from unblend.migration") is not None:
                return
            time.sleep(0.1)
        raise AssertionError("the database does not come up")

    def query(self, sql):
        done = harness.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.conninfo, "-c", sql])
        return None if done.returncode else done.stdout.splitlines()

    def close(self):
        for feeder in self.feeders + self.retired:
            feeder.kill()
        for collector in getattr(self, "collectors", [])[::-1]:
            collector.kill(signal.SIGTERM)
        if hasattr(self, "proxy"):
            self.proxy.close()
            self.log.close()
        if self.keep:
            self.say(f"kept: {self.directory}")
        else:
            for path in self.mounted:
                harness.run([harness.tool("umount"), "-l", path])
            shutil.rmtree(self.directory, ignore_errors=True)

    # --- faults: each returns nothing, or what is to be done some seconds later to mend it ---

    def any_feeder(self):
        return self.random.choice(self.feeders)

    def destroyed(self, feeder, before, after=({}, set())):
        """What waited before and does not any more: its only copy may have gone, or the only word of its being
        dropped."""
        self.may[feeder.node] |= set(before[0].values()) - set(after[0].values())
        self.untold |= before[1] - after[1]

    def kill_agent(self):
        feeder = self.any_feeder()
        feeder.kill()
        feeder.clear_grave()
        feeder.start()

    def power_cut(self):
        feeder = self.any_feeder()
        feeder.kill()
        feeder.cut_power()
        feeder.start()

    def kill_collector(self):
        collector = self.random.choice(self.collectors)
        collector.kill()
        return collector.start

    def freeze_collector(self):
        collector = self.random.choice(self.collectors)
        if collector.process.poll() is not None:
            return None
        collector.process.send_signal(signal.SIGSTOP)
        return lambda: collector.process.poll() is None and collector.process.send_signal(signal.SIGCONT)

    def postmaster(self):
        try:
            with open(os.path.join(self.postgres, "data/postmaster.pid"), encoding="utf-8") as file:
                return int(file.readline())
        except (OSError, ValueError):
            return None

    def kill_postgres(self):
        self.signal_postgres(signal.SIGKILL)

    def restart_postgres(self):
        self.signal_postgres(signal.SIGINT)

    def signal_postgres(self, number):
        server = self.postmaster()
        if server:
            try:
                os.kill(server, number)
            except ProcessLookupError:
                pass

    def kill_backend(self):
        """One of the server's connections, in the middle of whatever it does."""
        self.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = "
                   "'unblend-collector' order by random() limit 2")

    def lose_answers(self):
        self.proxy.faults.extend(["mute"] * self.random.randrange(1, 5))

    def cut_requests(self):
        self.proxy.faults.extend(["cut"] * self.random.randrange(1, 5))

    def send_twice(self):
        self.proxy.faults.extend(["twice"] * self.random.randrange(1, 5))

    def replay(self):
        threading.Thread(target=self.proxy.replay, daemon=True).start()

    def fill_disk(self):
        path = os.path.join(self.states, "ballast")
        try:
            with open(path, "ab", buffering=0) as file:
                while file.write(bytes(65536)):
                    pass
        except OSError:
            pass
        return lambda: os.path.exists(path) and os.unlink(path)

    def read_only(self):
        done = harness.run([harness.tool("mount"), "-o", "remount,ro", self.states])
        if done.returncode:  # a file is being written: as good as any other moment
            return None
        return lambda: harness.must([harness.tool("mount"), "-o", f"remount,rw,size={STATES_MIB}m", self.states])

    def flip_bits(self):
        feeder = self.any_feeder()
        feeder.kill()
        feeder.clear_grave()
        before, _ = feeder.contents()
        for name in self.random.sample(sorted(before), min(2, len(before))):
            damage(os.path.join(feeder.state, "spool", name), self.random)
            self.may[feeder.node].add(before[name])
        feeder.start()

    def wipe(self):
        feeder = self.any_feeder()
        feeder.kill()
        feeder.clear_grave()
        self.destroyed(feeder, feeder.contents())
        shutil.rmtree(feeder.state, ignore_errors=True)
        feeder.start()

    def wipe_running(self):
        feeder = self.any_feeder()
        feeder.process.send_signal(signal.SIGSTOP)
        self.destroyed(feeder, feeder.contents())
        shutil.rmtree(feeder.state, ignore_errors=True)
        feeder.process.send_signal(signal.SIGCONT)

    def snapshot(self):
        """A copy for later, while the agent runs."""
        feeder = self.any_feeder()
        copy = os.path.join(self.directory, f"snapshot-{time.monotonic_ns()}")
        harness.run(["cp", "-a", feeder.state, copy])
        if os.path.isdir(copy):  # the directory may have been deleted a moment ago
            feeder.snapshots = (feeder.snapshots + [copy])[-3:]

    def restore(self):
        feeder = self.any_feeder()
        if not feeder.snapshots:
            return self.snapshot()
        feeder.kill()
        feeder.clear_grave()
        before = feeder.contents()
        shutil.rmtree(feeder.state, ignore_errors=True)
        harness.run(["cp", "-a", self.random.choice(feeder.snapshots), feeder.state])
        self.destroyed(feeder, before, feeder.contents())
        return feeder.start()

    def second_agent(self):
        """Another agent of the same name, with a copy of the state directory; one leaves when there are too many."""
        feeder = self.any_feeder()
        twin = self.add_feeder(feeder.node, feeder.spool_max)
        harness.run(["cp", "-a", feeder.state, twin.state])
        twin.start()
        if len(self.feeders) > len(NODES) + 2:
            old = next(f for f in self.feeders if sum(g.node == f.node for g in self.feeders) > 1)
            old.kill()
            self.feeders.remove(old)
            self.retired.append(old)

    def jump_clock(self):
        feeder = self.any_feeder()
        feeder.clock_s = self.random.choice([-86400 * 400, -3600, -30, 0, 30, 3600, 86400 * 30])
        feeder.kill(signal.SIGTERM)
        feeder.start()

    FAULTS = [(kill_agent, 3), (power_cut, 4), (kill_collector, 3), (freeze_collector, 1), (kill_postgres, 2),
              (restart_postgres, 1), (kill_backend, 2), (lose_answers, 4), (cut_requests, 3), (send_twice, 2),
              (replay, 2), (fill_disk, 2), (read_only, 1), (flip_bits, 1), (wipe, 1), (wipe_running, 1),
              (snapshot, 2), (restore, 2), (second_agent, 1), (jump_clock, 1)]

    # --- the run ---

    def inject(self):
        busy = {what for _, what, _ in self.later}
        while True:
            fault = self.random.choices([f for f, _ in self.kinds], [w for _, w in self.kinds])[0]
            # One disk, one server and two collectors: one thing at a time to each of them.
            kind = {"freeze_collector": "kill_collector", "read_only": "fill_disk",
                    "restart_postgres": "kill_postgres"}.get(fault.__name__, fault.__name__)
            if kind not in busy and not (kind in ("wipe", "wipe_running", "restore", "second_agent", "flip_bits",
                                                  "jump_clock", "kill_agent", "power_cut", "snapshot")
                                         and "fill_disk" in busy):
                break
        mend = fault(self)
        self.done[fault.__name__] += 1
        if callable(mend):
            self.later.append((time.monotonic() + self.random.uniform(0.1, 0.6), kind, mend))
        elif kind == "kill_postgres":
            self.later.append((time.monotonic() + 2, kind, lambda: None))

    def mend(self, everything=False):
        due = [entry for entry in self.later if everything or entry[0] <= time.monotonic()]
        self.later = [entry for entry in self.later if entry not in due]
        for _, _, mend in due:
            mend()

    def disturb(self):
        for n in range(self.wanted):
            self.inject()
            until = time.monotonic() + self.random.uniform(0.05, 0.3)
            while time.monotonic() < until:
                self.mend()
                time.sleep(0.02)
            for feeder in self.feeders:
                if feeder.process.poll() is not None:
                    raise AssertionError(f"an agent has ended by itself: {feeder.process.returncode}\n{self.said()}")
            if n and n % 100 == 0:
                self.say(f"{n} faults", flush=True)
        self.mend(everything=True)

    def said(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()[-4000:]

    def settle(self):
        """No more input, no more faults: until everything has gone out."""
        self.proxy.faults.clear()
        for collector in self.collectors:
            if collector.process.poll() is not None:
                collector.start()
        for feeder in self.feeders + self.retired:
            feeder.kill()
            feeder.clear_grave()
            feeder.pause_ms = 0
            feeder.start()
        deadline = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline:
            waiting = sum(len(f.contents()[0]) for f in self.feeders + self.retired)
            if not waiting:
                return
            time.sleep(0.2)
        raise AssertionError(f"{waiting} batches do not go out within {SETTLE_S} s\n{self.said()}")

    def announce(self):
        """A last batch of each agent, for what it has to tell of those that it dropped."""
        for feeder in self.feeders + self.retired:
            feeder.kill()
            feeder.pause_ms = 20
            feeder.start()
        time.sleep(1)
        self.settle()

    # --- the verdict ---

    def promised(self, node):
        """{number: (stream, seq)} of what was done, and the numbers of what was only begun."""
        done, begun = {}, set()
        for feeder in self.feeders + self.retired:
            if feeder.node != node or not os.path.exists(feeder.account):
                continue
            with open(feeder.account, encoding="utf-8") as file:
                for line in file:
                    words = line.split()
                    if words[0] == "begin":
                        begun.add(int(words[1]))
                    else:
                        done[int(words[1])] = (words[2], int(words[3]))
        return done, begun - set(done)

    def verdict(self):
        """A line for the log, and what is wrong: nothing when the database equals the input."""
        wrong = []
        total = collections.Counter()
        for node in NODES:
            done, begun = self.promised(node)
            stored = collections.Counter(int(n) for n in self.query(
                f"select duration_ns - {INTERVAL_NS} from unblend.intervals where node = '{node}'"))
            dropped = set()
            for line in self.query(f"select stream, first_seq, last_seq from unblend.drops where node = '{node}'"):
                stream, first, last = line.split("|")
                dropped |= {(stream, seq) for seq in range(int(first), int(last) + 1)}
            lost = [n for n in done if not stored[n] and n not in self.may[node] and done[n] not in dropped
                    and done[n] not in self.untold]
            doubled = [n for n in stored if stored[n] > 1]
            strange = [n for n in stored if n not in done and n not in begun]
            both = [n for n in done if stored[n] and done[n] in dropped]
            ops, size = map(int,
                            self.query("select coalesce(sum(ops), 0), coalesce(sum(bytes), 0) from unblend.samples "
                                            f"where node = '{node}'")[0].split("|"))
            expected = sum(1 + n % (17 + i) for n in stored for i in range(2))
            total.update(batches=len(done), lost=len(lost), doubled=len(doubled), strange=len(strange),
                         uncertain=len(self.may[node]) + len(begun), ops=ops, difference=abs(ops - expected),
                         dropped=len([n for n in done if not stored[n] and done[n] in dropped]),
                         contradictions=len(both))
            if lost or doubled or strange or both or (ops, size) != (expected, 4096 * expected):
                wrong.append(f"{node}: lost {lost[:5]}, doubled {doubled[:5]}, unknown {strange[:5]}, dropped and "
                             f"stored {both[:5]}, {ops} operations where the batches have {expected}")
        self.total = total
        line = (f"seed {self.seed}: {sum(self.done.values())} faults, {total['batches']} batches, lost "
                f"{total['lost']}, doubled {total['doubled']}; {total['dropped']} declared dropped, "
                f"{total['uncertain']} that a fault destroyed or interrupted, {total['ops']} operations, "
                f"{total['difference']} off; answers "
                + ", ".join(f"{count} x {status}" for status, count in sorted(self.proxy.answers.items())))
        return line, wrong


def run(seed, faults, **options):
    """Runs it; the finished run, its verdict line, and what is wrong."""
    oracle = Run(seed, faults, **options)
    took = []
    try:
        for step in (oracle.open, oracle.disturb, oracle.settle, oracle.announce):
            start = time.monotonic()
            step()
            took.append(f"{step.__name__} {time.monotonic() - start:.1f} s")
        line, wrong = oracle.verdict()
        return oracle, f"{line}; {', '.join(took)}", wrong
    finally:
        oracle.close()
