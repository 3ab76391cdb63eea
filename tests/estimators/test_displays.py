"""Displays in scikit-learn's manner: SVG without matplotlib, axes of matplotlib where they are given."""

import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import bayesbox as bb
from bayesbox.errors import BadData, BadOption, MissingExtra

mpl.use("Agg")
from matplotlib import pyplot as plt

RANDOM = np.random.default_rng(0)
ILL = RANDOM.choice(["no", "yes"], 80)
X = pd.DataFrame(
    {
        "age": 40 + 9 * (ILL == "yes") + RANDOM.normal(0, 8, 80),
        "fever <38>": np.where(RANDOM.random(80) < 0.3 + 0.4 * (ILL == "yes"), "high", "low"),
        "cough": RANDOM.random(80) < 0.5,
    }
)
ROW = {"age": 61.0, "fever <38>": "high", "cough": True}


@pytest.fixture(scope="module")
def naive():
    return bb.NaiveBayes().fit(X, ILL)


@pytest.fixture(scope="module")
def tan():
    return bb.TAN().fit(X[["fever <38>", "cough"]], ILL)


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def displays(naive, tan, ax=None):
    return [
        bb.ReliabilityDisplay.from_estimator(naive, X, ILL, ax=ax),
        bb.ReliabilityDisplay.from_predictions(ILL, naive.predict_proba(X)[:, 1], ax=ax),
        bb.NomogramDisplay.from_estimator(naive, "yes", row=ROW, ax=ax),
        bb.EvidenceDisplay.from_estimator(naive, ROW, ax=ax),
        bb.DensityDisplay.from_estimator(naive, "age", ax=ax),
        bb.NetworkDisplay.from_estimator(tan, evidence={"cough": True}, ax=ax),
        bb.NetworkDisplay.from_network(tan.to_network(), ax=ax),
    ]


@pytest.mark.parametrize("place", range(7))
def test_a_display_shows_itself_without_matplotlib(naive, tan, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = displays(naive, tan)[place]
    svg = found.svg()
    assert ET.fromstring(svg).tag.endswith("svg")
    html = found._repr_html_()
    assert svg.strip() in html
    assert "<38>" not in html
    assert found.ax_ is None
    assert "\n" not in repr(found)
    assert len(found.to_frame()) > 0
    with pytest.raises(MissingExtra, match="matplotlib"):
        found.plot()


@pytest.mark.parametrize("place", range(7))
def test_a_display_draws_on_axes(naive, tan, place, ax):
    found = displays(naive, tan)[place]
    assert found.plot(ax) is found
    assert found.ax_ is ax
    assert found.figure_ is ax.figure
    drawn = [*ax.lines, *ax.patches, *ax.texts, *ax.collections]
    assert drawn
    ax.figure.canvas.draw()


def test_axes_that_are_given_are_drawn_on_at_once(naive, tan, ax):
    for found in displays(naive, tan, ax):
        assert found.ax_ is ax


def test_a_figure_is_made_where_none_is_given(naive):
    found = bb.EvidenceDisplay.from_estimator(naive, ROW).plot()
    assert len(found.ax_.patches) == len(found.names)
    plt.close(found.figure_)


def test_reliability_has_the_bins_of_the_evaluation(naive):
    judged = bb.evaluate(naive, X, ILL)
    shown = bb.ReliabilityDisplay.from_estimator(naive, X, ILL)
    np.testing.assert_allclose(shown.bins, judged.metrics.bins, rtol=1e-12)
    again = bb.ReliabilityDisplay.from_predictions(ILL, naive.predict_proba(X))
    np.testing.assert_array_equal(again.bins, shown.bins)
    with pytest.raises(BadData):
        bb.ReliabilityDisplay.from_predictions(ILL, np.full((80, 3), 1 / 3))


def test_evidence_sums_to_the_log_odds(naive):
    found = bb.EvidenceDisplay.from_estimator(naive, ROW, label="yes", against="no", top=1)
    assert sum(found.log_odds) == pytest.approx(naive.explain([ROW]).log_odds("yes", "no")[0])
    assert found.names[-1] == "2 other columns"
    default = bb.EvidenceDisplay.from_estimator(naive, pd.Series(ROW))
    assert default.label == naive.predict([ROW])[0]
    with pytest.raises(BadData):
        bb.EvidenceDisplay.from_estimator(naive, X)


def test_densities_side_by_side(ax):
    clf = bb.NaiveBayes(numeric="auto").fit(X, ILL)
    found = bb.DensityDisplay.from_estimator(clf, "age", densities=["gaussian", "kernel"], ax=ax)
    assert len(ax.lines) == 4
    assert set(found.to_frame()["density"]) == {"gaussian", "kernel"}


def test_refusals(naive, tan):
    for make in (bb.DensityDisplay.from_estimator, bb.NomogramDisplay.from_estimator):
        with pytest.raises(BadOption):
            make(tan, "cough")
    with pytest.raises(BadOption):
        bb.NetworkDisplay.from_network(naive)
    with pytest.raises(BadOption):
        bb.NetworkDisplay.from_estimator(bb.AODE().fit(X, ILL))
