"""Documents against scikit-learn's CountVectorizer with its naive Bayes models: from texts to probabilities."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import bayesbox as bb
import harness

WORDS = 200_000
PEERS = {"count": MultinomialNB, "binary": BernoulliNB}
REAL = {  # the files of a folder of real texts that are measured as well
    "20 newsgroups": "20news_bydate_train.parquet",
    "film reviews": "movie_reviews.parquet",
}


def synthetic(documents: int, *, seed: int = 0) -> tuple[list[str], list[str]]:
    """Documents of two classes, a hundred words each on average; few words make up most of them, as in English."""
    random = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwyp"))
    lengths = random.integers(3, 11, WORDS)
    words = np.array(["".join(random.choice(letters, length)) for length in lengths], dtype=object)
    labels = random.integers(0, 2, documents)
    texts = []
    for label in labels:
        ranks = np.minimum(random.zipf(1.2, random.integers(20, 180)), WORDS) - 1
        shifted = np.where(ranks % 7 == 0, (ranks + int(label)) % WORDS, ranks)
        texts.append(" ".join(words[shifted]).capitalize() + ".")
    return texts, [("ham", "spam")[label] for label in labels]


def real(folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """The real texts that are there, with their labels."""
    found = {}
    for name, file in REAL.items():
        if (folder / file).exists():
            table = pyarrow.parquet.read_table(folder / file, columns=["text", "label"])
            found[name] = (table["text"].to_pylist(), [str(label) for label in table["label"].to_pylist()])
    return found


def run(session: harness.Session) -> None:
    corpora = {"two classes": synthetic(20_000 if session.quick else 100_000)}
    if session.data is not None:
        corpora |= real(session.data / "text")
    for corpus, (texts, labels) in corpora.items():
        column = pa.array(texts, pa.large_string())
        megabytes = column.nbytes / 1e6
        for occurrence, peer in PEERS.items():
            compare(session, f"{corpus}, {megabytes:.0f} MB, {occurrence}", column, texts, labels, occurrence, peer)
    for corpus, (texts, labels) in {"52 classes": many_classes(), **corpora}.items():
        if corpus != "two classes":
            chosen(session, corpus, pa.array(texts, pa.large_string()), labels)


def many_classes(*, seed: int = 0) -> tuple[list[str], list[str]]:
    """Short documents of 52 classes, most of them in a few, as news agencies have."""
    random = np.random.default_rng(seed)
    common = 1 / np.arange(1, 20_001)
    texts, labels = [], []
    for label, size in enumerate((4000 / np.arange(1, 53) ** 1.2).astype(int) + 3):
        share = common * np.exp(random.normal(0, 1.2, len(common)))
        words = random.choice(len(common), size=(int(size), 85), p=share / share.sum())
        texts += [" ".join(f"w{word}" for word in row[: 20 + 65 * (place % 2)]) for place, row in enumerate(words)]
        labels += [f"c{label}"] * int(size)
    return texts, labels


def chosen(session: harness.Session, corpus: str, column: pa.Array, labels: list[str]) -> None:
    """What it takes to choose and calibrate the model, over the plain model."""

    def fit(**options: object) -> float:
        start = time.process_time()
        bb.TextClassifier(**options).fit(column, labels).predict(column[:1])
        return time.process_time() - start

    for phrases in ((1, 1), (1, 2)):
        pairs = [
            (fit(phrases=phrases, occurrence="auto", calibration="temperature"), fit(phrases=phrases))
            for _ in range(3 if session.quick else 5)
        ]
        ratio = statistics.median(auto / plain for auto, plain in pairs)
        name = f"fit, {corpus}, phrases {phrases[0]}-{phrases[1]}, auto with temperature over the plain model"
        session.amount(name, ratio, 5, "{:.1f}x".format)


def compare(session, work, column, texts, labels, occurrence, peer) -> None:
    def learn():
        ours = bb.TextClassifier(occurrence=occurrence).fit(column, labels)
        ours.predict(column[:1])  # the weights are made when they are first needed
        return ours

    ours = learn()
    theirs = make_pipeline(CountVectorizer(), peer()).fit(texts, labels)
    harness.require_equal(ours.predict_proba(column[:2000]), theirs.predict_proba(texts[:2000]), what=work)
    name = f"sklearn {peer.__name__}"
    rounds = 1 if session.quick else 3
    session.compare(
        f"fit, {work}",
        learn,
        name,
        lambda: make_pipeline(CountVectorizer(), peer()).fit(texts, labels),
        10,
        rounds,
    )
    session.compare(
        f"predict_proba, {work}",
        lambda: ours.predict_proba(column),
        name,
        lambda: theirs.predict_proba(texts),
        10,
        rounds,
    )


if __name__ == "__main__":
    harness.main(run)
