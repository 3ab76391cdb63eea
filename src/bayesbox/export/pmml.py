"""A naive Bayes model in PMML 4.4, the exchange format of the Data Mining Group: a NaiveBayesModel that others score.

PMML knows counts where this package has probabilities: it divides the count of a value in a class by the sum of the
class's counts. So probabilities are written as counts, and one value that never occurs fills every class up to the same
sum, which then cancels. Where a missing or an unseen value says something, a derived field gives it a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import bayesbox
from bayesbox.dist.base import Doubles
from bayesbox.dist.bernoulli import Bernoulli
from bayesbox.dist.bins import Bins
from bayesbox.dist.gaussian import Gaussian
from bayesbox.dist.naive import NaiveModel
from bayesbox.dist.poisson import Poisson
from bayesbox.dist.table import Table
from bayesbox.errors import CannotExport

NAMESPACE = "http://www.dmg.org/PMML-4_4"
MISSING, UNSEEN, FILLER = "(missing)", "(unseen)", "(never)"


def to_pmml(model: NaiveModel, *, target: str | None = None, fold: Mapping[str, Sequence[str]] | None = None) -> str:
    """The model as the text of a PMML file. `target` is the name of the field that holds the class."""
    if fold:
        raise CannotExport(
            f"the folded group `{next(iter(fold))}` has no form in PMML", remedy="Fold the flags in the data"
        )
    target = target or "class"
    if target in model.columns:
        raise CannotExport(f"the class and a column are both called `{target}`", remedy="Name the target otherwise")
    return _Document(model, target).text()


class _Document:
    """The parts of the file, filled column by column."""

    def __init__(self, model: NaiveModel, target: str) -> None:
        self.model = model
        self.target = target
        self.root = ET.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
        header = ET.SubElement(self.root, "Header")
        ET.SubElement(header, "Application", {"name": "bayesbox", "version": bayesbox.__version__})
        self.dictionary = ET.SubElement(self.root, "DataDictionary")
        self.derived = ET.SubElement(self.root, "TransformationDictionary")
        body = ET.SubElement(self.root, "NaiveBayesModel", {"functionName": "classification", "threshold": "0"})
        self.mining = ET.SubElement(body, "MiningSchema")
        output = ET.SubElement(body, "Output")
        self.inputs = ET.SubElement(body, "BayesInputs")
        for conditional in model.conditionals:
            self._add(conditional)
        if not len(self.derived):
            self.root.remove(self.derived)
        self._finish(body, output)

    def text(self) -> str:
        ET.indent(self.root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(self.root, encoding="unicode") + "\n"

    def _add(self, conditional: Any) -> None:
        form = FORMS.get(type(conditional))
        if form is None:
            columns = ", ".join(f"`{name}`" for name in conditional.columns)
            raise CannotExport(
                f"the {type(conditional).__name__.lower()} distribution of {columns} has no form in PMML",
                remedy="Give the column another density, or leave it out",
            )
        form(self, conditional)

    def _finish(self, body: ET.Element, output: ET.Element) -> None:
        field = ET.SubElement(
            self.dictionary, "DataField", {"name": self.target, "optype": "categorical", "dataType": "string"}
        )
        for name in self.model.classes:
            ET.SubElement(field, "Value", {"value": name})
        ET.SubElement(self.mining, "MiningField", {"name": self.target, "usageType": "target"})
        prediction = {"name": "prediction", "optype": "categorical", "dataType": "string", "feature": "predictedValue"}
        ET.SubElement(output, "OutputField", prediction)
        for name in self.model.classes:
            posterior = {"name": f"P({name})", "optype": "continuous", "dataType": "double", "feature": "probability"}
            ET.SubElement(output, "OutputField", {**posterior, "value": name})
        result = ET.SubElement(body, "BayesOutput", {"fieldName": self.target})
        self._counts(result, np.exp(self.model.log_prior))

    def field(self, name: str, data_type: str, optype: str, values: Sequence[str] = ()) -> None:
        """A column of the data; a value outside of those listed counts as missing."""
        field = ET.SubElement(self.dictionary, "DataField", {"name": name, "optype": optype, "dataType": data_type})
        for value in values:
            ET.SubElement(field, "Value", {"value": value})
        treatment = {"invalidValueTreatment": "asMissing"} if values else {}
        ET.SubElement(self.mining, "MiningField", {"name": name, "usageType": "active", **treatment})

    def discrete(self, name: str, levels: Sequence[str], rows: Doubles) -> None:
        """The table of a discrete input: a row of probabilities for each level."""
        given = ET.SubElement(self.inputs, "BayesInput", {"fieldName": name})
        filler = _filler(rows)
        if filler.any():
            levels, rows = [*levels, FILLER], np.vstack([rows, filler])
        for level, row in zip(levels, rows, strict=True):
            self._counts(ET.SubElement(given, "PairCounts", {"value": level}), row)

    def statistics(self, name: str) -> list[ET.Element]:
        """A place for the distribution of a continuous input in each class."""
        given = ET.SubElement(ET.SubElement(self.inputs, "BayesInput", {"fieldName": name}), "TargetValueStats")
        return [ET.SubElement(given, "TargetValueStat", {"value": each}) for each in self.model.classes]

    def presence(self, name: str, log_observed: Doubles, log_missing: Doubles) -> None:
        """Where a missing number says something: a derived field that tells whether it is there."""
        if not (log_observed.any() or log_missing.any()):
            return
        derived = f"presence of {name}"
        field = ET.SubElement(
            self.derived, "DerivedField", {"name": derived, "optype": "categorical", "dataType": "string"}
        )
        choice = ET.SubElement(field, "Apply", {"function": "if"})
        ET.SubElement(ET.SubElement(choice, "Apply", {"function": "isMissing"}), "FieldRef", {"field": name})
        for text in (MISSING, "(observed)"):
            ET.SubElement(choice, "Constant", {"dataType": "string"}).text = text
        self.discrete(derived, [MISSING, "(observed)"], np.exp(np.vstack([log_missing, log_observed])))

    def in_bins(self, name: str, cuts: Sequence[float], missing: str | None) -> tuple[str, list[str]]:
        """A derived field that names the bin of a number, open below and closed above; the names of the bins."""
        derived = f"bin of {name}"
        field = ET.SubElement(
            self.derived, "DerivedField", {"name": derived, "optype": "categorical", "dataType": "string"}
        )
        given = {} if missing is None else {"mapMissingTo": missing}
        bins = ET.SubElement(field, "Discretize", {"field": name, "dataType": "string", **given})
        names = [str(index) for index in range(1, len(cuts) + 2)]
        for text, low, high in zip(names, [None, *cuts], [*cuts, None], strict=True):
            ends = {"closure": "openOpen" if high is None else "openClosed"}
            margins = {"leftMargin": low, "rightMargin": high}
            ends |= {margin: repr(float(cut)) for margin, cut in margins.items() if cut is not None}
            ET.SubElement(ET.SubElement(bins, "DiscretizeBin", {"binValue": text}), "Interval", ends)
        return derived, names

    def mapped(self, name: str, levels: Sequence[str], unseen: str | None, missing: str | None) -> str:
        """A derived field that gives unseen and missing values a name, where these say something."""
        derived = f"level of {name}"
        field = ET.SubElement(
            self.derived, "DerivedField", {"name": derived, "optype": "categorical", "dataType": "string"}
        )
        options = {"defaultValue": unseen, "mapMissingTo": missing}
        given = {option: value for option, value in options.items() if value is not None}
        values = ET.SubElement(field, "MapValues", {"outputColumn": "output", "dataType": "string", **given})
        ET.SubElement(values, "FieldColumnPair", {"field": name, "column": "input"})
        table = ET.SubElement(values, "InlineTable")
        for level in levels:
            row = ET.SubElement(table, "row")
            ET.SubElement(row, "input").text = level
            ET.SubElement(row, "output").text = level
        return derived

    def _counts(self, parent: ET.Element, counts: Doubles) -> None:
        listed = ET.SubElement(parent, "TargetValueCounts")
        for name, count in zip(self.model.classes, counts.tolist(), strict=True):
            ET.SubElement(listed, "TargetValueCount", {"value": name, "count": repr(count)})


def _levels(document: _Document, column: Table | Bernoulli) -> None:
    """A category or a flag, whose values are texts."""
    if column.unseen_is_error:
        raise CannotExport(
            f"column `{column.column}` refuses levels never seen, which PMML leaves to its readers",
            remedy="Train with unseen='smooth' or 'ignore'",
        )
    for text in column.levels:
        if text in (MISSING, UNSEEN, FILLER) or not _is_xml(text):
            raise CannotExport(
                f"column `{column.column}` has a level that PMML cannot hold",
                found=text,
                remedy="Put another text in its place and train again, or export to SQL or ONNX",
            )
    rows, names = [*np.exp(column.log_p)], [*column.levels]
    others = {UNSEEN: column.log_unseen, MISSING: column.log_missing}
    saying = {name: row for name, row in others.items() if (row != row[0]).any()}  # those that tell the classes apart
    if not saying and not _filler(np.vstack(rows)).any():
        document.field(column.column, "string", "categorical", column.levels)
        document.discrete(column.column, column.levels, np.vstack(rows))
        return
    document.field(column.column, "string", "categorical")
    for name, row in saying.items():
        names.append(name)
        rows.append(np.exp(row))
    unseen, missing = (name if name in saying else None for name in others)
    document.discrete(document.mapped(column.column, column.levels, unseen, missing), names, np.vstack(rows))


def _gaussian(document: _Document, normal: Gaussian) -> None:
    with np.errstate(all="ignore"):
        variance = normal.std**2
    if not (np.isfinite(variance) & (variance > 0)).all():
        raise CannotExport(
            f"column `{normal.column}` has a variance that PMML cannot hold",
            found=variance.tolist(),
            remedy="Give it a floor, or another scale",
        )
    document.field(normal.column, "double", "continuous")
    for place, mean, spread in zip(document.statistics(normal.column), normal.mean, variance, strict=True):
        ET.SubElement(place, "GaussianDistribution", {"mean": repr(float(mean)), "variance": repr(float(spread))})
    document.presence(normal.column, normal.log_observed, normal.log_missing)


def _poisson(document: _Document, counts: Poisson) -> None:
    document.field(counts.column, "double", "continuous")
    for place, rate in zip(document.statistics(counts.column), counts.rate, strict=True):
        ET.SubElement(place, "PoissonDistribution", {"mean": repr(float(rate))})
    document.presence(counts.column, counts.log_observed, counts.log_missing)


def _bins(document: _Document, bins: Bins) -> None:
    document.field(bins.column, "double", "continuous")
    rows, missing = [*np.exp(bins.log_bins + bins.log_observed)], None
    if (bins.log_missing != bins.log_missing[0]).any():
        missing = MISSING
        rows.append(np.exp(bins.log_missing))
    derived, names = document.in_bins(bins.column, bins.cuts.tolist(), missing)
    document.discrete(derived, names if missing is None else [*names, missing], np.vstack(rows))


def _filler(rows: Doubles) -> Doubles:
    """What each class lacks of the largest sum; nothing where the sums differ by rounding only."""
    sums = rows.sum(axis=0)
    lacking: Doubles = sums.max() - sums
    return np.where(lacking > 1e-12, lacking, 0.0)


def _is_xml(text: str) -> bool:
    """Whether XML can hold a text and give it back as it was."""
    return all(char == "\t" or char >= " " for char in text) and text == text.strip()


FORMS: dict[type, Callable[[_Document, Any], None]] = {
    Table: _levels,
    Bernoulli: _levels,
    Bins: _bins,
    Gaussian: _gaussian,
    Poisson: _poisson,
}
"""The conditional distributions that PMML can say, each with how."""
