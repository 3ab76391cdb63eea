"""The nomogram: its marks are the terms of an explanation, its totals those of a row, its picture is valid."""

import math
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.laws.mixed import estimator, table
from tests.refusal import refusal
from tests.tables import CARS, DOCUMENTS, HEAVY

import bayesbox as bb
from bayesbox.errors import BadOption, UnseenLevels
from bayesbox.explain.nomogram import Mark, Nomogram, Ruler, chance
from bayesbox.explain.nomogram_layout import points_scale, spots, total_scale
from bayesbox.explain.rulers import MISSING, round_values

X, Y = table()


def fitted(clf, rows, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clf.fit(rows, y)


MODELS = {
    "cars": lambda: (fitted(bb.NaiveBayes(), CARS.X, CARS.y), CARS.X),
    "zeros": lambda: (fitted(bb.NaiveBayes(smoothing="mle"), HEAVY.X, HEAVY.y), HEAVY.X),
    "every kind": lambda: (fitted(estimator(), X, Y), X),
    "missing as a level": lambda: (fitted(estimator(missing="level"), X, Y), X),
    "any density": lambda: (fitted(bb.NaiveBayes(numeric="auto"), X, Y), X),
    "bins": lambda: (fitted(bb.NaiveBayes(numeric="frequency:4"), X, Y), X),
    "weights": lambda: (fitted(bb.NaiveBayes(column_weights="learned"), X, Y), X),
    "counts": lambda: (
        fitted(bb.NaiveBayes(columns=dict.fromkeys(DOCUMENTS.X, "count")), DOCUMENTS.X, DOCUMENTS.y),
        DOCUMENTS.X,
    ),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


def value_of(mark):
    """A value that stands at this mark, as a row would bring it."""
    if mark.label == MISSING:
        return None
    if mark.number is not None:
        return mark.number
    for opening, direction in (("up to ", -1), ("above ", 1)):  # the ends of a label are rounded
        if mark.label.startswith(opening):
            cut = float(mark.label.removeprefix(opening))
            return cut + direction * (abs(cut) + 1)
    if " to " in mark.label:
        low, high = map(float, mark.label.split(" to "))
        return low / 2 + high / 2
    return {"false": False, "true": True}.get(mark.label, mark.label)


def parts_of_row(clf, column, value):
    """The terms of a row with this value alone; that of a part of a date is beside the date, which is missing."""
    for name, parts in clf.classifier_.schema.parts.items():
        if column in (name, *parts):
            row = {**dict.fromkeys((name, *parts)), column: value}
            return clf.classifier_.explain_parts(clf._asked([row]))
    return clf.explain([{column: value}])


def test_marks_are_the_terms_of_rows(model):
    clf, _ = model
    one, other = clf.classes_[1], clf.classes_[0]
    found = clf.nomogram(one, other, top=100)
    assert found.rulers
    for ruler in found.rulers:
        for mark in ruler.marks:
            value = value_of(mark)
            if isinstance(value, str) and value in ("0", "1", "any"):
                value = float(value) if value != "any" else 1.0
            explained = parts_of_row(clf, ruler.column, value)
            terms = explained.column_odds(one, other)[0]
            assert mark.log_odds == terms[explained.columns.index(ruler.column)], (ruler.column, mark)


def test_every_level_has_a_mark():
    clf, _ = MODELS["every kind"]()
    marks = {ruler.column: [mark.label for mark in ruler.marks] for ruler in clf.nomogram(top=100).rulers}
    assert marks["car"] == sorted(clf.book_["car"].levels)
    assert marks["smoker"] == ["false", "true"]
    assert marks["zip"] == ["01099", "10115", "1099", MISSING]
    assert marks["parcels"][:3] == ["0", "1", "2"]


def test_the_total_is_that_of_the_explanation(model):
    clf, rows = model
    for place in range(min(len(next(iter(rows.values()))), 12)):
        row = {name: values[place] for name, values in rows.items()}
        explained = clf.explain([row])
        for one in clf.classes_:
            for other in clf.classes_[clf.classes_ != one]:
                found = clf.nomogram(one, other, row=row, top=3)
                [total] = explained.log_odds(one, other).tolist()
                assert found.total == pytest.approx(total, rel=1e-12)  # the parts of a date are added in another order
                assert found.probability == chance(found.total)
                parts = [ruler.own.log_odds for ruler in (*found.rulers, *found.others) if ruler.own]
                if math.isfinite(total):
                    assert math.fsum([found.prior, *parts]) == pytest.approx(total, rel=1e-9, abs=1e-9)
                ET.fromstring(found.svg())
                assert str(found)


def test_the_most_telling_columns_come_first(model):
    clf, _ = model
    every = clf.nomogram(top=100)
    ranges = [ruler.range for ruler in every.rulers]
    assert ranges == sorted(ranges, reverse=True)
    some = clf.nomogram(top=2)
    assert some.rulers == every.rulers[:2]
    assert some.others == every.rulers[2:]
    assert some.reach() == every.reach()


def test_two_classes_need_no_names():
    clf = fitted(bb.NaiveBayes(), CARS.X, CARS.y)
    found = clf.nomogram()
    assert (found.label, found.against) == ("L", "H")
    assert found.prior == pytest.approx(math.log(2 / 4))
    assert clf.nomogram("H").against == "L"
    assert clf.nomogram(against="L").label == "H"
    there, back = clf.nomogram("H").rulers[0], clf.nomogram("L").rulers[0]
    np.testing.assert_allclose([mark.log_odds for mark in there.marks], [-mark.log_odds for mark in back.marks])


def test_of_several_classes_the_most_probable_other():
    clf = fitted(bb.NaiveBayes(), {"x": list("aabbcc")}, ["p", "q", "q", "r", "r", "r"])
    assert clf.nomogram("p").against == "r"
    assert clf.nomogram("r").against == "q"
    assert "is relative to these two classes" in str(clf.nomogram("p"))
    assert "is relative to" not in str(fitted(bb.NaiveBayes(), CARS.X, CARS.y).nomogram())


def test_numbers_are_labels_too():
    clf = bb.NaiveBayes().fit({"x": ["a", "b", "b", "c"]}, [2, 2, 10, 10])
    assert clf.nomogram(2, 10).label == "2"


def test_zeros_are_infinite_and_named():
    clf = bb.NaiveBayes(smoothing="mle").fit({"x": list("aabbc"), "z": list("ppqqq")}, list("nnyyy"))
    found = clf.nomogram("y")
    marks = {mark.label: mark.log_odds for mark in found.rulers[0].marks}
    assert marks == {"a": -math.inf, "b": math.inf, "c": math.inf}
    assert found.rulers[0].range == math.inf
    text = str(found)
    assert "a (-inf)" in text
    assert "b, c (+inf)" in text
    assert "<|" in text
    assert "|>" in text
    svg = found.svg()
    assert "a (-∞)" in svg
    assert "b, c (+∞)" in svg
    both = clf.nomogram("y", row={"x": "a", "z": "q"})  # each class excludes one of the values
    assert both.total == both.prior == pytest.approx(math.log(3 / 2))


def test_a_class_without_a_prior():
    clf = bb.NaiveBayes(prior={"n": 0.0, "y": 1.0}).fit({"x": list("aabb")}, list("nnyy"))
    found = clf.nomogram("y", row={"x": "a"})
    assert found.prior == found.total == math.inf
    assert "+inf (" not in str(found)
    assert "+∞ (" not in found.svg()


def test_the_numbers_for_json():
    clf = fitted(bb.NaiveBayes(), CARS.X, CARS.y)
    bare = clf.nomogram("H").as_dict()
    assert list(bare) == ["class", "against", "prior_log_odds", "columns", "others"]
    assert list(bare["columns"][0]) == ["name", "marks"]
    found = clf.nomogram("H", row={"car": "suv"}).as_dict()
    odds = 4 / 2 * (3 / 7) / (1 / 5)
    assert (found["log_odds"], found["probability"]) == pytest.approx((math.log(odds), odds / (1 + odds)))
    assert [column["value"] for column in found["columns"] if column["name"] == "car"] == ["suv"]


def test_infinite_columns_come_before_finite_ones():
    clf = bb.NaiveBayes(smoothing="mle").fit({"far": [0.0, 1.0, 900.0, 901.0], "sure": list("aabb")}, list("nnyy"))
    assert [ruler.column for ruler in clf.nomogram().rulers] == ["sure", "far"]


def test_numbers_have_round_marks_where_the_rows_are():
    clf = bb.NaiveBayes().fit({"age": list(range(20, 60)), "half": [k / 2 for k in range(40)]}, ["n", "y"] * 20)
    age, half = sorted(clf.nomogram().rulers, key=lambda ruler: ruler.column)
    assert [mark.label for mark in age.marks] == ["20", "25", "30", "35", "40", "45", "50", "55"]
    assert all(mark.number == float(mark.label) for mark in half.marks)


def test_marks_are_closer_where_the_log_odds_are_not_far():
    rows = {"x": [0.9, 1.0, 1.1, 1.2, 99.0, 101.0, 100.0, 102.0]}
    clf = bb.NaiveBayes(numeric="gaussian").fit(rows, list("nnnnyyyy"))
    [ruler] = clf.nomogram().rulers
    near = [mark.number for mark in ruler.marks if abs(mark.log_odds) <= 5]
    assert len(near) >= 4
    assert max(near) - min(near) < 5
    assert ruler.marks[-1].number >= 90
    whole = fitted(bb.NaiveBayes(), {"x": [1, 2, 3, 4, 99, 101, 100, 102]}, list("nnnnyyyy")).nomogram()
    assert all(mark.number.is_integer() for mark in whole.rulers[0].marks)


def test_a_ruler_that_turns_back_has_two_sides():
    narrow, wide = np.linspace(-1, 1, 40), np.linspace(-8, 8, 40)
    clf = bb.NaiveBayes(numeric="gaussian").fit({"x": [*narrow, *wide]}, ["n"] * 40 + ["y"] * 40)
    found = clf.nomogram("y", row={"x": 2.5})
    [ruler] = found.rulers
    above = {spot.names[0]: spot.above for spot in spots(ruler, points_scale(found), 20)}
    assert above["2.5"]  # the log-odds of the wide class rise with a number above 0
    assert above["2"]
    assert not above["-2"]
    monotone = fitted(bb.NaiveBayes(), {"x": [1.0, 2.0, 3.0, 4.0]}, list("nynn")).nomogram()
    assert points_scale(monotone).low <= 0 <= points_scale(monotone).high


def test_values_that_say_the_same_share_a_spot():
    ruler = Ruler("x", (Mark("a", 1.0), Mark("b", 1.0), Mark("c", -1.0)), Mark("b", 1.0))
    found = spots(ruler, points_scale(Nomogram("y", "n", 0.0, (ruler,))), 20)
    assert [(spot.names, spot.own) for spot in found] == [(("c",), False), (("b",), True), (("a",), False)]


def test_totals_stay_near_even_odds():
    marks = tuple(Mark(str(k), float(k)) for k in range(-60, 61))
    assert total_scale(Nomogram("y", "n", 0.0, (Ruler("x", marks),))) == (-7.0, 7.0)
    unlikely = Nomogram("y", "n", -40.0, (Ruler("x", marks[55:66]),), total=-38.0)
    assert total_scale(unlikely) == (-45.0, -35.0)
    ET.fromstring(unlikely.svg())
    assert "below 0.0001" in str(unlikely)


def test_names_are_escaped_and_cut():
    level = "<script>alert('&')</script> " + "and so on " * 20
    rows = {"<col> & \x00": [level, "b\x07", level, "c"], "many": [f"level number {k}" for k in range(4)]}
    clf = bb.NaiveBayes().fit(rows, ["<yes>", "no & never", "<yes>", "no & never"])
    found = clf.nomogram("<yes>", row={"<col> & \x00": level})
    root = ET.fromstring(found.svg())
    assert not root.findall(".//{http://www.w3.org/2000/svg}script")
    assert "\x07" not in str(found)
    assert level[:15] in "".join(root.itertext())
    assert found._repr_svg_() == found.svg()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_text_keeps_to_its_width(width):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 600)
    rows = {
        "code": [f"a rather long code {k}" for k in rng.integers(0, 30, 600)],
        "x": rng.normal(0, 1 + 2 * (y == "no")),
    }
    found = bb.NaiveBayes().fit(rows, y).nomogram(row={"code": "a rather long code 7", "x": 0.123456789012})
    assert max(map(len, found.text(width).splitlines())) <= max(width, 60)
    assert "more" in found.text(width)
    assert "without a label" in found.svg()


def test_a_row_may_be_a_dict_or_x_of_one_row():
    frame = pd.DataFrame(CARS.X)
    clf = fitted(bb.NaiveBayes(), frame, CARS.y)
    by_dict = clf.nomogram(row={"age": 25, "car": "suv"})
    assert clf.nomogram(row=[{"age": 25, "car": "suv"}]) == by_dict
    assert clf.nomogram(row={"age": [25], "car": ["suv"]}) == by_dict
    assert clf.nomogram(row=frame.iloc[5]) == by_dict
    assert clf.nomogram(row=frame.iloc[5:6]) == by_dict
    array = bb.NaiveBayes().fit(np.array([[1.0], [2.0], [4.0], [8.0]]), list("nnyy"))
    assert array.nomogram(row=np.array([3.0])) == array.nomogram(row=np.array([[3.0]]))


def test_unseen_and_missing_values_of_a_row():
    clf = fitted(bb.NaiveBayes(), CARS.X, CARS.y)
    with pytest.warns(UnseenLevels):
        found = clf.nomogram("H", row={"car": "lorry"})
    own = {ruler.column: ruler.own for ruler in found.rulers}
    assert own["age"] is None
    assert own["car"].label == "lorry"
    with pytest.warns(UnseenLevels):
        explained = clf.explain([{"car": "lorry"}])
    assert found.total == explained.log_odds("H", "L")[0] == found.prior


def test_given_tables_have_a_nomogram():
    clf = bb.NaiveBayes.from_tables(
        prior={"young": 0.4, "old": 0.6},
        tables={"radio": {"young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}}},
    )
    [ruler] = clf.nomogram("young").rulers
    odds = {mark.label: mark.log_odds for mark in ruler.marks}
    assert odds == pytest.approx({"like": math.log(0.95 / 0.03), "dislike": math.log(0.05 / 0.97)})


def test_point_masses_are_marked():
    clf = bb.NaiveBayes(columns={"x": bb.Real(floor=0)}).fit({"x": [1.5, 1.5, 2.0, 3.0]}, list("nnyy"))
    [ruler] = clf.nomogram("n").rulers
    assert {mark.number: mark.log_odds for mark in ruler.marks}[1.5] == math.inf
    ET.fromstring(clf.nomogram("n", row={"x": 1.5}).svg())


def test_texts_and_matrices_have_no_marks():
    rows = {"note": ["good film", "bad film", "good", "bad bad"], "age": [1.0, 2.0, 3.0, 5.0]}
    clf = bb.NaiveBayes(columns={"note": "words"}).fit(rows, list("ynyn"))
    assert "without a ruler, since they have too many values: note" in str(clf.nomogram())
    marked = clf.nomogram("y", row={"note": "good", "age": 2.0})
    assert marked.total == clf.explain([{"note": "good", "age": 2.0}]).log_odds("y", "n")[0]
    ET.fromstring(marked.svg())
    matrix = sparse.csr_matrix(np.array(list(DOCUMENTS.X.values())).T)
    counts = bb.NaiveBayes().fit(matrix, DOCUMENTS.y)
    found = counts.nomogram(row=matrix[0])
    assert found.total == counts.explain(matrix[0]).log_odds(found.label, found.against)[0]
    ET.fromstring(counts.nomogram().svg())


def test_a_calibrated_model_says_so():
    rng = np.random.default_rng(1)
    y = rng.choice(["no", "yes"], 200)
    x = rng.normal(y == "yes")
    clf = bb.NaiveBayes(calibration="temperature").fit({"x": x, "again": x}, y)
    assert "The model is calibrated; this shows it before calibration." in str(clf.nomogram())


def test_refusals():
    clf = fitted(bb.NaiveBayes(), CARS.X, CARS.y)
    with refusal(BadOption, found="M"):
        clf.nomogram("M")
    with refusal(BadOption, what="`H`"):
        clf.nomogram("H", "H")
    with refusal(BadOption, found="6 rows"):
        clf.nomogram(row=CARS.X)
    with refusal(BadOption, found=-1):
        clf.nomogram(top=-1)
    with refusal(BadOption, found="same"):
        bb.NaiveBayes().fit({"x": ["a", "b"]}, ["same", "same"]).nomogram()
    with pytest.raises(ValueError, match="not fitted"):
        bb.NaiveBayes().nomogram()


def test_other_models_are_refused():
    from bayesbox.table.naive.nomogram import nomogram

    tree = fitted(bb.TAN(), {"x": list("aabb"), "z": list("pqpq")}, list("nnyy"))
    with refusal(BadOption, found="tree-augmented naive Bayes"):
        nomogram(tree.classifier_)
    texts = bb.TextClassifier().fit(["good", "bad"], ["y", "n"])
    with refusal(BadOption, found="a model of documents"):
        nomogram(texts.classifier_)


def test_round_values_at_the_edges_of_doubles():
    assert round_values(5.0, 5.0).tolist() == [5.0]
    assert round_values(0.0, 5e-324).tolist() == [0.0, 5e-324]
    assert len(round_values(-1.7e308, 1.7e308)) >= 5
    assert np.isfinite(round_values(-1.7e308, 1.7e308)).all()
    assert round_values(1e12, 1e12 + 4).tolist() == [1e12 + k / 2 for k in range(9)]
    assert round_values(0.2, 0.8, whole=True).tolist() == [0.2, 0.8]


def test_the_picture_of_the_gallery_is_current():
    root = Path(__file__).parents[2]
    clf = bb.train(str(root / "src" / "bayesbox" / "data" / "titanic.csv"), target="survived", weight="people")
    found = clf.nomogram("yes", row={"cabin": "3rd", "sex": "female", "age": "child"})
    assert (root / "docs" / "gallery" / "titanic.svg").read_text(encoding="utf-8") == found.svg()


def test_picture_without_paint_order():
    """A halo is a second text behind the first: what draws SVG need not know more than strokes and fills."""
    svg = fitted(bb.NaiveBayes(), CARS.X, CARS.y).nomogram().svg()
    assert "paint-order" not in svg
    texts = list(ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    halos = [place for place, each in enumerate(texts) if each.get("stroke")]
    assert halos
    for place in halos:
        behind, before = texts[place], texts[place + 1]
        assert behind.get("fill") == "white"
        assert before.get("stroke") is None
        assert (behind.text, behind.get("x"), behind.get("y")) == (before.text, before.get("x"), before.get("y"))


def test_a_ruler_ends_where_the_rows_do():
    random = np.random.default_rng(0)
    rows = {"tenure": np.append(random.integers(0, 73, 200), [0, 72]), "stake": random.gamma(0.5, size=202)}
    rulers = bb.NaiveBayes().fit(rows, ["n", "y"] * 101).nomogram().rulers
    for ruler in rulers:
        numbers = [mark.number for mark in ruler.marks if mark.number is not None]
        assert min(numbers) >= 0
        assert max(numbers) < {"tenure": 80, "stake": 1.2 * max(rows["stake"])}[ruler.column]
