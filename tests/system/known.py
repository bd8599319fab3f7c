# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload whose counts are known, for tests of how and by whom it is recorded."""
import json

import harness


class Known:
    """fio on a volume of its own: counts what it read and wrote itself."""

    def __init__(self, volume, directory):
        self.volume = volume
        self.output = f"{directory}/fio.json"
        self.command = [harness.tool("fio"), "--name=job", f"--filename={volume.mount}/data", "--ioengine=psync",
                        "--rw=randrw", "--bs=4k", "--size=4m", "--randseed=1", "--output-format=json",
                        f"--output={self.output}", f"--aux-path={directory}"]
        harness.must([*self.command, "--create_only=1"], cwd=directory)

    def expected(self):
        """(operations, bytes, errors) of read and write."""
        with open(self.output, encoding="utf-8") as file:
            job, = json.load(file)["jobs"]
        return {name: (job[name]["total_ios"], job[name]["io_bytes"], 0) for name in ("read", "write")}

    def counted(self, ops):
        return {name: harness.count(ops, name) for name in ("read", "write")}
