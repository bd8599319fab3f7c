# SPDX-License-Identifier: GPL-2.0-or-later
"""The data that the programs of the ground truth work on: small, and the same for the same seed.

Each set is made when a program first asks for it, in a process of its own, so that a program that runs without a
library does not need it for its data either.
"""
import os
import random
import shutil
import subprocess
import sys

SEED = 42
SMALL, LARGE = 1200, 160          # images of about 45 and 350 KB
TREE = 6000                       # files of a name space to be walked
TOKENS = 192 << 20
RECORDS, RECORD = 6000, 24 << 10  # of a packed file
SHARDS, SHARD = 6, 44 << 20
CHUNK = 1 << 20


def block(rng, size=CHUNK):
    return rng.randbytes(size)


def make_jpegs(root, count, side, quality, spread):
    """JPEGs of noise; few are drawn, and each is cut to a length of its own behind its end marker."""
    import numpy
    from PIL import Image
    rng = random.Random(SEED)
    os.makedirs(root)
    kinds = []
    for number in range(8):
        noise = numpy.random.default_rng(number).integers(0, 255, (side, side, 3), dtype=numpy.uint8)
        path = os.path.join(root, "kind.jpg")
        Image.fromarray(noise).save(path, quality=quality)
        with open(path, "rb") as file:
            kinds.append(file.read())
        os.unlink(path)
    for number in range(count):
        directory = os.path.join(root, "class%02d" % (number % 20))
        os.makedirs(directory, exist_ok=True)
        kind = kinds[number % len(kinds)]
        with open(os.path.join(directory, "%05d.jpg" % number), "wb") as file:
            file.write(kind + rng.randbytes(int(rng.random() * spread)))


def make_small(root):
    make_jpegs(root, SMALL, 240, 88, 16 << 10)


def make_large(root):
    make_jpegs(root, LARGE, 800, 88, 60 << 10)


def make_tree(root):
    for number in range(TREE):
        directory = os.path.join(root, "%02d" % (number % 40), "%02d" % (number // 40 % 10))
        if number < 400:
            os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "%05d" % number), "wb"):
            pass


