# SPDX-License-Identifier: GPL-2.0-or-later
"""How good the answers are: windows of recordings, classified, against what each program is known to be.

The catalogue's bounds are no fit to recordings, but whoever set them has seen which of these programs fail: the scores
are those of a development set, and those of programs nobody has tried will be lower. What is fitted is how sure an
answer is (calibrated()), and that with all of a family's programs left out when they are judged.
"""
import bisect
import collections
import concurrent.futures
import datetime
import glob
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system"))
import harness  # noqa: E402

CLASSES = ("cv-training losf sample-read shard-streaming mmap-read ingest-scan preprocess stage-copy checkpoint "
           "model-load import-storm unknown").split()
PROVEN = 4  # independent programs
BINS = (0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001)
ROUNDS = 1000


class Answer:
    """One window of one recording."""

    def __init__(self, meta, seconds, profile, confidence, shares, evidence):
        self.program, self.truth, self.family, self.apart = (
            meta["program"], meta["truth"], meta["family"], meta["apart"])
        self.job = meta["name"]
        self.setting = (meta["volume"], "cold" if meta["cold"] else "warm", meta["workers"])
        self.seconds, self.profile, self.confidence, self.shares = seconds, profile, confidence, shares
        self.evidence = evidence

    @property
    def right(self):
        return self.profile == self.truth


def verdict(profiles):
    """(profile, confidence, shares, evidence) of a list of profiles: the largest mean of the shares of operations and
    bytes."""
    shares = {}
    for share in profiles:
        if share["kind"] == "pattern":
            known = [share[key] for key in ("share_ops", "share_bytes") if share[key] is not None]
            shares[share["profile"]] = (sum(known) / len(known), share["confidence"], share["evidence"])
    if not shares:
        return None
    best = max(shares, key=lambda name: shares[name][0])
    return best, shares[best][1], {name: value[0] for name, value in shares.items()}, shares[best][2]


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def verdict_on(report, mount):
    """Of the volume with that mount point, by volumes; None when nothing was done there."""
    for job in report.data["jobs"]:
        if any(mount in volume["mounts"] for volume in job["volumes"]):
            return verdict(job["profiles"])
    return None


def classify(recording, mount, *options):
    """What the report says of the data's volume."""
    return verdict_on(harness.report(recording, "--by", "volume", *options), mount)


