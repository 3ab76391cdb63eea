"""A network as a drawing in SVG: parents above children, in layers, with few crossings; no other program is needed.

A node stands in the layer below its lowest parent, a root above its highest child. An edge that passes layers gets a
point in each, and points and nodes of a layer are put in the order of the mean place of their neighbours, down and up
again a few times. Then every one moves towards the middle of its neighbours as far as its place in the row lets it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayesbox.explain.svg_text import safe
from bayesbox.network.graph import Graph

SWEEPS = 12
GAP, LAYER_GAP, MARGIN = 28.0, 56.0, 24.0
FONT, LETTER = 13, 8.2
LINE, BAR = 16.0, 64.0
MOST_STATES = 8  # states of a node that a drawing lists


@dataclass
class NodePlace:
    """A node, or a point where an edge passes a layer: its size, its centre, and its neighbours above and below."""

    name: str | None
    width: float
    height: float
    layer: int
    x: float = 0.0
    y: float = 0.0
    above: list[NodePlace] = field(default_factory=list)
    below: list[NodePlace] = field(default_factory=list)


Posteriors = Mapping[str, Mapping[str, float]]


def drawing(graph: Graph, posteriors: Posteriors | None = None, known: set[str] | frozenset[str] = frozenset()) -> str:
    """The drawing as the text of an SVG; with bars for the posteriors, observed nodes shaded.

    >>> from bayesbox.network.graph import Node
    >>> text = drawing(Graph([Node("rain", ("yes", "no")), Node("grass", ("wet", "dry"), ("rain",))]))
    >>> text[:4], text.count("<rect"), text.count("<path")
    ('<svg', 2, 2)
    """
    if not graph.nodes:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"></svg>\n'
    places = {name: _place(graph, name, posteriors) for name in graph.nodes}
    for name in graph.order:
        parents = graph.nodes[name].parents
        places[name].layer = max((places[parent].layer + 1 for parent in parents), default=0)
    for name in graph.order:
        if not graph.nodes[name].parents:  # a root stands just above its highest child
            places[name].layer = min((places[child].layer - 1 for child in graph.children_of[name]), default=0)
    layers: list[list[NodePlace]] = [[] for _ in range(1 + max((each.layer for each in places.values()), default=0))]
    for name in graph.order:
        layers[places[name].layer].append(places[name])
    routes = [_route(places[parent], places[child], layers) for parent, child in graph.edges]
    _sort(layers)
    _spread(layers)
    return _svg(places, routes, graph, posteriors, known)


def _place(graph: Graph, name: str, posteriors: Posteriors | None) -> NodePlace:
    width = LETTER * len(name) + 24
    height = 30.0
    if posteriors is not None:
        states = graph.nodes[name].states[:MOST_STATES]
        width = max(width, LETTER * max(map(len, states)) + BAR + 84)
        height += LINE * (len(states) + (len(graph.nodes[name].states) > MOST_STATES)) + 4
    return NodePlace(name, width, height, 0)


def _route(start: NodePlace, end: NodePlace, layers: list[list[NodePlace]]) -> list[NodePlace]:
    """The points of an edge, a new one in each layer that it passes."""
    route = [start]
    for layer in range(start.layer + 1, end.layer):
        point = NodePlace(None, 4.0, 0.0, layer)
        layers[layer].append(point)
        route.append(point)
    route.append(end)
    for upper, lower in itertools.pairwise(route):
        upper.below.append(lower)
        lower.above.append(upper)
    return route


def _sort(layers: list[list[NodePlace]]) -> None:
    """Order each layer by the mean place of its neighbours in the one before, downwards and upwards in turn."""
    for sweep in range(SWEEPS):
        for layer in layers[1:] if sweep % 2 == 0 else layers[-2::-1]:
            rank = {id(each): float(at) for other in layers for at, each in enumerate(other)}

            def mean(each: NodePlace, rank: dict[int, float] = rank, up: bool = sweep % 2 == 0) -> float:
                near = each.above if up else each.below
                return sum(rank[id(other)] for other in near) / len(near) if near else rank[id(each)]

            layer.sort(key=mean)


def _spread(layers: list[list[NodePlace]]) -> None:
    """Coordinates: rows one below another, and in a row each as near to its neighbours' middle as the others let it."""
    top = MARGIN
    for layer in layers:
        height = max(each.height for each in layer)
        at = MARGIN
        for each in layer:
            each.x, each.y = at + each.width / 2, top + height / 2
            at += each.width + GAP
        top += height + LAYER_GAP
    for sweep in range(2 * SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = []
            for each in layer:
                near = [*each.above, *each.below] if sweep >= SWEEPS else (each.above if sweep % 2 == 0 else each.below)
                wanted.append(sum(other.x for other in near) / len(near) if near else each.x)
            _settle(layer, wanted)
    left = min(each.x - each.width / 2 for layer in layers for each in layer)
    for layer in layers:
        for each in layer:
            each.x += MARGIN - left


def _settle(layer: Sequence[NodePlace], wanted: Sequence[float]) -> None:
    """The places nearest to the wanted ones, in squares, that keep order and distance.

    Neighbours that come too close form a block, which stands at the mean of what its members want.
    """
    offsets = [0.0]
    for one, other in itertools.pairwise(layer):
        offsets.append(offsets[-1] + (one.width + other.width) / 2 + GAP)
    blocks: list[list[float]] = []  # the mean of wanted - offset, and the number of members
    for target, offset in zip(wanted, offsets, strict=True):
        blocks.append([target - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, count = blocks.pop()
            before = blocks[-1]
            before[0] = (before[0] * before[1] + value * count) / (before[1] + count)
            before[1] += count
    at = 0
    for value, count in blocks:
        for _ in range(int(count)):
            layer[at].x = value + offsets[at]
            at += 1


def _svg(
    places: Mapping[str, NodePlace],
    routes: list[list[NodePlace]],
    graph: Graph,
    posteriors: Posteriors | None,
    known: set[str] | frozenset[str],
) -> str:
    every = [*places.values(), *(each for route in routes for each in route)]
    width = max((each.x + each.width / 2 for each in every), default=0) + MARGIN
    height = max((each.y + each.height / 2 for each in every), default=0) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{FONT}">',
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#556"/></marker></defs>',
    ]
    parts += [
        f'<path d="{_curve(route)}" fill="none" stroke="#778" stroke-width="1.3" marker-end="url(#arrow)"/>'
        for route in routes
    ]
    for name, place in places.items():
        left, top = place.x - place.width / 2, place.y - place.height / 2
        fill = "#dfe7f3" if name in known else "#ffffff"
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="8" '
            f'fill="{fill}" stroke="#334" stroke-width="1.2"/>'
        )
        weight = ' font-weight="bold"' if posteriors is not None else ""
        parts.append(f'<text x="{place.x:.1f}" y="{top + 20:.1f}" text-anchor="middle"{weight}>{safe(name)}</text>')
        if posteriors is not None:
            parts += _bars(graph.nodes[name].states, posteriors[name], left, top + 26, place.width)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curve(route: list[NodePlace]) -> str:
    """From the lower side of the parent through the points to the upper side of the child."""
    start, end = route[0], route[-1]
    points = [(start.x, start.y + start.height / 2), *((each.x, each.y) for each in route[1:-1])]
    points.append((end.x, end.y - end.height / 2))
    slopes = [(0.0, 1.0)]  # down at both ends, and along the neighbours in between
    slopes += [
        ((after[0] - before[0]) / (after[1] - before[1]), 1.0)
        for before, after in zip(points, points[2:], strict=False)
    ]
    slopes.append((0.0, 1.0))
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        third = (y1 - y0) / 3 if len(points) > 2 else (y1 - y0) / 2
        before, after = slopes[place], slopes[place + 1]
        text += (
            f" C{x0 + before[0] * third:.1f} {y0 + third:.1f} {x1 - after[0] * third:.1f} {y1 - third:.1f}"
            f" {x1:.1f} {y1:.1f}"
        )
    return text


def _bars(states: Sequence[str], posterior: Mapping[str, float], left: float, top: float, width: float) -> list[str]:
    parts = []
    for line, state in enumerate(states[:MOST_STATES]):
        y = top + LINE * line
        share = posterior[state]
        right = left + width - 10
        parts.append(f'<text x="{left + 10:.1f}" y="{y + 12:.1f}">{safe(state)}</text>')
        parts.append(
            f'<rect x="{right - 54 - BAR:.1f}" y="{y + 3:.1f}" width="{BAR * share:.1f}" height="9" fill="#5b8bd0"/>'
        )
        parts.append(f'<text x="{right:.1f}" y="{y + 12:.1f}" text-anchor="end">{100 * share:.1f}%</text>')
    if len(states) > MOST_STATES:
        y = top + LINE * MOST_STATES
        parts.append(f'<text x="{left + 10:.1f}" y="{y + 12:.1f}">{len(states) - MOST_STATES} more</text>')
    return parts
