"""Networks and factor graphs made at random, of the kinds and sizes of the UAI competitions."""

from __future__ import annotations

import numpy as np

import bayesbox as bb
from bayesbox.network.factor_graph import FactorModel, FactorTable


def grid(side: int, seed: int = 0, strength: float = 1.0) -> bb.FactorGraph:
    """Variables of two states in a square, each with the next by a table of its own."""
    place = np.arange(side * side).reshape(side, side)
    pairs = [*zip(place[:, :-1].ravel(), place[:, 1:].ravel(), strict=True)]
    pairs += [*zip(place[:-1].ravel(), place[1:].ravel(), strict=True)]
    return _pairwise(side * side, [(int(a), int(b)) for a, b in pairs], seed, strength)


def two_slices(width: int, seed: int = 0, strength: float = 0.5) -> bb.FactorGraph:
    """Two slices of a dynamic network, every variable of one with every variable of the other."""
    pairs = [(before, width + after) for before in range(width) for after in range(width)]
    return _pairwise(2 * width, pairs, seed, strength)


def _pairwise(count: int, pairs: list[tuple[int, int]], seed: int, strength: float) -> bb.FactorGraph:
    random = np.random.default_rng(seed)
    factors = [FactorTable((v,), np.exp(0.5 * random.normal(size=2))) for v in range(count)]
    factors += [FactorTable(pair, np.exp(strength * random.normal(size=(2, 2)))) for pair in pairs]
    return bb.FactorGraph(FactorModel(tuple(map(str, range(count))), (("0", "1"),) * count, tuple(factors)))


def pedigree(people: int, loci: int, seed: int = 0) -> tuple[bb.BayesianNetwork, dict[str, str]]:
    """A family at several loci: two alleles of each person, whence a child has them, and what is seen of one in three.

    A child has one of its father's two alleles, from the same grandparent as at the locus before with probability .9.
    """
    random = np.random.default_rng(seed)
    founders = max(4, people // 3)
    structure: dict[str, list[str]] = {}
    tables: dict[str, np.ndarray] = {}
    states: dict[str, list[str]] = {}
    alleles = ["1", "2", "3"]
    chosen = np.zeros((3, 3, 2, 3))  # P(allele | the two of a parent, which of them)
    seen = np.zeros((3, 3, 6))
    kinds = [(a, b) for a in range(3) for b in range(a, 3)]
    for a in range(3):
        for b in range(3):
            chosen[a, b, 0, a] = chosen[a, b, 1, b] = 1
            seen[a, b, kinds.index((min(a, b), max(a, b)))] = 1
    couples = {child: random.choice(child, 2, replace=False) for child in range(founders, people)}
    for locus in range(loci):
        for person in range(people):
            for side in ("p", "m"):
                name = f"{person}{side}{locus}"
                states[name] = alleles
                if person < founders:
                    structure[name], tables[name] = [], random.dirichlet(np.ones(3) * 3)
                    continue
                whence = f"{person}s{side}{locus}"
                states[whence] = ["p", "m"]
                structure[whence] = [f"{person}s{side}{locus - 1}"] if locus else []
                tables[whence] = np.array([[0.9, 0.1], [0.1, 0.9]]) if locus else np.array([0.5, 0.5])
                parent = couples[person][0 if side == "p" else 1]
                structure[name] = [f"{parent}p{locus}", f"{parent}m{locus}", whence]
                tables[name] = chosen
            if random.random() < 1 / 3:
                name = f"{person}seen{locus}"
                states[name] = [f"{alleles[a]}{alleles[b]}" for a, b in kinds]
                structure[name], tables[name] = [f"{person}p{locus}", f"{person}m{locus}"], seen
    network = bb.BayesianNetwork(structure, tables, states=states)
    row = network.sample(1, seed=seed).to_pylist()[0]
    return network, {name: row[name] for name in network.nodes if "seen" in name}
