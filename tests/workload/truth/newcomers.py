# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody had looked at when bounds were mended for those of strangers.py: other languages and tools
again. They are left as they came out: nothing is tuned for them.
"""
import os
import time

import programs
import strangers  # noqa: F401: these come after those
from programs import EACH, command, program, shuffled

KNOWN = set(programs.PROGRAMS)
SHARDS = "for f in $(ls {data}/*.tar | shuf); do "

# --- a file a sample ---

RUBY_READ = "ruby -e 'Dir.glob(ARGV[0] + \"/**/*\").select {{ |f| File.file? f }}.shuffle.each {{ |f| File.binread(f) }}' {data}"
NODE_READ = ("node -e 'const fs = require(\"fs\"), path = require(\"path\"); const walk = d => fs.readdirSync(d, {{withFileTypes: true}})"
             ".flatMap(e => e.isDirectory() ? walk(path.join(d, e.name)) : [path.join(d, e.name)]); "
             "for (const f of walk(process.argv[1])) fs.readFileSync(f)' {data}")

for size, truth in (("small", "losf"), ("large", "cv-training")):
    command("ruby-read-" + size, truth, size, RUBY_READ, "ruby-read")
    command("node-read-" + size, truth, size, NODE_READ, "node-read")
    command("b2sum-" + size, truth, size, EACH + "b2sum", "b2sum")
command("perl-slurp", "losf", "csv", EACH + "perl -0777 -ne '$n += length' ")
command("crc32-7z", "cv-training", "large", "7z h -scrcCRC32 {data}")


@program("cv-training", "large", modules=("skimage.io",))
def skimage_large(d, out, rng):
    import skimage.io
    for path in shuffled(d, rng):
        skimage.io.imread(path)


# --- records out of few large files ---

command("perl-records", "sample-read", "wav",
        "perl -e 'open F, \"<\", \"{data}/long.wav\"; for (1 .. 4000) {{ sysseek F, 44 + 32000 * int rand 3900, 0; "
        "sysread F, $b, 32000 }}'")
command("ruby-records", "sample-read", "wav",
        "ruby -e 'File.open(\"{data}/long.wav\", \"rb\") {{ |f| 4000.times {{ f.pread(32000, 44 + 32000 * rand(3900)) }} }}'")
command("perl-sqlite", "sample-read", "sqlite",
        "perl -MDBI -e '$d = DBI->connect(\"dbi:SQLite:{data}/samples.db\"); "
        "$d->selectrow_array(\"select v from samples where k = \" . int rand 4000) for 1 .. 3000'")
command("node-records", "sample-read", "wav",
        "node -e 'const fs = require(\"fs\"), f = fs.openSync(process.argv[1] + \"/long.wav\"), b = Buffer.alloc(16000); "
        "for (let i = 0; i < 4000; i++) fs.readSync(f, b, 0, 16000, 44 + 16000 * Math.floor(Math.random() * 7800))' {data}")

# --- streams ---

command("ruby-lines", "shard-streaming", "text",
        "for f in $(ls {data}/*.jsonl | shuf); do ruby -e 'n = 0; File.foreach(ARGV[0]) {{ |l| n += 1 }}' $f; done")
command("sed-lines", "shard-streaming", "text", "for f in $(ls {data}/*.jsonl | shuf); do sed -n '$=' $f; done")
command("perl-lines", "shard-streaming", "table", "perl -ne '$n++ if /7,/; END {{ print $n }}' {data}/all.csv")
command("sha1-shards", "shard-streaming", "shards", SHARDS + "sha1sum $f; done")
command("lzop-shards", "shard-streaming", "shards", SHARDS + "lzop -1c $f | wc -c; done")
command("node-stream", "shard-streaming", "shards",
        "for f in $(ls {data}/*.tar | shuf); do node -e 'require(\"fs\").createReadStream(process.argv[1]).on(\"data\", () => 0)' $f; done")

# --- mapped files ---

command("ag-mapped", "mmap-read", "text", "ag --mmap -c zzqq {data} || true")
command("perl-mapped", "mmap-read", "wav",
        "perl -MFile::Map=map_file -e 'map_file my $m, \"{data}/long.wav\", \"<\"; for (1 .. 4000) {{ $s = substr $m, 32000 * int(rand 3900), 32000; "
        "$n += ($s =~ tr/x//) }}'")

# --- walks ---

command("exa-scan", "ingest-scan", "tree", "exa -lR {data} | wc -l")
command("updatedb-scan", "ingest-scan", "tree", "updatedb --prunefs '' --prunepaths '' -l 0 -U {data} -o {out}/db{n}")
command("ruby-scan", "ingest-scan", "tree", "ruby -rfind -e 's = 0; Find.find(ARGV[0]) {{ |f| s += File.size(f) }}' {data}")
command("chown-scan", "ingest-scan", "tree", "chown -R 0:0 {data}")
command("zsh-scan", "ingest-scan", "tree", "zsh -fc 'print -l {data}/**/*(.m-9999) | wc -l'")
command("getfacl-scan", "ingest-scan", "tree", "getfacl -R -p {data} | wc -l")

# --- many small in, few large out ---

command("infozip-pack", "preprocess", "small", "rm -f {out}/packed{n}.zip; zip -q -0 -r {out}/packed{n}.zip {data}")
command("iso-pack", "preprocess", "small", "genisoimage -quiet -r -o {out}/packed{n}.iso {data}")
command("dar-pack", "preprocess", "small", "rm -f {out}/packed{n}.*; dar -Q -q -c {out}/packed{n} -R {data}")
command("tar-gzip", "preprocess", "small", "tar -C {data} -czf {out}/packed{n}.tgz .")

# --- copies ---

command("perl-copy", "stage-copy", "shards",
        "for f in {data}/*.tar; do perl -MFile::Copy -e 'copy @ARGV' $f {out}/$(basename $f).{n}; done")
command("ruby-copy", "stage-copy", "large", "rm -rf {out}/copy{n}; ruby -rfileutils -e 'FileUtils.cp_r(*ARGV)' {data} {out}/copy{n}")
command("busybox-copy", "stage-copy", "large", "rm -rf {out}/copy{n}; busybox cp -r {data} {out}/copy{n}")
command("node-copy", "stage-copy", "shards",
        "for f in {data}/*.tar; do node -e 'require(\"fs\").copyFileSync(...process.argv.slice(1))' $f {out}/$(basename $f).{n}; done")

# --- checkpoints ---

command("ruby-marshal", "checkpoint", "nothing",
        "for i in 1 2 3 4 5; do ruby -e 'layers = (1 .. 8).to_h {{ |i| [i, \"x\" * (4 << 20)] }}; "
        "File.open(ARGV[0], \"wb\") {{ |f| Marshal.dump(layers, f) }}' {out}/state{n}; sleep 0.2; done")
command("perl-storable", "checkpoint", "nothing",
        "for i in 1 2 3 4 5; do perl -MStorable -e 'store {{ map {{ $_ => \"x\" x (4 << 20) }} 1 .. 8 }}, $ARGV[0]' {out}/state{n}; sleep 0.2; done")
command("node-save", "checkpoint", "nothing",
        "for i in 1 2 3 4 5; do node -e 'const fs = require(\"fs\"), f = fs.openSync(process.argv[1], \"w\"); "
        "for (let i = 0; i < 8; i++) fs.writeSync(f, Buffer.alloc(4 << 20)); fs.fsyncSync(f)' {out}/state{n}; sleep 0.2; done")


@program("checkpoint", "nothing", modules=("numpy",))
def numpy_layers(d, out, rng):
    import numpy
    for layer in range(12):
        numpy.save(os.path.join(out, "layer%d.npy" % layer), numpy.zeros(1 << 19))
    time.sleep(0.2)


# --- weights, read by all ranks at once ---

command("ranks-perl", "model-load", "weights", "perl -e 'open F, \"<:raw\", \"{data}/weights.bin\"; 1 while sysread F, $b, 1 << 20'")
command("ranks-node", "model-load", "weights", "node -e 'require(\"fs\").readFileSync(process.argv[1])' {data}/weights.bin")

# --- starts of programs ---

programs.python_starts("networkx", "newer_libraries", "networkx")
programs.python_starts("sqlalchemy", "newer_libraries", "sqlalchemy, sqlalchemy.orm, sqlalchemy.ext.declarative")

# --- what is none of these ---

command("clang-build", "unknown", "nothing",
        "for i in $(seq 8); do echo '#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint main(void) {{ puts(\"\"); return 0; }}'"
        " >{out}/p{n}.c && clang -O0 -o {out}/p{n} {out}/p{n}.c; done")
command("svn-commits", "unknown", "nothing",
        "rm -rf {out}/r{n} {out}/w{n}; svnadmin create {out}/r{n} && svn -q co file://{out}/r{n} {out}/w{n} && cd {out}/w{n} && "
        "for i in $(seq 8); do date +%N >f$i && svn -q add f$i && svn -q commit -m $i; done")
command("sqlite-vacuum", "unknown", "sqlite", "cp {data}/samples.db {out}/v{n}.db && python3 -c 'import sqlite3, sys; "
        "b = sqlite3.connect(sys.argv[1]); b.execute(\"delete from samples where k % 3 = 0\"); b.commit(); b.execute(\"vacuum\")' {out}/v{n}.db")


@program("unknown", "nothing")
def dbm_updates(d, out, rng):
    import dbm.gnu
    with dbm.gnu.open(os.path.join(out, "state.gdbm"), "cf") as base:
        for _ in range(3000):
            base[b"%d" % rng.randrange(20000)] = rng.randbytes(200)
            base.sync()


NAMES = set(programs.PROGRAMS) - KNOWN
