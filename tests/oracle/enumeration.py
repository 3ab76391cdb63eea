"""Networks made at random, and their answers by adding up the whole joint distribution."""

import numpy as np

import bayesbox as bb


def random_network(generator, *, nodes=None, zeros=0.15, least_states=1, most_states=3, most_parents=3):
    """A network of a few nodes; some probabilities are 0, some rows far from even, some nodes have one state."""
    count = nodes or int(generator.integers(1, 8))
    names = [f"n{place}" for place in generator.permutation(count)]
    states = {
        name: [f"s{state}" for state in range(int(generator.integers(least_states, most_states + 1)))] for name in names
    }
    structure, tables = {}, {}
    for place, name in enumerate(names):
        above = generator.permutation(names[:place])[: int(generator.integers(0, most_parents + 1))].tolist()
        structure[name] = above
        shape = [*(len(states[parent]) for parent in above), len(states[name])]
        table = generator.gamma(0.5, size=shape) + 1e-3
        table[generator.random(shape) < zeros] = 0
        empty = table.sum(axis=-1) == 0
        table[empty] = 1
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return bb.BayesianNetwork(structure, tables, states=states)


def joint(network):
    """The joint distribution, an axis a node in the order of `network.nodes`."""
    names = network.nodes
    product = np.ones([len(network.states(name)) for name in names])
    for name in names:
        scope = [*network.parents(name), name]
        table = network.cpt(name)
        order = sorted(range(len(scope)), key=lambda axis: names.index(scope[axis]))
        sizes = [len(network.states(each)) if each in scope else 1 for each in names]
        product = product * table.transpose(order).reshape(sizes)
    return product


def random_evidence(generator, network, *, soft=True):
    """Hard evidence on some nodes, likelihoods on others, nothing on the rest."""
    evidence = {}
    for name in network.nodes:
        states = network.states(name)
        kind = generator.random()
        if kind < 0.25:
            evidence[name] = str(generator.choice(states))
        elif kind < 0.4 and soft:
            evidence[name] = {
                state: float(value) for state, value in zip(states, generator.random(len(states)), strict=True)
            }
        elif kind < 0.5:
            evidence[name] = None
    return evidence


def weighed(network, table, evidence):
    """The joint distribution times the likelihood of the evidence."""
    for name, value in evidence.items():
        if value is None:
            continue
        states = network.states(name)
        factor = np.array([value[s] if isinstance(value, dict) else float(s == value) for s in states])
        shape = [-1 if each == name else 1 for each in network.nodes]
        table = table * factor.reshape(shape)
    return table


def marginal(network, table, names):
    """A table over some nodes, in their order."""
    kept = [network.nodes.index(name) for name in names]
    summed = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in kept))
    return summed.transpose(np.argsort(np.argsort(kept)))
