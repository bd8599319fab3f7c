# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers a program's system calls of one number before the kernel begins them, as long as somebody says so.

A call that is answered so never passes the tracepoints: to whoever watches those, it is a hook that does not fire.
"""
import ctypes
import fcntl
import os
import platform
import select
import socket
import struct
import threading

SECCOMP, FDATASYNC = {"x86_64": (317, 75), "aarch64": (277, 83)}[platform.machine()]
SET_MODE_FILTER, NEW_LISTENER = 1, 8
RET_USER_NOTIF, RET_ALLOW = 0x7fc00000, 0x7fff0000
RECEIVE, SEND = 0xc0502100, 0xc0182101
SIZE = 80  # of struct seccomp_notif
CONTINUE = 1


def _install(number):
    """The listener for calls with that number, of this process and its children."""
    code = [struct.pack("HBBI", 0x20, 0, 0, 0),  # the number
            struct.pack("HBBI", 0x15, 0, 1, number),
            struct.pack("HBBI", 0x06, 0, 0, RET_USER_NOTIF),
            struct.pack("HBBI", 0x06, 0, 0, RET_ALLOW)]
    text = ctypes.create_string_buffer(b"".join(code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(text))
    listener = ctypes.CDLL(None, use_errno=True).syscall(SECCOMP, SET_MODE_FILTER, NEW_LISTENER, program)
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


class Supervisor:
    """decide(comm): the errno to answer a call with, or 0 to let it go on. prepare is for Popen's preexec_fn."""

    def __init__(self, number, decide):
        self.number, self.decide = number, decide
        self.ours, self.theirs = socket.socketpair()
        self.stop = os.pipe()
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def prepare(self):
        socket.send_fds(self.theirs, [b"l"], [_install(self.number)])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.close(self.stop[1])
        self.thread.join()

    def _wait(self, what):
        return what in select.select([what, self.stop[0]], [], [])[0]

    def _serve(self):
        if not self._wait(self.ours.fileno()):
            return
        listener = socket.recv_fds(self.ours, 1, 1)[1][0]
        while self._wait(listener):
            request = bytearray(SIZE)
            try:
                fcntl.ioctl(listener, RECEIVE, request)
                identity, pid = struct.unpack_from("QI", request)
                with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                    error = self.decide(file.read().strip())
                fcntl.ioctl(listener, SEND, struct.pack("QqiI", identity, 0, -error, 0 if error else CONTINUE))
            except OSError:
                if self.thread_ended(listener):
                    break
        os.close(listener)

    @staticmethod
    def thread_ended(listener):
        """Whether nobody is left whose calls could come."""
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        return any(events & select.POLLHUP for _, events in poll.poll(0))
