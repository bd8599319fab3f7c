# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of the programs in plain.py: small, and the same for the same seed."""
import os
import random

import data


def make_files(root, count, least, most, folders=0):
    rng = random.Random(data.SEED)
    content = data.block(rng, most)
    for number in range(count):
        folder = os.path.join(root, "%03d" % (number % folders)) if folders else root
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "%05d.bin" % number), "wb") as file:
            file.write(content[:rng.randrange(least, most)])


def make_tiny(root):
    make_files(root, 2500, 500, 12 << 10, 25)


def make_midsize(root):
    make_files(root, 700, 40 << 10, 110 << 10)


def make_pictures(root):
    make_files(root, 180, 150 << 10, 700 << 10, 6)


def make_voxels(root):
    make_files(root, 20, 2 << 20, 8 << 20)


def make_blocks(root):
    data.make_file(os.path.join(root, "blocks.bin"), 160 << 20)


def make_streams(root):
    for number in range(5):
        data.make_file(os.path.join(root, "part-%d.bin" % number), (30 + 6 * number) << 20)


def make_lines(root):
    rng = random.Random(data.SEED)
    os.makedirs(root)
    for number in range(4):
        with open(os.path.join(root, "part-%d.txt" % number), "w", encoding="ascii") as file:
            file.writelines(data.block(rng, rng.randrange(30, 400)).hex() + "\n" for _ in range(80000))


def make_deep(root):
    """Folders in folders, and files of a few bytes in each."""
    rng = random.Random(data.SEED)
    folders = [root]
    os.makedirs(root)
    for number in range(350):
        folders.append(os.path.join(rng.choice(folders), "d%d" % number))
        os.mkdir(folders[-1])
        for name in range(rng.randrange(25)):
            with open(os.path.join(folders[-1], "f%d" % name), "wb") as file:
                file.write(b"x" * rng.randrange(3000))


def make_package(root):
    """A package of many small modules that import each other."""
    rng = random.Random(data.SEED)
    for number in range(500):
        folder = os.path.join(root, "parts", "group%d" % (number % 20))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "m%d.py" % number), "w", encoding="ascii") as file:
            file.writelines("def f%d(x):\n    return x * %d\n" % (i, rng.randrange(1000)) for i in range(rng.randrange(5, 120)))
    for folder in [os.path.join(root, "parts"), *(os.path.join(root, "parts", "group%d" % i) for i in range(20))]:
        with open(os.path.join(folder, "__init__.py"), "w", encoding="ascii"):
            pass
    with open(os.path.join(root, "everything.py"), "w", encoding="ascii") as file:
        file.writelines("import parts.group%d.m%d\n" % (number % 20, number) for number in range(500))
