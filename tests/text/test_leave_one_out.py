"""Leave-one-out of documents: the same as learning all the others anew, for every model and rule."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadOption, CannotForget, DataWarning

WORDS = ("aa", "bb", "cc", "dd", "ee")
ROWS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), st.sampled_from(["x", "y", "z"])),
    min_size=3,
    max_size=10,
)
MODELS = {
    "count": {},
    "once": {"once": True},
    "binary": {"occurrence": "binary"},
    "complement": {"occurrence": "complement"},
    "complement, once": {"occurrence": "complement", "once": True},
    "normalised": {"occurrence": "normalised"},
    "poisson": {"occurrence": "poisson"},
    "table": {"occurrence": "table"},
    "position": {"occurrence": "position"},
    "pairs": {"phrases": (1, 2)},
    "smoothed prior": {"prior_smoothing": "laplace"},
}


def relearned(make, texts, labels, classes) -> np.ndarray:
    answers = np.zeros((len(labels), len(classes)))
    for row in range(len(labels)):
        others = [k for k in range(len(labels)) if k != row]
        model = make().fit([texts[k] for k in others], [labels[k] for k in others])
        place = [classes.index(label) for label in model.classes_.tolist()]
        answers[row, place] = model.predict_proba([texts[row]])[0]
    return answers


RULES = ("laplace", "mle", "lidstone:0.1", "m:2")
CASES = [(name, RULES[(place + more) % 4]) for more in (0, 1) for place, name in enumerate(MODELS)]


@pytest.mark.parametrize(("name", "rule"), [*CASES, ("count", "replace-zero:half"), ("table", "replace-zero:half")])
@settings(max_examples=5)
@given(rows=ROWS)
def test_it_is_learning_the_others_anew(name: str, rule: str, rows) -> None:
    texts, labels = (list(column) for column in zip(*rows, strict=True))
    make = lambda: bb.TextClassifier(smoothing=rule, **MODELS[name])  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # what is impossible in every class gets the prior
        model = make().fit(texts, labels)
        found = model.leave_one_out(texts, labels)
        expected = relearned(make, texts, labels, model.classes_.tolist())
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("occurrence", ["count", "binary", "complement", "poisson", "table"])
def test_the_columns_of_a_matrix_stay(occurrence: str) -> None:
    random = np.random.default_rng(0)
    counts, labels = random.poisson(0.7, (12, 5)), np.array(list("xyz") * 4)
    model = bb.TextClassifier(occurrence=occurrence).fit(csr_array(counts), labels)
    found = model.leave_one_out(csr_array(counts), labels)
    for row in range(12):
        others = np.arange(12) != row
        other = bb.TextClassifier(occurrence=occurrence).fit(csr_array(counts[others]), labels[others])
        np.testing.assert_allclose(found[row], other.predict_proba(csr_array(counts[[row]]))[0], atol=1e-9)


def test_the_strength_of_words_stays() -> None:
    texts, labels = ["aa bb cc", "aa aa", "bb cc", "cc dd dd"] * 3, ["x", "x", "y", "y"] * 3
    model = bb.TextClassifier(calibration="temperature").fit(texts, labels)
    found = model.leave_one_out(texts, labels)
    other = bb.TextClassifier(calibration="temperature").fit(texts, labels).forget(texts[:1], labels[:1])
    np.testing.assert_allclose(found[0], other.predict_proba(texts[:1])[0], atol=1e-9)


def test_what_cannot_be_left_out_is_refused() -> None:
    texts, labels = ["aa bb", "bb cc", "aa", "cc"], ["x", "y", "x", "y"]
    with refusal(BadOption, remedy="cross-validation"):
        bb.TextClassifier(top=2).fit(texts, labels).leave_one_out(texts, labels)
    for options in MODELS.values():
        model = bb.TextClassifier(**options).fit(texts, labels)
        with pytest.raises(CannotForget):
            model.leave_one_out(["aa aa aa aa bb bb bb cc cc"], ["y"])
        with pytest.raises(CannotForget):
            model.leave_one_out(texts, ["x"] * 4)
