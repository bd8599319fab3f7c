# SPDX-License-Identifier: GPL-2.0-or-later
"""Three machines: storage, which exports a file system over NFS, and the clients client1 and client2."""
import os
import shutil
import tempfile

from machine import HERE, Machine, make_initramfs

SERVER, SERVER_ADDRESS = "storage", "10.77.0.3"
BLEND = "/usr/bin/blend.py"
DISK_MIB = 512


def wires(directory):
    """QEMU's words for a switch, with a plug for each client and one for itself."""
    words = []
    for n in (1, 2):
        words += ["-netdev", f"stream,id=wire{n},server=on,addr.type=unix,addr.path={directory}/wire{n}",
                  "-netdev", f"hubport,id=plug{n},hubid=1,netdev=wire{n}"]
    return [*words, "-netdev", "hubport,id=lan,hubid=1"]


class Cluster:
    def __init__(self, bindir):
        self.directory = tempfile.mkdtemp(prefix="unblend-cluster-")
        self.machines = []
        try:
            self.start(make_initramfs(self.directory, bindir, {BLEND: os.path.join(HERE, "blend.py")}))
        except BaseException:
            self.stop()
            raise

    def start(self, image):
        disk = os.path.join(self.directory, "disk")
        with open(disk, "wb") as file:
            file.truncate(DISK_MIB << 20)
        self.storage = self.add(image, SERVER, SERVER_ADDRESS, wires(self.directory), "-drive",
                                f"file={disk},if=none,id=disk,format=raw,cache=unsafe", "-device",
                                "nvme,drive=disk,serial=1")
        self.storage.wait_for(lambda: os.path.exists(f"{self.directory}/wire2"), "the network is there")
        self.clients = [self.add(image, f"client{n}", f"10.77.0.{n}", [
            "-netdev", f"stream,id=lan,server=off,addr.type=unix,addr.path={self.directory}/wire{n}"]) for n in (1, 2)]
        for machine in self.machines:
            machine.wait_ready()

    def add(self, image, *what):
        self.machines.append(Machine(self.directory, image, *what))
        return self.machines[-1]

    def stop(self):
        for machine in self.machines:
            machine.stop()
        shutil.rmtree(self.directory, ignore_errors=True)
