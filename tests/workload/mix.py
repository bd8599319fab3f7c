#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A small blend of AI workloads: three programs at once, as they run together on a training cluster.

mix.py prepare DIR   writes the data set (not part of the job)
mix.py run DIR       runs the three parts as processes of their own

  images      a loader that opens, reads and closes one small file a sample
  shards      a reader that streams large shards from front to back
  checkpoint  a trainer that saves its state every now and then
"""
import os
import random
import sys
import time

IMAGES = 3000
IMAGE_MEAN = 56 * 1024  # ImageFolder's mean
SHARDS = 4
SHARD_SIZE = 64 << 20
READ_SIZE = 1 << 20
CHECKPOINTS = 3
CHECKPOINT_SIZE = 96 << 20
CHUNK = 4 << 20


def image_path(root, number):
    return os.path.join(root, "images", "%02d" % (number % 50), "%05d.jpg" % number)


def shard_path(root, number):
    return os.path.join(root, "shards", "train-%03d.tar" % number)


def prepare(root):
    rng = random.Random(42)
    block = rng.randbytes(1 << 20)
    for number in range(IMAGES):
        path = image_path(root, number)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        size = max(4096, min(len(block), int(rng.lognormvariate(0, 0.5) * IMAGE_MEAN)))
        with open(path, "wb") as file:
            file.write(block[:size])
    os.makedirs(os.path.join(root, "shards"), exist_ok=True)
    os.makedirs(os.path.join(root, "checkpoints"), exist_ok=True)
    for number in range(SHARDS):
        with open(shard_path(root, number), "wb") as file:
            for _ in range(SHARD_SIZE // len(block)):
                file.write(block)


def images(root):
    order = list(range(IMAGES))
    random.Random(1).shuffle(order)
    for number in order:
        with open(image_path(root, number), "rb") as file:
            file.read()


def shards(root):
    for number in range(SHARDS):
        with open(shard_path(root, number), "rb", buffering=0) as file:
            while file.read(READ_SIZE):
                pass


def checkpoint(root):
    chunk = bytes(CHUNK)
    for step in range(CHECKPOINTS):
        path = os.path.join(root, "checkpoints", "step-%d.pt" % step)
        with open(path + ".tmp", "wb", buffering=0) as file:
            for _ in range(CHECKPOINT_SIZE // CHUNK):
                file.write(chunk)
            os.fsync(file.fileno())
        os.rename(path + ".tmp", path)
        time.sleep(0.3)


def run(root):
    children = []
    for part in (images, shards, checkpoint):
        pid = os.fork()
        if pid == 0:
            part(root)
            os._exit(0)
        children.append(pid)
    failed = [pid for pid in children if os.waitpid(pid, 0)[1] != 0]
    return 1 if failed else 0


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("prepare", "run"):
        sys.exit("usage: mix.py prepare|run DIR")
    sys.exit((prepare if sys.argv[1] == "prepare" else run)(sys.argv[2]))


if __name__ == "__main__":
    main()
