# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording that is the same each time: a small training cluster's node, made up."""
import json
import os
import subprocess

import harness

START_S = 1772366400  # 2026-03-01T12:00:00Z
SECONDS = 70
UNSEEN = "needs Linux 6.12, or a kernel that lets programs watch its functions"

JOBS = [("train-resnet", "slurm", "ann"), ("llm-pretrain", "slurm", "bob"), ("nightly-scan", "systemd", "root")]
VOLUMES = [("node07:/scratch", "/dev/nvme0n1", "ext4", "local", ["/scratch"]),
           ("nas:/datasets", "nas:/datasets", "nfs4", "shared", ["/datasets"]),
           ("node07:nvme0n1", "nvme0n1", "block", "local", [])]


def pairs(*cells):
    """[(bucket, count)...] as a histogram travels."""
    text, before = [], 0
    for bucket, count in sorted(cells):
        if count:
            text.append(f"{bucket - before}:{count}")
            before = bucket
    return " ".join(text)


def spread(bucket, count):
    """Most at a bucket, some around it, few far above."""
    around, far = count // 5, count // 50
    return pairs((bucket, count - 2 * around - far), (bucket - 4, around), (bucket + 6, around), (bucket + 30, far))


def record(job, volume, process, op, ops, time_bucket, size_bucket=None, errors=0, **more):
    value = {"job": job, "volume": volume, "process": process, "op": op, "bytes": 0, "errors": errors,
             "latency_sum_ns": ops * 20000, "latency_ns": spread(time_bucket, ops), **more}
    if size_bucket:
        value["size"] = pairs((size_bucket, ops))
        value["bytes"] = ops * (1 << size_bucket // 8 + 2)
    return value


def loader(second, process):
    """Opens, reads and closes small files: 128 KiB each."""
    ops = 400 + 40 * ((second * 7 + process * 3) % 10)
    return [record(0, 1, process, "open", ops, 120), record(0, 1, process, "close", ops, 80),
            record(0, 1, process, "stat", ops, 100),
            record(0, 1, process, "read", ops, 130, 120, order=[0, ops, 0], cache=[ops // 4, ops << 15, ops - ops // 4,
                                                                                   (ops - ops // 4) << 17])]


def checkpoint(second, process):
    """Each twenty seconds, for three of them, large writes."""
    if second % 20 > 2:
        return []
    return [record(1, 0, process, "write", 96, 180, 160, order=[0, 96, 0]), record(1, 0, process, "fsync", 4, 200),
            record(1, 0, process, "create", 4, 120)]


def scanner(second, process):
    return [record(2, 1, process, "stat", 5000 + 100 * (second % 7), 90, errors=3),
            record(2, 1, process, "readdir", 120, 110), record(2, 1, process, "open", 120, 120),
            record(2, 1, process, "close", 120, 80)]


def processes(second):
    """Loaders, a trainer, a scan, and someone new and short-lived each second."""
    listed = [(4100 + n, 60001, "python3", 0, False) for n in range(4)] + [(5200, 60002, "torchrun", 1, False),
                                                                          (610, 0, "find", 2, False)]
    return listed + [(9000 + second, 0, "sh", 2, True)]


def slots(second, amount):
    return " ".join(str(amount if (second * 10 + n) % 5 == 0 else amount // 8) for n in range(10))


def batch(second, extra):
    records = [one for n in range(4) for one in loader(second, n)] + checkpoint(second, 4) + scanner(second, 5)
    records.append(record(2, 0, 6, "read", 12, 70, 72, order=[0, 12, 0]))
    records.append({**record(0, 2, 0, "block_read", 600, 140, 120), "process": None})
    listed = [{"pid": pid, "uid": uid, "start_ns": (START_S - 100) * 10**9, "command": command, "job": job,
               "exited": exited} for pid, uid, command, job, exited in processes(second)]
    for n in range(extra):
        listed.append({"pid": 20000 + n, "uid": 60001, "start_ns": (START_S - 100) * 10**9,
                       "command": f"worker{n % 10}", "job": 0, "exited": False})
        for op, bucket in (("read", 120), ("write", 96)):
            records.append(record(0, n % 2, 7 + n, op, 20 + (n * 13 + second) % 50, 100, bucket))
    for one in records:
        if one["process"] is None:
            del one["process"]
    return {
        "schema": "unblend.batch/1", "cluster": "c1", "node": "node07", "role": "client", "kernel": "6.1.0",
        "boot_id": "6a1c", "stream": "0" * 31 + "7", "seq": second, "start_ns": (START_S + second) * 10**9,
        "duration_ns": 10**9, "interval_ms": 1000,
        "jobs": [{"job": job, "kind": kind, "user": user, "command": "", "labels": {}, "start_ns": START_S * 10**9,
                  "end_ns": None, "exit": None} for job, kind, user in JOBS],
        "volumes": [{"volume": volume, "source": source, "fstype": fstype, "scope": scope, "mounts": mounts}
                    for volume, source, fstype, scope, mounts in VOLUMES],
        "processes": listed, "records": records, "slot_ms": 100,
        "flows": [{"job": job, "volume": volume, "first": (START_S + second) * 10, "slots": 10,
                   "read_bytes": slots(second, 40 << 20), "read_ops": slots(second, 320),
                   "metadata_ops": slots(second, 500), "data_burst_ns": "128:20", "data_steady_ns": "112:40",
                   "metadata_steady_ns": "96:100"} for job, volume in ((0, 1), (2, 1))],
        "storage": [{"layer": "block", "volume": 2, "request": "read", "for": "job", "job": 0, "ops": 600,
                      "bytes": 600 << 17, "queue_sum_ns": 600000, "service_sum_ns": 6000000, "in_flight": 2,
                      "queue_ns": spread(80, 600), "service_ns": spread(136, 600)}],
        "coverage": {"lost_ops": 0, "killed_ops": 0, "in_flight_ops": 1, "unattributed_ops": 0, "overflow_ops": 0,
                     "hooks": [{"hook": "tp_btf/sys_enter", "state": "attached", "why": None},
                               {"hook": "mmap_fault", "state": "unavailable", "why": UNSEEN}], "bypass": []},
    }


def write(path, batches):
    with subprocess.Popen([os.path.join(harness.bindir(), "tests/system/json_recording"), path], stdin=subprocess.PIPE,
                          text=True) as tool:
        for one in batches:
            json.dump(one, tool.stdin)
            tool.stdin.write("\n")
    if tool.returncode:
        raise AssertionError(f"json_recording: exit {tool.returncode}")
    return path


def recording(path, seconds=SECONDS, extra=0):
    """Writes it; extra are processes more that read and write each second."""
    return write(path, (batch(second, extra) for second in range(seconds)))
