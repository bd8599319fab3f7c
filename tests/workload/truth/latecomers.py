# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody had looked at when bounds were mended for those of newcomers.py: PHP, Java, R, Tcl and Lua, what
medicine, maps and genomes are kept in, and more tools of backup.
"""
import os
import subprocess
import tempfile

import newcomers  # noqa: F401: these come after those
import programs
from programs import EACH, command, files, program, shuffled

KNOWN = set(programs.PROGRAMS)
LANGUAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "languages")
SPEAKS = {"php": f"php -d memory_limit=-1 {LANGUAGES}/work.php", "java": "java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp $CLASSES Work",
          "r": f"Rscript {LANGUAGES}/work.R", "tcl": f"tclsh {LANGUAGES}/work.tcl", "lua": f"lua5.4 {LANGUAGES}/work.lua"}


def compile_java():
    """Once, as eight machines that compile at the same time would do nothing else."""
    os.environ["CLASSES"] = tempfile.mkdtemp(dir=os.environ["HOME"])
    subprocess.run(["javac", "-d", os.environ["CLASSES"], os.path.join(LANGUAGES, "Work.java")], check=True)


def spoken(language, what, truth, needs, given=""):
    command(f"{language}-{what}-{needs}", truth, needs, f"{given}{SPEAKS[language]} {what} {{data}} {{out}}",
            f"{language}-{what}", before=compile_java if language == "java" else None)


# --- a file a sample ---

for size, truth_of_size in (("small", "losf"), ("large", "cv-training")):
    for speaker in ("php", "java", "r", "tcl"):
        spoken(speaker, "read", truth_of_size, size)
    spoken("lua", "read", truth_of_size, size, "find {data} -type f | shuf | ")
    command("rhash-" + size, truth_of_size, size, EACH + "rhash --sha1", "rhash")
command("hashdeep-small", "losf", "small", "hashdeep -j0 -r {data}")
command("magick-large", "cv-training", "large", EACH + "-n 8 identify -format %[mean]")
command("sox-large", "cv-training", "wavs_large", "for f in $(find {data} -name '*.wav' | shuf); do sox $f -n stat; done")
spoken("r", "tables", "losf", "csv")


@program("losf", "csv", modules=("sklearn.datasets",))
def sklearn_texts(d, out, rng):
    import sklearn.datasets
    sklearn.datasets.load_files(d, shuffle=True, random_state=rng.randrange(1 << 30))


@program("cv-training", "dicom", modules=("pydicom",))
def pydicom_slices(d, out, rng):
    import pydicom
    for path in shuffled(d, rng):
        len(pydicom.dcmread(path).PixelData)


# --- records out of few large files ---

for speaker in ("php", "java", "r", "lua"):
    spoken(speaker, "records", "sample-read", "wav")


@program("sample-read", "geotiff", modules=("osgeo.gdal",))
def gdal_windows(d, out, rng):
    from osgeo import gdal
    gdal.SetCacheMax(1 << 20)
    scene = gdal.Open(files(d)[0])
    band = scene.GetRasterBand(1)
    for _ in range(1500):
        band.ReadAsArray(rng.randrange(32) * 256, rng.randrange(32) * 256, 256, 256)


@program("sample-read", "fasta", modules=("Bio.SeqIO",))
def fasta_index(d, out, rng):
    from Bio import SeqIO
    for path in files(d)[:1]:
        index = SeqIO.index(path, "fasta")
        names = list(index)
        for _ in range(20000):
            len(index[rng.choice(names)])


# --- streams ---

for speaker in ("php", "java", "r", "tcl"):
    spoken(speaker, "lines", "shard-streaming", "text")
spoken("lua", "lines", "shard-streaming", "text", "find {data} -name '*.jsonl' | shuf | ")
command("samtools-stream", "shard-streaming", "bam", "samtools view {data}/reads.bam | wc -l")
command("sox-stream", "shard-streaming", "wav", "sox {data}/long.wav -n stat")
command("lbzip2-shards", "shard-streaming", "packed_text", "for f in $(ls {data}/*.bz2 | shuf); do lbzip2 -n1 -dc $f | wc -c; done")


@program("shard-streaming", "fasta", modules=("Bio.SeqIO",))
def fasta_stream(d, out, rng):
    from Bio import SeqIO
    for path in shuffled(d, rng):
        sum(1 for _ in SeqIO.parse(path, "fasta"))


@program("shard-streaming", "text", modules=("zstandard",))
def zstandard_stream(d, out, rng):
    import zstandard
    for path in shuffled(d, rng, ".zst"):
        with open(path, "rb") as file:
            for _ in zstandard.ZstdDecompressor().read_to_iter(file):
                pass


# --- mapped files ---

spoken("java", "mapped", "mmap-read", "wav")


@program("mmap-read", "nifti", modules=("nibabel",))
def nibabel_patches(d, out, rng):
    import nibabel
    import numpy
    for path in shuffled(d, rng):
        voxels = numpy.asanyarray(nibabel.load(path).dataobj)
        for _ in range(40):
            x, y, z = (rng.randrange(limit - 32) for limit in voxels.shape)
            voxels[x:x + 32, y:y + 32, z:z + 32].sum()


@program("mmap-read", "netcdf_classic", modules=("scipy.io",))
def scipy_netcdf(d, out, rng):
    import scipy.io
    with scipy.io.netcdf_file(files(d)[0], mmap=True) as file:
        values = file.variables["v"]
        for _ in range(4000):
            values[rng.randrange(values.shape[0])].sum()
        del values


# --- walks ---

for speaker in ("php", "java", "r", "tcl"):
    spoken(speaker, "scan", "ingest-scan", "tree")
command("perl-find", "ingest-scan", "tree", "perl -MFile::Find -e 'find(sub {{ $n += -s $_ }}, $ARGV[0])' {data}")
command("restic-unchanged", "ingest-scan", "tree",
        "export RESTIC_PASSWORD=a; r={out}/../repository{n}; [ -d $r ] || restic init -q -r $r; restic backup -q --no-cache -r $r {data}")
command("setfacl-scan", "ingest-scan", "tree", "setfacl -R -m u:1:r {data}")

# --- many small in, few large out ---

command("restic-backup", "preprocess", "small",
        "export RESTIC_PASSWORD=a; rm -rf {out}/r{n}; restic init -q -r {out}/r{n}; restic backup -q --no-cache -r {out}/r{n} {data}")
command("borg-backup", "preprocess", "small",
        "export BORG_BASE_DIR={out}/b{n}; rm -rf {out}/r{n}; borg init -e none {out}/r{n}; borg create -C none {out}/r{n}::a {data}")
command("wim-pack", "preprocess", "small", "wimlib-imagex capture {data} {out}/packed{n}.wim --compress=none")
command("ar-pack", "preprocess", "small", "rm -f {out}/packed{n}.a; cd {data} && find . -type f | shuf | xargs ar qS {out}/packed{n}.a")

# --- copies ---

for speaker in ("php", "java", "r", "tcl"):
    spoken(speaker, "copy", "stage-copy", "shards")
command("ddrescue-copy", "stage-copy", "shards", "for f in {data}/*.tar; do ddrescue -f $f {out}/$(basename $f).{n}; done")
command("mbuffer-copy", "stage-copy", "shards", "for f in {data}/*.tar; do mbuffer -q -m 8M -f -i $f -o {out}/$(basename $f).{n}; done")
command("rdiff-copy", "stage-copy", "large", "rm -rf {out}/copy{n}; rdiff-backup {data} {out}/copy{n}")

# --- checkpoints ---

for speaker in ("php", "java", "r", "tcl"):
    spoken(speaker, "save", "checkpoint", "nothing")

# --- weights, read by all ranks at once ---

for speaker in ("php", "java", "r"):
    spoken(speaker, "load", "model-load", "weights")

# --- starts of programs ---

programs.python_starts("sklearn", "science", "sklearn.ensemble, sklearn.linear_model")
programs.python_starts("dask", "science", "dask.dataframe")

# --- what is none of these ---

command("java-build", "unknown", "nothing",
        "for i in $(seq 4); do echo 'class P'$i' {{ public static void main(String[] a) {{ System.out.println(\"\"); }} }}' >{out}/P$i.java; done; "
        "cd {out} && javac P?.java && java P1")
command("rrd-updates", "unknown", "nothing",
        "rm -f {out}/*.rrd; for i in $(seq 20); do rrdtool create {out}/$i.rrd --start 1000000000 --step 1 DS:a:GAUGE:10:U:U RRA:AVERAGE:0.5:1:3600; done; "
        "for t in $(seq 30); do for i in $(seq 20); do echo update {out}/$i.rrd $((1000000000 + t)):$t; done; done | rrdtool -")


@program("unknown", "nothing", modules=("xapian",))
def xapian_index(d, out, rng):
    import xapian
    index = xapian.WritableDatabase(os.path.join(out, "index"), xapian.DB_CREATE_OR_OVERWRITE)
    for number in range(300):
        document = xapian.Document()
        for _ in range(60):
            document.add_term("t%d" % rng.randrange(5000))
        document.set_data("d%d" % number)
        index.add_document(document)
        if number % 30 == 29:
            index.commit()
    index.close()


@program("unknown", "nothing")
def shelf(d, out, rng):
    import shelve
    with shelve.open(os.path.join(out, "state"), "n") as base:
        for _ in range(3000):
            base["%d" % rng.randrange(2000)] = rng.randbytes(300)


NAMES = set(programs.PROGRAMS) - KNOWN
