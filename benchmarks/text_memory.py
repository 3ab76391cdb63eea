"""The memory of a large vocabulary: documents whose every word is new, streamed in; and the same under a limit.

Each case runs in a process of its own. Stated are the memory while documents are counted, that of the tallies, and that
with the weights which predictions need.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import harness
from bayesbox.classifier.train import train
from bayesbox.schema.tokens import Tokens
from bayesbox.source.base import Batch, Source
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.options import TextOptions
from memory import status

WORDS, QUICK_WORDS = 10_000_000, 500_000
A_DOCUMENT = 100  # words
A_BATCH = 2_000  # documents
LIMIT_SHARE = 20  # the limit is the number of words by this


class Stream(Source):
    """Documents of two classes, in batches; no word occurs twice."""

    name = "stream"

    def __init__(self, words: int) -> None:
        self.words = words

    def batches(self) -> Iterator[Batch]:
        for first in range(0, self.words, A_DOCUMENT * A_BATCH):
            starts = range(first, min(first + A_DOCUMENT * A_BATCH, self.words), A_DOCUMENT)
            texts = [" ".join(f"w{start + k:09x}" for k in range(A_DOCUMENT)) for start in starts]
            labels = np.array(["ham", "spam"])[np.arange(len(texts)) % 2]
            yield Batch(("label", "text"), (labels, np.array(texts, dtype=object)), len(texts), first // A_DOCUMENT)


def memory_of(words: int, limit: int | None) -> tuple[int, float, float, float]:
    """(words kept; MB: the peak of training, the tallies, the tallies with the weights)."""
    warnings.simplefilter("ignore")
    train(DocumentClassifier(TextOptions(), Tokens()), Stream(1000), "label")
    gc.collect()
    before = status("VmRSS")
    classifier = DocumentClassifier(TextOptions(limit=limit), Tokens())
    train(classifier, Stream(words), "label")
    peak = status("VmHWM") - before
    gc.collect()
    tallies = status("VmRSS") - before
    classifier.predict(Batch(("text",), (np.array(["w1"], dtype=object),), 1))
    return len(classifier.words), peak, tallies, status("VmRSS") - before


def in_a_child(*arguments: Any) -> list[float]:
    command = [sys.executable, __file__, "--case", *map(str, arguments)]
    return [float(each) for each in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


def run(session: harness.Session) -> None:
    words = QUICK_WORDS if session.quick else WORDS
    for limit in (0, words // LIMIT_SHARE):
        kept, peak, tallies, weights = in_a_child(words, limit)
        how = f"{words:,} distinct words" + (f", limit {limit:,}" if limit else "")
        session.say(
            f"{how}: {kept:,.0f} kept; {harness.megabytes(peak)} at most while they are counted, "
            f"{harness.megabytes(tallies)} as tallies, {harness.megabytes(weights)} with the weights"
        )


if __name__ == "__main__":
    if "--case" in sys.argv:
        words, limit = (int(each) for each in sys.argv[sys.argv.index("--case") + 1 :])
        print(*memory_of(words, limit or None))
    else:
        harness.main(run)
