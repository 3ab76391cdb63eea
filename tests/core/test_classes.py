"""A class or a level beyond the number that was declared is refused: nothing is dropped in silence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayesbox import _core
from bayesbox.schema.tokens import Tokens

CODES = np.array([0, 1, 1], dtype=np.int32)
VALUES = np.array([0.5, 1.5, 2.5])


def count_words(target: Any, classes: int) -> Any:
    letters, offsets = np.frombuffer(b"spamham", dtype=np.uint8), np.array([0, 4, 7, 7])
    counts = _core.WordCounts()
    counts.count(letters, offsets, target, classes, Tokens().compiled)
    return counts


COUNTS: dict[str, Callable[[Any, int], Any]] = {
    "words": count_words,
    "labels": lambda target, classes: _core.count_labels(target, classes),
    "codes": lambda target, classes: _core.count_codes([CODES], [2], target, classes),
    "weighted codes": lambda target, classes: _core.count_codes_weighted([CODES], [2], target, classes, VALUES),
    "integers": lambda target, classes: _core.count_integers([CODES], target, classes, 10),
    "grids": lambda target, classes: _core.count_grids([VALUES], target, classes),
    "sparse rows": lambda target, classes: _core.count_sparse(np.arange(4), CODES, VALUES, 2, target, classes),
    "pairs": lambda target, classes: _core.count_pairs([CODES, CODES], np.array([2, 2]), target, classes, 100),
    "moments": lambda target, classes: _core.moments([VALUES], target, classes),
    "co-moments": lambda target, classes: _core.comoments([VALUES], target, classes),
    "leave one out": lambda target, classes: _core.leave_one_out_gaussians(
        [(VALUES, np.ones((classes + 1, 4)), 1e-9, 1.0)], target, classes
    ),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("beyond", [2, 2**31 - 1])
def test_a_class_beyond_the_classes_is_refused(name: str, beyond: int) -> None:
    for target in (np.array([0, beyond, 1], dtype=np.int32), np.array([0, 9, beyond, 9, 1, 9], dtype=np.int32)[::2]):
        with pytest.raises(ValueError, match=f"target: class {beyond} of 2"):
            COUNTS[name](target, 2)


@pytest.mark.parametrize("name", COUNTS)
def test_a_negative_class_is_none(name: str) -> None:
    for none in (-1, -(2**31)):
        COUNTS[name](np.array([0, none, 1], dtype=np.int32), 2)
    COUNTS[name](np.full(3, -1, dtype=np.int32), 0)


def test_words_of_a_negative_class_are_not_counted() -> None:
    assert len(count_words(np.array([0, -1, 1], dtype=np.int32), 2)) == 1
    assert len(count_words(np.array([0, 1, 1], dtype=np.int32), 2)) == 2


@pytest.mark.parametrize("levels", [-1, 65536])
def test_levels_that_no_code_can_have_are_refused(levels: int) -> None:
    codes, ordered = np.zeros((1, 3), dtype=np.uint16), np.ones(1, dtype=np.uint8)
    with pytest.raises(ValueError, match="levels"):
        _core.grow_forest(codes, np.zeros(3, dtype=np.int32), 1, np.array([levels]), ordered, 1, 1, 3, False, 0)


@pytest.mark.parametrize("bits", [4, -1])
def test_a_parent_that_is_no_column_is_refused(bits: int) -> None:
    table = _core.CodeTable([np.zeros(3, dtype=np.uint8)] * 2, np.array([1, 1]))
    none, some = np.zeros(2, dtype=np.int64), np.array([0, bits])
    assert table.exact(0, 1.0, 1, none, none).tolist() == [0, 0]
    for required, forbidden in ((some, none), (none, some)):
        with pytest.raises(ValueError, match="no such column"):
            table.exact(0, 1.0, 1, required, forbidden)


def test_a_table_of_more_cells_than_can_be_is_refused() -> None:
    cards = np.full(2, 1 << 32)
    with pytest.raises(ValueError, match="memory"):
        _core.factor_model(cards, np.array([0, 1]), np.array([2]), [np.zeros(0)])


@pytest.mark.parametrize("stage", [4, 2**31 - 1, 2**32, -2])
def test_a_stage_beyond_the_variables_is_refused(stage: int) -> None:
    """The stages are walked through one by one, so that a large one took minutes, and the largest had no end."""
    cards, members, ends = np.array([2, 2, 3]), np.array([0, 1, 1, 2]), np.array([2, 4])
    with pytest.raises(ValueError, match="stage"):
        _core.elimination_order(cards, members, ends, np.array([0, 1, stage]))
    order, _ = _core.elimination_order(cards, members, ends, np.array([0, 3, -1]))
    assert order.tolist() == [0, 1]
