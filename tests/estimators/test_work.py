"""The work of every kind of model ends in the model's own answer, and fits wherever it is shown."""

import json
import re

import numpy as np
import pytest
from tests.explain.latex import check_latex

import bayesbox as bb

ROWS = 60


def table() -> tuple[dict[str, list[object]], list[str]]:
    """Categories, flags, and numbers that depend on the class, some of them missing."""
    draw = np.random.default_rng(4)
    labels = draw.choice(["no", "yes", "maybe"], ROWS, p=[0.5, 0.3, 0.2])
    shift = np.select([labels == "no", labels == "yes"], [0.0, 2.0], 4.0)
    number = shift + draw.normal(size=ROWS)
    rows: dict[str, list[object]] = {
        "size": [("S", "M", "L")[min(int(abs(each)) // 2, 2)] for each in number],
        "colour": draw.choice(["red", "blue"], ROWS).tolist(),
        "flag": (draw.random(ROWS) < 0.3 + 0.1 * shift).tolist(),
        "dose": number.round(2).tolist(),
        "age": (40 + 3 * number + draw.normal(size=ROWS)).round(1).tolist(),
    }
    rows["size"][3] = rows["dose"][5] = rows["colour"][7] = None
    return rows, labels.tolist()


X, Y = table()
KINDS = {
    "naive": lambda: bb.NaiveBayes(),
    "naive, mle": lambda: bb.NaiveBayes(smoothing="mle", numeric="gaussian"),
    "naive, weights": lambda: bb.NaiveBayes(column_weights="learned"),
    "naive, calibrated": lambda: bb.NaiveBayes(calibration="temperature"),
    "naive, given prior": lambda: bb.NaiveBayes(prior={"no": 1 / 3, "yes": 1 / 7, "maybe": 11 / 21}),
    "full": lambda: bb.FullBayes(),
    "full, pooled": lambda: bb.FullBayes(covariance="pooled"),
    "full, diagonal": lambda: bb.FullBayes(covariance="diagonal"),
    "averaged": lambda: bb.AveragedNaiveBayes(),
    "averaged, bins": lambda: bb.AveragedNaiveBayes(numeric="mdl"),
    "TAN": lambda: bb.TAN(),
    "TAN, laplace": lambda: bb.TAN(smoothing="laplace"),
    "KDB": lambda: bb.KDB(k=2),
    "KDB, mle": lambda: bb.KDB(k=2, smoothing="mle"),
    "AODE": lambda: bb.AODE(),
    "AODE, laplace": lambda: bb.AODE(smoothing="laplace"),
    "auto": lambda: bb.AutoBayes(budget=0.2),
}
CASES = [
    {"size": "M", "colour": "red", "flag": True, "dose": 1.5, "age": 44.0},
    {"size": "L", "colour": "blue", "flag": False, "dose": 30.0, "age": 10.0},
    {"size": "XXL", "colour": None, "flag": True, "dose": 2.0, "age": None},
    {"size": "S", "colour": None, "flag": None, "dose": None, "age": None},
    {"size": None, "colour": None, "flag": None, "dose": None, "age": None},
]


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_step_is_the_answer_of_the_model(kind: str) -> None:
    clf = KINDS[kind]().fit(X, Y)
    for case in CASES:
        row = {name: [value] for name, value in case.items()}
        work, answer = clf.work(row), clf.predict_proba(row)[0].tolist()
        assert list(work.posterior) == pytest.approx(answer, abs=1e-12)
        last = work.step("calibration" if clf.classifier_.calibrated is not None else "posterior")
        assert [float(cell.value) for cell in last.rows[-1].cells] == pytest.approx(answer, abs=1e-12)
        assert f"so the class is {clf.predict(row)[0]}" in str(work)
        assert max(map(len, str(work).splitlines())) <= 100
        assert not re.search(r"\bnan\b", str(work))
        check_latex(work.latex())
        json.dumps(work.to_dict(), allow_nan=False)


def test_the_sum_over_hypotheses_beside_the_most_probable_one() -> None:

    def always(label: str) -> bb.NaiveBayes:
        other = "-" if label == "+" else "+"
        tables = {"x": {"+": {"a": 0.5, "b": 0.5}, "-": {"a": 0.5, "b": 0.5}}}
        return bb.NaiveBayes.from_tables(prior={label: 1.0, other: 0.0}, tables=tables)

    clf = bb.BayesOptimal([always("+"), always("-"), always("-")], weights=[0.4, 0.3, 0.3])
    work = clf.work({"x": "a"})
    plus, minus = work.step("posterior").rows[0].cells
    assert str(minus) == "0.4 x 0 + 0.3 x 1 + 0.3 x 1 = 3/5 = 0.6"
    assert str(plus).endswith("= 2/5 = 0.4")
    told = [str(row) for row in work.step("decision").rows]
    assert told == [
        "the most probable hypothesis, h1, alone gives +",
        "so the class is -, by the sum over all hypotheses",
    ]
    check_latex(work.latex())
    with pytest.raises(bb.BadData):
        clf.work({"x": ["a", "b"]})


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
def test_hypotheses_that_learned_give_the_answer_of_their_sum() -> None:
    clf = bb.BayesOptimal([bb.NaiveBayes().fit(X, Y), bb.FullBayes().fit(X, Y)], weights=[2, 1])
    for case in CASES[:3]:
        row = {name: [value] for name, value in case.items()}
        assert list(clf.work(row).posterior) == pytest.approx(clf.predict_proba(row)[0].tolist(), abs=1e-12)


def test_full_bayes_says_that_its_correlations_are_shrunk() -> None:
    rows = {"length": [4, 8, 5, 7, 9, 11, 9, 11], "width": [6, 10, 9, 7, 5, 9, 8, 6]}
    case, kind = {"length": 8, "width": 8}, ["A"] * 4 + ["B"] * 4
    shrunk = bb.FullBayes(shrink="loo").fit(rows, kind).work(case)
    assert "correlations shrunk" in str(shrunk.step("shrinkage").rows[0])
    assert "correlations shrunk" in str(bb.FullBayes(shrink="loo").fit(rows, kind).tables())
    plain = bb.FullBayes().fit(rows, kind)
    assert "shrunk" not in str(plain.work(case)) + str(plain.tables())


def test_full_bayes_shows_means_covariances_and_the_quadratic_form() -> None:
    from scipy.stats import multivariate_normal
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    numbers = iris.data.iloc[:, :2].rename(columns=lambda name: name.removesuffix(" (cm)"))
    clf = bb.FullBayes().fit(numbers, iris.target_names[iris.target])
    row = numbers.iloc[[70]]
    work = clf.work(row)
    for k, label in enumerate(clf.classes_):
        own = numbers[iris.target_names[iris.target] == label].to_numpy()
        mean, covariance = own.mean(axis=0), np.cov(own.T, bias=True)
        assert [float(each.cells[k].value) for each in work.step("mean").rows] == pytest.approx(mean, rel=1e-12)
        shown = [[float(cell.value) for cell in each.cells] for each in work.step("covariance").rows[2 * k : 2 * k + 2]]
        assert np.array(shown) == pytest.approx(covariance, rel=1e-9)
        determinant, quadratic = (float(each.cells[k].value) for each in work.step("density").rows)
        away = row.to_numpy()[0] - mean
        assert determinant == pytest.approx(np.linalg.det(covariance), rel=1e-9)
        assert quadratic == pytest.approx(away @ np.linalg.inv(covariance) @ away, rel=1e-9)
        density = multivariate_normal(mean, covariance).pdf(row.to_numpy()[0])
        assert float(work.step("likelihood").rows[-1].cells[k].value) == pytest.approx(density, rel=1e-9)


@pytest.mark.parametrize(
    "model", [bb.NaiveBayes(), bb.TextClassifier(), bb.TextClassifier(occurrence="table")], ids=str
)
def test_a_matrix_of_counts(model: bb.NaiveBayes | bb.TextClassifier) -> None:
    from scipy.sparse import csr_matrix

    counts = csr_matrix(np.random.default_rng(0).poisson(0.6, (30, 12)))
    clf = model.fit(counts, ["a", "b", "c"] * 10)
    work = clf.work(counts[:1])
    assert list(work.posterior) == pytest.approx(clf.predict_proba(counts[:1])[0].tolist(), abs=1e-12)


def test_back_off_is_written_out() -> None:
    rows = {"a": list("xxyyxxyyxxyy"), "b": list("xxyyxxyyxyxy")}
    labels = ["no", "yes"] * 6
    laplace = bb.TAN(smoothing="laplace", score="mi").fit(rows, labels).work({"a": "x", "b": "x"})
    names = [row.name for row in laplace.step("likelihood").rows]
    assert names == ["P(a=x | class)", "P(b=x | class, a=x)", "likelihood: P(x | class)"]
    assert str(laplace.step("likelihood").rows[1].cells[0]) == "(3 + 1)/(3 + 2) = 4/5 = 0.8"
    leaning = bb.TAN(score="mi").fit(rows, labels).work({"a": "x", "b": "x"})
    assert [row.name for row in leaning.step("back-off").rows] == ["P(a=x)", "P(b=x)", "P(b=x | class)"]
    for row in (*leaning.step("back-off").rows, *leaning.step("likelihood").rows[:-1]):
        for cell in row.cells:
            assert eval(cell.formula.replace(" x ", " * ")) == pytest.approx(float(cell.value), rel=1e-3)
    alone = bb.TAN(smoothing="mle", score="mi").fit(rows, labels).work({"a": "x", "b": "x"})
    assert not [row for row in alone.step("decision").rows if "left out" in row.name]
    every = bb.AODE(smoothing="laplace").fit(rows, labels).work({"a": "x", "b": "x"})
    assert [step.name for step in every.steps[:2]] == ["parent a", "parent b"]


def test_auto_bayes_names_its_models_and_their_weights() -> None:
    clf = bb.AutoBayes(budget=0.2).fit(X, Y)
    models = clf.work({name: [value] for name, value in CASES[0].items()}).step("models")
    assert models.columns == ("weight", "maybe", "no", "yes")
    assert models.rows[-1].name == "class shares"
    assert [float(row.cells[0].value) for row in models.rows] == list(clf.classifier_.derived.powers)


def test_the_joint_table_of_categories_is_a_count_over_a_count() -> None:
    rows = {"a": list("xxyyxxyy"), "b": list("pqpqppqq")}
    work = bb.FullBayes().fit(rows, ["no", "yes"] * 4).work({"a": "x", "b": "p"})
    assert str(work.step("likelihood").rows[0].cells[0]) == "(2 + 1)/(4 + 4) = 3/8 = 0.375"
