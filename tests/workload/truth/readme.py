# SPDX-License-Identifier: GPL-2.0-or-later
"""The README's tables of how often answers are right, in Markdown."""
import collections

import score

LENGTHS = (10, 60, None)
TITLES = {10: "windows of 10 s", 60: "windows of 60 s", None: "whole jobs"}
SHORT = {"cv-training": "cv", "sample-read": "sample", "shard-streaming": "shard", "mmap-read": "mmap", "ingest-scan": "scan",
         "preprocess": "prep", "stage-copy": "copy", "checkpoint": "ckpt", "model-load": "load", "import-storm": "import",
         "unknown": "unk."}


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def head(*cells):
    row(*cells)
    print("|" + "---|" * len(cells))


def families(answers):
    return len({answer.family for answer in answers})


def figure_of(answers, figure):
    low, high = score.interval(answers, figure)
    return f"{figure(answers):.2f} ({low:.2f}-{high:.2f}) of {len(answers)}"


def print_recall(spans):
    head("recall (95 %) of answers", "families", *(TITLES[seconds] for seconds in LENGTHS))
    for name in score.CLASSES:
        of = [[a for a in span if a.truth == name] for span in spans]
        if of[0]:
            row(name, families(of[0]), *(figure_of(answers, lambda drawn: score.recall(drawn, name)) for answers in of))
    row("all: macro-F1", families(spans[0]), *(figure_of(span, score.macro_f1) for span in spans))


def print_confusion(answers):
    head("truth", *(SHORT.get(name, name) for name in score.CLASSES))
    for name in score.CLASSES:
        said = collections.Counter(a.profile for a in answers if a.truth == name)
        if said:
            row(name, *(said[other] or "." for other in score.CLASSES))


def print_confidence(spans):
    head("confidence", *(title for seconds in LENGTHS for title in (TITLES[seconds].split()[-1] if seconds is None else
                                                                    f"{seconds} s", "mean", "right")))
    for bins in zip(*(score.in_bins(span) for span in spans)):
        cells = []
        for _, _, of in bins:
            cells += [len(of), f"{sum(a.confidence for a in of) / len(of):.2f}",
                      f"{sum(a.right for a in of) / len(of):.2f}"] if of else [".", ".", "."]
        row("{:.2f}-{:.2f}".format(*bins[0][:2]), *cells)


def main(directory):
    answers = [a for a in score.answers_in(directory, LENGTHS) if not a.apart]
    spans = [[a for a in answers if a.seconds == seconds] for seconds in LENGTHS]
    print_recall(spans)
    print()
    print_confusion(spans[1])
    print()
    print_confidence(spans)
