"""A served classifier, of tables or of documents."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import msgspec
import numpy as np

from bayesbox.classifier.base import AnyClassifier
from bayesbox.classifier.one_row.answers import RowAnswers
from bayesbox.classifier.table import TableClassifier
from bayesbox.errors import BadData, BayesboxError
from bayesbox.explain.evidence import lead
from bayesbox.schema.levels import level_text
from bayesbox.serve.models.base import Action, Body, Json, ModelAnswer, Row, ServiceModel, json_of
from bayesbox.serve.models.direct import DirectAnswers
from bayesbox.serve.models.drift import RequestTally
from bayesbox.serve.models.rows import BadRowOf, as_rows, notes_of, read_row, rows_of_columns
from bayesbox.serve.models.schemas import ClassifierSchemas
from bayesbox.serve.store.base import Event, ModelState
from bayesbox.source.frames import batch_of

MOST_EXPLAINED = 100  # columns of one answer
INLINE_ROWS = 2000  # predicted by the core in about a millisecond


class PredictBody(Body):
    """Rows to classify."""

    rows: list[Row | str]
    proba: bool = True
    explain: int = 0

    def rows_asked(self) -> int:
        """The number of rows."""
        return len(self.rows)


class RowBody(Body):
    """One row."""

    row: Row | str
    against: str | None = None


class AskBody(Body):
    """One row with unknown columns, and the costs of asking."""

    row: Row
    costs: dict[str, float] | None = None


class ChangeBody(Body):
    """One row, and other values of some columns."""

    row: Row
    changes: Row


class EventBody(msgspec.Struct, forbid_unknown_fields=True):
    """A row with its label, under the id that the client chose."""

    id: str
    row: Row | str
    label: str | int | float | bool
    weight: float = 1.0


class LearnBody(Body):
    """Events to learn."""

    events: list[EventBody]

    def rows_asked(self) -> int:
        """The number of events."""
        return len(self.events)


class KeyBody(msgspec.Struct, forbid_unknown_fields=True):
    """A column and a value, for all events whose row has it."""

    column: str
    value: str | int | float | bool


class ForgetBody(Body):
    """Events to forget: by their ids, or all of a person by a key."""

    ids: list[str] = msgspec.field(default_factory=list)
    key: KeyBody | None = None

    def rows_asked(self) -> int:
        """The number of ids."""
        return len(self.ids)


class ServedClassifier(ServiceModel):
    """A classifier in a store, which learns and forgets while it is served."""

    kind = "classifier"

    def __init__(self, name: str, current: Callable[[], ModelState], *, reads_only: str | None = None) -> None:
        super().__init__(name)
        self.current = current
        self.reads_only = reads_only  # why it neither learns nor forgets, if so
        self.tally = RequestTally(lambda: current().classifier)
        self.base_changed = False
        self._direct: DirectAnswers | None = None

    @property
    def digest(self) -> str:
        return self.current().digest

    @cached_property
    def is_table(self) -> bool:
        """Whether its rows have columns; otherwise they are documents."""
        return isinstance(self.current().classifier, TableClassifier)

    @property
    def schemas(self) -> ClassifierSchemas:
        """The current JSON schemas of its rows and answers."""
        return ClassifierSchemas(self.name, self.current().classifier)

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        def slow(body: Any) -> bool:  # noqa: ARG001
            return False

        def schema(name: str) -> Callable[[], Json]:
            return lambda: getattr(self.schemas, name)()

        found = {
            "predict": Action(
                PredictBody,
                self.predict,
                self._is_quick,
                schema("predict"),
                schema("predictions"),
                "The most probable class of each row",
                self.predict_directly if self.is_table else None,
            ),
            "explain": Action(
                RowBody, self.explain, slow, schema("one_row"), schema("explanation"), "Why one row gets its class"
            ),
        }
        if self.is_table:
            found["ask"] = Action(
                AskBody, self.ask, slow, schema("ask"), schema("questions"), "What to ask next about one row"
            )
            found["what-if"] = Action(
                ChangeBody, self.what_if, slow, schema("change"), schema("changed"), "One row with other values"
            )
        return found

    def summary(self) -> Json:
        state = self.current()
        return {
            "name": self.name,
            "kind": state.classifier.kind,
            "digest": state.digest,
            "rows": state.rows,
            "classes": list(state.classifier.row_answers().labels),
            "target": state.classifier.target,
            "sequence": state.sequence,
            "base_changed": self.base_changed,
            "stale": list(state.stale),
        }

    # -- answers -------------------------------------------------------------------------------------------------

    def _is_quick(self, body: PredictBody) -> bool:
        answers = self.current().classifier.row_answers()
        return answers.is_plain and not body.explain and len(body.rows) <= INLINE_ROWS

    def predict_directly(self, body: bytes, most: int) -> ModelAnswer | None:
        """The same in the core, if possible: from the JSON of the body to that of the answer."""
        state, direct = self.current(), self._direct
        if direct is None or direct.state is not state:
            direct = self._direct = DirectAnswers(state)
        answer = direct.answer(body, min(most, INLINE_ROWS))
        if answer is not None:
            self.tally.observe_body(body, answer.rows)
        return answer

    def predict(self, body: PredictBody) -> ModelAnswer:
        """The class of each row, its probabilities, and the strongest evidence for it."""
        state = self.current()
        answers = state.classifier.row_answers()
        rows = cast("list[Row]", body.rows)
        dicts = cast("list[Mapping[str, Any]]", rows)
        notes: list[str] = []
        table = answers.of_rows(dicts) if _are_dicts(rows) else None  # None also if there are notes
        if table is None:
            rows = as_rows(state.classifier, rows)
            notes = notes_of(state.classifier, rows)
            table = plain_probabilities(answers, rows)
        if table is None:
            table = probabilities(state.classifier, answers, rows)
        if not 0 <= body.explain <= MOST_EXPLAINED:
            raise BadRowOf(
                BadData(f"explain must be from 0 to {MOST_EXPLAINED}, got {body.explain}"), None, field="explain"
            )
        best = table.argmax(axis=1).tolist()
        labels = answers.labels
        classes = [labels[place] for place in best]
        if body.proba:
            texts = _texts(answers)
            found: list[Json] = [
                {"class": label, "proba": dict(zip(texts, shares, strict=True))}
                for label, shares in zip(classes, table.tolist(), strict=True)
            ]
        else:
            found = [{"class": label} for label in classes]
        if body.explain and rows:
            for each, why in zip(found, self._explained(state.classifier, rows, table, body.explain), strict=True):
                each["explanation"] = why
        written: Json = {"digest": state.digest, "answers": found}
        if notes:
            written["notes"] = notes
        encoded = json_of(written) if body.explain else msgspec.json.encode(written)
        self.tally.observe(rows)
        return ModelAnswer(encoded, state.digest, len(rows), classes)

    def _explained(self, classifier: AnyClassifier, rows: list[Row], table: Any, number: int) -> list[list[Json]]:
        """The strongest evidence of each row for its class against the runner-up."""
        if table.shape[1] < 2:
            return [[] for _ in rows]
        if not self.is_table:
            cases = [classifier.case(document_batch(classifier, row)).as_dict() for row in rows]
            return [[_without(word, "counts") for word in case["words"][:number]] for case in cases]
        places = np.argsort(-table, axis=1, kind="stable")
        explanation = cast("Any", self._terms(classifier, rows))
        found = []
        for row, (best, other), terms in zip(rows, places[:, :2].tolist(), explanation.terms, strict=True):
            moved = lead(terms[best], terms[other])
            order = np.argsort(-np.abs(moved), kind="stable")[:number]
            found.append(
                [
                    {
                        "column": explanation.columns[place],
                        "value": row.get(explanation.columns[place]),
                        "log_odds": float(moved[place]),
                    }
                    for place in order.tolist()
                    if moved[place]
                ]
            )
        return found

    @staticmethod
    def _terms(classifier: AnyClassifier, rows: list[Row]) -> Any:
        """The contributions of the columns, for all rows at once, or row by row if one is empty or types are mixed."""
        try:
            if all(rows):
                return classifier.explain(batch_of(rows))
        except BayesboxError:
            pass
        found: list[Any] = [classifier.explain(classifier.batch_of_row(row)) for row in rows]
        return replace(found[0], terms=np.concatenate([each.terms for each in found]))

    def explain(self, body: RowBody) -> ModelAnswer:
        """The explanation of the class of one row."""
        state = self.current()
        row = as_rows(state.classifier, [body.row])[0]
        with read_row():
            batch = self._batch(state.classifier, row)
            case = state.classifier.case(batch, against=body.against)
            found = {"digest": state.digest, "class": self._label(state.classifier, case.prediction), **case.as_dict()}
            found["notes"] = case.notes(state.classifier)
        return ModelAnswer(json_of(found), state.digest, 1)

    def ask(self, body: AskBody) -> ModelAnswer:
        """The most informative columns to ask next."""
        state = self.current()
        row = as_rows(state.classifier, [body.row])[0]
        with read_row():
            found = state.classifier.ask_next(self._batch(state.classifier, row), body.costs)
        return ModelAnswer(json_of({"digest": state.digest, **found.to_dict()}), state.digest, 1)

    def what_if(self, body: ChangeBody) -> ModelAnswer:
        """The predictions of one row as it is, and with other values."""
        state = self.current()
        row = as_rows(state.classifier, [body.row])[0]
        with read_row():
            found = state.classifier.what_if(self._batch(state.classifier, row), body.changes)
        return ModelAnswer(json_of({"digest": state.digest, **found.to_dict()}), state.digest, 1)

    def _batch(self, classifier: AnyClassifier, row: Row) -> Any:
        if not self.is_table:
            return document_batch(classifier, row)
        return classifier.batch_of_row(row)

    def _label(self, classifier: AnyClassifier, text: str) -> Any:
        place = classifier.model.classes.index(text)
        return classifier.row_answers().labels[place]

    # -- the Open Inference Protocol -----------------------------------------------------------------------------

    def tensors(self) -> tuple[list[Json], list[Json]]:
        return self.schemas.inputs(), self.schemas.outputs()

    def input_names(self) -> Container[str]:
        return self.current().classifier.row_answers().features

    @property
    def infers_quickly(self) -> bool:
        return self.current().classifier.row_answers().is_plain

    def infer(self, inputs: Mapping[str, list[Any]], rows: int) -> tuple[str, list[Json], Sequence[Any]]:
        state = self.current()
        classifier = state.classifier
        answers = classifier.row_answers()
        table = answers.of_columns(inputs, rows)
        if table is None:
            table = probabilities(classifier, answers, as_rows(classifier, rows_of_columns(inputs)))
        best = table.argmax(axis=1).tolist()
        labels = answers.labels
        classes = [labels[place] for place in best]
        outputs: list[Json] = [
            {"name": "class", "datatype": self.schemas_datatype(answers), "shape": [rows], "data": classes},
            {
                "name": "probability",
                "datatype": "FP64",
                "shape": [rows, len(labels)],
                "parameters": {"classes": _texts(answers)},
                "data": table.ravel().tolist(),
            },
        ]
        self.tally.observe_columns(inputs, rows)
        return state.digest, outputs, classes

    @staticmethod
    def schemas_datatype(answers: RowAnswers) -> str:
        """The datatype of the labels."""
        return label_datatype(answers.labels)

    # -- learning ------------------------------------------------------------------------------------------------

    def events_of(self, body: LearnBody) -> list[Event]:
        """The events of a request, each row checked against the schema; an error names the row."""
        classifier = self.current().classifier
        rows = as_rows(classifier, [event.row for event in body.events], field="events", learning=True)
        return [Event(event.id, row, event.label, event.weight) for event, row in zip(body.events, rows, strict=True)]

    def new_classes(self, events: Sequence[Event]) -> set[str]:
        """The classes of events that are new to the model."""
        classifier = self.current().classifier
        if classifier.target_cuts is not None:
            return set()
        return {level_text(event.label) for event in events}.difference(classifier.classes)


def label_datatype(labels: Sequence[Any]) -> str:
    """The datatype of the labels in the Open Inference Protocol."""
    kinds = {type(label) for label in labels}
    return {bool: "BOOL", int: "INT64", float: "FP64"}.get(kinds.pop(), "BYTES") if len(kinds) == 1 else "BYTES"


def plain_probabilities(answers: RowAnswers, rows: list[Any]) -> Any:
    """P(class | row) if the core can predict all of the rows; else None."""
    return answers.core.proba_many(rows, False) if answers.is_plain and answers.core is not None else None


def probabilities(classifier: AnyClassifier, answers: RowAnswers, rows: list[Row]) -> Any:
    """P(class | row), rows x classes; an error names the row."""
    if not rows:
        return np.empty((0, len(answers.labels)))
    try:
        if not isinstance(classifier, TableClassifier):
            return classifier.posterior(document_batch(classifier, *rows))
        if len(rows) > 1 and all(rows):
            return classifier.posterior(batch_of(rows))
        return np.array([answers.proba(row) for row in rows])
    except BayesboxError:
        for place, row in enumerate(rows):
            with read_row(place):
                if isinstance(classifier, TableClassifier):
                    answers.proba(row)
                else:
                    classifier.posterior(document_batch(classifier, row))
        # row by row, if a column mixes texts and numbers
        return np.array([answers.proba(row) for row in rows])


def document_batch(classifier: AnyClassifier, *rows: Row) -> Any:
    """Documents as a batch."""
    return batch_of([{name: row[name] for name in classifier.feature_names} for row in rows])


def _are_dicts(rows: Sequence[object]) -> bool:
    return all(type(row) is dict for row in rows)


def _texts(answers: RowAnswers) -> list[str]:
    return [level_text(label) for label in answers.labels]


def _without(found: Mapping[str, Any], name: str) -> Json:
    return {key: value for key, value in found.items() if key != name}
