"""What is saved comes back to the last bit, equal models give equal bytes, and a loaded model goes on learning."""

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.file.save_examples import (
    COLUMNS,
    EXAMPLES,
    LABELS,
    assert_round_trip,
    assert_same,
    forget,
    learn,
    mixed,
    saved,
)
from tests.laws.mixed import estimator, pick, table
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.dist.cells import Smoothing
from bayesbox.errors import BadData, NoCounts, SourceUnavailable
from bayesbox.estimators.inputs import batch_from
from bayesbox.file.load import from_bytes, load
from bayesbox.file.save import save, to_bytes
from bayesbox.table.naive.classifier import NaiveClassifier

X, Y = table()
ROWS = range(len(Y))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_back(name: str) -> None:
    assert_round_trip(EXAMPLES[name]())


@pytest.mark.parametrize("name", ["mixed", "weighted", "dated"])
def test_answers_are_equal_to_the_last_bit(name: str) -> None:
    classifier = EXAMPLES[name]()
    asked = batch_from({**COLUMNS, "car": ["suv", "truck", "never", None, "sports", "vintage"]})
    assert (
        from_bytes(to_bytes(classifier)).joint_log_prob(asked).tobytes() == classifier.joint_log_prob(asked).tobytes()
    )


def test_given_tables_answer_alike_and_refuse_to_learn() -> None:
    classifier = EXAMPLES["given"]()
    again = from_bytes(to_bytes(classifier))
    asked = batch_from({"radio": ["like", "dislike", None, "never"], "press": ["a", "b", "c", None]})
    assert again.joint_log_prob(asked).tobytes() == classifier.joint_log_prob(asked).tobytes()
    assert again.predict(asked).tolist() == classifier.predict(asked).tolist()
    assert again.predict(asked).dtype == np.int64
    with pytest.raises(NoCounts):
        learn(again, {"radio": ["like"], "press": ["a"]}, [2])


def test_given_tables_keep_another_prior() -> None:
    classifier = EXAMPLES["given"]().with_prior({2: 0.0, 10: 1.0})
    assert from_bytes(to_bytes(classifier)).model.log_prior.tolist() == [-np.inf, 0.0]


# -- the same model, the same bytes ----------------------------------------------------------------------------------


def in_batches(order: list[int], cuts: list[int]) -> NaiveClassifier:
    classifier = estimator()._new_classifier()
    for start, stop in zip([0, *cuts], [*cuts, len(order)], strict=True):
        rows = order[start:stop]
        if rows:
            learn(classifier, pick(X, rows), [Y[row] for row in rows])
    return classifier


@settings(max_examples=25)
@given(st.permutations(list(ROWS)), st.lists(st.integers(1, len(Y)), max_size=4).map(sorted))
def test_the_order_of_learning_is_not_in_the_bytes(order: list[int], cuts: list[int]) -> None:
    assert to_bytes(in_batches(order, cuts)) == to_bytes(in_batches(list(ROWS), []))


def test_what_was_forgotten_is_not_in_the_bytes() -> None:
    once = learn(estimator()._new_classifier(), X, Y)
    more = learn(estimator()._new_classifier(), X, Y)
    other = {**pick(X, range(3)), "car": ["secret"] * 3}
    learn(more, other, ["gone", "gone", "yes"], [0.1, 0.7, 3])
    assert b"secret" in to_bytes(more)
    forget(more, other, ["gone", "gone", "yes"], [0.1, 0.7, 3])
    assert b"secret" not in to_bytes(more)
    assert to_bytes(more) == to_bytes(once)


def test_options_that_are_equal_give_equal_bytes() -> None:
    def bytes_of(**options: Any) -> bytes:
        return to_bytes(learn(bb.NaiveBayes(**options)._new_classifier(), COLUMNS, LABELS))

    assert bytes_of(smoothing=bb.rules.Lidstone(1)) == bytes_of(smoothing="lidstone:1.0")
    assert bytes_of(prior={"H": 1, "L": 0}) == bytes_of(prior={"L": 0.0, "H": np.float64(1)})
    assert bytes_of(columns={"car": "category", "age": "real"}) == bytes_of(
        columns={"age": bb.Real, "car": bb.Category()}
    )
    assert bytes_of(smoothing="laplace") != bytes_of(smoothing="mle")


