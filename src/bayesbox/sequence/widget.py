"""The widget of a hidden Markov model in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bayesbox.app.widgets import ChainWidget
    from bayesbox.sequence.hmm import HiddenMarkovModel


class HasChainWidget:
    """A chain with an interactive widget for notebooks."""

    def widget(self, sequence: object = ()) -> ChainWidget:
        """An interactive widget that decodes a sequence: edit its steps, or set `w.steps = [...]` in the next cell.

        `w.steps`, `w.path` and `w.posterior` are the current values. Needs `bayesbox[notebook]`.

        Parameters
        ----------
        sequence : one sequence: a list, an array or a dict of columns; () by default

        Returns
        -------
        ChainWidget, for a notebook

        Examples
        --------
        >>> import bayesbox as bb
        >>> hmm = bb.HiddenMarkovModel.from_tables(
        ...     start=[0.6, 0.4], transition=[[0.7, 0.3], [0.4, 0.6]], emission=[[0.1, 0.9], [0.6, 0.4]],
        ...     states=["rain", "dry"], symbols=["walk", "shop"])
        >>> hmm.widget(["walk", "shop"]).path
        ['dry', 'rain']
        """
        from bayesbox.app.widgets import ChainWidget

        return ChainWidget(cast("HiddenMarkovModel", self), sequence)