def windows_of(path, lengths):
    """(length, options of the report) of a recording's windows of those lengths (None: the whole)."""
    span = harness.report(path).data["span"]
    start, end = instant(span["start"]), instant(span["end"])
    found = []
    for seconds in lengths:
        if seconds is None:
            found.append((None, ()))
            continue
        count = int((end - start).total_seconds() // seconds)
        edges = [start + datetime.timedelta(seconds=seconds * i) for i in range(count + 1)]
        found += [(seconds, ("--since", a.isoformat(), "--until", b.isoformat())) for a, b in zip(edges, edges[1:])]
    return found


def answers_in(directory, lengths):
    """Of all jobs, in windows of those lengths; those that were recorded together are in the same reports."""
    turns = turns_in(directory)
    windows = [(path, *window) for path, found in zip(turns, each(lambda path: windows_of(path, lengths), turns))
               for window in found]

    def judge(window):
        path, seconds, options = window
        report = harness.report(path, "--by", "volume", *options)
        verdicts = [(meta, verdict_on(report, meta["mount"])) for meta in turns[path]]
        return [Answer(meta, seconds, *said) for meta, said in verdicts if said]
    return [answer for found in each(judge, windows) for answer in found]


def each(function, items):
    """What it makes of each, in their order; it mostly waits for reports, one for each processor."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def jobs_in(directory):
    """What is known of each job that did not fail, its "recording" and a "name" of its own among that."""
    found = []
    for told in sorted(glob.glob(os.path.join(directory, "*.json"))):
        with open(told, encoding="utf-8") as file:
            meta = json.load(file)
        meta["recording"] = os.path.join(directory, meta["recording"])
        found.append({**meta, "name": os.path.basename(told).removesuffix(".json")})
    return found


def turns_in(directory):
    """{recording: its jobs}"""
    turns = collections.defaultdict(list)
    for meta in jobs_in(directory):
        turns[meta["recording"]].append(meta)
    return turns


def macro_f1(answers):
    scores = []
    for name in CLASSES:
        of = [a for a in answers if a.truth == name]
        said = [a for a in answers if a.profile == name]
        if of:
            right = sum(a.right for a in of)
            scores.append(2 * right / (len(of) + len(said)))
    return sum(scores) / len(scores) if scores else float("nan")


def recall(answers, name):
    of = [a for a in answers if a.truth == name]
    return sum(a.right for a in of) / len(of) if of else float("nan")


def by_program(answers):
    groups = collections.defaultdict(list)
    for answer in answers:
        groups[answer.program].append(answer)
    return groups


def interval(answers, figure):
    """95 % of the bootstrap over programs: windows of one program are no independent evidence."""
    groups, rng = list(by_program(answers).values()), random.Random(1)
    values = []
    for _ in range(ROUNDS):
        drawn = [a for _ in groups for a in rng.choice(groups)]
        value = figure(drawn)
        if value == value:
            values.append(value)
    values.sort()
    return (values[int(0.025 * len(values))], values[int(0.975 * len(values))]) if values else (float("nan"),) * 2


def isotonic(pairs):
    """The best rising step function from confidence to being right (pool adjacent violators)."""
    blocks = []
    for confidence, right, weight in sorted(pairs):
        blocks.append([right * weight, weight, confidence])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            top = blocks.pop()
            blocks[-1][0] += top[0]
            blocks[-1][1] += top[1]
            blocks[-1][2] = top[2]
    return [(top, hits / weight) for hits, weight, top in blocks]


def weighted(answers):
    """Each program counts once, however many windows it has."""
    return [(a.confidence, a.right, 1 / len(group)) for group in by_program(answers).values() for a in group]


def calibrated(answers):
    """The answers with the confidence that those of other families make of theirs."""
    found = []
    for family in {a.family for a in answers}:
        steps = isotonic(weighted([a for a in answers if a.family != family]))
        for answer in answers:
            if answer.family == family and steps:
                at = min(bisect.bisect_left([top for top, _ in steps], answer.confidence), len(steps) - 1)
                one = Answer.__new__(Answer)
                one.__dict__.update(answer.__dict__, confidence=steps[at][1])
                found.append(one)
    return found


def print_confusion(answers):
    width = max(map(len, CLASSES)) + 2
    short = [name[:8] for name in CLASSES]
    print(f"{'truth':{width}}" + "".join(f"{name:>9}" for name in short) + f"{'recall':>9}{'95 %':>14}  programs")
    for name in CLASSES:
        of = [a for a in answers if a.truth == name]
        if not of:
            continue
        said = collections.Counter(a.profile for a in of)
        low, high = interval(of, lambda drawn, name=name: recall(drawn, name))
        families = len({a.family for a in of})
        print(f"{name:{width}}" + "".join(f"{said[other] or '.':>9}" for other in CLASSES) +
              f"{recall(of, name):9.2f}{f'{low:.2f}-{high:.2f}':>14}  {families}"
              f"{'' if families >= PROVEN else ' (not proven)'}")


def in_bins(answers, value=lambda answer: answer.confidence):
    """(from, to, those between)"""
    for low, high in zip(BINS, BINS[1:]):
        yield low, min(high, 1), [answer for answer in answers if low <= value(answer) < high]


def print_reliability(answers):
    print(f"{'confidence':>12}{'answers':>9}{'programs':>10}{'mean':>7}{'right':>7}")
    for low, high, of in in_bins(answers):
        if of:
            print(f"{low:6.2f}-{high:4.2f}{len(of):10}{len(by_program(of)):10}"
                  f"{sum(a.confidence for a in of) / len(of):7.2f}{sum(a.right for a in of) / len(of):7.2f}")


def print_failures(answers):
    for name, of in sorted(by_program(answers).items()):
        wrong = [a for a in of if not a.right]
        if wrong:
            said = collections.Counter(a.profile for a in wrong)
            where = collections.Counter("/".join(map(str, a.setting)) for a in wrong)
            print(f"  {name} ({of[0].truth}): {len(wrong)} of {len(of)} wrong: " +
                  ", ".join(f"{other} {count}" for other, count in said.most_common()) +
                  "; " + " ".join(where))


def print_scores(title, answers):
    if not answers:
        return
    negatives = [a for a in answers if a.truth == "unknown"]
    programs = len(by_program(answers))
    low, high = interval(answers, macro_f1)
    print(f"\n{title}: {len(answers)} windows of {programs} programs\n")
    print_confusion(answers)
    print(f"\nmacro-F1 {macro_f1(answers):.3f} ({low:.3f} to {high:.3f})", end="")
    if negatives:
        low, high = interval(negatives, lambda drawn: recall(drawn, "unknown"))
        print(f"; unknown on negatives {recall(negatives, 'unknown'):.3f} ({low:.3f} to {high:.3f})", end="")
    print("\n")
    print_reliability(answers)
    print("\nthe same, calibrated on the other families:")
    print_reliability(calibrated(answers))
    print("\nwrong:")
    print_failures(answers)


def main(directory, lengths=(10, 60, None)):
    answers = answers_in(directory, lengths)
    for seconds in lengths:
        of = [a for a in answers if a.seconds == seconds]
        title = "the whole job" if seconds is None else f"windows of {seconds} s"
        print_scores(title, [a for a in of if not a.apart])
        print_scores(title + ", scored apart", [a for a in of if a.apart])
    return answers


if __name__ == "__main__":
    main(sys.argv[1])
