"""What was learned, as tables: every number is the model's own, and every fraction that of the counts."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.explain.latex import check_latex

import bayesbox as bb
from bayesbox.errors import BadOption

HEAVY = {
    "heavy": ["No", "No", "Yes", "No", "Yes", "No", "No"],
    "size": ["M", "L", "S", "M", "L", "S", "S"],
}
LABELS = ["+", "+", "+", "-", "-", "-", "-"]
CARS = {"age": [25.0, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]}
RISK = ["L", "H", "L", "H", "H", "H"]
TEXTS = ["kiwi sheep kiwi", "kiwi", "kiwi kiwi bird bird bird", "beer kiwi wurst", "beer beer"]
COUNTRIES = ["NZ", "NZ", "NZ", "DE", "DE"]


def cells(tables: Any, name: str) -> dict[str, list[Any]]:
    """The values of a table, by the names of its rows."""
    return {row.name: [cell.value for cell in row.cells] for row in tables[name].rows}


def test_the_training_tables_of_the_slides() -> None:
    tables = bb.NaiveBayes().fit(HEAVY, LABELS).tables()
    assert list(tables) == ["P(class)", "heavy", "size"]
    assert cells(tables, "P(class)") == {"P(class)": [Fraction(3, 7), Fraction(4, 7)]}
    assert cells(tables, "heavy")["P(heavy=Yes | class)"] == [Fraction(2, 5), Fraction(1, 3)]
    assert "(1 + 1)/(4 + 2) = 1/3 = 0.3333333" in str(tables)


def test_declared_levels_without_rows_are_in_the_table() -> None:
    columns = {"car": bb.Category(["sports", "vintage", "suv", "truck"]), "age": bb.Real("gaussian", floor=0)}
    tables = bb.NaiveBayes(columns=columns).fit(CARS, RISK).tables()
    assert cells(tables, "car")["P(car=truck | class)"] == [Fraction(1, 8), Fraction(1, 6)]
    assert cells(tables, "age")["mean of age"] == [27.5, 25.0]
    assert cells(tables, "age")["standard deviation of age"] == pytest.approx([10.3077640640, 0.0])


def test_a_level_that_no_class_allows_has_probability_zero() -> None:
    columns = {"car": bb.Category(["sports", "vintage", "suv", "truck"])}
    clf = bb.NaiveBayes(smoothing="mle", columns=columns).fit({"car": CARS["car"]}, RISK)
    assert cells(clf.tables(), "car")["P(car=truck | class)"] == [0, 0]


def test_given_tables_are_shown_as_they_were_given() -> None:
    given = {
        "Radio1": {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}},
        "Radio2": {"young": {"like": 1 / 3, "dislike": 2 / 3}, "old": {"like": 0.82, "dislike": 0.18}},
    }
    tables = bb.NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables=given).tables()
    assert cells(tables, "P(class)") == {"P(class)": [Fraction(3, 5), Fraction(2, 5)]}
    assert cells(tables, "Radio1")["P(Radio1=like | class)"] == [Fraction(3, 100), Fraction(19, 20)]
    assert cells(tables, "Radio2")["P(Radio2=like | class)"] == [Fraction(41, 50), Fraction(1, 3)]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.sampled_from("xyz")), min_size=4, max_size=30),
    st.sampled_from(["laplace", "mle", "lidstone:0.5", "m:2", "replace-zero:half", "as-written:1,2"]),
    st.sampled_from(["ignore", "level"]),
)
def test_every_number_is_the_models_own(rows: list[tuple[str, bool, str]], rule: str, missing: str) -> None:
    letters, flags, labels = (list(each) for each in zip(*rows, strict=True))
    letters += ["a", "b", None]
    flags += [True, False, True]
    labels += ["x", "y", "x"]
    clf = bb.NaiveBayes(smoothing=rule, missing=missing).fit({"letter": letters, "flag": flags}, labels)
    tables = clf.tables()
    for conditional in clf.classifier_.model.conditionals:
        [column] = conditional.columns
        found = cells(tables, column)
        levels = [*conditional.level_table().levels, *([None] if missing == "level" else [])]
        own = [conditional.row(level) for level in levels]
        assert len(found) == len(levels)
        for log_p, values in zip(own, found.values(), strict=True):
            if any(values):
                assert [float(value) for value in values] == pytest.approx(np.exp(log_p).tolist(), rel=1e-9)
            else:
                assert not log_p.any()  # impossible in every class: it takes no part


def test_laplace_is_one_more_over_k_more_whatever_the_rows() -> None:
    random = np.random.default_rng(0)
    colours, labels = random.choice(list("rgb"), 50).tolist(), random.choice(["no", "yes"], 50).tolist()
    tables = bb.NaiveBayes().fit({"colour": colours}, labels).tables()
    pairs, totals = Counter(zip(labels, colours, strict=True)), Counter(labels)
    for colour in "rgb":
        wanted = [Fraction(pairs[label, colour] + 1, totals[label] + 3) for label in ("no", "yes")]
        assert cells(tables, "colour")[f"P(colour={colour} | class)"] == wanted


def test_bins_are_counted() -> None:
    ages = [float(age // 2 * 2) for age in range(20)]
    clf = bb.NaiveBayes(numeric="width:4").fit({"age": ages}, ["no"] * 10 + ["yes"] * 10)
    found = list(cells(clf.tables(), "age").values())
    assert found == [
        [Fraction(6 + 1, 10 + 4), Fraction(1, 14)],
        [Fraction(4 + 1, 10 + 4), Fraction(1, 14)],
        [Fraction(1, 14), Fraction(4 + 1, 10 + 4)],
        [Fraction(1, 14), Fraction(6 + 1, 10 + 4)],
    ]


def test_a_robust_number_has_its_mean_and_deviation_and_the_parameters_of_its_density() -> None:
    clf = bb.NaiveBayes().fit({"age": CARS["age"]}, RISK)
    found = cells(clf.tables(), "age")
    assert found["mean of age"] == [27.5, 25.0]
    [density] = clf.classifier_.model.conditionals
    for name, values in density.parameters().items():
        assert found[f"{name} of age"] == values.tolist()


@pytest.mark.parametrize("occurrence", ["count", "binary", "complement", "table", "position", "poisson", "normalised"])
def test_words_by_class(occurrence: str) -> None:
    clf = bb.TextClassifier(occurrence=occurrence).fit(TEXTS, COUNTRIES)
    found = cells(clf.tables(most=None), "text")
    words = {label: Counter(" ".join(t for t, c in zip(TEXTS, COUNTRIES, strict=True) if c == label).split())
             for label in ("DE", "NZ")}  # fmt: skip
    held = {label: [Counter(t.split()) for t, c in zip(TEXTS, COUNTRIES, strict=True) if c == label]
            for label in ("DE", "NZ")}  # fmt: skip
    size = len({word for counts in words.values() for word in counts})
    if occurrence in ("count", "normalised"):
        assert found["P(kiwi | class)"] == [
            Fraction(words[label]["kiwi"] + 1, words[label].total() + size) for label in ("DE", "NZ")
        ]
    elif occurrence == "complement":
        assert found["P(kiwi | other classes)"] == [
            Fraction(words[label]["kiwi"] + 1, words[label].total() + size) for label in ("NZ", "DE")
        ]
    elif occurrence == "binary":
        assert found["P(kiwi in document | class)"] == [
            Fraction(sum("kiwi" in each for each in held[label]) + 1, len(held[label]) + 2) for label in ("DE", "NZ")
        ]
    elif occurrence == "table":
        assert found["P(kiwi 2 times | class)"] == [
            Fraction(sum(each["kiwi"] == 2 for each in held[label]) + 1, len(held[label]) + 4) for label in ("DE", "NZ")
        ]
    elif occurrence == "position":
        firsts = {label: [t.split()[0] for t, c in zip(TEXTS, COUNTRIES, strict=True) if c == label]
                  for label in ("DE", "NZ")}  # fmt: skip
        assert found["P(word 1 is kiwi | class)"] == [
            Fraction(firsts[label].count("kiwi") + 1, len(firsts[label]) + size) for label in ("DE", "NZ")
        ]
    else:
        mean = sum(counts["kiwi"] for counts in words.values()) / len(TEXTS)
        wanted = [(words[label]["kiwi"] + mean) / (len(held[label]) + 1) for label in ("DE", "NZ")]
        assert found["rate of kiwi"] == pytest.approx(wanted)


def test_the_product_of_the_words_is_the_answer() -> None:
    """P(Kiwi | NZ) = (5 + 1)/(8 + 6) = 3/7 of the slides: five of eight words, six distinct ones."""
    texts = ["kiwi bird kiwi", "kiwi kiwi sheep", "kiwi island", "kiwi beer wurst"]
    clf = bb.TextClassifier(occurrence="count").fit(texts, ["NZ", "NZ", "NZ", "DE"])
    found = cells(clf.tables(), "text")
    assert found["P(kiwi | class)"][1] == Fraction(3, 7)
    shares = [found["P(kiwi | class)"][label] ** 2 * found["P(beer | class)"][label] for label in (0, 1)]
    prior = cells(clf.tables(), "P(class)")["P(class)"]
    joint = [p * share for p, share in zip(prior, shares, strict=True)]
    answer = clf.predict_proba(["kiwi beer kiwi"])[0].tolist()
    assert answer == pytest.approx([float(each / sum(joint)) for each in joint])


def test_full_bayes_has_mean_vector_and_covariance_by_class() -> None:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    tables = bb.FullBayes(shrink=0).fit(X, y).tables()
    for label in range(3):
        own = X[y == label]
        assert [row[label] for row in cells(tables, "mean").values()] == pytest.approx(own.mean(axis=0).tolist())
        covariance = np.array(list(cells(tables, f"covariance of {label}").values()))
        assert covariance == pytest.approx(np.cov(own.T, bias=True))


def test_full_bayes_has_the_joint_table() -> None:
    tables = bb.FullBayes().fit(HEAVY, LABELS).tables()
    rows = list(zip(LABELS, HEAVY["heavy"], HEAVY["size"], strict=True))
    for heavy, size in itertools.product(["No", "Yes"], "LMS"):
        wanted = [Fraction(rows.count((label, heavy, size)) + 1, LABELS.count(label) + 6) for label in "+-"]
        assert cells(tables, "heavy, size")[f"P(heavy={heavy}, size={size} | class)"] == wanted


@pytest.mark.parametrize("kind", [bb.TAN, bb.KDB])
def test_columns_with_parents(kind: Any) -> None:
    """The product of the cells of a row is the joint probability of the model."""
    random = np.random.default_rng(1)
    columns = {name: random.choice(list("uvw"), 60).tolist() for name in ("a", "b")}
    columns["c"] = [a if keep else b for a, b, keep in zip(*columns.values(), random.random(60) < 0.8, strict=True)]
    labels = random.choice(["no", "yes"], 60).tolist()
    for smoothing in ("laplace", None):
        clf = kind(smoothing=smoothing) if smoothing else kind()
        clf.fit(columns, labels)
        tables = clf.tables()
        row = {name: values[0] for name, values in columns.items()}
        factors = [cells(tables, "P(class)")["P(class)"]]
        for table in clf.classifier_.model.conditionals:
            name = table.column
            given = "".join(f", {parent}={row[parent]}" for parent in table.parents)
            key = f"{name} | {', '.join(table.parents)}" if table.parents else name
            factors.append(cells(tables, key)[f"P({name}={row[name]} | class{given})"])
        joint = [math.prod(float(each[label]) for each in factors) for label in (0, 1)]
        found = clf.joint_log_proba({name: [value] for name, value in row.items()})[0]
        assert np.exp(found).tolist() == pytest.approx(joint)
        if smoothing:
            assert all(isinstance(value, Fraction) for each in factors for value in each)


def test_aode_has_a_table_for_each_pair_of_columns() -> None:
    columns = {"a": list("uvuvuu") * 3, "b": list("xxyyxy") * 3}
    clf = bb.AODE(smoothing="laplace").fit(columns, RISK * 3)
    tables = clf.tables()
    assert list(tables) == ["P(class)", "a", "b", "b | a", "a | b"]
    rows = list(zip(RISK * 3, columns["a"], columns["b"], strict=True))
    for a, b in itertools.product("uv", "xy"):
        wanted = [
            Fraction(rows.count((label, a, b)) + 1, sum(row[:2] == (label, a) for row in rows) + 2) for label in "HL"
        ]
        assert cells(tables, "b | a")[f"P(b={b} | class, a={a})"] == wanted


def test_averaged_naive_bayes_shows_what_it_answers_with() -> None:
    clf = bb.AveragedNaiveBayes().fit({"size": HEAVY["size"] * 4}, LABELS * 4)
    [own] = clf.classifier_.model.conditionals
    found = np.array([[float(value) for value in row] for row in cells(clf.tables(), "size").values()])
    assert found == pytest.approx(np.exp(own.log_p))


def test_a_mixture_has_the_tables_of_its_models() -> None:
    models = [bb.NaiveBayes().fit(HEAVY, LABELS), bb.TAN().fit(HEAVY, LABELS)]
    clf = bb.BayesOptimal(models, weights=[0.4, 0.6])
    tables = clf.tables()
    assert cells(tables, "model 1: heavy")["P(heavy=Yes | class)"] == [Fraction(2, 5), Fraction(1, 3)]
    assert any(name.startswith("model 2: ") for name in tables)


def test_the_weight_of_a_column_is_a_note_on_its_table() -> None:
    random = np.random.default_rng(2)
    labels = random.choice(["no", "yes"], 200).tolist()
    noisy = [label if keep else "no" for label, keep in zip(labels, random.random(200) < 0.7, strict=True)]
    clf = bb.NaiveBayes(column_weights="learned").fit({"first": noisy, "copy": noisy}, labels)
    weights = {name: weight for name, weight in clf.column_weights_.items() if weight not in (0, 1)}
    assert weights
    for name, weight in weights.items():
        assert any(name in note and f"the weight {weight:.4g}" in note for note in clf.tables().notes)


def test_long_tables_are_cut_and_say_so() -> None:
    levels = [f"level {number}" for number in range(100)]
    clf = bb.NaiveBayes().fit({"code": [*levels, "level 7", "level 7", "level 50"]}, ["no", "yes"] * 51 + ["no"])
    tables = clf.tables(most=2)
    assert list(cells(tables, "code")) == ["P(code=level 50 | class)", "P(code=level 7 | class)"]
    assert "code: 2 of 100 rows are shown" in tables.notes
    assert len(clf.tables(most=None)["code"].rows) == 100
    assert (
        cells(clf.tables(most=None), "code")["P(code=level 7 | class)"]
        == cells(tables, "code")["P(code=level 7 | class)"]
    )
    with pytest.raises(BadOption):
        clf.tables(most=0)


def test_every_form_holds_every_table() -> None:
    hostile = "<b>$x_1 & 100%</b>"
    columns = {hostile: ["a", "b", "a"], "size": ["S", "M", "S"]}
    tables = bb.NaiveBayes().fit(columns, ["no", "yes", "yes"]).tables()
    assert max(map(len, str(tables).splitlines())) <= 100
    check_latex(tables.latex())
    assert "<b>" not in tables.html()
    assert json.loads(json.dumps(tables.to_dict()))["parameters"] == {"free": 5, "terms": 10, "naive": 8, "joint": 8}


def test_parameters_as_the_texts_count_them() -> None:
    flags = np.array([[0, 1, 0, 1, 1], [1, 0, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 1]])
    labels = ["a", "b", "a", "b"]
    found = bb.NaiveBayes().fit(flags, labels).parameters()
    n, classes = 5, 2
    assert found == (n * classes + classes - 1, 2 * n * classes + classes, 2 * n * classes, 2**n * classes)
    assert found._fields == ("free", "terms", "naive", "joint")
    distinct = 2 + 3  # levels of heavy and of size
    assert bb.NaiveBayes().fit(HEAVY, LABELS).parameters().terms == distinct * 2 + 2


def test_parameters_of_normals() -> None:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    d, classes = 4, 3
    naive, joint = 2 * d * classes, (d + d * (d + 1) // 2) * classes
    assert bb.NaiveBayes(numeric="gaussian").fit(X, y).parameters() == (naive + 2, naive + 3, naive, joint)
    assert bb.FullBayes().fit(X, y).parameters() == (joint + 2, joint + 3, naive, joint)


def test_parameters_of_the_position_model() -> None:
    from bayesbox.text.model import parameters

    found = parameters("position", words=50_000, classes=2, length=100)
    assert (found.terms, found.free) == (10_000_002, 9_999_801)
    assert found.joint == 50_000**100 * 2
    assert parameters("binary", words=50_000, classes=2).joint is None  # 15,000 digits


def test_parameters_with_parents() -> None:
    columns = {"a": list("uvuvuu") * 3, "b": list("xxyyxy") * 3}
    aode = bb.AODE().fit(columns, RISK * 3).parameters()
    assert aode == (1 + 2 * 2 + 2 * 2 * 2, 2 + 2 * 4 + 2 * 8, 8, 8)
    kdb = bb.KDB(k=1).fit(columns, RISK * 3).parameters()
    assert kdb == (1 + 2 + 4, 2 + 4 + 8, 8, 8)
