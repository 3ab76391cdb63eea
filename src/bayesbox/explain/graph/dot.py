"""A network in the DOT language, for Graphviz and compatible tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from bayesbox.explain.graph.picture import MOST_STATES, Parents, Posteriors


def network_dot(
    parents: Parents, posteriors: Posteriors | None = None, known: Collection[str] = (), *, name: str = ""
) -> str:
    """The graph as DOT text; with posteriors, these are in the labels and observed nodes are filled.

    >>> print(network_dot({"rain": [], "grass": ["rain"]}), end="")
    digraph {
      node [shape=box, style=rounded];
      "rain";
      "grass";
      "rain" -> "grass";
    }
    """
    lines = [f"digraph {_quoted(name)} {{" if name else "digraph {", "  node [shape=box, style=rounded];"]
    for node in parents:
        given = []
        if posteriors is not None:
            given.append(f"label={_label(node, posteriors[node])}")
        if node in known:
            given.append('style="rounded,filled", fillcolor="#dfe7f3"')
        options = f" [{', '.join(given)}]" if given else ""
        lines.append(f"  {_quoted(node)}{options};")
    lines += [f"  {_quoted(parent)} -> {_quoted(node)};" for node, above in parents.items() for parent in above]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A name in quotes, with quotes and backslashes escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _label(node: str, posterior: Mapping[str, float]) -> str:
    lines = [f"{state}: {100 * share:.1f}%" for state, share in list(posterior.items())[:MOST_STATES]]
    if len(posterior) > MOST_STATES:
        lines.append(f"{len(posterior) - MOST_STATES} more")
    return '"' + "\\n".join(_quoted(line)[1:-1] for line in (node, *lines)) + '"'
