"""Accuracy and log loss on real documents, against scikit-learn's models of text; needs --data.

Ours model by model as scikit-learn has them, with the model chosen (`occurrence="auto"`), and with the words that the
page about text names as the best; the latter two also with the strength of words calibrated on the training documents,
and all as `bayes train --model text` chooses it. With the CPU time of the choice against the plain model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.csv
import pyarrow.parquet
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import bayesbox as bb
import harness

AUTO: dict[str, Any] = {"occurrence": "auto"}
BEST: dict[str, Any] = {"occurrence": "auto", "punctuation": True, "shortest": 1, "phrases": (1, 2)}
CALIBRATED: dict[str, Any] = {"calibration": "temperature"}
COMMAND: dict[str, Any] = {"occurrence": "auto", "phrases": "auto", "calibration": "auto"}
OURS: dict[str, dict[str, Any]] = {
    "count, the default": {},
    "binary": {"occurrence": "binary"},
    "complement": {"occurrence": "complement"},
    "count, calibrated": CALIBRATED,
    "auto": AUTO,
    "auto, calibrated": {**AUTO, **CALIBRATED},
    "as the command": COMMAND,
    "best": BEST,
    "best, calibrated": {**BEST, **CALIBRATED},
}
SAME = {  # models that both have, by name
    "count, the default": "counts, MultinomialNB",
    "binary": "presence, BernoulliNB",
    "complement": "counts, ComplementNB",
}
PEERS = {
    "counts, MultinomialNB": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
    "presence, BernoulliNB": lambda: make_pipeline(CountVectorizer(binary=True), BernoulliNB()),
    "counts, ComplementNB": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
    "tf-idf, ComplementNB": lambda: make_pipeline(TfidfVectorizer(), ComplementNB()),
    "tf-idf, LogisticRegression": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)),
}


class Split(NamedTuple):
    """Documents to learn and documents to judge."""

    texts: list[str]
    labels: list[str]
    asked: list[str]
    truth: list[str]


def splits(folder: Path) -> Iterator[tuple[str, list[Split]]]:
    """The corpora that are there, by the split that belongs to each, else by five folds."""
    sms, news, films, questions = (
        folder / name
        for name in ("sms_spam.csv", "20news_bydate_train.parquet", "movie_reviews.parquet", "trec_questions.parquet")
    )
    if sms.exists():
        table = pyarrow.csv.read_csv(sms).to_pydict()
        yield "sms spam, 5 folds", by_fold(table, fold_numbers(table["label"]))
    if films.exists():
        table = pyarrow.parquet.read_table(films).to_pydict()
        yield "film reviews, its folds", by_fold(table, table["fold"])
    if questions.exists():
        table = pyarrow.parquet.read_table(questions).to_pydict()
        yield "TREC questions", by_fold(table, [int(split == "test") for split in table["split"]])[1:]
    if news.exists():
        train, test = (
            pyarrow.parquet.read_table(folder / f"20news_bydate_{part}.parquet").to_pydict()
            for part in ("train", "test")
        )
        labels, truth = ([str(label) for label in part["label"]] for part in (train, test))
        yield "20 newsgroups by date", [Split(train["text"], labels, test["text"], truth)]


def fold_numbers(labels: list[str]) -> list[int]:
    numbers = np.zeros(len(labels), dtype=int)
    for number, (_, rows) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels)):
        numbers[rows] = number
    return numbers.tolist()


def by_fold(table: dict[str, list[Any]], folds: list[Any]) -> list[Split]:
    found = []
    for number in sorted(set(folds)):
        inside = [row for row, fold in enumerate(folds) if fold == number]
        outside = [row for row, fold in enumerate(folds) if fold != number]
        columns = [[str(table[name][row]) for row in rows] for rows in (outside, inside) for name in ("text", "label")]
        found.append(Split(*columns))
    return found


def judged(make: Any, parts: list[Split]) -> tuple[float, float]:
    """Mean accuracy and mean log loss over the splits."""
    scores = []
    for part in parts:
        model = make().fit(part.texts, part.labels)
        shares = model.predict_proba(part.asked)
        right = model.classes_[shares.argmax(axis=1)] == np.array(part.truth)
        shares = np.clip(shares, 1e-300, 1)
        scores.append(
            (right.mean(), log_loss(part.truth, shares / shares.sum(axis=1, keepdims=True), labels=model.classes_))
        )
    accuracy, loss = np.mean(scores, axis=0)
    return float(accuracy), float(loss)


def difference(mine: Any, theirs: Any, parts: list[Split]) -> float:
    """The largest difference of two models in the probability of any class of any document."""
    return max(
        float(
            np.abs(
                mine().fit(*part[:2]).predict_proba(part.asked) - theirs().fit(*part[:2]).predict_proba(part.asked)
            ).max()
        )
        for part in parts
    )


def run(session: harness.Session) -> None:
    if session.data is None:
        session.say("accuracy on real documents needs --data")
        return
    for corpus, parts in splits(session.data / "text"):
        parts = parts[:1] if session.quick else parts
        peers = {name: judged(make, parts) for name, make in PEERS.items()}
        for name, (accuracy, loss) in peers.items():
            session.say(f"{corpus}: {name}: accuracy {accuracy:.4f}, log loss {loss:.3f}")
        ours = {name: judged(lambda o=options: bb.TextClassifier(**o), parts) for name, options in OURS.items()}
        for name, (accuracy, loss) in ours.items():
            session.say(f"{corpus}: ours, {name}: accuracy {accuracy:.4f}, log loss {loss:.3f}")
        for mine, peer in SAME.items():
            apart = difference(lambda o=OURS[mine]: bb.TextClassifier(**o), PEERS[peer], parts)
            session.amount(f"{corpus}: difference, {mine}", apart, 1e-9, "{:.0e}".format, peer=peer)
            at_least(session, f"{corpus}: accuracy, {mine}", ours[mine][0], {peer: peers[peer][0]})
        accuracies = {name: accuracy for name, (accuracy, _) in peers.items()}
        losses = {name: loss for name, (_, loss) in peers.items()}
        at_least(
            session, f"{corpus}: accuracy, auto", ours["auto"][0], {name: accuracies[name] for name in SAME.values()}
        )
        above(session, f"{corpus}: accuracy, best", ours["best"][0], accuracies)
        below(
            session,
            f"{corpus}: log loss, auto, calibrated",
            ours["auto, calibrated"][1],
            {n: losses[n] for n in SAME.values()},
        )
        below(session, f"{corpus}: log loss, as the command", ours["as the command"][1], losses)
        below(session, f"{corpus}: log loss, best, calibrated", ours["best, calibrated"][1], losses)
        cost(session, corpus, parts[0])


def cost(session: harness.Session, corpus: str, part: Split) -> None:
    """The CPU time of a model that is chosen and calibrated, against the plain one of the same words."""
    for name, words in (("words", {}), ("words and pairs", {"phrases": (1, 2)})):
        chosen = {**AUTO, **CALIBRATED, **words}
        ratio = float(np.median([seconds(chosen, part) / seconds(words, part) for _ in range(3)]))
        session.amount(f"{corpus}: time of auto, calibrated, {name}", ratio, 5.0, "{:.1f}x".format, peer="plain")
    ratio = float(np.median([seconds(COMMAND, part) / seconds({}, part) for _ in range(3)]))
    session.say(f"{corpus}: as the command, {ratio:.1f} times the time of the plain model of single words")


def seconds(options: dict[str, Any], part: Split) -> float:
    """CPU time to fit and to answer the first document."""
    start = time.process_time()
    bb.TextClassifier(**options).fit(part.texts, part.labels).predict_proba(part.asked[:1])
    return time.process_time() - start


def at_least(session: harness.Session, work: str, mine: float, peers: dict[str, float]) -> None:
    peer = max(peers, key=lambda name: peers[name])
    print_report(session, work, mine, peer, peers[peer], "not less", holds=mine >= peers[peer])


def above(session: harness.Session, work: str, mine: float, peers: dict[str, float]) -> None:
    peer = max(peers, key=lambda name: peers[name])
    print_report(session, work, mine, peer, peers[peer], "above", holds=mine > peers[peer])


def below(session: harness.Session, work: str, mine: float, peers: dict[str, float]) -> None:
    peer = min(peers, key=lambda name: peers[name])
    print_report(session, work, mine, peer, peers[peer], "less", holds=mine < peers[peer])


def print_report(
    session: harness.Session, work: str, mine: float, peer: str, other: float, target: str, *, holds: bool
) -> None:
    session.add(harness.Result(work, f"{mine:.4f}", target, holds, peer, f"{other:.4f}", ""))


if __name__ == "__main__":
    harness.main(run)
