# SPDX-License-Identifier: GPL-2.0-or-later
"""A turn of the ground truth: programs side by side, each a job of its own.

`turn.py FILE` runs those that the file names; each of them is `turn.py share`, and what programs.py wants.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import time

import programs
import outsiders  # noqa: F401: so that its programs, and those of the other sets, are known

STEP = 5  # of being nice
GRACE_S = 5


def step_back():
    """Shares the processors with other programs, and leaves them to the recorder when it needs them. Sessions are what
    the scheduler shares them among, so that eight processes get no more than one."""
    os.setsid()
    os.nice(STEP)
    if os.path.exists("/proc/self/autogroup"):
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(STEP))


def wait_for_others():
    """Until all programs of a turn are ready: those with large libraries would have little of its time otherwise."""
    print("ready", flush=True)
    sys.stdin.read()
    with open(os.devnull, "r+b") as nothing:
        for stream in (0, 1):
            os.dup2(nothing.fileno(), stream)


def end(job):
    """Ends all processes of a job, also those that made sessions of their own."""
    for told in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(told, "rb") as file:
                if b"UNBLEND_JOB=" + job.encode() in file.read().split(b"\0"):
                    os.kill(int(told.split("/")[2]), signal.SIGKILL)
        except OSError:  # it has ended
            pass


def turn(path):
    """Runs a file's programs side by side, each as a job, and adds how they ended: an exit status, or 0 for those that
    were ended because a pass of theirs went on when the time was over."""
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    running = []
    for job in told["jobs"]:
        with open(job["errors"], "wb") as errors:
            running.append(subprocess.Popen([programs.PYTHON, __file__, "share", *job["arguments"]], stderr=errors,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            env={**os.environ, "UNBLEND_JOB": job["job"],
                                                 "HOME": os.path.dirname(path)}))  # for what libraries keep there
    for process in running:
        process.stdout.readline()
    for process in running:
        process.stdin.close()
    over = time.monotonic() + told["seconds"] + GRACE_S
    for job, process in zip(told["jobs"], running):
        try:
            job["status"] = process.wait(max(0, over - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # at once, so that none begins another
            process.wait()
            job["status"] = 0
            for worker in os.listdir(job["arguments"][2]):
                programs.stop_pgbench(os.path.join(job["arguments"][2], worker))
            end(job["job"])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)


def main(first, *arguments):
    if first != "share":
        turn(first)
        return
    programs.load(arguments[0])
    step_back()
    wait_for_others()
    programs.main(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
