# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody had looked at when the catalogue's bounds were set: other libraries and tools than those of
programs.py, each a family of its own. What they come out at is what a stranger's program may expect.
"""
import os
import subprocess
import time

import programs
from programs import OWN, command, files, program, shuffled

KNOWN = set(programs.PROGRAMS)


# --- a file a sample ---

def imageio(root, rng):
    import imageio
    for path in shuffled(root, rng):
        imageio.imread(path)


for size, truth in (("small", "losf"), ("large", "cv-training")):
    programs.add(programs.Program("imageio-" + size, truth, "imageio", size, lambda d, out, rng: imageio(d, rng),
                                  ("imageio", "PIL")))

command("vips-large", "cv-training", "large", "find {data} -type f | shuf | while read f; do vips avg $f; done", "vips")


@program("cv-training", "tiff", modules=("tifffile",))
def tifffile_large(d, out, rng):
    import tifffile
    for path in shuffled(d, rng):
        tifffile.imread(path)


@program("cv-training", "mat", modules=("scipy.io",))
def scipy_mat(d, out, rng):
    import scipy.io
    for path in shuffled(d, rng):
        scipy.io.loadmat(path)


command("grep-small", "losf", "small", "grep -rc needle {data}")
command("ripgrep-small", "losf", "small", "rg -c --no-ignore needle {data}")
command("cat-small", "losf", "small", "find {data} -type f | shuf | xargs cat")


@program("losf", "csv", modules=("pandas",))
def pandas_tables(d, out, rng):
    import pandas
    for path in shuffled(d, rng):
        pandas.read_csv(path, header=None)


# --- records out of few large files ---

@program("sample-read", "zip")
def zip_members(d, out, rng):
    import zipfile
    with zipfile.ZipFile(os.path.join(d, "samples.zip")) as archive:
        names = archive.namelist()
        for name in rng.sample(names, len(names)):
            archive.read(name)


def read_rows(d, rng, *statements):
    """Random rows of a database, after what it is told first."""
    import sqlite3
    base = sqlite3.connect(f"file:{d}/samples.db?mode=ro&immutable=1", uri=True)
    for statement in statements:
        base.execute(statement)
    for number in rng.sample(range(4000), 4000):
        base.execute("select v from samples where k = ?", (number,)).fetchone()
    base.close()


@program("sample-read", "sqlite", modules=("sqlite3",))
def sqlite_rows(d, out, rng):
    read_rows(d, rng)


@program("sample-read", "bsddb", modules=("bsddb3",))
def bsddb_rows(d, out, rng):
    import bsddb3
    base = bsddb3.hashopen(os.path.join(d, "samples.bdb"), "r")
    for number in rng.sample(range(4000), 4000):
        base[b"%06d" % number]
    base.close()


@program("sample-read", "netcdf", modules=("xarray", "h5netcdf"))
def xarray_samples(d, out, rng):
    import xarray
    with xarray.open_dataset(os.path.join(d, "samples.nc"), engine="h5netcdf", cache=False) as base:
        for at in rng.sample(range(1500), 1500):
            base["v"][at].load()


@program("sample-read", "tiffs", modules=("tifffile",))
def tifffile_pages(d, out, rng):
    import tifffile
    with tifffile.TiffFile(os.path.join(d, "stack.tif")) as stack:
        series = stack.series[0]
        for at in rng.sample(range(len(series)), 500):
            stack.asarray(key=at) if len(stack.pages) > 1 else series[at]


# --- streams ---

TEXT = "$(ls {data}/*.%s | awk 'NR % {w} == {n} % {w}' | shuf)"
for name, ending, text in (("gzip-lines", "gz", "gzip -dc"), ("zstd-lines", "zst", "zstd -qdc"),
                           ("pigz-lines", "gz", "pigz -dc")):
    command(name, "shard-streaming", "text", "for f in " + TEXT.replace("%s", ending) + f"; do {text} $f | wc -l; done")
command("wc-lines", "shard-streaming", "text", "wc " + TEXT.replace("%s", "jsonl"))
command("bsdtar-shards", "shard-streaming", "shards", "for f in " + OWN + "; do bsdtar -xOf $f | wc -c; done")
command("cpio-shards", "shard-streaming", "cpio",
        "for f in $(ls {data}/*.cpio | shuf); do cpio --quiet -i --to-stdout <$f | wc -c; done")


@program("shard-streaming", "text")
def json_lines(d, out, rng):
    import json
    for path in shuffled(d, rng, ".jsonl"):
        with open(path, encoding="ascii") as file:
            for line in file:
                json.loads(line)


@program("shard-streaming", "table", modules=("pandas",))
def pandas_chunks(d, out, rng):
    import pandas
    for _ in pandas.read_csv(os.path.join(d, "all.csv"), header=None, chunksize=20000):
        pass


# --- mapped files ---

@program("mmap-read", "joblib", modules=("joblib",))
def joblib_mapped(d, out, rng):
    import joblib
    rows = joblib.load(os.path.join(d, "samples.joblib"), mmap_mode="r")
    for at in rng.sample(range(len(rows)), len(rows)):
        float(rows[at].sum())


@program("mmap-read", "leveldb", modules=("plyvel",))
def leveldb_rows(d, out, rng, workers=1):  # a store lets in one process
    import plyvel
    base = plyvel.DB(os.path.join(d, "samples.ldb"))
    for number in rng.sample(range(4000), 4000):
        base.get(b"%06d" % number)
    base.close()


@program("mmap-read", "tiffs", modules=("tifffile",))
def tifffile_mapped(d, out, rng):
    import tifffile
    pages = tifffile.memmap(os.path.join(d, "stack.tif"), mode="r")
    for at in rng.sample(range(len(pages)), len(pages)):
        float(pages[at].sum())


command("ripgrep-mapped", "mmap-read", "tokens", "rg -c --mmap -a needle {data}/tokens.bin")

# --- walks ---

command("fd-scan", "ingest-scan", "tree", "fdfind -u -t f -S +1k . {data}")
command("bfs-scan", "ingest-scan", "tree", "bfs {data} -type f -size +1k")
command("ncdu-scan", "ingest-scan", "tree", "ncdu -0xo /dev/null {data}")
command("tree-scan", "ingest-scan", "tree", "tree -as {data}")
command("rclone-scan", "ingest-scan", "tree", "rclone --config '' lsl {data}")
command("chmod-scan", "ingest-scan", "tree", "chmod -R u+rw {data}")


# --- many small in, few large out ---

@program("preprocess", "small")
def zip_pack(d, out, rng):
    import zipfile
    with zipfile.ZipFile(os.path.join(out, "packed.zip"), "w") as archive:
        for path in files(d):
            archive.write(path, os.path.basename(path))


@program("preprocess", "small", modules=("imageio", "numpy"))
def array_pack(d, out, rng):
    import imageio
    import numpy
    numpy.save(os.path.join(out, "packed.npy"), numpy.stack([imageio.imread(path)[:160, :160] for path in files(d)]))


command("bsdtar-pack", "preprocess", "small", "bsdtar -cf {out}/packed{n}.tar -C {data} .")
command("cpio-pack", "preprocess", "small",
        "cd {data} && find . -type f | cpio --quiet -o -H newc >{out}/packed{n}.cpio")

# --- copies ---

command("tar-pipe", "stage-copy", "large", "mkdir -p {out}/copy{n} && tar -cf - -C {data} . | tar -xf - -C {out}/copy{n}")
command("rclone-copy", "stage-copy", "large", "rclone --config '' copy {data} {out}/copy{n}")
command("cpio-copy", "stage-copy", "large", "cd {data} && find . -depth | cpio --quiet -pdm {out}/copy{n}")
command("install-copy", "stage-copy", "shards", "install -t {out} {data}/*.tar")


# --- checkpoints ---

@program("checkpoint", "nothing", modules=("joblib", "numpy"))
def joblib_dump(d, out, rng):
    import joblib
    import numpy
    joblib.dump({"layer%d" % i: numpy.zeros(1 << 19) for i in range(16)}, os.path.join(out, "model.joblib"))
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("numpy",))
def numpy_tofile(d, out, rng):
    """Shards with a header and tensors behind it, synced and renamed."""
    import numpy
    for shard in range(4):
        path = os.path.join(out, "shard-%d" % shard)
        with open(path + ".tmp", "wb") as file:
            file.write(b"{" + b" " * 2000 + b"}")
            for _ in range(4):
                numpy.zeros(1 << 19).tofile(file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + ".tmp", path)
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("xarray", "h5netcdf"))
def netcdf_save(d, out, rng):
    import numpy
    import xarray
    state = {"layer%d" % i: (("n",), numpy.zeros(1 << 20)) for i in range(8)}
    xarray.Dataset(state).to_netcdf(os.path.join(out, "state.nc"), engine="h5netcdf")
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("scipy.io", "numpy"))
def mat_save(d, out, rng):
    import numpy
    import scipy.io
    scipy.io.savemat(os.path.join(out, "state.mat"), {"layer%d" % i: numpy.zeros(1 << 20) for i in range(8)})
    time.sleep(0.2)


# --- weights, read by all ranks at once ---

command("ranks-cat", "model-load", "weights", "cat {data}/weights.bin")


@program("model-load", "joblib", modules=("joblib",))
def ranks_joblib(d, out, rng):
    import joblib
    joblib.load(os.path.join(d, "samples.joblib"))


# --- starts of programs ---

for name, modules in (("django", "django.contrib.admin, django.core.management, django.test, django.forms"),
                      ("sympy", "sympy"), ("pandas", "pandas, scipy.stats")):
    programs.python_starts(name, "libraries", modules)
command("import-ruby", "import-storm", "ruby", "ruby -I{data} -e 'require \"net/http\"; require \"json\"; require \"csv\"; "
        "require \"optparse\"; require \"erb\"; require \"set\"; require \"open3\"; require \"yaml\"; require \"racc\"'")

# --- what is none of these ---

command("cmake-build", "unknown", "project",
        "cmake -S {data} -B {out}/b{n} && make -C {out}/b{n} -j2")
command("git-gc", "unknown", "repository",
        "cp -r {data} {out}/g{n}; cd {out}/g{n} && for i in 1 2 3; do git -c safe.directory='*' repack -adfq; done", "git-gc")
command("sort-external", "unknown", "table", "sort -S 8M -T {out} -t, -k2 {data}/all.csv >{out}/sorted{n}")


@program("unknown", "nothing")
def gdbm_updates(d, out, rng):
    import dbm.gnu
    with dbm.gnu.open(os.path.join(out, "t.gdbm"), "cf") as base:
        for _ in range(3000):
            base[b"%06d" % rng.randrange(20000)] = b"v" * rng.randrange(400)


@program("unknown", "nothing", modules=("plyvel",))
def leveldb_writes(d, out, rng):
    import plyvel
    base = plyvel.DB(os.path.join(out, "t.ldb"), create_if_missing=True)
    for number in range(20000):
        base.put(b"%06d" % rng.randrange(200000), b"v" * rng.randrange(400), sync=number % 500 == 0)
    base.close()


@program("unknown", "nothing")
def redis_log(d, out, rng):
    """A private server that appends each change to its log."""
    socket = os.path.join(out, "s")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--dir", out, "--appendonly", "yes",
                               "--appendfsync", "everysec", "--save", "5 100"], stdout=subprocess.DEVNULL)
    while not os.path.exists(socket):
        time.sleep(0.05)
    subprocess.run(["redis-benchmark", "-q", "-s", socket, "-n", "20000", "-r", "10000", "-d", "300", "-t", "set"],
                   stdout=subprocess.DEVNULL, check=False)
    server.terminate()
    server.wait()


NAMES = set(programs.PROGRAMS) - KNOWN
