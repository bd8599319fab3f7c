# SPDX-License-Identifier: GPL-2.0-or-later
"""For the tests of packages: the container image with packages that have been built already, on a base that is made of
this machine's distribution, and containers of it. All of it lies in one directory; images of others are not touched."""
import glob
import os
import re
import shutil
import subprocess

import harness

BASE = "docker.io/library/debian:12-slim"  # as the Containerfile calls it
IMAGE = "unblend"
BUILD_S = 600
# What podman would raise, and a machine that is a container itself may not have.
LIMITS = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")


def mirror():
    """Where this machine has its distribution's packages from, and the release's name."""
    told = harness.must(["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)", "Created-By: Packages"])
    with open("/etc/os-release", encoding="utf-8") as file:
        release = re.search(r"(?m)^VERSION_CODENAME=(\w+)$", file.read())[1]
    for line in told.splitlines():
        site, codename, component = line.split()
        if (codename, component) == (release, "main"):
            return site, release
    raise AssertionError(f"no source of apt has the packages of {release}: {told}")


class Containers:
    def __init__(self, directory):
        self.directory = os.path.join(directory, "containers")
        os.mkdir(self.directory)
        self.storage = ["--root", f"{self.directory}/root", "--runroot", f"{self.directory}/run", "--storage-driver", "vfs"]

    def buildah(self, *words):
        done = harness.run([harness.tool("buildah"), *self.storage, *words], timeout=BUILD_S)
        if done.returncode:
            raise AssertionError(f"buildah {words[0]}: exit {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout.strip()

    def make_base(self):
        tree = os.path.join(self.directory, "base")
        site, release = mirror()
        harness.must([harness.tool("debootstrap"), "--variant=minbase", release, tree, site], timeout=BUILD_S)
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, tree, "/")
        self.buildah("commit", "--quiet", "--rm", container, BASE)
        shutil.rmtree(tree)

    def make_image(self, packages):
        """With these .deb files in the place of what the Containerfile's first part builds."""
        built = os.path.join(self.directory, "built")
        os.makedirs(f"{built}/src")
        for package in packages:
            os.link(package, f"{built}/src/{os.path.basename(package)}")
        self.buildah("build", "--isolation", "chroot", "--network", "host", "--build-context", f"build={built}", "--file",
                     os.path.join(harness.SOURCE, "packaging/container/Containerfile"), "--tag", IMAGE, built)

    def command(self, name, *words):
        """One that runs a container; words: podman's options, the image, and what is run in it."""
        return [harness.tool("podman"), *self.storage, "--cgroup-manager", "cgroupfs", "--runtime", "runc", "run", "--rm",
                "--name", name, "--network", "host", *LIMITS, *words]

    def run(self, name, *words):
        return harness.run(self.command(name, *words))

    def stop(self, name):
        harness.run([harness.tool("podman"), *self.storage, "--runtime", "runc", "stop", "--ignore", name])

    def remove(self):
        """What is left mounted goes first: the directory is somebody else's to delete."""
        for mount in glob.glob(f"{self.directory}/root/*"):
            subprocess.run(["umount", "--lazy", mount], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)
