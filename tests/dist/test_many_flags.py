"""Flags of many columns, which are fitted together as each is alone."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.cells import Cells, Ratio
from bayesbox.rule.naive import fit_options
from bayesbox.rules import Laplace

OPTIONS: list[dict[str, Any]] = [
    {},
    {"smoothing": "mle"},
    {"smoothing": "mle", "unseen": "ignore"},
    {"smoothing": "lidstone:0.3", "unseen": "error"},
    {"smoothing": "m:2"},  # looks at all classes
    {"missing": "level"},
]


def flags(rows: int = 60, columns: int = 12) -> np.ndarray:
    random = np.random.default_rng(3)
    x = (random.random((rows, columns)) < np.linspace(0.05, 0.9, columns)).astype(float)
    x[0, 0] = 1
    x[::5, 3] = np.nan
    x[:, 5] = np.arange(rows) % 2  # no class has both
    x[:20, 7] = np.nan  # a class without values
    return x


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["numbers", "bools"])
def test_flags_are_fitted_together_as_alone(options: dict[str, Any], weighted: bool, form: str) -> None:
    x, y = flags(), np.repeat(["a", "b", "c"], 20)
    if form == "bools":
        x = x == 1
    weights = np.linspace(0.1, 3, 60) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = bb.NaiveBayes(**options).fit(x, y, sample_weight=weights)
    model, schema = clf.classifier_.model, clf.classifier_.model_schema()
    assert len(model.conditionals) == 12
    for made in model.conditionals:
        assert type(made) is Bernoulli
        given = fit_options(schema, clf.book_, clf.classifier_.rules, made.column)
        alone = Bernoulli.fit(made.column, clf.book_[made.column], given)
        assert made.levels == alone.levels
        assert made.unseen_is_error == alone.unseen_is_error
        for name in ("log_p", "log_unseen", "log_missing", "rows"):
            assert np.array_equal(getattr(made, name), getattr(alone, name))
        assert pickle.loads(pickle.dumps(made)).rows.tolist() == alone.rows.tolist()


def test_bools_that_are_constant_or_declared() -> None:
    x, y = flags() == 1, np.repeat(["a", "b", "c"], 20)
    x[:, [2, 6]] = True
    columns = {"6": bb.Flag(), "7": bb.Flag(smoothing="m:3"), "8": bb.Flag(smoothing="m:3")}
    with pytest.warns(bb.errors.SuspiciousData, match="`2` has a single value"):
        clf = bb.NaiveBayes(columns=columns).fit({str(place): column for place, column in enumerate(x.T)}, y)
    assert list(clf.ignored_) == ["2"]
    model, schema = clf.classifier_.model, clf.classifier_.model_schema()
    for made in model.conditionals:
        given = fit_options(schema, clf.book_, clf.classifier_.rules, made.columns[0])
        alone = Bernoulli.fit(made.columns[0], clf.book_[made.columns[0]], given)
        assert isinstance(made, Bernoulli)
        assert made.levels == alone.levels
        assert np.array_equal(made.rows, alone.rows)
    assert len(model.conditionals) == 11


def test_a_rule_that_inherits_from_one_by_class_is_asked_column_by_column() -> None:
    asked = []

    @dataclass(frozen=True)
    class Watched(Laplace):
        def ratio(self, cells: Cells) -> Ratio:
            asked.append(len(cells.counts))
            return super().ratio(cells)

    x, y = flags(), np.repeat(["a", "b", "c"], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = bb.NaiveBayes(smoothing=Watched()).fit(x, y)
        expected = bb.NaiveBayes().fit(x, y)
    assert np.array_equal(clf.predict_proba(x), expected.predict_proba(x))
    assert set(asked) == {3}


def test_one_model_of_flags_and_numbers_in_any_order() -> None:
    random = np.random.default_rng(4)
    x, y = (
        np.hstack([flags(), random.normal(size=(60, 6)), np.round(random.normal(size=(60, 6)) * 3)]),
        np.arange(60) % 3,
    )
    order = random.permutation(x.shape[1])
    names = [f"x{place}" for place in range(x.shape[1])]
    one = bb.NaiveBayes().fit(dict(zip(names, x.T, strict=True)), y)
    other = bb.NaiveBayes().fit({names[place]: x[:, place] for place in order}, y)
    kinds = [{each.columns[0]: type(each) for each in clf.classifier_.model.conditionals} for clf in (one, other)]
    assert kinds[0] == kinds[1]
    assert sum(kind is Bernoulli for kind in kinds[0].values()) == 12
    columns = dict(zip(names, x.T, strict=True))
    assert np.allclose(one.predict_proba(columns), other.predict_proba(columns), atol=1e-12)


@pytest.mark.parametrize("model", [bb.NaiveBayes, bb.TAN])
def test_arrays_of_flags_are_answered_as_columns_are(model: Any) -> None:
    x, y = flags(600), np.repeat(["a", "b", "c"], 200)
    names = [str(place) for place in range(x.shape[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf, other = model().fit(x, y), model().fit(dict(zip(names, x.T, strict=True)), y)
        asked = flags(600)[::-1].copy()
        asked[3, 4] = np.nan
        expected = other.predict_proba(dict(zip(names, asked.T, strict=True)))
        assert np.allclose(clf.predict_proba(asked), expected, rtol=0, atol=1e-14)
        asked[300, 4] = 2.0  # neither 0 nor 1: answered, and said, column by column
        expected = other.predict_proba(dict(zip(names, asked.T, strict=True)))
        assert np.allclose(clf.predict_proba(asked), expected, rtol=0, atol=1e-14)
