#!/usr/bin/python3 -ISu
# SPDX-License-Identifier: GPL-2.0-or-later
"""The first process of a machine of the cluster: makes it ready, and then does what it is told over TCP.

A connection brings one line of JSON, {"do": NAME, ...}, and takes one back: {"ok": true, ...} or {"ok": false, "why"}.
The kernel's command line has the machine's name and its address in the cluster: unblend.node=N unblend.address=A.
"""
import ctypes
import fcntl
import glob
import json
import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time
import traceback

PORT = 9000
OUTWARD = ("eth0", "10.0.2.15")  # where QEMU expects us, and is 10.0.2.2 itself
SYS_FINIT_MODULE = 313
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/root", "PYTHONHASHSEED": "0"}
FOREVER = 2**31 - 1
EXPORT_OPEN = 0x2000 | 0x400 | 0x2  # found by its number; no check of the path to it; from any port
EXPORT_NAMES = EXPORT_OPEN | 0x10000 | 0x1  # names only; read-only
LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


MS_BIND, MS_REC = 0x1000, 0x4000


def mount(source, target, fstype, options=""):
    os.makedirs(target, exist_ok=True)
    checked(LIBC.mount(source.encode(), target.encode(), fstype.encode(), 0, options.encode()),
            f"mount {fstype} {target}")


def mount_export(server, address, target):
    """What mount.nfs does, with the server's name as it is in every node's table of mounts."""
    own = dict(word.split("=", 1) for word in read("/proc/cmdline").split() if "=" in word)["unblend.address"]
    mount(f"{server}:/export", target, "nfs4", f"vers=4.2,addr={address},clientaddr={own},hard,timeo=600,retrans=2")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write(path, text, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.write(text)


def set_address(name, address):
    """Brings an interface up; its network is the address's 24 bits."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((0x8916, address), (0x891C, "255.255.255.0")):  # SIOCSIFADDR, SIOCSIFNETMASK
            packed = struct.pack("16sHH4s8x", name.encode(), socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(control, request, packed)
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", name.encode(), 0x41))  # SIOCSIFFLAGS: up, running


def load_modules(server=False):
    """In their order; the NFS server's on the server only."""
    for path in sorted(glob.glob("/modules/*.ko")):
        if path.endswith("-nfsd.ko") == server:
            with open(path, "rb") as file:
                checked(LIBC.syscall(SYS_FINIT_MODULE, file.fileno(), b"", 0), path)


def set_up():
    for fstype, target in (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/run"),
                           ("tmpfs", "/tmp"), ("cgroup2", "/sys/fs/cgroup"), ("bpf", "/sys/fs/bpf"),
                           ("tracefs", "/sys/kernel/tracing")):
        mount(fstype, target, fstype)
    load_modules()
    words = dict(word.split("=", 1) for word in read("/proc/cmdline").split() if "=" in word)
    socket.sethostname(words["unblend.node"])
    set_address("lo", "127.0.0.1")
    set_address(*OUTWARD)
    set_address("eth1", words["unblend.address"])


def serve_nfs():
    """
    A file system on the disk, exported as /export over NFS 4.2 by the kernel's server. What mountd would be asked is
    told beforehand: who the clients are, and what the two exports are, the root of names (0) and the file system (1).
    """
    subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "/dev/nvme0n1"],
                   check=True)
    mount("/dev/nvme0n1", "/export", "ext4")
    load_modules(server=True)
    mount("nfsd", "/proc/fs/nfsd", "nfsd")
    cache = "/proc/net/rpc"
    for n in range(1, 9):
        write(f"{cache}/auth.unix.ip/channel", f"nfsd 10.77.0.{n} {FOREVER} *\n")
    for fsid, path, flags in (0, "/", EXPORT_NAMES), (1, "/export", EXPORT_OPEN):
        write(f"{cache}/nfsd.export/channel", f"* {path} {FOREVER} {flags} 65534 65534 {fsid}\n")
        write(f"{cache}/nfsd.fh/channel", f"* 1 \\x{fsid:02x}000000 {FOREVER} {path}\n")
    write("/proc/fs/nfsd/nfsv4gracetime", "10\n")
    write("/proc/fs/nfsd/versions", "-2 -3 +4 +4.1 +4.2\n")
    write("/proc/fs/nfsd/portlist", "tcp 2049\n")
    write("/proc/fs/nfsd/threads", "8\n")


