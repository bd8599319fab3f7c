# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload under strace and the same under `unblend record`: every count must be the same.

The log of strace is reduced by the rules of the manual in strace_reduce.py, which knows nothing of the probe.
"""
import os
import shutil

import harness
import strace_log
import strace_reduce

HERE = os.path.dirname(os.path.abspath(__file__))


def make_tree(top):
    """Some hundred files of all sizes, the same each time."""
    for number in range(240):
        directory = os.path.join(top, f"d{number % 6}", f"e{number % 4}")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"file-{number}"), "wb") as file:
            file.write(bytes([number % 256]) * (number * number * 7 % 200000))
    for number in range(10):
        os.symlink(f"../e1/file-{number}", os.path.join(top, "d1", "e1", f"link-{number}"))
        os.link(os.path.join(top, "d0", "e0", "file-0"), os.path.join(top, "d2", f"hard-{number}"))
    with open(os.path.join(top, "words"), "w", encoding="ascii") as file:
        file.writelines(f"{number * 7919 % 10007} word\n" for number in range(20000))


def paths_below(top):
    for directory, directories, files in os.walk(top):
        for name in directories + files:
            yield os.path.join(directory, name)


class StraceTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.volume = cls.make_volume(256)
        cls.work = os.path.join(cls.volume.mount, "work")
        cls.tree = os.path.join(cls.directory, "tree")
        make_tree(cls.tree)

    def fresh(self, tree):
        """The volume as it was: an empty directory, or one with a copy of the tree."""
        shutil.rmtree(self.work, ignore_errors=True)
        if tree:
            shutil.copytree(self.tree, self.work, symlinks=True)
        else:
            os.mkdir(self.work)

    def under_strace(self, command):
        log = self.path("strace.log")
        existing = list(paths_below(self.work)) + list(paths_below(self.tree))
        harness.must([harness.tool("strace"), *strace_log.FLAGS, "-o", log, *command],
                     cwd=self.work, env=harness.environment())
        reduction = strace_reduce.Reduction(strace_reduce.Mounts(), self.work, existing)
        with open(log, encoding="utf-8", errors="surrogateescape") as file:
            return reduction.read(file)

    def recorded(self, command, mounts, options):
        """{volume: {operation: (operations, bytes, errors)}} of the command's job, file layer only."""
        report = self.record(command, *options, cwd=self.work)
        self.assertEqual(report.lost(), 0)
        if not options:
            for name in ("overflow_ops", "killed_ops", "in_flight_ops"):
                self.assertEqual(report.coverage[name], 0, name)
        (job,) = [job for job in report.data["jobs"]
                  if any(attempt["exit"] is not None for attempt in job["attempts"])]
        totals, self.error_codes = {}, {}
        for volume in job["volumes"]:
            if volume["fstype"] == "block":
                number = os.stat(volume["source"]).st_rdev
                key = f"block:{os.major(number)}:{os.minor(number)}"
            else:
                key = mounts.device(volume["mounts"][0]) if volume["mounts"] else volume["volume"]
            # Page faults are no calls: strace cannot see them.
            ops = {name: harness.count(volume["ops"], name) for name in volume["ops"]
                   if not name.startswith("block_") and name != "mmap_fault"}
            if ops:
                totals[key] = ops
            self.error_codes |= {(key, name): volume["ops"][name]["error_codes"] for name in ops
                                 if volume["ops"][name]["error_codes"]}
        return totals

    def compare(self, command, tree=False, work=None, options=()):
        self.work = work or self.work
        self.fresh(tree)
        # What is only ever done once, like compiling a module, is done now.
        harness.must(command, cwd=self.work, env=harness.environment())
        self.fresh(tree)
        reduction = self.under_strace(command)
        self.fresh(tree)
        recorded = self.recorded(command, reduction.mounts, options)
        expected = reduction.totals()
        differences = []
        for volume in sorted({*expected, *recorded}):
            for operation in sorted({*expected.get(volume, {}), *recorded.get(volume, {})}):
                one = expected.get(volume, {}).get(operation, (0, 0, 0))
                other = recorded.get(volume, {}).get(operation, (0, 0, 0))
                if one != other:
                    point = reduction.mounts.point(volume)
                    differences += [f"{point} {operation}: strace {one}, recorded {other} "
                                    "(operations, bytes, errors); strace has",
                                    *reduction.explain(volume, operation)]
        self.assertEqual(differences, [], "\n" + "\n".join(differences))
        self.assertEqual({where: codes for where, codes in reduction.error_codes().items()
                          if where[1] in expected.get(where[0], {})}, self.error_codes)
        return expected

    def on_volume(self, expected):
        return expected[strace_reduce.Mounts().device(self.volume.mount)]

    def test_find(self):
        expected = self.compare(["find", self.work, "-type", "f", "-size", "+8k", "-newer", self.work],
                                tree=True)
        self.assertGreater(self.on_volume(expected)["stat"][0], 240)

    def test_find_relative(self):
        self.compare(["find", ".", "-type", "f", "-name", "*7", "-exec", "cat", "{}", ";"], tree=True)

    def test_tar_create(self):
        expected = self.compare(["tar", "cf", "tree.tar", "-C", self.directory, "tree"])
        self.assertGreater(self.on_volume(expected)["write"][1], 10 << 20)

    def test_tar_extract(self):
        archive = self.path("tree.tar")
        harness.must(["tar", "cf", archive, "-C", self.tree, "."])
        expected = self.compare(["tar", "xf", archive, "-C", self.work])
        self.assertGreater(self.on_volume(expected)["create"][0], 240)

    def test_copy(self):
        expected = self.compare(["cp", "-r", self.tree, self.work + "/copy"])
        self.assertGreater(self.on_volume(expected)["write"][1], 10 << 20)

    def test_copy_within_the_volume(self):
        self.compare(["cp", "-a", "d0", "d1", "d2", "words", "d5"], tree=True)

    def test_remove(self):
        expected = self.compare(["rm", "-rf", "d0", "d1", "d2", "words"], tree=True)
        self.assertGreater(self.on_volume(expected)["unlink"][0], 120)

    def test_python(self):
        expected = self.compare([harness.PYTHON, "-I", os.path.join(HERE, "workload.py"), self.work])
        self.assertEqual(sorted(self.on_volume(expected)),
                         sorted("close create fsync mkdir open read readdir rename seek setattr stat "
                                "truncate unlink write".split()))

    def python_on(self, mount, fstype, options):
        """The same calls on another file system, whose files may show other device numbers than it has."""
        harness.must([harness.tool("mount"), "-t", fstype, "-o", options, "none", mount])
        self.addCleanup(harness.run, [harness.tool("umount"), "-l", mount])
        work = os.path.join(mount, "work")
        expected = self.compare([harness.PYTHON, "-I", os.path.join(HERE, "workload.py"), work],
                                work=work)
        self.assertGreater(expected[strace_reduce.Mounts().device(mount)]["read"][0], 400)

    def test_python_on_tmpfs(self):
        mount = self.path("tmpfs")
        os.mkdir(mount)
        self.python_on(mount, "tmpfs", "size=64m")

    def test_python_on_overlay(self):
        mount, lower, upper, work = (self.path(name) for name in ("merged", "lower", "upper", "inner"))
        for directory in (mount, lower, upper, work):
            os.mkdir(directory)
        self.python_on(mount, "overlay", f"lowerdir={lower},upperdir={upper},workdir={work}")

    def test_pipeline_of_short_lives(self):
        """Most of these processes live for less than a millisecond."""
        script = ("for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j; do /bin/true; done;"
                  "cat words | grep 7 | sort > y; (cd d1; ls -l | wc -l) > z;"
                  "for f in d0/e0/*; do head -c 100 $f | tail -c 1 >> tails; done")
        self.compare(["sh", "-c", script], tree=True)

    def test_within_a_recording_of_the_node(self):
        """The command's job is the same when everything else is recorded as well."""
        self.compare(["sh", "-c", "find d0 d1 -type f | xargs cat > all; rm -r d1"],
                     tree=True, options=("--all", "-i", "50ms"))

    def test_parallel_children(self):
        script = ("for i in 1 2 3 4 5 6 7 8; do (cat d$((i % 6))/e*/file-* > out$i; rm out$i) & done;"
                  "wait")
        self.compare(["sh", "-c", script], tree=True)

    def test_many_volumes(self):
        """A block device, a device file's file system and another volume, each under its own name."""
        script = (f"head -c 8192 {self.volume.device}; cat /dev/zero | head -c 5; ls /dev /dev/shm /proc "
                  "/sys; cat /proc/self/status; echo x > /dev/shm/unblend-test; rm /dev/shm/unblend-test")
        expected = self.compare(["sh", "-c", script])
        number = os.stat(self.volume.device).st_rdev
        device = expected[f"block:{os.major(number)}:{os.minor(number)}"]
        self.assertEqual(device["read"][1], 8192)


if __name__ == "__main__":
    harness.main()
