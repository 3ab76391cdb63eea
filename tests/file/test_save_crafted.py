"""Crafted files: whole as archives, but with contents that no model has. Each is refused for its own reason."""

import io
import pickle
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from tests.file.save_examples import resealed, saved, with_document, with_table
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadModelFile, ModelTooLarge
from bayesbox.file import arrow, container
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.limits import BYTES_A_MOMENT, limit_context

MIXED, WEIGHTED, WORDS, GIVEN = (saved(name) for name in ("mixed", "weighted", "words", "given"))


def refused(data: bytes) -> str:
    with pytest.raises(BadModelFile) as caught:
        from_bytes(data, name="m.bayes")
    assert caught.value.exit_code == 4
    assert caught.value.where is not None
    assert caught.value.remedy
    return str(caught.value)


def test_tampering_without_a_change_is_taken() -> None:
    from_bytes(with_document(MIXED))
    from_bytes(with_table(MIXED, "counts.arrow"))
    from_bytes(with_table(WEIGHTED, "moments.arrow"))
    from_bytes(with_table(GIVEN, "tables.arrow"))


# -- the document ----------------------------------------------------------------------------------------------------


def test_a_newer_version_names_itself_and_the_remedy() -> None:
    message = refused(with_document(MIXED, format=2, bayesbox="9.1", news={"a": 1}))
    assert message == (
        "m.bayes, model.json: the file has format 2, but this version of bayesbox reads formats up to 1, "
        "got 'format 2, written by bayesbox 9.1'. Upgrade bayesbox: pip install --upgrade bayesbox"
    )


