"""Prior knowledge of a structure: required and forbidden arcs, tiers, and the maximum number of parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadOption, UnknownNode, require_whole
from bayesbox.network.learn.options import Arc, ArcLike

Matrix = NDArray[np.bool_]  # [parent, child]


def arc_of(given: ArcLike) -> Arc:
    """An arc from "a->b" or a pair.

    >>> arc_of("rain -> grass"), arc_of(("rain", "grass"))
    (('rain', 'grass'), ('rain', 'grass'))
    """
    if isinstance(given, str):
        parent, arrow, child = given.partition("->")
        if arrow and parent.strip() and child.strip():
            return parent.strip(), child.strip()
    elif isinstance(given, (tuple, list)) and len(given) == 2:
        return str(given[0]), str(given[1])
    raise BadOption("an arc must be written parent->child", found=given)


@dataclass(frozen=True)
class ArcRules:
    """The allowed and the required arcs, and the maximum number of parents."""

    allowed: Matrix
    required: Matrix
    max_parents: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        *,
        required: Iterable[ArcLike] = (),
        forbidden: Iterable[ArcLike] = (),
        tiers: Iterable[str | Iterable[object]] | None = None,
        max_parents: int | None = None,
    ) -> ArcRules:
        """The rules from names. No node has a parent in a later tier; either all nodes have a tier or none."""
        count = len(names)
        place = {name: index for index, name in enumerate(names)}
        allowed = ~np.eye(count, dtype=bool)
        must = np.zeros((count, count), dtype=bool)
        required, forbidden = ([arcs] if isinstance(arcs, str) else list(arcs) for arcs in (required, forbidden))
        for parent, child in (_placed(arc, place) for arc in forbidden):
            allowed[parent, child] = False
        if tiers is not None:
            tier = _tiers(tiers, place)
            allowed &= tier[:, None] <= tier[None, :]
        for arc in required:
            parent, child = _placed(arc, place)
            if not allowed[parent, child]:
                raise BadOption("an arc is both required and forbidden", found=f"{names[parent]}->{names[child]}")
            must[parent, child] = True
        most = max(count - 1, 0) if max_parents is None else max_parents
        require_whole("max_parents", most)
        if must.sum(axis=0).max(initial=0) > most:
            raise BadOption(f"more parents are required than the {most} allowed", found=int(must.sum(axis=0).max()))
        if has_cycle(must):
            raise BadOption("the required arcs form a cycle", found=[arc_of(arc) for arc in required])
        return cls(allowed & ~must.T, must, most)


def _placed(arc: ArcLike, place: dict[str, int]) -> tuple[int, int]:
    parent, child = arc_of(arc)
    for name in (parent, child):
        if name not in place:
            raise UnknownNode("node", name, place, where=f"the arc {parent}->{child}")
    if parent == child:
        raise BadOption("an arc must join two different nodes", found=f"{parent}->{child}")
    return place[parent], place[child]


def _tiers(tiers: Iterable[str | Iterable[object]], place: dict[str, int]) -> NDArray[np.int64]:
    tier = np.full(len(place), -1, dtype=np.int64)
    for level, given in enumerate(tiers):
        for name in [given] if isinstance(given, str) else given:
            if str(name) not in place:
                raise UnknownNode("node", name, place, where="tiers")
            if tier[place[str(name)]] >= 0:
                raise BadOption("a node must be in one tier only", found=str(name))
            tier[place[str(name)]] = level
    without = [name for name, index in place.items() if tier[index] < 0]
    if without:
        raise BadOption("every node must be in a tier", found=", ".join(without[:8]), remedy="Add it to one")
    return tier


def reachable(parents: Sequence[int]) -> tuple[Matrix, bool]:
    """The transitive closure [from, to] of the parents of each node as bits, and whether there is no cycle."""
    count = len(parents)
    below = [0] * count  # the children of each
    waiting = [0] * count
    for child, above in enumerate(parents):
        waiting[child] = above.bit_count()
        while above:
            low = above & -above
            below[low.bit_length() - 1] |= 1 << child
            above ^= low
    order = [node for node in range(count) if not waiting[node]]
    for node in order:
        left = below[node]
        while left:
            low = left & -left
            child = low.bit_length() - 1
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
            left ^= low
    reached = [0] * count
    for node in reversed(order):
        found = left = below[node]
        while left:
            low = left & -left
            found |= reached[low.bit_length() - 1]
            left ^= low
        reached[node] = found
    return unpacked(reached), len(order) == count


def unpacked(masks: Sequence[int]) -> Matrix:
    """Bit sets as rows of a boolean matrix."""
    count = len(masks)
    width = -(-count // 8)
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(count, width), axis=1, bitorder="little")
    return bits[:, :count].astype(bool)


def packed(matrix: Matrix) -> list[int]:
    """The parents of each node as bits, from a matrix of arcs."""
    return [sum(1 << int(parent) for parent in np.flatnonzero(column)) for column in matrix.T]


def has_cycle(matrix: Matrix) -> bool:
    """Whether the arcs contain a cycle."""
    return not reachable(packed(matrix))[1]
