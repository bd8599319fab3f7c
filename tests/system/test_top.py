# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top` as people see it, in terminals of three sizes, and in any size that it lives through.

Screens are compared with those in screens/, which people can read. After a change that is meant:
    UNBLEND_SCREENS=write tests/system/run test_top
"""
import os
import re

import harness
from top_case import TABS, TopTest

SCREENS = os.path.join(harness.SOURCE, "tests/system/screens")


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