def test_nothing_of_the_machine_is_in_the_bytes(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(mixed(), "one.bayes")
    os.utime("one.bayes", (0, 0))
    (tmp_path / "folder").mkdir()
    save(mixed(), tmp_path / "folder" / "another.bayes")
    assert (tmp_path / "one.bayes").read_bytes() == (tmp_path / "folder" / "another.bayes").read_bytes()


def test_hash_seeds_do_not_matter(tmp_path: Any) -> None:
    code = "from tests.file.save_examples import EXAMPLES; from bayesbox.file.save import to_bytes; import sys\n"
    code += "sys.stdout.buffer.write(b''.join(to_bytes(make()) for make in EXAMPLES.values()))"

    environment = {**os.environ, "PYTHONHASHSEED": "1"}  # here it is another
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert done.stdout == b"".join(saved(name) for name in EXAMPLES)


# -- a loaded model goes on learning ---------------------------------------------------------------------------------

HALF = len(Y) // 2
WEIGHTS = np.linspace(0.1, 3, len(Y))
FIRST = (pick(X, range(HALF)), Y[:HALF], WEIGHTS[:HALF])
SECOND = (pick(X, range(HALF, len(Y))), Y[HALF:], WEIGHTS[HALF:])


def test_learning_goes_on() -> None:
    whole = learn(learn(estimator()._new_classifier(), *FIRST), *SECOND)
    loaded = assert_round_trip(learn(estimator()._new_classifier(), *FIRST))
    assert to_bytes(learn(loaded, *SECOND)) == to_bytes(whole)


def test_forgetting_goes_on() -> None:
    whole = learn(learn(estimator()._new_classifier(), *FIRST), *SECOND)
    rest = forget(assert_round_trip(whole), *FIRST)
    assert to_bytes(rest) == to_bytes(learn(estimator()._new_classifier(), *SECOND))


def test_merging_goes_on() -> None:
    one, other = learn(estimator()._new_classifier(), *FIRST), learn(estimator()._new_classifier(), *SECOND)
    whole = to_bytes(one.merged(other))
    assert to_bytes(from_bytes(to_bytes(one)).merged(from_bytes(to_bytes(other)))) == whole
    assert to_bytes(from_bytes(to_bytes(one)).merged(other)) == whole


def test_a_prior_of_typed_labels_can_still_be_merged() -> None:
    weighted = EXAMPLES["weighted"]
    assert from_bytes(saved("weighted")).merged(weighted()).rules == weighted().rules


def test_all_was_forgotten() -> None:
    classifier = learn(bb.NaiveBayes()._new_classifier(), COLUMNS, [1, 2, 1, 2, 2, 2])
    forget(classifier, COLUMNS, [1, 2, 1, 2, 2, 2])
    again = assert_round_trip(classifier)
    assert again.book.classes == ()
    assert to_bytes(learn(again, COLUMNS, LABELS)) != to_bytes(classifier)


def test_classes_come_and_go_and_stay_declared() -> None:
    model = bb.NaiveBayes().partial_fit(COLUMNS, LABELS, classes=["H", "L", "never"])
    model.partial_fit(COLUMNS, ["new"] * 6).forget(COLUMNS, LABELS)
    again = assert_round_trip(model.classifier_)
    assert again.classes == ("H", "L", "never", "new")
    assert again.book.classes == ("new",)


def test_columns_keep_their_order_and_those_without_values_stay_unknown() -> None:
    classifier = learn(
        bb.NaiveBayes()._new_classifier(), {"z": [1, 2], "nothing": [None, None], "a": ["x", None]}, [0, 1]
    )
    again = assert_round_trip(classifier)
    assert again.schema is not None
    assert list(again.schema.kinds) == ["z", "nothing", "a"]
    assert list(again.book) == ["z", "a"]
    learn(again, {"z": [1], "nothing": ["value"], "a": ["x"]}, [0])
    assert again.book["nothing"].levels == ("value",)


def test_folded_groups_stay_folded() -> None:
    model = bb.NaiveBayes(one_hot={"car": ["van", "suv"]}).fit(
        {"suv": [1, 0, 0], "van": [0, 1, 0], "age": [1.5, 2, 3]}, LABELS[:3]
    )
    again = assert_round_trip(model.classifier_)
    assert again.feature_names == model.classifier_.feature_names
    learn(again, {"suv": [1], "van": [0], "age": [9.0]}, ["L"])
    assert again.book["car"].levels == ("suv", "van")


def test_counts_beyond_int64_and_extreme_sums_come_back() -> None:
    classifier = learn(
        bb.NaiveBayes()._new_classifier(),
        {"x": [1e300, -1e-300, 5e-324, 1e12 + 0.25], "car": ["a", "b", "a", "b"]},
        ["u", "v", "u", "v"],
        [2.0**62, 2.0**62, 2.0**62, 2.0**-30],
    )
    again = assert_round_trip(classifier)
    assert again.book["x"].variance.tobytes() == classifier.book["x"].variance.tobytes()


# -- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_any_zip_and_arrow_reader_can_read_it(name: str) -> None:
    import pyarrow as pa

    with zipfile.ZipFile(io.BytesIO(saved(name))) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "model.json"
        assert archive.namelist()[-1] == "manifest.json"
        for member in archive.namelist():
            if member.endswith(".arrow"):
                with pa.ipc.open_file(archive.read(member)) as reader:
                    assert reader.read_all().num_rows > 0


def test_counts_are_plain_integers_and_sums_are_hexadecimal() -> None:
    import pyarrow as pa

    def rows(name: str, member: str) -> list[dict[str, Any]]:
        with zipfile.ZipFile(io.BytesIO(saved(name))) as archive, pa.ipc.open_file(archive.read(member)) as reader:
            listed: list[dict[str, Any]] = reader.read_all().to_pylist()
            return listed

    assert rows("mixed", "classes.arrow") == [{"class": "H", "count": 4}, {"class": "L", "count": 2}]
    assert {"column": "car", "class": "H", "level": "suv", "count": 1} in rows("mixed", "counts.arrow")
    assert {"column": "age", "class": "L", "n": 2, "fractional": 0, "sum": 50, "squares": 1250} in rows(
        "mixed", "moments.arrow"
    )
    classes = {row["class"]: float.fromhex(row["count"]) for row in rows("weighted", "classes.arrow")}
    assert classes == {"10": 1 + 2 + 1 + 0.7, "2": 0.1 + 0.3}


def test_a_file_is_saved_and_loaded(tmp_path: Any) -> None:
    path = tmp_path / "m.bayes"
    save(mixed(), path)
    assert_same(load(path), mixed())
    assert_same(load(str(path)), mixed())


def test_a_file_that_is_not_there(tmp_path: Any) -> None:
    with refusal(SourceUnavailable, where="absent.bayes") as caught:
        load(tmp_path / "absent.bayes")
    assert caught.value.exit_code == 74
    with refusal(SourceUnavailable, where=tmp_path.name):
        load(tmp_path)


# -- what cannot be saved is refused before anything is written ------------------------------------------------------


class Odd(Smoothing):
    weight = None

    def ratio(self, cells: Any) -> Any:
        raise NotImplementedError


ODD = Odd()


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: bb.NaiveBayes()._new_classifier(), None),
        (lambda: learn(bb.NaiveBayes(smoothing=ODD)._new_classifier(), COLUMNS, LABELS), ODD),
        (
            lambda: learn(bb.NaiveBayes(smoothing=bb.rules.Lidstone(10**400))._new_classifier(), COLUMNS, LABELS),
            10**400,
        ),
        (lambda: learn(bb.NaiveBayes()._new_classifier(), {"a\ud800": [1, 2]}, ["x", "y"]), "a\ud800"),
    ],
)
def test_what_cannot_be_saved(make: Callable[[], NaiveClassifier], found: object, tmp_path: Any) -> None:
    with refusal(BadData, found=found):
        save(make(), tmp_path / "m.bayes")
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_loaded_is_not_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    classifier = mixed()
    monkeypatch.setattr("bayesbox.file.container.LIMIT", 66_000)
    with refusal(BadData, what="66000"):
        to_bytes(classifier)


def test_loading_imports_no_other_subject_and_neither_scikit_learn_nor_scipy(tmp_path: Any) -> None:
    path = tmp_path / "m.bayes"
    save(mixed(), path)
    code = (
        "import sys; from bayesbox.file.load import load; from bayesbox.file.save import save;"
        "save(load(sys.argv[1]), sys.argv[1]);"
        "others = 'sklearn', 'scipy', 'pandas', 'bayesbox.text', 'bayesbox.network', 'bayesbox.sequence';"
        "print([name for name in others if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
