"""What a teacher shows of the five texts, item by item: Bayes' rule, naive Bayes of tables, smoothing, full Bayes.

The texts are those of docs/teach: T0 the notes with the shapes, T1 Barber, T2 chapter 18, T3 the slides of Auckland, T4
the post with the tennis. Each test has the call that shows the item, and what must be on the screen.
"""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tests.cli.conftest import Bayes
from tests.tables import HABITS, HEAVY, SCOTS, SHAPES, TENNIS
from tests.worked.lecture import CAR_TYPES, case, write_files

import bayesbox as bb


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


MEDIUM, SMALL = ({"shape": "circle", "colour": "blue", "size": size} for size in ("medium", "small"))
DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}


def learned(bayes: Bayes, *arguments: str) -> None:
    bayes("train", *arguments, "-o", "m.bayes")


def test_1_meningitis(bayes: Bayes) -> None:
    asked = ("rule", "--prior", "1/50000", "--likelihood", "50%", "--evidence", "1/20")
    assert "= 0.0002, or 1 in 5,000" in bayes(*asked).out
    assert "P(h | e) = 0.5 x 2e-05 / 0.05 = 1/5000 = 0.0002" in bayes(*asked, "--show-work").out


def test_2_the_misprint_of_the_prior(bayes: Bayes) -> None:
    assert "1 in 500" in bayes("rule", "--prior", "1/5000", "--likelihood", "50%", "--evidence", "1/20").out
    assert bb.bayes_rule(prior=Fraction(1, 5000), likelihood=Fraction(1, 2), evidence=Fraction(1, 20)) == Fraction(
        1, 500
    )


def test_3_evidence_after_evidence(bayes: Bayes) -> None:
    shares = ("--prior", "ill=1%,well=99%", *("--likelihood", "ill=.9,well=.05") * 2)
    shown = bayes("rule", *shares, "--show-work").out
    assert "posterior: P(h | e1)      2/13" in shown
    assert "36/47 = 0.7659574" in shown


def test_4_shapes(bayes: Bayes) -> None:
    learned(bayes, "shapes.csv", "-t", "class", "--smoothing", "mle")
    shown = bayes("explain", "m.bayes", *case(**MEDIUM), "--show-work").out
    for figure in ("9/275", "1/99", "81/106 = 0.7641509", "evidence: P(x) = 9/275 + 1/99 = 106/2475"):
        assert figure in shown


def test_5_independence_with_its_factors(bayes: Bayes) -> None:
    assert "6/11 x 4/11 = 24/121" in bayes("query", "shapes.csv", "colour=red _|_ size=large").out
    assert "2/5 x 2/5 = 4/25" in bayes("query", "shapes.csv", "colour=red _|_ size=large | class=+").out


def test_6_the_joint_table_has_no_answer(bayes: Bayes) -> None:
    ended = bayes("query", "shapes.csv", "P(class | shape=circle, colour=blue, size=medium)", code=3)
    assert "never occurs, so the probability is undefined" in ended.err


def test_7_probabilities_as_the_notes_count_them(bayes: Bayes) -> None:
    """2n|L| = 20 and 2^n|L| = 64 for five flags, beside the free ones."""
    learned(bayes, "scots.csv", "-t", "class")
    assert (
        "11 free, 22 in total; P(x | class): 20 by naive Bayes, 64 by the full joint"
        in bayes("show", "m.bayes", "--tables").out
    )
    assert bb.NaiveBayes().fit(*SCOTS).parameters() == (11, 22, 20, 64)


def test_8_terms_of_tables_and_documents() -> None:
    """|distinct values| x |V| + |V|."""
    assert bb.NaiveBayes().fit(*HEAVY).parameters().terms == 7 * 2 + 2
    documents = bb.TextClassifier().fit(["kiwi sheep", "beer kiwi"], ["NZ", "DE"]).parameters()
    assert (documents.terms, documents.free) == (3 * 2 + 2, 2 * 2 + 1)


@pytest.mark.parametrize(
    ("rule", "plus", "minus"),
    [
        ("replace-zero:half", "3/1210", "1/33"),
        ("replace-zero:prior", "3/1331", "1/33"),
        ("as-written:1,1", "5/297", "216/3773"),
    ],
)
def test_9_10_zeros_of_the_shapes(bayes: Bayes, rule: str, plus: str, minus: str) -> None:
    learned(bayes, "shapes.csv", "-t", "class", "--smoothing", rule)
    shown = bayes("explain", "m.bayes", *case(**SMALL), "--show-work").out
    assert f"{plus} = " in shown
    assert f"{minus} = " in shown
    assert ("0.5/11 instead of 0/5 = 1/22" in shown) == (rule == "replace-zero:half")


