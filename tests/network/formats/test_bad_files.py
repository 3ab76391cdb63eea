"""Files that are no networks: each is refused, with its line and column and what was found there."""

import time

import pytest
from tests.refusal import refusal

import bayesbox as bb

RAIN = "variable rain { type discrete [ 2 ] { yes, no }; }\n"
GRASS = "variable grass { type discrete [ 2 ] { wet, dry }; }\n"
P_RAIN = "probability ( rain ) { table 0.2, 0.8; }\n"
P_GRASS = "probability ( grass | rain ) {\n  (yes) 0.9, 0.1;\n  (no) 0.1, 0.9;\n}\n"
GOOD = RAIN + GRASS + P_RAIN + P_GRASS

BAD_BIF = {
    "negative": (GOOD.replace("0.2, 0.8", "-0.5, 1.5"), "line 3, column 30", "between 0 and 1"),
    "above one": (GOOD.replace("0.2, 0.8", "1.5, 0.0"), "line 3, column 30", "between 0 and 1"),
    "row sum": (GOOD.replace("(no) 0.1, 0.9", "(no) 0.1, 0.8"), "line 6, column 3", "sum to 1"),
    "row sum just off": (GOOD.replace("0.2, 0.8", "0.2, 0.8002"), "line 3", "sum to 1"),
    "decimal comma": (GOOD.replace("0.9, 0.1", "0,9 0,1"), "line 5, column 11", "between 0 and 1"),
    "too large": (GOOD.replace("0.2, 0.8", "1e999, 0.8"), "line 3, column 30", "between 0 and 1"),
    "infinite": (GOOD.replace("0.2, 0.8", "inf, 0.8"), "line 3, column 30", "expected a probability"),
    "not a number": (GOOD.replace("0.2, 0.8", "nan, 0.8"), "line 3, column 30", "expected a probability"),
    "hexadecimal": (GOOD.replace("0.2, 0.8", "0x1p-1, 0.5"), "line 3, column 30", "expected a probability"),
    "a word for a number": (GOOD.replace("0.2, 0.8", "often, 0.8"), "line 3, column 30", "expected a probability"),
    "too few numbers": (GOOD.replace("0.2, 0.8", "1.0"), "line 3", "expected 2 probabilities"),
    "too many numbers": (GOOD.replace("0.2, 0.8", "0.2, 0.3, 0.5"), "line 3", "expected 2 probabilities"),
    "unknown state": (GOOD.replace("(no) 0.1", "(maybe) 0.1"), "line 6, column 4", "no such state"),
    "unknown parent": (GOOD.replace("grass | rain", "grass | snow"), "line 4, column 23", "no variable"),
    "unknown node": (GOOD.replace("( rain )", "( snow )"), "line 3, column 15", "no variable"),
    "row twice": (GOOD.replace("(no) 0.1", "(yes) 0.1"), "line 6, column 3", "a second row"),
    "row missing": (GOOD.replace("  (no) 0.1, 0.9;\n", ""), "line 4", "a row of `grass` is missing: rain=no"),
    "variable twice": (RAIN + GOOD, "line 2, column 10", "declared twice"),
    "table twice": (GOOD + P_RAIN, "line 8, column 15", "a second table"),
    "no table": (RAIN + GRASS + P_RAIN, "line 2, column 10", "has no probabilities"),
    "state twice": (GOOD.replace("yes, no", "yes, yes"), "line 1, column 44", "has already"),
    "number of states": (GOOD.replace("[ 2 ] { yes", "[ 3 ] { yes"), "line 1, column 33", "3 states, but lists 2"),
    "own parent": (GOOD.replace("grass | rain", "grass | grass"), "line 4, column 23", "has already"),
    "parent twice": (GOOD.replace("grass | rain", "grass | rain, rain"), "line 4, column 29", "has already"),
    "cut off": (GOOD[:-4], "line 6", "expected"),
    "cut off in a quote": (GOOD + 'variable "sn', "line 8, column 10", "not closed"),
    "cut off in a comment": (GOOD + "/* and so on", "line 8, column 1", "not closed"),
    "continuous": (GOOD.replace("discrete [ 2 ] { wet, dry }", "continuous"), "line 2, column 23", "discrete"),
    "something else": ("PK\x03\x04 zip", "line 1, column 1", "expected `network`"),
    "empty": ("", "line 1, column 1", "no variable"),
    "cycle": (
        RAIN + GRASS + "probability ( rain | grass ) { (wet) 0.2, 0.8; (dry) 0.2, 0.8; }\n" + P_GRASS,
        "line ",
        "a cycle: ",
    ),
}