def execute(run, env=None, timeout=120):
    done = subprocess.run(run, env={**ENVIRONMENT, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=timeout, check=False)
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def start(run, log, env=None):
    """A program that goes on; what it says goes to a file."""
    with open(log, "ab") as file:
        process = subprocess.Popen(run, env={**ENVIRONMENT, **(env or {})}, stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=file, start_new_session=True)
    threading.Thread(target=process.wait, daemon=True).start()
    return {"pid": process.pid}


def start_container(run, server, address, target, log, env=None):
    """
    Starts a program as a container engine would: in a cgroup named as Docker's are, with processes, mounts and cgroups
    of its own. There, and only there, the export is mounted.
    """
    group = "/sys/fs/cgroup/system.slice/docker-" + "c0ffee00" * 8 + ".scope"
    os.makedirs(group, exist_ok=True)
    inside = [sys.executable, "-IS", "/init", "contained", server, address, target, *run]
    joined = f"echo $$ >{group}/cgroup.procs; exec unshare --pid --fork --mount-proc --cgroup -- \"$@\""
    return start(["sh", "-c", joined, "sh", *inside], log, env)


def start_hosted(run, log, env=None):
    """A program in a container that watches the node: the node's processes and files are there, below /host."""
    inside = [sys.executable, "-IS", "/init", "hosted", *run]
    return start(["unshare", "--mount", "--propagation", "private", "--", *inside], log, env)


def hosted(*words):
    os.makedirs("/host", exist_ok=True)
    checked(LIBC.mount(b"/", b"/host", None, MS_BIND | MS_REC, None), "mount --rbind / /host")
    os.execvpe(words[0], words, dict(os.environ))


def contained(server, address, target, *words):
    mount_export(server, address, target)
    os.execvpe(words[0], words, dict(os.environ))


def ask_agent(line):
    """A request at the agent's socket, and its answer."""
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect("/run/unblend/agent.sock")
        agent.sendall(line.encode() + b"\n")
        with agent.makefile() as answers:
            return {"answer": json.loads(answers.readline())}


def read_links(path):
    return {"text": "\n".join(os.readlink(os.path.join(path, name)) for name in os.listdir(path))}


def hide_file(path):
    """An empty one is there in its place."""
    write("/tmp/nothing", "")
    checked(LIBC.mount(b"/tmp/nothing", path.encode(), None, MS_BIND, None), f"mount --bind {path}")


def drop_caches():
    os.sync()
    write("/proc/sys/vm/drop_caches", "3")


DEEDS = {"serve": serve_nfs, "mount": mount_export, "execute": execute, "start": start, "contain": start_container,
         "host": start_hosted,
         "ask": ask_agent,
         "drop": drop_caches, "nfsd": lambda: load_modules(server=True), "hide": hide_file, "links": read_links,
         "read": lambda path: {"text": read(path)}, "write": write}


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline()
        if not line:
            return
        try:
            request = json.loads(line)
            answer = {"ok": True, **(DEEDS[request.pop("do")](**request) or {})}
        except Exception:  # whatever it is, the test is told
            answer = {"ok": False, "why": traceback.format_exc()}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def main():
    if sys.argv[1:2] == ["contained"]:
        contained(*sys.argv[2:])
    if sys.argv[1:2] == ["hosted"]:
        hosted(*sys.argv[2:])
    try:
        set_up()
        server = Server(("0.0.0.0", PORT), Handler)
        print(f"ready after {time.monotonic():.1f} s", flush=True)
        server.serve_forever()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        time.sleep(1)
        raise


if __name__ == "__main__":
    main()
