"""`bayes network` and `bayes query` of the file of a network."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayesbox as bb

from .conftest import Bayes

SPRINKLER = """network sprinkler { }
variable rain { type discrete [ 2 ] { yes, no }; }
variable sprinkler { type discrete [ 2 ] { on, off }; }
variable grass { type discrete [ 2 ] { wet, dry }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( sprinkler | rain ) { (yes) 0.01, 0.99; (no) 0.4, 0.6; }
probability ( grass | rain, sprinkler ) {
  (yes, on) 0.99, 0.01; (yes, off) 0.8, 0.2; (no, on) 0.9, 0.1; (no, off) 0.0, 1.0;
}
"""


@pytest.fixture
def sprinkler() -> str:
    Path("sprinkler.bif").write_text(SPRINKLER)
    return "sprinkler.bif"


def test_a_number_and_a_table(bayes: Bayes, sprinkler: str) -> None:
    assert bayes("query", sprinkler, "P(rain=yes | grass=wet)").out == "891/2491 = 0.3576877\n"
    table = bayes("query", sprinkler, "P(rain | grass=wet)").out
    assert "yes   891/2491" in " ".join(table.split()) or "yes 891/2491" in " ".join(table.split())


def test_json(bayes: Bayes, sprinkler: str) -> None:
    found = bayes("query", sprinkler, "P(rain=yes | grass=wet)", "--json").json
    assert found["fraction"] == "891/2491"
    assert found["probability"] == pytest.approx(891 / 2491, rel=1e-15)
    rows = bayes("query", sprinkler, "P(rain, sprinkler | grass=wet)", "--json").json
    assert rows["columns"] == ["rain", "sprinkler"]
    assert sum(row["probability"] for row in rows["rows"]) == pytest.approx(1)


def test_virtual_evidence(bayes: Bayes, sprinkler: str) -> None:
    found = bayes("query", sprinkler, "P(rain=yes | sprinkler~(on:1, off:0))", "--json").json
    assert found["probability"] == pytest.approx(0.002 / 0.322, rel=1e-14)


def test_most_probable_states(bayes: Bayes, sprinkler: str) -> None:
    ended = bayes("query", sprinkler, "P(rain, sprinkler | grass=wet)", "--mpe")
    assert ended.out.split() == ["node", "state", "rain", "no", "sprinkler", "on"]
    assert "0.642312" in ended.err


def test_show_work(bayes: Bayes, sprinkler: str) -> None:
    lines = bayes("query", sprinkler, "P(rain=yes | grass=wet)", "--show-work").out.splitlines()
    assert "sprinkler=on   0.2 x 0.01 x 0.99 = 0.00198" in lines
    assert "P(rain=no, grass=wet) = the same sum with rain=no = 0.288" in lines
    assert lines[-1] == "891/2491 = 0.3576877"
    assert max(map(len, lines)) <= 100
    soft = bayes("query", sprinkler, "P(rain=yes | grass~(wet:0.7, dry:0.3))", "--show-work", "--json").json
    step = soft["work"]["steps"][-1]
    assert step["name"] == "posterior"
    assert step["rows"][0]["cells"][0]["value"] == pytest.approx(soft["probability"], rel=1e-12)
    full = "P(rain=yes, sprinkler=on, grass=wet)"
    joint = bayes("query", sprinkler, full, "--show-work", "--json").json["work"]["steps"]
    assert [step["name"] for step in joint] == ["joint"]


def test_work_for_documents(bayes: Bayes, sprinkler: str) -> None:
    asked = ("query", sprinkler, "P(rain=yes | grass=wet)", "--show-work", "--work-method", "elimination")
    assert r"\frac{891}{2491}" in bayes(*asked, "--latex").out
    assert bayes(*asked, "--html").out.startswith("<!doctype html>")
    assert "f1(rain)" in bayes(*asked).out
    assert "choose one" in bayes(*asked, "--latex", "--html", code=2).err
    assert "--show-work" in bayes("query", sprinkler, "P(rain)", "--latex", code=2).err
    assert "--show-work" in bayes("query", sprinkler, "P(rain)", "--work-method", "elimination", code=2).err
    assert "--mpe" in bayes("query", sprinkler, "P(rain)", "--mpe", "--show-work", code=2).err


def test_samples_written_out(bayes: Bayes, sprinkler: str) -> None:
    for method in ("weighting", "gibbs"):
        asked = ("query", sprinkler, "P(rain=yes | grass=wet)", "--approx", method, "--seed", "3", "--samples", "5000")
        found = bayes(*asked, "--show-work", "--json").json
        rows = {row["name"]: row["cells"][0]["value"] for row in found["work"]["steps"][-1]["rows"]}
        assert rows["exact"] == pytest.approx(891 / 2491, rel=1e-12)
        [own] = [value for name, value in rows.items() if name.startswith("the library's")]
        assert own == found["probability"]
        assert rows["after 1,000 samples"] == pytest.approx(891 / 2491, abs=0.1 if method == "weighting" else 1)
    assert "weighting or gibbs" in bayes("query", sprinkler, "P(rain)", "--approx", "loopy", "--show-work", code=2).err


def test_tables(bayes: Bayes, sprinkler: str) -> None:
    lines = bayes("network", "show", sprinkler, "--tables").out.splitlines()
    assert "P(grass | rain=yes, sprinkler=off)  0.8   0.2" in lines
    assert "the tables have 14 numbers, 7 of them free" in lines
    facts = bayes("network", "show", sprinkler, "--tables", "--json").json
    assert facts["parameters"] == {"numbers": 14, "free": 7, "joint_numbers": 8, "joint_free": 7}
    assert facts["tables"][0]["rows"][0]["cells"][0]["fraction"] == "1/5"
    assert r"\begin{tabular}" in bayes("network", "show", sprinkler, "--tables", "--latex").out
    assert "--tables" in bayes("network", "show", sprinkler, "--html", code=2).err
    assert bayes("show", sprinkler, "--tables").out.splitlines() == lines
    assert (
        "--tables does not apply to convert"
        in bayes("network", "convert", sprinkler, "x.xmlbif", "--tables", code=2).err
    )


def test_independence(bayes: Bayes, sprinkler: str) -> None:
    assert bayes("query", sprinkler, "rain _|_ grass | sprinkler").out == (
        "not d-separated: the path rain -> grass is open\n"
    )
    facts = bayes("query", sprinkler, "rain _|_ grass", "--json").json
    assert facts == {"question": "rain _|_ grass", "independent": False, "path": "rain -> grass"}
    assert "not to events" in bayes("query", sprinkler, "rain=yes _|_ grass", code=2).err


def test_wrong_names_and_impossible_evidence(bayes: Bayes, sprinkler: str) -> None:
    assert "Did you mean `rain`?" in bayes("query", sprinkler, "P(rian=yes)", code=3).err
    assert "node `rain`: no state `maybe`" in bayes("query", sprinkler, "P(rain=maybe)", code=3).err
    impossible = "P(grass=wet | rain=no, sprinkler=off, grass=wet)"
    assert "probability 0" in bayes("query", sprinkler, impossible, code=3).err


def test_options_of_networks_are_for_networks(bayes: Bayes, sprinkler: str) -> None:
    Path("rows.csv").write_text("a,b\n1,2\n")
    assert "--mpe" in bayes("query", "rows.csv", "P(a)", "--mpe", code=2).err
    assert "Name the node without a value" in bayes("query", sprinkler, "P(rain=yes)", "--mpe", code=2).err
    assert (
        "--mpe needs a question P(...) that names nodes"
        in bayes("query", sprinkler, "rain _|_ grass", "--mpe", code=2).err
    )


def test_show(bayes: Bayes, sprinkler: str) -> None:
    out = bayes("network", "show", sprinkler).out
    assert "P(rain, sprinkler, grass) = P(rain) P(sprinkler | rain) P(grass | rain, sprinkler)" in out
    facts = bayes("network", "show", sprinkler, "--json").json
    assert facts["name"] == "sprinkler"
    assert facts["nodes"][2] == {"name": "grass", "states": ["wet", "dry"], "parents": ["rain", "sprinkler"]}
    assert ["rain", "grass"] in facts["edges"]
    ended = bayes("network", "show", sprinkler, "--svg", "drawing.svg")
    assert "drawing.svg written" in ended.err
    assert Path("drawing.svg").read_text().startswith("<svg")


def test_convert_keeps_every_number(bayes: Bayes, sprinkler: str) -> None:
    for target in ("x.xmlbif", "x.net", "x.xdsl", "x.json", "x.bif.gz"):
        assert "3 nodes written" in bayes("network", "convert", sprinkler, target).err
        assert bb.read_network(target) == bb.read_network(sprinkler)
    assert bayes("network", "convert", sprinkler, "x.uai", "--json").json == {"written": "x.uai", "nodes": 3}
    assert "convert needs two files" in bayes("network", "convert", sprinkler, code=2).err
    assert ".bif, .xmlbif" in bayes("network", "convert", sprinkler, "x.doc", code=2).err


def test_sample(bayes: Bayes, sprinkler: str) -> None:
    out = bayes("network", "sample", sprinkler, "-n", "5", "--seed", "3").out
    assert out.splitlines()[0] == "rain,sprinkler,grass"
    assert len(out.splitlines()) == 6
    assert out == bayes("network", "sample", sprinkler, "-n", "5", "--seed", "3").out
    bayes("network", "sample", sprinkler, "-n", "4000", "-o", "rows.csv")
    share = bayes("query", "rows.csv", "P(rain=yes | grass=wet)", "--json").json["probability"]
    assert share == pytest.approx(891 / 2491, abs=0.04)


def test_bad_files_end_with_4_and_their_place(bayes: Bayes) -> None:
    Path("bad.bif").write_text(SPRINKLER.replace("0.2, 0.8", "0.2, 0.7"))
    err = bayes("network", "show", "bad.bif", code=4).err
    assert "bad.bif, line 5, column 24" in err
    assert "--normalize" in err
    assert bayes("network", "show", "bad.bif", "--normalize").code == 0
    assert bayes("query", "bad.bif", "P(rain=yes)", "--normalize", "--json").json["probability"] == pytest.approx(2 / 9)
    assert bayes("network", "show", "missing.bif", code=74).err


def test_factor_graphs(bayes: Bayes) -> None:
    Path("x.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n")
    assert bayes("query", "x.uai", "P(0=1)").out == "7/10 = 0.7\n"
    assert "2 variables" in bayes("network", "show", "x.uai").out
    assert "factor graph" in bayes("network", "sample", "x.uai", code=2).err
    assert "factor graph" in bayes("query", "x.uai", "0 _|_ 1", code=2).err


@pytest.mark.parametrize("method", ["weighting", "gibbs", "loopy", "meanfield"])
def test_approximations(bayes: Bayes, sprinkler: str, method: str) -> None:
    found = bayes("query", sprinkler, "P(sprinkler=on | rain=yes)", "--approx", method, "--json").json
    assert found["approximation"]["method"] == method
    error = found.get("standard_error", 0.02)
    assert abs(found["probability"] - 0.01) <= 3 * error
    assert ("standard_error" in found) == (method in ("weighting", "gibbs"))
    ended = bayes("query", sprinkler, "P(sprinkler | rain=yes)", "--approx", method)
    assert f"by {method}: " in ended.err
    assert ended.out.split()[:4] == ["sprinkler", "probability", "standard", "error"]
    rows = bayes("query", sprinkler, "P(sprinkler | rain=yes)", "--approx", method, "--json").json["rows"]
    assert [row["levels"] for row in rows] == [["on"], ["off"]]


def test_approximations_with_options(bayes: Bayes, sprinkler: str) -> None:
    asked = ("query", sprinkler, "P(rain=yes | grass=wet)")
    one, same, other = (
        bayes(*asked, "--approx", "weighting", "--samples", "1000", "--seed", seed).out for seed in ("1", "1", "2")
    )
    assert one == same != other
    assert "--approx" in bayes(*asked, "--seed", "1", code=2).err
    assert "`samples` is not an option of loopy" in bayes(*asked, "--approx", "loopy", "--samples", "5", code=2).err
    assert "--approx" in bayes("query", sprinkler, "P(rain)", "--approx", "gibbs", "--mpe", code=2).err
    Path("t.csv").write_text("a,b\n1,2\n")
    assert "network" in bayes("query", "t.csv", "P(a=1)", "--approx", "gibbs", code=2).err
    assert "did not converge" in bayes(*asked, "--approx", "gibbs", "--samples", "300").err


@pytest.mark.parametrize(
    ("action", "option"),
    [
        ("show", ["-o", "x.bif"]),
        ("show", ["--seed", "1"]),
        ("convert", ["-n", "5"]),
        ("sample", ["--svg", "x.svg"]),
        ("learn", ["-n", "5"]),
        ("fit", ["--method", "pc"]),
    ],
)
def test_options_of_another_action_are_refused(bayes: Bayes, action: str, option: list[str]) -> None:
    assert f"does not apply to {action}" in bayes("network", action, "x.bif", *option, code=2).err


@pytest.mark.parametrize("option", [["--weight", "n"], ["--types", "a=real"], ["--na", "?"], ["--bad-rows", "skip"]])
def test_a_network_has_no_rows_to_be_read(bayes: Bayes, option: list[str]) -> None:
    assert f"{option[0]} applies to tables" in bayes("query", "x.bif", "P(B)", *option, code=2).err


def test_sums_off_by_rounding_are_said(bayes, folder):
    (folder / "r.bif").write_text(
        "variable a { type discrete [ 3 ] { x, y, z }; }\nprobability ( a ) { table 0.333, 0.333, 0.333; }\n"
    )
    for words in (("query", "r.bif", "P(a)"), ("network", "show", "r.bif")):
        ended = bayes(*words)
        assert "note: r.bif: " in ended.err
        assert "0.999" in ended.err
        assert "Warning" not in ended.err


def test_an_intervention_and_jeffreys_rule_in_the_question(bayes: Bayes, sprinkler: str) -> None:
    assert bayes("query", sprinkler, "P(rain=yes | do(sprinkler=on))").out == "1/5 = 0.2\n"
    found = bayes("query", sprinkler, "P(sprinkler=on | rain:=(yes:0.5, no:0.5))", "--json").json
    assert found["fraction"] == "41/200"
    both = bayes(
        "query", sprinkler, "P(grass=wet | rain:=(yes:0.5, no:0.5), sprinkler:=(on:0.5, off:0.5))", "--json"
    ).json
    net = bb.read_network(sprinkler)
    half = {"rain": {"yes": 0.5, "no": 0.5}, "sprinkler": {"on": 0.5, "off": 0.5}}
    assert both["probability"] == pytest.approx(net.posteriors(net.jeffrey(half))["grass"]["wet"])
    most = bayes("query", sprinkler, "P(grass | do(sprinkler=on))", "--mpe", "--json").json
    assert most["states"] == {"grass": "wet"}
    assert bayes("query", sprinkler, "P(grass | do(sprinkler))", code=2).err


def test_adjust(bayes: Bayes, sprinkler: str) -> None:
    told = bayes("network", "adjust", sprinkler, "P(grass | do(sprinkler))").out
    assert "back door: adjust for rain" in told
    assert "sum over rain of P(rain) P(grass | rain, sprinkler)" in told
    found = bayes("network", "adjust", sprinkler, "P(grass=wet | do(sprinkler=on))", "--json").json
    assert found["back_door"] == [["rain"]]
    assert found["probability"] == pytest.approx(0.2 * 0.99 + 0.8 * 0.9)
    hidden = bayes("network", "adjust", sprinkler, "P(grass | do(sprinkler))", "--latent", "rain", "--json").json
    assert hidden["identifiable"] is False
    assert hidden["hedge"] == {"outer": ["sprinkler", "grass"], "inner": ["grass"]}
    assert bayes("network", "adjust", sprinkler, code=2).err
    assert bayes("network", "show", sprinkler, "--latent", "rain", code=2).err


def test_edit(bayes: Bayes, sprinkler: str) -> None:
    ended = bayes(
        "network", "edit", sprinkler, "-o", "new.json", "--remove-arc", "rain->sprinkler", "--rename", "grass=lawn",
        "--rename-state", "rain=yes:heavy", "--add-node", "shoes=wet,dry", "--add-arc", "lawn->shoes",
        "--set-table", "shoes=0.9,0.1; 0,1", "--json",
    )  # fmt: skip
    assert ended.json["edges"] == [["rain", "lawn"], ["sprinkler", "lawn"], ["lawn", "shoes"]]
    net = bb.read_network("new.json")
    assert net.query("P(sprinkler=on)") == pytest.approx(0.2 * 0.01 + 0.8 * 0.4)
    assert net.query("P(shoes=wet | lawn=wet)") == pytest.approx(0.9)
    assert net.states("rain") == ["heavy", "no"]
    assert bayes("network", "edit", sprinkler, "--remove-node", "rain", code=2).err  # no file to write
    assert bayes("network", "edit", sprinkler, "-o", "new.bif", code=2).err  # nothing to change
    assert bayes("network", "edit", sprinkler, "-o", "new.bif", "--remove-node", "snow", code=3).err
    assert bayes("network", "edit", sprinkler, "-o", "new.bif", "--set-table", "rain=0.5,0.6", code=3).err
    assert not Path("new.bif").exists()


def test_sensitivity(bayes: Bayes, sprinkler: str) -> None:
    asked = "P(rain=yes | grass=wet)"
    told = bayes("network", "sensitivity", sprinkler, asked, "--top", "3", "--svg", "tornado.svg")
    assert told.out.startswith("P(rain=yes | grass=wet) = 0.357688, each cell less and more by 10 %")
    assert Path("tornado.svg").read_text().startswith("<svg")
    found = bayes("network", "sensitivity", sprinkler, asked, "--spread", ".5", "--json").json
    assert found["value"] == pytest.approx(891 / 2491)
    cell = next(each for each in found["cells"] if each["node"] == "rain" and each["state"] == "yes")
    changed = bb.read_network(sprinkler).with_cpt("rain", [0.3, 0.7])
    assert cell["high"] == pytest.approx(changed.query(asked))
    assert bayes("network", "sensitivity", sprinkler, "P(rain)", code=2).err
    assert bayes("network", "sensitivity", sprinkler, code=2).err


def test_compare_two_networks(bayes: Bayes, sprinkler: str) -> None:
    bayes("network", "edit", sprinkler, "-o", "cut.bif", "--remove-arc", "rain->sprinkler")
    found = bayes("network", "compare", sprinkler, "cut.bif", "--json").json
    assert found["missing"] == [["rain", "sprinkler"]]
    net, cut = bb.read_network(sprinkler), bb.read_network("cut.bif")
    assert found["divergence"] == pytest.approx(net.cross_entropy(cut).divergence)
    assert "divergence" in bayes("network", "compare", sprinkler, sprinkler).out
    assert bayes("network", "compare", sprinkler, code=2).err