def make_file(path, size):
    data = block(random.Random(SEED))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for _ in range(size // CHUNK):
            file.write(data)


def make_tokens(root):
    make_file(os.path.join(root, "tokens.bin"), TOKENS)


def make_shards(root):
    """Tar files of samples."""
    import io
    import tarfile
    rng = random.Random(SEED)
    os.makedirs(root)
    data = block(rng)
    for number in range(SHARDS):
        with tarfile.open(os.path.join(root, "train-%03d.tar" % number), "w") as tar:
            size = 0
            while size < SHARD:
                info = tarfile.TarInfo("%06d.jpg" % size)
                info.size = rng.randrange(40 << 10, 200 << 10)
                tar.addfile(info, io.BytesIO(data[:info.size]))
                size += info.size


def make_packed(root):
    """Records of many sizes behind each other, and where each of them starts."""
    rng = random.Random(SEED)
    data, at, places = block(rng), 0, []
    os.makedirs(root)
    with open(os.path.join(root, "records.bin"), "wb") as file:
        for _ in range(RECORDS):
            size = max(2048, min(len(data), int(rng.lognormvariate(0, 0.6) * RECORD)))
            file.write(data[:size])
            places.append((at, size))
            at += size
    with open(os.path.join(root, "index.txt"), "w", encoding="ascii") as file:
        file.writelines("%d %d\n" % place for place in places)


def samples(count, shape=(96, 96)):
    import numpy
    return numpy.random.default_rng(SEED).random((count, *shape))


def make_hdf5(root):
    import h5py
    os.makedirs(root)
    with h5py.File(os.path.join(root, "samples.h5"), "w") as file:
        file.create_dataset("x", data=samples(1500), chunks=(1, 96, 96))


def make_tables(root):
    import tables
    os.makedirs(root)
    with tables.open_file(os.path.join(root, "samples.h5"), "w") as file:
        file.create_carray(file.root, "x", obj=samples(1500), chunkshape=(1, 96, 96))


def make_netcdf(root):
    import netCDF4
    os.makedirs(root)
    with netCDF4.Dataset(os.path.join(root, "samples.nc"), "w") as file:
        for name, size in (("n", 1500), ("y", 96), ("x", 96)):
            file.createDimension(name, size)
        file.createVariable("v", "f8", ("n", "y", "x"), chunksizes=(1, 96, 96))[:] = samples(1500)


def make_zarr(root):
    import zarr
    zarr.save_array(os.path.join(root, "samples.zarr"), samples(1500), chunks=(1, 96, 96), compressor=None)


def make_lmdb(root):
    import lmdb
    rng = random.Random(SEED)
    data = block(rng)
    os.makedirs(root)
    with lmdb.open(root, map_size=1 << 30) as env:
        for start in range(0, 3000, 500):
            with env.begin(write=True) as txn:
                for number in range(start, start + 500):
                    txn.put(b"%06d" % number, data[:rng.randrange(8 << 10, 64 << 10)])


def make_npy(root):
    import numpy
    os.makedirs(root)
    for number in range(120):
        numpy.save(os.path.join(root, "%04d.npy" % number), samples(1, (320, 320))[0])
    numpy.save(os.path.join(root, "all.npy"), samples(TOKENS // 8 // 65536, (256, 256)))


def make_npz(root):
    import numpy
    os.makedirs(root)
    for number in range(60):
        numpy.savez(os.path.join(root, "%04d.npz" % number), x=samples(1, (512, 512))[0], y=number)


def make_weights(root):
    make_file(os.path.join(root, "weights.bin"), 288 << 20)


def make_model(root):
    import torch
    os.makedirs(root)
    torch.save({"layer%d" % i: torch.zeros(8 << 20) for i in range(9)}, os.path.join(root, "model.pt"))


def make_modules(root):
    """A copy of a large package, so that it is imported from the volume."""
    import sysconfig
    shutil.copytree(sysconfig.get_paths()["stdlib"], root, ignore_dangling_symlinks=True, ignore=shutil.ignore_patterns(
        "dist-packages", "site-packages", "config-*", "__pycache__", "test"))
    for name in ("numpy", "h5py", "tables", "PIL", "netCDF4", "zarr"):
        source = os.path.join("/usr/lib/python3/dist-packages", name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(root, name), ignore_dangling_symlinks=True,
                            ignore=shutil.ignore_patterns("tests", "__pycache__"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", root], check=False, stdout=subprocess.DEVNULL)


def make_perl(root):
    import glob
    for source in sorted(glob.glob("/usr/share/perl/5.*.*")) or sorted(glob.glob("/usr/share/perl/5.*")):
        shutil.copytree(source, root, dirs_exist_ok=True, ignore_dangling_symlinks=True)


def make_sources(root):
    """C that includes much of the C library's headers."""
    rng = random.Random(SEED)
    headers = "stdio stdlib string unistd errno fcntl signal time math stdint pthread sys/socket sys/stat netdb".split()
    os.makedirs(root)
    for number in range(60):
        with open(os.path.join(root, "part%02d.c" % number), "w", encoding="ascii") as file:
            file.writelines("#include <%s.h>\n" % header for header in headers)
            file.writelines("int f%d_%d(int x) { return x * %d; }\n" % (number, i, rng.randrange(99))
                            for i in range(150))


def make_repository(root):
    """A small project under git, with a few commits."""
    rng = random.Random(SEED)
    git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
    os.makedirs(root)
    subprocess.run([*git, "init", "-q"], check=True)
    for commit in range(4):
        for number in range(500):
            path = os.path.join(root, "d%02d" % (number % 30), "f%03d.c" % number)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "a", encoding="ascii") as file:
                file.writelines("line %d\n" % rng.randrange(1 << 30) for _ in range(40))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "c%d" % commit], check=True)


def make_archive(root):
    """What untar unpacks: many small files, in an archive."""
    import tarfile
    rng = random.Random(SEED)
    data = block(rng)
    source = root + ".source"
    for number in range(1500):
        path = os.path.join(source, "d%02d" % (number % 40), "f%04d" % number)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data[:rng.randrange(200, 16000)])
    os.makedirs(root)
    with tarfile.open(os.path.join(root, "archive.tar"), "w") as tar:
        tar.add(source, "source")
    shutil.rmtree(source)


def make_fio(root):
    make_file(os.path.join(root, "a"), 96 << 20)


def make_nothing(root):
    os.makedirs(root)


def ensure(directory, name):
    """The path of a data set, made if it is not there."""
    root = os.path.join(directory, name)
    if not os.path.exists(root):
        done = subprocess.run(["/usr/bin/python3", os.path.abspath(__file__), name, root], check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            shutil.rmtree(root, ignore_errors=True)
            raise RuntimeError(f"the data set {name} could not be made")
    return root


def put(master, directory):
    """A copy of a data set, with its times, in that directory; its name there."""
    subprocess.run(["cp", "-a", master, directory], check=True, stdin=subprocess.DEVNULL)
    return os.path.basename(master)


if __name__ == "__main__":
    import held_out_data
    import latecomers_data
    import outsiders_data
    import plain_data
    import strangers_data

    sets = (sys.modules["__main__"], held_out_data, strangers_data, latecomers_data, plain_data, outsiders_data)
    make = [getattr(of, "make_" + sys.argv[1], None) for of in sets]
    next(filter(None, make))(sys.argv[2])
