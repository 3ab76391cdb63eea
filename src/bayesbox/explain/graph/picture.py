"""A network as SVG, from its layout: boxes, arcs, and bars for the posteriors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bayesbox.explain.graph.layout import GraphLayout, NodeBox, graph_layout
from bayesbox.explain.svg_text import safe

FONT, LETTER = 13, 8.2
LINE, BAR = 16.0, 64.0
MOST_STATES = 8  # states of a node that are drawn

Parents = Mapping[str, Sequence[str]]
States = Mapping[str, Sequence[str]]
Posteriors = Mapping[str, Mapping[str, float]]


def network_layout(parents: Parents, states: States | None = None) -> GraphLayout:
    """The layout of a network, with room for the names of nodes and, if `states` are given, for their bars."""

    def size(name: str) -> tuple[float, float]:
        width, height = LETTER * len(name) + 24, 30.0
        if states is None:
            return width, height
        listed = states[name][:MOST_STATES]
        width = max(width, LETTER * max(map(len, listed)) + BAR + 84)
        return width, height + LINE * (len(listed) + (len(states[name]) > MOST_STATES)) + 4

    return graph_layout(parents, size)


def network_picture(
    layout: GraphLayout,
    posteriors: Posteriors | None = None,
    known: Collection[str] = (),
    strengths: Mapping[tuple[str, str], float] | None = None,
) -> str:
    """The drawing as SVG text; with bars for the posteriors, observed nodes shaded, arc width by strength.

    >>> text = network_picture(network_layout({"rain": [], "grass": ["rain"]}))
    >>> text[:4], text.count("<rect"), text.count("<path")
    ('<svg', 2, 2)
    """
    if not layout.nodes:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="0" height="0"></svg>\n'
    width, height = layout.width, layout.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="{FONT}" role="img" '
        f'aria-label="{safe(_words(layout))}">',
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#556"/></marker></defs>',
    ]
    for arc in layout.arcs:
        wide, title = 1.3, ""
        if strengths is not None:
            share = strengths.get((arc.parent, arc.child), 0.0)
            wide = 0.5 + 4 * share
            title = f"<title>{safe(arc.parent)} to {safe(arc.child)}: {100 * share:.0f} %</title>"
        stroke = f'fill="none" stroke="#778" stroke-width="{wide:.3g}" marker-end="url(#arrow)"'
        parts.append(f'<path d="{arc.path}" {stroke}>{title}</path>' if title else f'<path d="{arc.path}" {stroke}/>')
    for box in layout.nodes:
        fill = "#dfe7f3" if box.name in known else "#ffffff"
        parts.append(
            f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="8" '
            f'fill="{fill}" stroke="#334" stroke-width="1.2"/>'
        )
        weight = ' font-weight="bold"' if posteriors is not None else ""
        parts.append(
            f'<text x="{box.x:.1f}" y="{box.top + 20:.1f}" text-anchor="middle"{weight}>{safe(box.name)}</text>'
        )
        if posteriors is not None:
            parts += _bars(box, posteriors[box.name])
    return "\n".join([*parts, "</svg>"]) + "\n"


def _words(layout: GraphLayout) -> str:
    """The graph in words, for screen readers."""
    arcs = ", ".join(f"{arc.parent} to {arc.child}" for arc in layout.arcs[:20])
    more = f" and {len(layout.arcs) - 20} more" if len(layout.arcs) > 20 else ""
    return f"network of {len(layout.nodes)} nodes" + (f"; arcs: {arcs}{more}" if arcs else "")


def _bars(box: NodeBox, posterior: Mapping[str, float]) -> list[str]:
    parts = []
    states = list(posterior)
    right = box.left + box.width - 10
    for line, state in enumerate(states[:MOST_STATES]):
        y = box.top + 26 + LINE * line
        share = posterior[state]
        parts.append(f'<text x="{box.left + 10:.1f}" y="{y + 12:.1f}">{safe(state)}</text>')
        parts.append(
            f'<rect x="{right - 54 - BAR:.1f}" y="{y + 3:.1f}" width="{BAR * share:.1f}" height="9" fill="#5b8bd0"/>'
        )
        parts.append(f'<text x="{right:.1f}" y="{y + 12:.1f}" text-anchor="end">{100 * share:.1f}%</text>')
    if len(states) > MOST_STATES:
        y = box.top + 26 + LINE * MOST_STATES
        parts.append(f'<text x="{box.left + 10:.1f}" y="{y + 12:.1f}">{len(states) - MOST_STATES} more</text>')
    return parts
