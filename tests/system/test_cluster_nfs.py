# SPDX-License-Identifier: GPL-2.0-or-later
"""A converged cluster in small: two clients and the NFS server that they read from and write to, each a machine of its
own with an agent, and a collector beside them. What the clients' programs counted themselves is what the database has.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cluster"))
import harness  # noqa: E402
import collecting  # noqa: E402
import test_trust  # noqa: E402
from cluster import BLEND, SERVER, SERVER_ADDRESS, Cluster  # noqa: E402
from machine import PYTHON, Trouble  # noqa: E402

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
ALONE = True  # three machines that are emulated fill this one
TIMEOUT_S = 900

HOST = "10.0.2.2"  # this machine, as they know it
VOLUME = f"nfs:{SERVER}:/export"
SOCKET = "/run/unblend/agent.sock"
STUCK_NS = 10**9
INTERVAL_S = 2
AGENT_S = 240


class ClusterTest(collecting.Database):
    @classmethod
    def setUpClass(cls):
        authority = test_trust.make_authority(collecting.ROOT)
        key, cert = test_trust.make_certificate(collecting.ROOT, authority, "collector", HOST)
        cls.directory = os.path.join(collecting.ROOT, cls.__name__)
        cls.conninfo = f"host={cls.directory} port=5432 dbname=unblend user=unblend"
        cls.collector = collecting.Collector("--embedded", cls.directory, "--tls-cert", cert, "--tls-key", key,
                                             tls=True).wait_ready()
        cls.addClassCleanup(cls.collector.stop)
        try:
            cls.cluster = Cluster(harness.bindir())
        except Trouble as trouble:
            raise AssertionError(f"no cluster: {trouble}") from None
        cls.addClassCleanup(cls.cluster.stop)
        cls.storage, (cls.client1, cls.client2) = cls.cluster.storage, cls.cluster.clients
        cls.storage.do("serve")
        cls.storage.run(PYTHON, "-IS", BLEND, "prepare", "/export")
        cls.storage.do("drop")
        cls.client1.do("mount", server=SERVER, address=SERVER_ADDRESS, target="/datasets")
        with open(authority[1], encoding="ascii") as file:
            cls.start_agents(file.read())

    @classmethod
    def tearDownClass(cls):
        """The collector ends after the machines."""

    @classmethod
    def start_agents(cls, authority):
        for machine in cls.cluster.machines:
            machine.do("write", path="/etc/ca.pem", text=authority)
            machine.do("write", path="/etc/token", text=cls.enroll(machine.name) + "\n")
            role = "storage" if machine is cls.storage else "client"
            # client2's as a DaemonSet's pod has it, with the node's root at /host
            hosted = machine is cls.client2
            machine.do("host" if hosted else "start", log="/tmp/agent.log", run=[
                "unblend-agent", *(["--root", "/host"] if hosted else []), "--collector", f"https://{HOST}:{cls.collector.port}", "--ca-file", "/etc/ca.pem",
                "--token-file", "/etc/token", "--role", role, "--interval", f"{INTERVAL_S}s", "--max-cost", "0"])
        for machine in cls.cluster.machines:
            log = machine.wait_for(lambda: machine.do("read", path="/tmp/agent.log")["text"], "the agent speaks", AGENT_S)
            assert "watching" in log, f"{machine.name}: {log}"

    def setUp(self):
        """Nothing is taken out of the database between the tests."""

    def report(self, *options):
        done = harness.run([harness.unblend(), "report", "--format", "json", "--db", self.conninfo, *options])
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return json.loads(done.stdout)

    def flush(self):
        for machine in self.cluster.machines:
            answer = machine.do("ask", line=json.dumps({"request": "flush"}))["answer"]
            self.assertTrue(answer["ok"], f"{machine.name}: {answer}")

    def start_in_container(self, words, job):
        """On client2, where the export is mounted in that container alone, as /data."""
        self.client2.do("contain", run=words, server=SERVER, address=SERVER_ADDRESS, target="/data", env=job,
                        log="/tmp/container.log")

    def text(self, machine, path):
        """What is in a file there, when there is something."""
        def is_there():
            there = machine.do("execute", run=["sh", "-c", f"test -s {path}"])["status"] == 0
            return there and machine.do("read", path=path)["text"]

        return machine.wait_for(is_there, f"{path} is written")


def counted(ops):
    return {name: harness.count(ops, name) for name in ops}


def together(*accounts):
    """What several ranks' accounts sum up to, as counted() has it."""
    names = {name for account in accounts for name in account}
    return {name: (*(sum(account.get(name, (0, 0))[i] for account in accounts) for i in (0, 1)), 0) for name in names}


