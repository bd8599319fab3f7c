# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody had looked at when bounds were mended for those of latecomers.py: the plainest there are. Loops over
system calls, with buffers of all sizes; coreutils; fio.
"""
import mmap
import multiprocessing
import multiprocessing.dummy
import os
import shutil
import time
import zlib

import latecomers  # noqa: F401: these come after those
import programs
from programs import EACH, Program, add, command, files, program, shuffled

KNOWN = set(programs.PROGRAMS)
FIO = "fio --output=/dev/null --minimal --name=j --fallocate=none "


def read_whole(path, size):
    """A file through a buffer of that size, to its end."""
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, size):
        pass
    os.close(fd)


def read_asked(path):
    """As much as the file is said to have, at once."""
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, os.fstat(fd).st_size)
    os.close(fd)


def read_direct(path, size, places):
    buffer = mmap.mmap(-1, size)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    for at in places:
        os.preadv(fd, [buffer], at)
    os.close(fd)


def only(d):
    return files(d)[0]


def each(name, truth, needs, read):
    """A program that reads all files so, one after the other."""
    def work(d, out, rng):
        for path in shuffled(d, rng):
            read(path)
    add(Program(name, truth, name, needs, work))


# --- a file a sample ---

def stat_and_read(path):
    os.stat(path)
    read_whole(path, 32 << 10)


each("os-read-tiny", "losf", "tiny", lambda path: read_whole(path, 4096))
each("fstat-read-midsize", "losf", "midsize", read_asked)
each("stat-read-tiny", "losf", "tiny", stat_and_read)


@program("losf", "tiny")
def threads_tiny(d, out, rng):
    with multiprocessing.dummy.Pool(8) as pool:
        pool.map(lambda path: read_whole(path, 64 << 10), shuffled(d, rng), 50)


command("cat-midsize", "losf", "midsize", EACH + "cat", "cat")
command("cksum-tiny", "losf", "tiny", EACH + "cksum", "cksum")
command("head-midsize", "losf", "midsize", EACH + "head -qc 4096", "head")
command("grep-tiny", "losf", "tiny", "grep -r needle {data}", "grep")
command("fio-midsize", "losf", "midsize",
        FIO + "--opendir={data} --rw=read --bs=16k --openfiles=1 --file_service_type=sequential --runtime=8", "fio-files")


each("os-read-pictures", "cv-training", "pictures", lambda path: read_whole(path, 64 << 10))
each("fstat-read-pictures", "cv-training", "pictures", read_asked)


@program("cv-training", "pictures")
def pool_pictures(d, out, rng):
    with multiprocessing.Pool(3) as pool:
        pool.starmap(read_whole, [(path, 1 << 20) for path in shuffled(d, rng)], 10)


def read_into(path):
    with open(path, "rb", buffering=0) as file:
        file.readinto(bytearray(os.path.getsize(path)))


each("readinto-voxels", "cv-training", "voxels", read_into)
each("direct-pictures", "cv-training", "pictures",
     lambda path: read_direct(path, 256 << 10, range(0, os.path.getsize(path), 256 << 10)))
command("cat-pictures", "cv-training", "pictures", EACH + "cat", "cat")

# --- records out of few large files ---


def pread_at_random(d, rng, size, count):
    fd = os.open(only(d), os.O_RDONLY)
    for _ in range(count):
        os.pread(fd, size, rng.randrange((160 << 20) // size) * size)
    os.close(fd)


@program("sample-read", "blocks")
def pread_4k(d, out, rng):
    pread_at_random(d, rng, 4096, 20000)


@program("sample-read", "blocks")
def pread_100k(d, out, rng):
    pread_at_random(d, rng, 100000, 2000)


@program("sample-read", "blocks")
def seek_read_16k(d, out, rng):
    with open(only(d), "rb", buffering=0) as file:
        for _ in range(6000):
            file.seek(rng.randrange(9000) << 14)
            file.read(16384)


@program("sample-read", "blocks")
def buffered_seek_700(d, out, rng):
    with open(only(d), "rb") as file:
        for _ in range(8000):
            file.seek(rng.randrange(160 << 20))
            file.read(700)


@program("sample-read", "blocks")
def threads_pread_128k(d, out, rng):
    fd = os.open(only(d), os.O_RDONLY)
    with multiprocessing.dummy.Pool(8) as pool:
        pool.map(lambda at: os.pread(fd, 128 << 10, at << 17), [rng.randrange(1200) for _ in range(2000)], 50)
    os.close(fd)


@program("sample-read", "blocks")
def direct_4k(d, out, rng):
    read_direct(only(d), 4096, [rng.randrange(40000) << 12 for _ in range(4000)])


command("fio-randread-8k", "sample-read", "blocks", FIO + "--filename={data}/blocks.bin --rw=randread --bs=8k --runtime=8", "fio-random")
command("fio-libaio-4k", "sample-read", "blocks",
        FIO + "--filename={data}/blocks.bin --rw=randread --bs=4k --ioengine=libaio --iodepth=16 --direct=1 --runtime=8", "fio-random")

# --- streams ---


def stream(d, rng, size):
    for path in programs.split(d, rng):
        read_whole(path, size)


@program("shard-streaming", "streams")
def read_1m(d, out, rng):
    stream(d, rng, 1 << 20)


@program("shard-streaming", "streams")
def read_64k(d, out, rng):
    stream(d, rng, 64 << 10)


@program("shard-streaming", "streams")
def read_8k(d, out, rng):
    stream(d, rng, 8 << 10)


@program("shard-streaming", "streams")
def direct_1m(d, out, rng):
    for path in programs.split(d, rng):
        read_direct(path, 1 << 20, range(0, os.path.getsize(path), 1 << 20))


@program("shard-streaming", "lines")
def for_line(d, out, rng):
    for path in programs.split(d, rng):
        with open(path, encoding="ascii") as file:
            for _ in file:
                pass


@program("shard-streaming", "streams")
def interleaved(d, out, rng):
    """Records of all shards in turns."""
    unread = [open(path, "rb", buffering=256 << 10) for path in files(d)]
    while unread:
        unread = [file for file in unread if file.read(30000)]


command("wc-words", "shard-streaming", "lines", "wc {data}/*.txt", "wc-words")
command("dd-64k", "shard-streaming", "streams", "for f in {data}/*; do dd if=$f of=/dev/null bs=64k status=none; done", "dd-stream")
command("fio-read-128k", "shard-streaming", "blocks", FIO + "--filename={data}/blocks.bin --rw=read --bs=128k --loops=20 --runtime=8", "fio-stream")

# --- mapped files ---


def mapped(d):
    file = open(only(d), "rb")
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@program("mmap-read", "blocks")
def mapped_64k(d, out, rng):
    with mapped(d) as whole:
        for _ in range(3000):
            at = rng.randrange(len(whole) - (64 << 10))
            bytes(whole[at:at + (64 << 10)])


@program("mmap-read", "blocks")
def mapped_pages(d, out, rng):
    with mapped(d) as whole:
        whole.madvise(mmap.MADV_RANDOM)
        for _ in range(8000):
            whole[rng.randrange(len(whole))]


@program("mmap-read", "blocks")
def mapped_in_order(d, out, rng):
    with mapped(d) as whole:
        sum(whole[at] for at in range(0, len(whole), 4096))


command("fio-mmap", "mmap-read", "blocks", FIO + "--filename={data}/blocks.bin --rw=randread --bs=16k --ioengine=mmap --runtime=8", "fio-mmap")

# --- walks ---


def scan(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                scan(entry.path)
            else:
                entry.stat(follow_symlinks=False)


@program("ingest-scan", "deep")
def scandir_stat(d, out, rng):
    scan(d)


@program("ingest-scan", "deep")
def walk_getsize(d, out, rng):
    for folder, _, names in os.walk(d):
        sum(os.path.getsize(os.path.join(folder, name)) for name in names)


@program("ingest-scan", "tiny")
def listed_stat(d, out, rng):
    for path in shuffled(d, rng):
        os.lstat(path)


command("find-newer", "ingest-scan", "deep", "find {data} -newer {data} -size +2k", "find-newer")
command("du-apparent", "ingest-scan", "deep", "du -ab {data}", "du-apparent")
command("ls-all", "ingest-scan", "tiny", "ls -laR {data}", "ls-all")
command("stat-listed", "ingest-scan", "tiny", EACH + "stat -c '%s %n'", "stat-listed")
command("find-name", "ingest-scan", "deep", "find {data} -name 'f1*'", "find-name")

# --- many small in, few large out ---


@program("preprocess", "tiny")
def concatenate_tiny(d, out, rng):
    with open(os.path.join(out, "all.bin"), "wb", buffering=0) as packed:
        for path in files(d):
            with open(path, "rb") as file:
                packed.write(file.read())


@program("preprocess", "midsize")
def squeeze_midsize(d, out, rng):
    squeeze = zlib.compressobj(1)
    with open(os.path.join(out, "all.z"), "wb", buffering=1 << 20) as packed:
        for path in files(d):
            with open(path, "rb") as file:
                packed.write(squeeze.compress(file.read()))
        packed.write(squeeze.flush())


@program("preprocess", "tiny")
def lines_tiny(d, out, rng):
    """Samples as lines of text, half of each."""
    with open(os.path.join(out, "all.jsonl"), "w", encoding="ascii") as packed:
        for path in files(d):
            with open(path, "rb") as file:
                packed.write(file.read()[::4].hex() + "\n")


@program("preprocess", "midsize")
def shards_midsize(d, out, rng):
    """A shard of 16 MiB at a time, made in memory."""
    shard, number = [], 0
    for path in shuffled(d, rng):
        with open(path, "rb") as file:
            shard.append(file.read())
        if sum(map(len, shard)) > 16 << 20:
            with open(os.path.join(out, "%d.shard" % number), "wb") as packed:
                packed.write(b"".join(shard))
            shard, number = [], number + 1


command("cat-pack", "preprocess", "tiny", EACH + "cat >{out}/all{n}", "cat-pack")
command("gzip-pack", "preprocess", "midsize", EACH + "cat | gzip -1 >{out}/all{n}.gz", "gzip-pack")

# --- copies ---


def copy(path, to, size, sync=False):
    with open(path, "rb", buffering=0) as source, open(to, "wb", buffering=0) as target:
        while block := source.read(size):
            target.write(block)
        if sync:
            os.fsync(target.fileno())


@program("stage-copy", "streams")
def copyfile_streams(d, out, rng):
    for path in files(d):
        shutil.copyfile(path, os.path.join(out, os.path.basename(path)))


@program("stage-copy", "streams")
def copy_64k(d, out, rng):
    for path in files(d):
        copy(path, os.path.join(out, os.path.basename(path)), 64 << 10)


@program("stage-copy", "streams")
def copy_1m_synced(d, out, rng):
    for path in files(d):
        copy(path, os.path.join(out, os.path.basename(path)), 1 << 20, sync=True)


@program("stage-copy", "pictures")
def threads_copy_pictures(d, out, rng):
    with multiprocessing.dummy.Pool(4) as pool:
        pool.map(lambda path: shutil.copy2(path, out), files(d), 10)


@program("stage-copy", "streams")
def copy_file_range(d, out, rng):
    for path in files(d):
        with open(path, "rb") as source, open(os.path.join(out, os.path.basename(path)), "wb") as target:
            while os.copy_file_range(source.fileno(), target.fileno(), 8 << 20):
                pass


command("cp-tiny", "stage-copy", "tiny", "cp -r {data} {out}/copy{n}", "cp-tiny")
command("tar-tar", "stage-copy", "pictures", "mkdir -p {out}/copy{n}; tar -cf - -C {data} . | tar -xf - -C {out}/copy{n}", "tar-tar")
command("dd-4m", "stage-copy", "streams", "for f in {data}/*; do dd if=$f of={out}/$(basename $f).{n} bs=4M status=none; done", "dd-4m")
command("cat-each-copy", "stage-copy", "pictures", "for f in $(find {data} -type f); do cat $f >{out}/$(basename $f).{n}; done", "cat-each-copy")

# --- checkpoints ---


def save(out, name, size, count, sync=True):
    path = os.path.join(out, name)
    with open(path + ".new", "wb", buffering=0) as file:
        block = bytes(size)
        for _ in range(count):
            file.write(block)
        if sync:
            os.fsync(file.fileno())
    os.rename(path + ".new", path)


@program("checkpoint", "nothing")
def save_1m(d, out, rng):
    save(out, "state", 1 << 20, 64)
    time.sleep(0.3)


@program("checkpoint", "nothing")
def save_64k(d, out, rng):
    save(out, "state", 64 << 10, 1000)
    time.sleep(0.3)


@program("checkpoint", "nothing")
def save_16m_numbered(d, out, rng):
    """The last three are kept."""
    save(out, "step-%d" % time.time_ns(), 16 << 20, 4, sync=False)
    for name in sorted(os.listdir(out))[:-3]:
        os.unlink(os.path.join(out, name))
    time.sleep(0.3)


@program("checkpoint", "nothing")
def save_buffered(d, out, rng):
    with open(os.path.join(out, "state"), "wb") as file:
        for _ in range(10000):
            file.write(bytes(6000))
    time.sleep(0.3)


@program("checkpoint", "nothing")
def save_layers(d, out, rng):
    """A file a layer."""
    for number in range(8):
        save(out, "layer-%d" % number, 2 << 20, 4)
    time.sleep(0.3)


@program("checkpoint", "nothing")
def threads_pwrite(d, out, rng):
    fd = os.open(os.path.join(out, "state"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with multiprocessing.dummy.Pool(4) as pool:
        pool.map(lambda at: os.pwrite(fd, bytes(4 << 20), at << 22), range(16), 1)
    os.fsync(fd)
    os.close(fd)
    time.sleep(0.3)


command("dd-save", "checkpoint", "nothing", "dd if=/dev/zero of={out}/state{n} bs=4M count=16 conv=fsync status=none; sleep 0.3", "dd-save")
command("fio-save", "checkpoint", "nothing",
        FIO + "--directory={out} --rw=write --bs=1m --size=64m --end_fsync=1 --unlink=1; sleep 0.3", "fio-save")

# --- weights, read by all ranks at once ---


@program("model-load", "weights")
def ranks_1m(d, out, rng):
    read_whole(only(d), 1 << 20)


@program("model-load", "weights")
def ranks_whole(d, out, rng):
    with open(only(d), "rb") as file:
        file.read()


command("ranks-dd-8m", "model-load", "weights", "dd if={data}/weights.bin of=/dev/null bs=8M status=none", "ranks-dd-8m")

# --- starts of programs ---

programs.python_starts("everything", "package", "everything")
programs.python_starts("web", "modules", "json, http.client, urllib.request, email, html.parser, ssl, decimal, csv, argparse, logging, "
                       "tempfile, tarfile, difflib, statistics, inspect")
command("import-perl-some", "import-storm", "perl",
        "perl -I{data} -e 'use Data::Dumper; use File::Copy; use File::Path; use Getopt::Long; use HTTP::Tiny; use JSON::PP; "
        "use Pod::Usage; use Text::Wrap; use Time::Local; use Math::BigFloat'")

# --- what is none of these ---


@program("unknown", "nothing")
def appended_log(d, out, rng):
    with open(os.path.join(out, "events"), "ab", buffering=0) as file:
        for _ in range(3000):
            file.write(b"e" * rng.randrange(60, 300) + b"\n")


@program("unknown", "nothing")
def touched_files(d, out, rng):
    for number in range(1000):
        path = os.path.join(out, "lock-%d" % (number % 20))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        os.unlink(path)


@program("unknown", "nothing")
def updated_in_place(d, out, rng):
    fd = os.open(os.path.join(out, "pages"), os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 8 << 20)
    for number in range(1500):
        at = rng.randrange(2048) << 12
        os.pread(fd, 4096, at)
        os.pwrite(fd, bytes(4096), at)
        if number % 50 == 0:
            os.fdatasync(fd)
    os.close(fd)


@program("unknown", "nothing")
def renamed_settings(d, out, rng):
    for _ in range(600):
        path = os.path.join(out, "setting-%d" % rng.randrange(50))
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("value = %d\n" % rng.randrange(1000))
        os.rename(path + ".new", path)
        with open(path, encoding="ascii") as file:
            file.read()


command("sort-lines", "unknown", "lines", "sort -S 4M -T {out} -o {out}/sorted{n} {data}/part-0.txt", "sort-lines")
command("fio-mixed", "unknown", "nothing",
        FIO + "--directory={out} --rw=randrw --rwmixread=60 --bs=8k --size=32m --fdatasync=32 --runtime=8 --time_based", "fio-mixed")

NAMES = set(programs.PROGRAMS) - KNOWN
