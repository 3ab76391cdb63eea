"""The base of all displays, which show as SVG and draw on matplotlib axes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from bayesbox.display.blocks import Block, PictureBlock
from bayesbox.display.picture import Picture
from bayesbox.display.result import Result
from bayesbox.errors import MissingExtra
from bayesbox.estimators.method_docs import METHODS
from bayesbox.schema.parameters import describe_methods

COLORS = ("#3b6fb6", "#c8553d", "#4c9f70", "#8f5fa8", "#b08900", "#4f8a8b", "#a23b72", "#6b705c")


@describe_methods(METHODS["PlotDisplay"])
class PlotDisplay(Result):
    """A plot of a model. A notebook shows `svg()`; `plot(ax)` draws on matplotlib axes and sets `ax_` and `figure_`."""

    ax_: Any = None
    figure_: Any = None

    @abstractmethod
    def svg(self) -> Picture:
        """The picture as SVG, without matplotlib."""

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on axes."""

    def plot(self, ax: Any = None) -> Self:
        """Draw on matplotlib axes, by default on a new figure."""
        axes = _new_axes() if ax is None else ax
        self._draw(axes)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _plotted_on(self, ax: Any) -> Self:
        """The display itself, drawn on `ax` if axes were given."""
        return self if ax is None else self.plot(ax)

    def _blocks(self) -> Sequence[Block]:
        return [PictureBlock(self.svg())]

    def __str__(self) -> str:
        return repr(self)


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise MissingExtra("matplotlib", "plot") from error
    return pyplot.subplots()[1]
