"""Networks from rows: the public function, its figures, files, holes, bootstrap."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from sklearn.datasets import load_iris
from tests.refusal import refusal, warning

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, UnknownNode
from bayesbox.network.learn.options import METHODS
from bayesbox.network.learn.scores import columns_of

ASIA = bb.BayesianNetwork(
    {
        "tub": ["asia"],
        "lung": ["smoke"],
        "bronc": ["smoke"],
        "either": ["lung", "tub"],
        "xray": ["either"],
        "dysp": ["bronc", "either"],
    },
    {
        "asia": {"yes": 0.01, "no": 0.99},
        "smoke": {"yes": 0.5, "no": 0.5},
        "tub": {"yes": {"yes": 0.05, "no": 0.95}, "no": {"yes": 0.01, "no": 0.99}},
        "lung": {"yes": {"yes": 0.1, "no": 0.9}, "no": {"yes": 0.01, "no": 0.99}},
        "bronc": {"yes": {"yes": 0.6, "no": 0.4}, "no": {"yes": 0.3, "no": 0.7}},
        "either": {
            ("yes", "yes"): {"yes": 1.0, "no": 0.0},
            ("yes", "no"): {"yes": 1.0, "no": 0.0},
            ("no", "yes"): {"yes": 1.0, "no": 0.0},
            ("no", "no"): {"yes": 0.0, "no": 1.0},
        },
        "xray": {"yes": {"yes": 0.98, "no": 0.02}, "no": {"yes": 0.05, "no": 0.95}},
        "dysp": {
            ("yes", "yes"): {"yes": 0.9, "no": 0.1},
            ("yes", "no"): {"yes": 0.8, "no": 0.2},
            ("no", "yes"): {"yes": 0.7, "no": 0.3},
            ("no", "no"): {"yes": 0.1, "no": 0.9},
        },
    },
)


@pytest.fixture(scope="module")
def rows():
    return ASIA.sample(4000, seed=7)


def iris():
    """The table as the UCI repository has it, which differs from Fisher's in two rows."""
    data = load_iris()
    values = data.data.copy()
    values[[34, 37]] = [4.9, 3.1, 1.5, 0.1]
    names = ["sepallength", "sepalwidth", "petallength", "petalwidth"]
    return {**{name: values[:, place] for place, name in enumerate(names)}, "class": data.target_names[data.target]}


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ("k2", -381.08841724320),
        ("dirichlet:0.5", -374.99427696857),
        ("bdeu", -373.53610752303),
        ("loglik", -337.20360665224),
        ("aic", -357.20360665224),
        ("bic", -387.30995959320),
    ],
)
def test_scores_of_iris_in_two_bins(score, expected):
    structure = {
        "sepallength": ["class"],
        "sepalwidth": ["class"],
        "petallength": ["class", "sepallength"],
        "petalwidth": ["class", "petallength"],
    }
    assert bb.BayesianNetwork(structure).score(iris(), score, bins="width:2") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_network_with_tables(rows, method):
    net = bb.learn_network(rows, method=method, target="either" if method == "tan" else None)
    assert net.nodes == rows.column_names
    assert net.learning_.method == method
    assert net.learning_.score == pytest.approx(net.score(rows, "bic"))
    assert net.learning_.parameters == sum(
        net.cpt(name).size // len(net.states(name)) * (len(net.states(name)) - 1) for name in net.nodes
    )
    assert net.probability({"smoke": "yes"}) == pytest.approx(0.5, abs=0.1)
    again = bb.learn_network(rows, method=method, target="either" if method == "tan" else None)
    assert net == again


def test_hill_climbing_reaches_the_proven_optimum_of_asia(rows):
    best = bb.learn_network(rows, method="exact").learning_.score
    assert bb.learn_network(rows).learning_.score == pytest.approx(best, abs=1e-6)
    assert best >= bb.BayesianNetwork(
        {name: ASIA.parents(name) for name in ASIA.nodes}, states={name: ASIA.states(name) for name in ASIA.nodes}
    ).score(rows, "bic")
    assert bb.learn_network(rows).compare(ASIA).shd <= 2


