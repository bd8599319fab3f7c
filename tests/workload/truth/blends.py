# SPDX-License-Identifier: GPL-2.0-or-later
"""Blends of recordings whose processes cannot be told apart, unmixed, against what each of them did.

The sums are what a storage node, or an agent that ships without processes, would have: every record of a program's
volume, without its process, in one volume. A blend is sums of programs of different profiles; its truth are their
operations and bytes, counted.
"""
import collections
import hashlib
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system"))
import harness  # noqa: E402
import score  # noqa: E402

VOLUME = {"volume": "blend", "source": "blend", "fstype": "ext4", "scope": "shared", "mounts": ["/blend"]}
JOB = {"job": "blend", "kind": "env", "user": "root", "command": "blend", "labels": {}, "start_ns": 1, "end_ns": None,
       "exit": None}
# What the catalogue tells by processes only: in a sum, ranks that load weights are streams, packers read and write.
BY_PROCESS = ("model-load", "preprocess")
NEAR = 0.05   # a share this near is right
TRACE = 0.02  # of the operations or the bytes: a component that is to be found
SEED = 1
SECOND = 10**9
START = 1767225600 * SECOND  # of all sums: 2026-01-01


class Sum:
    """What a program did to its volume, without processes."""

    def __init__(self, path, program, truth, ops, size):
        self.path, self.program, self.truth, self.ops, self.bytes = path, program, truth, ops, size


def batches_of(batch, mount):
    """A batch's records on that mount; a series that processes shared comes in batches of its own."""
    series = collections.defaultdict(list)
    for record in batch["records"]:
        if mount in batch["volumes"][record["volume"]]["mounts"] and not record["op"].startswith("block_"):
            one = {**record, "job": 0, "volume": 0}
            one.pop("process", None)
            series[one["op"]].append(one)
    batch = {key: value for key, value in batch.items() if key not in ("flows", "slot_ms")}
    for at in range(max(map(len, series.values()), default=0)):
        yield {**batch, "processes": [], "jobs": [JOB], "volumes": [VOLUME], "storage": [],
               "records": [same[at] for same in series.values() if at < len(same)]}


def together(batches):
    """They begin where all sums begin, to the second: programs that are blended run at the same time."""
    late = min(batch["start_ns"] for batch in batches) // SECOND * SECOND - START
    return [{**batch, "start_ns": batch["start_ns"] - late} for batch in batches]


def sum_of(batches, meta, into):
    """The sum of what a job did."""
    of_job = together([one for batch in batches for one in batches_of(batch, meta["mount"])])
    target = os.path.join(into, meta["name"] + ".rec")
    stream = hashlib.md5(meta["name"].encode()).hexdigest()  # of its own: who recorded it, did others with it
    lines = [json.dumps({**one, "stream": stream, "seq": number + 1}) for number, one in enumerate(of_job)]
    subprocess.run([os.path.join(harness.bindir(), "tests/system/json_recording"), target], check=True, text=True,
                   input="\n".join(lines) + "\n")
    ops = only(harness.report(target, "--by", "volume").data)["ops"]
    return Sum(target, meta["program"], meta["truth"], sum(one["ops"] for one in ops.values()),
               sum(one["bytes"] for one in ops.values()))


def sums_of(directory, into):
    """The sums of all jobs that are not scored apart, by program."""
    def of_turn(turn):
        batches = harness.batches(turn[0])
        return [sum_of(batches, meta, into) for meta in turn[1] if not meta["apart"]]
    sums = [one for of in score.each(of_turn, score.turns_in(directory).items()) for one in of]
    return sorted(sums, key=lambda one: one.path)


def only(report):
    return [job for job in report["jobs"] if any(volume["volume"] == "blend" for volume in job["volumes"])][0]


def can_tell(one):
    return one.truth not in BY_PROCESS and one.truth != "unknown"


def draw(sums, parts, count):
    """Blends of so many profiles each."""
    rng, blends = random.Random(SEED + parts), []
    truths = sorted({one.truth for one in sums})
    while len(blends) < count:
        blends.append([rng.choice([one for one in sums if one.truth == truth]) for truth in rng.sample(truths, parts)])
    return blends


def shares_of(blend):
    """{profile: (share of the operations, of the bytes)}, as it is."""
    ops, size, truth = sum(one.ops for one in blend), sum(one.bytes for one in blend), {}
    for one in blend:
        a, b = truth.get(one.truth, (0, 0))
        truth[one.truth] = (a + one.ops / ops, b + (one.bytes / size if size else 0))
    return truth


