"""Leave-one-out from the tallies against one refit a row."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import CannotForget, DataWarning, NoCounts
from bayesbox.rule.smoothing import RULES
from bayesbox.table.naive import leave_one_out

RULE_NAMES = {
    "mle": "mle",
    "laplace": "laplace",
    "lidstone": "lidstone:0.5",
    "m": "m:2",
    "prior-counts": "prior-counts:red=2,blue=1",
    "replace-zero": "replace-zero:prior",
    "as-written": "as-written:1,2",
}


def test_every_rule_is_here():
    assert set(RULE_NAMES) == set(RULES)


def mixed_table(seed=0, rows=48):
    """Every kind of column: levels that occur once, missing values, an outlier that makes up a variance, counts."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue", "grey"], rows, p=[0.5, 0.4, 0.08, 0.02]),
            "weight": random.normal(size=rows),
            "price": np.append(random.normal(size=rows - 1), 1e6),
            "new": random.random(rows) < 0.3,
            "sold": random.integers(0, 2, rows).astype(float),
            "wheels": random.poisson(2, rows),
            "serial": [f"n{row}" for row in range(rows)],
        }
    )
    frame.loc[random.random(rows) < 0.2, "colour"] = None
    frame.loc[random.random(rows) < 0.2, "weight"] = np.nan
    frame.loc[3, "sold"] = 2.5  # without this row the column is a flag
    labels = random.choice(["low", "middle", "high"], rows, p=[0.6, 0.36, 0.04])
    labels[0] = "alone"
    return frame, labels


def flowers():
    """Three classes in four numbers, with repeated values."""
    random = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], 20)
    values = np.round(random.normal(labels[:, None] * [1.0, 0.2, 2.0, 0.8] + [5, 3, 1.5, 0.3], 0.4), 1)
    return pd.DataFrame(values, columns=["sepal length", "sepal width", "petal length", "petal width"]), labels


def weather():
    rows = """sunny hot high false no/sunny hot high true no/overcast hot high false yes/rainy mild high false yes
    rainy cool normal false yes/rainy cool normal true no/overcast cool normal true yes/sunny mild high false no
    sunny cool normal false yes/rainy mild normal false yes/sunny mild normal true yes/overcast mild high true yes
    overcast hot normal false yes/rainy mild high true no"""
    table = [row.split() for row in rows.replace("\n", "/").split("/")]
    frame = pd.DataFrame(table, columns=["outlook", "temperature", "humidity", "windy", "play"])
    return frame.drop(columns="play"), frame["play"].to_numpy()


def by_refits(frame, labels, options):
    classes = list(bb.NaiveBayes(**options).fit(frame, labels).classes_)
    answer = np.zeros((len(frame), len(classes)))
    for row in range(len(frame)):
        others = np.arange(len(frame)) != row
        model = bb.NaiveBayes(**options).fit(frame[others].reset_index(drop=True), labels[others])
        found = model.predict_proba(frame[row : row + 1].reset_index(drop=True))[0]
        answer[row, [classes.index(label) for label in model.classes_]] = found
    return answer


def agrees(frame, labels, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        found = bb.NaiveBayes(**options).fit(frame, labels).leave_one_out(frame, labels)
        np.testing.assert_allclose(found, by_refits(frame, labels, options), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", RULE_NAMES.values())
def test_every_rule(rule):
    if rule.startswith("prior-counts"):  # names levels of one column, and is given to it alone
        agrees(*mixed_table(), columns={"colour": bb.Category(smoothing=rule)})
    else:
        agrees(*mixed_table(), smoothing=rule)


@pytest.mark.parametrize("table", [flowers, weather])
@pytest.mark.parametrize("prior_smoothing", [None, "laplace", "replace-zero:half"])
def test_tables(table, prior_smoothing):
    agrees(*table(), prior_smoothing=prior_smoothing)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "level"},
        {"unseen": "ignore"},
        {"columns": {"wheels": bb.Count("poisson")}},
        {"columns": {"wheels": bb.Count(), "sold": bb.Count()}},
        {"columns": {"weight": bb.Real(floor=0), "price": bb.Real(floor=0)}},
        {"columns": {"weight": bb.Real(floor=0.5)}},
        {"columns": {"colour": bb.Category(["red", "green", "blue", "grey", "white"])}},
        {"columns": {"wheels": "category", "serial": "ignore"}},
        {"prior_smoothing": "laplace", "columns": {"serial": "ignore"}},
    ],
    ids=str,
)
def test_options(options):
    agrees(*mixed_table(seed=2), **options)


