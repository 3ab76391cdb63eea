"""The nesting depth of JSON lines, checked before parsing.

A recursive parser overflows the stack on a line with some ten thousand brackets and crashes the process. Brackets
inside strings do not count.
"""

from __future__ import annotations

import itertools
import json
import re

import numpy as np

MOST_DEPTH = 128  # levels of lists and objects in a line

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_TOKEN = re.compile(rb'("(?:[^"\\]|\\.)*+"?)(\s*:)?|([\[{])|([\]}])', re.DOTALL)
_STEP = np.zeros(256, dtype=np.int8)
_STEP[[ord("["), ord("{")]] = 1
_STEP[[ord("]"), ord("}")]] = -1


def is_deep(line: bytes) -> bool:
    """Whether a line has more than `MOST_DEPTH` nested lists and objects.

    >>> is_deep(b'{"x": ' + b"[" * 127 + b"]" * 127 + b"}"), is_deep(b'{"x": ' + b"[" * 128), is_deep(b'"' + b"[" * 500)
    (False, True, False)
    """
    if line.count(b"[") + line.count(b"{") <= MOST_DEPTH:
        return False
    steps = _STEP[np.frombuffer(_STRING.sub(b"", line), dtype=np.uint8)]
    return bool(np.cumsum(steps, dtype=np.int64).max(initial=0) > MOST_DEPTH)


def has_deep_list(block: bytes, newline: bytes) -> bool:
    """Whether a line of a block is nested too deeply, for lines that are flat objects.

    Such a line has at least `MOST_DEPTH` opening brackets, so it contains two consecutive ones of every this many.
    """
    if b"[" not in block:
        return False
    opening = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("["))
    end = 0  # the end of the last line checked
    for here, there in itertools.pairwise(opening[:: max(MOST_DEPTH // 2, 1)].tolist()):
        if there >= end and block.find(newline, here, there) < 0:
            start, end = block.rfind(newline, 0, here) + 1, block.find(newline, there)
            end = end if end >= 0 else len(block)
            if is_deep(block[start:end]):
                return True
    return False


def deep_key(line: bytes) -> str | None:
    """The key of the line's object whose value is nested too deeply; None if there is none.

    >>> deep_key(b'{"a": 1, "b": {"c": ' + b"[" * 500)
    'b'
    """
    depth, key = 0, None
    for text, colon, opening, closing in _TOKEN.findall(line):
        if text and colon and depth == 1:
            key = text
        depth += bool(opening) - bool(closing)
        if depth > MOST_DEPTH:
            break
    try:
        return None if key is None else str(json.loads(key))
    except ValueError:
        return None
