"""Damaged files by which Arrow ends the process, or fails with an error of its own: each is refused."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.memory import run_python
from tests.refusal import refusal

import bayesbox as bb
from bayesbox import _core
from bayesbox.errors import BadData, KindContradiction
from bayesbox.schema.columns import as_numbers
from bayesbox.schema.tokens import letter_table

# The column `long` is said to have two levels of definition, and its histogram of them has one.
MISMATCHED = base64.b64decode(
    "UEFSMRUAFYgKFZYBLBUOFQAVBhUGHAAAAIQFKAIAAAADeywBAAB4/gEA/gEA/gEA/gEAqgEAHAMAAABzdXYGAQdIcG9ydHMAAAAABQAAAMOp"
    "dMOpLP5OAf5OAf5OAf4CAbpOARUAFXYVNCwVDhUAFQYVBhwAAAA7UAIAAAAOAQQAAABoaWdoAwAAAGxvd5YPABUEGTw1ABgGc2NoZW1hFQQA"
    "FQwlAhgEbG9uZyUATBwAAAAVDCUDGARyaXNrJQBMHAAAABYOGRwZLCYAHBUMGSUGABkYBGxvbmcVAhYOFrIKFsABJghJHBUAFQAVAgA8FswJ"
    "GQYZJgIMAAAAJgAcFQwZJQYAGRgEcmlzaxUCFg4WnAEWWibIAUkcFQAVABUCADwWMhkGGSYADgAAABbOCxYOJggWmgIAGRwYDEFSUk9XOnNj"
    "aGVtYRigAi8vLy8vOUFBQUFBUUFBQUFBQUFLQUF3QUJnQUZBQWdBQ2dBQUFBQUJCQUFFQUFBQXRQLy8vd1FBQUFBQ0FBQUFlQUFBQUJRQUFB"
    "QVFBQmdBQ0FBR0FBY0FEQUFRQUJRQUVBQUFBQUFBQVFVVUFBQUFRQUFBQUNBQUFBQUVBQUFBQUFBQUFBUUFBQUJ5YVhOckFBQUFBQWdBQ0FB"
    "QUFBUUFDQUFBQUF3QUFBQUlBQXdBQ0FBSEFBZ0FBQUFBQUFBQklBQUFBTWovLy84UUFCUUFDQUFHQUFjQURBQUFBQkFBRUFBQUFBQUFBUlFR"
    "QUFBQUhBQUFBQVFBQUFBQUFBQUFCQUFBQUd4dmJtY0FBQUFBQkFBRUFBUUFBQUFBQUFBQQAYIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24g"
    "MjYuMC4xGSwcAAAcAAAABgIAAFBBUjE="
)
TRAIN = "import sys; from bayesbox.cli.main import run; sys.exit(run(['train', sys.argv[1], '-t', 'risk']))"


def test_metadata_of_a_column_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Looking at them ends the process by an exception that nobody catches: pyarrow 26, `RowGroupMetaData.column`."""
    path = tmp_path / "cars.parquet"
    path.write_bytes(MISMATCHED)
    ended = run_python(TRAIN, str(path))
    assert ended.code == 3, ended.errors
    with refusal(BadData, where=path.name):
        bb.train(str(path), target="risk")


def test_the_size_that_a_page_names_is_not_taken() -> None:
    """A file of 3 KB, one of whose pages says that it has 803 MB."""
    path = Path(__file__).parent / "damaged" / "page_of_800_mb.parquet"
    ended, base = run_python(TRAIN, str(path)), run_python("import bayesbox.cli.main, bayesbox.cli.train")
    assert ended.code == 3, ended.errors
    assert ended.peak - base.peak < 80


@pytest.mark.parametrize("scale", [1000, 2**31 - 1, -(2**31)])
def test_a_decimal_beyond_all_scales_is_refused(scale: int) -> None:
    values = pa.Array.from_buffers(pa.decimal128(38, scale), 2, [None, pa.py_buffer(b"\1" + bytes(31))])
    with refusal(KindContradiction, found=str(values.type)):
        as_numbers(values, name="x", where="cars.arrow")


def test_negative_weights_are_not_hashed() -> None:
    labels, offsets = np.frombuffer(b"ab", np.uint8), np.array([0, 1, 2])
    target = np.array([0, 1], np.int32)
    _core.row_ledger([], target, labels, offsets, np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="weights"):
        _core.row_ledger([], target, labels, offsets, np.array([1.0, -1.0]))


def test_numbers_of_classes_are_bounded() -> None:
    counts = _core.WordCounts()
    words, offsets = np.frombuffer(b"kiwi", np.uint8), np.array([0, 4])
    phrases = _core.Phrases(letter_table(), 1, 1, 1, (), False, False)
    with pytest.raises(ValueError, match="classes"):
        counts.count(words, offsets, np.array([0], np.int32), 1 << 40, phrases)
    counts.count(words, offsets, np.array([0], np.int32), 2, phrases)
    with pytest.raises(ValueError, match="order"):
        counts.counted(np.array([0, 1 << 40]), 1 << 30)


@pytest.mark.parametrize("count", [-(2**63), -1, 2**54])
def test_counts_of_classes_are_counts(count: int) -> None:
    rows = _core.LiveRows([], ("a", "b"), ("a", "b"), "text")
    rows.go_live(np.array([3, 4]), [])
    with pytest.raises(ValueError, match="class_counts"):
        rows.go_live(np.array([3, count]), [])
