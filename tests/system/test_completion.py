#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The completions as the three shells themselves answer them, against what --help lists."""
import os
import re
import shutil
import tempfile
import unittest

import harness

PROGRAMS = ("unblend", "unblend-agent", "unblend-collector")

# Answers for the words behind it, the last one being completed.
BASH = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
"_${1//-/_}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

# A shell in a terminal of its own, in which a Tab is pressed; each offer is printed by the shell's own compadd.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -d $1/dump"
zpty -w shell 'compadd() {
    local -a it; local -i hit; local w
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
    builtin compadd -A it "$@"
    for w in $it; do print -r -- "OFFER:$w"; done
    builtin compadd "$@"
}'
zpty -w shell 'finish() { print -r -- "THE""END"; }; zle -N finish; bindkey "^X" finish; bindkey "^I" complete-word'
zpty -w shell 'LISTMAX=10000; unsetopt auto_menu; print READ""Y'
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -w -n shell "$2"$'\\t\\x18'
while zpty -r shell line; do
    print -r -- "$line"
    [[ $line == *THEEND* ]] && break
done
zpty -d shell
"""


class CompletionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="unblend-test-")
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)

    @staticmethod
    def made(shell, name):
        return os.path.join(harness.bindir(), "packaging/completions", shell, name)

    @staticmethod
    def options(*command):
        text = harness.must([os.path.join(harness.bindir(), command[0]), *command[1:], "--help"])
        return set(re.findall(r"^  (?:-.,|   ) (--[a-z-]+)", text, re.M))

    def bash(self, *words):
        text = harness.must([harness.tool("bash"), "-c", BASH, "bash", self.made("bash", words[0]), *words],
                            cwd=self.directory)
        return set(text.split())

    def fish(self, line):
        name = line.split()[0]
        text = harness.must([harness.tool("fish"), "--no-config", "-c",
                             f"source {self.made('fish', name + '.fish')}; complete -C '{line}'"],
                            cwd=self.directory, env={**harness.environment(), "HOME": self.directory})
        return {row.split("\t")[0] for row in text.splitlines()}

    def zsh(self, line):
        folder = tempfile.mkdtemp(dir=self.directory)
        name = "_" + line.split()[0]
        shutil.copy(self.made("zsh", name), folder)
        text = harness.must([harness.tool("zsh"), "-f", "-c", ZSH, "zsh", folder, line], cwd=self.directory, timeout=60,
                            env={**harness.environment(), "HOME": self.directory, "TERM": "dumb"})
        return {offer.strip() for offer in re.findall(r"OFFER:([^\r\n]*)", text)}

    def test_all_options(self):
        for command in (("unblend", "record"), ("unblend", "top"), ("unblend", "report"), ("unblend-agent",),
                        ("unblend-collector", "enroll")):
            wanted = self.options(*command)
            self.assertGreater(len(wanted), 5)
            with self.subTest(command=command):
                self.assertLessEqual(wanted, self.bash(*command, "--"))
                self.assertLessEqual(wanted, self.fish(" ".join((*command, "--"))))

    def test_zsh_asks_itself(self):
        self.assertLessEqual(self.options("unblend", "report"), {o.rstrip("=") for o in self.zsh("unblend report --")})
        self.assertLessEqual({"record", "top", "report"}, self.zsh("unblend "))
        self.assertEqual({"client", "storage", "converged"}, self.zsh("unblend-agent --role="))
        self.assertIn("enroll", self.zsh("unblend-collector "))

    def test_commands_and_values(self):
        commands = {"record", "top", "report", "payload", "learn", "doctor"}
        for ask in (lambda line: self.bash(*line.split(" ")), self.fish):
            self.assertLessEqual(commands, ask("unblend "))
            self.assertEqual({"client", "storage", "converged"}, ask("unblend-agent --role "))
            self.assertLessEqual({"enroll", "revoke", "init-db"}, ask("unblend-collector "))
            self.assertIn("--join", ask("unblend-collector enroll --j"))
        self.assertEqual({"storage"}, self.bash("unblend-agent", "--role", "=", "s"))

    def test_files_and_commands(self):
        for name in ("one.rec", "two.rec"):
            open(os.path.join(self.directory, name), "w", encoding="utf-8").close()
        self.assertLessEqual({"one.rec", "two.rec"}, self.bash("unblend", "report", ""))
        self.assertEqual({"two.rec"}, self.bash("unblend", "record", "-o", "tw"))
        self.assertEqual(set(), self.bash("unblend", "record", "--job", "tw"))
        self.assertLessEqual({"one.rec", "two.rec"}, self.fish("unblend report "))
        self.assertIn("python3", self.bash("unblend", "record", "--", "python3"))
        self.assertIn("python3", self.fish("unblend record -- python3"))

    def test_shells_read_them(self):
        for name in PROGRAMS:
            harness.must([harness.tool("bash"), "-n", self.made("bash", name)])
            harness.must([harness.tool("zsh"), "-n", self.made("zsh", "_" + name)])
            harness.must([harness.tool("fish"), "--no-config", "-n", self.made("fish", name + ".fish")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
