# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads that are exported: mixture.py NAME DIRECTORY."""
import os
import random
import sys
import time


def put(path, sizes):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for size in sizes:
        os.write(fd, bytes(size))
    return fd


def files(directory):
    """Many files are made, looked at, read to their end, and some are deleted; then a checkpoint."""
    paths = [os.path.join(directory, f"file{number}") for number in range(600)]
    for number, path in enumerate(paths):
        os.close(put(path, [4096] * (1 + number % 5)))
    for _ in range(3):
        for path in paths:
            os.stat(path)
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        while os.read(fd, 4096):
            pass
        os.close(fd)
    for path in paths[:400]:
        os.unlink(path)
    fd = put(os.path.join(directory, "checkpoint"), [1 << 20] * 24)
    os.fsync(fd)
    os.close(fd)


def tiny(directory):
    """Files below a block are read once, and looked at often."""
    paths = [os.path.join(directory, f"tiny{number}") for number in range(200)]
    for path in paths:
        os.close(put(path, [300]))
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.read(fd, 300)
        os.close(fd)
    for _ in range(20):
        for path in paths:
            os.stat(path)


def sizes(directory):
    """Transfers of more than a hundred sizes, from 100 bytes to 2 MiB, most of them small; bursts with pauses."""
    dice = random.Random(1)
    path = os.path.join(directory, "data")
    fd = put(path, [1 << 20] * 32)
    os.close(fd)
    fd = os.open(path, os.O_RDWR)
    for _ in range(4):
        for _ in range(600):
            size = int(100 * 2 ** (14.35 * dice.random() ** 2))
            offset = dice.randrange((32 << 20) - size)
            if dice.random() < 0.7:
                os.pread(fd, size, offset)
            else:
                os.pwrite(fd, bytes(size), offset)
        time.sleep(0.5)
    os.close(fd)


def stream(directory):
    """One size, from front to back."""
    path = os.path.join(directory, "shard")
    os.close(put(path, [65536] * 512))
    for _ in range(3):
        fd = os.open(path, os.O_RDONLY)
        while os.read(fd, 262144):
            pass
        os.close(fd)


def jumps(directory):
    """Shards from front to back, and pages of an index anywhere."""
    dice = random.Random(2)
    path = os.path.join(directory, "shard")
    os.close(put(path, [65536] * 512))
    fd = os.open(path, os.O_RDONLY)
    for _ in range(512):
        os.read(fd, 65536)
    index = os.open(path, os.O_RDONLY)
    for _ in range(2000):
        os.pread(index, 4096, 8192 * dice.randrange(4000) + 4096)
    os.close(index)
    os.close(fd)
    fd = os.open(path, os.O_RDWR)
    for number in range(100):
        os.pwrite(fd, bytes(4096), 4096 * number)
    os.close(fd)


def mixed_files(directory):
    """What mixed() reads."""
    os.close(put(os.path.join(directory, "records"), [1 << 20] * 60))
    for number in range(400):
        os.close(put(os.path.join(directory, f"sample{number}"), [2048 + 40 * number] * 4))


def mixed(directory):
    """Records anywhere in a large file, many small files three times, and a large file that is saved at last."""
    dice = random.Random(3)
    fd = os.open(os.path.join(directory, "records"), os.O_RDONLY)
    for _ in range(4000):
        os.pread(fd, 65536, dice.randrange(59 << 20))
    os.close(fd)
    for number in list(range(400)) * 3:
        fd = os.open(os.path.join(directory, f"sample{number}"), os.O_RDONLY)
        os.fstat(fd)
        while os.read(fd, 32768):
            pass
        os.close(fd)
    fd = put(os.path.join(directory, "saved"), [1 << 20] * 30)
    os.fsync(fd)
    os.close(fd)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