@pytest.fixture
def refused(tmp_path):
    def read(text, extension, **options):
        path = tmp_path / f"bad.{extension}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(bb.BadModelFile) as told:
            bb.read_network(path, **options)
        assert str(path) in str(told.value)
        return str(told.value)

    return read


def test_the_good_file_is_good(tmp_path):
    path = tmp_path / "good.bif"
    path.write_text(GOOD)
    assert bb.read_network(path).query("P(rain=yes | grass=wet)") == pytest.approx(0.18 / 0.26)


@pytest.mark.parametrize("case", BAD_BIF)
def test_bad_bif(case, refused):
    text, place, words = BAD_BIF[case]
    message = refused(text, "bif")
    assert place in message
    assert words in message


def test_bytes_that_are_no_text(refused):
    assert "line 1, column 10" in refused(b"variable \xff\xfe {", "bif")


def test_normalize_makes_rows_sum(tmp_path):
    path = tmp_path / "counts.bif"
    path.write_text(GOOD.replace("0.2, 0.8", "2, 6"))
    assert bb.read_network(path, normalize=True).cpt("rain").tolist() == [0.25, 0.75]


def test_normalize_does_not_make_an_infinite_sum_good(tmp_path):
    path = tmp_path / "large.bif"
    path.write_text("variable a { type discrete [ 2 ] { y, n }; }\nprobability ( a ) { table 1e308, 1e308; }\n")
    with refusal(bb.BadModelFile, where="line 2, column 21", found="inf"):
        bb.read_network(path, normalize=True)


def test_normalize_does_not_make_negative_numbers_good(refused):
    assert "between 0 and 1" in refused(GOOD.replace("0.2, 0.8", "-0.5, 1.5"), "bif", normalize=True)
    assert "sum to 1" in refused(GOOD.replace("0.2, 0.8", "0, 0"), "bif", normalize=True)


def test_too_many_nodes(refused):
    text = "".join(f"variable v{place} {{ type discrete [ 1 ] {{ a }}; }}\n" for place in range(10_001))
    assert "more than 10000 variables" in refused(text, "bif")


def test_too_many_cells_are_counted_before_they_are_made(refused):
    states = ", ".join(f"s{state}" for state in range(100))
    variables = "".join(f"variable v{place} {{ type discrete [ 100 ] {{ {states} }}; }}\n" for place in range(12))
    above = ", ".join(f"v{place}" for place in range(1, 12))
    start = time.process_time()
    message = refused(variables + f"probability ( v0 | {above} ) {{ table 1.0; }}", "bif")
    assert "100000000 cells" in message
    assert time.process_time() - start < 2


