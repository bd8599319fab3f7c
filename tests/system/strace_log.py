# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a log of `strace -f -yy -s 0 -e abbrev='!STATS' -o LOG`: one Call for each call that returned."""
import collections
import re

# Of these the structures must stand in the log in full: they say which device a file is on.
STATS = "fstat,newfstatat,statx,stat,lstat"
FLAGS = ["-f", "-yy", "-s", "0", "-e", f"abbrev=!{STATS}"]

Call = collections.namedtuple("Call", "pid name args result annotation error")

LINE = re.compile(r"(\d+) +(.*)")
RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
UNFINISHED = " <unfinished ...>"
NAME = re.compile(r"(\w+)\(")
RESULT = re.compile(r" *= (-?\d+|0x[0-9a-f]+)(?:<(.*?)>(?:\(deleted\))?)?(?: ([A-Z]+) \(.*\))?"
                    r"(?: \(.*\))?$")
# What may hold commas and brackets that part nothing: strings, and what a descriptor stands for. In
# both strace writes quotes and angle brackets of names as escapes.
OPAQUE = r'"(?:[^"\\]|\\.)*"|(?<=[\dD])<(?!<)(?:->|[^<>]|<[^<>]*>)*>'
TOKEN = re.compile(OPAQUE + r'|[\[\](){},]')
ESCAPE = re.compile(r'\\([0-7]{1,3}|x[0-9a-f]{2}|.)')
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}


def unescape(text):
    def one(match):
        code = match.group(1)
        if code[0] in "01234567":
            return chr(int(code, 8))
        if code[0] == "x" and len(code) == 3:
            return chr(int(code[1:], 16))
        return LETTERS.get(code, code)
    return ESCAPE.sub(one, text)


def split(text):
    """The arguments up to the bracket that closes the call, and what follows it; None: there is none."""
    args, depth, start = [], 0, 0
    for match in TOKEN.finditer(text):
        token = match.group()
        if token in "[({":
            depth += 1
        elif token == ")" and depth == 0:
            return args + [text[start:match.start()].strip()], text[match.end():]
        elif token in "])}":
            depth -= 1
        elif token == "," and depth == 0:
            args.append(text[start:match.start()].strip())
            start = match.end()
    return None


def whole_lines(lines):
    """(pid, text), with calls that others interrupted in the log put together at their return."""
    begun = {}
    for line in lines:
        match = LINE.match(line.rstrip("\n"))
        if not match:
            continue
        pid, text = int(match.group(1)), match.group(2)
        if text.endswith(UNFINISHED):
            begun[pid] = text[:-len(UNFINISHED)]
            continue
        resumed = RESUMED.match(text)
        if resumed:
            text = begun.pop(pid, resumed.group(1) + "(") + text[resumed.end():]
        yield pid, text


def calls(lines, wanted):
    """The calls whose names are wanted and that returned; '= ?' is no return."""
    for pid, text in whole_lines(lines):
        match = NAME.match(text)
        if not match or match.group(1) not in wanted:
            continue
        parts = split(text[match.end():])
        result = RESULT.match(parts[1]) if parts else None
        if not result:
            if parts and parts[1].strip().startswith("= ?"):
                continue
            raise ValueError(f"not understood: {text}")
        number, annotation, error = result.groups()
        yield Call(pid, match.group(1), parts[0], int(number, 0), annotation, error)
