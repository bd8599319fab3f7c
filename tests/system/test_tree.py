# SPDX-License-Identifier: GPL-2.0-or-later
"""In which folders operations go on: exactly, under names that do not depend on where a volume is mounted."""
import json
import os
import shutil
import subprocess
import tempfile

import harness
import test_path

# What follows runs with the volume's mount point as root.
OPENS = """
import os, sys
root = sys.argv[1]
def use(path, reads):
    fd = os.open(path, os.O_RDONLY)
    for _ in range(reads):
        os.pread(fd, 1000, 0)
    os.close(fd)
"""

COUNTS = ("opens", "reads", "writes", "metadata", "read_bytes", "write_bytes")


def totals(ops):
    """What the trees of a volume have together, out of its operations."""
    def of(*names, key="ops"):
        return sum(ops[name][key] for name in names if name in ops)

    return {"opens": of("open", "create"), "reads": of("read"), "writes": of("write"),
            "metadata": of("open", "close", "stat", "readdir", "create", "unlink", "rename", "mkdir", "truncate",
                           "setattr"),
            "read_bytes": of("read", key="bytes"), "write_bytes": of("write", key="bytes")}


class TreeTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(64)
        for folder in ("train/n01", "train/n01/deep/down", "train/n02", "val"):
            os.makedirs(os.path.join(cls.volume.mount, folder))
            for name in ("1", "2"):
                with open(os.path.join(cls.volume.mount, folder, name), "wb") as file:
                    file.write(bytes(2000))
        with open(os.path.join(cls.volume.mount, "top"), "wb") as file:
            file.write(bytes(2000))

    def python(self, program, *options, root=None, launch=(), **more):
        """Records a program that begins with OPENS."""
        return self.record([*launch, harness.PYTHON, "-I", "-S", "-c", OPENS + program, root or self.volume.mount],
                           "--paths", *options, **more)

    def trees(self, report, mount=None, job=None):
        """{name: {count: number}} of the volume, whose sums must be those of its operations."""
        found = [volume for volume in (job or report.job())["volumes"] if (mount or self.volume.mount) in volume["mounts"]]
        self.assertEqual(1, len(found))
        for key, value in totals(found[0]["ops"]).items():
            self.assertEqual(value, sum(tree[key] for tree in found[0]["trees"]), key)
        return {tree["tree"]: tree for tree in found[0]["trees"]}

    def assert_tree(self, trees, name, **expected):
        self.assertEqual({**dict.fromkeys(COUNTS, 0), **expected}, {key: trees[name][key] for key in COUNTS}, name)

    def test_counts(self):
        report = self.python("""
for n in (1, 2):
    use(f"{root}/train/n01/{n}", 3)
    use(f"{root}/train/n01/deep/down/{n}", 1)
use(f"{root}/train/n02/1", 0)
use(f"{root}/top", 2)
fd = os.open(f"{root}/val/new", os.O_WRONLY | os.O_CREAT)
os.write(fd, bytes(300)); os.write(fd, bytes(50)); os.fsync(fd); os.ftruncate(fd, 10); os.close(fd)
os.rename(f"{root}/val/new", f"{root}/val/newer")
os.unlink(f"{root}/val/newer")
os.mkdir(f"{root}/val/made"); os.rmdir(f"{root}/val/made")
os.stat(f"{root}/train/n02/1"); os.access(f"{root}/train/n02/2", os.R_OK)
for path in (f"{root}/train/n02/none", f"{root}/none/none"):
    try:
        os.stat(path)
    except OSError:
        pass
os.listdir(f"{root}/train/n02")
""")
        trees = self.trees(report)
        self.assertEqual({"/train/n01", "/train/n02", "/", "/val", "/none"}, set(trees))
        self.assert_tree(trees, "/train/n01", opens=4, reads=8, metadata=8, read_bytes=8000)
        self.assert_tree(trees, "/", opens=1, reads=2, metadata=2, read_bytes=2000)
        self.assert_tree(trees, "/val", opens=1, writes=2, metadata=7, write_bytes=350)
        self.assert_tree(trees, "/none", metadata=1)
        listing = trees["/train/n02"]
        self.assertEqual((2, 0), (listing["opens"], listing["reads"]))
        for name in ("/train/n01", "/val"):
            self.assertGreater(trees[name]["wait_ns"], 0)
        missing = {hook["hook"] for hook in report.coverage["hooks"] if hook["state"] == "unavailable"}
        self.assertIn("trees-spelled", missing)
        self.assertNotIn("trees", missing)

    def test_depth(self):
        program = 'use(f"{root}/train/n01/deep/down/1", 1); use(f"{root}/train/n02/1", 1)'
        trees = self.trees(self.python(program, "--tree-depth", "1"))
        self.assert_tree(trees, "/train", opens=2, reads=2, metadata=4, read_bytes=2000)
        trees = self.trees(self.python(program, "--tree-depth", "4"))
        self.assert_tree(trees, "/train/n01/deep/down", opens=1, reads=1, metadata=2, read_bytes=1000)

    def test_wrong_depth(self):
        for depth in ("0", "5", "x"):
            done = harness.run([harness.unblend(), "record", "--paths", "--tree-depth", depth, "true"])
            self.assertEqual(2, done.returncode)
            self.assertIn("tree-depth", done.stderr)

    def test_name_of_a_bind_mount(self):
        """Below a folder that is mounted somewhere else, in a mount namespace of its own: by descriptor and by path."""
        point = tempfile.mkdtemp(dir=self.directory)
        script = f'mount --bind {self.volume.mount}/train/n01 {point} && exec "$@"'
        report = self.python("""
import time
use(f"{root}/deep/down/1", 1)
time.sleep(2.5)  # a namespace that is new is read each second
os.stat(f"{root}/1"); os.stat(f"{root}/deep/down/2")
os.chdir(f"{root}/deep"); os.stat("down/1"); os.stat("../1")
""", "--tree-depth", "3", root=point, launch=("unshare", "-m", "sh", "-c", script, "sh"))
        trees = self.trees(report)
        self.assert_tree(trees, "/train/n01/deep", opens=1, reads=1, metadata=4, read_bytes=1000)
        # The stat of "1" right below; chdir() is no operation. What ".." leads to is not looked for.
        self.assert_tree(trees, "/train/n01", metadata=1)
        self.assert_tree(trees, None, metadata=1)

    def test_relative_paths(self):
        report = self.python("""
os.chdir(f"{root}/train")
os.stat("n01/1"); os.stat("n01/deep/down/1"); os.stat("./n02//1")
here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
os.stat("train/n02/2", dir_fd=here); os.stat("top", dir_fd=here); os.fstat(here)
""")
        trees = self.trees(report)
        self.assert_tree(trees, "/train/n01", metadata=2)
        self.assert_tree(trees, "/train/n02", metadata=2)
        self.assert_tree(trees, "/", opens=1, metadata=3)

    def test_transfers_and_mapped_out_descriptors(self):
        """More open files than a thread remembers, of which each is closed by another thread."""
        report = self.python("""
import threading
files = [os.open(f"{root}/train/n0{1 + n % 2}/1", os.O_RDONLY) for n in range(40)]
target = os.open(f"{root}/val/copy", os.O_RDWR | os.O_CREAT)
for fd in files[:10]:
    os.copy_file_range(fd, target, 100, 0, 0)
thread = threading.Thread(target=lambda: [os.close(fd) for fd in files])
thread.start(); thread.join()
os.close(target)
""")
        trees = self.trees(report)
        self.assert_tree(trees, "/train/n01", opens=20, reads=5, metadata=40, read_bytes=500)
        self.assert_tree(trees, "/train/n02", opens=20, reads=5, metadata=40, read_bytes=500)
        self.assert_tree(trees, "/val", opens=1, writes=10, metadata=2, write_bytes=1000)

    def test_rings(self):
        for engine in ("io_uring", "libaio"):
            with self.subTest(engine):
                account = self.path("fio.json")
                report = self.record([harness.tool("fio"), "--name=x", f"--directory={self.volume.mount}/train/n02",
                                      f"--ioengine={engine}", "--rw=randrw", "--bs=4k", "--size=2m", "--iodepth=8",
                                      "--direct=1", "--output-format=json", f"--output={account}"], "--paths")
                with open(account, encoding="utf-8") as file:
                    (job,) = json.load(file)["jobs"]
                tree = self.trees(report)["/train/n02"]
                self.assertEqual(job["read"]["io_bytes"], tree["read_bytes"])
                self.assertGreaterEqual(tree["write_bytes"], job["write"]["io_bytes"])  # and the laying out

    def test_more_trees_than_there_is_room_for(self):
        memory = self.make_memory()
        for n in range(4500):
            os.mkdir(os.path.join(memory, str(n)))
            with open(os.path.join(memory, str(n), "x"), "wb") as file:
                file.write(bytes(100))
        base = os.path.basename(memory)
        report = self.python("""
for n in range(4500):
    use(f"{root}/{n}/x", 1)
""", root=memory)
        trees = self.trees(report, "/dev/shm")
        self.assertGreater(len(trees), 4000)
        self.assertLess(len(trees), 4097)
        self.assert_tree(trees, f"/{base}/0", opens=1, reads=1, metadata=2, read_bytes=100)
        self.assertGreater(trees[None]["opens"], 400)

    def test_numbers_are_given_back(self):
        """More trees than there are numbers, but not at a time: all of them are told, and those at the end once more."""
        memory = self.make_memory()
        for n in range(9000):
            os.mkdir(os.path.join(memory, str(n)))
            with open(os.path.join(memory, str(n), "x"), "wb"):
                pass
        report = self.python("""
import time
first = os.open(f"{root}/0/x", os.O_RDONLY)
for n in range(9000):
    use(f"{root}/{n}/x", 1)
    if n % 1000 == 0:
        time.sleep(1.5)
os.read(first, 1); os.close(first)
""", root=memory)
        base = os.path.basename(memory)
        trees = self.trees(report, "/dev/shm")
        self.assertEqual(4096, len([name for name in trees if name]))  # a report keeps so many of a volume apart
        told = [tree["tree"] for batch in harness.batches(self.path("unblend.rec")) for tree in batch.get("trees", [])]
        self.assertEqual({f"/{base}/{n}" for n in range(9000)}, {name for name in told if name.startswith(f"/{base}/")})
        # A file of whose tree the number was given away: its read finds the tree anew, with it the close.
        self.assert_tree(trees, f"/{base}/0", opens=2, reads=2, metadata=4)

    def test_descendants_of_another_job(self):
        """Trees are of the job that the operations are of: that which an environment names, from its program on."""
        report = self.record([harness.PYTHON, "-I", "-S", "-c", """
import os, subprocess, sys, time
root, of = sys.argv[1], {**os.environ, "UNBLEND_JOB": "inner"}
kept = os.open(f"{root}/val/kept", os.O_WRONLY | os.O_CREAT)
os.set_inheritable(kept, True)
os.write(kept, bytes(100))
child = [sys.executable, "-I", "-S", "-c", sys.argv[2], root, str(kept)]
for _ in range(2):
    subprocess.run(child, env=of, check=True, close_fds=False)
time.sleep(2.5)  # what was done before a program begins is its job's that the process has when it is drained
os.execve(sys.executable, child, of)
""", self.volume.mount, """
import os, sys
for _ in range(7):
    os.write(int(sys.argv[2]), bytes(10))
fd = os.open(f"{sys.argv[1]}/train/n01/1", os.O_RDONLY)
os.read(fd, 1000)
os.close(fd)
"""], "--paths", "-j", "outer")
        jobs = {job["job"]: job for job in report.data["jobs"]}
        self.assertEqual({"inner", "outer"}, set(jobs))
        inner = self.trees(report, job=jobs["inner"])
        self.assert_tree(inner, "/train/n01", opens=3, reads=3, metadata=6, read_bytes=3000)
        self.assert_tree(inner, "/val", writes=21, write_bytes=210)
        outer = self.trees(report, job=jobs["outer"])
        self.assert_tree(outer, "/val", opens=1, writes=1, metadata=1, write_bytes=100)

    def test_working_sets(self):
        report = self.python("""
for _ in range(4):
    for n in (1, 2):
        use(f"{root}/train/n01/{n}", 2)
use(f"{root}/train/n02/1", 1)
""")
        trees = self.trees(report)
        (window,) = trees["/train/n01"]["working_set"]["windows"]
        self.assertEqual((2, 4000, 16000, 4), (window["files"]["value"], window["bytes"]["value"],
                                              window["read_bytes"], window["reread"]))
        (window,) = trees["/train/n02"]["working_set"]["windows"]
        self.assertEqual((1, 0.5), (window["files"]["value"], window["reread"]))

    def test_names_as_they_are(self):
        """Newlines, bytes that are no UTF-8, and names that are longer than a tree's."""
        program = """
for name in (b"new\\nline", b"no \\xff utf", b"x" * 60):
    folder = os.fsencode(root) + b"/" + name
    os.mkdir(folder)
    os.close(os.open(folder + b"/f", os.O_CREAT))
    os.unlink(folder + b"/f")
    os.rmdir(folder)
"""
        trees = self.trees(self.python(program))
        for name in ("/new\nline", "/no \ufffd utf", "/" + "x" * 47):
            self.assert_tree(trees, name, opens=1, metadata=3)
        text = harness.must([harness.unblend(), "report", self.path("unblend.rec")])
        self.assertIn("Trees of", text)
        page = harness.must([harness.unblend(), "report", "--format", "html", self.path("unblend.rec")])
        self.assertIn("/new", page)

    def test_nobody_asks(self):
        report = self.record([harness.PYTHON, "-I", "-S", "-c", OPENS + 'use(f"{root}/top", 1)', self.volume.mount])
        self.assertEqual([None], [volume["trees"] for volume in report.job()["volumes"]
                                  if self.volume.mount in volume["mounts"]])
        self.assertFalse(any("trees" in batch for batch in harness.batches(self.path("unblend.rec"))))
        (why,) = [hook["why"] for hook in report.coverage["hooks"] if hook["hook"] == "trees"]
        self.assertIn("--paths", why)

    def test_pseudonyms(self):
        key = self.path("key")
        harness.write_site_key(key, "trees")
        self.python('use(f"{root}/train/n01/1", 1)', "--pseudonyms", "--site-key", key, name="hidden.rec")
        names = {tree["tree"] for batch in harness.batches(self.path("hidden.rec")) for tree in batch["trees"]}
        self.assertTrue(names)
        for name in names:
            self.assertRegex(name, "^tree-[0-9a-f]{20}$")