XML = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
"""


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (XML.replace("<BIF", '<!DOCTYPE BIF [<!ENTITY a "b">]>\n<BIF', 1), "line 2", "DTD"),
        (XML.replace("<BIF", '<!DOCTYPE BIF SYSTEM "bif.dtd">\n<BIF', 1), "line 2", "DTD"),
        (XML.replace("0.2 0.8", "0.2 0.7"), "line 4, column 1", "sum to 1"),
        (XML.replace("0.2 0.8", "-0.5 1.5"), "line 4, column 1", "between 0 and 1"),
        (XML.replace("0.2 0.8", "0,2 0,8"), "line 4, column 28", "'0,2'"),
        (XML.replace("0.2 0.8", "1e999 0"), "line 4, column 28", "'1e999'"),
        (XML.replace("0.2 0.8", "1.0"), "line 4, column 28", "expected 2 numbers"),
        (XML.replace("<FOR>rain", "<FOR>snow"), "line 4, column 28", "unknown variable"),
        (XML.replace("<TABLE>", "<GIVEN>snow</GIVEN><TABLE>"), "line 4", "unknown variable"),
        (XML.replace("<TABLE>", "<GIVEN>rain</GIVEN><TABLE>0.2 0.8 "), "line 4", "a cycle"),
        (XML.replace("<OUTCOME>no<", "<OUTCOME>yes<"), "line 4", "twice"),
        (XML.replace("<OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>", ""), "line 4", "`rain` has no states"),
        (XML.replace("nature", "decision"), "line 3, column 1", "got 'decision'"),
        (XML.replace('"1.0"', '"1.0" encoding="martian"'), "line 1", "unknown encoding: martian"),
        (XML.replace('"1.0"', '"1.0" encoding="gb2312"'), "line 1", "multi-byte"),
        ("<BIF><NETWORK></NETWORK></BIF>", "line 1, column 6", "no <VARIABLE>"),
        (XML.replace("</NETWORK>", ""), "line 5", "not valid XML"),
        ("<html/>", "line 1, column 1", "expected <BIF>"),
        ("<a>" * 200, "line 1", "nested"),
        ("", "line 1", "not valid XML"),
    ],
)
def test_bad_xmlbif(text, place, words, refused):
    message = refused(text, "xmlbif")
    assert place in message
    assert words in message


UAI = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2\n0.2 0.8\n4\n0.9 0.1\n0.1 0.9\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (UAI.replace("BAYES", "CREDAL"), "line 1, column 1", "BAYES or MARKOV"),
        (UAI.replace("0.2 0.8", "0.2 0.7"), "line 8, column 1", "sum to 1"),
        (UAI.replace("0.9 0.1", "0.9 0.2"), "line 10, column 1", "sum to 1"),
        (UAI.replace("0.2 0.8", "-0.2 0.8"), "line 8, column 1", "must not be negative"),
        (UAI.replace("0.2 0.8", "0,2 0,8"), "line 8, column 1", "expected a number"),
        (UAI.replace("0.2 0.8", "1e999 0.8"), "line 8, column 1", "expected a number"),
        (UAI.replace("1 0\n", "1 7\n"), "line 5, column 3", "a variable"),
        (UAI.replace("2 0 1", "2 1 1"), "line 6, column 5", "twice"),
        (UAI.replace("2 0 1", "2 1 0"), "line 6, column 1", "one table"),
        (UAI.replace("\n4\n", "\n5\n"), "line 9, column 1", "number of cells"),
        (UAI + "0.5", "line 12, column 1", "the end of the file"),
        (UAI[:-5], "line 1", "expected a number"),
        (UAI.replace("2 2\n", "2 0\n", 1), "line 3, column 3", "must be at least 1"),
        ("BAYES\n20000\n", "line 2, column 1", "10,000"),
        ("MARKOV 9\n" + "1000 " * 9 + "\n1\n9 0 1 2 3 4 5 6 7 8\n1\n1.0", "line 5", "the limit is"),
    ],
)
def test_bad_uai(text, place, words, refused):
    message = refused(text, "uai")
    assert place in message
    assert words in message


NET = 'net { }\nnode rain { states = ("yes" "no"); }\npotential (rain) { data = (0.2 0.8); }\n'


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (NET.replace("0.2 0.8", "0.2 0.7"), "line 3, column 27", "sum to 1"),
        (NET.replace("0.2 0.8", "-1 2"), "line 3, column 27", "between 0 and 1"),
        (NET.replace("(0.2 0.8)", "(((0.2 0.8)"), "line 3, column 27", "do not match"),
        (NET.replace("(0.2 0.8)", "(" * 100_000 + "0.2 0.8" + ")" * 100_000), "line 3, column 27", "do not match"),
        (NET.replace("(0.2 0.8)", "0.2) (0.8"), "line 3, column 27", "do not match"),
        ("", "line 1, column 1", "no nodes"),
        (NET.replace("0.2 0.8", "0,2 0,8"), "line 3, column 28", "expected a number"),
        (NET.replace("0.2 0.8", "1e999 0"), "line 3, column 28", "expected a number"),
        (NET.replace("0.2 0.8", "1.0"), "line 3", "expected 2 numbers"),
        (NET.replace("(rain)", "(snow)"), "line 3, column 12", "not declared before"),
        (NET.replace("(rain)", "(rain | rain)").replace("0.2 0.8", "0.2 0.8 0.2 0.8"), "line 2", "a cycle"),
        (NET + NET[8:], "line 4", "declared twice"),
        (NET.replace('"no"', '"yes"'), "line 2", "state twice"),
        (NET.replace("node", "decision"), "line 2, column 1", "expected `net`"),
        (NET.replace("data = (0.2 0.8);", ""), "line 3", "no data"),
        (NET.partition("potential")[0], "line 2", "no potential"),
        (NET[:-4], "line 3", "expected"),
    ],
)
def test_bad_net(text, place, words, refused):
    message = refused(text, "net")
    assert place in message
    assert words in message


STATES = "".join(f'<state id="s{place}"/>' for place in range(10))
XDSL = (
    '<smile id="n"><nodes>\n<cpt id="rain"><state id="yes"/><state id="no"/>\n'
    "<probabilities>0.2 0.8</probabilities></cpt></nodes></smile>"
)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (XDSL.replace("0.2 0.8", "0.2 0.7"), "line 2, column 1", "sum to 1"),
        (XDSL.replace("0.2 0.8", "0,2 0,8"), "line 3, column 1", "'0,2'"),
        (XDSL.replace("<prob", "<parents>snow</parents><prob"), "line 3", "unknown variable"),
        (XDSL.replace("cpt", "decision"), "line 2, column 1", "decision"),
        ("<smile><nodes></nodes></smile>", "line 1, column 8", "no nodes"),
        (
            "<smile><nodes>"
            + "".join(f'<cpt id="v{i}">{STATES}<probabilities>{"0.1 " * 10}</probabilities></cpt>' for i in range(8))
            + f'\n<deterministic id="top">{STATES}<parents>{" ".join(f"v{i}" for i in range(8))}</parents>\n'
            + "<resultingstates>s0</resultingstates></deterministic></nodes></smile>",
            "line 3, column 1",
            "1,000,000,000 cells",
        ),
        ("<!DOCTYPE smile>" + XDSL, "line 1", "DTD"),
    ],
)
def test_bad_xdsl(text, place, words, refused):
    message = refused(text, "xdsl")
    assert place in message
    assert words in message


JSON = (
    '{"format": "bayesbox network", "version": 1, "name": "",\n'
    ' "nodes": [{"name": "rain", "states": ["yes", "no"], "parents": [], "table": [[0.2, 0.8]]}]}'
)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (JSON.replace("0.8", "0.7"), "line 2, column 13", "sum to 1"),
        (JSON.replace("0.2", "-0.2"), "line 2, column 13", "between 0 and 1"),
        (JSON.replace("0.2", "0,2"), "line 2", "2 numbers"),
        (JSON.replace("0.2", "1e999"), "line 2, column 80", "too large"),
        (JSON.replace("0.2", "NaN"), "line 2, column 80", "NaN is not a JSON number"),
        (JSON.replace('"states"', '"name": "1e999", "states"'), "line 2, column 29", "'name' occurs twice"),
        (JSON.replace("table", "tabel"), "line 2, column 69", """unknown key, got 'tabel'. Did you mean "table"?"""),
        (JSON.replace("parents", "upon"), "line 2, column 54", "The keys here are name, states, parents, table"),
        (JSON.replace('"name": "",', '"title": "",'), "line 1, column 46", "got 'title'"),
        (JSON.replace("0.2", "1" + "0" * 400), "line", "between 0 and 1"),
        ('{"age": 25}', "line 1", "jsonl"),
        (JSON.replace("0.2", '"0.2"'), "line 2, column 13", "between 0 and 1, got '0.2'"),
        (JSON.replace('"parents": []', '"parents": ["snow"]'), "line 2", "not a node"),
        (JSON.replace("1, ", "2, ", 1), "line 1", "version"),
        (JSON[:-2], "line 2", "not valid JSON"),
        ('{"format": "something"}', "line 1", "bayesbox network"),
        ("[1, 2]", "line 1", "bayesbox network"),
    ],
)
def test_bad_json(text, place, words, refused):
    message = refused(text, "json")
    assert place in message
    assert words in message


def test_an_extension_that_is_none(tmp_path):
    with refusal(bb.BadOption, remedy=".xmlbif"):
        bb.read_network(tmp_path / "network.doc")


def test_a_file_that_is_not_there(tmp_path):
    with refusal(OSError, where="network.bif"):
        bb.read_network(tmp_path / "network.bif")


def test_files_without_a_node(refused):
    empty = '{"format": "bayesbox network", "version": 1, "nodes": []}'
    for text, suffix in (("", "net"), ("net { }", "net"), (empty, "json")):
        assert "line 1, column 1: the file has no nodes" in refused(text, suffix)
