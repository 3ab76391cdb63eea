"""Classifiers that are networks, asked as networks: the same posteriors of whole rows, by another algorithm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.errors import BadOption

SEED = 7
LEVELS = {"sky": ("rain", "sun", "snow"), "wind": ("no", "yes"), "road": ("dry", "wet", "ice")}


def rows(count=400):
    generator = np.random.default_rng(SEED)
    label = generator.choice(["late", "early", "on time"], size=count, p=[0.3, 0.2, 0.5])
    sky = np.where(generator.random(count) < 0.5, generator.choice(LEVELS["sky"], count), "sun")
    road = np.where(sky == "rain", "wet", generator.choice(LEVELS["road"], count))
    wind = np.where((label == "late") & (generator.random(count) < 0.6), "yes", generator.choice(["no", "yes"], count))
    return {"sky": sky.tolist(), "wind": wind.tolist(), "road": road.tolist()}, label.tolist()


MODELS = [bb.NaiveBayes(), bb.TAN(), bb.TAN(score="bic"), bb.KDB(k=2), bb.KDB(k="auto"), bb.TAN(smoothing="laplace")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_network_answers_as_the_classifier_does(model):
    X, y = rows()
    clf = model.fit(X, y)
    network = clf.to_network("arrival")
    cases = list(itertools.product(*LEVELS.values()))
    frame = {name: [case[place] for case in cases] for place, name in enumerate(LEVELS)}
    posteriors = network.posteriors(frame)["arrival"]
    found = np.column_stack([posteriors[label] for label in clf.classes_.tolist()])
    np.testing.assert_allclose(found, clf.predict_proba(frame), rtol=1e-12)


def test_numbers_are_states_by_their_bins():
    generator = np.random.default_rng(SEED)
    x = generator.normal(size=300)
    near = x + generator.normal(scale=0.5, size=300)
    clf = bb.TAN().fit({"x": x, "near": near}, np.where(x > 0.2, "high", "low"))
    network = clf.to_network()
    assert network.nodes == ["class", "x", "near"] or network.nodes == ["class", "near", "x"]
    proba = clf.predict_proba({"x": x[:50], "near": near[:50]})
    found = network.posteriors({"x": x[:50], "near": near[:50]})["class"]["high"]
    np.testing.assert_allclose(found, proba[:, 0], rtol=1e-12)


def test_a_rule_that_gives_no_distribution_is_refused():
    X, y = rows(30)
    with pytest.raises(BadOption):
        bb.TAN(smoothing=bb.rules.AsWritten(1, 1)).fit(X, y).to_network()


def test_only_networks_are_networks():
    from bayesbox.bridge.classifier_network import network_of

    X, y = rows(60)
    for model in (bb.AODE(), bb.AveragedNaiveBayes(), bb.FullBayes()):
        with pytest.raises(BadOption) as refused:
            network_of(model.fit(X, y).classifier_)
        assert "TAN" in str(refused.value.remedy)
    assert not hasattr(bb.AODE(), "to_network")
