# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the guest program for arm64, with a compiler of this machine and libraries of Debian's."""
import os
import shutil

from debian import Trouble, command, libraries_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINDIR = os.environ.get("UNBLEND_BINDIR", os.path.join(ROOT, "build/gcc"))
HOST = "aarch64-linux-gnu"
SUITE = "bookworm"  # old enough for every compiler and kernel here


def configure(build, tree):
    os.makedirs(build, exist_ok=True)
    environment = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=tree,
                       PKG_CONFIG_LIBDIR=f"{tree}/usr/lib/{HOST}/pkgconfig:{tree}/usr/share/pkgconfig")
    command(os.path.join(ROOT, "configure"), f"--host={HOST}", f"CC={HOST}-gcc --sysroot={tree}", "--enable-werror",
            cwd=build, env=environment)


def build_guest():
    """The path of the program, which is static: the machine that runs it has no libraries."""
    if not shutil.which(f"{HOST}-gcc"):
        raise Trouble(f"{HOST}-gcc is missing: install the package gcc-{HOST}")
    tree, build = libraries_of(SUITE, "arm64"), os.path.join(os.path.abspath(BINDIR), "arm64")
    if not os.path.exists(os.path.join(build, "Makefile")):
        configure(build, tree)
    command("make", "-s", "-j2", "-C", build, "tests/kernel/guest", "LDFLAGS=-static")
    return os.path.join(build, "tests/kernel/guest")
