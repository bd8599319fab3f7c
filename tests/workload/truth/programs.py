# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of the ground truth: what each is, the data it needs, and one pass of it.

`programs.py NAME DATA OUT SECONDS WORKERS` runs passes until the time is over. A pass is a Python function, or a list of
commands. Truth is what a program is known to do by its construction; nobody has measured it first.
"""
import glob
import importlib
import io
import mmap
import os
import random
import shutil
import subprocess
import sys
import time

import data

PYTHON = "/usr/bin/python3"
FAMILIES = {}  # of programs that share a library and data: they lie on one side of every split


class Program:
    def __init__(self, name, truth, family, needs, work, modules=(), tool=None, apart=False, before=None):
        self.name, self.truth, self.family, self.needs, self.work = name, truth, family, needs, work
        self.modules, self.tool, self.apart, self.before = modules, tool, apart, before


PROGRAMS = {}


def add(chosen):
    if chosen.name in PROGRAMS:
        raise ValueError(f"two programs are named {chosen.name}")
    PROGRAMS[chosen.name] = chosen


def program(truth, needs, family=None, modules=(), apart=False):
    """Makes a function a program of that name."""
    def make(function):
        name = function.__name__.replace("_", "-")
        add(Program(name, truth, family or name, needs, function, modules, None, apart))
        return function
    return make


def command(name, truth, needs, text, family=None, apart=False, before=None):
    """A program that is a shell command; {data}, {out} and {n} are filled in. What it needs before is done once."""
    add(Program(name, truth, family or name, needs, text, (), text.split()[0], apart, before))


FROM_DATA = "PYTHONPATH={data} PYTHONDONTWRITEBYTECODE=1 "


def python_starts(name, needs, modules, settings=""):
    """A start of Python, with modules from the volume."""
    command("import-" + name, "import-storm", needs,
            FROM_DATA + f"{settings}python3 -c 'import {modules}'")


EACH = "find {data} -type f -print0 | shuf -z | xargs -0 "


def files(root, ending=""):
    """All files, listed without an entry of the name space being looked at twice."""
    found = []
    for directory, _, names in os.walk(root):
        found += [os.path.join(directory, name) for name in names if name.endswith(ending)]
    return sorted(found)


LISTED = {}
SHARE = [0, 1]  # which worker of how many this process is


def split(root, rng):
    """A worker's own shards, as loaders divide them."""
    order = [path for number, path in enumerate(files(root)) if number % SHARE[1] == SHARE[0] % SHARE[1]]
    order = order or files(root)[SHARE[0] % 2:]
    rng.shuffle(order)
    return order


OWN = "$(ls {data}/*.tar | awk 'NR % {w} == {n} % {w}' | shuf)"


def shuffled(root, rng, ending=""):
    """In an order of its own each epoch; the listing is made once, as loaders do."""
    if root not in LISTED:
        LISTED[root] = files(root, ending)
    order = list(LISTED[root])
    rng.shuffle(order)
    return order


# --- a file a sample ---

def pillow(root, rng):
    from PIL import Image
    for path in shuffled(root, rng):
        with Image.open(path) as image:
            image.convert("RGB")


def opencv(root, rng):
    import cv2
    for path in shuffled(root, rng):
        cv2.imread(path)


def torchvision(root, rng):
    import torchvision.io
    for path in shuffled(root, rng):
        torchvision.io.read_image(path)


def python_read(root, rng):
    for path in shuffled(root, rng):
        with open(path, "rb") as file:
            file.read()


def pathlib_read(root, rng):
    import pathlib
    for path in shuffled(root, rng):
        pathlib.Path(path).read_bytes()


