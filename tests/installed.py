# SPDX-License-Identifier: GPL-2.0-or-later
"""For the tests of packages: the release's archive, and a root of its own to install into, over this machine's."""
import glob
import os

import harness

BUILD_S = 1200

# On an overlay of this machine's root, of which nothing is left afterwards, and on which nobody has installed Unblend.
# $1: a directory of the test's. Sets $root.
ROOT = r"""
set -e
top=$1/top
root=$top/root
mkdir -p "$top"
mount -t tmpfs -o size=3g none "$top"
mkdir "$top/upper" "$top/work" "$root"
mount -t overlay -o lowerdir=/,upperdir="$top/upper",workdir="$top/work" none "$root"
for each in proc dev sys; do mount --rbind /$each "$root/$each"; done
for each in run tmp; do mount -t tmpfs none "$root/$each"; done
sed -i /^unblend:/d "$root/etc/passwd" "$root/etc/group" "$root/etc/shadow" "$root/etc/gshadow"
rm -rf "$root/etc/unblend" "$root/var/lib/unblend"
"""

# In that root. start UNIT VARIABLE: a daemon's main process, as the unit in $units says it: the user, its capabilities.
SHELL = r"""
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
say() { printf '%s %s\n' "$1" "$2"; }
until_() {
    n=0
    until "$@" >/dev/null 2>&1; do
        n=$((n + 1))
        [ $n -lt 1200 ] || { cat /tmp/*.log; exit 9; }
        sleep 0.1
    done
}
start() {
    unit=$units/$1.service
    caps=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr ' ' '\n' | sed -n 's/^CAP_\(.*\)/+\1/p' | tr 'A-Z\n' 'a-z,')
    caps=-all${caps:+,${caps%,}}
    setpriv --reuid="$(sed -n 's/^User=//p' "$unit")" --regid="$(sed -n 's/^Group=//p' "$unit")" --clear-groups \
        --inh-caps="$caps" --ambient-caps="$caps" --bounding-set="$caps" --no-new-privs \
        $(sed -n 's/^ExecStart=//p' "$unit") >"/tmp/$1.log" 2>&1 &
    eval "$2=$!"
}

agent= collector=
trap '[ -z "$agent$collector" ] || kill $agent $collector 2>/dev/null || true' EXIT
"""


def archive():
    """The path of what `make dist` makes."""
    harness.must(["make", "-s", "-C", harness.bindir(), "dist"], timeout=BUILD_S)
    found = glob.glob(os.path.join(harness.bindir(), "unblend-*.tar.xz"))
    assert len(found) == 1, found
    return found[0]


def unpack(path, directory):
    """The source that lies in an archive, in that directory then."""
    harness.must([harness.tool("tar"), "-xf", path, "-C", directory])
    return os.path.join(directory, os.path.basename(path).removesuffix(".tar.xz"))
