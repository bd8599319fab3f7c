# SPDX-License-Identifier: GPL-2.0-or-later
"""A small cluster of virtual machines: what is in them, and how they are started, told and stopped.

They run Debian's kernel for clouds with the programs of the build and this machine's Python, all in memory. Each has
two network cards: one to this machine, which it knows as 10.0.2.2, and one to the others, who meet in a switch.
"""
import ctypes
import json
import lzma
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kernel"))
from debian import Trouble, command, whole_kernel  # noqa: E402

SUITE = "trixie"
PYTHON = "/usr/bin/python3"
# Loaded in this order, with what they depend on before them.
MODULES = ("virtio_pci", "virtio_net", "nfsd", "nfsv4")
LEFT_OUT = ("test", "idlelib", "lib2to3", "distutils", "ensurepip", "tkinter", "pydoc_data", "unittest", "config-*",
            "turtledemo", "sqlite3", "wsgiref", "xmlrpc", "dbm", "curses", "asyncio", "site-packages", "dist-packages")
PR_SET_PDEATHSIG = 1
BOOT_S = 120
ANSWER_S = 240


def tool(name):
    path = shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not path:
        raise Trouble(f"{name} was not found: install what `tools/packages test` names")
    return path


def libraries(program):
    """What the dynamic linker would load, itself included."""
    return re.findall(r"(/\S+) \(0x", command("ldd", program))


def add_program(root, program, to=None):
    """A program and what it is linked with."""
    to = to or program
    for source, target in [(program, to), *((library, library) for library in libraries(program))]:
        os.makedirs(os.path.dirname(root + target), exist_ok=True)
        shutil.copy(source, root + target)


def add_python(root):
    interpreter = os.path.realpath(PYTHON)
    standard = "/usr/lib/" + os.path.basename(interpreter)
    add_program(root, interpreter, PYTHON)
    shutil.copytree(standard, root + standard, ignore=shutil.ignore_patterns(*LEFT_OUT))
    for directory, _, names in os.walk(f"{root}{standard}/lib-dynload"):
        for name in names:
            for library in libraries(os.path.join(directory, name)):
                os.makedirs(os.path.dirname(root + library), exist_ok=True)
                shutil.copy(library, root + library)


def module_name(path):
    return os.path.basename(path).partition(".")[0].replace("-", "_")


def add_modules(root, kernel):
    """What is needed and not built in, numbered in the order that they are loaded in."""
    found, order = {}, []
    for directory, _, names in os.walk(os.path.join(kernel, "modules/kernel")):
        for name in names:
            if name.endswith((".ko", ".ko.xz")):
                found[module_name(name)] = os.path.join(directory, name)

    def contents(name):
        with (lzma.open if found[name].endswith(".xz") else open)(found[name], "rb") as file:
            return file.read()

    with open(os.path.join(kernel, "modules/modules.builtin"), encoding="ascii") as file:
        built_in = {module_name(line.strip()) for line in file}

    def add(name):
        if name in order or name in built_in:
            return
        if name not in found:
            raise Trouble(f"{kernel} has no module {name}")
        needed = re.search(rb"\0depends=([^\0]*)\0", contents(name))[1].decode()
        for other in filter(None, needed.split(",")):
            add(module_name(other))
        order.append(name)

    for name in MODULES:
        add(name)
    os.mkdir(os.path.join(root, "modules"))
    for number, name in enumerate(order):
        with open(os.path.join(root, f"modules/{number:02d}-{name}.ko"), "wb") as file:
            file.write(contents(name))


