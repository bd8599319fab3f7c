# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top` on a recording made here, in terminals of any size or without one."""
import os
import unittest

import harness
import made
from terminal import Terminal

TABS = ["processes", "jobs", "volumes", "devices", "profiles", "bursts", "coverage"]


def listed(kind):
    """Lines of `top --list` of a kind, as lists of words."""
    lines = harness.must([harness.unblend(), "top", "--list"]).splitlines()
    return [line.split("\t")[1:] for line in lines if line.startswith(kind + "\t")]


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