for size, truth_of_size in (("small", "losf"), ("large", "cv-training")):
    for reader, module in ((pillow, "PIL"), (opencv, "cv2"), (torchvision, "torchvision"), (python_read, None)):
        program_name = reader.__name__.replace("_", "-") + "-" + size
        add(Program(program_name, truth_of_size, reader.__name__, size,
                    lambda d, out, rng, reader=reader: reader(d, rng), (module,) if module else ()))
    command("md5sum-" + size, truth_of_size, size, "find {data} -type f -print0 | xargs -0 md5sum", "md5sum",
            apart=True)


def torch_loader(root, rng, workers):
    import torch.utils.data

    class Folder(torch.utils.data.Dataset):
        def __init__(self):
            self.paths = files(root)

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, at):
            from PIL import Image
            with Image.open(self.paths[at]) as image:
                return len(image.convert("RGB").tobytes())

    for _ in torch.utils.data.DataLoader(Folder(), batch_size=16, shuffle=True, num_workers=workers):
        pass


@program("losf", "small", "torch_loader", ("torch", "PIL"))
def torch_loader_small(d, out, rng, workers=1):
    torch_loader(d, rng, workers)


@program("cv-training", "large", "torch_loader", ("torch", "PIL"))
def torch_loader_large(d, out, rng, workers=1):
    torch_loader(d, rng, workers)


@program("losf", "zarr", modules=("zarr",))
def zarr_chunks(d, out, rng):
    import zarr
    array = zarr.open_array(os.path.join(d, "samples.zarr"), "r")
    for at in rng.sample(range(len(array)), len(array)):
        array[at]


@program("cv-training", "npz", "numpy-files", ("numpy",))
def numpy_npz(d, out, rng):
    import numpy
    for path in shuffled(d, rng):
        with numpy.load(path) as archive:
            archive["x"], archive["y"]


@program("cv-training", "npy", "numpy-files", ("numpy",))
def numpy_load(d, out, rng):
    import numpy
    for path in shuffled(d, rng):
        if not path.endswith("all.npy"):
            numpy.load(path)


# --- records out of few large files ---

@program("sample-read", "hdf5", modules=("h5py",))
def h5py_samples(d, out, rng):
    import h5py
    with h5py.File(os.path.join(d, "samples.h5"), "r", rdcc_nbytes=0) as file:
        x = file["x"]
        for at in rng.sample(range(len(x)), len(x)):
            x[at]


@program("sample-read", "tables", modules=("tables",))
def pytables_samples(d, out, rng):
    import tables
    with tables.open_file(os.path.join(d, "samples.h5")) as file:
        for at in rng.sample(range(1500), 1500):
            file.root.x[at]


@program("sample-read", "netcdf", modules=("netCDF4",))
def netcdf_samples(d, out, rng):
    import netCDF4
    with netCDF4.Dataset(os.path.join(d, "samples.nc")) as file:
        v = file["v"]
        for at in rng.sample(range(1500), 1500):
            v[at]


def places(d):
    with open(os.path.join(d, "index.txt"), encoding="ascii") as file:
        return [tuple(map(int, line.split())) for line in file]


@program("sample-read", "packed", "packed")
def pread_records(d, out, rng):
    index = places(d)
    rng.shuffle(index)
    fd = os.open(os.path.join(d, "records.bin"), os.O_RDONLY)
    for at, size in index:
        os.pread(fd, size, at)
    os.close(fd)


@program("sample-read", "packed", "packed")
def seek_records(d, out, rng):
    index = places(d)
    rng.shuffle(index)
    with open(os.path.join(d, "records.bin"), "rb") as file:
        for at, size in index:
            file.seek(at)
            file.read(size)


