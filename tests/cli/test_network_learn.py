"""`bayes network learn` and `bayes network fit`."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayesbox as bb

from .conftest import Bayes
from .test_network import SPRINKLER


@pytest.fixture
def rows(bayes: Bayes) -> str:
    Path("sprinkler.bif").write_text(SPRINKLER)
    bayes("network", "sample", "sprinkler.bif", "-n", "2000", "--seed", "5", "-o", "rows.csv")
    return "rows.csv"


def test_learn(bayes: Bayes, rows: str) -> None:
    ended = bayes("network", "learn", rows, "-o", "net.bif", "--svg", "net.svg", "--known", "sprinkler.bif")
    assert ended.out.splitlines()[0].split() == ["parent", "child"]
    assert len(ended.out.splitlines()) == 4
    assert "2,000 rows; 3 arcs" in ended.err
    assert "bic -" in ended.err
    assert "structural Hamming distance 0" in ended.err
    assert "written to net.bif" in ended.err
    net = bb.read_network("net.bif")
    assert net == bb.learn_network(rows)
    assert Path("net.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("em", "as completed by EM"),
        ("drop", "of the complete rows"),
        ("level", "with missing values counted as a state"),
    ],
)
def test_the_score_of_rows_with_holes_says_what_it_is_of(bayes: Bayes, folder: Path, missing: str, told: str) -> None:
    (folder / "holes.csv").write_text("a,b\n" + "x,p\ny,q\nx,p\ny,\n,q\n" * 8)
    assert told in bayes("network", "learn", "holes.csv", "--missing", missing).err
    assert bayes("network", "learn", "holes.csv", "--missing", missing, "--json").json["missing"] == missing


def test_rules(bayes: Bayes, rows: str) -> None:
    given = ["--forbid", "rain->sprinkler", "--forbid", "sprinkler->rain", "--require", "grass->rain"]
    facts = bayes("network", "learn", rows, *given, "--json").json
    assert ["grass", "rain"] in facts["edges"]
    assert ["rain", "sprinkler"] not in facts["edges"]
    tiers = ["--tier", "grass", "--tier", "rain,sprinkler"]
    facts = bayes("network", "learn", rows, *tiers, "--max-parents", "1", "--score", "bdeu:5", "--json").json
    assert facts["score"]["name"] == "bdeu:5"
    assert all(child != "grass" for _, child in facts["edges"])
    assert len({child for _, child in facts["edges"]}) == len(facts["edges"])


@pytest.mark.parametrize("method", ["hill", "tabu", "order", "exact", "chow-liu", "tan", "pc"])
def test_methods(bayes: Bayes, rows: str, method: str) -> None:
    target = ["-t", "grass"] if method == "tan" else []
    facts = bayes("network", "learn", rows, "--method", method, *target, "--json").json
    assert facts["method"] == method
    assert len(facts["edges"]) >= 2
    assert list(facts) == [
        "written",
        "method",
        "score",
        "parameters",
        "rows",
        "holes",
        "missing",
        "moves",
        "seconds",
        "nodes",
        "edges",
        "undirected",
        "bound",
        "bound_parents",
        "strengths",
        "skipped",
        "warnings",
    ]


def test_undirected_arcs_are_shown_as_such(bayes: Bayes) -> None:
    Path("pair.csv").write_text("a,b\n" + "x,p\n" * 30 + "y,q\n" * 30)
    assert bayes("network", "learn", "pair.csv", "--method", "pc").out.split()[2:] == ["b", "--", "a"]
    Path("alone.csv").write_text("a,b\n" + "x,p\ny,q\nx,q\ny,p\n" * 30)
    ended = bayes("network", "learn", "alone.csv")
    assert ended.out == ""
    assert "no column is informative about another" in ended.err


def test_strengths(bayes: Bayes, rows: str) -> None:
    ended = bayes("network", "learn", rows, "--bootstrap", "5")
    assert ended.out.splitlines()[0].split() == ["parent", "child", "strength", "direction"]
    facts = bayes("network", "learn", rows, "--bootstrap", "5", "--json").json
    assert {"parent", "child", "strength", "direction"} == set(facts["strengths"][0])


def test_numbers_and_holes(bayes: Bayes) -> None:
    lines = [f"{i / 7},{'low' if i < 50 else 'high'},{'' if i % 5 == 0 else i % 2},{i}" for i in range(100)]
    Path("n.csv").write_text("size,level,flag,id\n" + "\n".join(lines) + "\nbroken\n")
    assert "n.csv, line 102" in bayes("network", "learn", "n.csv", code=3).err
    given = ["--bad-rows", "skip", "--ignore", "id", "--bins", "width:2", "-o", "net.bif"]
    facts = bayes("network", "learn", "n.csv", *given, "--json").json
    assert (facts["rows"], facts["holes"], facts["skipped"]) == (100, 20, 1)
    assert len(facts["nodes"][0]["states"]) == 2
    net = bb.read_network("net.bif")
    assert net.query("P(level=low | size=1.5)") > 0.9  # the states of the file still hold their cuts
    dropped = bayes("network", "learn", "n.csv", *given[:6], "--missing", "drop", "--json").json
    assert dropped["rows"] == 80
    assert "choose one of em, drop, level" in bayes("network", "learn", "n.csv", "--missing", "ignore", code=2).err


def test_fit(bayes: Bayes, rows: str) -> None:
    ended = bayes("network", "fit", "sprinkler.bif", rows, "-o", "fitted.bif", "--smoothing", "mle")
    assert "2,000 rows, 0 with missing values, by counting" in ended.err
    fitted = bb.read_network("fitted.bif")
    assert isinstance(fitted, bb.BayesianNetwork)
    assert ended.out == f"log-likelihood {fitted.log_likelihood(rows):.6f}\n"
    text = Path(rows).read_text().splitlines()
    holes = [line if place % 3 or not place else line.rpartition(",")[0] + "," for place, line in enumerate(text)]
    Path("holes.csv").write_text("\n".join(holes) + "\n")
    facts = bayes("network", "fit", "sprinkler.bif", "holes.csv", "-o", "em.xmlbif", "--json").json
    assert facts["written"] == ["em.xmlbif"]
    assert facts["holes"] == 666
    assert facts["rounds"] > 1
    assert facts["converged"]


def test_experts_and_hidden_nodes(bayes: Bayes, rows: str) -> None:
    bayes("network", "fit", "sprinkler.bif", rows, "-o", "expert.bif", "--prior-cases", "1e9")
    truth, expert = bb.read_network("sprinkler.bif"), bb.read_network("expert.bif")
    assert isinstance(truth, bb.BayesianNetwork)
    assert isinstance(expert, bb.BayesianNetwork)
    assert expert.probability({"rain": "yes"}) == pytest.approx(0.2, abs=1e-5)  # a billion cases outweigh the rows
    lines = [line.partition(",")[2] for line in Path(rows).read_text().splitlines()]
    Path("norain.csv").write_text("\n".join(lines) + "\n")
    facts = bayes("network", "fit", "sprinkler.bif", "norain.csv", "--hidden", "rain", "--json").json
    assert facts["holes"] == 2000
    assert "no column `rain`" in bayes("network", "fit", "sprinkler.bif", "norain.csv", code=3).err


def test_what_does_not_go_together(bayes: Bayes, rows: str) -> None:
    assert "--score does not apply to show" in bayes("network", "show", "sprinkler.bif", "--score", "bic", code=2).err
    assert (
        "--forbid does not apply to fit"
        in bayes("network", "fit", "sprinkler.bif", rows, "--forbid", "a->b", code=2).err
    )
    assert (
        "--bins does not apply to sample"
        in bayes("network", "sample", "sprinkler.bif", "--bins", "width:2", code=2).err
    )
    assert (
        "--bins does not apply to fit"
        in bayes("network", "fit", "sprinkler.bif", rows, "--bins", "width:2", code=2).err
    )
    assert "--hidden does not apply to learn" in bayes("network", "learn", rows, "--hidden", "rain", code=2).err
    assert "method hill does not use alpha" in bayes("network", "learn", rows, "--alpha", "0.05", code=2).err
    assert "only with --known" in bayes("network", "learn", rows, "--normalize", code=2).err
    assert "fit needs a network and data" in bayes("network", "fit", "sprinkler.bif", code=2).err
    assert (
        "for fit, choose one of em, drop, ignore"
        in bayes("network", "fit", "sprinkler.bif", rows, "--missing", "level", code=2).err
    )
    assert "Did you mean `grass`" in bayes("network", "learn", rows, "--forbid", "gras->rain", code=3).err
    assert "parent->child" in bayes("network", "learn", rows, "--forbid", "grass", code=2).err
    assert "the score must be one of" in bayes("network", "learn", rows, "--score", "best", code=2).err
    assert bayes("network", "learn", "nothing.csv", code=74).err
    Path("x.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n")
    assert "factor graph" in bayes("network", "learn", rows, "--known", "x.uai", code=2).err
    assert "factor graph" in bayes("network", "fit", "x.uai", rows, code=2).err
    Path("other.bif").write_text(SPRINKLER.replace("grass", "lawn"))
    assert "different nodes" in bayes("network", "learn", rows, "--known", "other.bif", "-o", "n.bif", code=3).err
    assert not Path("n.bif").exists()


def test_the_name_of_the_network_is_looked_at_first(bayes):
    assert "not a network file" in bayes("network", "learn", "nowhere.csv", "-o", "net.txt", code=2).err


def test_fit_normalizes_where_it_is_told_to(bayes, folder):
    (folder / "rain.bif").write_text(
        "variable rain { type discrete [ 2 ] { yes, no }; } probability ( rain ) { table 0.2, 0.7; }"
    )
    (folder / "rain.csv").write_text("rain\nyes\nno\n")
    assert "sum to 1" in bayes("network", "fit", "rain.bif", "rain.csv", code=4).err
    bayes("network", "fit", "rain.bif", "rain.csv", "--normalize", "-o", "fitted.bif")


def test_infinite_numbers_are_refused_or_skipped(bayes, folder):
    rows = "".join(f"{place},{'yes' if place > 9 else 'no'}\n" for place in range(20))
    (folder / "rows.csv").write_text(f"size,large\n{rows}inf,yes\n")
    told = bayes("network", "learn", "rows.csv", code=3).err
    assert "rows.csv: column `size` contains an infinite value, got inf. Replace it" in told
    report = bayes("network", "learn", "rows.csv", "--bad-rows", "skip", "--json").json
    assert (report["rows"], report["skipped"]) == (20, 1)


def test_search_over_orders_states_its_gap_and_the_averaged_network_is_drawn(bayes: Bayes, rows: str) -> None:
    ended = bayes("network", "learn", rows, "--method", "order")
    assert "no structure has a score above" in ended.err
    assert "the gap is 0.0000" in ended.err
    found = bayes("network", "learn", rows, "--method", "order", "--json").json
    assert found["bound"] == pytest.approx(found["score"]["value"])
    drawn = bayes("network", "learn", rows, "--bootstrap", "5", "--average", ".5", "--svg", "net.svg", "--json").json
    assert len(drawn["edges"]) == 3
    assert Path("net.svg").read_text().count("<title>") == 3
    assert "--bootstrap 100" in bayes("network", "learn", rows, "--average", ".5", code=2).err