class AgentTest(test_path.PathTest):
    """What leaves a node of it, and to whom it is shown."""

    WORK = ["sh", "-c", 'for n in 1 2 3; do cat "$1"; done > /dev/null; sleep 2.5', "sh"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = os.path.join(cls.volume.mount, "set", "one")
        os.makedirs(cls.folder)
        cls.data = os.path.join(cls.folder, "x")
        shutil.copy(os.path.join(cls.volume.mount, "data"), cls.data)
        os.chmod(cls.volume.mount, 0o755)

    def work(self, agent, job, *options):
        recording = os.path.join(self.directory, f"{job}.rec")
        done = harness.run([harness.unblend(), "record", "--agent", agent.socket, "--job", job, "-o", recording, *options,
                            "--", *self.WORK, self.data], env=harness.environment())
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return harness.report(recording)

    def found(self, report, job):
        return [tree for entry in report.data["jobs"] if entry["job"] == job for volume in entry["volumes"]
                if self.volume.mount in volume["mounts"] for tree in volume["trees"] or [] if tree["tree"] == "/set/one"]

    def test_sent(self):
        agent = self.start_agent("--trees")
        (shown,) = self.found(self.work(agent, "sent", "--paths"), "sent")
        self.assertEqual((3, 3 * (16 << 20)), (shown["opens"], shown["read_bytes"]))
        test_path.until(lambda: agent.waiting() == 0, "all is sent")
        (stored,) = self.found(test_path.from_database(self.collector), "sent")
        self.assertEqual({key: shown[key] for key in COUNTS}, {key: stored[key] for key in COUNTS})
        rows = subprocess.run([harness.tool("psql"), "-XAtc", "select sum(read_bytes) from unblend.trees "
                               "where job = 'sent' and tree = '/set/one'", self.collector.conninfo()],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(3 * (16 << 20), int(rows))

    def test_shown_and_not_sent(self):
        agent = self.start_agent("--tree-depth", "2")
        self.assertEqual(1, len(self.found(self.work(agent, "kept", "--paths"), "kept")))
        self.assertEqual([], self.found(self.work(agent, "hidden"), "hidden"))
        test_path.until(lambda: agent.waiting() == 0, "all is sent")
        for job in ("kept", "hidden"):
            self.assertEqual([], self.found(test_path.from_database(self.collector), job))

    def test_others_see_none(self):
        agent = self.start_agent("--tree-depth", "2")
        others = tempfile.mkdtemp(dir=self.directory)
        os.chmod(others, 0o777)
        out = os.path.join(others, "other.rec")
        watcher = subprocess.Popen(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                                    harness.unblend(), "record", "--agent", agent.socket, "--paths", "-o", out, "-d", "4s"],
                                   stderr=subprocess.PIPE)
        self.work(agent, "secret")
        self.assertEqual((b"", 0), (watcher.communicate(timeout=30)[1], watcher.returncode))
        for batch in harness.batches(out):
            for tree in batch.get("trees", []):
                self.assertNotIn("/set", tree["tree"])


if __name__ == "__main__":
    harness.main()
