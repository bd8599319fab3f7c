# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend record`: whom it follows, how it ends, and that the command does not notice it."""
import os
import signal
import subprocess
import time

import harness

COUNTERS = ("overflow_ops", "killed_ops", "in_flight_ops")


class RecordTest(harness.DataTest):
    """Counts are those of a volume that nobody but the test uses."""

    SIZE = 100000

    def start(self, *arguments, name="unblend.rec"):
        """`unblend record` in the background, watching when this returns."""
        path = self.path(name)
        if os.path.exists(path):
            os.unlink(path)
        process = subprocess.Popen([harness.unblend(), "record", "-o", path, *arguments],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=harness.environment(), text=True,
                                   start_new_session=True)
        self.addCleanup(self.stop, process)
        limit = time.monotonic() + 20
        while not os.path.exists(path) and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)  # the file is made when everything is attached
        self.assertTrue(os.path.exists(path))
        return process

    def stop(self, process):
        """The recorder and what it has left behind."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def reads(self, report):
        return harness.count(report.volume(self.volume.mount), "read")

    def python(self, program, *options, **more):
        """Records a program whose only business with the volume is what it says."""
        return self.record([harness.PYTHON, "-I", "-S", "-c", program, self.data], *options, **more)

    def assert_complete(self, report):
        self.assertEqual(0, report.lost())
        for name in COUNTERS:
            self.assertEqual(report.coverage[name], 0, name)


class StatusTest(RecordTest):
    def status(self, *command):
        return harness.record(self.path("status.rec"), list(command))

    def test_status_is_the_commands(self):
        for script, expected in (("exit 0", 0), ("exit 3", 3), ("exit 255", 255),
                                 ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
            with self.subTest(script=script):
                done = self.status("sh", "-c", script)
                self.assertEqual((done.returncode, done.stderr), (expected, ""))

    def test_report_knows_the_status(self):
        self.status("sh", "-c", "exit 9")
        (attempt,) = harness.report(self.path("status.rec")).job()["attempts"]
        self.assertEqual(attempt["exit"], 9)
        self.assertLessEqual(attempt["start"], attempt["end"])

    def test_the_command_and_what_it_starts_began_when_they_did(self):
        before = time.time_ns()
        self.status("sh", "-c", f"head -c 9 {self.data}; cat {self.data}; exit 0")
        processes = {process["pid"]: process for batch in harness.batches(self.path("status.rec"))
                     for process in batch["processes"]}
        commands = {process["command"]: process["start_ns"] for process in processes.values()}
        self.assertLessEqual({"sh", "head", "cat"}, set(commands))
        for command, start_ns in commands.items():
            self.assertTrue(before - 10**8 < start_ns < time.time_ns(), command)  # a tick of proc is 10 ms
        self.assertLessEqual(commands["sh"], commands["head"])

    def test_command_not_found(self):
        done = self.status("/nonexistent/program")
        self.assertEqual(done.returncode, 127)
        self.assert_one_line(done.stderr, "/nonexistent/program", "No such file")

    def test_command_cannot_be_run(self):
        done = self.status("/etc/passwd")
        self.assertEqual(done.returncode, 126)
        self.assert_one_line(done.stderr, "/etc/passwd")

    def test_wrong_usage(self):
        for arguments in (["--no-such-option"], ["-i", "1ns"], ["-i", "never"], ["-d", "3x"]):
            with self.subTest(arguments=arguments):
                done = harness.run([harness.unblend(), "record", *arguments])
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith("unblend"), done.stderr)

    def test_no_command_behind_the_dashes(self):
        """As of a script whose variable is empty; that is not the whole node."""
        done = harness.run([harness.unblend(), "record", "-d", "1s", "-o", self.path("none.rec"), "--"])
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "--", "command", "whole node")
        self.assertFalse(os.path.exists(self.path("none.rec")))

    def test_output_passes_through(self):
        done = self.status("sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))

    def test_command_sees_the_same_world(self):
        """Limits, signals, descriptors, mask, directory and environment are as without us."""
        script = ("ulimit -a; ulimit -l; grep -E 'Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs' /proc/self/status;"
                  "ls /proc/self/fd; umask; pwd; env; nice; cat /proc/self/oom_score_adj")
        command = ["/bin/bash", "-c", script]
        plain = harness.must(command, env=harness.environment(), cwd="/")
        done = harness.record(self.path("world.rec"), command, cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, plain)

    def test_command_ignores_what_we_were_told_to(self):
        """As after nohup, or in a script's background."""
        done = harness.record(self.path("ignored.rec"), ["grep", "SigIgn", "/proc/self/status"], cwd="/",
                              preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in
                                                  (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "SigIgn:\t0000000000000007\n", ""))

    def test_under_sudo_the_caller_runs_it_and_owns_the_file(self):
        caller = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
        done = harness.record(self.path("sudo.rec"), ["sh", "-c", "id -u; id -g; id -G"],
                              env=harness.environment() | caller)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "65534\n65534\n65534\n", ""))
        owner = os.stat(self.path("sudo.rec"))
        self.assertEqual((owner.st_uid, owner.st_gid), (65534, 65534))

    def test_under_sudo_what_was_there_keeps_its_owner(self):
        """Else whoever may record could make any file, or device, his own."""
        caller = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
        with open(self.path("old.rec"), "wb"):
            pass
        os.symlink(self.path("new.rec"), self.path("link.rec"))
        for name in ("old.rec", "link.rec"):
            done = harness.record(self.path(name), ["true"], env=harness.environment() | caller)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(os.stat(self.path(name)).st_uid, 0)


