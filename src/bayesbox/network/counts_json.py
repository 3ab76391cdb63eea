"""The counts behind the tables of a network in its JSON document, for update, forget and merge after reading.

    "learned": {"rows": [4], "digest": "...", "smoothing": {"rule": "laplace"}, "by_node": {}, "experts": null,
                "counts": {"rain": [1, 3], "grass": [1, 0, 1, 2]}}

The counts of a family are in the order of its table. A count that is not an integer (rows had weights) is a string: an
odd integer and a power of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbox._core import ExactArray
from bayesbox.errors import BadModelFile
from bayesbox.file.reader import Reader, made
from bayesbox.network.learn.tables import Bdeu, Rule, TableRules
from bayesbox.rule.rules_json import smoothing_from_json, smoothing_to_json
from bayesbox.schema.takes import exact_double
from bayesbox.tally.families import FamilyBook

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.network.network import BayesianNetwork

BDEU = "bdeu"
SAME = 1e-12  # the largest difference between a table and what its counts give


def learned_to_json(network: BayesianNetwork) -> Json | None:
    """The counts as JSON; None if there are none."""
    book, rules, experts = network.book_, network._rules, network._experts
    if book is None or rules is None:
        return None
    return {
        "rows": _cells_to_json(book.total),
        "digest": book.digest(),
        "smoothing": _rule_to_json(rules.default),
        "by_node": {name: _rule_to_json(rule) for name, rule in sorted(rules.by_node.items())},
        "experts": None if experts is None else {name: experts[name].ravel().tolist() for name in book.scopes},
        "counts": {name: _cells_to_json(book.cells[name]) for name in book.scopes},
    }


def _cells_to_json(cells: ExactArray) -> list[Any]:
    return cells.to_integers().tolist() if cells.is_integral() else cells.text().decode("ascii").split()


def _rule_to_json(rule: Rule) -> Json:
    if isinstance(rule, Bdeu):
        return {"rule": BDEU, "ess": exact_double(rule.ess, "`ess` of bdeu")}
    return smoothing_to_json(rule)


def learned_from_json(network: BayesianNetwork, document: object, *, where: str) -> None:
    """Give a network the counts of its JSON document; an error if they do not match its tables."""
    try:
        _restore(network, Reader(document, "`learned`"))
    except ValueError as error:
        raise BadModelFile(
            f"the counts behind the tables cannot be used: {error}",
            where=where,
            remedy="Remove `learned` from the file to keep only the tables",
        ) from error


def _restore(network: BayesianNetwork, reader: Reader) -> None:
    graph = network.graph
    rows, digest = reader.take("rows", list), reader.take("digest", str)
    default, by_node = _rule_from_json(reader.take("smoothing", dict)), reader.take("by_node", dict)
    experts, counts = reader.take("experts", dict, None), reader.take("counts", dict)
    reader.done()
    rules = TableRules(default, {name: _rule_from_json(rule) for name, rule in by_node.items()})
    strange = [name for name in (*rules.by_node, *counts, *(experts or {})) if name not in graph.nodes]
    if strange or len(counts) != len(graph.nodes):
        raise ValueError(f"they are not those of its nodes{': ' + strange[0] if strange else ''}")
    scopes = {name: (*node.parents, name) for name, node in graph.nodes.items()}
    states = {name: node.states for name, node in graph.nodes.items()}
    sizes = {name: int(np.prod(graph.shape(node))) for name, node in graph.nodes.items()}
    cells = {name: _cells_from_json(counts[name], sizes[name], name) for name in graph.nodes}
    book = FamilyBook(scopes, states, cells, _cells_from_json(rows, 1, "rows"))
    if book.digest() != digest:
        raise ValueError("the digest does not match")
    network.restore_counts(
        book, rules, None if experts is None else _experts_from_json(experts, sizes, states), within=SAME
    )


def _rule_from_json(value: object) -> Rule:
    if isinstance(value, dict) and value.get("rule") == BDEU:
        reader = Reader(value, "a rule")
        reader.take("rule", str)
        ess = reader.take("ess", float)
        reader.done()
        rule: Rule = made(lambda: Bdeu(ess), "the rule bdeu")
        return rule
    return smoothing_from_json(value)


def _cells_from_json(written: object, size: int, name: str) -> ExactArray:
    if not isinstance(written, list) or len(written) != size:
        raise ValueError(f"`{name}` must have {size:,} counts")
    if all(type(cell) is int and 0 <= cell < 2**63 for cell in written):
        return ExactArray.from_integers(np.array(written, dtype=np.int64))
    if not all(type(cell) is str and cell.isascii() for cell in written):
        raise ValueError(f"`{name}` has a count that is not a number")
    cells = ExactArray.from_text("".join(f"{cell}\n" for cell in written).encode("ascii"))
    if len(cells) != size or (cells.signs() < 0).any():
        raise ValueError(f"`{name}` has a negative count")
    return cells


def _experts_from_json(
    written: Mapping[str, Any], sizes: Mapping[str, int], states: Mapping[str, tuple[str, ...]]
) -> Json:
    found = {}
    for name, size in sizes.items():
        values = written.get(name)
        if not isinstance(values, list) or len(values) != size or not all(type(v) is float and v >= 0 for v in values):
            raise ValueError(f"`{name}` has no cases of experts")
        found[name] = np.array(values).reshape(-1, len(states[name]))
    return found
