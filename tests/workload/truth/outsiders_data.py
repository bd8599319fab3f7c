# SPDX-License-Identifier: GPL-2.0-or-later
"""The data of the programs in outsiders.py: small, and the same for the same seed."""
import json
import os
import random
import shutil
import struct
import tarfile

import data


def scattered(root, count, least, most, folders, ending, seed=7):
    rng = random.Random(seed)
    content = data.block(rng, most * 2)
    for number in range(count):
        folder = os.path.join(root, "c%02d" % (number % folders))
        os.makedirs(folder, exist_ok=True)
        start, size = rng.randrange(most), rng.randrange(least, most)
        with open(os.path.join(folder, "%06d%s" % (number, ending)), "wb") as file:
            file.write(content[start:start + size])


def make_snippets(root):
    rng = random.Random(11)
    words = ["w%d" % rng.randrange(5000) for _ in range(3000)]
    for number in range(3000):
        folder = os.path.join(root, "%02d" % (number % 30))
        os.makedirs(folder, exist_ok=True)
        at = rng.randrange(1500)
        with open(os.path.join(folder, "%d.txt" % number), "w", encoding="ascii") as file:
            file.write(" ".join(words[at:at + rng.randrange(200, 1400)]))


def make_crops(root):
    scattered(root, 1100, 8 << 10, 118 << 10, 10, ".img")


def make_thumbs(root):
    data.make_jpegs(root, 900, 160, 85, 8 << 10)


def make_embeddings(root):
    import numpy
    rng = random.Random(12)
    os.makedirs(root)
    for number in range(2000):
        numpy.save(os.path.join(root, "e%05d.npy" % number), numpy.full(rng.randrange(300, 4000), number, "float32"))


def make_photos(root):
    data.make_jpegs(root, 160, 760, 87, 90 << 10)


def make_frames(root):
    scattered(root, 90, 900 << 10, 3 << 20, 3, ".raw")


def make_cases(root):
    """Volumes with labels, a file each, as for UNet3D."""
    import numpy
    rng = random.Random(13)
    os.makedirs(root)
    for number in range(10):
        depth = rng.randrange(50, 100)
        x = numpy.random.default_rng(number).integers(0, 255, (depth, 200, 200, 4), dtype="uint8")
        numpy.savez(os.path.join(root, "case%02d.npz" % number), x=x, y=x[..., :1])


def make_universes(root):
    rng = random.Random(14)
    content = data.block(rng, 4 << 20)
    os.makedirs(root)
    for number in range(60):
        with open(os.path.join(root, "%03d.tfrecord" % number), "wb") as file:
            file.write(content[:int(rng.gauss(2828486, 71311))])


RECORD = 114660       # bytes, of ResNet50,
FRAMED = RECORD + 16  # and with its length and sums


def make_tfrecords(root):
    """Two files of framed records."""
    rng = random.Random(15)
    content = data.block(rng, RECORD * 2)
    os.makedirs(root)
    for number in range(2):
        with open(os.path.join(root, "train-%d.tfrecord" % number), "wb") as file:
            for _ in range(1000):
                at = rng.randrange(RECORD)
                file.write(struct.pack("<QI", RECORD, 0) + content[at:at + RECORD] + b"\0\0\0\0")


def make_hdf(root):
    import h5py
    import numpy
    os.makedirs(root)
    images = numpy.random.default_rng(1).integers(0, 255, (500, 96, 96, 3), dtype="uint8")
    with h5py.File(os.path.join(root, "train.h5"), "w") as file:
        plain = file.create_dataset("plain", (2500, 96, 96, 3), "uint8")
        chunked = file.create_dataset("chunked", (2500, 96, 96, 3), "uint8", chunks=(1, 96, 96, 3))
        for at in range(0, 2500, 500):
            plain[at:at + 500] = images
            chunked[at:at + 500] = images


def make_lmdbase(root):
    import lmdb
    rng = random.Random(16)
    os.makedirs(root)
    with lmdb.open(root, map_size=300 << 20, sync=False) as base, base.begin(write=True) as change:
        for number in range(6000):
            change.put(b"%08d" % number, rng.randbytes(rng.randrange(10000, 30000)), append=True)


def make_fixed(root):
    data.make_file(os.path.join(root, "samples.dat"), 150 << 20)


def make_tars(root):
    """Shards of samples of two files."""
    import io
    rng = random.Random(17)
    content = data.block(rng, 400 << 10)
    os.makedirs(root)
    for number in range(5):
        with tarfile.open(os.path.join(root, "shard-%05d.tar" % number), "w") as tar:
            for sample in range(200):
                for ending, size in ((".jpg", rng.randrange(60 << 10, 320 << 10)), (".cls", 3)):
                    info = tarfile.TarInfo("%06d%s" % (sample, ending))
                    info.size = size
                    tar.addfile(info, io.BytesIO(content[:size]))