def rule(**parameters: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda rules: {**rules, "smoothing": parameters}


def column(index: int, **changes: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda columns: [{**each, **changes} if i == index else each for i, each in enumerate(columns)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 0}, "there is no format 0"),
        ({"format": "1"}, "`format` of the document has the wrong type: str"),
        ({"format": True}, "wrong type: bool"),
        ({"format": 1.0}, "wrong type: float"),
        ({"kind": None}, "wrong type: NoneType"),
        ({"extra": 1}, "unknown key `extra`"),
        ({"digest": "0" * 64}, "the digest does not match the tallies"),
        ({"fixed": 0}, "wrong type: int"),
        ({"target": 3}, "wrong type: int"),
        ({"label_type": "number"}, "unknown label type 'number'"),
        ({"label_type": "integer"}, "invalid literal"),
        ({"label_type": "flag"}, "the classes are not the texts of labels of type flag"),
        ({"classes": ["b", "a"]}, "declared classes are not sorted"),
        ({"classes": ["a", "a"]}, "declared classes are not sorted"),
        ({"classes": [1]}, "must be a list of texts"),
        ({"fold": {"car": []}}, "no flags"),
        ({"fold": {"car": ["a", "a"]}}, "twice"),
        ({"fold": {"car": [1]}}, "must be a list of texts"),
        ({"declared": [{"column": "car", "kind": "real"}]}, "has no `density`"),
        ({"declared": [{"column": 1.5, "kind": "flag"}]}, "wrong type: float"),
        ({"declared": [{"column": "a", "kind": "flag"}] * 2}, "declared twice"),
        ({"columns": lambda columns: columns[:-1]}, "column `smoker`, which is not in the schema"),
        ({"columns": lambda columns: columns * 2}, "two columns have the same name"),
        (
            {"columns": column(0, kind="category", levels=None)},
            "column `age` is a category, but its tally is for grid",
        ),
        ({"columns": column(0, kind="flag")}, "column `age` is a flag, but its tally is for grid"),
        ({"columns": column(0, kind="integer")}, "unknown kind 'integer'"),
        ({"columns": column(0, kind="real", density="cauchy", floor=0.5)}, "a density must be one of gaussian"),
        ({"columns": column(0, kind="real", density="gaussian", floor=-1.0)}, "non-negative"),
        ({"columns": column(0, kind="real", density="gaussian", floor=1)}, "wrong type: int"),
        ({"columns": column(0, missing="drop")}, 'missing must be None or one of "ignore", "level"'),
        ({"columns": column(0, levels=[])}, "unknown key `levels`"),
        ({"columns": column(0, declared=1)}, "wrong type: int"),
        ({"columns": column(1, levels=["b", "a"])}, "must be sorted"),
        ({"columns": column(1, levels=[None])}, "must be a list of texts"),
        ({"columns": column(1, kind="flag")}, "unknown key `levels`"),
        ({"columns": [[]]}, "column 1 is not a mapping"),
        ({"columns": {}}, "wrong type: dict"),
        ({"rules": rule(rule="best")}, "unknown rule 'best'"),
        ({"rules": rule(rule="lidstone")}, "has no `a`"),
        ({"rules": rule(rule="lidstone", a=1.0, b=1.0)}, "unknown key `b`"),
        ({"rules": rule(rule="lidstone", a=-1.0)}, "non-negative"),
        ({"rules": rule(rule="lidstone", a=1)}, "wrong type: int"),
        ({"rules": rule(rule="lidstone", a="1")}, "wrong type: str"),
        ({"rules": rule(rule="lidstone", a=None)}, "wrong type: NoneType"),
        ({"rules": rule(rule="replace-zero", by="all")}, "zeros must be replaced by"),
        ({"rules": rule(rule="m", m=1.0, prior={"a": 0.5})}, "must sum to 1"),
        ({"rules": rule(rule="m", m=1.0, prior={"a": "1"})}, "not a number"),
        ({"rules": rule(rule="prior-counts", counts=2.0)}, "wrong type: float"),
        ({"rules": lambda rules: {**rules, "unseen": "guess"}}, "unseen must be one of"),
        ({"rules": lambda rules: {**rules, "prior": [["a", 1]]}}, "a list of labels"),
        ({"rules": lambda rules: {**rules, "prior": [["a", 0.5], ["a", 0.5]]}}, "twice"),
        ({"rules": lambda rules: {**rules, "prior": [[{"date": "x"}, 0.5]]}}, "isoformat"),
        ({"rules": lambda rules: {**rules, "prior": [[{}, 0.5]]}}, "neither a date nor a time"),
        ({"rules": lambda rules: {**rules, "prior": [[["a"], 0.5]]}}, "not a mapping"),
    ],
)
def test_documents_that_no_model_has(changes: dict[str, Any], reason: str) -> None:
    message = refused(with_document(MIXED, **changes))
    assert reason in message
    assert message.startswith("m.bayes, ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "Expecting value"),
        (b"[]", "not a mapping"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b'{"format": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"format": 1e999}', "too large"),
        (b'{"format": 1, "format": 1}', "occurs twice"),
        (b'{"format": 1} {}', "Extra data"),
        (b'\xef\xbb\xbf{"format": 1}', "BOM"),
        (b'{"format": "\xff"}', "utf-8"),
        (b'{"a": "\\ud800"}', "surrogates"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"format": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"format": 1}', "has no `kind`"),
    ],
)
def test_texts_that_are_not_strictly_json(text: bytes, reason: str) -> None:
    assert reason in refused(resealed(MIXED, lambda members: members.update({"model.json": text})))


def test_parts_that_are_missing_or_strange() -> None:
    assert "m.bayes, model.json: the archive is complete, but it has no" in refused(container.pack({"a.arrow": b""}))
    assert "classes.arrow: the member is missing" in refused(resealed(MIXED, lambda m: m.pop("classes.arrow") and None))
    assert "digest" in refused(resealed(MIXED, lambda m: m.pop("counts.arrow") and None))
    assert "code.py: the model has no such member" in refused(
        resealed(MIXED, lambda m: m.update({"code.py": b"print()"}))
    )
    assert "has no such member" in refused(resealed(MIXED, lambda m: m.update({"prior.arrow": b""})))
    assert "tables.arrow: the member is missing" in refused(resealed(GIVEN, lambda m: m.pop("tables.arrow") and None))


# -- the tallies -----------------------------------------------------------------------------------------------------


