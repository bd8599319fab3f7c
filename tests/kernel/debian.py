# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's packages of other suites and architectures, by name, without a change to this machine's own."""
import glob
import gzip
import os
import re
import shutil
import subprocess
import tempfile
import time

CACHE = os.environ.get("UNBLEND_KERNELS", os.path.expanduser("~/.cache/unblend-kernels"))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
CACHE_AGE_S = 30 * 86400
# What a cross build links with, as tools/packages names it for this machine.
LIBRARIES = ("libc6-dev libbpf-dev libelf-dev zlib1g-dev libjansson-dev libzstd-dev libcurl4-openssl-dev libpq-dev "
             "libncurses-dev libmicrohttpd-dev libcmocka-dev").split()


class Trouble(Exception):
    pass


def command(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    if done.returncode:
        said = done.stdout.strip().splitlines() or ["no output"]
        causes = [line for line in said if line.startswith("E: ")]  # apt's: what follows of it comes later
        raise Trouble(f"{words[0]} {words[-1]}: {causes[0] if causes else said[-1]}")
    return done.stdout


def private_apt(directory, suite, architecture):
    """apt with lists and sources of its own; the machine's configuration keeps only its proxies."""
    for part in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(directory, part), exist_ok=True)
    sources = os.path.join(directory, "sources.list")
    with open(sources, "w", encoding="ascii") as file:
        file.write(f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {suite} main\n")
    open(os.path.join(directory, "status"), "w", encoding="ascii").close()
    configuration = os.path.join(directory, "apt.conf")
    settings = {
        "Dir::State": directory, "Dir::State::lists": f"{directory}/lists",
        "Dir::State::status": f"{directory}/status", "Dir::Cache": directory,
        "Dir::Cache::archives": f"{directory}/archives", "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null", "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root", "Acquire::Languages": "none",
        "APT::Update::Error-Mode": "any",  # a suite out of reach is that, not one without packages
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    with open(configuration, "w", encoding="ascii") as file:
        file.writelines(f'{key} "{value}";\n' for key, value in settings.items())
    return dict(os.environ, APT_CONFIG=configuration)


def depends(package, environment):
    text = command("apt-cache", "depends", "--important", package, env=environment)
    return re.findall(r"^ *Depends: (linux-(?:image|binary)-[0-9]\S*)$", text, re.MULTILINE)


def unpack_kernel(image, to):
    """Some of arm64's are programs that unpack themselves, which only firmware could start."""
    with open(image, "rb") as file:
        data = file.read()
    if data[4:8] == b"zimg":
        start, size = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
        if data[24:28] != b"gzip":
            raise Trouble(f"{image}: packed with {data[24:32].decode(errors='replace')}, not gzip")
        data = gzip.decompress(data[start:start + size])
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to + ".new", "wb") as file:
        file.write(data)
    os.rename(to + ".new", to)


def unpack_packages(suite, architecture, directory):
    """A suite's current kernel for clouds, unpacked below `directory`: where its image is, and the tree."""
    environment, root = private_apt(directory, suite, architecture), os.path.join(directory, "root")
    command("apt-get", "-q", "update", env=environment)
    wanted = depends(f"linux-image-cloud-{architecture}", environment)
    while wanted:
        package = wanted.pop()
        command("apt-get", "-q", "download", package, env=environment, cwd=directory)
        archive, = glob.glob(os.path.join(directory, f"{glob.escape(package)}_*.deb"))
        command("dpkg-deb", "-x", archive, root)
        image = glob.glob(os.path.join(root, "boot/vmlinuz-*"))
        image += glob.glob(os.path.join(root, "usr/lib/modules/*/vmlinuz"))
        if image:
            return image[0], root
        wanted += depends(package, environment)
    raise Trouble("no kernel image in it or in what it depends on")


def fetch_kernel(suite, architecture, to):
    """Downloads a suite's current kernel for clouds and puts its image at `to`."""
    with tempfile.TemporaryDirectory(prefix="unblend-apt-") as directory:
        unpack_kernel(unpack_packages(suite, architecture, directory)[0], to)


def fetch_whole_kernel(suite, architecture, to):
    """The same, and the modules of that very kernel beside it."""
    with tempfile.TemporaryDirectory(prefix="unblend-apt-") as directory:
        image, root = unpack_packages(suite, architecture, directory)
        modules = [path for usr in ("", "usr/") for path in glob.glob(os.path.join(root, usr + "lib/modules/*"))]
        if len(modules) != 1:
            raise Trouble(f"modules of {len(modules)} kernels beside it")
        unpack_kernel(image, os.path.join(directory, "whole/vmlinuz"))
        shutil.move(modules[0], os.path.join(directory, "whole/modules"))
        shutil.rmtree(to, ignore_errors=True)
        shutil.move(os.path.join(directory, "whole"), to)
        os.utime(to)


def cached(path, fetch, *arguments):
    """The path, made anew when it is not fresh, or as it is while there is no network."""
    if os.path.exists(path) and time.time() - os.path.getmtime(path) < CACHE_AGE_S:
        return path
    try:
        fetch(*arguments, path)
    except (Trouble, OSError) as error:
        if not os.path.exists(path):
            raise Trouble(f"cannot get {os.path.basename(path)}: {error}") from error
    return path


def kernel_image(suite, architecture):
    name = f"vmlinuz-{suite}" + ("" if architecture == "amd64" else f"-{architecture}")
    return cached(os.path.join(CACHE, name), fetch_kernel, suite, architecture)


def whole_kernel(suite, architecture):
    """A tree with a kernel's image, vmlinuz, and its modules."""
    return cached(os.path.join(CACHE, f"kernel-{suite}-{architecture}"), fetch_whole_kernel, suite, architecture)


def make_relative(root):
    """Links from "/" would lead out of the tree."""
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.islink(path) and os.readlink(path).startswith("/"):
                target = root + os.readlink(path)
                os.unlink(path)
                os.symlink(os.path.relpath(target, directory), path)


def fetch_packages(suite, architecture, packages, to):
    """Unpacks packages of a suite, with all that they depend on, into a tree."""
    with tempfile.TemporaryDirectory(prefix="unblend-apt-") as directory:
        environment = private_apt(directory, suite, architecture)
        command("apt-get", "-q", "update", env=environment)
        command("apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "install", *packages,
                env=environment)
        for archive in glob.glob(os.path.join(directory, "archives/*.deb")):
            command("dpkg-deb", "-x", archive, os.path.join(directory, "root"))
        make_relative(os.path.join(directory, "root"))
        shutil.rmtree(to, ignore_errors=True)
        shutil.move(os.path.join(directory, "root"), to)
        os.utime(to)


def libraries_of(suite, architecture):
    """A tree of headers and libraries to build with."""
    return cached(os.path.join(CACHE, f"root-{suite}-{architecture}"), fetch_packages, suite, architecture, LIBRARIES)
