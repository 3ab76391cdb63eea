"""The strength of words: the one with the least log loss, and what it mends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.classifier.evaluate import cross_validate
from bayesbox.schema.tokens import Tokens
from bayesbox.source.registry import source_from
from bayesbox.text.calibrate import EXPONENTS, least_loss
from bayesbox.text.classifier import DocumentClassifier
from bayesbox.text.model import Strength
from bayesbox.text.options import TextOptions


def loss(sums, known, prior, target, strength: Strength) -> float:
    joint = prior + sums * (strength.strength / np.maximum(known, 1.0) ** strength.exponent)[:, None]
    log_p = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return float(-log_p[np.arange(len(target)), target].mean())


@given(st.integers(0, 10**6), st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_no_other_strength_has_a_smaller_loss(seed, classes) -> None:
    random = np.random.default_rng(seed)
    known = random.integers(1, 300, 80).astype(float)
    sums = random.normal(size=(80, classes)) * known[:, None] ** 0.7
    target = np.where(random.random(80) < 0.6, sums.argmax(axis=1), random.integers(0, classes, 80))
    prior = np.log(np.full(classes, 1 / classes))
    _, found = least_loss(sums, known, prior, target)
    least = loss(sums, known, prior, target, found)
    for exponent in EXPONENTS:
        for strength in np.exp(np.linspace(-10, 5, 61)):
            assert least <= loss(sums, known, prior, target, Strength(strength, exponent)) + 1e-9


def test_documents_that_say_nothing_leave_the_strength() -> None:
    prior = np.log([0.5, 0.5])
    assert least_loss(np.zeros((3, 2)), np.zeros(3), prior, np.array([0, 1, 0])) == (np.inf, Strength())
    assert least_loss(np.full((1, 2), -np.inf), np.ones(1), prior, np.array([0])) == (np.inf, Strength())
    assert least_loss(np.ones((2, 1)), np.ones(2), np.zeros(1), np.array([0, 0])) == (np.inf, Strength())


def repeated(documents: int, seed: int) -> tuple[list[str], list[str]]:
    """Documents whose every word is said many times over: naive Bayes is far too sure of them."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(documents):
        label = int(random.integers(2))
        words = [f"w{k}" for k in np.flatnonzero(random.random(30) < np.where(np.arange(30) % 2 == label, 0.35, 0.25))]
        texts.append(" ".join(np.repeat(words, random.integers(1, 40))))
        labels.append("ab"[label])
    return texts, labels


@pytest.mark.parametrize("occurrence", ["count", "complement", "normalised", "binary", "poisson", "table"])
def test_calibration_mends_the_certainty_of_long_documents(occurrence) -> None:
    texts, labels = repeated(600, seed=1)
    asked, truth = repeated(600, seed=2)
    plain = bb.TextClassifier(occurrence=occurrence).fit(texts, labels)
    mended = bb.TextClassifier(occurrence=occurrence, calibration="temperature").fit(texts, labels)
    rows, place = np.arange(len(truth)), np.array(["ab".index(label) for label in truth])
    before, after = (-each.predict_log_proba(asked)[rows, place].mean() for each in (plain, mended))
    assert after <= before + 0.02
    if occurrence == "count":
        assert before > 1
        assert after < 0.75
        confidence = mended.predict_proba(asked).max(axis=1).mean()
        assert abs(confidence - (mended.predict(asked) == truth).mean()) < 0.08
    if occurrence not in ("binary", "poisson", "table"):  # in these, absent words speak too
        np.testing.assert_allclose(mended.predict_proba([""]), plain.predict_proba([""]), rtol=1e-12)


def test_folds_and_leaving_one_out_find_much_the_same() -> None:
    texts, labels = repeated(400, seed=5)
    one_by_one = bb.TextClassifier(calibration="temperature").fit(texts, labels)
    weighted = bb.TextClassifier(calibration="temperature").fit(texts, labels, sample_weight=np.ones(400))
    chosen = bb.TextClassifier(calibration="temperature", top=30).fit(texts, labels)
    for other in (weighted, chosen):
        assert other.classifier_.settled.strength != one_by_one.classifier_.settled.strength
        assert abs(other.predict_proba(texts) - one_by_one.predict_proba(texts)).max() < 0.15
    assert bb.TextClassifier(calibration="temperature", occurrence="position").fit(["a b", "c d"] * 3, list("xy") * 3)


def test_what_was_before_is_told() -> None:
    texts, labels = repeated(120, seed=6)
    source = source_from({"text": texts, "label": labels})
    found = cross_validate(
        DocumentClassifier(TextOptions(calibration="temperature"), Tokens()), source, "label", folds=3
    )
    plain = cross_validate(DocumentClassifier(TextOptions(), Tokens()), source, "label", folds=3)
    assert found.before is not None
    assert found.before.log_loss.value == pytest.approx(plain.metrics.log_loss.value)
    assert found.metrics.log_loss.value < found.before.log_loss.value
    assert "rings: before calibration" in found.svg()
    assert plain.before is None
    assert plain.metrics.log_loss.value > 2


def test_explanations_still_sum() -> None:
    texts, labels = repeated(200, seed=3)
    for occurrence in ("count", "complement", "poisson", "binary"):
        clf = bb.TextClassifier(occurrence=occurrence, calibration="temperature").fit(texts, labels)
        np.testing.assert_allclose(clf.explain(texts[:9]).joint(), clf.joint_log_proba(texts[:9]), rtol=1e-9)


def test_it_is_kept_saved_and_learned_from_files(tmp_path) -> None:
    texts, labels = repeated(120, seed=4)
    clf = bb.TextClassifier(calibration="temperature").fit(texts, labels)
    clf.save(tmp_path / "m.bayes")
    loaded = bb.load(tmp_path / "m.bayes")
    np.testing.assert_array_equal(loaded.predict_proba(texts), clf.predict_proba(texts))
    strength = loaded.classifier_.settled.strength
    loaded.partial_fit(["w1 w2"], ["a"]).forget(["w1 w2"], ["a"])
    assert loaded.classifier_.settled.strength == strength
    trained = bb.train({"text": texts, "label": labels}, "label", model=bb.TextClassifier(calibration="temperature"))
    assert trained.classifier_.settled.strength == strength
    assert (
        clf + bb.TextClassifier(calibration="temperature").fit(["w1"], ["a"])
    ).classifier_.settled.strength == strength
    with pytest.raises(bb.BadOption):
        bb.TextClassifier(calibration="magic").fit(texts, labels)


def test_few_documents_are_no_reason_to_fail() -> None:
    clf = bb.TextClassifier(calibration="temperature").fit(["kiwi", "munich"], ["NZ", "DE"])
    assert clf.predict(["kiwi"]).tolist() == ["NZ"]
    one = bb.TextClassifier(calibration="temperature").fit(["kiwi"], ["NZ"])
    assert one.predict(["munich"]).tolist() == ["NZ"]
