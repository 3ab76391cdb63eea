"""Four documents as texts: the multinomial and the model of occurrence, by hand."""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.near import near
from tests.refusal import warning

import bayesbox as bb
from bayesbox.errors import ImpossibleRows
from bayesbox.text.model import parameters

TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
LABELS = ["NZ", "NZ", "NZ", "DE"]
ASKED = ["Kiwi Kiwi Kiwi Munich Oktoberfest"]
DE, NZ = Fraction(8, 59049), Fraction(81, 268912)


def test_counts():
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    assert clf.words_ == ("auckland", "bird", "kiwi", "munich", "oktoberfest", "sheep")
    assert np.exp(clf.joint_log_proba(ASKED))[0].tolist() == near([DE, NZ])
    assert clf.predict_proba(ASKED)[0].tolist() == near([DE / (DE + NZ), NZ / (DE + NZ)])
    assert clf.predict_proba(ASKED)[0, 1] == pytest.approx(0.6897586, abs=5e-8)
    assert clf.predict(ASKED).tolist() == ["NZ"]
    p = dict(zip(clf.words_, np.exp(clf.word_weights_), strict=True))
    assert p["kiwi"].tolist() == near([Fraction(2, 9), Fraction(3, 7)])
    assert p["munich"].tolist() == near([Fraction(2, 9), Fraction(1, 14)])


def test_occurrence():
    """P(word present) is (documents with it + 1) / (documents + 2), and absent words speak too."""
    clf = bb.TextClassifier(occurrence="binary").fit(TEXTS, LABELS)
    nz = {"auckland": 2, "bird": 2, "kiwi": 4, "munich": 1, "oktoberfest": 1, "sheep": 2}  # of 5
    de = {"auckland": 1, "bird": 1, "kiwi": 2, "munich": 2, "oktoberfest": 2, "sheep": 1}  # of 3
    joint = []
    for prior, table, under in ((Fraction(1, 4), de, 3), (Fraction(3, 4), nz, 5)):
        for word, count in table.items():
            p = Fraction(count, under)
            prior *= p if word in ("kiwi", "munich", "oktoberfest") else 1 - p
        joint.append(prior)
    assert joint == [Fraction(16, 729), Fraction(81, 15625)]
    assert np.exp(clf.joint_log_proba(ASKED))[0].tolist() == near(joint)
    assert clf.predict(ASKED).tolist() == ["DE"]
    assert bb.TextClassifier(occurrence="occurrence").fit(TEXTS, LABELS).joint_log_proba(ASKED).tolist() == (
        clf.joint_log_proba(ASKED).tolist()
    )


def test_top_words_only():
    clf = bb.TextClassifier(top=1).fit(TEXTS, LABELS)
    assert clf.words_ == ("kiwi",)
    assert clf.predict_proba(ASKED)[0].tolist() == near([Fraction(1, 4), Fraction(3, 4)])
    assert bb.TextClassifier(min_documents=2).fit(TEXTS, LABELS).words_ == ("kiwi",)


def test_number_of_parameters():
    found = parameters("position", words=50_000, classes=2, length=100)
    assert (found.terms, found.free) == (10_000_002, 100 * 49_999 * 2 + 1)
    clf = bb.TextClassifier().fit(TEXTS, LABELS)
    counts = {"count": clf.parameters(), "binary": clf.parameters("binary")}
    counts["position"] = clf.parameters("position", length=100)
    assert {name: (each.terms, each.free) for name, each in counts.items()} == {
        "count": (14, 11),
        "binary": (14, 13),
        "position": (1202, 1001),
    }


def test_without_smoothing():
    clf = bb.TextClassifier(smoothing="mle").fit(TEXTS, LABELS)
    assert clf.predict_proba(["Kiwi Munich"])[0].tolist() == [1.0, 0.0]
    with warning(ImpossibleRows, count=1, rows=1):
        assert clf.predict_proba(["Sheep Munich"])[0].tolist() == near([Fraction(1, 4), Fraction(3, 4)])
    binary = bb.TextClassifier(smoothing="mle", occurrence="binary").fit(TEXTS, LABELS)
    assert np.exp(binary.joint_log_proba(["Kiwi Sheep"]))[0].tolist() == near([0, Fraction(3, 4) * Fraction(4, 27)])
    assert np.exp(binary.joint_log_proba(["Kiwi Munich Oktoberfest"]))[0].tolist() == near([Fraction(1, 4), 0])
