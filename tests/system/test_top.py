# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top` as people see it: in terminals of three sizes, every key pressed, and how it ends.

Screens are compared with those in screens/, which people can read. After a change that is meant:
    UNBLEND_SCREENS=write tests/system/run test_top
"""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import harness
import made
from terminal import Terminal

SCREENS = os.path.join(harness.SOURCE, "tests/system/screens")
TABS = ["processes", "jobs", "volumes", "devices", "profiles", "bursts", "coverage"]


# Reads a file that it keeps open, in a thread that has a name.
READER = """
import ctypes, os, sys, threading, time
def read():
    ctypes.CDLL(None).prctl(15, b"a reader")
    while True:
        os.pread(file, 4096, 0)
        time.sleep(0.005)
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(file, bytes(4096))
threading.Thread(target=read, daemon=True).start()
time.sleep(600)
"""


def listed(kind):
    """Lines of `top --list` of a kind, as lists of words."""
    lines = harness.must([harness.unblend(), "top", "--list"]).splitlines()
    return [line.split("\t")[1:] for line in lines if line.startswith(kind + "\t")]


def comparable(name, screen):
    """Without what the catalogue of profiles says: it may learn, and the screens need not."""
    screen = screen.split("\nProfile  ")[0]
    if name.startswith("profiles"):
        screen = screen.split("BYTES OPS%")[0]
    screen = re.sub(r"\b(cv-training|ingest-scan|checkpoint|losf|sample-read|shard-streaming|mmap-read|preprocess|"
                    r"stage-copy|model-load|import-storm|unknown|ml-dev|nlp-mixed)\b *", "PROFILE ", screen)
    screen = re.sub(r"(?m)Mix .*$", "Mix", screen)
    screen = re.sub(r"(?m)\s*lines \d+ to .*$", "", screen)
    return re.sub(r" *<?\d+%", " N%", screen).rstrip()


class TopTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = harness.tempfile.mkdtemp(prefix="unblend-test-")
        cls.addClassCleanup(harness.shutil.rmtree, cls.directory, ignore_errors=True)
        cls.recording = made.recording(os.path.join(cls.directory, "made.rec"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def top(self, width, height, *options, **environment):
        return Terminal(width, height, [harness.unblend(), "top", *options], **environment)

    def played(self, width, height, *options, **environment):
        """At the recording's end."""
        return self.top(width, height, "--replay", self.recording, "--speed", "1000", *options, **environment)

    def batch(self, *options, recording=None):
        return harness.run([harness.unblend(), "top", "-b", "--replay", recording or self.recording, *options],
                           env={**harness.environment(), "LC_ALL": "C.UTF-8"})


