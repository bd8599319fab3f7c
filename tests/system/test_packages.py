#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages: built of the release's archive, looked at by lintian, and installed, started, upgraded, removed and
purged for real, on a root of its own that lies over this machine's."""
import glob
import os
import re
import shutil
import unittest

import harness

BUILD_S = 280

# On an overlay of this machine's root, of which nothing is left afterwards. $1: the packages, $2: the script.
ROOT = """
set -e
top=$1/top
mkdir -p "$top"
mount -t tmpfs -o size=3g none "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o lowerdir=/,upperdir="$top/upper",workdir="$top/work" none "$top/root"
for each in proc dev sys; do mount --rbind /$each "$top/root/$each"; done
for each in run tmp; do mount -t tmpfs none "$top/root/$each"; done
mkdir "$top/root/tmp/debs"
cp "$1"/*.deb "$top/root/tmp/debs"
printf '#!/bin/sh\\nexit 101\\n' >"$top/root/usr/sbin/policy-rc.d"
chmod +x "$top/root/usr/sbin/policy-rc.d"
chroot "$top/root" sh -eu -c "$2"
"""

# As the unit says it: the user, its capabilities, its directories.
LIFE = r"""
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
say() { printf '%s %s\n' "$1" "$2"; }
until_() { n=0; until "$@" >/dev/null 2>&1; do n=$((n + 1)); [ $n -lt 600 ] || { cat /tmp/*.log; exit 9; }; sleep 0.1; done; }
ours() { dpkg -i --force-confold "$@" >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 8; }; }
# The agent's and the collector's main process, as their units start them.
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
userdel unblend 2>/dev/null || true
rm -rf /etc/unblend /var/lib/unblend
ours /tmp/debs/*_0.1.0-1_*.deb
units=$(dirname "$(dpkg -L unblend-agent | grep 'unblend-agent.service$')")
say user "$(getent passwd unblend | cut -d: -f1,7)"
say configuration "$(grep -cvE '^#|^$' /etc/unblend/agent.conf || true)"
say enabled "$(ls /etc/systemd/system/multi-user.target.wants | grep unblend | tr '\n' ' ')"
for unit in unblend-agent unblend-collector; do
    say "security-$unit" "$(systemd-analyze security --offline=true "$units/$unit.service" | sed -n 's/.*level for.*: \([0-9.]*\).*/\1/p')"
    systemd-analyze verify "$units/$unit.service" >/tmp/verify 2>&1 || true
    say "verify-$unit" "$(grep -c unblend /tmp/verify || true)"
done

install -d -o unblend -g unblend /var/lib/unblend /var/lib/unblend/agent /var/lib/unblend/collector /run/unblend
printf 'listen = 127.0.0.1:0\nembedded = /var/lib/unblend/collector/pg\n' >>/etc/unblend/collector.conf
start unblend-collector collector
until_ grep -q 'the database is there' /tmp/unblend-collector.log
port=$(sed -n 's/.*listening on http:.*:\([0-9]*\)$/\1/p' /tmp/unblend-collector.log)
(umask 077; unblend-collector enroll "$(hostname)" --config /etc/unblend/collector.conf >/var/lib/unblend/token)
chown unblend /var/lib/unblend/token
printf 'collector = http://127.0.0.1:%s\ntoken-file = /var/lib/unblend/token\ninterval = 1s\n' "$port" >>/etc/unblend/agent.conf
start unblend-agent agent
until_ grep -q watching /tmp/unblend-agent.log
unblend record --agent /run/unblend/agent.sock --job packaged -o /tmp/x.rec -- dd if=/dev/zero of=/var/lib/file bs=4096 count=25 2>/dev/null
conninfo=$(unblend-collector conninfo --config /etc/unblend/collector.conf)
say written "$(unblend report --db "$conninfo" --job packaged -f json | /usr/bin/python3 -c \
    'import json, sys; write = json.load(sys.stdin)["jobs"][0]["ops"]["write"]; print(write["ops"], write["bytes"])')"
kill $agent; wait $agent && say agent-ended 0
agent=
kill $collector; wait $collector && say collector-ended 0
collector=

ours /tmp/debs/*_0.1.0-2_*.deb
say version "$(dpkg-query -W -f '${Version}' unblend-agent)"
say kept "$(grep -c '^interval = 1s' /etc/unblend/agent.conf)"
say database "$(ls /var/lib/unblend/collector/pg/PG_VERSION /var/lib/unblend/collector/pg/*/PG_VERSION 2>/dev/null | wc -l)"
dpkg -r unblend-agent unblend-collector unblend >/dev/null 2>&1
say removed "$(ls /usr/bin/unblend /usr/sbin/unblend-* 2>/dev/null | wc -l)"
say kept-conf "$(ls /etc/unblend | tr '\n' ' ')"
say kept-spool "$(ls -d /var/lib/unblend/agent)"
dpkg -P unblend-agent unblend-collector unblend >/dev/null 2>&1
say purged-conf "$(ls /etc/unblend 2>/dev/null | wc -l)"
say purged-spool "$(ls -d /var/lib/unblend/agent 2>/dev/null | wc -l)"
say purged-database "$(ls -d /var/lib/unblend/collector)"
"""


class PackageTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chmod(cls.directory, 0o755)
        harness.must(["make", "-s", "-C", harness.bindir(), "dist"], timeout=BUILD_S)
        archive = glob.glob(os.path.join(harness.bindir(), "unblend-*.tar.xz"))
        assert len(archive) == 1, archive
        harness.must([harness.tool("tar"), "-xf", archive[0], "-C", cls.directory])
        source = glob.glob(os.path.join(cls.directory, "unblend-*"))[0]
        done = harness.run([harness.tool("dpkg-buildpackage"), "-b", "-us", "-uc", "-j2"], cwd=source, timeout=BUILD_S,
                           env={**os.environ, "DEB_BUILD_OPTIONS": "noautodbgsym nocheck"})
        if done.returncode:
            raise AssertionError(f"dpkg-buildpackage: exit {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        shutil.rmtree(source)
        for package in glob.glob(os.path.join(cls.directory, "*.deb")):
            cls.make_newer(package)

    @classmethod
    def make_newer(cls, package):
        """The same as another version, with another comment in the configuration."""
        tree = os.path.join(cls.directory, "tree")
        harness.must([harness.tool("dpkg-deb"), "-R", package, tree])
        control = os.path.join(tree, "DEBIAN/control")
        with open(control, encoding="utf-8") as file:
            text = file.read().replace("0.1.0-1", "0.1.0-2")
        with open(control, "w", encoding="utf-8") as file:
            file.write(text)
        for conf in glob.glob(os.path.join(tree, "etc/unblend/*.conf")):
            with open(conf, "a", encoding="utf-8") as file:
                file.write("# news\n")
        harness.must([harness.tool("dpkg-deb"), "-b", "--root-owner-group", "-Zgzip", tree, package.replace("0.1.0-1", "0.1.0-2")])
        shutil.rmtree(tree)

    def test_lintian_is_content(self):
        packages = glob.glob(os.path.join(self.directory, "*_0.1.0-1_*.deb"))
        self.assertEqual(3, len(packages))
        done = harness.run([harness.tool("lintian"), "--profile", "debian", "--allow-root", "--fail-on", "error,warning",
                            *packages], env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.assertEqual((0, ""), (done.returncode, done.stdout), done.stderr)

    def test_a_whole_life(self):
        done = harness.run([harness.tool("unshare"), "--mount", "--uts", "sh", "-c", ROOT, "sh", self.directory, LIFE],
                           timeout=240)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        self.assertTrue(re.match(r"unblend:/(usr/)?sbin/nologin", said["user"]), said["user"])
        self.assertEqual("0", said["configuration"], "all of it is comments")
        self.assertEqual("unblend-agent.service ", said["enabled"])
        self.assertEqual("25 102400", said["written"])
        self.assertEqual(("0", "0"), (said["agent-ended"], said["collector-ended"]))
        self.assertEqual(("0.1.0-2", "1", "1"), (said["version"], said["kept"], said["database"]))
        self.assertEqual("0", said["removed"])
        self.assertEqual("agent.conf collector.conf ", said["kept-conf"])
        self.assertEqual("/var/lib/unblend/agent", said["kept-spool"])
        self.assertEqual(("0", "0"), (said["purged-conf"], said["purged-spool"]))
        self.assertEqual("/var/lib/unblend/collector", said["purged-database"])
        for unit in ("unblend-agent", "unblend-collector"):
            self.assertEqual("0", said[f"verify-{unit}"])
            self.assertLessEqual(float(said[f"security-{unit}"]), 3.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
