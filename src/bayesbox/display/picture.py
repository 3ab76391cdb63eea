"""A drawing that notebooks display, and that is otherwise its SVG text."""

from __future__ import annotations

from os import PathLike

from bayesbox.display.blocks import PictureBlock
from bayesbox.display.html import as_html


class Picture(str):
    """SVG text, which a notebook draws.

    >>> picture = Picture("<svg></svg>", "density of age")
    >>> picture, picture.svg(), len(picture)
    (<Picture: density of age>, '<svg></svg>', 11)
    """

    caption: str

    def __new__(cls, svg: str, caption: str = "") -> Picture:
        found = super().__new__(cls, svg)
        found.caption = caption
        return found

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str takes one
        return (self.svg(), self.caption)

    def svg(self) -> str:
        """The SVG as plain text."""
        return str.__str__(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the SVG to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())

    def __repr__(self) -> str:
        return f"<Picture: {self.caption}>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return as_html("", [PictureBlock(self.svg())])