def test_offset_and_scale():
    frame, labels = flowers()
    for shift, scale in [(1e12, 1.0), (0.0, 1e300), (0.0, 1e-300)]:
        agrees(frame * scale + shift, labels)


def test_given_prior_stays():
    frame, labels = weather()
    agrees(frame, labels, prior={"yes": 0.2, "no": 0.8})


def test_sparse_counts():
    from scipy.sparse import csr_array

    random = np.random.default_rng(3)
    counts, labels = random.poisson(0.7, (30, 12)), random.integers(0, 3, 30)
    found = bb.NaiveBayes().fit(csr_array(counts), labels).leave_one_out(csr_array(counts), labels)
    columns = {index: bb.Count() for index in range(12)}
    expected = by_refits(pd.DataFrame(counts), labels, {"columns": columns})
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_class_made_up_by_one_row_has_probability_zero():
    frame, labels = mixed_table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = bb.NaiveBayes().fit(frame, labels)
    assert model.leave_one_out(frame, labels)[0, list(model.classes_).index("alone")] == 0


def test_rows_that_were_never_learned():
    frame, labels = weather()
    model = bb.NaiveBayes().fit(frame, labels)
    other = frame.copy()
    other.loc[2, "outlook"] = "foggy"
    with refusal(CannotForget, column="outlook, temperature, humidity, windy"):
        model.leave_one_out(other, labels)
    other.loc[2, "outlook"] = "overcast"
    with refusal(CannotForget, column="class"):
        model.leave_one_out(other, np.where(np.arange(14) == 2, "no", labels))  # overcast never occurs with no
    with refusal(CannotForget, column="class"):
        model.leave_one_out(frame, np.full(14, "yes"))
    tables = bb.NaiveBayes.from_tables({"a": 0.5, "b": 0.5}, {"x": {"a": {"u": 1}, "b": {"u": 1}}})
    with pytest.raises(NoCounts):
        tables.leave_one_out([{"x": "u"}], ["a"])


LAST_VALUES = {
    "the only level": ([None, "red", None, None, None, None], bb.Category(["red", "blue"], missing="level")),
    "the only flag": ([None, True, None, None, None, None], bb.Flag(missing="level")),
    "the only count above 0": ([None, 2, 0, None, 0, None], bb.Count("poisson", missing="level")),
    "one of two above 0": ([None, 2.5, 3.0, None, -1.0, None], bb.Real("lognormal", missing="level")),
    "one of two values": ([None, 2.5, 3.0, None, None, None], bb.Real("kernel", missing="level")),
    "one of two in bins": ([None, 2.5, 3.0, None, None, None], bb.Real("width:2", missing="level")),
}


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize(("values", "kind"), LAST_VALUES.values(), ids=LAST_VALUES)
def test_a_column_that_says_nothing_without_the_row(values, kind):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "size": list("mlmlml")})
    agrees(frame, np.array(list("aabbab")), columns={"x": kind})


@pytest.mark.filterwarnings("ignore::bayesbox.DataWarning")
@pytest.mark.parametrize("options", [{}, {"numeric": "gaussian"}, {"column_weights": "learned"}], ids=str)
def test_rows_that_need_a_refit_in_some_of_many_columns(options, monkeypatch):
    """Columns of few counts: a row may hold the only 2 of one, and only that column is fitted again."""
    random = np.random.default_rng(2)
    counts = random.poisson(0.08, size=(60, 30))
    fitted = []
    naive_model = leave_one_out.naive_model

    def counted(schema, book, rules, weights):
        fitted.append(len(book.columns))
        return naive_model(schema, book, rules, weights)

    frame = pd.DataFrame(counts, columns=[f"word {place}" for place in range(30)])
    labels = random.choice(list("abc"), 60)
    monkeypatch.setattr(leave_one_out, "naive_model", counted)
    bb.NaiveBayes(calibration="temperature", **options).fit(frame, labels)
    assert fitted
    assert max(fitted) < 10
    monkeypatch.undo()
    if "column_weights" not in options:  # weights are learned once, so that a refit would have others
        agrees(frame, labels, **options)
