"""`NaiveBayes`, a scikit-learn estimator over the naive Bayes classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayesbox.bridge.naive_network import network_of
from bayesbox.classifier.rows import LabelledRows
from bayesbox.display.picture import Picture
from bayesbox.estimators.base import CalibratedEstimator
from bayesbox.estimators.inputs import batch_from, labels_from, one_row
from bayesbox.estimators.parameters import estimator
from bayesbox.explain.nomogram import Nomogram
from bayesbox.network.network import BayesianNetwork
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.dependence import Dependence, dependence
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.table.naive.densities import losses, picture
from bayesbox.table.naive.export import onnx_of, pmml_of, sql_of
from bayesbox.table.naive.from_tables import classifier_from_tables
from bayesbox.table.naive.linear import LinearWeights, linear_weights
from bayesbox.table.naive.nomogram import nomogram


@estimator
class NaiveBayes(CalibratedEstimator[NaiveClassifier], NaiveOptions):
    """Naive Bayes for mixed tables: categories, flags, numbers and counts; missing values are ignored.

    Examples
    --------
    >>> clf = NaiveBayes(columns={"car": "category"}).fit(
    ...     {"age": [25, 20, 25, 45, 20, 25], "car": ["sports", "vintage", "sports", "suv", "sports", "suv"]},
    ...     ["L", "H", "L", "H", "H", "H"])
    >>> clf.predict([{"age": 23, "car": "vintage"}])
    array(['H'], dtype='<U1')
    >>> clf.book_["age"].mean
    array([27.5, 25. ])
    """

    classifier_type = NaiveClassifier

    @property
    def column_weights_(self) -> dict[str, float]:
        """The weight of each column: the exponent of its factor, 0 if it is ignored."""
        self._require_fitted()
        model = self.classifier_.model
        weights = dict.fromkeys(model.ignored, 0.0)
        for conditional in model.conditionals:
            weights |= dict.fromkeys(conditional.columns, model.weight_of(conditional))
        schema = self.classifier_.schema
        return {name: weights[name] for name in schema.used if name in weights} if schema else weights

    @property
    def selected_(self) -> tuple[str, ...]:
        """The columns that the model uses."""
        return tuple(name for name, weight in self.column_weights_.items() if weight)

    def dependence(self, X: object, y: object) -> Dependence | None:
        """The columns that depend most on each other given the class, with the effect on the log loss and a remedy.

        Returns None if the dependence is harmless. `str()` gives the note that `bayes train` prints. The dependence is
        measured on a sample of the rows.

        Parameters
        ----------
        X : training rows, or similar rows
        y : the class of each row: a list, an array or a column

        Returns
        -------
        Dependence, or None if the dependence is harmless

        Examples
        --------
        >>> sign = [True, False, True, True, False, False, True, False] * 25
        >>> ill = [True, False, False, True, True, False, True, False] * 25
        >>> clf = NaiveBayes()
        >>> found = clf.dependence({"sign": sign, "copy": sign, "again": sign}, ill)
        >>> found.pairs[0]
        Pair(first='sign', second='copy', information=0.55..., share=0.99...)
        >>> found.naive.log_loss > found.without.log_loss > found.better.log_loss
        True
        """
        batch = batch_from(X)
        classifier = self._blank_classifier() if not hasattr(self, "classifier_") else self.classifier_
        return dependence([LabelledRows(batch, labels_from(y, batch.rows))], classifier)

    def linear_weights(self, positive: object = None) -> LinearWeights:
        """(w, a) such that the second class (or `positive`) is predicted where w.x + a > 0.

        Parameters
        ----------
        positive : one of two classes, or None (default) for the second

        Returns
        -------
        LinearWeights, the pair (w, a); `NotLinear` is raised if the decision is not linear
        """
        check_is_fitted(self)
        return linear_weights(self.classifier_, positive)

    def density_svg(self, column: object, densities: Sequence[str] | None = None) -> Picture:
        """The density of a numeric column in each class, as SVG.

        With names of densities, one panel per density: `clf.density_svg("age", ["gaussian", "kernel", "mdl"])`.

        Parameters
        ----------
        column : name or position of a numeric column
        densities : list of names such as "gaussian", or None (default) for the one in use

        Returns
        -------
        Picture, an SVG string that a notebook displays
        """
        check_is_fitted(self)
        return picture(self.classifier_, str(column), densities)

    def density_losses(self, column: object) -> dict[str, float]:
        """The class log loss, in nats per row, of each density that `numeric="auto"` tries for a column, best first.

        Parameters
        ----------
        column : name or position of a numeric column

        Returns
        -------
        dict from density to log loss, the best first
        """
        check_is_fitted(self)
        found = losses(self.classifier_, str(column)).losses
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def nomogram(self, label: object = None, against: object = None, *, row: object = None, top: int = 10) -> Nomogram:
        """A nomogram: one scale per column that shows what each value adds to the log-odds of two classes.

        `label` is the second class by default, `against` the most probable of the others. `row` (a dict, or X of one
        row) is marked on the scales. The `top` most informative columns are drawn. A notebook shows the picture,
        `svg()` returns it, and `print` draws it in characters.

        Parameters
        ----------
        label : a class, or None (default) for the second
        against : another class, or None (default) for the most probable of the others
        row : a row to mark: a dict, or X of one row; None (default) marks no row
        top : int, default 10; the number of columns drawn

        Returns
        -------
        Nomogram, with `.svg()`
        """
        check_is_fitted(self)
        batch = None if row is None else self._asked(one_row(row))
        return nomogram(self.classifier_, label, against, batch, top)

    def to_network(self, target: str | None = None) -> BayesianNetwork:
        """The same model as a Bayesian network: the class is the only parent of every column.

        Parameters
        ----------
        target : str or None (default); the name of the class, by default that of the target column, or class

        Returns
        -------
        BayesianNetwork
        """
        check_is_fitted(self)
        return network_of(self.classifier_, target)

    def to_sql(self, dialect: str = "duckdb", *, table: str = "data", keep: Sequence[str] = ()) -> str:
        """The model as one SQL SELECT statement that returns the kept columns, `prediction`, and `P(class)` for each
        class.

        `dialect` is duckdb, postgres, sqlite or spark. The table must have the model's columns under the same names;
        missing values are NULL. The probabilities equal those of `predict_proba`.

        Parameters
        ----------
        dialect : "duckdb" (default), "postgres", "sqlite" or "spark"
        table : str, default "data"; the table to read from
        keep : list of columns to copy; () by default

        Returns
        -------
        str, one SELECT statement

        Examples
        --------
        >>> import duckdb
        >>> clf = NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "H"])
        >>> with duckdb.connect() as connection:
        ...     _ = connection.execute("create table cars as select 7 as id, 'suv' as car")
        ...     connection.execute(clf.to_sql("duckdb", table="cars", keep=["id"])).fetchall()
        [(7, 'H', ..., 0.4...)]
        """
        check_is_fitted(self)
        return sql_of(self.classifier_, dialect, table=table, keep=keep)

    def to_pmml(self, target: str | None = None) -> str:
        """The model as a PMML 4.4 document (a NaiveBayesModel); `target` names the field of the class.

        Parameters
        ----------
        target : str or None (default); the name of the class, by default that of the target column, or class

        Returns
        -------
        str, an XML document
        """
        check_is_fitted(self)
        return pmml_of(self.classifier_, target=target)

    def to_onnx(self) -> bytes:
        """The model as an ONNX graph with one input per column (rows x 1) and the outputs `label` and `probabilities`.

        A category is a string, "" if it is missing; any other column is a double, NaN if it is missing.

        Returns
        -------
        bytes, the graph
        """
        check_is_fitted(self)
        return onnx_of(self.classifier_)

    @classmethod
    def from_tables(
        cls, prior: Mapping[Any, float], tables: Mapping[str, Mapping[Any, Mapping[Any, float]]]
    ) -> NaiveBayes:
        """A model made from given probabilities, without data: prior[class], tables[column][class][level].

        Parameters
        ----------
        prior : dict from class to probability
        tables : dict from column to class to level to probability

        Returns
        -------
        NaiveBayes without counts: it cannot be updated, forget rows or merge

        Examples
        --------
        >>> clf = NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables={"Radio1": {
        ...     "young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}}})
        >>> clf.predict([{"Radio1": "like"}])
        array(['young'], dtype='<U5')
        """
        classifier = classifier_from_tables(prior, tables)
        return cls(prior=dict(prior))._adopt(classifier)
