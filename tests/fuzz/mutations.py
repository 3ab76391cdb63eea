"""Small CSV and JSON-lines files, damaged at random, and what training on each gives.

    python tests/fuzz/mutations.py 100000

tries that many files and prints the counts. Every file ends in a model or in a refusal that names the file, and the
line where a row is at fault; anything else is a failure.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from bayesbox.classifier.train import source_of, train
from bayesbox.errors import BadRow, BayesboxError, DataWarning, KindContradiction
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.naive.classifier import NaiveClassifier

CSV = b'''age,car,"note, short",new,risk
25,sports,"says ""no""",true,low
20,vintage,,false,high
,suv,"two
lines",true,low
45.5,suv,x,false,high
1e3,sports,\xc3\xa9t\xc3\xa9,,low
-7,,y,true,high
'''
JSONL = b"""{"age": 25, "car": "sports", "note": "says \\"no\\"", "new": true, "risk": "low"}
{"age": 20.5, "car": "vintage", "new": false, "risk": "high"}
{"age": null, "car": "suv", "note": "\\u00e9t\\u00e9", "new": true, "risk": "low"}
{"car": "suv", "age": 1e3, "note": "", "new": null, "risk": "high"}
{"age": -7, "car": null, "note": "y", "new": true, "risk": "low"}
"""
KINDS = {"csv": CSV, "jsonl": JSONL}
TOKENS = [
    b",", b'"', b"\n", b"\r\n", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"nan", b"inf", b"1e999", b"-0", b"abc", b"{",
    b"}", b"[", b"]", b":", b"null", b"true", b"\\", b"\t", b";", b" ", b"9" * 400, b"risk", b'""', b"\\ud800", b"\x1b",
]  # fmt: skip


def damaged(original: bytes, chance: random.Random) -> bytes:
    """The text after one to four random changes."""
    text = bytearray(original)
    for _ in range(chance.choice([1, 1, 2, 4])):
        place = chance.randrange(len(text) + 1)
        change = chance.randrange(6)
        if change == 0 and place < len(text):
            text[place] ^= 1 << chance.randrange(8)
        elif change == 1:
            del text[place : place + chance.randrange(1, 12)]
        elif change == 2:
            text[place:place] = chance.choice(TOKENS)
        elif change == 3:
            length = chance.randrange(1, 40)
            text[place:place] = text[chance.randrange(len(text) + 1) :][:length]
        elif change == 4:
            text[place:place] = chance.randbytes(chance.randrange(1, 6))
        else:
            del text[place:]
        if not text:
            break
    return bytes(text)


def outcome(path: Path) -> str:
    """What training on a file gives: `a model`, or the name of the refusal; raises where it is neither."""
    classifier = NaiveClassifier(NaiveOptions())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            train(classifier, source_of(str(path), "risk"), "risk")
    except BayesboxError as error:
        message = str(error)
        if error.exit_code != 3 or path.name not in message:
            raise AssertionError(f"no proper refusal: {message}") from error
        of_a_row = isinstance(error, (BadRow, KindContradiction)) and not re.search("header|UTF-16", message)
        if of_a_row and not re.search(r"\b(line|row) \d+", message):
            raise AssertionError(f"a refusal without its line: {message}") from error
        return type(error).__name__
    assert len(classifier.book.digest()) == 64
    return "a model"


def try_many(count: int, *, seed: int, folder: Path) -> Counter[str]:
    """How often each outcome came up over `count` damaged files."""
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    for _ in range(count):
        kind = chance.choice(sorted(KINDS))
        text = damaged(KINDS[kind], chance)
        path = folder / f"damaged.{kind}"
        path.write_bytes(text)
        try:
            found[f"{kind}: {outcome(path)}"] += 1
        except Exception as error:
            raise AssertionError(f"{kind} file {text!r} gave {type(error).__name__}: {error}") from error
    return found


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        found = try_many(count, seed=0, folder=Path(folder))
    for name, times in sorted(found.items()):
        print(f"{times:8,}  {name}")
    print(f"{sum(found.values()):8,}  files tried, each ended in a model or in a refusal")


if __name__ == "__main__":
    main()
