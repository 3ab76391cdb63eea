"""The joint distribution of a table from every source, and its arithmetic."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusal import refusal
from tests.tables import SHAPES

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, BadWeight, CannotForget, CannotMerge, KindContradiction, UnknownColumn
from bayesbox.network.joint.joint import count_table
from bayesbox.source.base import Batch, Source

TABLE = {"age": [34, 34, None, 20], "car": ["suv", None, "suv", "van"], "member": [True, False, True, True]}
ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


class Batches(Source):
    """The same rows in batches of the size given."""

    name = "batches"

    def __init__(self, table, size):
        self.table, self.size = table, size

    def batches(self):
        for first in range(0, self.table.num_rows, self.size):
            yield Batch.from_arrow(self.table.slice(first, self.size), first)


def csv_of(folder):
    path = folder / "people.csv"
    path.write_text("age,car,member\n34,suv,true\n34,,false\n,suv,true\n20,van,true\n")
    return path


def parquet_of(folder):
    pq.write_table(pa.table(TABLE), folder / "people.parquet")
    return str(folder / "people.parquet")


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: TABLE,
        lambda folder: ROWS,
        lambda folder: pd.DataFrame(TABLE),
        lambda folder: pd.DataFrame(TABLE).astype({"car": "category"}),
        lambda folder: pl.DataFrame(TABLE),
        lambda folder: pa.table(TABLE),
        lambda folder: Batches(pa.table(TABLE), 1),
        lambda folder: Batches(pa.table(TABLE), 3),
        csv_of,
        parquet_of,
    ],
    ids=["columns", "rows", "pandas", "categorical", "polars", "arrow", "ones", "threes", "csv", "parquet"],
)
def test_every_source_gives_the_same(make, tmp_path):
    joint = bb.Joint(make(tmp_path))
    assert joint.digest() == bb.Joint(TABLE).digest()
    assert joint.fraction("P(age=34)") == Fraction(2, 3)
    assert joint.fraction("P(age=34 | car=suv)") == 1
    assert joint.fraction("P(member=true)") == Fraction(3, 4)
    assert joint.levels("age") == ["20", "34"]
    assert (joint.n, joint.columns) == (4, ("age", "car", "member"))


def test_an_array():
    joint = bb.Joint(np.array([[1.5, 2.0], [1.5, 3.0]]))
    assert joint.query("P(0=1.5)") == 1.0
    assert dict(joint.query("P(1)")) == {"2": 0.5, "3": 0.5}


def test_add_and_take_away():
    whole, some = bb.Joint(ROWS), bb.Joint(ROWS[:2])
    rest = bb.Joint(ROWS[2:])
    assert whole - some == rest
    assert some + rest == whole
    assert (whole - some).digest() == rest.digest()
    assert (whole - some).levels("age") == ["20"]
    assert whole - whole + some == some
    assert whole != some
    with refusal(CannotForget, where="data"):
        some - whole
    with pytest.raises(CannotForget):
        whole - bb.Joint([{"age": 35, "car": "suv", "member": True}])
    with pytest.raises(CannotMerge):
        whole + bb.Joint({"age": [1]})
    with pytest.raises(TypeError):
        whole + ROWS


def test_batch_by_batch():
    total = bb.Joint([])
    for row in ROWS:
        total = total + bb.Joint([row | {"age": row["age"]}])
    assert total == bb.Joint(ROWS)
    assert total.fraction("P(age=34.0)") == Fraction(2, 3)


def test_nothing():
    empty = bb.Joint([])
    assert (empty.n, empty.columns) == (0, ())
    with refusal(UnknownColumn, column="a", where="data"):
        empty.query("P(a)")
    assert empty - empty == empty
    with pytest.raises(CannotForget):
        empty - bb.Joint(ROWS)


def test_weights():
    joint = bb.Joint({"a": ["x", "y", "x"], "w": [0.1, 0.2, 0.0]}, weight="w")
    assert joint.columns == ("a",)
    assert joint.fraction("P(a=x)") == Fraction(0.1) / (Fraction(0.1) + Fraction(0.2))
    assert joint.n == 0.1 + 0.2  # this sum happens to be the nearest double
    twice = bb.Joint({"a": ["x", "y", "y"]}) + bb.Joint({"a": ["y"]})
    assert bb.Joint({"a": ["x", "y"], "w": [1, 3]}, weight="w") == twice
    with pytest.raises(BadWeight):
        bb.Joint({"a": ["x"], "w": [-1]}, weight="w")
    with refusal(UnknownColumn, column="w2", where="data"):
        bb.Joint({"a": ["x"], "w1": [1]}, weight="w2")


def test_declared_kinds(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("zip,smoker,score\n01,1,1.0\n1,0,2\n?,1,1\n")
    joint = bb.Joint(path, columns={"zip": "category", "smoker": bb.Flag()}, na=["?"])
    assert joint.levels("zip") == ["01", "1"]
    assert joint.levels("smoker") == ["false", "true"]
    assert joint.fraction("P(smoker=1 | score=1.0)") == 1
    assert joint.ask("P(zip)").left_out == 1
    assert bb.Joint(path, columns={"zip": "ignore"}).columns == ("smoker", "score")
    as_text = bb.Joint(path, columns={"score": "category"}, na=["?"])
    assert as_text.levels("score") == ["1", "1.0", "2"]
    numbers = bb.Joint({"x": ["1.0", "1", "2"]}, columns={"x": "real"})
    assert numbers.levels("x") == ["1", "2"]
    with pytest.raises(UnknownColumn):
        bb.Joint(path, columns={"zipp": "category"})
    with refusal(KindContradiction, column="a", where="data", found="maybe"):
        bb.Joint({"a": ["maybe"]}, columns={"a": "flag"})
    with refusal(BadOption, found="list"):
        bb.Joint(ROWS, na=["?"])


def test_only_what_is_asked_for_is_counted():
    batches = Batches(pa.table({"id": range(9000), "sex": ["f", "m", "m"] * 3000}), 1000)
    rows = []
    table = count_table(batches, only=["sex"], progress=rows.append)
    assert table.columns == ("sex",)
    assert dict(table.family.items()) == {("f",): 3000, ("m",): 6000}
    assert rows == [1000] * 9
    with refusal(UnknownColumn, column="sexe", where="batches"):
        count_table(batches, only=["sexe"])


def test_the_order_of_numbers_survives_addition():
    joint = bb.Joint({"x": [10, 9]}) + bb.Joint({"x": [2.5]})
    assert joint.levels("x") == ["2.5", "9", "10"]
    assert (bb.Joint({"x": [10, 9]}) + bb.Joint({"x": ["b"]})).levels("x") == ["10", "9", "b"]
    assert (bb.Joint({"x": [10, 9]}) + bb.Joint({"x": [None]})).levels("x") == ["9", "10"]


def test_nested_columns_are_refused_by_name():
    with refusal(BadData, column="visits", where="column `visits`"):
        bb.Joint(pa.table({"visits": [[1], [2]]}))


def test_a_value_and_nothing_else():
    joint = bb.Joint(SHAPES.X)
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert repr(joint) == "Joint(shape, colour, size; n=11)"
    assert joint != "a joint"
    with pytest.raises(TypeError):
        hash(joint)


def test_a_fraction_is_of_an_event():
    with refusal(BadOption, found="P(age)"):
        bb.Joint(ROWS).fraction("P(age)")
    with refusal(BadOption, found="age _|_ car"):
        bb.Joint(ROWS).query("age _|_ car")
