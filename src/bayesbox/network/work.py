"""The sum behind an answer of a small network, written out term by term."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

from bayesbox.described import Remedy
from bayesbox.errors import BadOption
from bayesbox.network.exact.eliminate import as_fractions
from bayesbox.network.graph import Graph
from bayesbox.network.query.dsep import relevant

MOST_TERMS = 128


def sum_written_out(graph: Graph, targets: Sequence[str], evidence: Mapping[str, str]) -> list[str]:
    """The lines of a sum: P(targets, evidence) by the chain rule, for every state of the targets, and the quotient.

    >>> from bayesbox.network.tables import graph_of
    >>> graph = graph_of({"grass": ["rain"]}, {"rain": 0.25, "grass": {"true": 0.8, "false": 0.4}})
    >>> print("\\n".join(sum_written_out(graph, ["rain"], {"grass": "true"})))
    P(rain, grass=true) = P(rain) P(grass=true | rain)
      rain=true
        0.25 x 0.8 = 0.2
      rain=false
        0.75 x 0.4 = 0.3
    P(grass=true) = 0.2 + 0.3 = 0.5
    P(rain=true | grass=true) = 0.2 / 0.5 = 0.4
    P(rain=false | grass=true) = 0.3 / 0.5 = 0.6
    """
    inexact = [name for name, node in graph.nodes.items() if not node.sums_to_one()]
    places = set(relevant(graph, [*targets, *evidence], inexact))
    names = [name for place, name in enumerate(graph.nodes) if place in places]
    hidden = [name for name in names if name not in evidence and name not in targets]
    terms = 1
    for name in (*hidden, *targets):
        terms *= len(graph.nodes[name].states)
    if terms > MOST_TERMS:
        raise BadOption(
            f"the sum has {terms:,} terms; up to {MOST_TERMS} are written out",
            remedy="Ask without " + Remedy("the work", "--show-work"),
        )
    head = ", ".join([*targets, *(f"{name}={state}" for name, state in evidence.items())])
    factors = " ".join(_factor(graph, name, evidence) for name in names)
    over = f"sum over {', '.join(hidden)} of " if hidden else ""
    lines = [f"P({head}) = {over}{factors}"]
    sums: dict[tuple[str, ...], Fraction] = {}
    for states in itertools.product(*(graph.nodes[name].states for name in targets)):
        fixed = {**dict(zip(targets, states, strict=True)), **evidence}
        lines.append("  " + _events(targets, states))
        sums[states] = _terms(graph, names, hidden, fixed, lines)
    total = sum(sums.values(), Fraction(0))
    known = ", ".join(f"{name}={state}" for name, state in evidence.items())
    if len(sums) > 1:
        added = " + ".join(_number(value) for value in sums.values())
        lines.append(f"P({known}) = {added} = {_number(total)}" if known else f"{added} = {_number(total)}")
    for states, value in sums.items():
        event = _events(targets, states) + (f" | {known}" if known else "")
        if total:
            lines.append(f"P({event}) = {_number(value)} / {_number(total)} = {_number(value / total)}")
    return lines


def _terms(
    graph: Graph, names: Sequence[str], hidden: Sequence[str], fixed: Mapping[str, str], lines: list[str]
) -> Fraction:
    """The terms of one sum, each a line, and what they add up to."""
    total = Fraction(0)
    for states in itertools.product(*(graph.nodes[name].states for name in hidden)):
        case = {**fixed, **dict(zip(hidden, states, strict=True))}
        numbers = [_cell(graph, name, case) for name in names]
        product = Fraction(1)
        for number in numbers:
            product *= number
        total += product
        label = f"{_events(hidden, states)}: " if hidden else ""
        lines.append(f"    {label}{' x '.join(map(_number, numbers))} = {_number(product)}")
    if hidden:
        lines.append(f"    sum {_number(total)}")
    return total


def _cell(graph: Graph, name: str, case: Mapping[str, str]) -> Fraction:
    node = graph.nodes[name]
    assert node.table is not None
    place = (*(graph.nodes[parent].place[case[parent]] for parent in node.parents), node.place[case[name]])
    number = as_fractions(node.table[place])[()]
    assert isinstance(number, Fraction)
    return number


def _factor(graph: Graph, name: str, evidence: Mapping[str, str]) -> str:
    def shown(each: str) -> str:
        return f"{each}={evidence[each]}" if each in evidence else each

    parents = graph.nodes[name].parents
    return f"P({shown(name)} | {', '.join(map(shown, parents))})" if parents else f"P({shown(name)})"


def _events(names: Sequence[str], states: Sequence[str]) -> str:
    return ", ".join(f"{name}={state}" for name, state in zip(names, states, strict=True))


def _number(value: Fraction) -> str:
    return f"{float(value):.7g}"
