# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of one who knew nothing but the contract and the signatures: an acceptance tester's, written in one pass, without
a look at the classifier, its catalogue or the other programs' results.
"""
import concurrent.futures
import csv
import glob
import hashlib
import json
import mmap
import multiprocessing
import multiprocessing.dummy
import os
import pathlib
import pickle
import shutil
import sqlite3
import struct
import threading
import time

import programs
from outsiders_data import FRAMED, RECORD
from plain import FIO
from programs import command, files, program, shuffled

KNOWN = set(programs.PROGRAMS)


def own(out, name):
    """A path that no other worker has."""
    return os.path.join(out, "%d-%s" % (os.getpid(), name))


def together(count, work, arguments_of):
    """Runs that in so many processes."""
    ranks = [multiprocessing.Process(target=work, args=arguments_of(rank)) for rank in range(count)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()


# --- losf ---


@program("losf", "snippets")
def o_text_corpus(d, out, rng):
    """Documents of a few kilobytes, one by one."""
    for _ in range(12):
        for path in shuffled(d, rng):
            with open(path, encoding="ascii") as file:
                file.read().split()


@program("losf", "thumbs", modules=("torch", "PIL.Image", "numpy"))
def o_torch_folder(d, out, rng):
    import numpy
    import torch
    from PIL import Image

    class Folder(torch.utils.data.Dataset):
        def __init__(self):
            self.paths = files(d)

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            with open(self.paths[index], "rb") as file:
                return torch.from_numpy(numpy.array(Image.open(file).convert("RGB")))

    torch.manual_seed(rng.randrange(1 << 30))
    for _ in torch.utils.data.DataLoader(Folder(), batch_size=32, shuffle=True, num_workers=4):
        time.sleep(0.01)


def sized(path):
    size = os.stat(path).st_size
    fd = os.open(path, os.O_RDONLY)
    got = os.pread(fd, size, 0)
    os.close(fd)
    return len(got)


@program("losf", "crops")
def o_pool_crops(d, out, rng):
    with multiprocessing.Pool(6) as pool:
        for _ in range(15):
            sum(pool.imap_unordered(sized, shuffled(d, rng), 20))


@program("losf", "embeddings", modules=("numpy",))
def o_numpy_embeddings(d, out, rng):
    import numpy
    for _ in range(4):
        for path in shuffled(d, rng):
            numpy.load(path).sum()


@program("losf", "crops")
def o_pathlib_hashes(d, out, rng):
    for path in sorted(pathlib.Path(d).rglob("*.img")) * 10:
        hashlib.sha256(path.read_bytes()).hexdigest()


command("o-md5-parallel", "losf", "snippets",
        "for e in 1 2 3 4 5 6 7 8; do find {data} -type f -print0 | xargs -0 -P 3 -n 200 md5sum; done")
command("o-perl-slurp", "losf", "snippets",
        "find {data} -type f | shuf >{out}/list{n}; for e in 1 2 3 4 5 6 7 8; do "
        "perl -ne 'chomp; local $/; open(my $f, \"<\", $_) or next; my $t = <$f>; $n += length $t; close $f; "
        "END {{ print $n }}' {out}/list{n}; done")
command("o-fio-crops", "losf", "crops",
        FIO + "--opendir={data} --rw=read --bs=8k --openfiles=1 --file_service_type=sequential --loops=3 --runtime=6")

# --- cv-training ---


@program("cv-training", "photos", modules=("PIL.Image",))
def o_pillow_photos(d, out, rng):
    from PIL import Image
    for path in shuffled(d, rng):
        with Image.open(path) as image:
            image.convert("RGB").crop((0, 0, 224, 224)).tobytes()


@program("cv-training", "photos", modules=("torch",))
def o_torch_photos(d, out, rng):
    import torch

    class Photos(torch.utils.data.Dataset):
        paths = files(d)

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            with open(self.paths[index], "rb") as file:
                return len(file.read())

    torch.manual_seed(rng.randrange(1 << 30))
    loader = torch.utils.data.DataLoader(Photos(), batch_size=8, shuffle=True, num_workers=3)
    for _ in range(3):
        for _ in loader:
            time.sleep(0.01)


@program("cv-training", "cases", modules=("numpy",))
def o_unet3d_npz(d, out, rng):
    import numpy
    for _ in range(8):
        for path in shuffled(d, rng):
            with numpy.load(path) as case:
                case["x"].mean()
                case["y"].max()


@program("cv-training", "cases")
def o_unet3d_readv(d, out, rng):
    """Whole files, 4 MiB a call."""
    buffer = bytearray(4 << 20)
    for _ in range(5):
        for path in shuffled(d, rng):
            fd = os.open(path, os.O_RDONLY)
            while os.readv(fd, [buffer]) > 0:
                pass
            os.close(fd)
            time.sleep(0.02)


def unbuffered(path):
    with open(path, "rb", buffering=0) as file:
        return len(file.read())


@program("cv-training", "universes")
def o_cosmoflow_threads(d, out, rng):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for _ in pool.map(unbuffered, shuffled(d, rng)):
                time.sleep(0.0035)


def frame(path):
    buffer = bytearray(os.path.getsize(path))
    with open(path, "rb") as file:
        return file.readinto(buffer)


@program("cv-training", "frames")
def o_frames_processes(d, out, rng):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for _ in range(25):
            list(pool.map(frame, shuffled(d, rng), chunksize=4))


command("o-fio-cosmoflow", "cv-training", "universes",
        FIO + "--opendir={data} --rw=read --bs=512k --openfiles=1 --file_service_type=sequential --loops=10 --runtime=6")
command("o-perl-frames", "cv-training", "frames",
        "for e in $(seq 20); do find {data} -name '*.raw' | shuf | "
        "perl -ne 'chomp; my $s = -s $_; open(my $f, \"<:raw\", $_) or next; "
        "while (sysread($f, my $b, 262144)) {{ $n += length $b }} close $f'; done")

# --- sample-read ---


@program("sample-read", "hdf", modules=("h5py",))
def o_h5py_plain(d, out, rng):
    import h5py
    with h5py.File(os.path.join(d, "train.h5"), "r") as file:
        images = file["plain"]
        for _ in range(40000):
            images[rng.randrange(2500)]


@program("sample-read", "hdf", modules=("torch", "h5py"))
def o_h5py_torch(d, out, rng):
    import h5py
    import torch

    class Images(torch.utils.data.Dataset):
        images = None

        def __len__(self):
            return 2500

        def __getitem__(self, index):
            if self.images is None:
                self.images = h5py.File(os.path.join(d, "train.h5"), "r")["chunked"]
            return torch.from_numpy(self.images[index])

    torch.manual_seed(rng.randrange(1 << 30))
    for _ in torch.utils.data.DataLoader(Images(), batch_size=50, shuffle=True, num_workers=2):
        time.sleep(0.01)


@program("sample-read", "lmdbase", modules=("lmdb",))
def o_lmdb_random(d, out, rng):
    import lmdb
    with lmdb.open(d, readonly=True, lock=False, readahead=False) as base:
        for _ in range(150000):
            with base.begin() as look:
                look.get(b"%08d" % rng.randrange(6000))


@program("sample-read", "tfrecords")
def o_resnet_indexed(d, out, rng):
    """Shuffled records of two files, by an index, in eight threads."""
    fds = [os.open(path, os.O_RDONLY) for path in files(d)]
    places = [(fd, at) for fd in fds for at in range(1000)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            rng.shuffle(places)
            for _ in pool.map(lambda place: os.pread(place[0], RECORD, place[1] * FRAMED + 12), places):
                pass
    for fd in fds:
        os.close(fd)


def some_samples(job):
    path, seed, count = job
    rng, buffer = programs.random.Random(seed), bytearray(24000)
    with open(path, "rb") as file:
        for _ in range(count):
            file.seek(rng.randrange(6500) * 24000)
            file.readinto(buffer)


@program("sample-read", "fixed")
def o_fixed_processes(d, out, rng):
    with multiprocessing.Pool(3) as pool:
        pool.map(some_samples, [(files(d)[0], rng.randrange(1 << 30), 1500) for _ in range(30)], 1)


@program("sample-read", "fixed")
def o_preadv_pairs(d, out, rng):
    """Features and label, each in its buffer."""
    features, label = bytearray(4000), bytearray(96)
    fd = os.open(files(d)[0], os.O_RDONLY)
    for _ in range(300000):
        os.preadv(fd, [features, label], rng.randrange(38000) * 4096)
    os.close(fd)


command("o-perl-seek", "sample-read", "fixed",
        "perl -e 'srand({n}); open(my $f, \"<:raw\", \"{data}/samples.dat\"); "
        "for (1..300000) {{ sysseek($f, int(rand(9000)) * 16384, 0); sysread($f, my $b, 9000) }}'")
command("o-fio-resnet", "sample-read", "tfrecords",
        FIO + "--filename={data}/train-0.tfrecord:{data}/train-1.tfrecord --rw=randread --bs=112k --numjobs=2 --thinktime=200us "
        "--runtime=5 --time_based --norandommap")

# --- shard-streaming ---


@program("shard-streaming", "tars")
def o_webdataset(d, out, rng):
    import tarfile
    for _ in range(9):
        for path in programs.split(d, rng):
            with tarfile.open(path, "r|") as tar:
                for member in tar:
                    tar.extractfile(member).read()


@program("shard-streaming", "tfrecords")
def o_tfrecord_reader(d, out, rng):
    for _ in range(20):
        for path in programs.split(d, rng):
            with open(path, "rb", buffering=256 << 10) as file:
                while head := file.read(12):
                    file.read(struct.unpack("<QI", head)[0])
                    file.read(4)


@program("shard-streaming", "tars")
def o_bert_records(d, out, rng):
    """Records of 2,500 bytes, without a buffer."""
    for path in programs.split(d, rng) * 5:
        fd = os.open(path, os.O_RDONLY)
        while os.read(fd, 2500):
            pass
        os.close(fd)


def count_lines(path):
    with open(path, encoding="ascii") as file:
        return sum(len(json.loads(line)["text"]) for line in file)


@program("shard-streaming", "jsonlines")
def o_jsonl_workers(d, out, rng):
    with multiprocessing.Pool(2) as pool:
        for _ in range(2):
            pool.map(count_lines, shuffled(d, rng), 1)


@program("shard-streaming", "tars", modules=("torch",))
def o_torch_iterable(d, out, rng):
    import torch

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            for path in files(d)[info.id::info.num_workers]:
                with open(path, "rb") as file:
                    while part := file.read(1 << 20):
                        yield len(part)

    for _ in range(4):
        for _ in torch.utils.data.DataLoader(Stream(), batch_size=8, num_workers=2):
            time.sleep(0.005)


command("o-tar-to-stdout", "shard-streaming", "tars",
        "for e in 1 2; do for f in $(ls {data}/*.tar | shuf); do tar -xOf $f | wc -c; done; done")
command("o-perl-lines", "shard-streaming", "jsonlines",
        "for e in $(seq 10); do perl -ne '$n += length; END {{ print $n }}' $(ls {data}/*.jsonl | shuf); done")
command("o-fio-shards", "shard-streaming", "tfrecords",
        FIO + "--filename={data}/train-0.tfrecord:{data}/train-1.tfrecord --file_service_type=sequential --rw=read --bs=1m "
        "--rate=300m --loops=10 --runtime=5")

# --- mmap-read ---


@program("mmap-read", "token_ids", modules=("numpy",))
def o_nanogpt_batches(d, out, rng):
    import numpy
    for _ in range(4000):
        tokens = numpy.memmap(os.path.join(d, "train.bin"), dtype="uint16", mode="r")
        for _ in range(12):
            at = rng.randrange(len(tokens) - 1025)
            tokens[at:at + 1025].astype("int64")


@program("mmap-read", "token_ids", modules=("numpy", "torch"))
def o_torch_tokens(d, out, rng):
    import numpy
    import torch

    class Tokens(torch.utils.data.Dataset):
        tokens = numpy.memmap(os.path.join(d, "train.bin"), dtype="uint16", mode="r")

        def __len__(self):
            return len(self.tokens) // 2048

        def __getitem__(self, index):
            return torch.from_numpy(self.tokens[index * 2048:(index + 1) * 2048].astype("int64"))

    tokens = Tokens()
    order = [rng.randrange(len(tokens)) for _ in range(12000)]
    for _ in torch.utils.data.DataLoader(tokens, batch_size=16, sampler=order, num_workers=2):
        pass


@program("mmap-read", "token_ids")
def o_mmap_slices(d, out, rng):
    with open(os.path.join(d, "train.bin"), "rb") as file:
        for _ in range(40):
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
                for at in range(0, len(view), 1 << 20):
                    len(view[at:at + (1 << 20)])


@program("mmap-read", "jsonlines")
def o_mmap_lines(d, out, rng):
    """Lines of mapped shards, one after the other."""
    for path in shuffled(d, rng):
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            while line := view.readline():
                json.loads(line)


@program("mmap-read", "matrix", modules=("numpy",))
def o_npy_rows(d, out, rng):
    import numpy
    for _ in range(80):
        rows = numpy.load(os.path.join(d, "features.npy"), mmap_mode="r")
        for _ in range(300):
            rows[sorted(rng.randrange(40000) for _ in range(16))].sum()


@program("mmap-read", "token_ids", modules=("torch",))
def o_torch_from_file(d, out, rng):
    import torch
    for _ in range(12):
        whole = torch.from_file(os.path.join(d, "train.bin"), shared=False, size=180 << 19, dtype=torch.int16)
        for part in torch.split(whole, 4 << 20):
            part.sum()


command("o-fio-mmap-seq", "mmap-read", "token_ids",
        FIO + "--filename={data}/train.bin --rw=read --bs=64k --ioengine=mmap --rate=150m --loops=4 --runtime=5")

# --- ingest-scan ---


@program("ingest-scan", "archive_tree")
def o_inventory_csv(d, out, rng):
    for _ in range(20):
        with open(own(out, "inventory.csv"), "w", encoding="ascii", newline="") as file:
            rows = csv.writer(file)
            for folder, _, names in os.walk(d):
                for name in names:
                    path = os.path.join(folder, name)
                    found = os.stat(path)
                    rows.writerow([path, found.st_size, int(found.st_mtime)])


def listed(folder):
    """Folders in a folder, and what its files take."""
    inner, size = [], 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                inner.append(entry.path)
            else:
                size += entry.stat().st_size
    return inner, size


@program("ingest-scan", "archive_tree")
def o_threaded_walk(d, out, rng):
    with multiprocessing.dummy.Pool(8) as pool:
        for _ in range(30):
            level = [d]
            while level:
                level = [inner for found, _ in pool.map(listed, level) for inner in found]


@program("ingest-scan", "archive_tree")
def o_pathlib_rglob(d, out, rng):
    for _ in range(10):
        now, old = time.time(), 0
        for path in pathlib.Path(d).rglob("*"):
            if path.is_file() and now - path.stat().st_mtime > 30 * 86400:
                old += 1


@program("ingest-scan", "archive_tree")
def o_glob_newest(d, out, rng):
    for _ in range(20):
        found = glob.glob(os.path.join(d, "**", "*.log"), recursive=True)
        max(found, key=os.path.getmtime)
        sum(os.path.exists(path[:-3] + "txt") for path in found)


REPEATED = "for i in $(seq 25); do %s; done"
command("o-find-printf", "ingest-scan", "archive_tree", REPEATED % "find {data} -type f -printf '%s %T@ %p\\n' | sort -n | tail -5")
command("o-du-depth", "ingest-scan", "archive_tree", REPEATED % "du -k --max-depth=2 {data}")
command("o-tree-sizes", "ingest-scan", "archive_tree", REPEATED % "tree -a -s -D {data}")
command("o-rsync-dry", "ingest-scan", "archive_tree",
        "mkdir -p {out}/to{n}; " + REPEATED % "rsync -an --stats {data}/ {out}/to{n}/")

# --- preprocess ---


@program("preprocess", "thumbs", modules=("numpy", "PIL.Image"))
def o_images_to_npy(d, out, rng):
    import numpy
    from PIL import Image
    order = shuffled(d, rng)
    for part in range(3):
        rows = []
        for path in order[part::3]:
            with Image.open(path) as image:
                rows.append(numpy.asarray(image.convert("RGB").resize((128, 128))))
        numpy.save(own(out, "part%d.npy" % part), numpy.stack(rows))


@program("preprocess", "snippets")
def o_text_to_tokens(d, out, rng):
    """A token file of all documents."""
    known = {}
    for _ in range(2):
        with open(own(out, "tokens.bin"), "wb") as file:
            for path in files(d):
                with open(path, encoding="ascii") as text:
                    ids = [known.setdefault(word, len(known)) for word in text.read().split()]
                file.write(struct.pack("<%dI" % len(ids), *ids))


@program("preprocess", "crops")
def o_crops_to_tfrecords(d, out, rng):
    order = shuffled(d, rng)
    for part in range(4):
        with open(own(out, "train-%d.tfrecord" % part), "wb", buffering=1 << 20) as shard:
            for path in order[part::4]:
                with open(path, "rb") as file:
                    sample = file.read()
                shard.write(struct.pack("<QI", len(sample), 0) + sample + b"\0\0\0\0")


def content_of(path):
    fd = os.open(path, os.O_RDONLY)
    found = os.read(fd, 200 << 10)
    os.close(fd)
    return found


@program("preprocess", "crops", modules=("h5py", "numpy"))
def o_pool_to_hdf5(d, out, rng):
    """Four processes read, one writes."""
    import h5py
    import numpy
    with multiprocessing.Pool(4) as pool, h5py.File(own(out, "all.h5"), "w") as file:
        images = file.create_dataset("images", (0, 64 << 10), "uint8", maxshape=(None, 64 << 10), chunks=(32, 64 << 10))
        batch = []
        for sample in pool.imap(content_of, shuffled(d, rng), 16):
            batch.append(numpy.frombuffer(sample.ljust(64 << 10, b"\0")[:64 << 10], "uint8"))
            if len(batch) == 32:
                images.resize(len(images) + 32, 0)
                images[-32:] = numpy.stack(batch)
                batch = []


command("o-tar-shards", "preprocess", "crops",
        "cd {data} && find . -type f | sort | split -n r/4 --filter='tar -cf {out}/set{n}-$FILE.tar -T -'")
command("o-cpio-pack", "preprocess", "snippets",
        "cd {data} && for i in 1 2 3; do find . -type f | cpio -o -H newc -C 1048576 >{out}/all{n}.cpio; done")
command("o-zip-stored", "preprocess", "crops", "rm -f {out}/all{n}.zip; cd {data} && zip -q -r -0 {out}/all{n}.zip .")

# --- stage-copy ---


@program("stage-copy", "photos")
def o_copytree(d, out, rng):
    to = own(out, "tree")
    for _ in range(3):
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(d, to)


@program("stage-copy", "tars")
def o_sendfile_shards(d, out, rng):
    for path in files(d):
        with open(path, "rb") as source, open(own(out, os.path.basename(path)), "wb") as target:
            at, size = 0, os.fstat(source.fileno()).st_size
            while at < size:
                at += os.sendfile(target.fileno(), source.fileno(), at, 2 << 20)


def copied(job):
    path, to = job
    with open(path, "rb") as source, open(to + ".part", "wb") as target:
        while part := source.read(4 << 20):
            target.write(part)
    os.rename(to + ".part", to)


@program("stage-copy", "frames")
def o_stage_threads(d, out, rng):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(copied, [(path, own(out, os.path.basename(path))) for path in files(d)]))


command("o-cp-shards", "stage-copy", "tars", "mkdir -p {out}/c{n}; cp {data}/*.tar {out}/c{n}/")
command("o-rsync-photos", "stage-copy", "photos", "rsync -a --whole-file {data}/ {out}/c{n}/")
command("o-tar-pipe", "stage-copy", "frames", "mkdir -p {out}/c{n}; tar -C {data} -c -b 256 . | tar -C {out}/c{n} -x -b 256")
command("o-cpio-pass", "stage-copy", "crops", "mkdir -p {out}/c{n}; cd {data} && find . -depth | cpio -pdm {out}/c{n}")
command("o-dd-shards", "stage-copy", "tars",
        "for f in {data}/*.tar; do dd if=$f of={out}/{n}-$(basename $f) bs=512k conv=fdatasync status=none; done")

# --- checkpoint ---


@program("checkpoint", "nothing", modules=("torch",))
def o_torch_save(d, out, rng):
    """Written beside the old one, then renamed."""
    import torch
    state = {"l%d" % layer: torch.zeros(1 << 20) for layer in range(12)}
    for step in range(3):
        time.sleep(0.3)
        torch.save({"step": step, "model": state}, own(out, "last.pt.tmp"))
        os.replace(own(out, "last.pt.tmp"), own(out, "last.pt"))


@program("checkpoint", "nothing", modules=("torch",))
def o_torch_ranks(d, out, rng):
    """A file a rank."""
    import torch
    state = {"l%d" % layer: torch.zeros(1 << 20) for layer in range(4)}
    for _ in range(3):
        time.sleep(0.3)
        together(4, torch.save, lambda rank: (state, own(out, "rank%d.pt" % rank)))


@program("checkpoint", "nothing", modules=("numpy",))
def o_numpy_savez(d, out, rng):
    import numpy
    layers = {"w%d" % layer: numpy.zeros((1024, 1024), "float32") for layer in range(15)}
    for step in range(4):
        numpy.savez(own(out, "ckpt-%d.npz" % (step % 2)), **layers)
        time.sleep(0.2)


@program("checkpoint", "nothing")
def o_pickle_state(d, out, rng):
    state = {layer: bytearray(3 << 20) for layer in range(16)}
    for _ in range(4):
        time.sleep(0.2)
        with open(own(out, "state.pkl"), "wb") as file:
            pickle.dump(state, file, protocol=4)
            file.flush()
            os.fsync(file.fileno())


@program("checkpoint", "nothing")
def o_tensors_manifest(d, out, rng):
    """Four parts, each with a header, and a list of them that is read back."""
    for step in range(2):
        parts = {}
        for part in range(4):
            path = own(out, "model-%d.tensors" % part)
            with open(path, "wb", buffering=0) as file:
                head = json.dumps({"t%d" % t: [t * 2500000, (t + 1) * 2500000] for t in range(10)}).encode()
                file.write(struct.pack("<Q", len(head)))
                file.write(head)
                for _ in range(10):
                    file.write(bytes(2500000))
                os.fsync(file.fileno())
            parts[path] = 25000000
        with open(own(out, "manifest.json"), "w", encoding="ascii") as file:
            json.dump({"step": step, "parts": parts}, file)
        with open(own(out, "manifest.json"), encoding="ascii") as file:
            json.load(file)
        time.sleep(0.4)


@program("checkpoint", "nothing")
def o_writev_16m(d, out, rng):
    halves = [bytes(8 << 20), bytes(8 << 20)]
    for step in range(2):
        fd = os.open(own(out, "dump%d" % step), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for _ in range(7):
            os.writev(fd, halves)
        os.fdatasync(fd)
        os.close(fd)
        time.sleep(0.5)


@program("checkpoint", "nothing", modules=("h5py", "numpy"))
def o_keras_weights(d, out, rng):
    """HDF5 with a data set a weight."""
    import h5py
    import numpy
    for _ in range(3):
        with h5py.File(own(out, "weights.h5"), "w") as file:
            for layer in range(60):
                group = file.create_group("layer%d" % layer)
                group.create_dataset("kernel", data=numpy.ones((512, 512), "float32"))
                group.create_dataset("bias", data=numpy.ones(512, "float32"))
        time.sleep(0.3)


command("o-fio-llama", "checkpoint", "nothing",
        FIO + "--directory={out} --rw=write --bs=4m --size=64m --numjobs=2 --end_fsync=1 --overwrite=0; "
        "rm -f {out}/j.*; sleep 0.5")

# --- model-load: each worker is a rank ---


@program("model-load", "torch_model", modules=("torch",))
def o_torch_load(d, out, rng):
    import torch
    torch.load(files(d)[0], map_location="cpu")


@program("model-load", "tensors")
def o_tensors_pread(d, out, rng):
    """The header, then every tensor in its order."""
    fd = os.open(files(d)[0], os.O_RDONLY)
    size = struct.unpack("<Q", os.pread(fd, 8, 0))[0]
    for tensor in json.loads(os.pread(fd, size, 8)).values():
        start, end = tensor["data_offsets"]
        os.pread(fd, end - start, 8 + size + start)
    os.close(fd)


@program("model-load", "model_parts")
def o_parts_whole(d, out, rng):
    with open(os.path.join(d, "index.json"), encoding="ascii") as file:
        parts = json.load(file)["parts"]
    for part in parts:
        with open(os.path.join(d, part), "rb") as file:
            len(file.read())


def into_buffer(path):
    buffer = memoryview(bytearray(os.path.getsize(path)))
    at = 0
    with open(path, "rb", buffering=0) as file:
        while got := file.readinto(buffer[at:at + (16 << 20)]):
            at += got


@program("model-load", "tensors")
def o_spawned_ranks(d, out, rng):
    """Two processes of each worker."""
    together(2, into_buffer, lambda rank: (files(d)[0],))


@program("model-load", "matrix", modules=("numpy",))
def o_numpy_load(d, out, rng):
    import numpy
    numpy.load(files(d)[0]).sum()


command("o-cat-parts", "model-load", "model_parts", "cat {data}/index.json {data}/*.bin >/dev/null")

# --- import-storm ---

PYTHON = programs.FROM_DATA + "/usr/bin/python3 "
command("o-python-job-steps", "import-storm", "pylibs",
        "for i in 1 2 3 4 5 6; do " + PYTHON + "-c 'import asyncio, unittest.mock, http.server, xml.dom.minidom, sqlite3, "
        "logging.config, multiprocessing.pool, concurrent.futures, ctypes, pydoc, zipfile, smtplib, ftplib, imaplib'; done")
command("o-python-packages", "import-storm", "pylibs",
        "for i in 1 2 3; do " + PYTHON + "-c 'import networkx, sqlalchemy.orm, docutils.core, "
        "pygments.lexers.python, jinja2'; done")
command("o-python-ranks", "import-storm", "pandas_libs", "for i in 1 2 3 4; do " + PYTHON + "-c 'import pandas' & done; wait")
command("o-python-uncompiled", "import-storm", "pylibs",
        "for i in 1 2; do PYTHONPYCACHEPREFIX=/nonexistent " + PYTHON +
        "-c 'import sqlalchemy, docutils.core, email.mime.text, asyncio'; done")
command("o-perl-tools", "import-storm", "perllib",
        "for i in 1 2 3 4 5 6 7 8; do perl -I{data} -e 'use CPAN; use Pod::Man; use Pod::Text; use Test::More; "
        "use Module::Load; use File::Find; use File::Temp; use Math::BigRat; use IO::Zlib; use Unicode::UCD; "
        "use Term::ANSIColor; use Archive::Tar'; done")
command("o-ruby-starts", "import-storm", "rubylib",
        "for i in 1 2 3 4 5 6; do ruby -I{data} -e 'require \"json\"; require \"optparse\"; require \"net/http\"; require \"erb\"; "
        "require \"set\"; require \"yaml\"; require \"csv\"; require \"fileutils\"; require \"tempfile\"; require \"rdoc\"'; done")

# --- unknown ---

command("o-gcc-modules", "unknown", "csources",
        "cd {data} && for f in *.c; do gcc -O1 -c -o {out}/{n}-${{f%.c}}.o $f; done; gcc -o {out}/{n}-app {out}/{n}-*.o")


@program("unknown", "nothing")
def o_sqlite_accounts(d, out, rng):
    base = sqlite3.connect(own(out, "accounts.db"))
    base.execute("create table if not exists a (id integer primary key, sum integer, note text)")
    base.executemany("insert or replace into a values (?, ?, ?)", [(i, i, "n" * 100) for i in range(20000)])
    base.commit()
    for _ in range(250):
        base.execute("update a set sum = sum + 1 where id = ?", (rng.randrange(20000),))
        base.commit()
    base.close()


@program("unknown", "nothing")
def o_rotated_logs(d, out, rng):
    """Four threads log, a line a write; a full log is renamed."""
    def write(number):
        path = own(out, "app%d.log" % number)
        for _ in range(100):
            with open(path, "a", encoding="ascii", buffering=1) as file:
                for line in range(600):
                    file.write("INFO request %d took %d ms\n" % (line, line % 97))
            os.replace(path, path + ".1")
    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@program("unknown", "nothing")
def o_mail_delivery(d, out, rng):
    """To tmp, then to new; read, and removed."""
    for folder in ("tmp", "new"):
        os.makedirs(own(out, folder), exist_ok=True)
    for number in range(1500):
        name = "%d.mail" % number
        with open(os.path.join(own(out, "tmp"), name), "wb") as file:
            file.write(b"m" * rng.randrange(500, 8000))
            file.flush()
            os.fsync(file.fileno())
        os.rename(os.path.join(own(out, "tmp"), name), os.path.join(own(out, "new"), name))
        if number % 20 == 19:
            for path in files(own(out, "new")):
                with open(path, "rb") as file:
                    file.read()
                os.unlink(path)


@program("unknown", "nothing")
def o_records_in_place(d, out, rng):
    with open(own(out, "table.dat"), "w+b", buffering=0) as file:
        file.truncate(20 << 20)
        for number in range(40000):
            at = rng.randrange(160000) * 128
            file.seek(at)
            row = file.read(128)
            file.seek(at)
            file.write(bytes([number & 255]) + row[1:])
            if number % 400 == 0:
                os.fsync(file.fileno())


command("o-config-script", "unknown", "nothing",
        "mkdir -p {out}/s{n}; cd {out}/s{n}; for i in $(seq 120); do echo \"key$i = $i\" >f$i.conf; "
        "sed -i \"s/ = / := /\" f$i.conf; "
        "grep -q key f$i.conf && mv f$i.conf g$i.conf; chmod 600 g$i.conf; echo done $i >>log; done; rm -f g*.conf")

NAMES = set(programs.PROGRAMS) - KNOWN
