# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as agents send them: jobs, without their processes."""
import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system"))
import harness  # noqa: E402
import score  # noqa: E402


def fold(path, target):
    """A recording's batches, as they would leave the node."""
    with subprocess.Popen([harness.unblend(), "payload", path], stdout=subprocess.PIPE) as payload:
        subprocess.run([os.path.join(harness.bindir(), "tests/system/json_recording"), target], check=True,
                       stdin=payload.stdout)
    if payload.returncode:
        raise RuntimeError(f"unblend payload {path}: exit {payload.returncode}")


def main(directory):
    recordings, into = os.path.join(directory, "recordings"), os.path.join(directory, "folded")
    os.makedirs(into, exist_ok=True)
    for path in glob.glob(os.path.join(recordings, "*.json")):
        shutil.copy(path, into)
    score.each(lambda path: fold(path, os.path.join(into, os.path.basename(path))),
               glob.glob(os.path.join(recordings, "*.rec")))
    score.main(into)