class TestScreens(TopTest):
    def check(self, name, screen):
        path = os.path.join(SCREENS, name + ".txt")
        if os.environ.get("UNBLEND_SCREENS") == "write":
            os.makedirs(SCREENS, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(screen)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(comparable(name, file.read()), comparable(name, screen), name)

    def end_of(self, terminal, small=False):
        return terminal.wait(r"sh\b|worker|find" if small else "END")

    def test_every_tab(self):
        for width, height in (80, 24), (200, 60):
            with self.played(width, height) as terminal:
                self.end_of(terminal)
                for tab in TABS:
                    with self.subTest(tab=tab, width=width):
                        mark = {"profiles": "BYTES OPS%", "bursts": "PK:MEAN", "coverage": "WHAT",
                                "devices": "DEVICE", "volumes": "MOUNT", "jobs": "PROCS", "processes": "PID"}[tab]
                        self.check(f"{tab}-{width}x{height}", terminal.wait(mark))
                    terminal.press("Tab")

    def test_tiny(self):
        with self.played(20, 5) as terminal:
            self.check("processes-20x5", terminal.wait("END[^$]*find"))
            terminal.press("Enter")
            self.check("detail-20x5", terminal.wait("Operations|process 610"))
            terminal.press("Escape", "h")
            self.check("help-20x5", terminal.wait("unblend top"))

    def test_details_help_and_setup(self):
        for width, height in (80, 24), (200, 60):
            with self.played(width, height, "--sort", "read_bytes_s") as terminal:
                self.end_of(terminal)
                terminal.press("Enter")
                self.check(f"detail-{width}x{height}", terminal.wait("process 4102"))
                terminal.press("Escape", "h")
                self.check(f"help-{width}x{height}", terminal.wait("Keys"))
                terminal.press("x", "F2")
                self.check(f"setup-{width}x{height}", terminal.wait("Setup of Processes"))

    def test_tree_and_ascii(self):
        with self.played(80, 24, "--tree", "--ascii") as terminal:
            screen = self.end_of(terminal)
            self.check("tree-ascii-80x24", screen)
            self.assertTrue(screen.isascii())

    def test_no_color_has_none(self):
        for environment, colored in ({"NO_COLOR": "1"}, False), ({}, True):
            with self.played(100, 24, **environment) as terminal:
                self.end_of(terminal)
                found = re.search(r"\033\[[0-9;]*3[0-7]m", terminal.screen(colors=True))
                self.assertEqual(colored, bool(found), environment)

    def test_every_size(self):
        """Resized at any moment, to anything; it must live, and end well."""
        with self.played(80, 24) as terminal:
            self.end_of(terminal)
            for width, height in ((1, 1), (2, 2), (5, 3), (12, 8), (39, 11), (40, 12), (41, 13), (79, 20), (300, 90),
                                  (20, 5)):
                terminal.resize(width, height)
                for key in "Tab", "Enter", "Down", "Escape", "F2", "Escape", "h", "x":
                    terminal.press(key)
            terminal.resize(80, 24)
            terminal.wait("Coverage ")
            terminal.press("q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))


class TestKeys(TopTest):
    """Every key of the table is pressed, and does what its line says."""

    pressed, ran = set(), set()

    def setUp(self):
        self.ran.add(self._testMethodName)

    @classmethod
    def tearDownClass(cls):
        if cls.ran < {name for name in dir(cls) if name.startswith("test_")}:
            return  # some were asked for by name
        names = {key for line in listed("key") for key in line[0].split()}
        missing = names - cls.pressed - {"Mouse", "1-9"}
        assert not missing, f"no test presses {missing}"

    def keys(self, terminal, *names):
        tmux = {"Space": "Space", "Shift-Tab": "BTab", "PgUp": "PageUp", "PgDn": "PageDown", "Esc": "Escape",
                "Ctrl-L": "C-l"}
        for name in names:
            self.pressed.add(name)
            terminal.press(tmux.get(name, name))

    def test_going_about(self):
        with self.played(120, 50) as terminal:
            terminal.wait("END")
            self.keys(terminal, "Down", "Down", "Up")
            terminal.wait(r"\b2 of 12")
            self.keys(terminal, "End")
            terminal.wait("12 of 12")
            self.keys(terminal, "Home")
            terminal.wait(r"\b1 of 12")
            self.keys(terminal, "PgDn")
            terminal.wait("12 of 12")
            self.keys(terminal, "PgUp")
            terminal.wait(r"\b1 of 12")
            self.keys(terminal, "Tab")
            terminal.wait("PROCS")
            self.keys(terminal, "Shift-Tab")
            terminal.wait("PID USER")
            self.keys(terminal, "p")
            terminal.wait("recordings hold no threads")
            self.keys(terminal, "h")
            terminal.wait("Keys")
            self.keys(terminal, "?")
            terminal.wait("PID USER")
            self.keys(terminal, "F1")
            terminal.wait("Keys")
            self.keys(terminal, "Esc", "Ctrl-L")
            terminal.wait("PID USER")
            self.keys(terminal, "Enter")
            terminal.wait("process 610")
            self.keys(terminal, "f")
            terminal.wait("records hold no paths")
            self.keys(terminal, "H")
            terminal.wait("recordings hold no threads")
            self.keys(terminal, "Enter")
            terminal.wait("PID USER")
            self.keys(terminal, "q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))

    def first(self, terminal):
        """Ids of the rows."""
        return re.findall(r"^ +(\d+) (?:root|\d+)", terminal.screen(), re.M)

    def wait_first(self, terminal, *ids):
        for _ in range(100):
            if self.first(terminal)[:len(ids)] == list(ids):
                return
            time.sleep(0.05)
        self.fail(f"{ids} do not come first:\n{terminal.screen()}")

    def test_sorting(self):
        with self.played(80, 24, "-o") as terminal:
            terminal.wait("END")
            self.wait_first(terminal, "610", "4102")
            self.keys(terminal, "Left", "Left")
            self.wait_first(terminal, "4102", "4101", "4100")
            self.keys(terminal, "r")
            self.wait_first(terminal, "610")
            self.keys(terminal, "I", "Right", "Right", "Right")
            self.wait_first(terminal, "610", "4102")
            self.keys(terminal, "1")
            self.wait_first(terminal, "610", "4100", "4101")
            self.keys(terminal, "F6")
            terminal.wait("Sort Processes by")
            self.keys(terminal, "Home", "Down", "Down", "Enter")
            self.wait_first(terminal, "4102", "4101")
            self.keys(terminal, ">")
            terminal.wait("Sort Processes by")
            self.keys(terminal, "Esc", "o")
            terminal.wait("torchrun")

    def test_amounts(self):
        with self.played(80, 24) as terminal:
            terminal.wait("END")
            self.keys(terminal, "a")
            self.assertIn("amounts over 1m10s", terminal.wait("READ "))
            self.keys(terminal, "a", "K")
            terminal.wait("97280.00")
            self.keys(terminal, "K", "c")
            terminal.wait("records hold no arguments")

    def test_finding(self):
        with self.played(120, 24) as terminal:
            terminal.wait("END")
            self.keys(terminal, "F3")
            terminal.type("torch")
            terminal.press("Enter")
            terminal.wait(r"\b7 of 12")
            self.keys(terminal, "/")
            terminal.type("user:root f.nd")
            terminal.press("Enter")
            terminal.wait(r"\b1 of 1\b")
            self.keys(terminal, "F4")
            terminal.type("(")
            terminal.press("Enter")
            terminal.wait("filter: ")
            self.keys(terminal, "Esc")
            terminal.wait("of 12")
            self.keys(terminal, "u")
            terminal.type("root")
            terminal.press("Enter")
            terminal.wait("of 7")
            self.keys(terminal, "Esc", "F5")
            terminal.wait("└─ python3")
            self.keys(terminal, "F5")
            terminal.wait("└─ python3", absent=True)
            terminal.press("/")
            terminal.type("fs:ext4")
            terminal.press("Enter")
            terminal.wait("filter: fs:ext4")
            self.assertNotRegex(terminal.screen(), r"4102.*[1-9]M")

    def test_setup_is_kept(self):
        with self.played(120, 24) as terminal:
            terminal.wait("END")
            self.keys(terminal, "S")
            terminal.wait("Theme: dark")
            terminal.press("Space")
            terminal.wait("Theme: light")
            terminal.press("Down", "Down", "Space", "Down", "+")
            terminal.wait(r"\[x\] USER.*\n\[ \] PID")
            terminal.press("Escape")
            terminal.wait("kept in ")
            self.assertNotIn("PID", terminal.wait("USER"))
            settings = os.path.join(terminal.directory, "unblend/top.json")
            with open(settings, encoding="utf-8") as file:
                kept = json.load(file)
            self.assertEqual(("light", "user"), (kept["theme"], kept["tabs"]["processes"]["columns"][0]))
            self.keys(terminal, "F2")
            terminal.wait("Theme: light")
            self.keys(terminal, "Esc", "Q")
            terminal.ended()
            again = [harness.unblend(), "top", "--replay", self.recording, "--speed", "1000"]
            with Terminal(120, 24, again, XDG_CONFIG_HOME=terminal.directory) as second:
                self.assertNotIn("PID", second.wait("END"))
            with open(settings, "w", encoding="utf-8") as file:
                file.write("{ damaged")
            with Terminal(120, 24, again, XDG_CONFIG_HOME=terminal.directory) as third:
                third.wait("PID")
                third.press("q")
                self.assertEqual(0, third.ended())
                self.assertRegex(third.said(), r"^unblend: warning: .*top.json is damaged: [^\n]*\n$")

    def test_replay(self):
        with self.top(100, 20, "--replay", self.recording, "--speed", "4") as terminal:
            terminal.wait("over 1 s")
            self.keys(terminal, "s")
            terminal.wait("FROZEN")
            self.keys(terminal, "b")
            terminal.type("12:00:31")
            terminal.press("Enter")
            terminal.wait("12:00:32 UTC")
            self.keys(terminal, "t")
            terminal.wait("12:00:33 UTC")
            self.keys(terminal, "T", "T", "T")
            terminal.wait("12:00:30 UTC")
            self.keys(terminal, "+")
            terminal.wait("replay 8x")
            self.keys(terminal, "-", "-", "-", "-", "-", "-")
            terminal.wait("replay 0.5x")
            self.keys(terminal, "Z")
            terminal.wait("FROZEN", absent=True)
            self.keys(terminal, "Space")
            terminal.wait("FROZEN")
            terminal.press("b")
            terminal.type("yesterday noon")
            terminal.press("Enter")
            terminal.wait("is no time")
            terminal.press("b")
            terminal.type("+1h")
            terminal.press("Enter")
            terminal.wait("12:01:10 UTC")
            self.keys(terminal, "F10")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))

    def test_recording_from_within(self):
        with self.top(100, 20, "--replay", self.recording, "--speed", "20") as terminal:
            terminal.wait("over 1 s")
            self.keys(terminal, "w")
            terminal.press("C-u")
            terminal.type(self.path("within.rec"))
            terminal.press("Enter")
            terminal.wait("REC")
            terminal.wait("END")
            self.keys(terminal, "w")
            terminal.wait("recorded to")
            terminal.press("q")
            self.assertEqual(0, terminal.ended())
        within = harness.batches(self.path("within.rec"))
        self.assertGreater(len(within), 1)
        self.assertEqual(harness.batches(self.recording)[-len(within):], within)

    def test_numbers_and_the_mouse(self):
        with self.played(100, 24) as terminal:
            screen = terminal.wait("END").splitlines()
            titles = next(y for y, line in enumerate(screen) if "PID USER" in line)
            terminal.click_until(screen[titles].index("READ/s") + 2, titles, r"PID[^\n]*\n +4102 [^\n]*\n +4101 ")
            terminal.click_until(2, titles + 2, r"\b2 of 12|process 4101")
            terminal.click_until(2, titles + 2, "process 4101")
            terminal.click_until(screen[titles - 1].index("Jobs") + 1, titles - 1, "PROCS")
            for number in range(1, 10):
                terminal.press(str(number))
            terminal.press("q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))


class TestEnds(TopTest):
    def test_a_damaged_recording(self):
        damaged = self.path("damaged.rec")
        with open(self.recording, "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 0xff
        with open(damaged, "wb") as file:
            file.write(data)
        with self.top(80, 24, "--replay", damaged, "--speed", "1000") as terminal:
            terminal.wait("END")
            terminal.press("q")
            self.assertEqual(0, terminal.ended())
            self.assertRegex(terminal.said(), r"^unblend: warning: \S+damaged.rec is damaged: [^\n]*\n$")
            terminal.wait("Coverage", absent=True)

    def test_no_recording(self):
        with self.top(80, 24, "--replay", "/etc/passwd") as terminal:
            self.assertEqual(1, terminal.ended())
            self.assertEqual("unblend: cannot read /etc/passwd: it is no Unblend recording\n", terminal.said())

    def test_a_terminal_that_dies(self):
        with self.played(80, 24) as terminal:
            terminal.wait("END")
            pid = terminal.pid()
            subprocess.run([*terminal.tmux, "kill-server"], check=False)
            for _ in range(200):
                if not os.path.exists(f"/proc/{pid}"):
                    return
                time.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
            self.fail("it lives on without a terminal")

    def test_signals_give_the_terminal_back(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            with self.played(80, 24) as terminal:
                terminal.wait("END")
                os.kill(terminal.pid(), number)
                terminal.ended()
                terminal.wait("Coverage", absent=True)

    def test_an_agent_that_goes(self):
        socket = self.path("agent.sock")
        agent = harness.start_agent(self, socket)
        reader = subprocess.Popen([sys.executable, "-c", READER, self.path("kept")])
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        with self.top(160, 90, "--agent", socket) as terminal:
            terminal.wait("PID USER")
            terminal.press("-", "+", "+", "+")
            terminal.wait(r"every 0\.20 s")
            terminal.press("c", "f")
            terminal.wait("choose one and press Enter")
            terminal.press("c", "H")
            terminal.wait(r"(?s)TID +PID USER.*a reader")
            terminal.press("p", "/")
            terminal.type(f"pid:{reader.pid}")
            terminal.press("Enter")
            terminal.wait(rf" {reader.pid} +[a-z]")
            terminal.press("Enter")
            terminal.wait("Operations")
            terminal.press("f")
            terminal.wait(rf"Files open most[^%]* 100 % +{re.escape(self.path('kept'))}")
            terminal.press("H")
            terminal.wait(rf"TID +PID USER[^\n]*\n +[0-9]+ +{reader.pid} [^\n]*a reader")
            terminal.press("Enter")
            terminal.wait(rf"a reader +process {reader.pid}, thread [0-9]+")
            terminal.press("Escape", "Escape", "s")
            terminal.wait("FROZEN")
            time.sleep(1.5)
            terminal.press("s", "w")
            terminal.press("Escape", "b")
            terminal.wait("only in a replay")
            agent.terminate()
            self.assertEqual(1, terminal.ended())
            self.assertRegex(terminal.said(), r"^unblend: agent \S+: it has closed the connection[^\n]*\n$")
            terminal.wait("Coverage", absent=True)


class TestBatch(TopTest):
    def test_first_sample_and_titles(self):
        done = self.batch("-n", "2")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(2, done.stdout.count("total: "))
        self.assertEqual(2, done.stdout.count("PID USER"))
        self.assertIn("python3", done.stdout.split("total: ")[1])

    def test_quiet(self):
        counts = []
        for quiet in "-q", "-qq", "-qqq", "--quiet=2":
            done = self.batch("-n", "3", quiet)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            counts.append((done.stdout.count("total: "), done.stdout.count("PID USER")))
        self.assertEqual([(3, 1), (3, 0), (0, 0), (3, 0)], counts)

    def test_flags(self):
        done = self.batch("-n", "1", "-P", "-t", "-k", "-o", "-qqq", "-p", "4102")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"^12:00:01 +4102 60001 +\d+\.\d\d ")
        self.assertEqual(1, done.stdout.count("\n"))
        done = self.batch("-a", "-qqq", "-u", "root", "-s", "pid")
        self.assertEqual(70, done.stdout.count(" find"))

    def test_json_has_the_columns_that_are_listed(self):
        known = {line[0] for line in listed("column")} - {"history"}
        seen = set()
        for tab in TABS:
            done = self.batch("--json", "--tab", tab)
            samples = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual(made.SECONDS, len(samples))
            last = samples[-1]
            rows = last[{"jobs": "processes", "coverage": "items"}.get(tab, tab)]
            self.assertTrue(rows, tab)
            for row in rows:
                self.assertEqual(set(), set(row) - known - {"exited"})
                seen |= set(row)
            self.assertIsNone(last["totals"]["fault_bytes_s"])
            self.assertEqual("mmap_fault", last["coverage"]["hooks"][1]["hook"])
        self.assertEqual({"lost", "node", "tid"}, known - seen)  # those of a cluster, and of threads

    def test_sums(self):
        """What is shown since the start are the recording's sums."""
        want = [0, 0]
        for batch in harness.batches(self.recording):
            for one in batch["records"]:
                want[0] += one["bytes"] if one["op"] == "read" else 0
                want[1] += one["bytes"] if one["op"] == "write" else 0
        for tab, key in ("jobs", "processes"), ("volumes", "volumes"):
            last = json.loads(self.batch("--json", "-a", "--tab", tab).stdout.splitlines()[-1])
            self.assertEqual(want, [last["totals"]["read_bytes"], last["totals"]["write_bytes"]])
            self.assertEqual(want, [sum(row[name] for row in last[key]) for name in ("read_bytes", "write_bytes")])

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.batch("--csv", "-n", "2").stdout, newline="")))
        self.assertEqual({"2026-03-01T12:00:01.000Z", "2026-03-01T12:00:02.000Z"}, {row["time"] for row in rows})
        one, = [row for row in rows if row["pid"] == "4102" and row["time"].endswith(":01.000Z")]
        self.assertEqual((float(one["read_ops_s"]), one["job"], one["fault_bytes_s"]), (640.0, "train-resnet", ""))

    def test_wrong_usage(self):
        for options, words in ((["--tab", "x"], "no tab"), (["-s", "x"], "no column"), (["-f", "("], "--filter"),
                               (["-d", "0.01"], "0.1 s"), (["--json", "--csv"], "both"), (["--theme", "x"], "theme"),
                               (["--tab", "nodes"], "--db"),
                               (["--threads"], "recordings hold processes"), (["--tab", "threads"], "recordings")):
            done = self.batch(*options)
            self.assertEqual((2, ""), (done.returncode, done.stdout), options)
            self.assertRegex(done.stderr, r"^unblend: [^\n]*" + re.escape(words) + r"[^\n]*\n$")

    def test_a_configuration_file(self):
        path = self.path("top.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"replay = {self.recording}\njson\ntab = jobs\ncount = 2\n")
        done = harness.run([harness.unblend(), "top", "--config", path, "--count", "1"])
        self.assertEqual((0, "", 1), (done.returncode, done.stderr, len(done.stdout.splitlines())))
        self.assertEqual("jobs", json.loads(done.stdout)["tab"])
        with open(path, "a", encoding="utf-8") as file:
            file.write("colour = red\n")
        done = harness.run([harness.unblend(), "top", "--config", path])
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertRegex(done.stderr, rf"^unblend: {re.escape(path)}:5: 'colour' is no option[^\n]*\n$")

    def test_a_closed_pipe_is_the_end(self):
        top = subprocess.Popen([harness.unblend(), "top", "-b", "--replay", self.recording], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        top.stdout.readline()
        top.stdout.close()
        self.assertEqual("", top.stderr.read())
        top.stderr.close()
        self.assertEqual(-signal.SIGPIPE, top.wait(30))