def make_jsonlines(root):
    rng = random.Random(18)
    text = data.block(rng, 4096).hex()
    os.makedirs(root)
    for number in range(5):
        with open(os.path.join(root, "corpus-%d.jsonl" % number), "w", encoding="ascii") as file:
            for line in range(20000):
                at = rng.randrange(4000)
                file.write(json.dumps({"id": line, "text": text[at:at + rng.randrange(200, 4000)]}) + "\n")


def make_token_ids(root):
    data.make_file(os.path.join(root, "train.bin"), 180 << 20)


def make_matrix(root):
    import numpy
    os.makedirs(root)
    numpy.save(os.path.join(root, "features.npy"), numpy.random.default_rng(2).random((40000, 1024), dtype="float32"))


def make_archive_tree(root):
    rng = random.Random(19)
    folders = [root]
    os.makedirs(root)
    for number in range(500):
        parent = rng.choice(folders)
        folders.append(os.path.join(parent, "run%d" % number))
        os.mkdir(folders[-1])
    for number in range(7000):
        with open(os.path.join(rng.choice(folders), "%d.%s" % (number, rng.choice(["log", "txt", "dat"]))), "wb") as file:
            file.write(b"." * rng.randrange(400))


def make_torch_model(root):
    import torch
    os.makedirs(root)
    torch.manual_seed(1)
    torch.save({"block%d.weight" % i: torch.randn(1536, 2048) for i in range(16)}, os.path.join(root, "pytorch_model.bin"))


def make_tensors(root):
    """A header with the tensors' places, then these."""
    rng = random.Random(20)
    header, at = {}, 0
    for layer in range(48):
        for part, size in (("attn", 2 << 20), ("mlp", 2500000), ("norm", 4096)):
            header["layers.%d.%s" % (layer, part)] = {"dtype": "F16", "shape": [size // 2], "data_offsets": [at, at + size]}
            at += size
    text = json.dumps(header).encode()
    content = data.block(rng, 1 << 20)
    os.makedirs(root)
    with open(os.path.join(root, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in range(at >> 20):
            file.write(content)
        file.write(content[:at % (1 << 20)])


def make_model_parts(root):
    for number in range(4):
        data.make_file(os.path.join(root, "model-%05d-of-00004.bin" % number), (40 + 4 * number) << 20)
    with open(os.path.join(root, "index.json"), "w", encoding="ascii") as file:
        json.dump({"parts": ["model-%05d-of-00004.bin" % number for number in range(4)]}, file)


def copied(root, names, source):
    for name in names:
        if os.path.isdir(os.path.join(source, name)):
            shutil.copytree(os.path.join(source, name), os.path.join(root, name), ignore_dangling_symlinks=True,
                            ignore=shutil.ignore_patterns("tests", "test"))


def make_pylibs(root):
    """Python's library and packages, with what is compiled of them."""
    import sysconfig
    shutil.copytree(sysconfig.get_paths()["stdlib"], root, ignore_dangling_symlinks=True, ignore=shutil.ignore_patterns(
        "dist-packages", "site-packages", "config-*", "test", "idlelib", "lib2to3", "lib-dynload"))
    copied(root, ["networkx", "jinja2", "markupsafe", "docutils", "pygments", "sqlalchemy", "greenlet"],
           "/usr/lib/python3/dist-packages")


def make_pandas_libs(root):
    os.makedirs(root)
    copied(root, ["numpy", "pandas", "dateutil", "pytz"], "/usr/lib/python3/dist-packages")
    shutil.copy2("/usr/lib/python3/dist-packages/six.py", root)


def make_rubylib(root):
    import glob
    source = sorted(path for path in glob.glob("/usr/lib/ruby/3*") if os.path.isdir(path))[-1]
    shutil.copytree(source, root, ignore_dangling_symlinks=True)


def make_perllib(root):
    import glob
    source = sorted(path for path in glob.glob("/usr/share/perl/5.*.*") if os.path.isdir(path))[-1]
    shutil.copytree(source, root, ignore_dangling_symlinks=True)


def make_csources(root):
    rng = random.Random(21)
    headers = "stdio stdlib string unistd errno math time sys/types sys/stat sys/wait netinet/in arpa/inet".split()
    os.makedirs(root)
    for number in range(40):
        with open(os.path.join(root, "mod%02d.h" % number), "w", encoding="ascii") as file:
            file.write("int g%d(int);\n" % number)
        with open(os.path.join(root, "mod%02d.c" % number), "w", encoding="ascii") as file:
            file.writelines("#include <%s.h>\n" % header for header in headers)
            file.writelines('#include "mod%02d.h"\n' % other for other in range(number + 1))
            file.write("int g%d(int x) { return x + %d; }\n" % (number, rng.randrange(99)))
    with open(os.path.join(root, "main.c"), "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
