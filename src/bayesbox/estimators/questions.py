"""Explanation, what-if, next question, importance and drift of a fitted estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from bayesbox.classifier.answer.drifts import Drift
from bayesbox.classifier.answer.flips import Flips
from bayesbox.classifier.answer.importance import Importance
from bayesbox.classifier.answer.questions import ColumnQuestions
from bayesbox.classifier.answer.what_if import WhatIf
from bayesbox.classifier.rows import LabelledRows
from bayesbox.errors import BadOption
from bayesbox.estimators.inputs import labels_from
from bayesbox.source.dask import partitions_of
from bayesbox.source.shapes import is_dask_frame

if TYPE_CHECKING:
    from bayesbox.source.base import Batch


class AsksQuestions:
    """The explanation methods of all counting estimators; each result prints, shows as HTML in a notebook, and has
    `.to_frame()` and `.to_dict()`."""

    if TYPE_CHECKING:

        @property
        def classifier_(self) -> Any: ...
        def _asked(self, X: object) -> Any: ...
        def _learned(self, X: object) -> Any: ...

    def explain(self, X: object) -> Any:
        """Explain predictions: the evidence of each column for each class, before any calibration.

        X is rows, or one row: a dict, a Series or a named tuple. `print` shows one row as signed bars of log-odds with
        their counts; `[i]` is row i; `.terms`, `.prior` and `.log_odds(label, against)` are the numbers; `.to_shap()`
        returns an Explanation for shap's plots.

        Parameters
        ----------
        X : rows, as for `fit`, or one row: a dict, a Series, a named tuple

        Returns
        -------
        RowsExplanation, which prints as signed bars and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"]}
        >>> print(bb.NaiveBayes().fit(rows, ["no", "yes", "yes", "yes"]).explain({"outlook": "rainy"}))
        class = yes, with probability 0.8437
        <BLANKLINE>
          class  posterior   prior
          yes       0.8437  0.7500  #################
          no        0.1563  0.2500  ###
        <BLANKLINE>
          log-odds of yes against no
          (prior)                     +1.0986  ####################
          outlook = rainy             +0.5878  ###########
          total                       +1.6864  odds 5.4 : 1
        <BLANKLINE>
          based on         class
          outlook = rainy  yes    2 of 3, smoothed to .6, 95 % .194 to .932
                           no     0 of 1, smoothed to .333, 95 % .013 to .842
        """
        return self.classifier_.explain_rows(self._asked(X))

    def what_if(self, row: object, changes: Mapping[str, Any]) -> WhatIf:
        """Compare the prediction for one row with that for other values of some columns, by column.

        `row` is a dict, a Series, a named tuple, or X of one row; None as a value makes a column missing.

        Parameters
        ----------
        row : dict, Series, named tuple, or X of one row; an absent column is missing
        changes : dict from column to its new value

        Returns
        -------
        WhatIf, with `.before` and `.after`; it prints as a table and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"], "windy": [True, True, False, False]}
        >>> clf = bb.NaiveBayes().fit(rows, ["no", "no", "yes", "yes"])
        >>> clf.what_if({"outlook": "sunny", "windy": True}, {"windy": False})
        WhatIf(windy=false: P(no) 0.7500 -> 0.2500)
        """
        return self.classifier_.what_if(self._asked(row), changes)  # type: ignore[no-any-return]

    def flip(self, row: object, to: object = None, fixed: Sequence[str] = ()) -> Flips:
        """The smallest changes that flip the prediction for one row to the class `to`, or to any other class.

        Changes of one or two columns are tried. Those with the fewest columns come first, then those of the least
        distance: 1 for a changed level, and standard deviations of its column for a number, within the training range.
        Columns in `fixed` do not change, and missing values stay missing.

        Parameters
        ----------
        row : dict, Series, named tuple, or X of one row; an absent column is missing
        to : the class to reach, or None (default) for any other
        fixed : list of columns that may not change; () by default

        Returns
        -------
        Flips, the smallest change first, as `.best`; it prints as a table and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"], "windy": [True, True, False, False]}
        >>> clf = bb.NaiveBayes().fit(rows, ["no", "no", "yes", "yes"])
        >>> clf.flip({"outlook": "sunny", "windy": True})
        Flips(no -> yes by windy=false; 1 way)
        """
        fixed = (fixed,) if isinstance(fixed, str) else tuple(fixed)
        return self.classifier_.flip(self._asked(row), to, fixed)  # type: ignore[no-any-return]

    def ask_next(self, row: object = None, costs: Mapping[str, float] | None = None) -> ColumnQuestions:
        """The unknown columns of one row, ranked by their expected information about the class, in bits.

        With `costs`, they are ranked by bits per cost; a column without a cost costs 1. Without a row, all columns are
        unknown.

        Parameters
        ----------
        row : the known values: a dict, a Series or a named tuple; None (default) for no values
        costs : dict from column to a positive number, or None (default)

        Returns
        -------
        ColumnQuestions, the best column first; it prints as a table and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"], "windy": [True, True, False, False]}
        >>> clf = bb.NaiveBayes().fit(rows, ["no", "no", "yes", "yes"])
        >>> clf.ask_next({"outlook": "sunny"}).best
        ColumnQuestion(column='windy', information=0.1887..., cost=1.0, values=('false', 'true'))
        """
        check_is_fitted(self)
        nothing = row is None or (isinstance(row, Mapping) and not row)
        batch = self.classifier_.one_row({}) if nothing else self._asked(row)
        return self.classifier_.ask_next(batch, costs)  # type: ignore[no-any-return]

    def importance(self, X: object = None, y: object = None) -> Importance:
        """Column importance: mutual information with the class, in bits; with rows, the loss without the column.

        The loss is the increase in mean log loss if the column is marginalised: naive Bayes drops its term,
        other models treat it as missing in every row. Use held-out rows.

        Parameters
        ----------
        X : held-out rows, or None (default)
        y : the class of each of these rows; required with X

        Returns
        -------
        Importance, the most informative column first; it prints as a table and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> rows = {"outlook": ["sunny", "rainy", "rainy", "sunny"], "windy": [True, True, False, False]}
        >>> clf = bb.NaiveBayes().fit(rows, ["no", "no", "yes", "yes"])
        >>> print(clf.importance())
        information of each column about class (entropy 1.0000 bits)
        <BLANKLINE>
          column     bits
          windy    0.1887  ####################
          outlook  0.0000
        """
        check_is_fitted(self)
        if X is None and y is None:
            return self.classifier_.importance()  # type: ignore[no-any-return]
        if X is None or y is None:
            raise BadOption("the loss without a column is measured on labelled rows: pass both X and y")
        batch = self._asked(X)
        labels = labels_from(y, batch.rows, self.classifier_.target_cuts)
        return self.classifier_.importance([LabelledRows(batch, labels)])  # type: ignore[no-any-return]

    def drift(self, X: Any) -> Drift:
        """Drift of new rows, or of the rows of another model, from the training rows, by column.

        X is rows, the name of a file, or another estimator. Each column has a G-test, a population stability index
        (PSI), its unseen levels and its share of missing values. Rows are counted in batches and not stored.

        Parameters
        ----------
        X : rows, the name of a file, or another estimator

        Returns
        -------
        Drift, by column; it prints as a table and has `.to_frame()`

        Examples
        --------
        >>> import bayesbox as bb
        >>> clf = bb.NaiveBayes().fit({"car": ["suv", "van"] * 50}, ["a", "a", "b", "b"] * 25)
        >>> clf.drift({"car": ["suv"] * 80 + ["van"] * 20})
        Drift(100 rows against 100; drifted: car)
        """
        check_is_fitted(self)
        if isinstance(X, AsksQuestions):
            check_is_fitted(X)
            return self.classifier_.drift_to(X.classifier_)  # type: ignore[no-any-return]
        return self.classifier_.drift(self._batches(X))  # type: ignore[no-any-return]

    def _batches(self, X: object) -> Iterator[Batch]:
        if isinstance(X, (str, PathLike)) and not isinstance(X, bytes):
            yield from self.classifier_.open_unlabelled([str(X)]).source.batches()
        elif is_dask_frame(X):
            yield from (self._learned(part) for part in partitions_of(X) if len(part))
        else:
            yield self._learned(X)
