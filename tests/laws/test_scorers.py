"""A row by itself, compiled, has the answer that it has in a table: every kind of classifier of tables."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import UnseenLevel

NEAR = 1e-14
COMPLETE = {"car": "suv", "paint": "red", "age": 41.0, "income": 20.5, "smoker": True}
CODED = ("aode", "tan", "kdb")
COMPILED = (*CODED, "full", "averaged", "naive", "auto")


def people(rows: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """Levels, numbers, flags and missing values, some columns of which depend on one another."""
    draw = np.random.default_rng(seed)
    label = draw.integers(0, 3, rows)
    found = []
    for own in label.tolist():
        car = ["sports", "suv", "van", "truck"][int((own + draw.integers(0, 3)) % 4)]
        found.append(
            {
                "car": car if draw.random() > 0.1 else None,
                "paint": ["red", "blue"][int(draw.random() < (0.8 if car == "sports" else 0.3))],
                "age": float(draw.normal(40 + 5 * own, 9)) if draw.random() > 0.1 else None,
                "income": float(draw.lognormal(3 + 0.3 * own)),
                "smoker": bool(draw.random() < 0.2 + 0.2 * own),
            }
        )
    return found, ["abc"[own] for own in label]


def models() -> dict[str, Any]:
    return {
        "aode": bb.AODE(),
        "aode, unseen ignored": bb.AODE(unseen="ignore"),
        "tan": bb.TAN(),
        "tan, unseen ignored": bb.TAN(unseen="ignore"),
        "kdb": bb.KDB(),
        "kdb, rare levels": bb.KDB(k=3),
        "averaged": bb.AveragedNaiveBayes(),
        "averaged, student": bb.AveragedNaiveBayes(numeric="student"),
        "full": bb.FullBayes(),
        "full, unseen ignored": bb.FullBayes(unseen="ignore"),
        "full, missing is a level": bb.FullBayes(missing="level"),
        "full, cells with normals": bb.FullBayes(enough=5),
        "full, calibrated": bb.FullBayes(calibration="temperature"),
        "naive": bb.NaiveBayes(),
        "naive, calibrated": bb.NaiveBayes(calibration="temperature"),
        "naive, kernel": bb.NaiveBayes(numeric="kernel"),
        "naive, student": bb.NaiveBayes(numeric="student"),
        "naive, lognormal": bb.NaiveBayes(numeric="lognormal"),
        "naive, spacing": bb.NaiveBayes(numeric="gaussian:spacing"),
        "naive, kernel weighted": bb.NaiveBayes(numeric="kernel", column_weights="learned"),
        "auto": bb.AutoBayes(),
        "auto, another prior": bb.AutoBayes(prior={"a": 0.7, "b": 0.2, "c": 0.1}),
    }


@pytest.mark.parametrize("name", models())
def test_a_row_by_itself_is_answered_as_in_a_table(name: str) -> None:
    rows, y = people(300)
    asked, _ = people(25, seed=1)
    asked += [
        {**asked[0], "car": "tram"},
        {**asked[1], "paint": "green", "car": "tram"},
        {**asked[2], "age": 1e9, "income": -3.0},
        {**asked[3], "age": None, "car": None, "paint": None},
    ]
    clf = models()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(rows, y)
        table = clf._rows_asked(asked)  # the answers of the whole table, which is not compiled
        expected, logs = clf.classifier_.posterior(table), clf.classifier_.log_posterior(table)
        labels = clf.classifier_.predict(table)
        np.testing.assert_allclose(clf.predict_proba(asked), expected, rtol=0, atol=NEAR)
        np.testing.assert_allclose(clf.predict_proba(asked[:20]), expected[:20], rtol=0, atol=NEAR)
        scorer = clf.scorer()
        for place, row in enumerate(asked):
            found = clf.predict_proba_one(row)
            np.testing.assert_allclose(list(found.values()), expected[place], rtol=0, atol=NEAR)
            np.testing.assert_allclose(scorer.proba(row), expected[place], rtol=0, atol=NEAR)
            np.testing.assert_allclose(scorer.log_proba(row), logs[place], rtol=1e-13, atol=1e-13)
            assert clf.predict_one(row) == labels[place]
        few = {"paint": "red", "smoker": True}
        np.testing.assert_allclose(scorer.proba(few), clf.predict_proba([few])[0], rtol=0, atol=NEAR)
    if name.split(",")[0] in COMPILED:
        answers = clf.classifier_.row_answers()
        assert answers.core is not None  # it is compiled,
        assert not answers.worked_out
        assert answers.core.proba(COMPLETE) is not None  # and takes such rows


@pytest.mark.parametrize("name", CODED)
def test_an_unseen_level_that_is_an_error_stays_one(name: str) -> None:
    rows, y = people(120)
    clf = {"aode": bb.AODE, "tan": bb.TAN, "kdb": bb.KDB}[name](unseen="error").fit(rows, y)
    with pytest.raises(UnseenLevel):
        clf.predict_proba_one({**rows[0], "car": "tram"})
