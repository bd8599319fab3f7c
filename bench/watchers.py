# SPDX-License-Identifier: GPL-2.0-or-later
"""What watches while a benchmark runs: each is a context that begins when it works and ends when it is gone."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/system"))
from receiver import PostServer  # noqa: E402

BINDIR = os.environ.get("UNBLEND_BINDIR", os.path.join(os.path.dirname(HERE), "build/bench"))
READY_S = 30
CLOCK = os.sysconf("SC_CLK_TCK")


def program(name):
    return os.path.join(BINDIR, name)


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(condition, process, what):
    until = time.monotonic() + READY_S
    while not condition():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{what} does not work: {' '.join(process.args)}")
        time.sleep(0.05)


@contextlib.contextmanager
def switched():
    """
    A function that has the node watched by the variant of that name, from its return on: bench/watch. Between two it
    lasts a twentieth of a second; to start an agent takes longer than a machine keeps its speed.
    """
    process = subprocess.Popen([program("bench/watch"), program("bench/empty.bpf.o"), program("bench/clock.bpf.o"),
                                os.path.join(HERE, "peer.bt")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def watched_by(name):
        process.stdin.write(f"{name}\n")
        process.stdin.flush()
        if process.stdout.readline().strip() != name:
            raise RuntimeError(f"the node cannot be watched by: {name}")

    try:
        watched_by("untraced")  # so it is there, and has seen what a machine does that is idle
        yield watched_by
    finally:
        process.stdin.close()
        end(process)


@contextlib.contextmanager
def agent(*options):
    """The agent as it ships, but for its limit of cost: what it costs is the question."""
    with tempfile.TemporaryDirectory(prefix="unblend-bench-") as directory:
        socket = os.path.join(directory, "agent.sock")
        process = subprocess.Popen([program("unblend-agent"), "--max-cost", "0", "--socket", socket,
                                    "--state", directory, "--copy", os.path.join(directory, "copy.rec"), *options],
                                   stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: os.path.exists(socket), process, "unblend-agent")
            yield process.pid
        finally:
            end(process)


@contextlib.contextmanager
def sending_agent():
    """The same, with a collector that it sends to."""
    collector = PostServer(lambda *_: 200)  # takes everything, keeps nothing
    try:
        with tempfile.NamedTemporaryFile("w") as token:
            token.write("0" * 64)
            token.flush()
            with agent("--collector", f"http://127.0.0.1:{collector.port}", "--token-file", token.name) as pid:
                yield pid
    finally:
        collector.close()


def socket_of(pid):
    """Where that agent listens."""
    with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
        words = file.read().split("\0")
    return words[words.index("--socket") + 1]


@contextlib.contextmanager
def watched_agent():
    """The same, with `unblend top` on its socket: every process, each second."""
    with agent() as pid:
        top = subprocess.Popen([program("unblend"), "top", "--json", "--agent", socket_of(pid)],
                               stdout=subprocess.DEVNULL)
        try:
            yield pid
        finally:
            end(top)


@contextlib.contextmanager
def bpftrace():
    with open(os.path.join(HERE, "peer.bt"), encoding="utf-8") as file:
        script = file.read() + "\ninterval:s:1 { print(@ops); print(@bytes); print(@size); print(@latency); }\n"
    process = subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)
        if process.poll() is not None:
            raise RuntimeError("bpftrace does not start")
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def node_exporter():
    """Scraped each second."""
    address = "127.0.0.1:19100"
    process = subprocess.Popen(["prometheus-node-exporter", f"--web.listen-address={address}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    scraper = subprocess.Popen(["sh", "-c", f"while sleep 1; do curl -s -o /dev/null http://{address}/metrics; done"])
    try:
        time.sleep(1)
        yield process.pid
    finally:
        end(scraper)
        end(process)


@contextlib.contextmanager
def netdata():
    with tempfile.TemporaryDirectory(prefix="unblend-bench-") as directory:
        configuration = os.path.join(directory, "netdata.conf")
        with open(configuration, "w", encoding="ascii") as file:
            file.write(f"[global]\n\trun as user = root\n[db]\n\tmode = ram\n\tupdate every = 1\n[directories]\n"
                       f"\tcache = {directory}\n\tlib = {directory}\n\tlog = {directory}\n"
                       "[web]\n\tbind to = 127.0.0.1:19199\n[health]\n\tenabled = no\n[ml]\n\tenabled = no\n")
        process = subprocess.Popen(["netdata", "-D", "-c", configuration, "-P", os.path.join(directory, "pid")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(5)
            if process.poll() is not None:
                raise RuntimeError("netdata does not start")
            yield process.pid
        finally:
            end(process)


def children(pid):
    """The process and all below it."""
    found = [pid]
    for process in found:
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                    found += [int(child) for child in file.read().split()]
        except OSError:
            continue
    return found


def cpu_seconds(pid):
    """User and system time of a process, its children, and those of them that have ended."""
    ticks = 0
    for process in children(pid):
        with contextlib.suppress(OSError):
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                ticks += sum(int(field) for field in file.read().rsplit(")", 1)[1].split()[11:15])
    return ticks / CLOCK


def memory(pid):
    """(bytes of a process that are resident, bytes of them that are maps of the kernel's), what is shared shared out."""
    total = maps = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as file:
        name = ""
        for line in file:
            words = line.split()
            if not words[0].endswith(":"):
                name = words[5] if len(words) > 5 else ""
            elif words[0] == "Pss:":
                total += int(words[1]) << 10
                maps += int(words[1]) << 10 if "bpf-map" in name else 0
    return total, maps


def resident(pid):
    """The same of a process and its children together."""
    return tuple(map(sum, zip(*(memory(process) for process in children(pid)))))
