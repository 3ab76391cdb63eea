"""A naive Bayes model in PMML 4.4, the exchange format of the Data Mining Group, as a NaiveBayesModel.

PMML has counts instead of probabilities: it divides the count of a value in a class by the sum of the class's counts.
So probabilities are written as counts, and a value that never occurs fills up every class to the same sum, which then
cancels. If a missing or an unseen value is informative, a derived field gives it a name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from xml.etree import ElementTree as ET

import numpy as np

import bayesbox
from bayesbox.dist.base import Distribution, Doubles
from bayesbox.dist.expression import Lookup, PmmlDensity, ReadBin, ReadFlag, ReadLevel
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import CannotExport
from bayesbox.export.family import expression_of, refusal

NAMESPACE = "http://www.dmg.org/PMML-4_4"
MISSING, UNSEEN, FILLER = "(missing)", "(unseen)", "(never)"
OPTIONS = {"defaultValue": UNSEEN, "mapMissingTo": MISSING}  # the attributes that name these values


def to_pmml(model: NaiveModel, *, target: str | None = None, one_hot: Mapping[str, Sequence[str]] | None = None) -> str:
    """The model as PMML text. `target` is the name of the class field."""
    if one_hot:
        raise CannotExport(
            f"the one-hot group `{next(iter(one_hot))}` cannot be exported to PMML",
            remedy="Combine the flags into one column before training",
        )
    target = target or "class"
    if target in model.columns:
        raise CannotExport(f"the target and a column are both named `{target}`", remedy="Rename the target")
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

    def _add(self, distribution: Distribution) -> None:
        """Add a density that PMML supports, or a table; other trees cannot be exported."""
        density = distribution.pmml_density()
        if density is not None:
            self._continuous(density)
            return
        match expression_of(distribution, "PMML"):
            case Lookup(ReadBin(column, cuts)) as lookup:
                self._bins(column, cuts, lookup)
            case Lookup(ReadLevel(column, levels) | ReadFlag(column, levels)) as lookup:
                self._levels(column, levels, lookup)
            case _:
                raise refusal(distribution, "PMML")

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

    def _levels(self, column: str, levels: Sequence[str], lookup: Lookup) -> None:
        """Add a category or a flag, whose values are texts."""
        if lookup.unseen_is_error:
            raise CannotExport(
                f"column `{column}` refuses unseen levels, which PMML cannot express",
                remedy="Train with unseen='smooth' or 'ignore'",
            )
        for text in levels:
            if text in (MISSING, UNSEEN, FILLER) or not _is_xml(text):
                raise CannotExport(
                    f"column `{column}` has a level that PMML cannot represent",
                    found=text,
                    remedy="Replace it with another text and train again, or export to SQL or ONNX",
                )
        rows, saying = np.exp(lookup.rows), _saying(lookup)
        if not saying and not _filler(rows).any():
            self.field(column, "string", "categorical", levels)
            self.discrete(column, levels, rows)
            return
        self.field(column, "string", "categorical")
        self.discrete(self.mapped(column, levels, saying), [*levels, *saying], np.vstack([rows, *saying.values()]))

    def _bins(self, column: str, cuts: Sequence[float], lookup: Lookup) -> None:
        self.field(column, "double", "continuous")
        saying = _saying(lookup)
        derived, names = self.in_bins(column, cuts, MISSING if MISSING in saying else None)
        self.discrete(derived, [*names, *saying], np.vstack([np.exp(lookup.rows), *saying.values()]))

    def _continuous(self, density: PmmlDensity) -> None:
        self.field(density.column, "double", "continuous")
        for index, place in enumerate(self.statistics(density.column)):
            parameters = {name: repr(float(values[index])) for name, values in density.parameters.items()}
            ET.SubElement(place, density.name, parameters)
        self.presence(density.column, density.log_observed, density.log_missing)

    def field(self, name: str, data_type: str, optype: str, values: Sequence[str] = ()) -> None:
        """Add a data field; a value that is not listed counts as missing."""
        field = ET.SubElement(self.dictionary, "DataField", {"name": name, "optype": optype, "dataType": data_type})
        for value in values:
            ET.SubElement(field, "Value", {"value": value})
        treatment = {"invalidValueTreatment": "asMissing"} if values else {}
        ET.SubElement(self.mining, "MiningField", {"name": name, "usageType": "active", **treatment})

    def discrete(self, name: str, levels: Sequence[str], rows: Doubles) -> None:
        """The table of a discrete input: one row of probabilities per level."""
        given = ET.SubElement(self.inputs, "BayesInput", {"fieldName": name})
        filler = _filler(rows)
        if filler.any():
            levels, rows = [*levels, FILLER], np.vstack([rows, filler])
        for level, row in zip(levels, rows, strict=True):
            self._counts(ET.SubElement(given, "PairCounts", {"value": level}), row)

    def statistics(self, name: str) -> list[ET.Element]:
        """The element for the distribution of a continuous input in each class."""
        given = ET.SubElement(ET.SubElement(self.inputs, "BayesInput", {"fieldName": name}), "TargetValueStats")
        return [ET.SubElement(given, "TargetValueStat", {"value": each}) for each in self.model.classes]

    def presence(self, name: str, log_observed: Doubles, log_missing: Doubles) -> None:
        """If a missing number is informative: a derived field for whether it is present."""
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

    def mapped(self, name: str, levels: Sequence[str], saying: Collection[str]) -> str:
        """A derived field that names unseen and missing values, if they are informative."""
        derived = f"level of {name}"
        field = ET.SubElement(
            self.derived, "DerivedField", {"name": derived, "optype": "categorical", "dataType": "string"}
        )
        given = {option: text for option, text in OPTIONS.items() if text in saying}
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


def _saying(lookup: Lookup) -> dict[str, Doubles]:
    """The probabilities of unseen and missing values, if they differ between classes."""
    others = {UNSEEN: lookup.unseen, MISSING: lookup.missing}
    return {name: np.exp(row) for name, row in others.items() if row is not None and (row != row[0]).any()}


def _filler(rows: Doubles) -> Doubles:
    """The difference of each class from the largest sum; empty if the sums differ only by rounding."""
    sums = rows.sum(axis=0)
    lacking: Doubles = sums.max() - sums
    return np.where(lacking > 1e-12, lacking, 0.0)


def _is_xml(text: str) -> bool:
    """Whether a text survives a round trip through XML."""
    return all(char == "\t" or char >= " " for char in text) and text == text.strip()