@program("sample-read", "tokens", "fromfile", ("numpy",))
def numpy_fromfile(d, out, rng):
    import numpy
    path = os.path.join(d, "tokens.bin")
    with open(path, "rb", buffering=0) as file:
        for _ in range(2000):
            file.seek(rng.randrange(data.TOKENS // 4096 - 8) * 4096)
            numpy.fromfile(file, dtype=numpy.uint16, count=2048 * 4)


# --- streams ---

def read_members(path, mode):
    import tarfile
    with tarfile.open(path, mode) as tar:
        for member in tar:
            tar.extractfile(member).read()


@program("shard-streaming", "shards")
def tarfile_stream(d, out, rng):
    for path in split(d, rng):
        read_members(path, "r|")


@program("shard-streaming", "shards")
def tarfile_samples(d, out, rng):
    """WebDataset's way: a buffered stream, a header, a sample."""
    for path in split(d, rng):
        with open(path, "rb", buffering=1 << 20) as file:
            while True:
                header = file.read(512)
                size = int(header[124:135] or b"0", 8) if header[:1] not in (b"", b"\0") else 0
                if not size:
                    break
                file.read((size + 511) // 512 * 512)


@program("shard-streaming", "shards")
def records_256k(d, out, rng):
    """tf.data's way: blocks of 256 KiB."""
    for path in split(d, rng):
        with open(path, "rb", buffering=0) as file:
            while file.read(256 << 10):
                pass


command("cat-shards", "shard-streaming", "shards", "cat " + OWN + " | cat >/dev/null")
command("dd-shards", "shard-streaming", "shards",
        "for f in " + OWN + "; do dd if=$f of=/dev/null bs=1M status=none; done")
command("tar-list", "shard-streaming", "shards",
        "for f in " + OWN + "; do tar -xOf $f | cat >/dev/null; done")


# --- mapped files ---

@program("mmap-read", "tokens", "memmap", ("numpy",))
def numpy_memmap(d, out, rng):
    import numpy
    tokens = numpy.memmap(os.path.join(d, "tokens.bin"), dtype=numpy.uint16, mode="r")
    for _ in range(4000):
        at = rng.randrange(len(tokens) - 2049)
        int(tokens[at:at + 2049].sum())


@program("mmap-read", "npy", "memmap", ("numpy",))
def numpy_load_mapped(d, out, rng):
    import numpy
    rows = numpy.load(os.path.join(d, "all.npy"), mmap_mode="r")
    for at in rng.sample(range(len(rows)), len(rows)):
        float(rows[at].sum())


@program("mmap-read", "lmdb", modules=("lmdb",))
def lmdb_samples(d, out, rng):
    import lmdb
    env = lmdb.open(d, readonly=True, lock=False)
    with env.begin() as txn:
        for at in rng.sample(range(3000), 3000):
            sum(txn.get(b"%06d" % at)[::4096])
    env.close()


@program("mmap-read", "weights")
def mapped_tensors(d, out, rng):
    """safetensors' way: one mapped file, read a tensor at a time."""
    with open(os.path.join(d, "weights.bin"), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            for at in range(0, len(whole), 8 << 20):
                bytes(whole[at:at + (8 << 20)])


@program("mmap-read", "tokens")
def mapped_search(d, out, rng):
    with open(os.path.join(d, "tokens.bin"), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            for _ in range(3000):
                at = rng.randrange(len(whole) - 70000)
                whole.find(b"needle", at, at + 16384)


# --- walks ---

command("find-scan", "ingest-scan", "tree", "find {data} -type f -size +1k -mtime +90")
command("du-scan", "ingest-scan", "tree", "du -s {data}")
command("ls-scan", "ingest-scan", "tree", "ls -lR {data} >/dev/null")
command("rsync-scan", "ingest-scan", "tree", "rsync -an {data}/ {out}/copy/")


@program("ingest-scan", "tree")
def walk_scan(d, out, rng):
    for directory, _, names in os.walk(d):
        for name in names:
            os.stat(os.path.join(directory, name))


# --- many small in, few large out ---

@program("preprocess", "small", "pack", ("PIL",))
def resize_pack(d, out, rng):
    import tarfile
    from PIL import Image
    with tarfile.open(os.path.join(out, "packed.tar"), "w") as tar:
        for path in files(d):
            with Image.open(path) as image:
                small = io.BytesIO()
                image.resize((112, 112)).save(small, "JPEG", quality=95)
            info = tarfile.TarInfo(os.path.basename(path))
            info.size = len(small.getvalue())
            small.seek(0)
            tar.addfile(info, small)


@program("preprocess", "small")
def records_pack(d, out, rng):
    """TFRecord's way: length, checksum, data, checksum."""
    with open(os.path.join(out, "packed.tfrecord"), "wb", buffering=1 << 18) as packed:
        for path in files(d):
            with open(path, "rb") as file:
                sample = file.read()
            packed.write(len(sample).to_bytes(8, "little") + b"crc_" + sample + b"crc_")


@program("preprocess", "small", modules=("PIL", "h5py"))
def hdf5_pack(d, out, rng):
    import h5py
    import numpy
    from PIL import Image
    paths = files(d)
    with h5py.File(os.path.join(out, "packed.h5"), "w") as packed:
        x = packed.create_dataset("x", (len(paths), 64, 64, 3), "u1", chunks=(16, 64, 64, 3))
        rows = []
        for number, path in enumerate(paths):
            with Image.open(path) as image:
                rows.append(numpy.asarray(image.convert("RGB").resize((64, 64))))
            if len(rows) == 64 or number + 1 == len(paths):
                x[number + 1 - len(rows):number + 1] = numpy.stack(rows)
                rows = []


command("tar-pack", "preprocess", "small", "tar -cf {out}/packed{n}.tar -C {data} .")


# --- copies ---

def clean(path):
    shutil.rmtree(path, ignore_errors=True)


command("cp-files", "stage-copy", "large", "cp -r {data} {out}/copy{n}")
command("cp-shards", "stage-copy", "shards", "cp {data}/*.tar {out}/")
command("rsync-copy", "stage-copy", "large", "rsync -a {data}/ {out}/copy{n}/")
command("dd-copy", "stage-copy", "shards",
        "for f in {data}/*.tar; do dd if=$f of={out}/{n}.copy bs=1M status=none; done")


@program("stage-copy", "large")
def copytree(d, out, rng):
    shutil.copytree(d, os.path.join(out, "copy"))


# --- checkpoints ---

@program("checkpoint", "nothing", modules=("torch",))
def torch_save(d, out, rng):
    import torch
    state = {"layer%d" % i: torch.zeros(1 << 20) for i in range(16)}
    for _ in range(2):
        path = os.path.join(out, "model.pt")
        torch.save(state, path + ".tmp")
        os.rename(path + ".tmp", path)
        time.sleep(0.2)


@program("checkpoint", "nothing", "numpy-save", ("numpy",))
def numpy_savez(d, out, rng):
    import numpy
    state = {"layer%d" % i: numpy.zeros(1 << 19) for i in range(16)}
    with open(os.path.join(out, "state.npz"), "wb") as file:
        numpy.savez(file, **state)
        file.flush()
        os.fsync(file.fileno())
    time.sleep(0.2)


@program("checkpoint", "nothing")
def raw_save(d, out, rng):
    tensor = bytes(4 << 20)
    path = os.path.join(out, "step.bin")
    with open(path + ".tmp", "wb", buffering=0) as file:
        for _ in range(16):
            file.write(tensor)
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("pickle",))
def pickle_save(d, out, rng):
    import pickle
    state = [bytes(2 << 20) for _ in range(32)]
    with open(os.path.join(out, "state.pkl"), "wb") as file:
        pickle.dump(state, file, protocol=5)
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("h5py",))
def hdf5_save(d, out, rng):
    import h5py
    import numpy
    weights = numpy.zeros(1 << 20)
    with h5py.File(os.path.join(out, "weights.h5"), "w") as file:
        for number in range(10):
            file.create_dataset("layer%d" % number, data=weights)
    time.sleep(0.2)


# --- weights, read by all ranks at once ---

@program("model-load", "weights")
def ranks_read(d, out, rng):
    with open(os.path.join(d, "weights.bin"), "rb", buffering=0) as file:
        while file.read(16 << 20):
            pass


@program("model-load", "weights", modules=("numpy",))
def ranks_fromfile(d, out, rng):
    import numpy
    with open(os.path.join(d, "weights.bin"), "rb") as file:
        for _ in range(9):
            numpy.fromfile(file, dtype=numpy.float32, count=8 << 20)


@program("model-load", "model", modules=("torch",))
def ranks_torch(d, out, rng):
    import torch
    torch.load(os.path.join(d, "model.pt"))


@program("model-load", "weights")
def ranks_mapped(d, out, rng):
    with open(os.path.join(d, "weights.bin"), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            for at in range(0, len(whole), 16 << 20):
                bytes(whole[at:at + (16 << 20)])


# --- starts of programs ---

python_starts("numpy", "modules", "numpy, numpy.testing")
python_starts("stdlib", "modules", "asyncio, email.mime.text, xml.dom.minidom, unittest, http.server, multiprocessing.pool, "
              "concurrent.futures, sqlite3, ctypes, logging.config, zipfile")
python_starts("tables", "modules", "tables, h5py")
command("import-perl", "import-storm", "perl",
        "perl -I{data} -e 'use CPAN; use Test::More; use Pod::Man; use File::Find; use Unicode::UCD; use Archive::Tar'")

# --- what is none of these ---

command("gcc-build", "unknown", "sources",
        "for f in {data}/*.c; do gcc -c -o {out}/$(basename $f .c){n}.o $f; done; gcc -shared -o {out}/all{n}.so "
        "{out}/*{n}.o")
command("git-status", "unknown", "repository", "cp -r {data} {out}/r{n}; cd {out}/r{n} && for i in 1 2 3 4 5; do "
        "git -c safe.directory='*' status -s; git -c safe.directory='*' log --stat >/dev/null; done", "git")
command("git-clone", "unknown", "repository",
        "git -c safe.directory='*' clone -q --no-local {data} {out}/c{n}", "git")
command("untar", "unknown", "archive", "tar -xf {data}/archive.tar -C {out}")
command("dpkg-verify", "unknown", "nothing",
        "mkdir -p {out}/d{n} && cp -r /var/lib/dpkg/info {out}/d{n}/ && mkdir -p {out}/d{n}/updates && "
        "cp /var/lib/dpkg/status {out}/d{n}/ && for i in 1 2 3; do dpkg-query --admindir={out}/d{n} -W >/dev/null; "
        "dpkg-query --admindir={out}/d{n} -S /usr/bin/tar; done")


@program("unknown", "nothing")
def log_writer(d, out, rng):
    with open(os.path.join(out, "app.log"), "a", encoding="ascii") as file:
        for number in range(4000):
            file.write("%.6f INFO request %d took %d ms\n" % (time.time(), number, rng.randrange(900)))
            file.flush()
            if number % 400 == 0:
                os.fsync(file.fileno())


@program("unknown", "nothing", modules=("sqlite3",))
def sqlite_updates(d, out, rng):
    import sqlite3
    base = sqlite3.connect(os.path.join(out, "t.db"))
    base.execute("create table if not exists t (k integer primary key, v text)")
    for number in range(60):
        with base:
            base.executemany("insert or replace into t values (?, ?)",
                             [(rng.randrange(20000), "v" * rng.randrange(400)) for _ in range(20)])
        base.execute("select count(*) from t where v like 'vv%'").fetchall()
    base.close()


@program("unknown", "nothing")
def pgbench(d, out, rng, workers=1):
    """A private PostgreSQL on the volume; its server is part of the job."""
    bindir = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    base = os.path.join(out, "pg")
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    if not os.path.exists(base):
        os.mkdir(base, 0o700)
        shutil.chown(base, "postgres", "postgres")
        subprocess.run([*user, bindir + "/initdb", "-D", base, "-A", "trust"], **quiet)
        subprocess.run([*user, bindir + "/pg_ctl", "-D", base, "-w", "-o", "-h '' -k " + base, "start"], **quiet)
        subprocess.run([*user, bindir + "/pgbench", "-h", base, "-i", "-s", "4", "postgres"], **quiet)
    subprocess.run([*user, bindir + "/pgbench", "-h", base, "-c", "4", "-T", "4", "postgres"], **quiet)


def stop_pgbench(out):
    if os.path.exists(os.path.join(out, "pg", "postmaster.pid")):
        subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                        sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1] + "/pg_ctl", "-D",
                        os.path.join(out, "pg"), "-m", "fast", "stop"], check=False, stdout=subprocess.DEVNULL)


# --- fio with DLIO's sizes: scored apart, because it replays a description and is no program of its own ---

FIO = "fio --output=/dev/null --minimal --name=j --directory={data} --fallocate=none --size=96m --ioengine=psync "
command("fio-resnet50", "shard-streaming", "fio", FIO + "--rw=read --bs=256k --filename=a", "fio", True)
command("fio-bert", "sample-read", "fio", FIO + "--rw=randread --bsrange=2k-64k --filename=a", "fio", True)
command("fio-unet3d", "cv-training", "fio",
        FIO + "--rw=read --bs=256k --nrfiles=24 --filesize=4m --openfiles=1 --file_service_type=sequential",
        "fio", True)
command("fio-llama", "checkpoint", "fio", FIO + "--rw=write --bs=4m --filename=c --fsync=24", "fio", True)


def run_one(chosen, root, out, deadline, worker, workers):
    rng = random.Random(data.SEED + worker)
    passes = 0
    SHARE[:] = worker, min(workers, 6)
    while time.monotonic() < deadline or not passes:
        if isinstance(chosen.work, str):
            text = chosen.work.format(data=root, out=out, n=worker, w=SHARE[1])
            subprocess.run(["bash", "-c", text], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        elif "workers" in chosen.work.__code__.co_varnames[:chosen.work.__code__.co_argcount]:
            chosen.work(root, out, rng, workers)
        else:
            chosen.work(root, out, rng)
        passes += 1
        if chosen.truth == "model-load":  # weights are loaded once
            time.sleep(max(0, deadline - time.monotonic()))
        for name in os.listdir(out):
            if name != "pg" and chosen.truth in ("stage-copy", "unknown"):
                path = os.path.join(out, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def load(name):
    """A program's libraries: once, and not in each of its workers."""
    for module in PROGRAMS[name].modules:
        importlib.import_module(module)
    if PROGRAMS[name].before:
        PROGRAMS[name].before()


def run(name, root, out, seconds, workers):
    chosen, deadline, children, failed = PROGRAMS[name], time.monotonic() + seconds, [], 0
    if chosen.truth == "model-load":
        workers = max(workers, 4)  # it is one only with several ranks
    takes_workers = not isinstance(chosen.work, str) and "workers" in chosen.work.__code__.co_varnames
    for worker in range(1 if takes_workers else workers):
        mine = os.path.join(out, str(worker))
        os.makedirs(mine, exist_ok=True)
        if workers == 1 or takes_workers:
            run_one(chosen, root, mine, deadline, worker, workers)
            continue
        pid = os.fork()
        if pid == 0:
            run_one(chosen, root, mine, deadline, worker, workers)
            os._exit(0)
        children.append(pid)
    for pid in children:
        failed |= os.waitpid(pid, 0)[1]
    for worker in os.listdir(out):
        stop_pgbench(os.path.join(out, worker))
    if failed:
        sys.exit(f"{name}: a worker has failed")


def main(name, root, out, seconds, workers):
    load(name)
    run(name, root, out, float(seconds), int(workers))


if __name__ == "__main__":
    main(*sys.argv[1:])
