"""Damaged files of networks, in every format: each is read and asked, written and read again, or refused."""

from __future__ import annotations

import functools
import json
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.damage import damaged, damaged_json
from tests.fuzz.format import require, require_probabilities

import bayesbox as bb
from bayesbox.errors import BayesboxError, ImpossibleEvidence
from bayesbox.network.formats import read_model

EXTENSIONS = ("bif", "xmlbif", "net", "xdsl", "uai", "json")
BIF = b"""// the dog problem
network "Dog-Problem" { property "credal-set constant-density-bounded 1.1"; }
variable "light-on" { type discrete [2] { "true" "false" }; property "position = (218, 195)"; }
variable family-out { type discrete [ 2 ] { true, false }; }
variable bark { type discrete [ 2 ] { true, false }; } /* a
comment */
probability ( family-out ) { table 0.15 0.85; }
probability ( "light-on" | family-out ) { table 0.6 0.05 0.4 0.95; }
probability ( bark | family-out ) { default 0.5, 0.5; (true) 0.99, 0.01; }
"""
NET = b"""net { node_size = (80 40); }
node rain { states = ("yes" "no"); label = "Rain"; position = (10 20); }
node grass { states = ("wet" "dry" "damp"); }
potential (rain) { data = (0.2 0.8); }
potential (grass | rain) { data = ((0.9 0.05 0.05) % wet
 (0.1 0.7 0.2)); }
"""
MARKOV = b"""MARKOV
3
2 2 3
2
2 0 1
2 1 2
4
 1.5 0.25 0.125 2
6
 0.2 0.3 0.1 1 0 4
"""


@functools.cache
def _examples() -> dict[str, tuple[bytes, ...]]:
    """The texts that are damaged, by extension."""
    import tempfile

    sizes = {
        "rain": ["yes", "no"],
        "sprinkler": ["on", "off"],
        "grass": ["wet", "dry", "damp"],
        "slip": ["true", "false"],
    }
    structure = {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"], "slip": ["grass"]}
    network = bb.BayesianNetwork(
        structure,
        {
            "rain": [0.2, 0.8],
            "sprinkler": [[0.01, 0.99], [0.4, 0.6]],
            "grass": [[[0.9, 0, 0.1], [0.8, 0.1, 0.1]], [[0.5, 0.25, 0.25], [0, 1, 0]]],
            "slip": [[0.5, 0.5], [0.125, 0.875], [0, 1]],
        },
        states=sizes,
    )
    rows = {"a": ["x", "y", "x", "y", "x"], "b": ["1", "2", "1", "2", "2"], "c": ["p", "p", "q", "q", "q"]}
    learned = bb.learn_network(rows, score="bic", required=[("a", "b")])
    single = bb.BayesianNetwork({"alone": []}, {"alone": 0.5})
    found: dict[str, tuple[bytes, ...]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for extension in EXTENSIONS:
            texts = []
            for made in (network, learned, single):
                path = Path(folder) / f"x.{extension}"
                made.write(path)
                texts.append(path.read_bytes())
            found[extension] = tuple(texts)
    found["bif"] += (BIF,)
    found["net"] += (NET,)
    found["uai"] += (MARKOV,)
    return found


@dataclass(frozen=True)
class NetworkFiles:
    """Files of one extension."""

    name: str
    refusals: tuple[type[Exception], ...] = (BayesboxError,)

    def make(self, chance: random.Random, folder: Path) -> Path:
        text = chance.choice(_examples()[self.name])
        if self.name == "json" and chance.random() < 0.7:
            text = json.dumps(damaged_json(json.loads(text), chance)).encode()
        else:
            text = damaged(text, chance)
        path = folder / f"mutant.{self.name}"
        path.write_bytes(text)
        return path

    def originals(self, folder: Path) -> list[Path]:
        paths = []
        for number, text in enumerate(_examples()[self.name]):
            paths.append(folder / f"whole-{number}.{self.name}")
            paths[-1].write_bytes(text)
        return paths

    def feed(self, path: Path) -> None:
        try:
            network = bb.read_network(path)
        except BayesboxError:
            network = bb.read_network(path, normalize=True)
        if isinstance(network, bb.BayesianNetwork):
            if any(network.cpt(name) is None for name in network.nodes):
                return  # a structure without tables
            _write_again(network, path)
        _ask(network)


def _write_again(network: bb.BayesianNetwork, path: Path) -> None:
    copy = path.with_name("copy.json")
    network.write(copy)
    require(bb.read_network(copy) == network, "what was written is read as another network")
    require(read_model(copy) is not None, "nothing was read")


def _ask(network: Any) -> None:
    """All posteriors, with and without evidence, exactly and by each approximation; the best explanation."""
    some = sum(map(ord, network.nodes[0])) % len(network.nodes)  # a node that follows from the file
    node = network.nodes[some]
    state = network.states(node)[-1]
    for evidence in ({}, {node: state}):
        try:
            found = network.posteriors(evidence)
        except ImpossibleEvidence:
            continue
        for each in network.nodes:
            require_probabilities([list(dict(found[each]).values())], possible=True)
        require(not math.isnan(network.log_probability(evidence)), "log P is NaN")
        states, log_probability = network.explanation(evidence)
        require(set(states) == set(network.nodes) and not math.isnan(log_probability), "no explanation")
    rows = {node: [state, None, network.states(node)[0]]}
    answers = network.posteriors(rows)
    for each in network.nodes:
        require_probabilities(np.stack(list(dict(answers[each]).values()), axis=-1))
    for method, options in (
        ("loopy", {"sweeps": 5}),
        ("meanfield", {"sweeps": 5}),
        ("weighting", {"samples": 50}),
        ("gibbs", {"samples": 40, "chains": 2}),
    ):
        try:
            estimated = network.posteriors({node: state}, approx=method, **options)
        except BayesboxError:
            continue
        for each in network.nodes:
            require_probabilities([list(dict(estimated[each]).values())])
