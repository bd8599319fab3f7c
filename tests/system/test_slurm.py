# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm of its own on this machine: whose the operations of steps, arrays and heterogeneous jobs are, what Slurm says
of them, and what the prolog and the epilog that we ship do."""
import glob
import os
import re
import signal
import subprocess
import tempfile

import harness
from test_delivery import until
from test_path import Agent, NODE, PathTest, free_port, from_database

BLOCK = 4096
NOBODY = 65534

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={directory}/slurmctld
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdSpoolDir={directory}/slurmd.%n
SlurmdPidFile={directory}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,bf_hetjob_immediate,sched_min_interval=100000
Prolog={directory}/prolog
Epilog={directory}/epilog
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[0]} CPUs=4 State=UNKNOWN
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 State=UNKNOWN
PartitionName=day Nodes=one Default=YES
PartitionName=night Nodes=two
"""


class Cluster:
    """
    A controller and two nodes, as the components of a heterogeneous job are given nodes of their own. In $SLURM_CONF
    from then on, for whoever asks squeue.
    """

    def __init__(self, directory):
        self.directory, self.daemons = directory, []
        self.configuration = os.path.join(directory, "slurm.conf")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(directory=directory, host=NODE.split(".")[0], port=free_port(),
                                            ports=(free_port(), free_port())))
        os.environ["SLURM_CONF"] = self.configuration

    def start(self):
        key = os.path.join(self.directory, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(1024))
        paths = [f"--{name}-file={self.directory}/munge.{name}" for name in ("key", "pid", "seed", "log")]
        # Whose directories lie above ours is no matter here.
        self.launch("munged", "--foreground", "--force", f"--socket={self.directory}/munge.socket", *paths)
        until(lambda: os.path.exists(f"{self.directory}/munge.socket"), "munged listens")
        for name in ("slurmctld", "slurmd.one", "slurmd.two"):
            os.mkdir(os.path.join(self.directory, name))
        self.launch("slurmctld", "-D", "-f", self.configuration)
        for node in ("one", "two"):
            self.launch("slurmd", "-D", "-N", node, "-f", self.configuration, name=f"slurmd-{node}")
        until(lambda: self.ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * 2,
              lambda: f"both nodes are idle: {self.said()}", 90)

    def launch(self, program, *arguments, name=None):
        with open(os.path.join(self.directory, f"{name or program}.log"), "w", encoding="utf-8") as log:
            self.daemons.append(subprocess.Popen([harness.tool(program), *arguments], stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log, cwd=self.directory))

    def said(self):
        texts = []
        for path in sorted(glob.glob(os.path.join(self.directory, "*.log"))):
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(f"{os.path.basename(path)}: {file.read()[-1000:]}")
        return "\n".join(texts)

    @staticmethod
    def ask(program, *arguments):
        """What it prints; nothing when it fails."""
        return harness.run([harness.tool(program), *arguments]).stdout

    def stop(self):
        """Jobs first, then the daemons, and then whatever else knows our configuration."""
        if len(self.daemons) == 4:
            harness.run([harness.tool("scancel"), "--user=root"])
            harness.run([harness.tool("scancel"), "--user=nobody"])
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        mark = f"SLURM_CONF={self.configuration}".encode()
        for path in glob.glob("/proc/[0-9]*/environ"):
            pid = int(path.split("/")[2])
            try:
                with open(path, "rb") as file:
                    if mark in file.read().split(b"\0") and pid != os.getpid():
                        os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        os.environ.pop("SLURM_CONF")


