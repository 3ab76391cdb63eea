"""Files as others write them: comments that touch a word, sums off by rounding, other extensions."""

import numpy as np
import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.errors import BadModelFile, BadOption, RoundedRows

BIF = """network n {{ }}
variable a {{ type discrete [ 2 ] {{ yes, {state} }}; }}
variable b {{ type discrete [ 3 ] {{ x, y, z }}; }}
probability ( a ) {{ table 0.25, {number}; }}
probability ( b | a ) {{ (yes) {row}; (no) 0.2, 0.3, 0.5; }}
"""


def read(tmp_path, text, name="n.bif"):
    (tmp_path / name).write_text(text)
    return bb.read_network(tmp_path / name)


def written(state="no", number="0.75", row="0.1, 0.2, 0.7"):
    return BIF.format(state=state, number=number, row=row)


@pytest.mark.parametrize("state", ['no// "No"\n', "no//No\n", "no/* No */", "no/**/", "/* a */no"])
def test_bif_comment_that_touches_a_state(tmp_path, state):
    assert read(tmp_path, written(state=state)).states("a") == ["yes", "no"]


@pytest.mark.parametrize("number", ["0.75// x\n", "0.75/* x */", "0.75/*;*/"])
def test_bif_comment_that_touches_a_number(tmp_path, number):
    np.testing.assert_array_equal(read(tmp_path, written(number=number)).cpt("a"), [0.25, 0.75])


def test_bif_slash_that_begins_no_comment(tmp_path):
    assert read(tmp_path, written(state="n/o").replace("(no)", "(n/o)")).states("a") == ["yes", "n/o"]


def test_bif_writes_what_would_be_a_comment_in_quotes(tmp_path):
    network = bb.BayesianNetwork({"a": []}, {"a": [0.5, 0.5]}, states={"a": ["http://x", "y/*z"]})
    network.write(tmp_path / "q.bif")
    assert bb.read_network(tmp_path / "q.bif").states("a") == ["http://x", "y/*z"]


@pytest.mark.parametrize(
    ("row", "total"),
    [
        ("0.333333, 0.333333, 0.333333", 0.999999),
        ("0.95, 0.05, 0.000035", 1.000035),
        ("0.333, 0.333, 0.333", 0.999),
        ("0.33, 0.33, 0.33", 0.99),
    ],
)
@pytest.mark.parametrize("extension", ["bif", "xmlbif", "net", "uai", "xdsl", "json"])
def test_sums_off_by_rounding(tmp_path, row, total, extension):
    """Accepted with a warning that has the node and the sum, and scaled; in every format."""
    values = np.array([float(number) for number in row.split(",")])
    read(tmp_path, written(row="0.101, 0.202, 0.697")).write(tmp_path / f"plain.{extension}")
    text = (tmp_path / f"plain.{extension}").read_text()
    for old, new in zip(("0.101", "0.202", "0.697"), row.split(", "), strict=True):
        text = text.replace(old, new)
    with pytest.warns(RoundedRows) as caught:
        network = read(tmp_path, text, f"n.{extension}")
    (sums,) = (warned.message.sums for warned in caught)
    node = "1" if extension == "uai" else "b"
    assert list(sums) == [node]
    assert sums[node] == pytest.approx(total, abs=1e-12)
    np.testing.assert_allclose(network.cpt(node)[0], values / values.sum(), rtol=1e-15)


@pytest.mark.parametrize("row", ["0.3, 0.3, 0.3", "0.5, 0.25, 0.23", "0.95, 0.05, 0.00035", "0.1, 0.2, 0.6"])
def test_sums_further_off_are_refused(tmp_path, row):
    with refusal(BadModelFile, remedy="normalize=True"):
        read(tmp_path, written(row=row))
    (tmp_path / "n.bif").write_text(written(row=row))
    assert bb.read_network(tmp_path / "n.bif", normalize=True).cpt("b")[0].sum() == pytest.approx(1)


def test_tables_in_python_are_exact():
    with refusal(bb.errors.BadTable):
        bb.BayesianNetwork({"a": []}, {"a": [0.333, 0.333, 0.333]}, states={"a": ["x", "y", "z"]})


def test_bifxml_is_xmlbif(tmp_path):
    read(tmp_path, written()).write(tmp_path / "n.xmlbif")
    (tmp_path / "n.bifxml").write_bytes((tmp_path / "n.xmlbif").read_bytes())
    assert bb.read_network(tmp_path / "n.bifxml").nodes == ["a", "b"]


@pytest.mark.parametrize("name", ["n.dsl", "n.dsl.gz", "n.dne"])
def test_formats_that_are_refused_by_name(tmp_path, name):
    with refusal(BadOption, what=name.split(".")[1], remedy=".xdsl"):
        bb.read_network(tmp_path / name)


def test_uai_comments(tmp_path):
    text = "# made by hand\nBAYES # the kind\n2# variables\n2 2\n2\n1 0\n2 0 1\n# tables\n"
    text += "2 0.4 0.6# x\n4\n0.1 0.9 #\n 0.3 0.7\n"
    network = read(tmp_path, text, "n.uai")
    np.testing.assert_array_equal(network.cpt("1"), [[0.1, 0.9], [0.3, 0.7]])
