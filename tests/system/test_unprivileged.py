#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Daemons that root starts by hand, with files that only root can reach: they are root no more, and miss nothing."""
import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import socket
import ssl
import struct
import tempfile
import threading

import harness
from receiver import PostServer
from test_path import Daemon, until
from test_trust import make_authority, make_certificate

CAPABILITIES = {"CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21,
                "CAP_PERFMON": 38, "CAP_BPF": 39}
ALL_TIME_S = 60


def the_user():
    """What a daemon becomes that is not told."""
    for name in ("unblend", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("there is no user nobody")


def named_by_the_page():
    """The capabilities that unblend-agent(8) says it keeps."""
    with open(os.path.join(harness.SOURCE, "man", "unblend-agent.8"), encoding="utf-8") as file:
        text = re.search(r"^\.Ss Rights\n(.*?)^\.S[sh] ", file.read(), re.M | re.S)[1]
    kept = text.split("keeps just", 1)[0]
    return mask(set(re.findall("CAP_[A-Z_]+", kept)))


def mask(names):
    return sum(1 << CAPABILITIES[name] for name in names)


def status(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def porters(pid):
    """What a daemon has beside it for files that its user cannot reach."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [child for child in file.read().split() if status(child)["Name"] == "unblend-porter"]


class DaemonTest(harness.SystemTest):
    """Each test has a directory that nobody but root can look into, and root's mask."""

    def setUp(self):
        self.here = tempfile.mkdtemp(dir=self.directory)  # 0700, as all above it but /tmp
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)

    def start(self, program, *arguments, said="watching", **options):
        daemon = Daemon(self.here, program, *arguments, **options)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.stop(signal.SIGKILL))
        until(lambda: said in daemon.said() or daemon.process.poll() is not None, said, ALL_TIME_S)
        self.assertIsNone(daemon.process.poll(), daemon.said())
        return daemon

    def file(self, name, text):
        """Replaced as a whole, as who renews something does."""
        path = os.path.join(self.here, name)
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".tmp", path)
        return path

    def assert_is(self, pid, user, effective):
        found = status(pid)
        self.assertEqual({str(user.pw_uid)}, set(found["Uid"].split()))
        self.assertEqual({str(user.pw_gid)}, set(found["Gid"].split()))
        for kind in ("CapEff", "CapPrm"):
            self.assertEqual(effective, int(found[kind], 16), kind)
        self.assertEqual("1", found["NoNewPrivs"])

    def assert_ends_in_one_line(self, *arguments, parts, program="unblend-agent", status=1):
        done = harness.run([os.path.join(harness.bindir(), program), *arguments])
        self.assertEqual(status, done.returncode, done.stderr)
        self.assert_one_line(done.stderr.replace(f"{program}: ", "unblend: "), *parts)


class AgentTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.batches, self.tokens, self.answer = [], [], 200
        self.server = PostServer(self.take)
        self.addCleanup(self.server.close)
        self.state = os.path.join(self.here, "state")
        self.socket = os.path.join(self.here, "agent.sock")
        self.token = self.file("token", "first\n")

    def take(self, path, headers, body):
        self.tokens.append(headers["Authorization"].removeprefix("Bearer "))
        if path == "/v1/enroll":
            return 200, '{"token": "bought"}'
        if self.answer == 200:
            self.batches.append(body)
        return self.answer

    def agent(self, *more, **options):
        return self.start("unblend-agent", "--collector", f"http://127.0.0.1:{self.server.port}", "--token-file",
                          self.token, "--state", self.state, "--socket", self.socket, "--interval", "1s", *more,
                          **options)

    def waiting(self):
        return {name for name in os.listdir(os.path.join(self.state, "spool")) if name.isdigit()}

    def test_has_what_watching_takes(self):
        agent = self.agent()
        self.assert_is(agent.process.pid, the_user(), named_by_the_page())
        self.assertEqual(mask({"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH"}), named_by_the_page())
        doctor = json.loads(harness.run([harness.unblend(), "doctor", "--json"]).stdout)
        self.assertLessEqual({"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH"},
                             {right["capability"] for right in doctor["capabilities"]})
        self.assertIn(f"as user {the_user().pw_name}", agent.said())
        porter, = porters(agent.process.pid)
        self.assert_is(porter, the_user(), mask({"CAP_DAC_OVERRIDE"}))
        until(lambda: "first" in self.tokens, "the token is shown")
        self.file("token", "second\n")
        until(lambda: "second" in self.tokens, "and the one in its place")
        self.assertEqual(0, os.stat(self.token).st_uid)
        self.assertEqual(0, agent.stop())
        self.assertFalse(os.path.exists(self.socket))
        until(lambda: not os.path.exists(f"/proc/{porter}"), "the porter has gone, too")

    def test_a_killed_agent_leaves_no_porter(self):
        agent = self.agent()
        porter, = porters(agent.process.pid)
        agent.stop(signal.SIGKILL)
        until(lambda: not os.path.exists(f"/proc/{porter}") or status(porter)["State"].startswith("Z"),
              "the porter has gone")

    def test_without_a_user_of_its_own(self):
        with open("/etc/passwd", encoding="utf-8") as file:
            others = [line for line in file if not line.startswith("unblend:")]
        prefix = [harness.tool("unshare"), "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"',
                  self.file("passwd", "".join(others))]
        os.chmod(prefix[-1], 0o644)
        agent = self.agent(prefix=prefix)
        self.assert_is(agent.process.pid, pwd.getpwnam("nobody"), named_by_the_page())
        self.assertIn("as user nobody, as there is no user unblend", agent.said())

    def test_as_a_containers_root(self):
        """Docker's, which has not all that root has elsewhere, with what its page asks for; and with CAP_SYS_ADMIN alone."""
        usual = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+sys_chroot,+mknod"
        for added, kept in ("+bpf,+perfmon,+sys_ptrace", {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"}), \
                ("+sys_admin", {"CAP_SYS_ADMIN"}):
            rights = f"{usual},{added}"
            agent = self.agent(prefix=[harness.tool("setpriv"), f"--bounding-set={rights}", f"--inh-caps={rights}"])
            self.assert_is(agent.process.pid, the_user(), mask(kept))
            before = len(self.batches)
            until(lambda: len(self.batches) > before, f"{kept}: something is sent")
            self.assertEqual(0, agent.stop())

    def test_what_root_has_spooled_goes_out(self):
        self.answer = 503
        before = self.agent("--user", "root")
        until(lambda: len(self.waiting()) >= 3, "three batches wait")
        self.assertEqual(0, before.stop())
        waited, count = self.waiting(), len(self.waiting())
        self.assertEqual({0}, {os.stat(os.path.join(self.state, "spool", name)).st_uid for name in waited})
        after = self.agent()
        self.assert_is(after.process.pid, the_user(), named_by_the_page())
        until(lambda: len(self.waiting()) > count, "new ones wait beside them")
        self.answer = 200
        until(lambda: not self.waiting() & waited, "all that root has left is sent", ALL_TIME_S)
        self.assertEqual(0, after.stop())
        self.assertNotIn("spool:", after.said())
        self.assertEqual([], os.listdir(os.path.join(self.state, "refused")))
        for root, _, names in os.walk(self.state):
            for path in (root, *[os.path.join(root, name) for name in names]):
                self.assertEqual(the_user().pw_uid, os.stat(path).st_uid, path)

    def test_a_node_that_joins(self):
        os.unlink(self.token)
        agent = self.agent("--join-file", self.file("join", "ticket\n"))
        until(lambda: "bought" in self.tokens, f"the bought token is shown: {agent.said()}")
        self.assertEqual("ticket", self.tokens[0])
        self.assertEqual((0o600, the_user().pw_uid),
                         (os.stat(self.token).st_mode & 0o777, os.stat(self.token).st_uid))
        self.assertFalse(os.path.exists(self.token + ".new"))

    def test_a_copy_that_is_moved_away(self):
        """By the one that root was told to stay, and by the one after it."""
        copy = os.path.join(self.here, "copy.rec")
        before = self.agent("--user", "root", "--copy", copy)
        self.assertEqual({"0"}, set(status(before.process.pid)["Uid"].split()))
        self.assertEqual([], porters(before.process.pid))
        self.assertIn("as root, as --user says", before.said())
        until(lambda: os.path.exists(copy) and os.path.getsize(copy) > 100, "root writes it")
        self.assertEqual(0, before.stop())
        size = os.path.getsize(copy)
        agent = self.agent("--copy", copy)
        until(lambda: os.path.getsize(copy) > size, "it is written on")
        os.rename(copy, copy + ".1")
        agent.process.send_signal(signal.SIGHUP)
        until(lambda: os.path.exists(copy) and os.path.getsize(copy) > 100, "a new one is written")
        self.assertEqual(0, agent.stop())
        for name in (copy, copy + ".1"):
            self.assertTrue(harness.batches(name))

    def test_a_platforms_file(self):
        path = self.file("platform.csv", "volume,op,ops,bytes\n/p,read,1,1\n")
        agent = self.start("unblend-agent", "--socket", self.socket, "--platform-metrics", path)
        done = harness.run([harness.unblend(), "record", "--agent", self.socket, "-o", self.path("p.rec"), "sleep",
                            "2"])
        self.assertEqual(0, done.returncode, done.stderr)
        hooks = {hook["hook"]: hook for hook in harness.report(self.path("p.rec")).coverage["hooks"]}
        self.assertNotIn("Permission denied", hooks["platform-metrics"]["why"] or "", agent.said())

    def test_certificates_by_tls(self):
        authority = make_authority(self.here)
        key, cert = make_certificate(self.here, authority, "127.0.0.1", "127.0.0.1")
        own_key, own = make_certificate(self.here, authority, "node")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        context.load_verify_locations(authority[1])
        context.verify_mode = ssl.CERT_REQUIRED
        self.server.server.socket = context.wrap_socket(self.server.server.socket, server_side=True)
        agent = self.start("unblend-agent", "--collector", f"https://127.0.0.1:{self.server.port}", "--token-file",
                           self.token, "--state", self.state, "--socket", self.socket, "--interval", "1s",
                           "--ca-file", authority[1], "--tls-cert", own, "--tls-key", own_key)
        until(lambda: self.batches, f"a batch has come by TLS: {agent.said()}")
        shutil.copy(cert, own)  # renewed, for another name
        shutil.copy(key, own_key)
        agent.process.send_signal(signal.SIGHUP)
        count = len(self.batches)
        until(lambda: len(self.batches) > count + 1, f"and after a reload: {agent.said()}")

    def test_a_state_directory_of_somebody_elses(self):
        other = os.path.join(self.here, "other")
        os.makedirs(os.path.join(other, "papers"))
        self.assert_ends_in_one_line("--collector", f"http://127.0.0.1:{self.server.port}", "--token-file", self.token,
                                     "--state", other, "--socket", self.socket,
                                     parts=(other, "--user root", the_user().pw_name))
        self.assertEqual((0, ["papers"]), (os.stat(other).st_uid, os.listdir(other)))

    def test_the_porter_follows_no_link_of_the_users(self):
        """What the agent can put into the way of root's files leads nowhere."""
        os.makedirs(os.path.join(self.state, "spool"))
        link = os.path.join(self.state, "token")
        os.symlink(self.token, link)
        arguments = ("--collector", f"http://127.0.0.1:{self.server.port}", "--token-file", link, "--state", self.state,
                     "--socket", self.socket)
        os.lchown(link, the_user().pw_uid, the_user().pw_gid)
        self.assert_ends_in_one_line(*arguments, parts=(link, "Permission denied"))
        os.lchown(link, 0, 0)
        self.start("unblend-agent", *arguments, "--interval", "1s")
        until(lambda: "first" in self.tokens, "root's own is followed")

    def test_no_such_user(self):
        self.assert_ends_in_one_line("--socket", self.socket, "--user", "unblend-none",
                                     parts=("unblend-none", "useradd"))

    def test_the_usual_places(self):
        """They become the user's own, so nobody has to reach further than the user can."""
        script = ("umask 022 && mount -t tmpfs -o mode=755 none /run && mount -t tmpfs -o mode=755 none /var/lib && "
                  'mkdir -p /var/lib/unblend/agent && exec "$0" "$@"')
        place = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        os.chmod(shutil.copy(self.token, place), 0o644)
        agent = self.start("unblend-agent", "--collector", f"http://127.0.0.1:{self.server.port}", "--token-file",
                           os.path.join(place, "token"), "--interval", "1s",
                           prefix=[harness.tool("unshare"), "--mount", "sh", "-c", script])
        self.assert_is(agent.process.pid, the_user(), named_by_the_page())
        self.assertEqual([], porters(agent.process.pid))
        until(lambda: self.batches, "a batch has come")
        for name in ("/run/unblend", "/run/unblend/agent.sock", "/var/lib/unblend/agent"):
            self.assertEqual(the_user().pw_uid, os.stat(f"/proc/{agent.process.pid}/root{name}").st_uid, name)
        self.assertEqual(0, agent.stop())


class CollectorTest(DaemonTest):
    def collector(self, *more, db="host=/nonexistent", **popen):
        return self.start("unblend-collector", "--listen", "127.0.0.1:0", "--db", db, *more, said="listening on",
                          **popen)

    def port(self, collector):
        return int(re.search(r"listening on https?://[^:]+:(\d+)", collector.said())[1])

    def test_has_nothing(self):
        collector = self.collector()
        self.assert_is(collector.process.pid, the_user(), 0)
        self.assertEqual([], porters(collector.process.pid))
        self.assertIn(f"as user {the_user().pw_name}", collector.said())

    def test_root_stays_root_when_told(self):
        collector = self.collector("--user", "root")
        self.assertEqual({"0"}, set(status(collector.process.pid)["Uid"].split()))
        self.assertIn("as root, as --user says", collector.said())

    def test_postgresql_does_not_run_as_root(self):
        place = os.path.join(self.here, "pg")
        self.assert_ends_in_one_line("--listen", "127.0.0.1:0", "--embedded", place, "--user", "root", status=2,
                                     program="unblend-collector", parts=(place, "--user"))

    def test_a_certificate_that_is_renewed(self):
        authority = make_authority(self.here)
        key, cert = make_certificate(self.here, authority, "collector", "127.0.0.1")
        collector = self.collector("--tls-cert", cert, "--tls-key", key)
        self.assert_is(collector.process.pid, the_user(), 0)
        porter, = porters(collector.process.pid)
        self.assert_is(porter, the_user(), mask({"CAP_DAC_READ_SEARCH"}))
        address = ("127.0.0.1", self.port(collector))
        first = ssl.get_server_certificate(address, timeout=30)
        make_certificate(self.here, authority, "collector", "127.0.0.1")
        collector.process.send_signal(signal.SIGHUP)
        until(lambda: "read again" in collector.said(), "the certificate is read again")
        second = ssl.get_server_certificate(address, timeout=30)
        with open(cert, encoding="ascii") as file:
            self.assertEqual(file.read(), second)
        self.assertNotEqual(first, second)

    def test_roots_password(self):
        """As ~/.pgpass of root says it, to a server that asks for it in clear."""
        heard = []
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        while struct.unpack("!II", connection.recv(8))[1] in (80877103, 80877104):
                            connection.sendall(b"N")  # neither TLS nor GSSAPI
                        connection.recv(4096)
                        connection.sendall(b"R" + struct.pack("!II", 8, 3))
                        heard.append(connection.recv(4096)[5:].rstrip(b"\0").decode())

        threading.Thread(target=serve, daemon=True).start()
        os.mkdir(os.path.join(self.here, "home"))
        self.file("home/.pgpass", "127.0.0.1:*:*:*:sesame\n")
        environment = {**os.environ, "HOME": os.path.join(self.here, "home")}
        environment.pop("PGPASSFILE", None)
        collector = self.collector(db=f"host=127.0.0.1 port={server.getsockname()[1]} user=u dbname=d", env=environment)
        until(lambda: heard, f"the server hears a password: {collector.said()}")
        self.assertEqual("sesame", heard[0])


if __name__ == "__main__":
    harness.main()
