# SPDX-License-Identifier: GPL-2.0-or-later
"""Bursts whose demand is known: bursts.py FILE SECONDS SEED [START]

Once a second, in a tenth of a second that the seed chooses, the file is read in pieces of 64 KiB, some ten times what
is read by one small read in each of the other tenths; some tenths stay idle. What was read is printed as JSON at the
end, by tenths of a second of the wall clock in which the calls returned: a count of the caller's own. It begins with
the next second, or with second START of the wall clock.
"""
import json
import os
import random
import sys
import time

SLOT_NS = 100_000_000
PIECE = 65536
SMALL = 4096


def wait_until(ns):
    while (left := ns - time.time_ns()) > 0:
        time.sleep(max(left / 1e9 - 0.0005, 0.0001))


def main():
    path, seconds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    choose = random.Random(seed)
    fd = os.open(path, os.O_RDONLY)
    slots = {}
    first = 10 * (int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time()) + 1)

    def read(size):
        got = len(os.pread(fd, size, 0))
        slot = time.time_ns() // SLOT_NS
        slots.setdefault(slot, [0, 0])
        slots[slot][0] += got
        slots[slot][1] += 1

    for second in range(seconds):
        burst = choose.randrange(10)
        for tenth in range(10):
            wait_until((first + second * 10 + tenth) * SLOT_NS + SLOT_NS // 5)
            if tenth == burst:
                for _ in range(choose.randrange(15, 25)):
                    read(PIECE)
                    time.sleep(0.001)
            elif choose.random() < 0.7:
                read(SMALL)
    json.dump({"slots": slots}, sys.stdout)


main()
