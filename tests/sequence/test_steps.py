"""Symbols mean the same in whatever form they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbox as bb
from bayesbox.errors import BadData
from bayesbox.sequence.steps import Sequences, sequences_of, steps_of

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


def cells(found: Sequences) -> list[Any]:
    [column] = found.columns.values()
    return column.tolist() if isinstance(column, np.ndarray) else column.to_pylist()


def levels(found: Sequences) -> list[str | None]:
    """The level of each step, by the codes that the recursion takes."""
    model = bb.HiddenMarkovModel.from_tables(start=[1.0], transition=[[1.0]], emission=[[0.5, 0.5]], symbols=["a", "b"])
    steps = steps_of(found, model._schema)
    [table] = steps.columns.values()
    return [table.to_pylist()[code] for code in steps.codes.tolist()]


FORMS = {
    "array": lambda values: np.array(values, dtype=np.str_),
    "swapped": lambda values: np.array(values, dtype=np.str_).astype(np.array(values, np.str_).dtype.newbyteorder()),
    "backwards": lambda values: np.array(values[::-1], dtype=np.str_)[::-1],
    "objects": lambda values: np.array(values, dtype=object),
    "list": list,
    "tuple": tuple,
    "Arrow": lambda values: pa.array(values, pa.string()),
}


@given(
    values=st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=4),
    step=st.sampled_from([-2, -1, 1, 2]),
)
def test_arrays_that_are_coded_where_they_stand(values: list[list[str]], step: int) -> None:
    arrays = [np.array(item, dtype=np.str_)[::step] for item in values]
    for given_as in (arrays[0], arrays):
        raw, plain = sequences_of(given_as, raw=True), sequences_of(given_as)
        assert isinstance(raw.columns["0"], np.ndarray)
        assert levels(raw) == levels(plain) == cells(plain)
        assert raw.offsets.tolist() == plain.offsets.tolist()
        assert (raw.single, raw.bare) == (plain.single, plain.bare)


def test_every_answer_is_the_same_of_arrays_and_of_lists() -> None:
    draw = np.random.default_rng(0)
    names = ["walk", "shop", "clean", "m\u00fcnch"]
    tables = {"start": draw.dirichlet([1, 1]), "transition": draw.dirichlet([1, 1], size=2)}
    model = bb.HiddenMarkovModel.from_tables(**tables, emission=draw.dirichlet([1] * 4, size=2), symbols=names)
    symbols = np.array([*names, "never seen"])[draw.integers(0, 5, 60)]
    for given_as in (symbols, symbols[::-2], [symbols[:20], symbols[20:21], symbols[21:]]):
        as_lists = given_as.tolist() if isinstance(given_as, np.ndarray) else [item.tolist() for item in given_as]
        for ask in (model.score, model.predict, model.predict_proba, model.bic):
            assert np.array_equal(flat(ask(given_as)), flat(ask(as_lists)))
        assert repr(model.forecast(given_as)) == repr(model.forecast(as_lists))


def flat(answer: Any) -> Any:
    return np.concatenate([np.atleast_1d(each) for each in answer]) if isinstance(answer, list) else np.asarray(answer)


@pytest.mark.parametrize("form", FORMS)
@given(values=st.lists(texts, min_size=1, max_size=8))
def test_one_sequence_of_texts(form: str, values: list[str]) -> None:
    found = sequences_of(FORMS[form](values))
    assert found.single
    assert found.bare
    assert found.columns["0"].type == pa.string()
    assert cells(found) == levels(found) == values


@pytest.mark.parametrize("form", FORMS)
@given(values=st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=4))
def test_several_sequences_of_texts(form: str, values: list[list[str]]) -> None:
    found = sequences_of([FORMS[form](item) for item in values])
    assert not found.single
    assert found.bare
    assert found.columns["0"].type == pa.string()
    assert found.offsets.tolist() == [0, *np.cumsum([len(item) for item in values]).tolist()]
    assert cells(found) == levels(found) == [text for item in values for text in item]


def test_lists_with_holes_and_of_other_types() -> None:
    assert cells(sequences_of(["a", None, "b"])) == ["a", None, "b"]
    assert cells(sequences_of([["a", None], [], ["b"]])) == ["a", None, "b"]
    assert cells(sequences_of([[1, 2], (3,)])) == [1, 2, 3]
    assert cells(sequences_of([[1, 2.5], [True]])) == [1.0, 2.5, 1.0]
    assert cells(sequences_of([np.array(["a", None], object), np.array(["b"], object)])) == ["a", None, "b"]
    assert cells(sequences_of([np.array(["a"]), ["b"], np.array(["ccc"], object)])) == ["a", "b", "ccc"]
    assert list(sequences_of([[{"x": 1, "y": "a"}], [{"x": 2, "y": "b"}]]).columns) == ["x", "y"]
    assert list(sequences_of([[(1, "a"), (2, "b")], [(3, "c")]]).columns) == ["0", "1"]


def test_what_a_mask_hides_is_missing_in_several_sequences_too() -> None:
    one = np.ma.masked_array([3, 4, 5], mask=[False, True, False])
    assert cells(sequences_of(one)) == [3, None, 5]
    assert cells(sequences_of([one, one])) == [3, None, 5, 3, None, 5]


def test_a_zero_within_a_text_is_part_of_it() -> None:
    assert cells(sequences_of(np.array(["a\0b", "a\0c"]))) == ["a\0b", "a\0c"]


@pytest.mark.parametrize("form", ["array", "objects", "list", "tuple"])
def test_half_a_character_is_refused(form: str) -> None:
    with pytest.raises(BadData, match="not valid Unicode"):
        levels(sequences_of(FORMS[form](["a", "b\ud800"]), raw=True))
    with pytest.raises(BadData, match="not valid Unicode"):
        sequences_of(FORMS[form](["a", "b\ud800"]))
    with pytest.raises(BadData, match="not valid Unicode"):
        sequences_of([FORMS[form](["a", "b\ud800"]), FORMS[form](["a"])])
