"""The averaged network of a bootstrap: the arcs that most samples agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayesbox.network.learn.arcs import ArcRules
from bayesbox.network.learn.scores import mask_of

Arc = tuple[str, str]


def averaged_parents(
    names: Sequence[str], strengths: Mapping[Arc, tuple[float, float]], threshold: float, rules: ArcRules
) -> list[int]:
    """The parents of each node, as bits: arcs found in at least this share of the samples, the strongest first.

    An arc has the direction that most samples give it; one that would close a cycle, is forbidden, or is one parent too
    many is dropped, or reversed if that is allowed. Required arcs are always included.

    >>> from bayesbox.network.learn.arcs import ArcRules
    >>> found = {("a", "b"): (0.9, 0.8), ("b", "a"): (0.9, 0.2), ("b", "c"): (0.3, 1.0)}
    >>> averaged_parents(["a", "b", "c"], found, 0.5, ArcRules.of(["a", "b", "c"]))
    [0, 1, 0]
    """
    place = {name: at for at, name in enumerate(names)}
    parents = [mask_of([p for p in range(len(names)) if rules.required[p, child]]) for child in range(len(names))]
    ordered = sorted(
        strengths.items(), key=lambda each: (-each[1][0], -each[1][1], place[each[0][0]], place[each[0][1]])
    )
    for (one, other), (strength, direction) in ordered:
        parent, child = place[one], place[other]
        if strength < threshold or not direction or parents[child] >> parent & 1 or parents[parent] >> child & 1:
            continue
        full = parents[child].bit_count() >= rules.max_parents
        if rules.allowed[parent, child] and not full and not _leads(parents, child, parent):
            parents[child] |= 1 << parent
    return parents


def _leads(parents: Sequence[int], start: int, end: int) -> bool:
    """Whether a directed path leads from one node to another."""
    above, waiting = 1 << end, [end]
    while waiting:
        new = parents[waiting.pop()] & ~above
        above |= new
        waiting += [at for at in range(len(parents)) if new >> at & 1]
    return bool(above >> start & 1)
