"""Credible intervals of tables and answers: the exact quantiles, and as often right as they say."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, dirichlet
from tests.explain.latex import check_latex
from tests.tables import SHAPES

import bayesbox as bb
from bayesbox.explain.credible import CredibleInterval, IntervalTable
from bayesbox.stat.beta import interval

ROW = {name: column[0] for name, column in SHAPES.X.items()}


def limits(tables: object, name: str) -> list[tuple[float, float]]:
    """The intervals in the rows below the shares of a table."""
    rows = tables[name].rows  # type: ignore[index]
    return [(cell.low, cell.high) for row in rows[1::2] for cell in row.cells]


def test_every_share_has_the_quantiles_of_its_beta() -> None:
    tables = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y).tables(interval=0.9)
    counts = {"+": {"blue": 3, "red": 2}, "-": {"blue": 2, "red": 4}}
    expected = []
    for colour in ("blue", "red"):
        for sign in ("+", "-"):
            a, total = counts[sign][colour] + 1, sum(counts[sign].values()) + 2
            expected.append(tuple(beta.ppf([0.05, 0.95], a, total - a)))
    assert np.array(limits(tables, "colour")) == pytest.approx(np.array(expected), abs=1e-9)
    prior = [tuple(beta.ppf([0.05, 0.95], n + 0.5, 11 - n + 0.5)) for n in (5, 6)]  # by Jeffreys: it was not smoothed
    assert np.array(limits(tables, "P(class)")) == pytest.approx(np.array(prior), abs=1e-9)
    text = str(tables)
    assert "90 % interval" in text
    assert "intervals by the Dirichlet prior that laplace implies" in text
    assert "since mle implies none" in text
    check_latex(tables.latex())
    assert "interval" not in str(bb.NaiveBayes().fit(SHAPES.X, SHAPES.y).tables())
    cell = tables.to_dict()["tables"][0]["rows"][1]["cells"][0]
    assert (cell["low"], cell["high"]) == limits(tables, "P(class)")[0]


def test_a_share_without_rows_begins_at_zero_by_maximum_likelihood() -> None:
    tables = bb.NaiveBayes(smoothing="mle").fit(SHAPES.X, SHAPES.y).tables(interval=0.95)
    sizes = limits(tables, "size")
    assert sizes[4][0] == 0  # no small one among +: the estimate is 0
    assert sizes[4][1] == pytest.approx(float(beta.ppf(0.975, 0.5, 6)), abs=1e-9)


@pytest.mark.parametrize("model", [bb.TAN(smoothing="laplace"), bb.AODE(smoothing="laplace"), bb.FullBayes()])
def test_models_of_more_columns_have_them_too(model: bb.TAN) -> None:
    shown = model.fit(SHAPES.X, SHAPES.y).tables(interval=0.95)
    assert sum("95 % interval" in row.name for step in shown.values() for row in step.rows) > 4


def test_numbers_given_tables_and_words() -> None:
    numbers = bb.NaiveBayes().fit({"age": [20.5, 30, 41, 52.5]}, ["a", "a", "b", "b"]).tables(interval=0.95)
    assert not any("interval" in row.name for row in numbers["age"].rows)
    given = bb.NaiveBayes.from_tables(
        prior={"a": 0.5, "b": 0.5}, tables={"x": {"a": {"p": 0.2, "q": 0.8}, "b": {"p": 0.6, "q": 0.4}}}
    )
    assert "no probability was counted" in str(given.tables(interval=0.95))
    with pytest.raises(bb.BadOption, match="needs counts"):
        given.posterior_interval({"x": "p"})
    words = bb.TextClassifier().fit(["kiwi sheep kiwi", "munich kiwi"], ["nz", "de"])
    assert "95 % interval" in str(words.tables(interval=0.95))
    flags = bb.TextClassifier(occurrence="binary").fit(["kiwi sheep kiwi", "munich kiwi"], ["nz", "de"])
    with pytest.raises(bb.BadOption, match="word counts"):
        flags.posterior_interval(["kiwi"])
    for wrong in (0, 1, "much", True):
        with pytest.raises(bb.BadOption, match="level"):
            words.tables(interval=wrong)  # type: ignore[arg-type]


# -- answers ---------------------------------------------------------------------------------------------------------


def test_the_answer_by_draws_is_that_of_drawing_whole_dirichlets() -> None:
    """One column and two classes: the same draws by another way, from all levels together."""
    clf = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y)
    found = clf.posterior_interval(ROW, 0.9, draws=60_000)
    random = np.random.default_rng(8)
    joint = dirichlet.rvs([5.5, 6.5], size=60_000, random_state=random)
    for name, value in ROW.items():
        levels = sorted(set(SHAPES.X[name]))
        for place, label in enumerate(("+", "-")):
            own = [x for x, y in zip(SHAPES.X[name], SHAPES.y, strict=True) if y == label]
            drawn = dirichlet.rvs([own.count(level) + 1 for level in levels], size=60_000, random_state=random)
            joint[:, place] *= drawn[:, levels.index(value)]
    shares = joint[:, 0] / joint.sum(axis=1)
    assert tuple(found["+"]) == pytest.approx(tuple(np.quantile(shares, [0.05, 0.95])), abs=0.01)
    assert found["+"].estimate == pytest.approx(clf.predict_proba([ROW])[0, list(clf.classes_).index("+")])
    assert found["+"].low == pytest.approx(1 - found["-"].high)


def test_a_seed_gives_the_same_again() -> None:
    clf = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y)
    one, same, other = (clf.posterior_interval(ROW, draws=500, seed=seed) for seed in (0, 0, 1))
    assert dict(one) == dict(same) != dict(other)


def test_the_result_shows_itself() -> None:
    found = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y).posterior_interval(ROW)
    assert isinstance(found, IntervalTable)
    assert list(found.to_frame().columns) == ["class", "estimate", "low", "high"]
    assert "by 10,000 draws" in str(found)
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("IntervalTable(+: ")
    assert found.level == 0.95
    again = pickle.loads(pickle.dumps(found["+"]))
    assert (again, again.estimate, again.level) == (found["+"], found["+"].estimate, 0.95)
    low, high = CredibleInterval(0.25, 0.5, estimate=0.3, level=0.9)
    assert (low, high) == (0.25, 0.5)


def test_more_rows_are_surer_and_numbers_stay_as_they_are() -> None:
    X, y = {"car": ["suv", "van", "van", "suv", "van"]}, ["a", "a", "b", "b", "b"]
    widths = []
    for times in (1, 10, 100):
        clf = bb.NaiveBayes().fit({"car": X["car"] * times}, y * times)
        low, high = clf.posterior_interval({"car": "suv"})["a"]
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2]
    mixed = bb.NaiveBayes().fit(X | {"age": [20.5, 30, 41, 52.5, 60]}, y).posterior_interval({"car": "suv", "age": 40})
    assert "treated as known" in str(mixed)
    assert "age" in str(mixed)


def test_weights_of_columns_and_calibration() -> None:
    random = np.random.default_rng(2)
    y = np.where(random.random(200) < 0.5, "yes", "no")
    X = {"a": np.where(random.random(200) < 0.3 + 0.4 * (y == "yes"), "p", "q").tolist()}
    X["again"] = X["a"]
    row = {"a": "p", "again": "p"}
    weighted = bb.NaiveBayes(column_weights="learned").fit(X, y)
    powers = [weighted.classifier_.model.weight_of(each) for each in weighted.classifier_.model.conditionals]
    assert powers != [1.0] * len(powers)
    random = np.random.default_rng(3)
    odds = random.gamma((y == "yes").sum() + 0.5, size=40_000) / random.gamma((y == "no").sum() + 0.5, size=40_000)
    for power in powers:  # each column with draws of its own
        for label, sign in (("yes", 1), ("no", -1)):
            have = sum(value == "p" for value, own in zip(X["a"], y, strict=True) if own == label)
            drawn = random.beta(have + 1, (y == label).sum() - have + 1, size=40_000)
            odds *= drawn ** (sign * power)
    found = weighted.posterior_interval(row, 0.9, draws=40_000)["yes"]
    assert tuple(found) == pytest.approx(tuple(np.quantile(odds / (1 + odds), [0.05, 0.95])), abs=0.005)
    assert found.estimate == pytest.approx(weighted.predict_proba([row])[0, 1])
    calibrated = bb.NaiveBayes(calibration="dirichlet").fit(X, y)
    found = calibrated.posterior_interval(row)
    assert found["yes"].estimate == pytest.approx(calibrated.predict_proba([row])[0, 1])
    assert found["yes"].low < found["yes"].estimate < found["yes"].high
    assert "calibrated like the prediction" in str(found)


def test_the_words_of_a_document_are_drawn_together() -> None:
    """Against draws of all words of the vocabulary at once."""
    texts = ["kiwi sheep kiwi", "kiwi kiwi bird", "kiwi auckland", "munich oktoberfest kiwi"]
    clf = bb.TextClassifier().fit(texts, ["nz", "nz", "nz", "de"])
    asked = "kiwi kiwi kiwi munich sheep"
    found = clf.posterior_interval([asked], 0.9, draws=60_000)
    random = np.random.default_rng(9)
    words = sorted({word for text in texts for word in text.split()})
    logs = np.log(random.dirichlet([1.5, 3.5], size=60_000))  # de, nz: by Jeffreys' prior
    for place, own in enumerate((texts[3:], texts[:3])):
        counts = [sum(text.split().count(word) for text in own) + 1 for word in words]
        drawn = np.log(random.dirichlet(counts, size=60_000))
        logs[:, place] += sum(drawn[:, words.index(word)] for word in asked.split())
    share = 1 / (1 + np.exp(logs[:, 0] - logs[:, 1]))
    assert tuple(found["nz"]) == pytest.approx(tuple(np.quantile(share, [0.05, 0.95])), abs=0.01)
    assert found["nz"].estimate == pytest.approx(clf.predict_proba([asked])[0, 1])
    assert clf.posterior_interval([""])["de"].estimate == pytest.approx(1 / 4)


def test_one_row_and_sensible_numbers_only() -> None:
    clf = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y)
    with pytest.raises(ValueError, match="one row"):
        clf.posterior_interval([ROW, ROW])
    with pytest.raises(bb.BadOption, match="draws"):
        clf.posterior_interval(ROW, draws=10)
    with pytest.raises(bb.BadOption, match="seed"):
        clf.posterior_interval(ROW, seed=-1)
    with pytest.raises(bb.BadOption, match="naive Bayes"):
        bb.TAN().fit(SHAPES.X, SHAPES.y).posterior_interval(ROW)


# -- coverage: worlds drawn from the prior, so that a 90 % interval is right in 90 % of them -----------------------


def test_intervals_of_shares_are_right_as_often_as_they_say() -> None:
    random = np.random.default_rng(11)
    inside = []
    for _ in range(1_500):
        levels = int(random.integers(2, 5))
        truth = random.dirichlet(np.ones(levels))
        counts = random.multinomial(int(random.integers(1, 30)), truth)
        place = int(random.integers(levels))
        a = counts[place] + 1
        low, high = interval(0.9, float(a), float(counts.sum() + levels - a))
        inside.append(low <= truth[place] <= high)
    assert np.mean(inside) == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / len(inside)))


def test_intervals_of_answers_are_right_as_often_as_they_say() -> None:
    random = np.random.default_rng(12)
    inside = []
    while len(inside) < 250:
        shares = random.dirichlet([0.5, 0.5])  # as the prior of classes that are not smoothed
        tables = random.dirichlet(np.ones(3), size=(2, 2))  # classes x columns x levels, as Laplace implies
        y = random.choice(2, size=25, p=shares)
        X = [[random.choice(3, p=tables[label, column]) for column in range(2)] for label in y]
        seen = [set(column) for column in zip(*X, strict=True)]
        if len(set(y.tolist())) < 2 or any(each != {0, 1, 2} for each in seen):
            continue  # a level or class that no row has is not known to the model
        names = {f"c{column}": [str(row[column]) for row in X] for column in range(2)}
        row = {name: str(random.integers(3)) for name in names}
        true = shares * [np.prod([tables[label, c, int(row[f"c{c}"])] for c in range(2)]) for label in range(2)]
        found = bb.NaiveBayes().fit(names, y).posterior_interval(row, 0.9, draws=400, seed=len(inside))
        low, high = found[0]
        inside.append(low <= true[0] / true.sum() <= high)
    assert np.mean(inside) == pytest.approx(0.9, abs=0.07)


def test_exact_fractions_stand_beside_the_interval() -> None:
    [first, below, *_] = bb.NaiveBayes().fit(SHAPES.X, SHAPES.y).tables(interval=0.95)["colour"].rows
    assert first.cells[0].value == Fraction(4, 7)
    assert below.cells[0].low < 4 / 7 < below.cells[0].high  # type: ignore[attr-defined]
