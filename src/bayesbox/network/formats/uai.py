"""UAI, the format of the UAI competitions: BAYES is a network, MARKOV a factor graph; and its evidence files.

    MARKOV
    2                      variables
    2 3                    their numbers of states
    1                      factors
    2 0 1                  the variables of each
    6  0.1 0.2 0.3 0.1 0.2 0.1       cells of each, the last variable fastest

Variables and states have no names: both are called 0, 1, 2 ... A `#` begins a comment, as aGrUM writes them.
"""

from __future__ import annotations

import re

import numpy as np

from bayesbox.network.factor_graph import FactorModel, FactorTable
from bayesbox.network.formats.parsing import TextPosition, TokenStream, decoded, graph_from, number_text
from bayesbox.network.graph import MOST_CELLS, MOST_NODES, Graph, Node

TOKEN = re.compile(r"\s+|#[^\n]*|(?P<token>[^\s#]+)")
MOST_STATES = 10**6


def read(data: bytes, *, where: str, normalize: bool = False) -> Graph | FactorModel:
    """The network or the factors in a text."""
    tokens = TokenStream(decoded(data, where), where, TOKEN)
    kind = tokens.token.upper()
    if kind not in ("BAYES", "MARKOV"):
        tokens.fail("expected BAYES or MARKOV")
    tokens.take()
    count = tokens.integer("the number of variables", most=MOST_NODES)
    cards = [_positive(tokens, "the number of states", MOST_STATES) for _ in range(count)]
    factors = tokens.integer("the number of factors", most=10 * MOST_NODES)
    scopes, offsets = [], []
    for _ in range(factors):
        offsets.append(tokens.offset)
        scopes.append(_scope(tokens, count))
    cells = 0
    tables, starts = [], []
    for scope in scopes:
        sizes = [cards[variable] for variable in scope]
        size = 1
        for card in sizes:
            size *= card
        cells += size
        if cells > MOST_CELLS:
            tokens.fail(f"the tables have at least {cells:,} cells; the limit is {MOST_CELLS:,}")
        if tokens.token != str(size):
            tokens.fail(f"expected the number of cells of this table: {size}")
        tokens.take()
        starts.append(tokens.offset)
        tables.append(_table(tokens, size).reshape(sizes))
    if tokens.token:
        tokens.fail("expected the end of the file")
    if kind == "BAYES":
        return _graph(tokens.place, cards, scopes, tables, list(zip(offsets, starts, strict=True)), normalize=normalize)
    states = tuple(tuple(str(state) for state in range(card)) for card in cards)
    model = [FactorTable(tuple(scope), table) for scope, table in zip(scopes, tables, strict=True)]
    return FactorModel(tuple(str(variable) for variable in range(count)), states, tuple(model))


def _positive(tokens: TokenStream, what: str, most: int) -> int:
    if tokens.token == "0":
        tokens.fail(f"{what} must be at least 1")
    return tokens.integer(what, most=most)


def _scope(tokens: TokenStream, count: int) -> list[int]:
    size = tokens.integer("the number of variables of a factor", most=count)
    scope: list[int] = []
    for _ in range(size):
        if tokens.token in map(str, scope):
            tokens.fail("a variable twice in one factor")
        scope.append(tokens.integer("a variable", most=count - 1))
    return scope


def _table(tokens: TokenStream, size: int) -> np.ndarray:
    start = tokens.offset
    found = tokens.numbers(size)
    if (found < 0).any():  # parse again number by number, to find the position
        tokens.seek(start)
        found = found[:0]
    values = np.empty(size)
    values[: len(found)] = found
    for place in range(len(found), size):
        offset, text = tokens.offset, tokens.token
        values[place] = tokens.number()
        if values[place] < 0:
            tokens.place.fail("a factor must not be negative", offset, text)
    return values


def _graph(
    place: TextPosition,
    cards: list[int],
    scopes: list[list[int]],
    tables: list[np.ndarray],
    offsets: list[tuple[int, int]],
    *,
    normalize: bool,
) -> Graph:
    """A network: the last variable of each scope is the node, those before it its parents.

    `offsets` has the positions of the scope and of the numbers of each table.
    """
    found: dict[int, Node] = {}
    where: dict[str, tuple[int, int]] = {}
    for scope, table, (offset, start) in zip(scopes, tables, offsets, strict=True):
        if not scope or scope[-1] in found:
            place.fail("each node of a network must have one table", offset, scope[-1] if scope else "an empty scope")
        node = scope[-1]
        states = tuple(str(state) for state in range(cards[node]))
        found[node] = Node(str(node), states, tuple(str(parent) for parent in scope[:-1]), table)
        where[str(node)] = offset, start
    for variable in range(len(cards)):
        if variable not in found:
            place.fail(f"node {variable} has no table", len(place.text))
    nodes = [found[variable] for variable in range(len(cards))]
    return graph_from(nodes, place, lambda fault: where[fault.node][fault.row is not None], normalize=normalize)


def read_evidence(data: bytes, *, where: str) -> dict[str, str]:
    """The evidence in a file: the number of observed variables, then each with its state.

    >>> read_evidence(b"2  3 0  7 1", where="x.uai.evid")
    {'3': '0', '7': '1'}
    """
    tokens = TokenStream(decoded(data, where), where, TOKEN)
    values: list[int] = []
    while tokens.token:
        values.append(tokens.integer("a number", most=10**9))
    if len(values) >= 2 and values[0] == 1 and len(values) == 2 + 2 * values[1]:
        values = values[1:]  # an older form begins with the number of samples
    if not values or len(values) != 1 + 2 * values[0]:
        tokens.place.fail(
            "evidence must be a number of variables, then a variable and a state for each", 0, len(values)
        )
    return {str(values[at]): str(values[at + 1]) for at in range(1, len(values), 2)}


def write(graph: Graph) -> str:
    """A network as text of type BAYES; the names are lost."""
    return _written("BAYES", graph.model)


def write_factors(model: FactorModel) -> str:
    """Factors as text of type MARKOV."""
    return _written("MARKOV", model)


def _written(kind: str, model: FactorModel) -> str:
    lines = [kind, str(len(model.names)), " ".join(map(str, model.cards)), str(len(model.factors))]
    lines += [" ".join(map(str, [len(factor.scope), *factor.scope])) for factor in model.factors]
    for factor in model.factors:
        lines += ["", str(factor.table.size), " ".join(map(number_text, factor.table.reshape(-1)))]
    return "\n".join(lines) + "\n"
