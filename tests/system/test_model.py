# SPDX-License-Identifier: GPL-2.0-or-later
"""What is predicted of four and of eight clients, from recordings of one and of two, against what is then measured: on
a store that serves one request after the other and takes the same time for each."""
import json

import harness
import slow

SECONDS = 7
THINK_S = 0.03

# Reads a piece that nobody has read, thinks for a time by chance, and so on; says how often.
CLIENT = """
import os, random, sys, time
path, first, piece, stride = sys.argv[1], *map(int, sys.argv[2:5])
think, seconds = map(float, sys.argv[5:])
fd = os.open(path, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
random.seed(first)
end = time.monotonic() + seconds
while time.monotonic() < end:
    os.pread(fd, piece, first)
    first += stride
    if think:
        time.sleep(random.expovariate(1 / think))
"""


class ModelTest(slow.SlowTest):
    DELAY_S = 0.01
    OPTIONS = ("-o", "subtype=sshfs")  # one that several nodes would share
    SIZE = 64 << 30
    APART = 1 << 30

    first = 0

    def measure(self, clients, think_s=THINK_S, seconds=SECONDS):
        """The recording, how many reads a second there were, and their 99th percentile in seconds."""
        commands = []
        for _ in range(clients):
            commands.append(f'{harness.PYTHON} -I -S -c "$0" {self.data} {self.first} {slow.PIECE} {slow.STRIDE} '
                            f"{think_s} {seconds} &")
            self.first += self.APART
        recording = self.path(f"{clients}-{think_s}.rec")
        done = harness.record(recording, ["sh", "-c", " ".join(commands) + " wait", CLIENT], "-i", "0.5")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        read = harness.report(recording).volume(self.mount)["read"]
        return recording, read["ops"] / seconds, read["latency_ns"]["p99"] / 1e9

    def predict(self, recording, platform, factors):
        text = harness.must([harness.unblend(), "report", "--format", "json", "--platform", platform, "--what-if",
                             ",".join(f"{factor}x" for factor in factors), recording])
        return json.loads(text)["cluster"]["capacity"]["scenarios"]

    def test_from_one_and_two_to_four_and_eight(self):
        _, limit, _ = self.measure(1, think_s=0, seconds=3)
        platform = self.path("platform.json")
        with open(platform, "w", encoding="utf-8") as file:
            json.dump({"schema": "unblend.platform/1", "name": "one at a time", "read_iops": limit,
                       "latency_us": 1e6 / limit}, file)
        seen = {clients: self.measure(clients) for clients in (1, 2, 4, 8)}
        for few in (1, 2):
            for many, said in zip((4, 8), self.predict(seen[few][0], platform, (4 // few, 8 // few))):
                with self.subTest(few=few, many=many):
                    _, rate, p99 = seen[many]
                    self.assertAlmostEqual(rate, said["ops_s"], delta=0.15 * rate)
                    self.assertAlmostEqual(p99, said["latency_p99_ns"] / 1e9, delta=0.30 * p99)
                    self.assertEqual(many > 2 * few, said["beyond_twice_seen"])
                    self.assertTrue(said["beyond_80_percent"])


if __name__ == "__main__":
    harness.main()
