"""Naive Bayes of a few short documents: a word, a joint and a posterior, by word counts or presence."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from bayesbox.explain.class_work import ClassWork
from bayesbox.explain.steps import Step, Work
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet, SheetTable
from bayesbox.teach.topics.fitted import exact, fitted
from bayesbox.teach.topics.naive import posterior_slips

WORDS = {
    ("sea", "hills"): ("boat", "wave", "sand", "goat", "snow", "path"),
    ("music", "sport"): ("tune", "drum", "stage", "goal", "team", "crowd"),
    ("spam", "mail"): ("prize", "free", "click", "meeting", "lunch", "report"),
    ("garden", "kitchen"): ("rose", "bean", "soil", "oven", "salt", "pan"),
}
COUNTS = (
    "Count words (multinomial model): `P(word | class)` is the number of times that the word occurs in the documents "
    "of the class, plus 1, over the number of all words in them, plus the number of distinct words in all documents. "
    "The prior is the share of the documents."
)
PRESENCE = (
    "Use whether a word occurs, not how often (Bernoulli model): `P(word | class)` is the number of documents of the "
    "class that have the word, plus 1, over the number of documents of the class, plus 2; each of the words that a "
    "document does not have counts too, by 1 less that. The prior is the share of the documents."
)


class Corpus(NamedTuple):
    """Labelled documents, and a new one."""

    documents: list[str]
    labels: list[str]
    classes: tuple[str, str]
    new: str

    @property
    def vocabulary(self) -> list[str]:
        """The distinct words."""
        return sorted({word for document in self.documents for word in document.split()})

    def shown(self) -> SheetTable:
        """The table on the sheet."""
        rows = zip(self.documents, self.labels, strict=True)
        return SheetTable("Documents:", ("words", "class"), tuple(rows))

    def work(self, occurrence: str) -> ClassWork:
        """The calculation for the new document."""
        columns = {"words": self.documents, "class": self.labels}
        classifier = fitted("text", columns, "class", text="words", occurrence=occurrence, smoothing="laplace")
        return classifier.work(classifier.one_row({"words": self.new}))


def posterior(draw: Draw, title: str) -> Question | None:
    """P(class | document) of the multinomial model."""
    return _asked_posterior(draw, title, "count", COUNTS)


def word(draw: Draw, title: str) -> Question | None:
    """P(word | class) of the multinomial model."""
    corpus = _drawn(draw)
    if corpus is None:
        return None
    place, asked_word = draw.below(2), draw.one(sorted(set(corpus.new.split())))
    label = corpus.classes[place]
    columns = {"words": corpus.documents, "class": corpus.labels}
    classifier = fitted("text", columns, "class", text="words", occurrence="count", smoothing="laplace")
    found = [step for step in classifier.tables().values() if step.rows[0].name != "P(class)"]
    [step] = [step for step in found if any(asked_word in row.name for row in step.rows)]
    solution = Work("shares of the words by class, with Laplace smoothing", (Step("table", step.rows, step.columns),))
    row = next(number for number, each in enumerate(step.rows) if f"P({asked_word} |" in each.name)
    answer = exact(solution, "table", classifier.classes.index(label), row)
    asked = f"P({asked_word} | {label})"
    own = [each.split() for each, of in zip(corpus.documents, corpus.labels, strict=True) if of == label]
    times, total = sum(each.count(asked_word) for each in own), sum(map(len, own))
    slips = (("the share without smoothing", Fraction(times, total)),)
    return Question(Sheet(title, (corpus.shown(),), f"What is `{asked}`? {COUNTS}"), asked, answer, solution, slips)


def joint(draw: Draw, title: str) -> Question | None:
    """P(class) P(document | class) of the multinomial model."""
    corpus = _drawn(draw)
    if corpus is None:
        return None
    work = corpus.work("count")
    place = draw.below(2)
    asked = f"P({work.classes[place]}, document)"
    text = (
        f'A new document is "{corpus.new}". What is `{asked}`, the prior of {work.classes[place]} times the '
        f"probabilities of the words of the document? {COUNTS}"
    )
    slips = (
        ("that of the other class", exact(work, "joint", 1 - place)),
        ("the likelihood: multiply it by the prior", exact(work, "likelihood", place)),
    )
    return Question(Sheet(title, (corpus.shown(),), text), asked, exact(work, "joint", place), work, slips)


def presence(draw: Draw, title: str) -> Question | None:
    """P(class | document) of the Bernoulli model."""
    return _asked_posterior(draw, title, "binary", PRESENCE)


KINDS: tuple[Kind, ...] = (posterior, word, joint, presence)


def _asked_posterior(draw: Draw, title: str, occurrence: str, how: str) -> Question | None:
    corpus = _drawn(draw)
    if corpus is None:
        return None
    work = corpus.work(occurrence)
    place = draw.below(2)
    asked = f"P({work.classes[place]} | document)"
    text = f'A new document is "{corpus.new}". By naive Bayes, what is `{asked}`? {how}'
    slips = posterior_slips(work, place)
    return Question(Sheet(title, (corpus.shown(),), text), asked, exact(work, "posterior", place), work, slips)


def _drawn(draw: Draw) -> Corpus | None:
    """Four or five documents of two to four words, of which the first are typical of the class, and a new one."""
    classes = draw.one(list(WORDS))
    words = draw.some(WORDS[classes], 4) if draw.below(2) else draw.some(WORDS[classes], 5)
    labels = [draw.one(classes) for _ in range(draw.between(4, 5))]
    documents = [_document(draw, words, label == classes[0]) for label in labels]
    new = " ".join(draw.one(words) for _ in range(draw.between(2, 3)))
    corpus = Corpus(documents, labels, classes, new)
    known = set(corpus.vocabulary)
    if min(map(labels.count, classes)) < 1 or known != set(words) or len(set(documents)) < len(documents):
        return None
    return corpus


def _document(draw: Draw, words: list[str], is_first: bool) -> str:
    """Words mostly typical of its class, which are the first or the last of the list."""
    half = len(words) // 2
    own = words[:half] if is_first else words[half:]
    return " ".join(draw.one(own if draw.below(4) else words) for _ in range(draw.between(2, 4)))
