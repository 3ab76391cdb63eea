"""The layout of a directed graph as data: parents above children, in layers, with few crossings.

A node is in the layer below its lowest parent, a root in the layer above its highest child. An arc that crosses layers
gets a point in each; the points and nodes of a layer are sorted by the mean position of their neighbours, in a few
passes down and up. Then each moves towards the mean of its neighbours as far as its order in the row allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bayesbox.file.reader import Json

SWEEPS = 12
GAP, LAYER_GAP, MARGIN = 28.0, 56.0, 24.0

Point = tuple[float, float]


@dataclass(frozen=True)
class NodeBox:
    """The position of a node: its centre, its size, and its layer, counted from the top."""

    name: str
    x: float
    y: float
    width: float
    height: float
    layer: int

    @property
    def left(self) -> float:
        """The left side."""
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        """The upper side."""
        return self.y - self.height / 2

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        sizes = {"x": self.x, "y": self.y, "width": self.width, "height": self.height}
        return {"name": self.name, **sizes, "layer": self.layer}


@dataclass(frozen=True)
class ArcRoute:
    """The route of an arc: from the bottom of the parent through points between other nodes to the child.

    `curve` is a chain of cubic Bezier curves: a point, and then two control points and a point for each piece.
    """

    parent: str
    child: str
    points: tuple[Point, ...]
    curve: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The curve as SVG path data."""
        (x, y), *rest = self.curve
        pieces = (" ".join(f"{a:.1f} {b:.1f}" for a, b in rest[at : at + 3]) for at in range(0, len(rest), 3))
        return f"M{x:.1f} {y:.1f}" + "".join(f" C{piece}" for piece in pieces)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "parent": self.parent,
            "child": self.child,
            "points": [list(point) for point in self.points],
            "path": self.path,
        }


@dataclass(frozen=True)
class GraphLayout:
    """The layout of a graph: the size of the drawing, its nodes and the routes of its arcs, with y downwards."""

    width: float
    height: float
    nodes: tuple[NodeBox, ...]
    arcs: tuple[ArcRoute, ...]

    def __getitem__(self, name: str) -> NodeBox:
        for box in self.nodes:
            if box.name == name:
                return box
        raise KeyError(name)

    def to_dict(self) -> Json:
        """A plain dict, for JSON."""
        return {
            "width": self.width,
            "height": self.height,
            "nodes": [box.to_dict() for box in self.nodes],
            "arcs": [arc.to_dict() for arc in self.arcs],
        }


@dataclass
class _Place:
    """A node, or a point where an arc crosses a layer: its size, its centre, and its neighbours above and below."""

    name: str | None
    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    rank: float = 0.0
    above: list[_Place] = field(default_factory=list)
    below: list[_Place] = field(default_factory=list)


def graph_layout(parents: Mapping[str, Sequence[str]], size: Callable[[str], tuple[float, float]]) -> GraphLayout:
    """The layout of an acyclic graph, from the parents of each node and the width and height that a node needs.

    >>> found = graph_layout({"rain": [], "grass": ["rain"]}, lambda name: (60.0, 30.0))
    >>> [(box.name, box.x, box.y, box.layer) for box in found.nodes]
    [('rain', 54.0, 39.0, 0), ('grass', 54.0, 125.0, 1)]
    >>> found.arcs[0].points
    ((54.0, 54.0), (54.0, 110.0))
    """
    order = _parents_first(parents)
    places = {name: _Place(name, *size(name)) for name in parents}
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name in order:
        for parent in parents[name]:
            children[parent].append(name)
        places[name].layer = max((places[parent].layer + 1 for parent in parents[name]), default=0)
    for name in order:
        if not parents[name]:  # a root goes just above its highest child
            places[name].layer = min((places[child].layer - 1 for child in children[name]), default=0)
    layers: list[list[_Place]] = [[] for _ in range(1 + max((each.layer for each in places.values()), default=0))]
    for name in order:
        layers[places[name].layer].append(places[name])
    routes = {
        (parent, name): _route(places[parent], places[name], layers) for name in parents for parent in parents[name]
    }
    if not parents:
        return GraphLayout(0.0, 0.0, (), ())
    _sort(layers)
    _spread(layers)
    every = [each for layer in layers for each in layer]
    return GraphLayout(
        max(each.x + each.width / 2 for each in every) + MARGIN,
        max(each.y + each.height / 2 for each in every) + MARGIN,
        tuple(NodeBox(name, at.x, at.y, at.width, at.height, at.layer) for name, at in places.items()),
        tuple(_arc(parent, child, route) for (parent, child), route in routes.items()),
    )


def _parents_first(parents: Mapping[str, Sequence[str]]) -> list[str]:
    """The nodes in topological order."""
    done: dict[str, None] = {}
    for name in parents:
        waiting = [name]
        while waiting:
            missing = [parent for parent in parents[waiting[-1]] if parent not in done]
            if missing:
                waiting += missing
            else:
                done[waiting.pop()] = None
    return list(done)


def _route(start: _Place, end: _Place, layers: list[list[_Place]]) -> list[_Place]:
    """The points of an arc, one in each layer that it crosses."""
    route = [start]
    for layer in range(start.layer + 1, end.layer):
        point = _Place(None, 4.0, 0.0, layer)
        layers[layer].append(point)
        route.append(point)
    route.append(end)
    for upper, lower in itertools.pairwise(route):
        upper.below.append(lower)
        lower.above.append(upper)
    return route


def _sort(layers: list[list[_Place]]) -> None:
    """Sort each layer by the mean position of its neighbours in the previous one, alternating down and up."""
    for layer in layers:
        _number(layer)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for layer in layers[1:] if down else layers[-2::-1]:
            means = {id(each): _mean_rank(each, each.above if down else each.below) for each in layer}
            layer.sort(key=lambda each, means=means: means[id(each)])  # type: ignore[misc]
            _number(layer)


def _number(layer: list[_Place]) -> None:
    for at, each in enumerate(layer):
        each.rank = float(at)


def _mean_rank(each: _Place, near: list[_Place]) -> float:
    return sum(other.rank for other in near) / len(near) if near else each.rank


def _spread(layers: list[list[_Place]]) -> None:
    """Assign coordinates: layers below each other, each node as near to the mean of its neighbours as possible."""
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


def _settle(layer: Sequence[_Place], wanted: Sequence[float]) -> None:
    """The positions nearest to the wanted ones, in least squares, that keep order and distance.

    Neighbours that come too close form a block, placed at the mean of its members' wanted positions.
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


def _arc(parent: str, child: str, route: list[_Place]) -> ArcRoute:
    """The route from the bottom of the parent through the points to the top of the child."""
    start, end = route[0], route[-1]
    points = [(start.x, start.y + start.height / 2), *((each.x, each.y) for each in route[1:-1])]
    points.append((end.x, end.y - end.height / 2))
    slopes = [0.0]  # vertical at both ends, along the neighbours in between
    slopes += [
        (after[0] - before[0]) / (after[1] - before[1]) for before, after in zip(points, points[2:], strict=False)
    ]
    slopes.append(0.0)
    curve = [points[0]]
    for place, ((x0, y0), (x1, y1)) in enumerate(itertools.pairwise(points)):
        third = (y1 - y0) / 3 if len(points) > 2 else (y1 - y0) / 2
        curve += [(x0 + slopes[place] * third, y0 + third), (x1 - slopes[place + 1] * third, y1 - third), (x1, y1)]
    return ArcRoute(parent, child, tuple(points), tuple(curve))
