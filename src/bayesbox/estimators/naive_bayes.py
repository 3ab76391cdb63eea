"""`NaiveBayes`, a scikit-learn estimator over the naive Bayes classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from bayesbox.bridge.naive_network import network_of
from bayesbox.classifier.rows import LabelledRows
from bayesbox.estimators.base import TableEstimator
from bayesbox.estimators.inputs import batch_from, labels_from, one_row
from bayesbox.explain.nomogram import Nomogram
from bayesbox.network.network import BayesianNetwork
from bayesbox.rule.naive import Rules
from bayesbox.rule.smoothing import as_smoothing
from bayesbox.table.dependence import Dependence, dependence
from bayesbox.table.naive.classifier import NaiveClassifier
from bayesbox.table.naive.densities import losses, picture
from bayesbox.table.naive.export import onnx_of, pmml_of, sql_of
from bayesbox.table.naive.from_tables import classifier_from_tables
from bayesbox.table.naive.linear import LinearWeights, linear_weights
from bayesbox.table.naive.nomogram import nomogram


class NaiveBayes(TableEstimator):
    """Naive Bayes for tables as they are: categories, flags, numbers and counts side by side, missing values left out.

    Parameters
    ----------
    smoothing : rule or its name
        How counts become probabilities: "laplace", "mle", "lidstone:0.5", "m:2", or one of `bayesbox.rules`.
    prior_smoothing : rule, its name, or None
        The same for the class prior; None takes the shares as they are.
    prior : mapping of label to probability, or None
        The class prior, if it is to be given.
    numeric : "gaussian", "student", "kernel", "lognormal", "width:10", "frequency:10", "mdl", "modl" or "auto"
        The density of numbers, or the bins they are put into; "auto" chooses for each column. `Real("kernel")` in
        `columns` says it for one.
    missing : "ignore" or "level"
        Leave missing values out, or count them as a level of their own.
    unseen : "smooth", "ignore" or "error"
        What a level that was never seen gets: the rule's answer to a count of 0, nothing, or an error.
    columns : mapping of column name or position to kind
        What a column is, where its type does not say it: `Category([...])`, `Real(floor=0)`, "flag".
    fold : mapping of a new name to a list of columns
        Flags of which each row sets one, to be taken as one category.
    calibration : "temperature", "isotonic", "dirichlet", "auto" or None
        Learn to mend the probabilities, on answers to rows the model has not seen; "auto" takes the kind that does best
        on folds of them.
    select : "mi", "mi:10", "cfs", "forward", "backward" or None
        Take only the columns that tell of the class by more than chance, or the ten that tell most; that tell of the
        class and not of each other; or that lower the log loss of rows left out, added or taken away one at a time.
    column_weights : "learned" or None
        Raise the factor of each column to a power that is learned on the log loss of rows left out, so that columns
        that say the same share their weight.

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

    classifier_: NaiveClassifier

    def __init__(
        self,
        *,
        smoothing: Any = "laplace",
        prior_smoothing: Any = None,
        prior: Mapping[Any, float] | None = None,
        numeric: str = "gaussian",
        missing: str = "ignore",
        unseen: str = "smooth",
        columns: Mapping[Any, Any] | None = None,
        fold: Mapping[str, Sequence[str]] | None = None,
        calibration: str | None = None,
        select: str | None = None,
        column_weights: str | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior_smoothing = prior_smoothing
        self.prior = prior
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.columns = columns
        self.fold = fold
        self.calibration = calibration
        self.select = select
        self.column_weights = column_weights

    def _rules(self) -> Rules:
        return Rules(
            smoothing=as_smoothing(self.smoothing),
            prior_smoothing=None if self.prior_smoothing is None else as_smoothing(self.prior_smoothing),
            prior=self.prior,
            numeric=self.numeric,
            missing=self.missing,
            unseen=self.unseen,
            select=self.select,
            column_weights=self.column_weights,
        )

    def new_classifier(self) -> NaiveClassifier:
        """A classifier with this estimator's parameters that has learned nothing."""
        return NaiveClassifier(self._rules(), self.columns, self.fold)

    @classmethod
    def of_classifier(cls, classifier: NaiveClassifier) -> Self:
        """The estimator that would have made this classifier, and holds it."""
        rules = classifier.rules
        estimator = cls(
            smoothing=rules.smoothing,
            prior_smoothing=rules.prior_smoothing,
            prior=rules.prior,
            numeric=rules.numeric,
            missing=rules.missing,
            unseen=rules.unseen,
            columns=classifier.declared,
            fold=classifier.fold or None,
            select=rules.select,
            column_weights=rules.column_weights,
        )
        return estimator.adopt(classifier)

    @property
    def column_weights_(self) -> dict[str, float]:
        """The weight of each column: the power its factor is raised to, 0 where it takes no part."""
        self._require_fitted()
        model = self.classifier_.model
        weights = dict.fromkeys(model.left_out, 0.0)
        for conditional in model.conditionals:
            weights |= dict.fromkeys(conditional.columns, model.weight_of(conditional))
        schema = self.classifier_.schema
        return {name: weights[name] for name in schema.used if name in weights} if schema else weights

    @property
    def selected_(self) -> tuple[str, ...]:
        """The columns that take part."""
        return tuple(name for name, weight in self.column_weights_.items() if weight)

    def dependence(self, X: Any, y: Any) -> Dependence | None:
        """The columns that depend most on each other given the class, the harm that does, and what does better.

        None where it does no harm. `str()` of it is what `bayes train` prints. A sample of the rows is looked at.

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
        classifier = self.blank_classifier() if not hasattr(self, "classifier_") else self.classifier_
        return dependence([LabelledRows(batch, labels_from(y, batch.rows))], classifier)

    def linear_weights(self, positive: Any = None) -> LinearWeights:
        """(w, a) such that the second class (or `positive`) is predicted where w.x + a > 0."""
        check_is_fitted(self)
        return linear_weights(self.classifier_, positive)

    def density_svg(self, column: Any, densities: Sequence[str] | None = None) -> str:
        """The density of a column of numbers in each class, drawn as SVG.

        With names of densities, each in a panel of its own: `clf.density_svg("age", ["gaussian", "kernel", "mdl"])`.
        """
        check_is_fitted(self)
        return picture(self.classifier_, str(column), densities)

    def density_losses(self, column: Any) -> dict[str, float]:
        """The class log loss, in nats a row, of each density that `numeric="auto"` tries for a column, least first."""
        check_is_fitted(self)
        found = losses(self.classifier_, str(column)).losses
        return dict(sorted(found.items(), key=lambda each: each[1]))

    def nomogram(self, label: Any = None, against: Any = None, *, row: Any = None, top: int = 10) -> Nomogram:
        """A ruler for each column, on which every value stands at what it adds to the log-odds of two classes.

        `label` is the second class unless it is given, `against` the most probable of the others. `row` (a dict, or X
        of one row) is marked on the rulers. `top` columns are drawn, the most telling first. A notebook shows the
        picture, whose text is `svg()`; `print` writes it in characters.
        """
        check_is_fitted(self)
        batch = None if row is None else self._asked(one_row(row))
        return nomogram(self.classifier_, label, against, batch, top)

    def to_network(self, target: str | None = None) -> BayesianNetwork:
        """The same model as a Bayesian network: the class is the only parent of every column."""
        check_is_fitted(self)
        return network_of(self.classifier_, target)

    def to_sql(self, dialect: str = "duckdb", *, table: str = "data", keep: Sequence[str] = ()) -> str:
        """The model as one SQL statement: the columns to keep, `prediction`, and `P(class)` for each class.

        `dialect` is duckdb, postgres, sqlite or spark. The table has the model's columns under their names; missing
        values are NULL. The answers are those of `predict_proba`.

        >>> import duckdb
        >>> clf = NaiveBayes().fit({"car": ["sports", "suv", "suv"]}, ["H", "L", "H"])
        >>> with duckdb.connect() as connection:
        ...     _ = connection.execute("create table cars as select 7 as id, 'suv' as car")
        ...     connection.execute(clf.to_sql("duckdb", table="cars", keep=["id"])).fetchall()
        [(7, 'H', 0.6..., 0.4...)]
        """
        check_is_fitted(self)
        return sql_of(self.classifier_, dialect, table=table, keep=keep)

    def to_pmml(self, target: str | None = None) -> str:
        """The model as a PMML 4.4 document (a NaiveBayesModel); `target` names the field of the class."""
        check_is_fitted(self)
        return pmml_of(self.classifier_, target=target)

    def to_onnx(self) -> bytes:
        """The model as an ONNX graph: an input for each column, rows x 1, outputs `label` and `probabilities`.

        A category is a text, "" where it is missing; all else a double, NaN where it is missing.
        """
        check_is_fitted(self)
        return onnx_of(self.classifier_)

    @classmethod
    def from_tables(
        cls, prior: Mapping[Any, float], tables: Mapping[str, Mapping[Any, Mapping[Any, float]]]
    ) -> NaiveBayes:
        """A model of given probabilities, without data: prior[class], tables[column][class][level].

        >>> clf = NaiveBayes.from_tables(prior={"young": 0.4, "old": 0.6}, tables={"Radio1": {
        ...     "young": {"like": 0.95, "dislike": 0.05}, "old": {"like": 0.03, "dislike": 0.97}}})
        >>> clf.predict([{"Radio1": "like"}])
        array(['young'], dtype='<U5')
        """
        classifier = classifier_from_tables(prior, tables)
        return cls(prior=dict(prior)).adopt(classifier)
