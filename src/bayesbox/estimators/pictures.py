"""Interactive views: the widget of a fitted classifier, a lesson, and the HTML report."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from bayesbox.classifier.base import Classifier
from bayesbox.errors import BadOption
from bayesbox.estimators.method_docs import METHODS
from bayesbox.schema.parameters import describe_methods

if TYPE_CHECKING:
    from bayesbox.app.widgets import LessonWidget, RowWidget


@describe_methods(METHODS["HasWidget"])
class HasWidget:
    """An estimator with an interactive widget for notebooks."""

    def widget(self, row: Mapping[str, Any] | None = None, view: str = "what-if") -> RowWidget:
        """An interactive what-if widget, or a "nomogram", for a notebook: change values in it, or set `w.row = {...}`.

        `row` has the values known at the start. `w.row` and `w.posterior` are the current values. Needs
        `bayesbox[notebook]`.

        >>> import bayesbox as bb
        >>> w = bb.NaiveBayes().fit({"car": ["suv", "van", "suv"]}, ["L", "H", "L"]).widget({"car": "suv"})
        >>> round(w.posterior["L"], 3)
        0.818
        """
        from bayesbox.app.widgets import row_widget

        return row_widget(cast("Any", self).classifier_, row, view)


def lesson(prior: float = 0.01, hit: float = 0.9, alarm: float = 0.09, people: int = 1000) -> LessonWidget:
    """A lesson on Bayes' rule for a notebook: guess, then reveal a tree, a table and icons of natural frequencies.

    Of `people`, a share `prior` has a condition; a test is positive for a share `hit` of those, and for a share `alarm`
    of the others. Needs `bayesbox[notebook]`.

    Parameters
    ----------
    prior : float, default 0.01; the share of people who have the condition
    hit : float, default 0.9; the share of these who test positive
    alarm : float, default 0.09; the share of the others who test positive
    people : int, default 1000

    Returns
    -------
    LessonWidget, for a notebook

    Examples
    --------
    >>> lesson(prior=0.02).prior
    0.02
    """
    from bayesbox.app.widgets import lesson_widget

    return lesson_widget(prior, hit, alarm, people)


def report(
    model: object,
    data: object = None,
    path: str | PathLike[str] = "report.html",
    *,
    target: str | None = None,
    weight: str | None = None,
    rows: int = 0,
    suppress: int = 0,
) -> str:
    """Write a report on a fitted classifier or a network as one HTML file, which works offline.

    Parameters
    ----------
    model : a fitted estimator of tables, or a BayesianNetwork
        What-if, nomogram and network are interactive and compute the same probabilities as the library. For a model
        that the page cannot compute, such as AutoBayes, it shows precomputed results and says so.
    data : file, frame or other source of rows, or None
        Labelled rows to evaluate the model on.
    path : str
        The file to write.
    target, weight : str
        The columns of `data` with the classes and the weights; the target is by default that of the model.
    rows : int
        The number of rows of `data` to show and explain; 0 by default, since rows may be personal data.
    suppress : int
        Pool levels with fewer than this many rows in a class, also in the data of the interactive parts; a column for
        which pooling is not enough is not shown. 0 shows all.

    Returns
    -------
    str
        The path.

    Examples
    --------
    >>> import bayesbox as bb, pathlib, tempfile
    >>> clf = bb.NaiveBayes().fit({"car": ["suv", "van", "suv"]}, ["L", "H", "L"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = bb.report(clf, path=pathlib.Path(folder, "report.html"))
    ...     pathlib.Path(path).read_text()[:15]
    '<!doctype html>'
    """
    from bayesbox.app.report.make import report_of_model, write_report
    from bayesbox.network.network import BayesianNetwork

    found = model if isinstance(model, BayesianNetwork | Classifier) else getattr(model, "classifier_", None)
    if found is None:
        raise BadOption("a report needs a fitted classifier or a network", found=type(model).__name__)
    if isinstance(data, str) and data.lower().endswith((".html", ".htm")):
        raise BadOption(
            "data must be rows, not the report", found=data, remedy=f"Pass the file to write as path={data!r}"
        )
    write_report(report_of_model(found, data, target=target, weight=weight, rows=rows, suppress=suppress), path)
    return str(path)
