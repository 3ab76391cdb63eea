"""The JSON schemas of a classifier: of its rows, from its own schema, and of its answers."""

from __future__ import annotations

from typing import Any

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.table import TableClassifier
from bayesbox.schema.kind import Kind
from bayesbox.schema.levels import level_text
from bayesbox.serve.models.base import Json

MOST_LEVELS = 50  # listed as examples

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
LOG_ODDS: Json = {"type": ["number", "string"], "description": "Natural logarithm; infinite values are inf and -inf"}


def record(properties: Json, required: list[str] | None = None, *, closed: bool = False) -> Json:
    """An object with these properties."""
    found: Json = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    return {**found, "additionalProperties": False} if closed else found


def listed(items: Json) -> Json:
    """A list."""
    return {"type": "array", "items": items}


class ClassifierSchemas:
    """The current schemas of the queries and answers of a classifier."""

    def __init__(self, name: str, classifier: AnyClassifier) -> None:
        self.name = name
        self.classifier = classifier
        self.labels = classifier.row_answers().labels

    # -- rows ------------------------------------------------------------------------------------------------------

    def row(self) -> Json:
        """One row: a property per column; null or absent is missing."""
        if not isinstance(self.classifier, TableClassifier):
            name = self.classifier.feature_names[0]
            return {"oneOf": [TEXT, record({name: TEXT}, [name])], "description": "One document"}
        found = record({name: self._column(name) for name in self.classifier.feature_names})
        return {**found, "description": "A null or absent column is missing; unknown columns are ignored"}

    def _column(self, name: str) -> Json:
        kind = self._kind(name)
        if kind is None or not kind.is_used:
            return {"description": "not used"}
        about = f"{kind.name.lower()}; null is missing"
        if kind.is_flag:
            return {"type": ["boolean", "string", "number", "null"], "description": about}
        if kind.translates:
            return {"type": ["string", "null"], "description": about}
        if kind.is_text:
            return {"type": ["string", "null"], "description": about}
        if kind.has_levels:
            shown = list(self._levels(name))
            examples = {"examples": shown[:MOST_LEVELS]} if shown else {}
            return {"type": ["string", "number", "boolean", "null"], "description": about, **examples}
        if kind.is_number:
            return {"type": ["number", "null"], "description": about}
        return {"type": ["string", "number", "boolean", "null"], "description": about}

    def _kind(self, name: str) -> Kind | None:
        schema = self.classifier.schema
        return None if schema is None else schema.kinds.get(name)

    def _levels(self, name: str) -> tuple[str, ...]:
        tally = self.classifier.book.columns.get(name)
        return tuple(getattr(tally, "levels", ()))

    def label(self) -> Json:
        """One of the classes, in its own type; new ones may be learned."""
        kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
        found = sorted({kinds.get(type(label), "string") for label in self.labels})
        return {"type": found[0] if len(found) == 1 else found, "examples": list(self.labels)}

    def shares(self) -> Json:
        """A probability for each class."""
        return record({level_text(label): NUMBER for label in self.labels})

    # -- questions -------------------------------------------------------------------------------------------------

    def predict(self) -> Json:
        """The body of predict."""
        return record(
            {
                "rows": listed(self.row()),
                "proba": {"type": "boolean", "default": True},
                "explain": {"type": "integer", "minimum": 0, "maximum": 100, "default": 0},
            },
            ["rows"],
            closed=True,
        )

    def one_row(self) -> Json:
        """The body of explain."""
        return record({"row": self.row(), "against": {"type": ["string", "null"]}}, ["row"], closed=True)

    def ask(self) -> Json:
        """The body of ask."""
        costs = {"type": ["object", "null"], "additionalProperties": {"type": "number", "exclusiveMinimum": 0}}
        return record({"row": self.row(), "costs": costs}, ["row"], closed=True)

    def change(self) -> Json:
        """The body of what-if."""
        changes = self.row()
        used = {name: each for name, each in changes["properties"].items() if "type" in each}
        other = {**changes, "properties": used, "minProperties": 1, "additionalProperties": False}
        return record({"row": self.row(), "changes": other}, ["row", "changes"], closed=True)

    def learn(self) -> Json:
        """The body of learn."""
        weight = {"type": "number", "exclusiveMinimum": 0, "default": 1}
        event = {"id": {"type": "string", "minLength": 1}, "row": self.row(), "label": self.label(), "weight": weight}
        events = {"events": {**listed(record(event, ["id", "row", "label"], closed=True)), "minItems": 1}}
        return record(events, ["events"], closed=True)

    # -- answers ---------------------------------------------------------------------------------------------------

    def predictions(self) -> Json:
        """The answer of predict."""
        term = record({"column": TEXT, "word": TEXT, "value": {}, "log_odds": LOG_ODDS})
        answer = record({"class": self.label(), "proba": self.shares(), "explanation": listed(term)}, ["class"])
        return record({"digest": TEXT, "answers": listed(answer), "notes": listed(TEXT)}, ["digest", "answers"])

    def explanation(self) -> Json:
        """The answer of explain."""
        term = record({"name": TEXT, "word": TEXT, "value": {"type": ["string", "null"]}, "log_odds": LOG_ODDS})
        found = {"digest": TEXT, "class": self.label(), "posterior": self.shares(), "prior": self.shares()}
        odds = {"log_odds": LOG_ODDS, "prior_log_odds": LOG_ODDS, "columns": listed(term), "words": listed(term)}
        return record({**found, **odds, "notes": listed(TEXT)}, ["digest", "class", "posterior"])

    def questions(self) -> Json:
        """The answer of ask."""
        question = record({"column": TEXT, "information": NUMBER, "cost": NUMBER, "worth": NUMBER, "values": {}})
        found: Json = {"digest": TEXT, "target": TEXT, "posterior": self.shares(), "entropy": NUMBER}
        return record({**found, "questions": listed(question)}, ["digest", "questions"])

    def changed(self) -> Json:
        """The answer of what-if."""
        found: Json = {"digest": TEXT, "prediction": TEXT, "prediction_after": TEXT}
        shares = {"before": self.shares(), "after": self.shares()}
        return record({**found, **shares, "columns": listed({"type": "object"})}, ["digest", "before", "after"])

    # -- tensors ---------------------------------------------------------------------------------------------------

    def inputs(self) -> list[Json]:
        """A tensor for each column."""
        return [
            {"name": name, "datatype": self._datatype(name), "shape": [-1], "parameters": self._parameters(name)}
            for name in self.classifier.feature_names
        ]

    def _datatype(self, name: str) -> str:
        kind = self._kind(name)
        if kind is None or not kind.is_used or not kind.is_known:
            return "BYTES"
        if kind.is_flag:
            return "BOOL"
        return "FP64" if kind.is_number and not kind.translates else "BYTES"

    def _parameters(self, name: str) -> Json:
        kind = self._kind(name)
        return {"optional": True, "null": "missing", "kind": "text" if kind is None else kind.name.lower()}

    def outputs(self) -> list[Json]:
        """The class, and the probability of each class."""
        from bayesbox.serve.models.classifier import label_datatype

        classes: list[Any] = [level_text(label) for label in self.labels]
        return [
            {"name": "class", "datatype": label_datatype(self.labels), "shape": [-1]},
            {
                "name": "probability",
                "datatype": "FP64",
                "shape": [-1, len(classes)],
                "parameters": {"classes": classes},
            },
        ]