def put(index: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda values: [value if i == index % len(values) else each for i, each in enumerate(values)]


def swap(values: list[Any]) -> list[Any]:
    return values[::-1]


@pytest.mark.parametrize(
    ("member", "changes", "reason"),
    [
        ("classes.arrow", {"count": put(0, 0)}, "count that is not positive"),
        ("classes.arrow", {"count": put(0, -4)}, "count that is not positive"),
        ("classes.arrow", {"count": put(0, 1)}, "a class has more values than rows"),
        ("classes.arrow", {"class": swap}, "classes are not sorted"),
        ("classes.arrow", {"class": put(1, "H")}, "classes are not sorted"),
        ("classes.arrow", {"class": put(1, "Z")}, "the class 'L' has no rows"),
        ("classes.arrow", {"count": lambda values: ["1p0" for _ in values]}, "more values than rows"),
        ("classes.arrow", {"count": lambda values: [1.5 for _ in values]}, "cannot be of type double"),
        ("classes.arrow", {"count": put(0, None)}, "nulls"),
        ("classes.arrow", {"class": lambda values: [b"H", b"L"]}, "cannot be of type binary"),
        ("counts.arrow", {"count": put(0, -1)}, "a count is not positive"),
        ("counts.arrow", {"count": put(0, 0)}, "a count is not positive"),
        ("counts.arrow", {"count": put(0, 100)}, "column `car`: a class has more values than rows"),
        ("counts.arrow", {"count": put(0, 2)}, "the digest does not match the tallies"),
        ("counts.arrow", {"class": put(0, "X")}, "the class 'X' has no rows"),
        ("counts.arrow", {"class": swap}, "out of order"),
        ("counts.arrow", {"level": swap}, "out of order"),
        ("counts.arrow", {"level": put(1, "sports")}, "row 2 is out of order or repeated"),
        ("counts.arrow", {"level": put(-1, "maybe")}, "its levels are not false and true"),
        ("counts.arrow", {"column": swap}, "columns are not sorted"),
        ("counts.arrow", {"column": put(-1, "strange")}, "`strange`"),
        ("counts.arrow", {"column": lambda values: ["age" if v == "car" else v for v in values]}, "two tallies: `age`"),
        ("moments.arrow", {"n": put(0, 0)}, "column `age`: a number of values is not positive"),
        ("moments.arrow", {"n": put(0, 5)}, "column `age`: a class has more values than rows"),
        ("moments.arrow", {"fractional": put(0, -1)}, "a number of fractional values is negative"),
        ("moments.arrow", {"fractional": put(0, 5)}, "a class has more fractional values than values"),
        ("moments.arrow", {"squares": put(0, -1)}, "a sum of squares is negative"),
        ("moments.arrow", {"squares": put(0, 1)}, "a variance is negative"),
        ("moments.arrow", {"squares": put(1, 1249)}, "a variance is negative"),
        ("moments.arrow", {"sum": put(0, 2**62)}, "a variance is negative"),
        ("moments.arrow", {"sum": put(0, 0)}, "the digest does not match the tallies"),
        ("moments.arrow", {"sum": lambda values: ["0x1p0" for _ in values]}, "exact numbers"),
        ("moments.arrow", {"sum": lambda values: ["2p0" for _ in values]}, "even"),
        ("moments.arrow", {"sum": lambda values: ["1p0\n1p0", "1p0"]}, "a number has several lines"),
        ("moments.arrow", {"sum": lambda values: ["1p0\n1p0", ""]}, "exact numbers"),
        ("moments.arrow", {"sum": lambda values: ["1p999999999999", "1p0"]}, "exponent"),
        ("moments.arrow", {"sum": lambda values: ["1" * 100_000 + "p0", "1p0"]}, "digits"),
        ("moments.arrow", {"class": put(0, "L")}, "out of order or repeated"),
    ],
)
def test_tallies_that_no_rows_have(member: str, changes: dict[str, Any], reason: str) -> None:
    assert reason in refused(with_table(MIXED, member, **changes))


@pytest.mark.parametrize("member", ["classes.arrow", "counts.arrow", "moments.arrow"])
def test_tables_with_other_columns(member: str) -> None:
    def change(members: dict[str, bytes]) -> None:
        sink = pa.BufferOutputStream()
        table = pa.table({"class": ["H"], "count": [1], "more": [1]})
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write(table)
        members[member] = sink.getvalue().to_pybytes()

    assert f"m.bayes, {member}: its columns are not " in refused(resealed(MIXED, change))


def test_words_beyond_the_width_of_their_group() -> None:
    assert "'9' is not one of them" in refused(with_table(WORDS, "vocabulary.arrow", word=put(-1, "9")))
    assert "'x' is not one of them" in refused(with_table(WORDS, "vocabulary.arrow", word=put(-1, "x")))
    assert "'1' is not one of them" in refused(with_document(WORDS, columns=column(0, width=1)))
    with refusal(ModelTooLarge, limit=2 << 30):
        from_bytes(with_document(WORDS, columns=column(0, width=10**18)))
    assert "width must be a non-negative integer" in refused(with_document(WORDS, columns=column(0, width=-1)))


def places(change: Callable[[list[int]], list[int]]) -> Callable[[list[int]], Any]:
    return lambda values: pa.array(change(values), pa.int32())


@pytest.mark.parametrize(
    ("member", "changes", "reason"),
    [
        ("vocabulary.arrow", {"word": swap}, "the words are not sorted"),
        ("vocabulary.arrow", {"word": lambda values: [*values, "~"]}, "a word of the vocabulary has no count"),
        ("vocabulary.arrow", {"word": lambda values: values[:-1]}, "a position is not one of 2 words"),
        ("word-counts.arrow", {"place": places(put(0, 3))}, "a position is not one of 3 words"),
        ("word-counts.arrow", {"place": places(put(0, -1))}, "a position is not one of 3 words"),
        ("word-counts.arrow", {"place": places(swap)}, "row 3 is out of order or repeated"),
        ("word-counts.arrow", {"place": list}, "its column `place` cannot be of type int64"),
        ("word-counts.arrow", {"count": put(0, 0)}, "a count is not positive"),
        ("word-counts.arrow", {"count": lambda values: ["-1p0", *("1p0" for _ in values[1:])]}, "not positive"),
        ("words.arrow", {"words": put(0, 9)}, "the numbers of words do not sum to the rows"),
        ("words.arrow", {"words": lambda _: [3, 0]}, "the numbers of words do not sum to the rows"),
        ("words.arrow", {"words": lambda _: [4, -1]}, "the numbers of words do not sum to the rows"),
        ("words.arrow", {"words": lambda _: [2**62, 2**62]}, "the numbers of words do not sum to the rows"),
        ("words.arrow", {"class": swap}, "row 2 is out of order"),
        ("words.arrow", {"class": put(0, "x")}, "the class 'x' has no rows"),
    ],
)
def test_tables_of_words_that_nobody_wrote(member: str, changes: dict[str, Any], reason: str) -> None:
    message = refused(with_table(WORDS, member, **changes))
    named = "word-counts.arrow" if reason.startswith("a position is not one of") else member
    named = "word-counts.arrow" if "has no count" in reason else named
    assert message.startswith(f"m.bayes, {named}: ")
    assert reason in message


@pytest.mark.parametrize("member", ["words.arrow", "word-counts.arrow", "vocabulary.arrow"])
def test_a_table_of_words_that_is_not_there(member: str) -> None:
    changed = resealed(WORDS, lambda members: members.pop(member) and None)
    assert f"m.bayes, {member}: the member is missing" in refused(changed)


def test_cells_are_counted_before_they_are_allocated() -> None:
    """A class and a level more a row cost a few bytes of the file each, but their product in memory."""
    rows = 20_000
    names = [f"{index:05}" for index in range(rows)]
    data = with_table(MIXED, "classes.arrow", **{"class": lambda _: names, "count": lambda _: [1] * rows})
    changes = {"column": lambda _: ["car"] * rows, "class": lambda _: names, "level": lambda _: names}
    sparse = with_table(data, "counts.arrow", **changes, count=lambda _: [1] * rows)
    assert "moments.arrow" in refused(sparse)  # the table itself is read as what it is, nearly empty
    with limit_context(memory=100), refusal(ModelTooLarge, where="m.bayes", limit=100, exit_code=4):
        from_bytes(MIXED, name="m.bayes")
    sums = {name: lambda _: [1] * rows for name in ("n", "fractional", "sum", "squares")}
    without = resealed(data, lambda members: members.pop("counts.arrow") and None)
    changes = {"column": lambda _: names, "class": lambda _: names[::-1]}
    with refusal(ModelTooLarge, bytes=float(BYTES_A_MOMENT * rows**2), limit=2 << 30):
        from_bytes(with_table(without, "moments.arrow", **changes, **sums))


# -- given tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "changes", "reason"),
    [
        ("prior.arrow", {"log_probability": put(0, 0.5)}, "above zero or not a number"),
        ("prior.arrow", {"log_probability": put(0, float("nan"))}, "above zero or not a number"),
        ("prior.arrow", {"log_probability": put(0, 0.0)}, "the prior does not sum to 1"),
        ("prior.arrow", {"class": swap}, "classes are not sorted"),
        ("prior.arrow", {"class": put(0, "x")}, "invalid literal"),
        ("tables.arrow", {"log_probability": put(0, float("nan"))}, "above zero or not a number"),
        ("tables.arrow", {"log_probability": put(0, -9.0)}, "column `radio` do not sum to 1"),
        ("tables.arrow", {"level": put(0, "x")}, "its rows do not match"),
        ("tables.arrow", {"column": swap}, "its rows do not match"),
        ("tables.arrow", {"class": swap}, "its rows do not match"),
    ],
)
def test_tables_that_nobody_gave(member: str, changes: dict[str, Any], reason: str) -> None:
    message = refused(with_table(GIVEN, member, **changes))
    assert message.startswith(f"m.bayes, {member}: ")
    assert reason in message


