# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts operations in a log of strace by the rules of the manual, without a line of the probe's code.

    python3 strace_reduce.py LOG [DIRECTORY]

prints what was done on each volume, and by which calls. DIRECTORY is where the command was started. Files
are taken for new when they are first opened with O_CREAT and nothing in the log showed them before.
"""
import collections
import os
import re
import sys

import strace_log

NONE = None      # not storage
UNKNOWN = "?"    # storage, but nobody can say which

PSEUDO = {"proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "bpf", "devpts",
          "mqueue", "configfs", "pstore", "binfmt_misc", "fusectl", "nsfs", "hugetlbfs", "autofs"}

# Calls on a descriptor, their first argument.
BY_DESCRIPTOR = {
    "read": "read", "pread64": "read", "readv": "read", "preadv": "read", "preadv2": "read",
    "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write",
    "pwritev2": "write", "close": "close", "fstat": "stat", "fstatfs": "stat", "fgetxattr": "stat",
    "flistxattr": "stat", "lseek": "seek", "getdents": "readdir", "getdents64": "readdir",
    "ftruncate": "truncate", "fallocate": "truncate", "fchmod": "setattr", "fchown": "setattr",
    "fsetxattr": "setattr", "fremovexattr": "setattr", "fsync": "fsync", "fdatasync": "fsync",
    "sync_file_range": "fsync", "syncfs": "fsync",
}
# Calls by path: the operation, and which arguments are the directory (None: the working one) and the path.
BY_PATH = {
    "access": ("stat", None, 0), "faccessat": ("stat", 0, 1), "faccessat2": ("stat", 0, 1),
    "readlink": ("stat", None, 0), "readlinkat": ("stat", 0, 1), "statfs": ("stat", None, 0),
    "getxattr": ("stat", None, 0), "lgetxattr": ("stat", None, 0), "listxattr": ("stat", None, 0),
    "llistxattr": ("stat", None, 0), "stat": ("stat", None, 0), "lstat": ("stat", None, 0),
    "newfstatat": ("stat", 0, 1), "statx": ("stat", 0, 1), "link": ("create", None, 1),
    "linkat": ("create", 2, 3), "symlink": ("create", None, 1), "symlinkat": ("create", 1, 2),
    "mknod": ("create", None, 0), "mknodat": ("create", 0, 1), "unlink": ("unlink", None, 0),
    "unlinkat": ("unlink", 0, 1), "rmdir": ("unlink", None, 0), "rename": ("rename", None, 0),
    "renameat": ("rename", 0, 1), "renameat2": ("rename", 0, 1), "mkdir": ("mkdir", None, 0),
    "mkdirat": ("mkdir", 0, 1), "truncate": ("truncate", None, 0), "chmod": ("setattr", None, 0),
    "fchmodat": ("setattr", 0, 1), "fchmodat2": ("setattr", 0, 1), "chown": ("setattr", None, 0),
    "lchown": ("setattr", None, 0), "fchownat": ("setattr", 0, 1), "utime": ("setattr", None, 0),
    "utimes": ("setattr", None, 0), "futimesat": ("setattr", 0, 1), "utimensat": ("setattr", 0, 1),
    "setxattr": ("setattr", None, 0), "lsetxattr": ("setattr", None, 0),
    "removexattr": ("setattr", None, 0), "lremovexattr": ("setattr", None, 0),
}
OPENS = {"open": None, "creat": None, "openat": 0, "openat2": 0}  # the directory's argument
TRANSFERS = {"sendfile": (1, 0), "splice": (0, 2), "copy_file_range": (0, 2)}  # from, to
NOWHERE = {"sync": "fsync", "msync": "fsync"}
STATS = {"stat", "lstat", "newfstatat", "statx", "fstat"}
# Not counted, but they say who has which descriptors and works where.
BOOKKEEPING = {"chdir", "fchdir", "clone", "clone3", "fork", "vfork", "execve", "execveat", "dup",
               "dup2", "dup3", "fcntl", "close_range"}
WANTED = set().union(BY_DESCRIPTOR, BY_PATH, OPENS, TRANSFERS, NOWHERE, BOOKKEEPING)

ANNOTATED = re.compile(r"(?:AT_FDCWD|-?\d+)<(.*)>(?:\(deleted\))?$", re.S)
DEVICE = re.compile(r"(.*)<(block|char) (\d+):(\d+)>$", re.S)


class Mounts:
    """The mount table: which device a path is on, by its longest mount point."""

    def __init__(self, path="/proc/self/mountinfo"):
        self.points, self.types = {}, {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                fields = line.split()
                point = strace_log.unescape(fields[4])
                self.points[point] = fields[2]
                self.types[fields[2]] = fields[fields.index("-") + 1]

    def device(self, path):
        while path not in self.points:
            path = path.rpartition("/")[0] or "/"
        return self.points[path]

    def storage(self, device):
        return NONE if self.types.get(device) in PSEUDO else device

    def of_path(self, path):
        return self.storage(self.device(path))

    def point(self, device):
        return next((point for point, of in self.points.items() if of == device), device)


class Process:
    def __init__(self, directory, descriptors):
        self.directory = directory      # [path], shared between threads
        self.descriptors = descriptors  # number -> [volume, closed on exec], likewise

    def child(self, flags):
        directory = self.directory if "CLONE_FS" in flags else list(self.directory)
        if "CLONE_FILES" in flags:
            return Process(directory, self.descriptors)
        return Process(directory, {fd: list(entry) for fd, entry in self.descriptors.items()})


class Reduction:
    """Operations by volume ("major:minor", "block:major:minor" or "?"), and which calls they were."""

    def __init__(self, mounts, directory="/", existing=()):
        self.mounts = mounts
        self.directory = directory
        self.existing = set(existing)
        self.special = set()  # FIFOs and sockets by path: strace does not tell them from files
        self.processes, self.parents = {}, {}
        self.counts = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0]))
        self.calls = collections.Counter()

    def read(self, lines):
        calls = list(strace_log.calls(lines, WANTED))
        for call in calls:
            if call.name in ("clone", "clone3", "fork", "vfork") and call.result > 0:
                self.parents[call.result] = call
        for call in calls:
            self.take(call)
        return self

    def process(self, pid):
        if pid not in self.processes:
            made = self.parents.get(pid)
            # A child may show up before its parent's call has returned.
            self.processes[pid] = (self.process(made.pid).child(" ".join(made.args)) if made else
                                   Process([self.directory], {}))
        return self.processes[pid]

    # --- where ---

    def of_annotation(self, text):
        """What a descriptor stands for, as strace -yy has it behind the number."""
        text = strace_log.unescape(text)
        device = DEVICE.match(text)
        if device:
            return f"block:{device[3]}:{device[4]}" if device[2] == "block" else NONE
        if not text.startswith("/") or text.startswith("/memfd:") or text in self.special:
            return NONE
        return self.mounts.of_path(text)

    def of_descriptor(self, argument):
        match = ANNOTATED.match(argument)
        return self.of_annotation(match[1]) if match else NONE

    def place(self, process, directory, path):
        """The volume of a call by path, and the path made absolute; its directory and path as logged."""
        if directory is None:
            base, volume = process.directory[0], self.mounts.of_path(process.directory[0])
        else:
            match = ANNOTATED.match(directory)
            base = strace_log.unescape(match[1]) if match else "/"
            volume = self.of_descriptor(directory)
        if path in ("NULL", '""'):
            return volume, base
        if not path.startswith('"'):
            return UNKNOWN, None  # an address that the kernel could not read either
        name = strace_log.unescape(path[1:-1])
        if name.startswith("/"):
            return self.mounts.of_path(name), os.path.normpath(name)
        return volume, os.path.normpath(os.path.join(base, name))

    def of_stat(self, text, fallback):
        """st_dev of what a successful stat has shown."""
        if text.startswith("{stx_"):
            numbers = [re.search(rf"stx_{part}=(\d+|0x[0-9a-f]+)", text) for part in
                       ("dev_major", "dev_minor", "rdev_major", "rdev_minor")]
            device = ":".join(str(int(number[1], 0)) for number in numbers[:2])
            special = ":".join(str(int(number[1], 0)) for number in numbers[2:] if number)
        else:
            found = dict((name, f"{int(major, 0)}:{int(minor, 0)}") for name, major, minor in
                         re.findall(r"(st_r?dev)=makedev\((\w+), (\w+)\)", text))
            device, special = found["st_dev"], found.get("st_rdev")
        kind = re.search(r"stx?_mode=(S_IF\w+)", text)[1]
        if kind == "S_IFBLK":
            return f"block:{special}"
        if kind not in ("S_IFREG", "S_IFDIR", "S_IFLNK"):
            return NONE
        return self.mounts.storage(device) if device in self.mounts.types else fallback

    # --- what ---

    def count(self, call, operation, volume, size=0):
        if volume is NONE:
            return
        entry = self.counts[volume][operation]
        entry[0] += 1
        entry[1] += size
        entry[2] += call.result < 0
        self.calls[volume, operation, call.name, call.error or ""] += 1

    def take(self, call):
        process = self.process(call.pid)
        if call.name in OPENS:
            self.take_open(call, process)
        elif call.name in TRANSFERS:
            size = max(call.result, 0)
            for operation, argument in zip(("read", "write"), TRANSFERS[call.name]):
                self.count(call, operation, self.of_descriptor(call.args[argument]), size)
        elif call.name in BY_PATH:
            self.take_path(call, process)
        elif call.name in NOWHERE:
            self.count(call, NOWHERE[call.name], UNKNOWN)
        elif call.name in BY_DESCRIPTOR:
            operation = BY_DESCRIPTOR[call.name]
            size = max(call.result, 0) if operation in ("read", "write") else 0
            self.count(call, operation, self.of_descriptor(call.args[0]), size)
            if call.name == "close":
                process.descriptors.pop(int(call.args[0].partition("<")[0]), None)
        else:
            self.keep_books(call, process)

    def take_open(self, call, process):
        flags = "O_CREAT" if call.name == "creat" else ",".join(call.args[1:])
        directory = OPENS[call.name]
        path = call.args[0 if directory is None else 1]
        volume, _ = self.place(process, None if directory is None else call.args[directory], path)
        operation = "open"
        if call.result >= 0:
            volume = self.of_annotation(call.annotation)
            name = strace_log.unescape(call.annotation)
            if "O_TMPFILE" in flags or "O_CREAT" in flags and name not in self.existing:
                operation = "create"
            self.existing.add(name)
            process.descriptors[call.result] = [volume, "O_CLOEXEC" in flags]
        self.count(call, operation, volume)

    def take_path(self, call, process):
        operation, directory, path = BY_PATH[call.name]
        volume, name = self.place(process, None if directory is None else call.args[directory],
                                  call.args[path])
        if call.name in STATS and call.result == 0:
            buffer = next(argument for argument in call.args if argument.startswith("{st"))
            volume = self.of_stat(buffer, volume)
        self.count(call, operation, volume)
        if call.result < 0 or not name:
            return
        if operation == "unlink":
            self.existing.discard(name)
            self.special.discard(name)
        elif operation == "create":
            self.existing.add(name)
            if "S_IFIFO" in call.args[-1] or "S_IFSOCK" in call.args[-1]:
                self.special.add(name)
        elif operation == "rename":
            second = None if directory is None else call.args[2]
            self.move(name, self.place(process, second, call.args[1 if directory is None else 3])[1])

    def move(self, old, new):
        for known in (self.existing, self.special):
            moved = {name for name in known if name == old or name.startswith(old + "/")}
            known -= moved
            known |= {new + name[len(old):] for name in moved}

    def keep_books(self, call, process):
        if call.result < 0:
            return
        if call.name == "chdir":
            process.directory[0] = self.place(process, None, call.args[0])[1]
        elif call.name == "fchdir":
            process.directory[0] = strace_log.unescape(ANNOTATED.match(call.args[0])[1])
        elif call.name.startswith("execve"):
            process.descriptors = {fd: entry for fd, entry in process.descriptors.items()
                                   if not entry[1]}
        elif call.name == "close_range":
            self.take_range(call, process)
        elif call.name == "fcntl" and call.args[1] == "F_SETFD":
            entry = process.descriptors.get(int(call.args[0].partition("<")[0]))
            if entry:
                entry[1] = "FD_CLOEXEC" in call.args[2]
        elif call.annotation is not None:  # dup and its like, fcntl(F_DUPFD)
            process.descriptors[call.result] = [self.of_annotation(call.annotation),
                                                "CLOEXEC" in ",".join(call.args)]
        elif call.name in ("clone", "clone3", "fork", "vfork"):
            self.process(call.result)

    def take_range(self, call, process):
        first, last = int(call.args[0]), int(call.args[1])
        for fd in [fd for fd in process.descriptors if first <= fd <= last]:
            if "CLOSE_RANGE_CLOEXEC" in call.args[2]:
                process.descriptors[fd][1] = True
            else:
                self.count(call, "close", process.descriptors.pop(fd)[0])

    def totals(self):
        """{volume: {operation: (operations, bytes, errors)}}"""
        return {volume: {operation: tuple(entry) for operation, entry in operations.items()}
                for volume, operations in self.counts.items()}

    def error_codes(self):
        """{(volume, operation): {error: how often}}"""
        codes = {}
        for (volume, operation, _, error), number in self.calls.items():
            if error:
                entry = codes.setdefault((volume, operation), {})
                entry[error] = entry.get(error, 0) + number
        return codes

    def explain(self, volume, operation):
        """Which calls an operation was: what one looks at when two counts differ."""
        return [f"{number:8} {name} {error}".rstrip() for (where, what, name, error), number in
                sorted(self.calls.items()) if (where, what) == (volume, operation)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    mounts = Mounts()
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as file:
        reduction = Reduction(mounts, *(sys.argv[2:] or [os.getcwd()])).read(file)
    for volume, operations in sorted(reduction.totals().items()):
        print(f"{volume} {mounts.point(volume)}")
        for operation, (ops, size, errors) in sorted(operations.items()):
            print(f"  {operation:10} {ops:8} operations {size:12} bytes {errors:6} errors")
            for line in reduction.explain(volume, operation):
                print("    " + line)


if __name__ == "__main__":
    main()