class TestCluster(ClusterTest):
    def test_blend(self):
        job = {"UNBLEND_JOB": "train"}
        self.client1.do("start", run=[PYTHON, "-IS", BLEND, "run", "/datasets", "0", "/tmp/account"], env=job,
                        log="/tmp/blend.log")
        self.start_in_container([PYTHON, "-IS", BLEND, "run", "/data", "1", "/tmp/account"], job)
        accounts = [json.loads(self.text(client, "/tmp/account")) for client in self.cluster.clients]
        self.flush()
        report = self.report()
        self.assertEqual({"client1": "client", "client2": "client", SERVER: "storage"},
                         {node["node"]: node["role"] for node in report["nodes"]})
        self.assertEqual(0, report["coverage"]["lost_ops"])
        self.assert_one_job_on_one_volume(report, accounts)
        self.assert_profiles(report)
        self.assert_demand_beside_load(report, together(*accounts))

    def jobs(self, report, name):
        return [job for job in report["jobs"] if job["job"] == name]

    def assert_one_job_on_one_volume(self, report, accounts):
        """By one name each, with all that was done there and nothing else; and so for each client by itself."""
        job, = self.jobs(report, "train")
        self.assertEqual(("env", None, ["client1", "client2"]), (job["kind"], job["node"], sorted(job["nodes"])))
        volume, = [volume for volume in job["volumes"] if volume["fstype"].startswith("nfs")]
        self.assertEqual((VOLUME, f"{SERVER}:/export", "shared", ["/data", "/datasets"]),
                         (volume["volume"], volume["source"], volume["scope"], sorted(volume["mounts"])))
        self.assertEqual(together(*accounts), counted(volume["ops"]))
        for client, account in zip(self.cluster.clients, accounts):
            job, = self.jobs(self.report("--node", client.name), "train")
            volume, = [volume for volume in job["volumes"] if volume["volume"] == VOLUME]
            self.assertEqual(together(account), counted(volume["ops"]), client.name)
        self.assertEqual([], self.jobs(self.report("--node", SERVER), "train"))
        mounts = {mount for job in self.report("--node", "client2")["jobs"] for volume in job["volumes"]
                  for mount in volume["mounts"]}
        self.assertIn("/data", mounts)
        self.assertEqual(set(), {mount for mount in mounts if mount.startswith("/host")}, "the agent's own")

    def assert_profiles(self, report):
        job, = self.jobs(report, "train")
        found = {profile["profile"]: profile for profile in job["profiles"] if profile["kind"] == "pattern"}
        for name, share, least in (("losf", "share_ops", 0.6), ("shard-streaming", "share_bytes", 0.25),
                                   ("checkpoint", "share_bytes", 0.25)):
            self.assertIn(name, found, sorted(found))
            self.assertGreater(found[name][share], least, name)
            self.assertTrue(found[name]["evidence"], name)

    def assert_demand_beside_load(self, report, asked):
        """The same bytes once more, where they are served: by the server's own counts and at its disk."""
        demand = {name: sum(volume["ops"].get(name, {}).get("bytes", 0) for job in report["jobs"]
                            for volume in job["volumes"] if volume["volume"] == VOLUME) for name in ("read", "write")}
        self.assertEqual({name: asked[name][1] for name in demand}, demand)
        platforms = {(entry["layer"], entry["node"]): entry for entry in report["storage"]["platforms"]}
        self.assertEqual({("nfsd", SERVER), ("mountstats", "client1")}, set(platforms))
        served, sent = platforms["nfsd", SERVER]["requests"], platforms["mountstats", "client1"]["requests"]
        self.assertEqual(demand, {name: served[name]["bytes"] for name in demand})
        self.assertEqual(VOLUME, platforms["mountstats", "client1"]["volume"])
        self.assert_requests(report, sent, served)
        account = self.report("--node", "client1")["jobs"]
        mine, = [volume for job in account if job["job"] == "train" for volume in job["volumes"]
                 if volume["volume"] == VOLUME]
        self.assertEqual({name: mine["ops"][name]["bytes"] for name in demand},
                         {name: sent[name]["bytes"] for name in demand})
        # On the disk, file systems write more: their journal; and some may still be in memory but what was fsynced.
        disk, = [entry for entry in report["storage"]["devices"] if entry["node"] == SERVER]
        self.assertEqual(f"{SERVER}:nvme0n1", disk["volume"])
        for name in demand:
            self.assertGreaterEqual(disk["requests"][name]["bytes"], demand[name], name)
        self.assertGreater(disk["in_flight"]["mean"], 0)
        layers = {(entry["volume"], entry["layer"]) for entry in report["cluster"]["capacity"]["volumes"]}
        self.assertLessEqual({(VOLUME, "asked"), (VOLUME, "reached"), (disk["volume"], "reached")}, layers)

    def assert_requests(self, report, counted_by_client, counted_by_server):
        """One by one they are as many as the kernel says, and as many at the server as the clients have sent."""
        backends = report["storage"]["backends"]
        sent = {entry["node"]: entry for entry in backends if (entry["layer"], entry["volume"]) == ("nfs-client", VOLUME)}
        served, = [entry for entry in backends if entry["layer"] == "nfs-server" and entry["fstype"] == "ext4"]
        self.assertEqual({"client1", "client2"}, set(sent))
        mine = sent["client1"]["requests"]
        for name, told in counted_by_client.items():
            self.assertEqual((told["ops"], told["errors"]), (mine[name]["ops"], mine[name]["errors"]), name)
            for time in "queue_ns", "service_ns":
                # Told in whole milliseconds there, which each of its kinds of operation has rounded down.
                mean_ms = mine[name][time]["mean"] / 1e6
                self.assertAlmostEqual(told[time]["mean"] / 1e6, mean_ms, delta=0.01 * mean_ms + 20 / told["ops"],
                                       msg=(name, time))
        self.assertGreater(mine["metadata"]["errors"] + mine["metadata"]["ops"], 10)
        for name in "read", "write":
            both = [entry["requests"][name] for entry in sent.values()]
            self.assertEqual([sum(entry[key] for entry in both) for key in ("ops", "bytes")],
                             [served["requests"][name][key] for key in ("ops", "bytes")], name)
            self.assertEqual((counted_by_server[name]["ops"], counted_by_server[name]["bytes"]),
                             (served["requests"][name]["ops"], served["requests"][name]["bytes"]), name)
            self.assertEqual(served["requests"][name]["ops"],
                             sum(bucket[2] for bucket in served["requests"][name]["size"]["histogram"]), name)
        self.assertEqual(sum(entry["requests"]["flush"]["ops"] for entry in sent.values()),
                         served["requests"]["flush"]["ops"])
        for entry in sent.values():
            self.assertIn("train", {party["job"] for party in entry["parties"]})
            # The server's share of a round trip.
            self.assertLess(served["requests"]["read"]["service_ns"]["p50"],
                            entry["requests"]["read"]["service_ns"]["p50"])
        self.assertNotIn("nfs-requests", {hook["hook"] for hook in report["coverage"]["hooks"]})

    def hooks(self, machine):
        self.flush()
        return {hook["hook"]: hook["state"] for hook in self.report("--node", machine.name)["coverage"]["hooks"]}

    def test_module_that_comes_late(self):
        """Of what no module is loaded for, nothing is missing; it is watched from when that is loaded."""
        for client in self.cluster.clients:
            self.assertEqual("attached", self.hooks(client)["raw_tp/rpc_task_begin"])
            self.assertNotIn("raw_tp/svc_process", self.hooks(client))
            client.do("nfsd")
            client.wait_for(lambda: "raw_tp/svc_process" in self.hooks(client), "the server's hooks are there")
            self.assertEqual({"attached"}, {state for hook, state in self.hooks(client).items() if "svc" in hook or
                                            "nfsd" in hook})

    def test_module_without_types(self):
        """That it is loaded does not help: it is said once, and not waited for."""
        self.client1.do("hide", path="/sys/kernel/btf/nfs")
        self.client1.run("unblend", "record", "-i", "0.1", "-o", "/tmp/types.rec", "--", PYTHON, "-IS", "-c",
                         "import time; time.sleep(1)")
        report = json.loads(self.client1.run("unblend", "report", "--format", "json", "/tmp/types.rec"))
        hook = {hook["hook"]: hook for hook in report["coverage"]["hooks"]}["raw_tp/rpc_task_begin"]
        self.assertEqual("unavailable", hook["state"])
        self.assertIn("nfs says nothing of its types", hook["why"])

    def test_hang(self):
        """The server does not answer: who waits is told within two intervals, on each client and by the collector."""
        job, go = {"UNBLEND_JOB": "hung"}, "/tmp/go"
        wait = f"import os, time\nwhile not os.path.exists('{go}'): time.sleep(0.1)\n"
        words = [PYTHON, "-IS", "-c"]
        read = (f"import os\nfd = os.open('/datasets/shards/train-1-0.tar', os.O_RDONLY)\n{wait}"
                "print(len(os.read(fd, 4096)), flush=True)")
        waiter = self.client1.do("start", run=[*words, read], env=job, log="/tmp/read.log")["pid"]
        self.start_in_container([*words, wait + "os.mkdir('/data/made')\nprint('made', flush=True)"], job)
        for client in self.cluster.clients:
            client.do("start", run=["unblend", "top", "--json", "-n", "600", "-d", str(INTERVAL_S), "--agent",
                                    SOCKET], log="/tmp/top.log")
            self.text(client, "/tmp/top.log")
        self.client1.wait_for(lambda: "/train-1-0.tar" in self.client1.do("links", path=f"/proc/{waiter}/fd")["text"],
                              "the file is open")
        self.storage.pause()
        try:
            for client in self.cluster.clients:
                client.do("write", path=go, text="go")
            self.assert_stuck(self.client1, "read", waiter)
            self.assert_stuck(self.client2, "mkdir")
            self.assert_database_knows()
            self.assertIn("stuck: ", self.client1.run("unblend", "top", "-b", "-n", "2", "-d", "1", "--agent", SOCKET))
        finally:
            self.storage.resume()
        self.assertEqual("4096\n", self.text(self.client1, "/tmp/read.log"))
        self.assertEqual("made\n", self.text(self.client2, "/tmp/container.log"))
        for client in self.cluster.clients:
            client.wait_for(lambda: not self.stuck(self.samples(client)[-1]), "nothing is stuck any more")
        self.flush()
        hung, = self.jobs(self.report("--job", "hung"), "hung")
        volume, = [volume for volume in hung["volumes"] if volume["volume"] == VOLUME]
        self.assertEqual({"open": (1, 0, 0), "read": (1, 4096, 0), "mkdir": (1, 0, 0)}, counted(volume["ops"]))

    def samples(self, client):
        """The lines that its top has printed, but for one that is being written."""
        return [json.loads(line) for line in client.do("read", path="/tmp/top.log")["text"].split("\n")[:-1]]

    def stuck(self, sample):
        return [entry for entry in sample["stuck"] if entry["volume"] == VOLUME]

    def assert_stuck(self, client, op, pid=None):
        """The first sample that shows it does so two intervals after it counts as stuck, at the latest."""
        client.wait_for(lambda: any(map(self.stuck, self.samples(client))), "something is stuck")
        samples = self.samples(client)
        first = next(n for n, sample in enumerate(samples) if self.stuck(sample))
        entry, = [entry for entry in self.stuck(samples[first]) if entry["command"] == "python3"]
        self.assertEqual((op, "hung"), (entry["op"], entry["job"]))
        if pid:
            self.assertEqual(pid, entry["pid"])
        longest_s = max(sample["interval_s"] for sample in samples[max(first - 1, 0):first + 1])
        self.assertGreaterEqual(entry["oldest_ns"], STUCK_NS)
        self.assertLess(entry["oldest_ns"], STUCK_NS + 2 * longest_s * 10**9)
        # Everybody else goes on.
        count = len(samples)
        client.wait_for(lambda: len(self.samples(client)) > count + 1, "two more samples")

    def assert_database_knows(self):
        def known():
            jobs = self.jobs(self.report("--job", "hung"), "hung")
            volumes = [volume for job in jobs for volume in job["volumes"] if volume["volume"] == VOLUME]
            return volumes and volumes[0]["in_flight"]["now"] == 2 and volumes[0]["in_flight"]["oldest_ns"] > STUCK_NS

        self.client1.wait_for(known, "the database has two operations in flight")


if __name__ == "__main__":
    harness.main()