def test_a_file_by_stream_gives_the_same_network_with_a_pass_for_each_step(rows, tmp_path, monkeypatch):
    csv.write_csv(rows, tmp_path / "rows.csv")
    whole = bb.learn_network(rows, restarts=0)
    assert bb.learn_network(tmp_path / "rows.csv", restarts=0) == whole
    from bayesbox.network.learn import learn_network

    made = []
    plain = learn_network.SourceCounter

    def watched(*arguments, **options):
        made.append(plain(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(learn_network, "SourceCounter", watched)
    for method in ("hill", "pc", "chow-liu"):
        once = {"restarts": 0} if method == "hill" else {}
        held = bb.learn_network(rows, method=method, **once)
        streamed = bb.learn_network(tmp_path / "rows.csv", method=method, **once, most_bytes=1000)
        assert streamed == held
    hill = made[0]
    assert hill.passes <= 2 + whole.learning_.moves  # one for the families, one for the first gains, one a move
    with refusal(BadData, what="exact"):
        bb.learn_network(tmp_path / "rows.csv", method="exact", most_bytes=1000)
    with refusal(BadOption, found=3):
        bb.learn_network(tmp_path / "rows.csv", bootstrap=3, most_bytes=1000)


def test_arcs_that_are_known(rows):
    net = bb.learn_network(
        rows, required=["asia->smoke"], forbidden=["smoke->lung", ("lung", "smoke")], max_parents=2, seed=3
    )
    assert ("asia", "smoke") in net.edges
    assert not {("smoke", "lung"), ("lung", "smoke")} & set(net.edges)
    tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    place = {name: level for level, tier in enumerate(tiers) for name in tier}
    for method in ("hill", "pc", "exact"):
        found = bb.learn_network(rows, method=method, tiers=tiers)
        assert all(place[parent] <= place[child] for parent, child in found.edges), method
    assert bb.learn_network(rows, tiers=tiers).compare(ASIA).shd <= 3


def test_strength_of_arcs(rows):
    net = bb.learn_network(rows.slice(0, 1000), bootstrap=12, restarts=0)
    strengths = net.learning_.strengths
    assert strengths["smoke", "bronc"][0] == 1.0
    for (one, other), (strength, direction) in strengths.items():
        assert strengths[other, one][0] == strength
        assert strengths[other, one][1] + direction == pytest.approx(1)
        assert 0 < strength <= 1
    again = bb.learn_network(rows.slice(0, 1000), bootstrap=12, restarts=0)
    assert again.learning_.strengths == strengths


def test_rows_with_holes(rows):
    generator = np.random.default_rng(0)
    holed = pa.table(
        {
            name: pa.array(
                [
                    None if lost else v
                    for v, lost in zip(rows[name].to_pylist(), generator.random(4000) < 0.1, strict=True)
                ]
            )
            for name in rows.column_names
        }
    )
    net = bb.learn_network(holed)
    assert net.learning_.holes > 1000
    assert net.compare(ASIA).shd <= 4
    assert net == bb.learn_network(holed)
    assert net.fit_.history
    dropped = bb.learn_network(holed, missing="drop")
    assert dropped.learning_.rows == 4000 - net.learning_.holes
    level = bb.learn_network(holed, missing="level")
    assert level.states("smoke") == ["no", "yes", "missing"]
    for method in ("chow-liu", "pc", "exact"):
        limit = {"max_given": 2} if method == "pc" else {}
        assert bb.learn_network(holed, method=method, **limit).learning_.rows == 4000


def test_structure_of_constants_and_single_columns():
    assert bb.learn_network({"a": ["x", "x"]}).edges == []
    net = bb.learn_network({"a": ["x", "x", "x"], "b": ["p", "q", "p"]})
    assert net.edges == []
    assert net.states("a") == ["x"]


def test_the_order_of_rows_is_of_no_account(rows):
    shuffled = rows.take(np.random.default_rng(3).permutation(len(rows)))
    assert bb.learn_network(shuffled) == bb.learn_network(rows)


def test_a_column_of_names_is_suspicious(rows):
    few = rows.slice(0, 60).append_column("id", pa.array([f"r{place}" for place in range(60)]))
    with warning(bb.DataWarning, what="`id`"):
        bb.learn_network(few)


@pytest.mark.parametrize("method", ["hill", "tabu", "order", "exact", "chow-liu", "tan", "pc"])
@pytest.mark.parametrize(
    ("option", "used_by"),
    [
        ({"alpha": 0.05}, "pc"),
        ({"max_given": 1}, "pc"),
        ({"max_parents": 2}, "hill tabu order exact"),
        ({"restarts": 0}, "hill tabu order"),
        ({"patience": 0}, "hill tabu"),
    ],
)
def test_an_option_is_used_or_refused(rows, method, option, used_by):
    target = {"target": "lung"} if method == "tan" else {}
    if method in used_by.split():
        bb.learn_network(rows, method=method, **target, **option)
        return
    with refusal(BadOption, what=next(iter(option)), found=next(iter(option.values()))):
        bb.learn_network(rows, method=method, **target, **option)


def test_progress_is_told(rows):
    told = []
    net = bb.learn_network(rows, progress=lambda *news: told.append(news))
    steps = [what for _, _, what in told if what.startswith("score")]
    assert [what.split(", ")[0] for what in steps] == [f"score {score:,.1f}" for score in net.learning_.history]
    assert told[-1] == (1.0, 0.0, "done")


def test_what_does_not_go_together(rows):
    with refusal(BadOption, found="climb"):
        bb.learn_network(rows, method="climb")
    with refusal(BadOption, found="bicc"):
        bb.learn_network(rows, score="bicc")
    with refusal(BadOption, what="tan"):
        bb.learn_network(rows, method="tan")
    with refusal(BadOption, what="target"):
        bb.learn_network(rows, target="lung")
    with refusal(BadOption, what="root"):
        bb.learn_network(rows, root="lung")
    with refusal(UnknownNode, kind="column", name="lungs", where="target"):
        bb.learn_network(rows, method="tan", target="lungs")
    with refusal(BadOption, what="required"):
        bb.learn_network(rows, method="chow-liu", forbidden=["asia->tub"])
    with refusal(BadOption, found=0):
        bb.learn_network(rows, method="pc", alpha=0)
    with refusal(BadOption, found=-1):
        bb.learn_network(rows, restarts=-1)
    with refusal(BadOption, found=-1):
        bb.learn_network(rows, method="pc", max_given=-1)
    with refusal(BadData, where="data"):
        bb.learn_network({"a": []})
    with refusal(BadData, where="data"):
        bb.learn_network({"a": ["x", None], "b": [None, "y"]}, missing="drop")
    with refusal(BadData, found="a, asia, bronc, dysp, either, lung, smoke, tub"):
        bb.learn_network({"a": ["x", "y"]}).compare(ASIA)


def test_a_state_that_is_called_missing():
    rows = {"a": ["x", "missing", None, "x"] * 5, "b": ["p", "q", "q", "p"] * 5}
    network = bb.learn_network(rows, missing="level")
    assert network.states("a") == ["missing", "x", "(missing)"]
    assert network.edges == [("a", "b")]


def test_one_arc_by_its_text(rows):
    assert ("asia", "smoke") in bb.learn_network(rows, required="asia->smoke").edges
    assert ("smoke", "asia") in bb.learn_network(rows, required=iter(["smoke->asia"]), forbidden="asia->smoke").edges


def test_columns_of_bits():
    assert columns_of(0) == []
    assert columns_of(1 << 70 | 1) == [0, 70]
