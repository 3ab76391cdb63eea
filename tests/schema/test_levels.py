"""The one text of a level, and the way back for labels."""

import datetime
import decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbox.errors import LabelContradiction
from bayesbox.schema.levels import (
    common_label_type,
    label_order,
    label_type_of,
    label_values,
    level_text,
    natural_label_type,
)

TEXTS = [
    ("suv", "suv"),
    ("", ""),
    (" Ünique ", " Ünique "),
    (np.str_("suv"), "suv"),
    (True, "true"),
    (np.bool_(False), "false"),
    (3, "3"),
    (np.int8(-3), "-3"),
    (np.uint64(2**64 - 1), "18446744073709551615"),
    (3.0, "3"),
    (-0.0, "0"),
    (1e22, "10000000000000000000000"),
    (0.1, "0.1"),
    (1e-300, "1e-300"),
    (np.float32(0.5), "0.5"),
    (decimal.Decimal("3.00"), "3"),
    (decimal.Decimal("0.10"), "0.1"),
    (datetime.date(2024, 2, 29), "2024-02-29"),
    (datetime.datetime(2024, 2, 29, 12, 30), "2024-02-29T12:30:00"),
    (np.datetime64("2024-02-29"), "2024-02-29"),
    (b"suv", "suv"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_text(value, text):
    found = level_text(value)
    assert found == text
    assert type(found) is str


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_from_its_text(value):
    assert float(level_text(value)) == value


@given(value=st.integers())
def test_integers_and_whole_doubles_share_a_text(value):
    assert int(level_text(value)) == value
    if abs(value) < 2**53:
        assert level_text(float(value)) == level_text(value)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"], "text"),
        ([1, 2], "integer"),
        ([1, 2.0], "real"),
        ([True, False], "flag"),
        ([datetime.date(2024, 1, 1)], "date"),
        ([datetime.datetime(2024, 1, 1)], "moment"),
        ([1, "a"], "text"),
        ([True, 1], "text"),
        ([np.int8(1), np.int64(2)], "integer"),
    ],
)
def test_label_type_and_way_back(values, kind):
    assert label_type_of(values) == kind
    if kind != "text":
        back = label_values([level_text(value) for value in values], kind)
        assert back.tolist() == values


@pytest.mark.parametrize(
    ("texts", "kind", "order"),
    [
        (["10", "2", "-1"], "integer", ["-1", "2", "10"]),
        (["10", "2.5", "2"], "real", ["2", "2.5", "10"]),
        (["10", "2", "1"], "text", ["1", "10", "2"]),
        (["true", "false"], "flag", ["false", "true"]),
        (["2024-12-01", "2024-02-29"], "date", ["2024-02-29", "2024-12-01"]),
    ],
)
def test_order(texts, kind, order):
    assert label_order(texts, kind) == order


def test_common_type():
    assert common_label_type("integer", "integer") == "integer"
    assert common_label_type("integer", "real") == common_label_type("real", "integer") == "real"
    with pytest.raises(LabelContradiction):
        common_label_type("integer", "text")


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "-2", "10"], "integer"),
        (["01", "2"], "text"),
        (["1.0"], "text"),
        (["-0"], "text"),
        (["+1"], "text"),
        (["²"], "text"),
        ([""], "text"),
        ([], "text"),
    ],
)
def test_type_of_untyped_labels(texts, kind):
    assert natural_label_type(texts) == kind
