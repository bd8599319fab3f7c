#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What cannot be written or read: one line says why and what to do, and the exit status that it failed."""
import os
import re
import shutil
import subprocess
import unittest

import harness

RECORDING = os.path.join(harness.SOURCE, "tests/system/compat-0.1/recording.rec")
FULL = "No space left on device: make room there, or write elsewhere"
COMMANDS = ("record", "top", "report", "export", "learn", "doctor", "payload")


class FullTest(harness.SystemTest):
    """A disk without room."""

    def refused(self, *arguments, program="unblend"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([os.path.join(harness.bindir(), program), *arguments], stdin=subprocess.DEVNULL,
                                  stdout=full, stderr=subprocess.PIPE, text=True, timeout=harness.COMMAND_TIMEOUT_S,
                                  env=harness.environment(), check=False)
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertEqual(f"{program}: ", done.stderr[:len(program) + 2])
        self.assertRegex(done.stderr, f"^[^\n]*: {FULL}\n$")

    def test_help_and_version(self):
        self.refused("--help")
        self.refused("--version")
        for command in COMMANDS:
            with self.subTest(command=command):
                self.refused(command, "--help")
        for program in ("unblend-agent", "unblend-collector"):
            with self.subTest(program=program):
                self.refused("--help", program=program)

    def test_what_commands_print(self):
        for command in (["report"], ["report", "--format", "json"], ["report", "--format", "html"], ["export", "fio"],
                        ["export", "dlio"], ["payload"], ["top", "-b", "--replay"], ["top", "--json", "--replay"],
                        ["top", "--csv", "--replay"]):
            with self.subTest(command=command):
                self.refused(*command, RECORDING)
        for command in (["top", "--list"], ["doctor"], ["doctor", "--json"]):
            with self.subTest(command=command):
                self.refused(*command)

    def test_files(self):
        full = os.path.join(self.directory, "full")
        os.mkdir(full)
        subprocess.run([harness.tool("mount"), "-t", "tmpfs", "-o", "size=4k", "none", full], check=True)
        with open(os.path.join(full, "rest"), "wb") as file:
            file.write(bytes(4096))
        try:
            for command in (["report"], ["report", "--format", "json"], ["report", "--format", "html"]):
                with self.subTest(command=command):
                    done = harness.run([harness.unblend(), *command, "-o", os.path.join(full, "out"), RECORDING],
                                       env=harness.environment())
                    self.assertEqual(1, done.returncode)
                    self.assert_one_line(done.stderr, os.path.join(full, "out"), FULL)
        finally:
            subprocess.run([harness.tool("umount"), full], check=True)


class AdviceTest(harness.SystemTest):
    """What is wrong with a file, and what to do."""

    def say(self, status, *arguments):
        done = harness.run([harness.unblend(), *arguments], env=harness.environment())
        self.assertEqual(status, done.returncode)
        self.assert_one_line(done.stderr)
        return done.stderr.rstrip("\n")

    def test_files_to_read(self):
        missing = self.path("missing")
        self.assertEqual(f"unblend: cannot open {missing}: No such file or directory: check the name",
                         self.say(1, "report", missing))
        self.assertEqual("unblend: cannot read /etc/passwd: it is no Unblend recording: give what `unblend record` "
                         "wrote",
                         self.say(1, "report", "/etc/passwd"))
        self.assertIn(f"{missing}: No such file or directory: check the name", self.say(1, "payload", missing))
        self.assertEqual(f"unblend: cannot use the platform {missing}: No such file or directory: check the name",
                         self.say(1, "report", "--platform", missing, RECORDING))

    def test_directories_without_batches(self):
        """Nothing to print is an answer of an agent's directory only, and of one that can be read."""
        state, other = self.path("state"), self.path("other")
        for name in ("spool", "refused"):
            os.makedirs(os.path.join(state, name))
        os.makedirs(os.path.join(other, "spool"))
        for place in (other, os.path.join(other, "spool"), "/etc"):
            with self.subTest(place=place):
                self.assertIn(": it is no agent's state directory, and no spool: ", self.say(1, "payload", place))
        for place in (state, os.path.join(state, "spool")):
            with self.subTest(place=place):
                self.assertIn("/spool: no batch waits there", self.say(0, "payload", place))
        os.chmod(self.directory, 0o755)
        os.chmod(os.path.join(state, "spool"), 0o700)
        done = harness.run([harness.tool("setpriv"), "--reuid=65534", "--clear-groups", harness.unblend(), "payload",
                            state], env=harness.environment())
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assert_one_line(done.stderr, f"cannot read the spool {state}/spool: Permission denied: see its rights")

    def test_what_is_no_json(self):
        broken = self.path("profiles/broken.json")
        os.makedirs(os.path.dirname(broken), exist_ok=True)
        with open(broken, "w", encoding="utf-8") as file:
            file.write('{"name": ')
        directory = os.path.dirname(broken)
        self.assertRegex(self.say(1, "report", "--profiles", directory, RECORDING),
                         f"^unblend: cannot read the profile {broken}: line 1: .*: give JSON as `unblend learn` writes it$")
        self.assertEqual(f"unblend: cannot read the profiles in {broken}: it is a file: name the directory that it is in",
                         self.say(1, "report", "--profiles", broken, RECORDING))
        self.assertRegex(self.say(1, "report", "--platform", RECORDING, RECORDING),
                         r"^unblend: cannot use the platform .*: give JSON as unblend-platform\(5\) has it$")

    def test_a_recording_without_rights(self):
        os.chmod(self.directory, 0o755)
        done = harness.run([harness.tool("setpriv"), "--reuid=65534", "--clear-groups", harness.unblend(), "record", "-o",
                            "/dev/null", "--", "true"], env=harness.environment())
        self.assertEqual(1, done.returncode)
        self.assert_one_line(done.stderr, "with the capabilities BPF and PERFMON, or start unblend-agent, ")

    def test_what_is_imported(self):
        for path, words in ((self.path("missing"), "No such file or directory: check the name"),
                            (RECORDING, "this is no bundle: give what unblend-collector export wrote")):
            done = harness.run([os.path.join(harness.bindir(), "unblend-collector"), "import", path, "--db",
                                "host=/nonexistent"], env=harness.environment())
            self.assertEqual((1, f"unblend-collector: cannot import {path}: {words}\n"), (done.returncode, done.stderr))

    def test_an_export_that_fails_loses_nothing(self):
        """The bundle of last week stays, where no database answers."""
        key, bundle = self.path("key"), self.path("bundle")
        for path in (key, bundle):
            with open(path, "w", encoding="utf-8") as file:
                file.write("a" * 64)
            os.chmod(path, 0o600)
        done = harness.run([os.path.join(harness.bindir(), "unblend-collector"), "export", "-o", bundle, "--site-key", key,
                            "--db", "host=/nonexistent"], env=harness.environment())
        self.assertEqual(1, done.returncode)
        self.assertIn("unblend-collector: cannot export: ", done.stderr)
        self.assertEqual(64, os.stat(bundle).st_size)

    def test_files_that_are_named_twice(self):
        again = self.path("again.rec")
        os.symlink(os.path.abspath(RECORDING), again)
        for name in (RECORDING, again):
            self.assertEqual(f"unblend: {name} is named twice, and what it holds counts once: leave one of them out",
                             self.say(1, "report", RECORDING, name))

    def test_another_version(self):
        other = self.path("other.rec")
        with open(RECORDING, "rb") as old, open(other, "wb") as new:
            new.write(old.read().replace(b"UNBLEND1", b"UNBLEND2", 1))
        self.assertEqual(f"unblend: cannot read {other}: it is a recording of another version of Unblend: read it with "
                         "that version", self.say(1, "report", other))
        self.assertEqual(f"unblend: {other}: this is a recording of another version: take that version for it",
                         self.say(1, "payload", other))

    def test_nothing_in_what_was_asked_for(self):
        for options, words in ((["--job", "nosuch"], ", jobs like nosuch"),
                               (["--node", "nosuch"], ", nodes like nosuch"),
                               (["--since", "2100-01-01T00:00:00Z"], ", from 2100-01-01T00:00:00.000Z"),
                               (["--until", "2001-01-01T00:00:00Z"], ", before 2001-01-01T00:00:00.000Z")):
            with self.subTest(options=options):
                self.assertEqual(f"Nothing was recorded in what was asked for: {RECORDING}{words}.\n",
                                 harness.must([harness.unblend(), "report", *options, RECORDING],
                                              env=harness.environment()))

    def test_names_of_profiles(self):
        out = self.path("profile.json")
        for name in ("x/y", "", "a=b", "-", "..", "unknown", "two words"):
            self.assertEqual(f"unblend: a profile cannot be named '{name}': choose letters, digits, '-', '_' and '.'",
                             self.say(2, "learn", "-o", out, "--", name, RECORDING))
        self.assertFalse(os.path.exists(out))
        done = harness.run([harness.unblend(), "learn", "losf", "-o", out, RECORDING], env=harness.environment())
        self.assertEqual(0, done.returncode, done.stderr)
        self.assert_one_line(done.stderr, "unblend: warning: there is a profile losf already: a report that reads "
                             "both takes the learned one")
        os.unlink(out)
        done = harness.run([harness.unblend(), "learn", "mine", "-o", out, RECORDING], env=harness.environment())
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_copies(self):
        again = self.path("copy.rec")
        shutil.copy(RECORDING, again)
        self.assertEqual(f"unblend: {again} holds what {RECORDING} holds, and it counts once: leave one of them out",
                         self.say(1, "report", RECORDING, again))

    def test_files_to_write(self):
        place = self.path("missing/out")
        for command in (["report"], ["export", "fio"]):
            with self.subTest(command=command):
                self.assertEqual(f"unblend: cannot write {place}: No such file or directory: check the name",
                                 self.say(1, *command, "-o", place, RECORDING))
        self.assertEqual(f"unblend: cannot write {self.directory}: Is a directory: name a file in it",
                         self.say(1, "report", "-o", self.directory, RECORDING))

    def test_commands(self):
        recording = self.path("run.rec")
        self.assertEqual("unblend: cannot run nosuchcommand: No such file or directory: check the name",
                         self.say(127, "record", "-o", recording, "--", "nosuchcommand"))
        self.assertIn(": Permission denied: see its rights (ls -l)",
                      self.say(126, "record", "-o", recording, "--", "/etc/passwd"))


class UsageTest(harness.SystemTest):
    """Wrong usage is told before anything is done: status 2, and one line, with file and line of a configuration file."""

    def say(self, status, program, *arguments):
        done = harness.run([os.path.join(harness.bindir(), program), *arguments], env=harness.environment())
        self.assertEqual((status, ""), (done.returncode, done.stdout), done.stderr)
        self.assertRegex(done.stderr, f"^{program}: [^\n]*\n$")
        return done.stderr.removeprefix(f"{program}: ").rstrip("\n")

    def test_values(self):
        database = ["--db", "host=/nonexistent"]
        for program, arguments, words in (
                ("unblend", ["report", "--plain", "foo", "--pseudonyms", RECORDING], "'foo' is no field"),
                ("unblend", ["export", "fio", "--plain", "foo", "--pseudonyms", RECORDING], "'foo' is no field"),
                ("unblend", ["record", "--plain", "foo", "--pseudonyms", "--", "true"], "'foo' is no field"),
                ("unblend", ["payload", "--fields", "foo", RECORDING], "'foo' is no field"),
                ("unblend-agent", ["--fields", "foo"], "'foo' is no field"),
                ("unblend-agent", ["--tree-depth", "0"], "from 1 to 4"),
                ("unblend-agent", ["--tree-depth", "5"], "from 1 to 4"),
                ("unblend-agent", ["--metrics", "foo"], "it is no ADDR:PORT"),
                ("unblend-collector", ["--fields", "foo", *database], "'foo' is no field"),
                ("unblend-collector", ["--listen", "foo", *database], "it is no ADDR:PORT"),
                ("unblend-collector", ["--forward", "ftp://x", "--token-file", "x", *database], "https:// only"),
                ("unblend", ["report", "--format", "xml", RECORDING], "'xml'"),
                ("unblend", ["record", "-j", "", "--", "true"], "job: give it a name"),
                ("unblend", ["record", "-j", "", "--agent", "/x", "--", "true"], "job: give it a name"),
                ("unblend", ["top", "-b", "-p", "0"], "--pid: give a whole number from 1"),
                ("unblend", ["top", "-b", "-n", "0", "--replay", RECORDING], "--count: give a whole number from 1"),
                ("unblend", ["top", "-b", "--speed", "0", "--replay", RECORDING], "--speed: give a whole number from 1"),
                ("unblend", ["report", "--since", "bla", RECORDING], "2026-03-01T12:00 or 2026-03-01, or 2h")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.say(2, program, *arguments))

    def test_values_of_a_file(self):
        config, root = self.path("x.conf"), self.path("missing")
        for program, arguments, line, status, words in (
                ("unblend", ["report", RECORDING], "format = xml", 2, "cannot write the format 'xml'"),
                ("unblend", ["report", RECORDING], "since = bla", 2, "--since: 'bla' is no time"),
                ("unblend", ["report", RECORDING], "plain = bla", 2, "plain: 'bla' is no field"),
                ("unblend", ["record"], "interval = 1ms", 2, "interval: give"),
                ("unblend", ["record"], f"root = {root}", 1, f"root {root}: No such file"),
                ("unblend", ["top", "-b"], "theme = pink", 2, "there is no theme 'pink'"),
                ("unblend-agent", [], "interval = 0", 2, "interval: give"),
                ("unblend-agent", [], "role = foo", 2, "role foo: give"),
                ("unblend-agent", [], "spool-max = 1K", 2, "spool-max: give"),
                ("unblend-agent", ["--token-file", "x"], "collector = ftp://x", 2, "collector ftp://x: "),
                ("unblend-agent", [], "metrics = foo", 2, "cannot listen on foo"),
                ("unblend-collector", ["--db", "x"], "listen = foo", 2, "cannot listen on foo")):
            with self.subTest(program=program, line=line):
                with open(config, "w", encoding="utf-8") as file:
                    file.write(f"# first\n{line}\n")
                command, rest = (arguments[:1], arguments[1:]) if program == "unblend" else ([], arguments)
                said = self.say(status, program, *command, "--config", config, *rest)
                self.assertEqual(f"{config}:2: {words}", said[:len(f"{config}:2: {words}")])

    def test_options_that_do_nothing(self):
        for program, arguments, words in (
                ("unblend", ["report", "--plain", "job", RECORDING], "nothing without --pseudonyms"),
                ("unblend", ["report", "--site-key", "x", RECORDING], "nothing without --pseudonyms"),
                ("unblend", ["top", "-b", "--speed", "4"], "nothing without --replay"),
                ("unblend-agent", ["--token-file", "x"], "--collector is needed"),
                ("unblend-agent", ["--join-file", "x"], "--collector is needed"),
                ("unblend", ["export", "dlio", "--fill", RECORDING], "--fill is for fio alone")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.say(2, program, *arguments))

    def test_commands_know_their_own_options(self):
        collector = os.path.join(harness.bindir(), "unblend-collector")
        for command, own, foreign in (("prune", "max-db-size", "listen"), ("keep", "release", "citus"),
                                      ("revoke", "cluster", "expires"), ("enroll", "expires", "forward"),
                                      ("site-key", "site-key", "db"), ("export", "output", "join")):
            with self.subTest(command=command):
                shown = re.findall(r"(?m)^  (?:-.,|   ) --([a-z-]+)", harness.must([collector, command, "--help"]))
                self.assertIn(own, shown)
                self.assertNotIn(foreign, shown)
                self.assertEqual(f"unknown option '--{foreign}': try 'unblend-collector {command} --help'",
                                 self.say(2, "unblend-collector", command, f"--{foreign}", "1"))
        config = self.path("shared.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write("listen = [::1]:9450\nkeep-raw = 3d\n")
        harness.must([collector, "site-key", "--site-key", self.path("s.key"), "--config", config])

    def test_a_file_may_hold_what_is_for_other_times(self):
        for command, lines in ((["report"], "plain = job\nsite-key = x\n"), (["export", "dlio"], "fill = yes\n")):
            config = self.path("shared.conf")
            with open(config, "w", encoding="utf-8") as file:
                file.write(lines)
            harness.must([harness.unblend(), *command, "--config", config, RECORDING], env=harness.environment())

    def test_what_is_not_there(self):
        missing = self.path("missing")
        self.assertIn(f"root {missing}: No such file", self.say(1, "unblend", "record", "--root", missing, "--", "true"))
        self.assertIn(f"no database is in {missing}: ", self.say(1, "unblend-collector", "conninfo", "--embedded",
                                                                 missing))


class WidthTest(harness.SystemTest):
    def test_a_report_fits_a_terminal(self):
        """Of eighty columns, with values under their titles."""
        text = harness.must([harness.unblend(), "report", RECORDING],
                            env={**harness.environment(), "LC_ALL": "C.UTF-8"})
        self.assertEqual([], [line for line in text.splitlines() if len(line.rstrip()) > 80])
        titles, row = (re.search(f"(?m)^  {name} .*$", text)[0] for name in ("Operation", "read"))
        for word, value in (("count", "114"), ("bytes", "914 KiB"), ("p99", "256 KiB")):
            self.assertEqual(titles.index(word) + len(word), row.index(value) + len(value), word)


if __name__ == "__main__":
    unittest.main()