def test_a_prior_without_classes_is_refused() -> None:
    def change(members: dict[str, bytes]) -> None:
        members["prior.arrow"] = arrow.write(
            {"class": pa.array([], pa.string()), "log_probability": pa.array([], pa.float64())}
        )

    assert "there are none" in refused(resealed(GIVEN, change))


def test_given_tables_of_columns_that_are_no_categories() -> None:
    real = {"kind": "number", "declared": True}
    changed = with_document(GIVEN, columns=lambda columns: [*columns, {"name": "age", **real}])
    assert "column `age` has no table" in refused(changed)


# -- other files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"age,car\n25,suv\n", b"\x80\x04\x95", b"PAR1" + bytes(40), bytes(100)])
def test_files_that_are_no_models(data: bytes) -> None:
    assert "m.bayes: this is not a bayesbox model" in refused(data)


def test_other_zip_files_are_no_models() -> None:
    def zipped(compression: int = zipfile.ZIP_STORED, names: list[str] | None = None) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as archive:
            for name in names or ["model.json"]:
                archive.writestr(name, b"{}" * 1000)
        return file.getvalue()

    assert "the entry is not that of a model" in refused(zipped())
    assert "the entry is not that of a model" in refused(zipped(zipfile.ZIP_DEFLATED))
    assert "unknown member" in refused(zipped(names=["../../etc/passwd"]))


def test_a_pickle_inside_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:

    class Bomb:
        def __reduce__(self) -> Any:
            return (print, ("the pickle ran",))

    bomb = pickle.dumps(Bomb())
    for member in container.unpack(MIXED):
        assert f"m.bayes, {member}" in refused(resealed(MIXED, lambda members: members.update({member: bomb})))  # noqa: B023
    assert "not a bayesbox model" in refused(bomb)
    assert capsys.readouterr().out == ""
    pickle.loads(bomb)
    assert capsys.readouterr().out == "the pickle ran\n"


def test_a_prior_that_names_no_class_of_an_average() -> None:
    rows, labels = {"x": ["a", "b", "a", "b"]}, ["no", "yes", "no", "yes"]
    hypotheses = [kind().fit(rows, labels) for kind in (bb.NaiveBayes, bb.TAN)]
    optimal = bb.BayesOptimal(hypotheses, prior={"no": 0.3, "yes": 0.7}).fit(rows, labels)
    data = to_bytes(optimal.classifier_)
    from_bytes(with_document(data))
    for prior in ({}, {"maybe": 1.0}):
        changed = with_document(data, rules=lambda rules, prior=prior: {**rules, "prior": prior})
        assert "prior" in refused(changed)
