"""The picture of a chain in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bayesbox.app.widgets import ChainWidget
    from bayesbox.sequence.hmm import HiddenMarkovModel


class HasChainWidget:
    """A chain that a notebook shows as a picture that answers."""

    def widget(self, sequence: object = ()) -> ChainWidget:
        """A sequence decoded in a notebook: change its steps by hand, or `w.steps = [...]` in the next cell.

        `w.steps`, `w.path` and `w.posterior` say what is shown. Needs `bayesbox[notebook]`.

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