def test_11_the_product_that_is_0_beside_the_sum_of_logs() -> None:
    wide = {f"a{place}": ["no", "yes", "yes", "no"] for place in range(1100)}
    work = bb.NaiveBayes().fit(wide, ["-", "+", "-", "+"]).work(dict.fromkeys(wide, "yes"))
    product, logs, *_ = work.step("underflow").rows
    assert [str(cell) for cell in product.cells] == ["0.0", "0.0"]
    assert [float(str(cell)) for cell in logs.cells] == pytest.approx([np.log(0.5) * 1101] * 2, abs=1e-3)


def test_12_bins_densities_and_a_subset_of_the_columns() -> None:
    data = load_iris(as_frame=True)
    frame, kind = data.data.set_axis(["sl", "sw", "pl", "pw"], axis=1), data.target_names[data.target]
    bins = bb.NaiveBayes(numeric="mdl").fit(frame, kind).tables()["pl"].rows
    assert [row.name for row in bins] == [
        "P(pl up to 2.45 | class)",
        "P(pl 2.45 to 4.75 | class)",
        "P(pl above 4.75 | class)",
    ]
    assert bb.NaiveBayes(select="forward").fit(frame, kind).selected_ == ("pl", "pw")


def test_14_given_tables_are_shown(bayes: Bayes) -> None:
    bayes("train", "--tables", "radio.json")
    asked = case(Radio1="like", Radio2="dislike", Radio3="dislike", Radio4="like")
    assert "61479/2272604" in bayes("explain", "radio.bayes", *asked, "--show-work").out
    assert "P(Radio1=like | class)     0.03 = 3/100   0.95 = 19/20" in bayes("show", "radio.bayes", "--tables").out
    assert "like" in bayes("show", "radio.bayes", "--column", "Radio1").out


def test_15_six_scots_and_seven() -> None:
    x = dict(zip(HABITS, [1, 0, 1, 1, 0], strict=True))
    six = {name: values[:-1] for name, values in SCOTS.X.items()}
    for rows, labels, answer in ((six, SCOTS.y[:-1], "16/25 = 0.64"), (SCOTS.X, SCOTS.y, "1440/1783 = 0.8076276")):
        work = bb.NaiveBayes(smoothing="mle").fit(rows, labels).work(x)
        assert str(work.step("posterior").rows[0].cells[1]) == answer


def test_16_a_zero_and_m_added_to_both_counts() -> None:
    x = dict(zip(HABITS, [0, 1, 1, 1, 1], strict=True))
    found = [
        bb.NaiveBayes(smoothing=rule).fit(*SCOTS).work(x).step("posterior").rows[0] for rule in ("mle", "lidstone:1")
    ]
    assert [str(row.cells[1]) for row in found] == ["0", "71680/248827 = 0.2880716"]


def test_17_normals_are_the_diagonal_case() -> None:
    data = load_iris()
    naive = bb.NaiveBayes(numeric="gaussian").fit(data.data, data.target)
    diagonal = bb.FullBayes(covariance="diagonal").fit(data.data, data.target)
    np.testing.assert_allclose(naive.predict_log_proba(data.data), diagonal.predict_log_proba(data.data), atol=1e-9)


def test_18_the_table_of_occurrences_of_a_word() -> None:
    texts = ["vote vote law", "law vote tax", "goal team goal goal", "team goal law"]
    clf = bb.TextClassifier(top=100, occurrence="table").fit(texts, ["politics"] * 2 + ["sport"] * 2)
    shown = str(clf.tables())
    for number in ("0", "1", "2", "3+"):
        assert f"P(goal {number} times | class)" in shown
    assert "(1 + 1)/(2 + 4) = 1/3" in shown


def test_19_one_of_m_coding() -> None:
    age, label = [1, 1, 2, 3, 1, 1, 2, 3, 3, 3, 2, 1, 3, 3, 2, 1], ["x"] * 8 + ["y"] * 8
    flags = {f"a{k}": [int(a == k) for a in age] for k in (1, 2, 3)}
    with pytest.warns(bb.DataWarning, match="one-hot encoded in 3 columns"):
        coded = bb.NaiveBayes(smoothing="mle").fit(flags, label)
    folded = bb.NaiveBayes(smoothing="mle", one_hot={"a": ["a1", "a2", "a3"]}).fit(flags, label)
    asked = {"a1": 1, "a2": 0, "a3": 0}
    assert [str(clf.work(asked).step("posterior").rows[0].cells[0]) for clf in (coded, folded)] == [
        "3/4 = 0.75",
        "2/3 = 0.6666667",
    ]


