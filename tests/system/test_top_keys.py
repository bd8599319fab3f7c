# SPDX-License-Identifier: GPL-2.0-or-later
"""Every key of `unblend top`, and the mouse."""
import json
import os
import re
import time

import harness
from terminal import Terminal
from top_case import TopTest, listed


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

    def test_a_filter_is_seen_on_screens_of_any_size(self):
        for width, height, sign in ((80, 24, "filter: f.nd"), (74, 24, "filter: f.nd"), (60, 24, "filter: f.nd"),
                                    (48, 24, r"filter: f\.n"), (20, 5, " filter")):
            with self.subTest(width=width), self.played(width, height, "--filter", "f.nd") as terminal:
                terminal.wait(sign)
                self.assertEqual(1, terminal.screen().count("filter"))

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