class Outcome:
    """A blend, its truth and what the report said of it."""

    def __init__(self, blend):
        self.blend, self.truth = blend, shares_of(blend)
        job = only(harness.report(blend[0].path, "--by", "volume", *(one.path for one in blend[1:])).data)
        self.profiles = [one for one in job["profiles"] if one["kind"] == "pattern"]
        self.said = {one["profile"]: (one["share_ops"], one["share_bytes"] or 0) for one in self.profiles}

    def errors(self):
        """Of each profile's shares."""
        names = set(self.truth) | set(self.said)
        return {name: tuple(abs(a - b) for a, b in zip(self.truth.get(name, (0, 0)), self.said.get(name, (0, 0))))
                for name in names}

    @property
    def error(self):
        return max(max(pair) for pair in self.errors().values())


def show(outcome):
    shares = lambda of: ", ".join(f"{name} {100 * a:.0f}/{100 * b:.0f}"  # noqa: E731
                                  for name, (a, b) in sorted(of.items()) if max(a, b) >= 0.005)
    print(f"  {outcome.error:.2f}  {' + '.join(one.program for one in outcome.blend)}\n"
          f"        is   {shares(outcome.truth)}\n        said {shares(outcome.said)}")


def intervals_of(profile):
    for bytes_too, key in enumerate(("share_ops_interval", "share_bytes_interval")):
        if profile[key]:
            yield bytes_too, profile[key]


def print_residual(outcomes):
    """How often more is left over than chance explains, where something unknown is in it and where nothing is."""
    for title, of in (("with", [one for one in outcomes if "unknown" in one.truth]),
                      ("without", [one for one in outcomes if "unknown" not in one.truth])):
        if of:
            left = sum(one["residual_p"] is not None and one["residual_p"] < 0.05 for outcome in of
                       for one in outcome.profiles if one["profile"] == "unknown")
            print(f"  more left over than chance (p < 0.05), {title} unknown programs: {left} of {len(of)}")


def print_told(outcomes):
    """Of sums of one program, how many are right of those that sums can tell at all."""
    told = [one for one in outcomes if can_tell(one.blend[0])]
    print(f"  of those that sums can tell: {sum(one.error <= NEAR for one in told)} of {len(told)}")


def print_shares(title, outcomes, verbose):
    near = sum(one.error <= NEAR for one in outcomes)
    parts = [(name, *pair) for one in outcomes for name, pair in one.truth.items()]
    close = sum(max(pair) <= NEAR for one in outcomes for name, pair in one.errors().items() if name in one.truth)
    traces = [(one, name) for one in outcomes for name, pair in one.truth.items()
              if name != "unknown" and TRACE <= max(pair)]
    found = sum(max(one.said.get(name, (0, 0))) >= TRACE / 2 for one, name in traces)
    print(f"\n{title}: {len(outcomes)}; all shares within {NEAR} in {near} ({near / len(outcomes):.2f}), "
          f"of components {close} of {len(parts)} ({close / len(parts):.2f}); mean error of the worst share "
          f"{sum(one.error for one in outcomes) / len(outcomes):.3f}; components of {TRACE} and more found: "
          f"{found} of {len(traces)} ({found / max(1, len(traces)):.2f})")
    inside = [low <= outcome.truth.get(one["profile"], (0, 0))[bytes_too] <= high
              for outcome in outcomes for one in outcome.profiles
              for bytes_too, (low, high) in intervals_of(one) if one["profile"] in outcome.truth]
    if inside:
        print(f"  intervals: the truth is in {sum(inside)} of {len(inside)} ({sum(inside) / len(inside):.2f}) of "
              "components that were found")
    print_residual(outcomes)
    if all(len(one.blend) == 1 for one in outcomes):
        print_told(outcomes)
    if verbose:
        for one in sorted(outcomes, key=lambda one: -one.error):
            if one.error > NEAR:
                show(one)


def main(directory, count=100, verbose=False):
    into = os.path.join(directory, "sums")
    os.makedirs(into, exist_ok=True)
    sums = sums_of(os.path.join(directory, "recordings"), into)
    told = list(filter(can_tell, sums))
    kinds = (("sums of one program", [[one] for one in sums]),
             ("blends of two that sums can tell", draw(told, 2, count)),
             ("blends of three that sums can tell", draw(told, 3, count)),
             ("blends of three of all programs, those that are unknown among them", draw(sums, 3, count)))
    every = []
    for title, blends in kinds:
        outcomes = score.each(Outcome, blends)
        print_shares(title, outcomes, verbose)
        every += outcomes
    return every
