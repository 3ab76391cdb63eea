"""XML as these formats use it: a small tree whose elements know their line and column.

A document type (DTD) is refused: nothing is expanded, nothing is fetched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from bayesbox.errors import BadModelFile, BadTable
from bayesbox.network.formats.parsing import NUMBER
from bayesbox.network.graph import MOST_CELLS, Graph, Node

DEEPEST = 100


@dataclass
class Element:
    """An XML element: its tag, attributes, children, text and position."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text content, stripped."""
        return "".join(self.pieces).strip()

    def all(self, *tags: str) -> list[Element]:
        """The child elements with one of these tags, ignoring case."""
        return [child for child in self.children if child.tag.lower() in tags]

    def first(self, tag: str) -> Element | None:
        """The first child element with a tag."""
        return next(iter(self.all(tag)), None)


def parse(data: bytes, where: str) -> Element:
    """The root of a document."""
    parser = expat.ParserCreate()
    top = Element("", {}, 1, 1)
    open_elements = [top]

    def place() -> tuple[int, int]:
        return parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            refuse(f"elements are nested deeper than {DEEPEST}", open_elements[-1], where)
        element = Element(tag, attributes, *place())
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def doctype(*_: object) -> NoReturn:
        line, column = place()
        raise BadModelFile(
            "a document type (DTD) is not allowed, since it could name entities and other files",
            where=f"{where}, line {line}, column {column}",
            remedy="Remove the lines from <!DOCTYPE up to ]>; they contain nothing of the network",
        )

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: open_elements[-1].pieces.append(text)
    parser.StartDoctypeDeclHandler = doctype
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"not valid XML: {expat.ErrorString(error.code)}"
        raise BadModelFile(what, where=f"{where}, line {error.lineno}, column {error.offset + 1}") from None
    except BadModelFile:
        raise
    except (LookupError, ValueError) as error:  # an unknown encoding
        line, column = place()
        raise BadModelFile(
            f"not valid XML: {error}",
            where=f"{where}, line {line}, column {column}",
            remedy="Save it as UTF-8",
        ) from None
    return top.children[0]


def refuse(what: str, element: Element, where: str, found: object = None, remedy: str | None = None) -> NoReturn:
    """Raise an error with the position of an element."""
    place = f"{where}, line {element.line}, column {element.column}"
    raise BadModelFile(what, where=place, found=found, remedy=remedy)


def numbers(element: Element, where: str, *, most: int) -> NDArray[np.float64]:
    """The numbers in the text of an element, separated by spaces."""
    words = element.text.split()
    if len(words) > most:
        refuse(f"expected {most:,} numbers", element, where, len(words))
    for word in words:
        if not NUMBER.fullmatch(word) or not math.isfinite(float(word)):
            refuse("expected numbers with a decimal point, separated by spaces", element, where, word)
    return np.array([float(word) for word in words], dtype=np.float64)


def sizes_of(
    node: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], element: Element, where: str
) -> list[int]:
    """The shape of the table of a node, checked before the table is built."""
    sizes = []
    for name in (*parents, node):
        if name not in states:
            refuse("unknown variable", element, where, name)
        if not states[name]:
            refuse(f"`{name}` has no states", element, where)
        sizes.append(len(states[name]))
    cells = math.prod(sizes)
    if cells > MOST_CELLS:
        refuse(f"the table of `{node}` has {cells:,} cells; the limit is {MOST_CELLS:,}", element, where)
    return sizes


def table_of(
    node: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], element: Element, where: str
) -> NDArray[np.float64]:
    """The table of a node from the numbers of an element, in C order: the node varies fastest, then the last parent."""
    sizes = sizes_of(node, parents, states, element, where)
    cells = math.prod(sizes)
    found = numbers(element, where, most=cells)
    if len(found) != cells:
        refuse(f"expected {cells:,} numbers in the table of `{node}`", element, where, len(found))
    return found.reshape(sizes)


def graph_of(
    nodes: Mapping[str, tuple[Node, Element]], where: str, *, name: str = "", normalize: bool = False
) -> Graph:
    """The graph; an error has the position of the element concerned."""
    try:
        return Graph([node for node, _ in nodes.values()], name=name, normalize=normalize, rounded=True)
    except BadTable as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        refuse(what, nodes[error.node][1], where, error.found, error.remedy)
