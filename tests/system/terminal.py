# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal of a certain size, with a program in it: tmux, without anybody's configuration."""
import os
import re
import shutil
import subprocess
import tempfile
import time

import harness

WAIT_S = 30


class Terminal:
    """`with Terminal(80, 24, [COMMAND...]) as terminal`: the program is gone at the end, whatever happens."""

    def __init__(self, width, height, command, **environment):
        self.directory = tempfile.mkdtemp(prefix="unblend-tmux-")
        self.tmux = [harness.tool("tmux"), "-S", os.path.join(self.directory, "socket"), "-f", "/dev/null"]
        self.status, self.errors = (os.path.join(self.directory, name) for name in ("status", "errors"))
        settings = {"LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": self.directory, "HOME": self.directory, "TERM": None,
                    "NO_COLOR": "", **environment}
        words = ["env", *(f"{name}={value}" for name, value in settings.items() if value is not None), *command]
        line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        # what is left on the screen afterwards can be looked at
        line = (f"{line} 2>{self.errors}; echo $? >{self.status}.new; mv {self.status}.new {self.status}; "
                "exec sleep 1000")
        harness.must([*self.tmux, "new-session", "-d", "-x", str(width), "-y", str(height), "sh", "-c", line])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        subprocess.run([*self.tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def press(self, *keys):
        """Keys as tmux calls them; one a call, so that none is taken for a part of another."""
        for key in keys:
            harness.must([*self.tmux, "send-keys", key])

    def type(self, text):
        harness.must([*self.tmux, "send-keys", "-l", text])

    def click(self, x, y):
        """The first button pressed and released, as terminals have always sent it."""
        self.type("".join(f"\033[M{button}{chr(33 + x)}{chr(33 + y)}" for button in "\x20\x23"))

    def click_until(self, x, y, pattern):
        """A busy machine may tear a click's bytes apart, which is no click then."""
        for _ in range(20):
            self.click(x, y)
            until = time.monotonic() + 1.5
            while time.monotonic() < until:
                if re.search(pattern, self.screen()):
                    return
                time.sleep(0.05)
        self.wait(pattern)

    def resize(self, width, height):
        harness.must([*self.tmux, "resize-window", "-x", str(width), "-y", str(height)])

    def screen(self, colors=False):
        text = harness.must([*self.tmux, "capture-pane", "-p", *(["-e"] if colors else [])])
        return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"

    def wait(self, pattern, absent=False):
        """The screen, once it has the pattern (or has it no more)."""
        until = time.monotonic() + WAIT_S
        while True:
            screen = self.screen()
            if bool(re.search(pattern, screen)) != absent:
                time.sleep(0.03)
                if screen == self.screen() or time.monotonic() > until:
                    return screen  # painted to the end
                continue
            if time.monotonic() > until:
                raise AssertionError(f"{'still' if absent else 'no'} {pattern!r} on the screen:\n{screen}"
                                     f"{self.said()}")
            time.sleep(0.05)

    def ended(self):
        """The exit status, once there is one."""
        until = time.monotonic() + WAIT_S
        while not os.path.exists(self.status):
            if time.monotonic() > until:
                raise AssertionError(f"it does not end:\n{self.screen()}")
            time.sleep(0.05)
        with open(self.status, encoding="ascii") as file:
            return int(file.read())

    def said(self):
        """What stands on stderr."""
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def pid(self):
        """Of the program."""
        shell = harness.must([*self.tmux, "display-message", "-p", "#{pane_pid}"]).strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            return int(file.read().split()[0])