def test_20_maximum_likelihood() -> None:
    shares, smooth = (bb.NaiveBayes(smoothing=rule).fit(*SCOTS) for rule in ("mle", "laplace"))
    assert shares.log_likelihood(*SCOTS) > smooth.log_likelihood(*SCOTS)
    assert str(shares.tables()["lager"].rows[1].cells[1]) == "4/7 = 0.5714286"


def test_21_weights_and_the_boundary_drawn(bayes: Bayes, folder: Path) -> None:
    learned(bayes, "scots.csv", "-t", "class", "--smoothing", "lidstone:1")
    shown = bayes("show", "m.bayes", "--weights").out
    assert "shortbread=1  2.079442" in shown
    assert "constant a    -1.885597" in shown
    bayes("show", "m.bayes", "--boundary", "lager", "whiskey", "--svg", "flags.svg")
    assert (folder / "flags.svg").read_text().startswith("<svg")


def test_22_23_24_full_bayes_of_the_irises() -> None:
    data = load_iris(as_frame=True)
    frame, kind = data.data.set_axis(["sl", "sw", "pl", "pw"], axis=1), data.target_names[data.target]
    clf = bb.FullBayes().fit(frame, kind)
    rows = {row.name: row for step in clf.tables().values() for row in step.rows}
    own = frame[kind == "virginica"]
    expected = np.cov(own.T, bias=True)
    for place, name in enumerate(frame):
        found = [float(str(cell)) for cell in rows[f"covariance of {name} | virginica"].cells]
        assert found == pytest.approx(expected[place].tolist(), rel=1e-6)
        assert float(str(rows[f"mean of {name}"].cells[2])) == pytest.approx(own[name].mean(), rel=1e-6)
    work = clf.work(dict(frame.iloc[0]))
    density = work.step("density").rows
    first = frame[kind == "setosa"]
    moved = (frame.iloc[0] - first.mean()).to_numpy()
    sigma = np.cov(first.T, bias=True)
    assert float(density[0].cells[0].value) == pytest.approx(np.linalg.det(sigma), rel=1e-9)
    assert density[1].cells[0].value == pytest.approx(moved @ np.linalg.solve(sigma, moved), rel=1e-9)
    assert "(2 pi)^-2" in str(work)
    assert (clf.parameters().naive, clf.parameters().joint) == (2 * 4 * 3, (4 + 10) * 3)


def test_23_full_bayes_by_command(bayes: Bayes) -> None:
    learned(bayes, "shapes.csv", "-t", "class", "--model", "full", "--smoothing", "mle")
    shown = bayes("explain", "m.bayes", *case(shape="circle", colour="blue", size="large"), "--show-work").out
    assert "P(shape=circle, colour=blue, size=large |     1/5 = 0.2          0/6 = 0" in shown


def test_25_26_27_the_cars(bayes: Bayes) -> None:
    learned(bayes, "cars.csv", "-t", "class", "--types", CAR_TYPES)
    shown = bayes("explain", "m.bayes", *case(age=23, car="truck"), "--show-work").out
    assert "N(23 | 27.5, 10.30776406) = 0.03518519" in shown
    assert "(0 + 1)/(4 + 4) = 1/8" in shown
    assert "likelihood: P(x | class)  0.004398149" in shown
    assert "evidence: P(x) = 0.002932099 + 0 = 0.002932099" in shown
    tables = bayes("show", "m.bayes", "--tables").out
    for row in (
        "P(car=sports | class)      (1 + 1)/(4 + 4) = 1/4 = 0.25   (2 + 1)/(2 + 4) = 1/2 = 0.5",
        "P(car=suv | class)         (2 + 1)/(4 + 4) = 3/8 = 0.375  (0 + 1)/(2 + 4) = 1/6 = 0.1666667",
        "P(car=truck | class)       (0 + 1)/(4 + 4) = 1/8 = 0.125  (0 + 1)/(2 + 4) = 1/6 = 0.1666667",
        "P(car=vintage | class)     (1 + 1)/(4 + 4) = 1/4 = 0.25   (0 + 1)/(2 + 4) = 1/6 = 0.1666667",
    ):
        assert row in tables
    assert "truck" in bayes("show", "m.bayes", "--column", "car").out


def test_28_prior_counts_of_one_column_among_others() -> None:
    counts = {"outlook": "prior-counts:sunny=2,rainy=1,overcast=1"}
    tables = bb.NaiveBayes(column_smoothing=counts).fit(*TENNIS).tables()
    assert str(tables["outlook"].rows[2].cells[0]) == "(3 + 2)/(5 + 4) = 5/9 = 0.5555556"
    assert str(tables["temperature"].rows[0].cells[0]) == "(1 + 1)/(5 + 3) = 1/4 = 0.25"


