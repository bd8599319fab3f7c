# SPDX-License-Identifier: GPL-2.0-or-later
"""How sure answers are, fitted: the parameters of analyzer/confidence.c, and how well they do on programs left out.

Logistic regressions by Newton's method. A family's programs are judged by what was fitted without them, and without
every blend they are in; of a blend, which has several families, the mean of these.
"""
import collections
import math
import os
import re

import blends
import score

SHARE_MIN, TRACE, RESIDUAL_P, RIDGE, ROUNDS = 0.01, 0.02, 0.05, 1e-3, 50
FAMILIES = {}


class Part:
    """One profile that was named: what its confidence depends on, and whether it was right."""

    def __init__(self, features, right, programs, weight, said):
        self.features, self.right, self.weight, self.said = [1.0, *features], float(right), weight, said
        self.families = {FAMILIES[name] for name in programs}
        self.confidence = said


def solve(matrix, vector):
    """Gauss and Jordan, with pivots."""
    rows = [row + [value] for row, value in zip(matrix, vector)]
    for i in range(len(rows)):
        best = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k, row in enumerate(rows):
            if k != i:
                rows[k] = [a - row[i] * b for a, b in zip(row, rows[i])]
    return [row[-1] for row in rows]


def chance(beta, features):
    return 1 / (1 + math.exp(-sum(b * x for b, x in zip(beta, features))))


def fit(parts):
    size = len(parts[0].features)
    beta = [0.0] * size
    for _ in range(ROUNDS):
        slope = [-RIDGE * b for b in beta]
        curve = [[RIDGE * (i == k) for k in range(size)] for i in range(size)]
        for part in parts:
            p = chance(beta, part.features)
            for i, x in enumerate(part.features):
                slope[i] += part.weight * (part.right - p) * x
                for k, y in enumerate(part.features):
                    curve[i][k] += part.weight * p * (1 - p) * x * y
        step = solve(curve, slope)
        beta = [b + s for b, s in zip(beta, step)]
        if max(map(abs, step)) < 1e-6:
            break
    return beta


def leave_out(parts):
    for part in parts:
        part.confidence = []
    for family in set().union(*(part.families for part in parts)):
        beta = fit([part for part in parts if family not in part.families])
        for part in parts:
            if family in part.families:
                part.confidence.append(chance(beta, part.features))
    for part in parts:
        part.confidence = sum(part.confidence) / len(part.confidence)


def parts_of(outcomes):
    """Of blends: those with names, and those that are unknown."""
    known, unknown = [], []
    for one in outcomes:
        left = [p["residual_p"] for p in one.profiles if p["residual_p"] is not None]
        for profile in one.profiles:
            share = max(profile["share_ops"], profile["share_bytes"] or 0)
            is_unknown = profile["profile"] == "unknown"
            features = [math.log(max(share, SHARE_MIN)), float(bool(left) and left[0] < RESIDUAL_P)]
            if share >= TRACE:
                (unknown if is_unknown else known).append(
                    Part(features, profile["profile"] in one.truth, [s.program for s in one.blend], 1,
                         profile["confidence"]))
    return known, unknown


def matches_of(directory):
    """Of processes that were named; a program weighs as much as another, however many windows it has."""
    found, groups = [], collections.defaultdict(list)
    for answer in score.answers_in(directory, (None, 2)):
        groups[answer.job, answer.seconds].append(answer)
    for answers in groups.values():
        of = [(answer, re.search(r"agrees with the signature to (\d+) %", " ".join(answer.evidence)))
              for answer in answers if answer.profile != "unknown"]
        found += [Part([int(match[1]) / 100], answer.right, [answer.program], 1 / len(of), answer.confidence)
                  for answer, match in of if match]
    return found


def print_table(title, parts):
    leave_out(parts)
    print(f"\n{title}: {len(parts)} answers; parameters " + " ".join(f"{b:.2f}" for b in fit(parts)))
    for of, value in (("as said", lambda part: part.said), ("fitted without them", lambda part: part.confidence)):
        print(f"  {of:>20}  answers   mean  right")
        for low, high, inside in score.in_bins(parts, value):
            if inside:
                print(f"  {low:15.2f}-{high:4.2f}{len(inside):9}{sum(map(value, inside)) / len(inside):7.2f}"
                      f"{sum(part.right for part in inside) / len(inside):7.2f}")


def main(directories):
    """All of them together; each has its own blends."""
    known, unknown, matches = [], [], []
    for directory in directories:
        recordings = os.path.join(directory, "recordings")
        for meta in score.jobs_in(recordings):
            FAMILIES[meta["program"]] = meta["family"]
        of = parts_of(blends.main(directory))
        known += of[0]
        unknown += of[1]
        matches += matches_of(recordings)
    print_table("processes", matches)
    print_table("parts of sums", known)
    print_table("what is unknown in sums", unknown)