def make_initramfs(directory, bindir, files):
    """Everything a machine has: the same for all of them. `files` are {where: from}, beside the programs."""
    if platform.machine() != "x86_64":
        raise Trouble("the machines run this one's programs, and emulate x86_64 only")
    kernel, root = whole_kernel(SUITE, "amd64"), os.path.join(directory, "root")
    os.makedirs(root)
    for name in ("dev", "proc", "sys", "run", "tmp", "etc", "root", "export", "mnt", "var/lib"):
        os.makedirs(os.path.join(root, name))
    add_python(root)
    add_modules(root, kernel)
    for name in ("unblend", "unblend-agent"):
        add_program(root, os.path.join(bindir, name), f"/usr/bin/{name}")
    for name in ("mkfs.ext4", "unshare", "sh"):
        add_program(root, tool(name), f"/usr/bin/{name}")
    for target, source in {"/init": os.path.join(HERE, "guest.py"), "/etc/mke2fs.conf": "/etc/mke2fs.conf",
                           **files}.items():
        os.makedirs(os.path.dirname(root + target), exist_ok=True)
        shutil.copy(source, root + target)
    os.chmod(root + "/init", 0o755)
    with open(root + "/etc/passwd", "w", encoding="ascii") as file:
        file.write("root:x:0:0:root:/root:/bin/sh\nunblend:x:999:999::/:/bin/sh\n")
    with open(root + "/etc/group", "w", encoding="ascii") as file:
        file.write("root:x:0:\nunblend:x:999:\n")
    path = os.path.join(directory, "initramfs")
    command("sh", "-c", f"find . | cpio -o -H newc --quiet >'{path}'", cwd=root)
    shutil.rmtree(root)
    return os.path.join(kernel, "vmlinuz"), path


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Machine:
    """One of them. `lan` are QEMU's words for the card to the others."""

    def __init__(self, directory, image, name, address, lan, *more):
        kernel, initramfs = image
        self.name, self.address, self.port = name, address, free_port()
        self.console = os.path.join(directory, f"{name}.console")
        self.process = subprocess.Popen(
            [tool("qemu-system-x86_64"), "-accel", "tcg", "-cpu", "max,-cx16", "-smp", "1", "-m", "768M", "-display",
             "none", "-monitor", "none", "-no-reboot", "-serial", f"file:{self.console}", "-kernel", kernel, "-initrd",
             initramfs, "-netdev", f"user,id=out,hostfwd=tcp:127.0.0.1:{self.port}-:9000", "-device",
             "virtio-net-pci,netdev=out,romfile=", *lan, "-device",
             f"virtio-net-pci,netdev=lan,romfile=,mac=52:54:00:77:00:{int(address.rpartition('.')[2]):02x}", *more,
             "-append", f"console=ttyS0 panic=-1 quiet unblend.node={name} unblend.address={address}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=end_with_parent)

    def said(self):
        """The end of what was to be read on its screen."""
        try:
            with open(self.console, encoding="utf-8", errors="replace") as file:
                return file.read()[-2000:]
        except OSError:
            return ""

    def wait_for(self, condition, what, seconds=BOOT_S):
        """What the condition says when it says something."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if self.process.poll() is not None:
                raise Trouble(f"{self.name}: QEMU has ended: {self.process.stderr.read().strip()} {self.said()}")
            if time.monotonic() > deadline:
                raise Trouble(f"{self.name}: not within {seconds} s: {what}: {self.said()}")
            time.sleep(0.1)
        return found

    def wait_ready(self):
        self.wait_for(lambda: "ready after" in self.said(), "it is ready")

    def do(self, what, answer_s=ANSWER_S, **how):
        """Tells it to do something, and returns what came of it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=answer_s) as connection:
            connection.sendall(json.dumps({"do": what, **how}).encode() + b"\n")
            with connection.makefile(encoding="utf-8") as lines:
                line = lines.readline()
        if not line:
            raise AssertionError(f"{self.name}: {what} {how}: no answer: {self.said()}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise AssertionError(f"{self.name}: {what} {how}: {answer['why']}")
        return answer

    def run(self, *words, **how):
        """The output of a program that must succeed there."""
        done = self.do("execute", run=words, **how)
        if done["status"]:
            raise AssertionError(f"{self.name}: {' '.join(words)}: exit {done['status']}: {done['stderr']}")
        return done["stdout"]

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.communicate()