def test_29_bayes_optimal(bayes: Bayes, folder: Path) -> None:
    for place, plus in enumerate((1, 0, 0), start=1):
        tables = {"prior": {"+": plus, "-": 1 - plus}, "tables": {"x": {"+": {"a": 1}, "-": {"a": 1}}}}
        (folder / f"h{place}.json").write_text(json.dumps(tables))
        bayes("train", "--tables", f"h{place}.json")
    bayes("average", "h1.bayes", "h2.bayes", "h3.bayes", "--weights", ".4,.3,.3", "-o", "all.bayes")
    shown = bayes("explain", "all.bayes", *case(x="a"), "--show-work").out
    assert "0.4 x 0 + 0.3 x 1 + 0.3 x 1 = 3/5" in shown
    assert "the most probable hypothesis, h1, alone gives +" in shown
    assert "so the class is -" in shown


def test_30_31_53_heavy_things_and_their_tables(bayes: Bayes) -> None:
    smooth = bb.NaiveBayes(smoothing="laplace", prior_smoothing="laplace").fit(*HEAVY)
    asked = {"heavy": "Yes", "size": "M", "colour": "B"}
    shares = bb.NaiveBayes(smoothing="mle").fit(*HEAVY)
    assert "+ : - = 9/64" in str(shares.work({**asked, "colour": "R"}))
    assert "infinite: the joint of - is 0" in str(shares.work(asked))
    assert "+ : - = 125/189" in str(smooth.work(asked))
    assert "+ : - = 125/324" in str(smooth.work({**asked, "colour": None}))
    learned(bayes, "heavy.csv", "-t", "label", "--prior-smoothing", "laplace")
    tables = bayes("show", "m.bayes", "--tables").out
    for row in (
        "P(class)              (4 + 1)/(7 + 2) = 5/9 = 0.5555556  (3 + 1)/(7 + 2) = 4/9 = 0.4444444",
        "P(heavy=Yes | class)  (1 + 1)/(4 + 2) = 1/3 = 0.3333333  (2 + 1)/(3 + 2) = 3/5 = 0.6",
        "P(colour=B | class)   (1 + 1)/(4 + 3) = 2/7 = 0.2857143  (0 + 1)/(3 + 3) = 1/6 = 0.1666667",
    ):
        assert row in tables


def test_32_a_question_mark_is_not_passed_over_in_silence(bayes: Bayes) -> None:
    learned(bayes, "heavy.csv", "-t", "label", "--prior-smoothing", "laplace")
    unsaid = bayes("predict", "m.bayes", "tests.csv", "--proba")
    assert "--na '?'" in unsaid.err
    said = bayes("predict", "m.bayes", "tests.csv", "--proba", "--na", "?")
    assert "--na" not in said.err
    assert float(said.out.splitlines()[3].split(",")[1]) == pytest.approx(125 / 449, rel=1e-12)


def test_37_a_missing_value_is_left_out_of_its_own_estimate() -> None:
    rows = {**TENNIS.X, "outlook": [None, *TENNIS.X["outlook"][1:]]}
    tables = bb.NaiveBayes(smoothing="mle").fit(rows, TENNIS.y).tables()
    assert str(tables["outlook"].rows[2].cells[0]) == "2/4 = 1/2 = 0.5"
    assert str(tables["windy"].rows[1].cells[0]) == "3/5 = 0.6"


def test_50_tennis(bayes: Bayes) -> None:
    learned(bayes, "tennis.csv", "-t", "play", "--smoothing", "mle")
    shown = bayes("explain", "m.bayes", *case(**DAY), "--show-work").out
    for figure in ("1/189 = 0.005291005", "18/875 = 0.02057143", "486/611 = 0.7954173"):
        assert figure in shown


def test_51_52_laplace_and_the_m_estimate_as_printed() -> None:
    laplace = bb.NaiveBayes(smoothing="as-written:1,2").fit(*TENNIS).work(DAY)
    assert str(laplace.step("posterior").rows[0].cells[0]) == "366025/495679 = 0.7384315"
    three = ("outlook", "temperature")  # p = 1/3 there, and 1/2 for the others: m = 3 adds 3 above, and 1 or 1.5 below
    rules = {name: "as-written:3,1" if name in three else "as-written:3,1.5" for name in TENNIS.X}
    printed = bb.NaiveBayes(column_smoothing=rules).fit(*TENNIS).work(DAY)
    joint = Fraction(5, 14) * Fraction(6, 6) * Fraction(4, 6) * Fraction(7 * 2, 13) * Fraction(6 * 2, 13)
    assert printed.step("joint").rows[-1].cells[0].value == joint


def test_shapes_in_python_as_by_command() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        work = bb.NaiveBayes(smoothing="mle").fit(*SHAPES).work(MEDIUM)
    assert work.step("posterior").rows[0].cells[0].value == Fraction(81, 106)
