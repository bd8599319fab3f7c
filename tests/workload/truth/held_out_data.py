# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of the programs in held_out.py: small, and the same for the same seed."""
import json
import os
import random
import shutil
import subprocess
import sysconfig

import data

ROWS, ROW = 4000, 24 << 10


def make_tiff(root):
    import tifffile
    os.makedirs(root)
    for number in range(150):
        pixels = (data.samples(1, (330, 400, 3))[0] * 255).astype("uint8")
        tifffile.imwrite(os.path.join(root, "%04d.tif" % number), pixels)


def make_tiffs(root):
    """One file of many pages."""
    import tifffile
    os.makedirs(root)
    tifffile.imwrite(os.path.join(root, "stack.tif"), data.samples(1500, (160, 160)).astype("float32"))


def make_mat(root):
    import scipy.io
    os.makedirs(root)
    for number in range(100):
        scipy.io.savemat(os.path.join(root, "%04d.mat" % number), {"x": data.samples(1, (280, 280))[0]})


def make_csv(root):
    """Many small tables."""
    rng = random.Random(data.SEED)
    for number in range(800):
        directory = os.path.join(root, "%02d" % (number % 16))
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "%04d.csv" % number), "w", encoding="ascii") as file:
            file.writelines("%d,%f,%f\n" % (row, rng.random(), rng.random()) for row in range(rng.randrange(300, 1500)))


def make_text(root):
    """Shards of lines, plain and compressed."""
    rng = random.Random(data.SEED)
    os.makedirs(root)
    for number in range(4):
        path = os.path.join(root, "part-%d.jsonl" % number)
        with open(path, "w", encoding="ascii") as file:
            for row in range(45000):
                file.write(json.dumps({"id": row, "text": rng.randbytes(180).hex()}) + "\n")
        subprocess.run(["gzip", "-1k", path], check=True)
        subprocess.run(["zstd", "-q1", path], check=True)


def make_table(root):
    rng = random.Random(data.SEED)
    os.makedirs(root)
    with open(os.path.join(root, "all.csv"), "w", encoding="ascii") as file:
        for row in range(700000):
            file.write("%d,%f,%f,%d\n" % (row, rng.random(), rng.random(), rng.randrange(1 << 30)))


def rows():
    rng = random.Random(data.SEED)
    whole = data.block(rng)
    for number in range(ROWS):
        yield number, whole[:rng.randrange(ROW // 4, ROW * 2)]


def make_zip(root):
    import zipfile
    os.makedirs(root)
    with zipfile.ZipFile(os.path.join(root, "samples.zip"), "w") as archive:
        for number, row in rows():
            archive.writestr("%06d.bin" % number, row)


def make_sqlite(root):
    import sqlite3
    os.makedirs(root)
    with sqlite3.connect(os.path.join(root, "samples.db")) as base:
        base.execute("create table samples (k integer primary key, v blob)")
        base.executemany("insert into samples values (?, ?)", rows())


def make_gdbm(root):
    import dbm.gnu
    os.makedirs(root)
    with dbm.gnu.open(os.path.join(root, "samples.gdbm"), "nf") as base:
        for number, row in rows():
            base[b"%06d" % number] = row


def make_bsddb(root):
    import bsddb3
    os.makedirs(root)
    base = bsddb3.hashopen(os.path.join(root, "samples.bdb"), "n")
    for number, row in rows():
        base[b"%06d" % number] = row
    base.close()


def make_leveldb(root):
    import plyvel
    os.makedirs(root)
    base = plyvel.DB(os.path.join(root, "samples.ldb"), create_if_missing=True, compression=None)
    for number, row in rows():
        base.put(b"%06d" % number, row)
    base.compact_range()
    base.close()


def make_joblib(root):
    import joblib
    os.makedirs(root)
    joblib.dump(data.samples(2000, (96, 96)), os.path.join(root, "samples.joblib"))


def make_cpio(root):
    data.make_shards(root)
    for name in sorted(os.listdir(root)):
        place = os.path.join(root, "members")
        os.mkdir(place)
        subprocess.run(["tar", "-xf", os.path.join(root, name), "-C", place], check=True)
        subprocess.run(["bash", "-c", f"cd {place} && ls | cpio --quiet -o -H newc >../{name[:-4]}.cpio"], check=True)
        shutil.rmtree(place)
        os.unlink(os.path.join(root, name))


def put_packages(root, names, but):
    """Python's packages and modules, to be imported from the volume."""
    os.makedirs(root)
    for name in names:
        source = os.path.join("/usr/lib/python3/dist-packages", name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(root, name), ignore_dangling_symlinks=True,
                            ignore=shutil.ignore_patterns(*but))
        elif os.path.exists(source + ".py"):
            shutil.copy(source + ".py", root)
    subprocess.run([sysconfig.get_config_var("BINDIR") + "/python3", "-m", "compileall", "-q", root], check=False,
                   stdout=subprocess.DEVNULL)


def make_libraries(root):
    put_packages(root, ("django", "sympy", "mpmath", "scipy", "numpy", "pandas", "asgiref", "sqlparse", "pytz", "dateutil"),
                 ("tests", "__pycache__"))


def make_ruby(root):
    version = sorted(os.listdir("/usr/lib/ruby"))
    version = [name for name in version if name[0].isdigit()][-1]
    shutil.copytree(os.path.join("/usr/lib/ruby", version), root, ignore_dangling_symlinks=True)


def make_project(root):
    """What cmake configures and make builds."""
    data.make_sources(root)
    with open(os.path.join(root, "CMakeLists.txt"), "w", encoding="ascii") as file:
        file.write("cmake_minimum_required(VERSION 3.16)\nproject(parts C)\nfile(GLOB parts *.c)\n"
                   "include(CheckIncludeFile)\ncheck_include_file(stdio.h HAS_STDIO)\nadd_library(parts SHARED ${parts})\n")
