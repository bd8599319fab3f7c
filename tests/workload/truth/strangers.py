# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody had looked at when recipes and bounds were mended for those of held_out.py: again other libraries
and tools, each a family of its own.
"""
import os
import time

import held_out
import programs
from programs import EACH, command, files, program, read_members, shuffled

KNOWN = set(programs.PROGRAMS)


# --- a file a sample ---

def soundfile(root, rng):
    import soundfile
    for path in shuffled(root, rng):
        soundfile.read(path)


for size, truth in (("small", "losf"), ("large", "cv-training")):
    programs.add(programs.Program("soundfile-" + size, truth, "soundfile", "wavs_" + size,
                                  lambda d, out, rng: soundfile(d, rng), ("soundfile",)))
    command("djpeg-" + size, truth, size, EACH + "-n 1 djpeg -scale 1/8", "djpeg")

command("awk-small", "losf", "csv", EACH + "awk 'END {{ print NR }}'")
command("sum-small", "losf", "small", EACH + "sum")


@program("losf", "wavs_small")
def wave_small(d, out, rng):
    import wave
    for path in shuffled(d, rng):
        with wave.open(path, "rb") as sound:
            sound.readframes(sound.getnframes())


@program("cv-training", "fits", modules=("astropy.io.fits",))
def fits_large(d, out, rng):
    from astropy.io import fits
    for path in shuffled(d, rng):
        with fits.open(path, memmap=False) as image:
            image[0].data.sum()


# --- records out of few large files ---

@program("sample-read", "wav")
def wave_segments(d, out, rng):
    import wave
    with wave.open(os.path.join(d, "long.wav"), "rb") as sound:
        for at in rng.sample(range(4000), 4000):
            sound.setpos(at * 16000)
            sound.readframes(16000)


@program("sample-read", "wav", modules=("soundfile",))
def soundfile_segments(d, out, rng):
    import soundfile
    with soundfile.SoundFile(os.path.join(d, "long.wav")) as sound:
        for at in rng.sample(range(4000), 4000):
            sound.seek(at * 16000)
            sound.read(16000)


@program("sample-read", "mbox")
def mbox_messages(d, out, rng):
    import mailbox
    box = mailbox.mbox(os.path.join(d, "box"))
    keys = box.keys()
    for key in rng.sample(keys, len(keys)):
        box.get_bytes(key)


@program("sample-read", "sqlite", modules=("apsw",))
def apsw_rows(d, out, rng):
    import apsw
    base = apsw.Connection(os.path.join(d, "samples.db"), flags=apsw.SQLITE_OPEN_READONLY)
    for number in rng.sample(range(4000), 4000):
        list(base.cursor().execute("select v from samples where k = ?", (number,)))
    base.close()


# --- streams ---

for name, ending, text in (("bzip2-lines", "bz2", "bzip2 -dc"), ("lz4-lines", "lz4", "lz4 -dc"), ("xz-lines", "xz", "xz -dc")):
    command(name, "shard-streaming", "packed_text", f"for f in $(ls {{data}}/*.{ending} | shuf); do {text} $f | wc -l; done")
command("jq-lines", "shard-streaming", "text", "for f in $(ls {data}/*.jsonl | shuf); do jq -c .id $f; done | wc -l")
command("awk-table", "shard-streaming", "table", "awk -F, '{{ s += $2 }} END {{ print s }}' {data}/all.csv")
command("unzip-stream", "shard-streaming", "zip", "unzip -p {data}/samples.zip | wc -c")


@program("shard-streaming", "gzipped_shards")
def tarfile_gzip(d, out, rng):
    for path in shuffled(d, rng):
        read_members(path, "r|gz")


@program("shard-streaming", "table")
def csv_rows(d, out, rng):
    import csv
    with open(os.path.join(d, "all.csv"), newline="", encoding="ascii") as file:
        for _ in csv.reader(file):
            pass


# --- mapped files ---

@program("mmap-read", "sqlite")
def sqlite_mapped(d, out, rng):
    held_out.read_rows(d, rng, "pragma mmap_size = 1000000000")


@program("mmap-read", "wav")
def mmap_slices(d, out, rng):
    import mmap
    with open(os.path.join(d, "long.wav"), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        for at in rng.sample(range(4000), 4000):
            whole[at * 32000:(at + 1) * 32000].count(b"x")


# --- walks ---

command("perl-scan", "ingest-scan", "tree", "perl -MFile::Find -e 'find(sub {{ -s $_ }}, \"{data}\")'")
command("tar-scan", "ingest-scan", "tree", "tar -cf /dev/null {data}")
command("duc-scan", "ingest-scan", "tree", "duc index -qd {out}/duc{n} {data}")
command("bash-scan", "ingest-scan", "tree", "shopt -s globstar; for f in {data}/**; do [ -f $f ]; done")


@program("ingest-scan", "tree")
def pathlib_scan(d, out, rng):
    import pathlib
    return sum(path.stat().st_size for path in pathlib.Path(d).rglob("*"))


# --- many small in, few large out ---

command("squashfs-pack", "preprocess", "small", "mksquashfs {data} {out}/packed{n} -noI -noD -no-progress -quiet -noappend -processors 1")
command("tar-zstd", "preprocess", "small", "tar -C {data} -cf - . | zstd -q1 >{out}/packed{n}")


@program("preprocess", "small", modules=("msgpack",))
def msgpack_pack(d, out, rng):
    import msgpack
    with open(os.path.join(out, "packed.msgpack"), "wb") as packed:
        for path in files(d):
            with open(path, "rb") as file:
                msgpack.pack({"name": path, "image": file.read()}, packed)


@program("preprocess", "csv", modules=("pandas",))
def pandas_pack(d, out, rng):
    import pandas
    pandas.concat([pandas.read_csv(path, header=None) for path in files(d)]).to_pickle(os.path.join(out, "packed.pkl"))


# --- copies ---

command("pax-copy", "stage-copy", "large", "mkdir -p {out}/copy{n} && cd {data} && pax -rw . {out}/copy{n}")
command("pv-copy", "stage-copy", "shards", "for f in {data}/*.tar; do pv -q $f >{out}/$(basename $f).{n}; done")
command("cat-copy", "stage-copy", "shards", "for f in {data}/*.tar; do cat $f >{out}/$(basename $f).{n}; done")
command("bsdtar-copy", "stage-copy", "large",
        "mkdir -p {out}/copy{n} && bsdtar -cf - -C {data} . | bsdtar -xf - -C {out}/copy{n}")


# --- checkpoints ---

@program("checkpoint", "nothing", modules=("msgpack", "numpy"))
def msgpack_save(d, out, rng):
    import msgpack
    import numpy
    path = os.path.join(out, "state.msgpack")
    with open(path + ".tmp", "wb") as file:
        for layer in range(12):
            file.write(msgpack.packb({"name": "layer%d" % layer, "value": numpy.zeros(1 << 19).tobytes()}))
    os.rename(path + ".tmp", path)
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("zarr", "numpy"))
def zarr_save(d, out, rng):
    import numpy
    import zarr
    zarr.save(os.path.join(out, "state.zarr"), **{"layer%d" % i: numpy.random.random(1 << 19) for i in range(8)})
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("tables", "numpy"))
def pytables_save(d, out, rng):
    import numpy
    import tables
    with tables.open_file(os.path.join(out, "state.h5"), "w") as file:
        for i in range(8):
            file.create_array("/", "layer%d" % i, numpy.zeros(1 << 20))
    time.sleep(0.2)


@program("checkpoint", "nothing", modules=("astropy.io.fits", "numpy"))
def fits_save(d, out, rng):
    import numpy
    from astropy.io import fits
    layers = [fits.PrimaryHDU()] + [fits.ImageHDU(numpy.zeros(1 << 20)) for _ in range(8)]
    fits.HDUList(layers).writeto(os.path.join(out, "state.fits"), overwrite=True)
    time.sleep(0.2)


# --- weights, read by all ranks at once ---

command("ranks-dd", "model-load", "weights", "dd if={data}/weights.bin of=/dev/null bs=1M status=none")


@program("model-load", "pickled")
def ranks_pickle(d, out, rng):
    import pickle
    with open(os.path.join(d, "model.pkl"), "rb") as file:
        pickle.load(file)


# --- starts of programs ---

for name, modules in (("matplotlib", "matplotlib.pyplot, mpl_toolkits.mplot3d"),
                      ("twisted", "twisted.internet.reactor, twisted.web.server, twisted.web.client"),
                      ("astropy", "astropy.io.fits, astropy.table, astropy.coordinates")):
    programs.python_starts(name, "more_libraries", modules, "MPLCONFIGDIR=/tmp ")

# --- what is none of these ---

command("gxx-build", "unknown", "nothing",
        "for i in $(seq 8); do echo '#include <iostream>\n#include <map>\nint main() {{ std::map<int, int> m; std::cout << m[1]; }}'"
        " >{out}/p{n}.cc && g++ -O0 -o {out}/p{n} {out}/p{n}.cc; done")
command("deb-unpack", "unknown", "deb", "rm -rf {out}/u{n}; dpkg-deb -x {data}/pictures.deb {out}/u{n}")
command("hg-commits", "unknown", "nothing",
        "rm -rf {out}/h{n}; hg init {out}/h{n} && cd {out}/h{n} && for i in $(seq 10); do date +%N >f$i && "
        "hg -q commit -A -m $i -u me; done")


@program("unknown", "nothing")
def sqlite_wal(d, out, rng):
    import sqlite3
    base = sqlite3.connect(os.path.join(out, "wal.db"))
    base.execute("pragma journal_mode = wal")
    base.execute("create table if not exists t (k integer primary key, v blob)")
    for _ in range(200):
        with base:
            base.executemany("insert or replace into t values (?, ?)",
                             [(rng.randrange(5000), rng.randbytes(200)) for _ in range(5)])
    base.close()


@program("unknown", "nothing")
def rotated_logs(d, out, rng):
    import logging.handlers
    log = logging.getLogger(out)
    log.propagate = False
    handler = logging.handlers.RotatingFileHandler(os.path.join(out, "log"), maxBytes=1 << 20, backupCount=5)
    log.addHandler(handler)
    for number in range(20000):
        log.warning("request %d took %d ms", number, rng.randrange(1000))
    log.removeHandler(handler)
    handler.close()


NAMES = set(programs.PROGRAMS) - KNOWN
