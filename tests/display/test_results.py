"""One law for every result that users get: a line, a table that fits the page, HTML without script, a frame."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from tests.display.test_result import _Balance

import bayesbox as bb
from bayesbox.classifier.certificate import Certificate
from bayesbox.display.picture import Picture
from bayesbox.display.text import WIDTH

RANDOM = np.random.default_rng(0)
ILL = RANDOM.choice(["no", "yes"], 90)
X = pd.DataFrame(
    {
        "age": 40 + 9 * (ILL == "yes") + RANDOM.normal(0, 8, 90),
        "fever <38>": np.where(RANDOM.random(90) < 0.3 + 0.4 * (ILL == "yes"), "high", "low"),
        "cough": RANDOM.random(90) < 0.5,
    }
)
WIDE = {"dependence"}  # whose text is a sentence of the command


@pytest.fixture(scope="module")
def results():
    naive = bb.NaiveBayes(numeric="gaussian").fit(X, ILL)
    net = bb.TAN().fit(X[["fever <38>", "cough"]], ILL).to_network("ill")
    chain = bb.HiddenMarkovModel.from_tables(
        start=[0.6, 0.4], transition=[[0.7, 0.3], [0.4, 0.6]], emission=[[0.1, 0.9], [0.6, 0.4]],
        states=["rain", "dry"], symbols=["walk", "shop"],
    )  # fmt: skip
    judged = bb.evaluate(bb.NaiveBayes(), X, ILL, cv=3, by="fever <38>")
    sign = np.array([True, False, True, True, False, False, True, False] * 25)
    copies = {"sign": sign, "copy": sign, "again": sign}
    some, rest = (bb.NaiveBayes(numeric="gaussian").fit(X[own], ILL[own]) for own in (slice(9), slice(9, None)))
    return {
        "book": naive.book_,
        "counts": naive.book_["fever <38>"],
        "moments": naive.book_["age"],
        "grid": bb.NaiveBayes().fit(X, ILL).book_["age"],
        "values": bb.NaiveBayes(numeric="kernel").fit(X, ILL).book_["age"],
        "pairs": bb.AODE().fit(X, ILL).book_.joint,
        "dependent": bb.TAN().fit(X, ILL).book_.joint,
        "comoments": bb.FullBayes().fit(X, ILL).book_.joint,
        "evaluation": judged,
        "groups": judged.by,
        "rows": judged.rows(true="no"),
        "thresholds": judged.thresholds("yes"),
        "comparison": bb.compare([bb.NaiveBayes(), bb.TAN()], X, ILL, cv=2),
        "dependence": bb.NaiveBayes().dependence(copies, [True, False, False, True, True, False, True, False] * 25),
        "certificate": Certificate.of(naive.book_, some.book_, rest.book_, 9),
        "network": net,
        "posteriors": net.posteriors({"cough": True}),
        "posteriors of rows": net.posteriors(X[["cough"]].head(4)),
        "factors": bb.FactorGraph(net.model),
        "chain": chain,
        "nomogram": naive.nomogram(),
        "report": bb.AutoBayes(budget=0.2).fit(X, ILL).report(),
    }


NAMES = [
    "book", "counts", "moments", "grid", "values", "pairs", "dependent", "comoments", "evaluation", "groups", "rows",
    "thresholds", "comparison", "dependence", "certificate", "network", "posteriors", "posteriors of rows", "factors",
    "chain", "nomogram", "report",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_result_shows_itself(results, name):
    assert list(results) == NAMES
    found = results[name]
    line = repr(found)
    assert "\n" not in line
    assert 0 < len(line) <= WIDTH
    text = str(found)
    assert len(text.splitlines()) > 1 or name in WIDE
    assert max(map(len, text.splitlines())) <= WIDTH or name in WIDE
    html = found._repr_html_()
    parser = _Balance()
    parser.feed(html)
    assert parser.open == []
    assert "<script" not in html
    assert "<38>" not in html
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0


@pytest.mark.parametrize("name", ["evaluation", "network", "nomogram"])
def test_a_result_with_a_picture_draws_it(results, name):
    svg = results[name].svg()
    assert isinstance(svg, Picture)
    assert ET.fromstring(svg).tag.endswith("svg")
    assert svg.svg()[svg.index("<svg") :].strip() in results[name]._repr_html_()


def test_tallies_have_the_numbers_of_their_attributes(results):
    assert results["counts"].to_frame()["yes"].tolist() == results["counts"].counts[1].tolist()
    assert results["moments"].to_frame()["mean"].tolist() == results["moments"].mean.tolist()
    assert results["book"].to_frame()["n"].tolist() == [90, 90, 90]


def test_posteriors_as_a_frame(results):
    found = results["posteriors"]
    frame = found.to_frame().set_index(["node", "state"])["probability"]
    assert frame["ill", "yes"] == found["ill"]["yes"]
    assert results["posteriors of rows"].to_frame()["ill=yes"].tolist() == list(
        results["posteriors of rows"]["ill"]["yes"]
    )


def test_the_table_of_a_query_becomes_a_frame(results):
    found = results["network"].query("P(ill | cough=true)")
    assert found.to_frame()["probability"].tolist() == list(found.values())
    assert "P(ill | cough=true)" in found._repr_html_()


def test_pictures_are_text_and_draw_themselves():
    clf = bb.NaiveBayes().fit(X, ILL)
    for picture in (clf.density_svg("age"), clf.boundary_svg("age", "cough"), clf.nomogram().svg()):
        assert picture.startswith("<svg")
        assert picture in picture._repr_html_()
        assert repr(picture).startswith("<Picture: ")


@pytest.mark.parametrize("model", [bb.TAN(), bb.KDB()])
def test_tan_and_kdb_show_the_network_they_are(model):
    assert "<svg" not in model._repr_html_()
    model.fit(X, ILL)
    assert model.svg() == model.to_network().svg()
    assert "<svg" in model._repr_html_()
    assert "&lt;38&gt;" in model._repr_html_()


def test_a_chain_that_is_not_fitted():
    chain = bb.HiddenMarkovModel(2)
    assert "not fitted yet" in str(chain)
    with pytest.raises(bb.BadData):
        chain.to_frame()
