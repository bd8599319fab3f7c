# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of the programs in strangers.py and newcomers.py: small, and the same for the same seed."""
import os
import pickle
import random
import shutil
import subprocess
import wave

import data
import held_out_data


def write_wav(path, sound):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(sound)


def make_wavs(root, count, least, most):
    rng = random.Random(data.SEED)
    noise = data.block(rng, most)
    for number in range(count):
        directory = os.path.join(root, "%02d" % (number % 16))
        os.makedirs(directory, exist_ok=True)
        write_wav(os.path.join(directory, "%05d.wav" % number), noise[:rng.randrange(least, most, 2)])


def make_wavs_small(root):
    make_wavs(root, 1000, 16 << 10, 64 << 10)


def make_wavs_large(root):
    make_wavs(root, 150, 256 << 10, 768 << 10)


def make_wav(root):
    """One recording, of two minutes more than an hour."""
    os.makedirs(root)
    write_wav(os.path.join(root, "long.wav"), data.block(random.Random(data.SEED), 1 << 20) * 123)


def make_fits(root):
    from astropy.io import fits
    os.makedirs(root)
    for number in range(120):
        fits.writeto(os.path.join(root, "%04d.fits" % number), data.samples(1, (256, 256))[0])


def make_mbox(root):
    rng = random.Random(data.SEED)
    os.makedirs(root)
    text = data.block(rng, 64 << 10).hex()
    with open(os.path.join(root, "box"), "w", encoding="ascii") as box:
        for number in range(3000):
            size = rng.randrange(2 << 10, 48 << 10)
            lines = "\n".join(text[at:at + 76] for at in range(0, size, 76))
            box.write(f"From me Thu Jan  1 00:00:00 2026\nSubject: {number}\nMessage-ID: <{number}>\n\n{lines}\n\n")


def make_packed_text(root):
    """Shards of lines, in the archives that take longest to read."""
    held_out_data.make_text(root)
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        if name.endswith(".jsonl"):
            subprocess.run(["bzip2", "-1k", path], check=True)
            subprocess.run(["lz4", "-q1", path, path + ".lz4"], check=True)
            subprocess.run(["xz", "-0k", path], check=True)
        os.unlink(path)


def make_gzipped_shards(root):
    data.make_shards(root)
    for name in sorted(os.listdir(root)):
        subprocess.run(["gzip", "-1", os.path.join(root, name)], check=True)


def make_deb(root):
    """A package of many small files."""
    tree = os.path.join(root, "tree")
    data.make_small(tree)
    os.mkdir(os.path.join(tree, "DEBIAN"))
    with open(os.path.join(tree, "DEBIAN", "control"), "w", encoding="ascii") as file:
        file.write("Package: pictures\nVersion: 1\nArchitecture: all\nMaintainer: me <me@example.org>\nDescription: pictures\n")
    subprocess.run(["dpkg-deb", "-Zxz", "-z0", "-b", tree, os.path.join(root, "pictures.deb")], check=True,
                   stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)


def make_pickled(root):
    import numpy
    os.makedirs(root)
    with open(os.path.join(root, "model.pkl"), "wb") as file:
        pickle.dump({"layer%d" % i: numpy.zeros(1 << 21) for i in range(9)}, file, protocol=4)


def make_more_libraries(root):
    held_out_data.put_packages(root, (
        "matplotlib", "mpl_toolkits", "twisted", "astropy", "erfa", "numpy", "zope", "constantly", "incremental", "hyperlink",
        "automat", "attr", "attrs", "idna", "yaml", "PIL", "dateutil", "pyparsing", "packaging", "contourpy", "kiwisolver",
        "fontTools", "configobj", "validate", "cycler", "six", "ply"), ("__pycache__",))


def make_newer_libraries(root):
    held_out_data.put_packages(root, ("networkx", "sqlalchemy", "greenlet"), ("__pycache__",))
