#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A blend of AI workloads on a cluster, of which each call is counted by whoever makes it.

blend.py prepare DIR           writes the data set (not part of the job)
blend.py run DIR RANK ACCOUNT  what one of RANKS ranks does, in three processes, and writes its account as JSON:
                               {operation: [calls, bytes]}

  images      a loader that opens, reads and closes one small file a sample
  shards      a reader that streams large shards from front to back
  checkpoint  a trainer that saves its state every now and then
"""
import json
import os
import random
import sys

RANKS = 2
IMAGES = 800  # a rank
IMAGE_SIZES = (4096, 24576)
SHARDS = 2  # a rank
SHARD_SIZE = 12 << 20
PIECE = 1 << 20
CHECKPOINTS = 2  # a rank
CHECKPOINT_SIZE = 12 << 20
CHUNK = 4 << 20


def image_path(root, rank, number):
    return f"{root}/images/{rank}-{number:05d}.jpg"


def shard_path(root, rank, number):
    return f"{root}/shards/train-{rank}-{number}.tar"


def image_sizes(rank):
    rng = random.Random(rank)
    return [rng.randrange(*IMAGE_SIZES) for _ in range(IMAGES)]


def prepare(root):
    block = random.Random(42).randbytes(PIECE)
    for name in ("images", "shards", "checkpoints"):
        os.mkdir(f"{root}/{name}")
    for rank in range(RANKS):
        for number, size in enumerate(image_sizes(rank)):
            with open(image_path(root, rank, number), "wb") as file:
                file.write(block[:size])
        for number in range(SHARDS):
            with open(shard_path(root, rank, number), "wb") as file:
                for _ in range(SHARD_SIZE // PIECE):
                    file.write(block)


class Account:
    """Makes calls, one for each of its methods, and counts them."""

    def __init__(self):
        self.counts = {}

    def note(self, name, size=0):
        calls, total = self.counts.get(name, (0, 0))
        self.counts[name] = (calls + 1, total + size)

    def open(self, path):
        self.note("open")
        return os.open(path, os.O_RDONLY)

    def create(self, path):
        self.note("create")
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)

    def read(self, fd, size):
        data = os.read(fd, size)
        self.note("read", len(data))
        return data

    def write(self, fd, data):
        size = os.write(fd, data)
        self.note("write", size)
        return size

    def stat(self, fd):
        self.note("stat")
        return os.fstat(fd)

    def fsync(self, fd):
        self.note("fsync")
        os.fsync(fd)

    def close(self, fd):
        self.note("close")
        os.close(fd)

    def rename(self, old, new):
        self.note("rename")
        os.rename(old, new)


def images(root, rank, account):
    order = list(range(IMAGES))
    random.Random(rank).shuffle(order)
    for number in order:
        fd = account.open(image_path(root, rank, number))
        size = account.stat(fd).st_size
        while account.read(fd, size):
            pass
        account.close(fd)


def shards(root, rank, account):
    for number in range(SHARDS):
        fd = account.open(shard_path(root, rank, number))
        while account.read(fd, PIECE):
            pass
        account.close(fd)


def checkpoint(root, rank, account):
    chunk = bytes(CHUNK)
    for step in range(CHECKPOINTS):
        path = f"{root}/checkpoints/{rank}-{step}.pt"
        fd = account.create(path + ".tmp")
        written = 0
        while written < CHECKPOINT_SIZE:
            written += account.write(fd, chunk)
        account.fsync(fd)
        account.close(fd)
        account.rename(path + ".tmp", path)


def part_of(run, root, rank):
    """Runs a part in a process of its own, which hands its account back through a pipe."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        account = Account()
        run(root, rank, account)
        os.write(writer, json.dumps(account.counts).encode())
        os._exit(0)
    os.close(writer)
    return pid, reader


def run(root, rank, to):
    total = {}
    for pid, reader in [part_of(part, root, rank) for part in (images, shards, checkpoint)]:
        with open(reader, encoding="utf-8") as file:
            counts = json.load(file)
        if os.waitpid(pid, 0)[1]:
            sys.exit(f"{pid} has failed")
        for name, (calls, size) in counts.items():
            before = total.get(name, (0, 0))
            total[name] = (before[0] + calls, before[1] + size)
    with open(to, "w", encoding="utf-8") as file:
        json.dump(total, file)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "prepare":
        prepare(sys.argv[2])
    elif len(sys.argv) == 5 and sys.argv[1] == "run":
        run(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit("usage: blend.py prepare DIR | run DIR RANK ACCOUNT")


if __name__ == "__main__":
    main()
