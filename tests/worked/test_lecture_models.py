"""The other items of the five texts: documents, comparisons, networks and chains."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Bayes
from tests.tables import HEAVY
from tests.worked.lecture import BURGLARY, COUNTRIES, DAYS, FIVE, LUNG, NEW_TEXT, TEXTS, WEATHER, case, write_files

import bayesbox as bb


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


JOINT = "P(B=false, E=false, A=true, J=true, M=true)"
GIVEN = "P(B=true | J=true, M=true)"


def test_33_34_kiwis(bayes: Bayes) -> None:
    bayes("train", "documents.csv", "-t", "class", "--model", "text", "--text", "text", "-o", "m.bayes")
    shown = bayes("explain", "m.bayes", *case(text=NEW_TEXT), "--show-work").out
    for figure in (
        "[(5 + 1)/(8 + 6)]^3 = (3/7)^3",
        "(0 + 1)/(8 + 6) = 1/14",
        "[(1 + 1)/(3 + 6)]^3 = (2/9)^3",
        "81/268912 = 0.0003012138",
        "8/59049 = 0.0001354807",
        "0.6897586",
    ):
        assert figure in shown
    tables = bayes("show", "m.bayes", "--tables").out
    assert "(5 + 1)/(8 + 6) = 3/7" in tables
    work = bb.TextClassifier().fit(TEXTS, COUNTRIES).work([NEW_TEXT])
    assert "(3/7)^3" in str(work)


def test_35_the_position_model_counts_its_terms(bayes: Bayes) -> None:
    many = bb.TextClassifier().fit([" ".join(f"w{place}" for place in range(50_000)), "w1"], ["NZ", "DE"])
    found = many.parameters("position", length=100)
    assert (found.terms, found.free) == (10_000_002, 9_999_801)
    bayes("train", "documents.csv", "-t", "class", "--model", "text", "--text", "text", "--occurrence", "position")
    shown = bayes("show", "documents.bayes").out
    assert "6 distinct words" in shown
    assert "of them used" not in shown


def test_13_other_methods_on_the_same_folds(bayes: Bayes) -> None:
    rows = [f"{place % 3},{place % 2},{'yes' if place % 3 == place % 2 else 'no'}" for place in range(60)]
    Path("rows.csv").write_text("a,b,class\n" + "\n".join(rows) + "\n")
    types = ("--types", "a=category,b=category")
    shown = bayes("evaluate", "rows.csv", "-t", "class", "--cv", "3", "--compare", "--yardsticks", *types).out
    for name in ("naive", "logistic", "tree"):
        assert name in shown


def test_36_robustness_with_its_levels(bayes: Bayes) -> None:
    shown = bayes(
        *("evaluate", "tennis.csv", "-t", "play", "--robustness", "--model", "naive", "--label-noise", ".1,.4"),
        *("--noise-points", ".2", "--irrelevant", "5", "--copies", "none", "--missing-values", ".1"),
    ).out
    for change in ("10 %", "40 %", "noise points", "5 irrelevant columns", "10 % of the values missing"):
        assert change in shown
    few = bayes("evaluate", "heavy.csv", "-t", "label", "--robustness", "--model", "naive", "--copies", "none").out
    assert "as they are" in few  # seven rows, where ten folds were too many


def test_38_39_ancestors_and_local_independence(bayes: Bayes) -> None:
    net = bb.read_network("five.bif")
    assert set(net.parents("X3")) == {"X1", "X2"}
    assert set(net.ancestors("X5")) == {"X2", "X4"}
    assert net.ancestors("X2") == [] or set(net.ancestors("X2")) == set()
    shown = bayes("network", "show", "five.bif").out
    for line in ("X5 _|_", "X4 _|_"):
        assert line in shown
    assert "independent" in bayes("query", "five.bif", "X5 _|_ X2, X3, X1 | X4").out
    assert set(FIVE) == set(net.nodes)


def test_40_41_the_homework_and_the_table_at_lung_cancer(bayes: Bayes) -> None:
    assert "P(FH, S, LC) = P(FH) P(S) P(LC | FH, S)" in bayes("network", "show", "lung.bif").out
    shown = bayes("network", "show", "lung.bif", "--tables").out
    for row in (
        "P(LC | FH=true, S=true)    0.8   0.2",
        "P(LC | FH=true, S=false)   0.5   0.5",
        "P(LC | FH=false, S=true)   0.7   0.3",
        "P(LC | FH=false, S=false)  0.1   0.9",
    ):
        assert row in shown
    assert "P(LC | FH=false, S=true)   0.7   0.3" in str(LUNG.tables())
    assert BURGLARY.parameters() == (10, 20, None, 32)  # ten numbers for a joint of 31
    assert "20 numbers, 10 of them free" in bayes("network", "show", "burglary.bif", "--tables").out


def test_42_the_burglary_is_one_product(bayes: Bayes) -> None:
    shown = bayes("query", "burglary.bif", JOINT, "--show-work").out
    assert "0.999 x 0.998 x 0.001 x 0.9 x 0.7" in shown
    assert "31405563/50000000000 = 0.0006281113" in shown
    assert "/ 1 " not in shown
    assert len(shown.splitlines()) <= 6
    [step] = BURGLARY.work(JOINT).steps
    assert len(step.rows) == 1


@pytest.mark.parametrize("method", ["enumeration", "elimination"])
def test_43_enumeration_and_elimination(bayes: Bayes, method: str) -> None:
    shown = bayes("query", "burglary.bif", GIVEN, "--show-work", "--work-method", method).out
    assert "592242590/2084100239 = 0.2841718" in shown
    assert ("f1(B, A) = sum over E of P(E) x P(A | B, E)" in shown) == (method == "elimination")
    assert max(map(len, shown.splitlines())) <= 100


def test_44_naive_bayes_is_a_network(bayes: Bayes) -> None:
    clf = bb.NaiveBayes(prior_smoothing="laplace").fit(*HEAVY)
    found = clf.to_network("label").query("P(label=+ | heavy=Yes, size=M, colour=B)")
    assert found == pytest.approx(125 / 314, rel=1e-12)
    bayes("train", "heavy.csv", "-t", "label", "--prior-smoothing", "laplace")
    assert "0.3980892" in bayes("query", "heavy.bayes", "P(label=+ | heavy=Yes, size=M, colour=B)").out
    assert "P(label) P(heavy | label)" in bayes("network", "show", "heavy.bayes").out


def test_45_46_47_a_chain_of_given_tables(bayes: Bayes, folder: Path) -> None:
    assert "from given tables" in bayes("hmm", "train", "--tables", "weather.json", "-o", "w.bayes").err
    forward = bayes("hmm", "score", "w.bayes", "days.csv", "--show-work").out
    assert "(0.06 x 0.7 + 0.24 x 0.4) x 0.4 = 0.0552" in forward
    assert "8403/250000 = 0.033612" in forward
    bayes("hmm", "decode", "w.bayes", "days.csv", "--show-work", "--svg", "trellis.svg")
    trellis = bayes("hmm", "decode", "w.bayes", "days.csv", "--show-work").out
    assert "so the path is dry, rain, rain" in trellis
    assert "<svg" in (folder / "trellis.svg").read_text()
    tomorrow = bayes("hmm", "forecast", "w.bayes", "days.csv").out.splitlines()[1].split(",")
    assert [round(float(share), 3) for share in tomorrow[1:3]] == [0.659, 0.341]
    hmm = bb.HiddenMarkovModel.from_tables(**WEATHER)
    one_round = str(hmm.work(DAYS, "baum-welch"))
    assert "gamma_t(i) = alpha_t(i) x beta_t(i) / P(sequence)" in one_round
    assert "expected count / expected total" in one_round
    assert "<svg" in hmm.to_network(3).svg(evidence={"symbol1": "walk"})
    assert "P(next | rain)  0.7   0.3" in bayes("show", "w.bayes", "--tables").out


def test_48_approximations_beside_the_exact_answer(bayes: Bayes) -> None:
    shown = bayes("query", "burglary.bif", GIVEN, "--approx", "all", "--samples", "2000").out
    columns = " ".join(shown.split())
    methods = ("weighting", "gibbs", "blockgibbs", "loopy", "bounds")
    for method in ("exact 0.2841718", *methods, "meanfield 0.3338816 0.05"):
        assert method in columns
    assert "error" in shown


def test_49_the_structure_is_learned_from_rows() -> None:
    net = bb.learn_network(LUNG.sample(3000, seed=1))
    assert {frozenset(edge) for edge in net.edges} >= {frozenset({"S", "LC"}), frozenset({"FH", "LC"})}