class FollowTest(RecordTest):
    def test_what_outlives_the_command(self):
        started = time.monotonic()
        done = harness.record(self.path("late.rec"),
                              ["sh", "-c", f"(sleep 1; head -c 1000 {self.data}) & exit 4"])
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        self.assertGreater(time.monotonic() - started, 1)
        report = harness.report(self.path("late.rec"))
        self.assertEqual(self.reads(report), (1, 1000, 0))

    def test_daemon_in_a_session_of_its_own(self):
        report = self.record(["sh", "-c", f"setsid sh -c 'sleep 1; head -c 2000 {self.data}' "
                              ">/dev/null 2>&1 &"])
        self.assertEqual(self.reads(report), (1, 2000, 0))

    def test_daemon_that_forks_twice(self):
        report = self.python("import os, sys, time\n"
                             "if os.fork(): os._exit(0)\n"
                             "os.setsid()\n"
                             "if os.fork(): os._exit(0)\n"
                             "time.sleep(0.5)\n"
                             "os.read(os.open(sys.argv[1], os.O_RDONLY), 3000)\n")
        self.assertEqual(self.reads(report), (1, 3000, 0))

    def test_threads_and_forks(self):
        report = self.python(
            "import os, sys, threading\n"
            "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
            "def work(at):\n"
            "    for i in range(200): os.pread(fd, 100, at * i)\n"
            "    if not os.fork():\n"
            "        for i in range(50): os.pread(fd, 10, i)\n"
            "        os._exit(0)\n"
            "threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]\n"
            "for thread in threads: thread.start()\n"
            "for thread in threads: thread.join()\n"
            "for thread in threads: os.wait()\n")
        self.assertEqual(self.reads(report), (8 * 200 + 8 * 50, 8 * 200 * 100 + 8 * 50 * 10, 0))
        self.assert_complete(report)

    def test_thread_that_executes_a_program(self):
        """The new program runs in what was the leader, whichever thread called execve."""
        report = self.python(
            "import os, sys, threading, time\n"
            "os.read(os.open(sys.argv[1], os.O_RDONLY), 11)\n"
            "threading.Thread(target=os.execv, args=('/usr/bin/head', ['head', '-c', '22', sys.argv[1]]"
            ")).start()\n"
            "time.sleep(10)\n")
        self.assertEqual(self.reads(report), (2, 33, 0))

    def test_chain_of_programs(self):
        script = f"exec sh -c 'exec env -i /bin/sh -c \"exec /usr/bin/head -c 5000 {self.data}\"'"
        report = self.record(["sh", "-c", script])
        self.assertEqual(self.reads(report), (1, 5000, 0))
        self.assertEqual(report.job()["command"], "sh")

    def test_a_thousand_short_lives(self):
        """What one /bin/true does is known from ten of them; a thousand do just that much more."""
        def loop(number):
            script = f"i=0; while [ $i -lt {number} ]; do /bin/true; i=$((i+1)); done"
            report = self.record(["sh", "-c", script])
            self.assert_complete(report)
            ops = report.volume("/")
            # How many pages have to be read again depends on what else fills the memory.
            return {name: harness.count(ops, name) for name in ops
                    if not name.startswith("block_") and name != "mmap_fault"}

        ten, twenty, thousand = loop(10), loop(20), loop(1000)
        self.assertEqual(sorted(ten), sorted(thousand))
        for name in ten:
            expected = tuple(a + (b - a) * 99 for a, b in zip(ten[name], twenty[name]))
            self.assertEqual(thousand[name], expected, name)
        self.assertGreaterEqual(thousand["open"][0], 2000)

    def test_two_recordings_at_once(self):
        """Each counts its own command and not the other's."""
        script = f"sleep 1; for i in 1 2 3 4 5; do head -c {{}} {self.data}; sleep 0.1; done"
        first = self.start("--", "sh", "-c", script.format(100), name="first.rec")
        second = self.start("--", "sh", "-c", script.format(7), name="second.rec")
        for process, name, size in ((first, "first.rec", 100), (second, "second.rec", 7)):
            _, errors = process.communicate(timeout=30)
            self.assertEqual((process.returncode, errors), (0, ""))
            self.assertEqual(self.reads(harness.report(self.path(name))), (5, 5 * size, 0))

    def test_little_memory_loses_nothing(self):
        """What finds no room of its own is counted under its job, and said to be."""
        program = ("import os, sys, threading\n"
                   "gate = threading.Barrier({n})\n"
                   "def work():\n"
                   "    fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                   "    gate.wait()\n"
                   "    for i in range(20): os.pread(fd, 1 << i % 17, 0)\n"
                   "    gate.wait()\n"
                   "threads = [threading.Thread(target=work) for i in range({n})]\n"
                   "for thread in threads: thread.start()\n"
                   "for thread in threads: thread.join()\n").format(n=600)
        report = self.python(program, "--kernel-memory", "1M")
        size = sum(1 << i % 17 for i in range(20))
        self.assertEqual(self.reads(report), (600 * 20, 600 * size, 0))
        self.assertGreater(report.coverage["overflow_ops"], 0)
        self.assertEqual(report.lost(), 0)

    def test_more_processes_than_places(self):
        """Those that the process table has no place for are counted, and waited for, like all others."""
        report = self.python("import os, sys, time\n"
                             "for i in range(300):\n"
                             "    if not os.fork():\n"
                             "        time.sleep(1 if i < 250 else 2.5)\n"
                             "        os.read(os.open(sys.argv[1], os.O_RDONLY), 10)\n"
                             "        os._exit(0)\n", "--kernel-memory", "1M")
        self.assertEqual(self.reads(report), (300, 3000, 0))
        self.assertGreater(report.coverage["overflow_ops"], 0)
        self.assertEqual(report.lost(), 0)

    def test_a_chain_of_generations(self):
        """There is never more than one or two of them; the recording must not end in between."""
        report = self.python("import os, sys\n"
                             "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                             "for i in range(3000):\n"
                             "    if os.fork(): os._exit(0)\n"
                             "    os.pread(fd, 1, 0)\n")
        self.assertEqual(self.reads(report), (3000, 3000, 0))

    def test_short_intervals(self):
        """Rows are taken back and given out again a hundred times a second, and nothing falls between."""
        report = self.python("import os, sys\n"
                             "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                             "for i in range(3000):\n"
                             "    if not os.fork():\n"
                             "        for k in range(3): os.pread(fd, 10, 0)\n"
                             "        os._exit(0)\n"
                             "    if i % 50 == 49:\n"
                             "        for k in range(50): os.wait()\n", "-i", "10ms")
        self.assertEqual(self.reads(report), (9000, 90000, 0))
        self.assert_complete(report)

    def test_buckets_count_past_sixteen_bits(self):
        """Of what was seen of them, upper and lower halves are kept apart."""
        report = self.python("import os, sys\n"
                             "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                             "for i in range(500000): os.pread(fd, 1, 0)\n", "-i", "50ms")
        self.assertEqual(self.reads(report), (500000, 500000, 0))
        self.assert_complete(report)

    def test_short_lived_threads(self):
        report = self.python("import os, sys, threading\n"
                             "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                             "def work():\n"
                             "    for i in range(5): os.pread(fd, 20, i)\n"
                             "for i in range(300):\n"
                             "    threads = [threading.Thread(target=work) for k in range(10)]\n"
                             "    for thread in threads: thread.start()\n"
                             "    for thread in threads: thread.join()\n", "-i", "10ms")
        self.assertEqual(self.reads(report), (15000, 300000, 0))
        self.assert_complete(report)

    def test_recording_within_a_recording(self):
        inner = self.path("inner.rec")
        outer = self.record([harness.unblend(), "record", "-o", inner, "--", "head", "-c", "77",
                             self.data])
        self.assertEqual(self.reads(outer), (1, 77, 0))
        self.assertEqual(self.reads(harness.report(inner)), (1, 77, 0))

    def test_volume_that_comes_and_goes(self):
        """Mounted, used and unmounted by the command itself, within one interval; the recorder had a processor meanwhile."""
        image, place = self.path("image"), self.path("passing")
        os.mkdir(place)
        with open(image, "wb") as file:
            file.truncate(20 << 20)
        harness.must([harness.tool("mkfs.ext4"), "-q", "-F", image])
        harness.make_loop_nodes()
        report = self.record(["sh", "-c", f"mount -o loop {image} {place}; sleep 0.2; echo hello > {place}/x;"
                              f"head -c 3 {place}/x; rm {place}/x; umount {place}"], "-i", "1m")
        ops = report.volume(place)
        self.assertEqual([harness.count(ops, name) for name in ("create", "write", "unlink")],
                         [(1, 0, 0), (1, 6, 0), (1, 0, 0)])

    def test_a_path_is_the_same_however_it_is_spelled(self):
        """Slashes and dots more than it takes, before, inside and behind the mount point of a call by path."""
        mount = self.volume.mount
        above, name = os.path.split(mount)
        spelled = [f"{mount}/none", f"//{mount[1:]}/none", f"/.{mount}/none", f"{above}//{name}/none",
                   f"{above}/././/{name}/none", f"{above}/.//.///./{name}//./none", f"{mount}//", f"{mount}/.",
                   f"{mount}/.none", "/./".join(mount.split("/")) + "/.none/./x",
                   f"{above}/" + "./" * 40 + f"{name}/none", "/" * 100 + f"{mount}/none"]
        others = [f"{above}/.{name}/none", f"{above}//{name}.//none", f"{above}/{name}./none", f"/./none{mount}"]
        report = self.record([harness.PYTHON, "-I", "-S", "-c", """
import os, sys
for path in sys.argv[1:]:
    try:
        os.unlink(path)
    except OSError:
        pass
""", *spelled, *others], "--paths")
        ops = [volume for volume in report.job()["volumes"] if mount in volume["mounts"]]
        self.assertEqual(1, len(ops))
        self.assertEqual((len(spelled), len(spelled)), (ops[0]["ops"]["unlink"]["ops"], ops[0]["ops"]["unlink"]["errors"]))
        self.assertEqual(len(others), sum(volume["ops"]["unlink"]["ops"] for volume in report.job()["volumes"]
                                          if "unlink" in volume["ops"] and mount not in volume["mounts"]))
        trees = {tree["tree"]: tree["metadata"] for tree in ops[0]["trees"]}
        self.assertEqual({"/": len(spelled) - 1, "/.none": 1}, trees)

    def test_pseudo_file_systems_on_request(self):
        command = ["cat", "/proc/self/status", "/proc/self/maps"]
        with_them = self.record(command, "--pseudo").volume("/proc")
        self.assertGreaterEqual(with_them["read"]["ops"], 4)
        self.assertEqual(with_them["open"]["ops"], with_them["close"]["ops"])
        without = [volume for volume in self.record(command).job()["volumes"]
                   if "/proc" in volume["mounts"]]
        self.assertEqual(without, [])


class EndTest(RecordTest):
    def whole_node(self, number):
        process = self.start("-i", "100ms")
        for _ in range(5):
            harness.must(["head", "-c", "123", self.data])
            time.sleep(0.1)
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
        self.assertEqual((process.returncode, errors), (0, ""))
        report = harness.report(self.path("unblend.rec"))
        jobs = [job for job in report.data["jobs"] for volume in job["volumes"]
                if self.volume.mount in volume["mounts"] and "read" in volume["ops"]]
        self.assertEqual([job["command"] for job in jobs], ["head"])
        (ops,) = [volume["ops"] for volume in jobs[0]["volumes"]
                  if self.volume.mount in volume["mounts"]]
        self.assertEqual(harness.count(ops, "read"), (5, 5 * 123, 0))
        self.assertEqual(harness.count(ops, "open"), (5, 0, 0))

    def test_interrupt_ends_a_recording_of_the_node(self):
        self.whole_node(signal.SIGINT)

    def test_termination_does_too(self):
        self.whole_node(signal.SIGTERM)

    def test_interrupt_is_the_commands_affair(self):
        """Ctrl-C goes to both; the command decides, and its status is what counts."""
        ready = self.path("ready")
        process = self.start("--", "sh", "-c", f"trap 'exit 7' INT; touch {ready}; "
                             "while :; do sleep 0.05; done")
        self.wait_for(ready)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(20), 7)
        self.assertEqual(harness.report(self.path("unblend.rec")).job()["attempts"][0]["exit"], 7)

    def test_termination_is_passed_on(self):
        process = self.start("--", "sleep", "60")
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 143)

    def test_interrupt_ends_the_wait_for_what_is_left(self):
        process = self.start("--", "sh", "-c", f"head -c 9 {self.data}; sleep 60 >/dev/null 2>&1 & exit 5")
        time.sleep(1)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 5)
        self.assertEqual(self.reads(harness.report(self.path("unblend.rec"))), (1, 9, 0))

    def test_recorder_is_killed(self):
        """The command goes on undisturbed, and what was recorded can be read."""
        done = self.path("done")
        process = self.start("-i", "50ms", "--", "sh", "-c", f"head -c 8 {self.data}; sleep 1.5; "
                             f"head -c 9 {self.data} && touch {done}")
        time.sleep(1)
        process.kill()
        process.wait(20)
        self.wait_for(done)
        self.assertEqual(self.reads(harness.report(self.path("unblend.rec"))), (1, 8, 0))

    def test_duration_of_a_recording_of_the_node(self):
        started = time.monotonic()
        done = harness.run([harness.unblend(), "record", "-d", "1s", "-o", self.path("d.rec")])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(time.monotonic() - started, 15)
        span = harness.report(self.path("d.rec")).data["span"]
        seconds = float(span["end"][-7:-1]) - float(span["start"][-7:-1])
        self.assertAlmostEqual(seconds % 60, 1, delta=0.5)

    def test_duration_ends_before_the_command(self):
        """What follows the time is not recorded; the status is the command's all the same."""
        done = harness.record(self.path("d.rec"), ["sh", "-c", f"head -c 5 {self.data}; sleep 2; "
                                                   f"head -c 6 {self.data}; exit 6"], "-d", "1s")
        self.assertEqual((done.returncode, done.stderr), (6, ""))
        report = harness.report(self.path("d.rec"))
        self.assertEqual(self.reads(report), (1, 5, 0))
        attempt, = report.data["jobs"][0]["attempts"]
        self.assertEqual((attempt["end"], attempt["exit"]), (None, None))

    def test_what_is_read_is_not_written_over(self):
        kept = self.path("kept.rec")
        harness.record(kept, ["true"])
        for arguments in (["report", "-o", kept, kept], ["report", "-o", kept, "--compare", kept, kept],
                          ["export", "fio", "-o", kept, kept], ["learn", "mine", "-o", kept, kept]):
            done = harness.run([harness.unblend(), *arguments])
            self.assertEqual(done.returncode, 2)
            self.assertIn("kept.rec is a recording that is to be read", done.stderr)
            harness.report(kept)

    def test_names_do_not_steer_terminals(self):
        """The second set of control characters, in UTF-8, and what turns text around."""
        harness.record(self.path("odd.rec"), ["cat", self.data],
                       env=harness.environment() | {"UNBLEND_JOB": "a\x9b31mb\u202ec"})
        for form in ("text", "html"):
            done = harness.run([harness.unblend(), "report", "--format", form, self.path("odd.rec")])
            self.assertIn("31mb", done.stdout)
            self.assertNotIn("\x9b", done.stdout)
            self.assertNotIn("\u202e", done.stdout)

    def wait_for(self, path):
        limit = time.monotonic() + 20
        while not os.path.exists(path) and time.monotonic() < limit:
            time.sleep(0.02)
        self.assertTrue(os.path.exists(path))


# RecordTest itself has no tests: only what is derived from it.
del RecordTest

if __name__ == "__main__":
    harness.main()