class SlurmTest(PathTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.volume.mount, 0o1777)
        cls.home = tempfile.mkdtemp(prefix="slurm-", dir=cls.directory)
        os.chmod(cls.home, 0o755)
        cls.make_scripts()
        cls.cluster = Cluster(cls.home)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.agent = Agent(cls.directory, cls.collector, cls.token)
        cls.addClassCleanup(lambda: cls.agent.stop())

    @classmethod
    def make_scripts(cls):
        """The prolog and the epilog as they ship, but for where their settings are, and who says that an agent runs."""
        cls.reports = os.path.join(cls.home, "reports")
        programs = os.path.join(cls.home, "bin")
        for directory in (cls.reports, programs):
            os.mkdir(directory)
        cls.write("settings", f"UNBLEND_DB='{cls.collector.conninfo()}'\nUNBLEND_REPORTS={cls.reports}\n"
                              "UNBLEND_WAIT=3\n")
        cls.write("bin/systemctl", "#!/bin/sh\n[ \"$*\" = 'is-active --quiet unblend-agent' ] && "
                                   f"[ -e {cls.home}/active ]\n")
        cls.write("bin/logger", f"#!/bin/sh\necho \"$*\" >>{cls.home}/logged\n")
        for name in ("prolog", "epilog"):
            with open(os.path.join(harness.SOURCE, "packaging/slurm", name), encoding="utf-8") as file:
                text = file.read()
            changed = text.replace("PATH=/usr/local/sbin:", f"PATH={programs}:{harness.bindir()}:")
            assert changed != text
            cls.write(name, changed.replace("/etc/unblend/slurm", f"{cls.home}/settings"))

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.home, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o755)

    def dd(self, name, blocks):
        """A shell's words that write so many blocks on the volume."""
        return f"dd if=/dev/zero of={self.volume.mount}/{name} bs={BLOCK} count={blocks} status=none"

    def srun(self, script, *options):
        """A job of one step, of the user nobody; what it prints."""
        return harness.must([harness.tool("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                             harness.tool("srun"), "--chdir=/", *options, "/bin/sh", "-c", script]).strip()

    def sbatch(self, script, *options):
        """A job, to its end; its number."""
        self.write("script", f"#!/bin/sh\n{script}\n")
        return harness.must([harness.tool("sbatch"), "--parsable", "--wait", "--chdir=/", "--output=/dev/null",
                             *options, os.path.join(self.home, "script")]).strip()

    def found(self, number):
        """What the database has of a job: {} when nothing."""
        jobs = from_database(self.collector, "--job", number).data["jobs"]
        return jobs[0] if len(jobs) == 1 else {}

    def written(self, number):
        """(operations, bytes, errors) of the job's writes on the volume."""
        volumes = [volume for volume in self.found(number).get("volumes", []) if self.volume.mount in volume["mounts"]]
        return harness.count(volumes[0]["ops"], "write") if volumes else (0, 0, 0)

    def brief(self, number):
        """What a failure says of a job."""
        job = self.found(number)
        told = {key: job.get(key) for key in ("kind", "user", "labels", "command")}
        return f"{number}: {self.written(number)}, {told}"

    def assert_job(self, number, blocks, account, partition, user="root"):
        self.assertRegex(number, r"^\d+$")
        want = (blocks, blocks * BLOCK, 0)
        until(lambda: self.written(number) == want, lambda: f"{want} writes: {self.brief(number)}")
        labels = {"account": account, "partition": partition}
        until(lambda: self.found(number).get("labels") == labels, lambda: f"{labels}: {self.brief(number)}")
        job = self.found(number)
        self.assertEqual(("slurm", user), (job["kind"], job["user"]))
        self.assertNotIn(job["command"], ("prolog", "epilog"))
        self.assertEqual(want, self.written(number))

    def test_a_short_step(self):
        number = self.srun("echo $SLURM_JOB_ID; " + self.dd("short", 25), "--account=phys", "--partition=day")
        self.assert_job(number, 25, "phys", "day", "nobody")

    def test_a_batch_and_its_steps_are_one_job(self):
        number = self.sbatch("\n".join([self.dd("batch", 3), "srun --ntasks=1 " + self.dd("step0", 40),
                                        "srun --ntasks=2 /bin/sh -c '" + self.dd("step1.$SLURM_PROCID", 50) + "'"]),
                             "--account=chem", "--partition=night", "--ntasks=2")
        self.assert_job(number, 3 + 40 + 2 * 50, "chem", "night")

    def test_each_task_of_an_array_is_a_job(self):
        self.sbatch(f"echo $SLURM_JOB_ID $SLURM_ARRAY_TASK_ID >>{self.home}/array\n"
                    "srun /bin/sh -c '" + self.dd("array$SLURM_ARRAY_TASK_ID", "$((SLURM_ARRAY_TASK_ID + 10))") + "'",
                    "--account=bio", "--array=1-3")
        with open(os.path.join(self.home, "array"), encoding="utf-8") as file:
            tasks = dict(line.split() for line in file)
        self.assertEqual(["1", "2", "3"], sorted(tasks.values()))
        for number, task in tasks.items():
            self.assert_job(number, 10 + int(task), "bio", "day")

    def test_a_heterogeneous_job_is_one(self):
        """On each of its nodes its processes say the first component's number."""
        number = self.sbatch("#SBATCH --account=phys --partition=day --ntasks=1\n#SBATCH hetjob\n"
                             "#SBATCH --account=chem --partition=night --ntasks=1\n"
                             "srun --het-group=0,1 /bin/sh -c '" + self.dd("het$SLURM_PROCID", 30) + "'")
        self.assert_job(number, 60, "phys", "day")
        self.assertEqual((0, 0, 0), self.written(str(int(number) + 1)))

    def test_prolog_and_epilog(self):
        """The report has the job's last operation, and no other job's."""
        active, logged = (os.path.join(self.home, name) for name in ("active", "logged"))
        before = self.srun("echo $SLURM_JOB_ID; " + self.dd("before", 1))
        with open(active, "w", encoding="utf-8"):
            pass
        self.addCleanup(os.unlink, active)
        number = self.srun("echo $SLURM_JOB_ID; " + self.dd("reported", 777))
        with open(logged, encoding="utf-8") as file:
            said = file.read()
        self.assertIn(f"-t unblend job {before} begins on a node without an agent: its I/O will not be counted\n", said)
        self.assertNotIn(f"job {number} begins", said)
        path = os.path.join(self.reports, f"{number}.{NODE}.txt")
        until(lambda: os.path.exists(path) and os.path.getsize(path), lambda: os.listdir(self.reports), 60)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual([number], re.findall(r"(?m)^(\S+)  slurm, user nobody, on ", text))
        self.assertRegex(text, rf":{self.volume.device} +ext4 +local +\d+ +0 B +3\.04 MiB ")


if __name__ == "__main__":
    harness.main()
