"""The model that `occurrence="auto"` chooses: the best on documents it has not seen, by leaving each out in turn."""

import math

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.text.model import CHOICES
from bayesbox.text.select_model import Trial, _best

RANDOM = np.random.default_rng(0)


def repeated(rows):
    """Documents in which one word that says nothing of the class is said over and over, by chance."""
    labels = RANDOM.integers(0, 3, rows)
    texts = []
    for label in labels:
        words = [f"own{label}{RANDOM.integers(0, 4)}" for _ in range(2)] + [f"any{RANDOM.integers(0, 12)}"] * 12
        texts.append(" ".join(words))
    return texts, labels.tolist()


TEXTS, LABELS = repeated(120)


def shares_left_out(texts, labels, **options):
    """P(class) of each document by a model that was fitted on all the others."""
    found = []
    for row in range(len(texts)):
        rest = [other for other in range(len(texts)) if other != row]
        model = bb.TextClassifier(**options).fit([texts[k] for k in rest], [labels[k] for k in rest])
        found.append(model.predict_proba([texts[row]])[0])
    return np.array(found)


def test_the_choice_is_the_one_with_most_documents_right_left_out():
    texts, labels = TEXTS[:40], LABELS[:40]
    right = np.array(
        [
            shares_left_out(texts, labels, occurrence=occurrence, once=once).argmax(axis=1) == labels
            for occurrence, once in CHOICES
        ]
    )
    clf = bb.TextClassifier(occurrence="auto").fit(texts, labels)
    assert [each.accuracy for each in clf.classifier_.settled.tried] == pytest.approx(right.mean(axis=1), abs=1e-12)
    best = CHOICES[int(right.sum(axis=1).argmax())]
    assert right.sum(axis=1).max() - right[0].sum() > np.sqrt(len(labels))  # so it is no matter of chance
    assert tuple(clf.chosen_.values()) == best
    plain = bb.TextClassifier(occurrence=best[0], once=best[1]).fit(texts, labels)
    assert np.array_equal(clf.predict_proba(texts), plain.predict_proba(texts))


def test_a_lead_by_chance_does_not_count():
    trial = Trial("count", once=False, accuracy=0.9, log_loss=0.3)
    hits = np.tile([1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0], (3, 1))
    hits[1] = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]  # two won and one lost: a lead of 1 whose error is the root of 3
    assert _best([trial, trial._replace(accuracy=0.95)], hits[:2], calibrated=False) == 0
    hits[2] = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]  # four won and one lost: a lead of 3, the root of 5
    assert _best([trial, trial, trial._replace(accuracy=0.92)], hits, calibrated=False) == 2
    assert _best([trial, trial, trial._replace(log_loss=0.4)], hits, calibrated=True) == 0
    assert _best([trial._replace(log_loss=None), trial], hits[:2], calibrated=True) == 1


def test_words_that_repeat_by_chance_are_counted_once():
    assert bb.TextClassifier(occurrence="auto").fit(TEXTS, LABELS).chosen_["once"]


def test_with_calibration_the_least_log_loss_decides():
    clf = bb.TextClassifier(occurrence="auto", calibration="temperature").fit(TEXTS, LABELS)
    tried = clf.classifier_.settled.tried
    best = min(tried, key=lambda each: each.log_loss)
    assert clf.chosen_ == {"occurrence": best.occurrence, "once": best.once}
    same = bb.TextClassifier(calibration="temperature", **clf.chosen_).fit(TEXTS, LABELS)
    assert np.array_equal(clf.predict_proba(TEXTS), same.predict_proba(TEXTS))


@pytest.mark.parametrize("options", [{"top": 10}, {"min_documents": 2}, {"once": True}])
def test_other_options_hold(options):
    clf = bb.TextClassifier(occurrence="auto", **options).fit(TEXTS, LABELS)
    assert clf.chosen_["once"] or "once" not in options
    assert len(clf.words_) <= options.get("top", 10**6)
    weighted = bb.TextClassifier(occurrence="auto", **options).fit(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 2))
    assert np.isfinite(weighted.predict_proba(TEXTS)).all()


def test_the_choice_is_kept_when_learning_goes_on(tmp_path):
    clf = bb.TextClassifier(occurrence="auto").fit(TEXTS, LABELS)
    before, chosen = clf.book_.digest(), clf.chosen_
    clf.partial_fit(["own01 own02"] * 5, [0] * 5).forget(["own01 own02"] * 5, [0] * 5)
    assert clf.chosen_ == chosen
    assert clf.book_.digest() == before
    clf.save(tmp_path / "m.bayes")
    assert bb.load(tmp_path / "m.bayes").chosen_ == chosen
    assert clf.get_params()["occurrence"] == "auto"


def test_with_too_few_documents_the_choice_waits():
    clf = bb.TextClassifier(occurrence="auto").partial_fit(["own01"], [0])
    assert clf.chosen_ == {"occurrence": "count", "once": False}
    assert not clf.classifier_.settled.tried
    clf.partial_fit(TEXTS, LABELS)
    assert clf.classifier_.settled.tried
    assert math.isfinite(clf.predict_proba(TEXTS).sum())
