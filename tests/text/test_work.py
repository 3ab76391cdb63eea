"""The work of a document multiplies to the answer of every model of documents."""

import random
from fractions import Fraction

import pytest
from tests.explain.latex import check_latex

import bayesbox as bb

TEXTS = ["Kiwi Sheep Kiwi", "Kiwi Kiwi Bird", "Kiwi Auckland", "Munich Oktoberfest Kiwi"]
CLASSES = ["NZ", "NZ", "NZ", "DE"]
ASKED = ["Kiwi Kiwi Kiwi Munich Oktoberfest", "Sheep", "none of these", "Kiwi " * 5]
MODELS = ["count", "binary", "complement", "normalised", "poisson", "table", "position"]


@pytest.mark.filterwarnings("ignore::bayesbox.errors.DataWarning")
@pytest.mark.parametrize(
    ("model", "options"),
    [
        *(
            (model, options)
            for model in MODELS
            for options in ({}, {"smoothing": "mle"}, {"calibration": "temperature"})
        ),
        *((model, {"once": True}) for model in ("count", "complement", "normalised")),
    ],
)
def test_the_posterior_is_that_of_the_model(model: str, options: dict[str, object]):
    clf = bb.TextClassifier(occurrence=model, **options).fit(TEXTS, CLASSES)
    for text in ASKED:
        work = clf.work([text])
        assert list(work.posterior) == pytest.approx(clf.predict_proba([text])[0].tolist(), abs=1e-12)
        assert max(map(len, str(work).splitlines())) <= 100
        check_latex(work.latex())


@pytest.mark.parametrize("model", MODELS[:-1])
def test_many_words_are_not_all_written_out(model: str):
    draw = random.Random(1)
    texts = [" ".join(f"w{draw.randrange(250)}" for _ in range(70)) for _ in range(12)]
    clf = bb.TextClassifier(occurrence=model).fit(texts, ["a", "b", "c"] * 4)
    for text in (texts[0], "w1 w2 w3"):
        work = clf.work([text])
        assert list(work.posterior) == pytest.approx(clf.predict_proba([text])[0].tolist(), abs=1e-12)
        assert len(work.step("likelihood").rows) <= 43


def test_the_lecture_of_kiwis_and_beer():
    work = bb.TextClassifier().fit(TEXTS, CLASSES).work(ASKED[:1])
    kiwi, munich, _, _ = work.step("likelihood").rows
    assert kiwi.cells[1].formula == "[(5 + 1)/(8 + 6)]^3 = (3/7)^3"
    assert munich.cells[1].value == Fraction(1, 14)
    joint = work.step("joint").rows[0].cells[1].value
    assert joint == Fraction(3, 4) * Fraction(3, 7) ** 3 * Fraction(1, 14) ** 2
    assert "0.0003012138" in str(work)


def test_absent_words_and_tables_of_occurrences_are_written_out():
    binary = bb.TextClassifier(occurrence="binary").fit(TEXTS, CLASSES).work(ASKED[:1])
    names = [row.name for row in binary.step("likelihood").rows]
    assert names[3:6] == ["P(no auckland | class)", "P(no bird | class)", "P(no sheep | class)"]
    table = bb.TextClassifier(occurrence="table").fit(TEXTS, CLASSES).work(ASKED[:1])
    rows = table.steps[0].rows
    assert [row.name for row in rows] == [
        f"P(kiwi {each} | class)" for each in ("0 times", "1 time", "2 times", "3+ times")
    ]
    assert all(sum(row.cells[c].value for row in rows) == 1 for c in range(2))
    place = bb.TextClassifier(occurrence="position").fit(TEXTS, CLASSES).work(ASKED[:1])
    assert place.step("likelihood").rows[0].name == "P(kiwi at place 1 | class)"


@pytest.mark.parametrize("top", [None, 3])
@pytest.mark.parametrize("occurrence", ["count", "normalised"])
def test_a_column_of_text_within_a_table(occurrence: str, top: int | None):
    rows = {"note": TEXTS * 3, "size": list("xyxyxyxyxyxy")}
    clf = bb.NaiveBayes(columns={"note": bb.Words(occurrence=occurrence, top=top)}).fit(rows, CLASSES * 3)
    for note in ("Kiwi Kiwi Munich", "zzz", None):
        row = {"note": [note], "size": ["x"]}
        assert list(clf.work(row).posterior) == pytest.approx(clf.predict_proba(row)[0].tolist(), abs=1e-12)
    names = [row.name for row in clf.work({"note": "Kiwi Kiwi Munich", "size": "x"}).step("likelihood").rows]
    assert any(name.startswith("P(kiwi in note | class)^") for name in names)
