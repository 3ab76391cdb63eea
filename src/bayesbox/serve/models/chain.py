"""A served hidden Markov model: it decodes and forecasts sequences."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from typing import Any

from bayesbox.errors import BadData
from bayesbox.schema.levels import is_missing, level_text
from bayesbox.sequence.forecast import Forecast, LevelForecast
from bayesbox.sequence.hmm import HiddenMarkovModel
from bayesbox.serve.models.base import Action, Body, Json, ModelAnswer, Row, Scalar, ServiceModel, json_of
from bayesbox.serve.models.rows import MOST_NOTES, BadRowOf, read_row
from bayesbox.serve.models.schemas import NUMBER, TEXT, listed, record

MOST_STEPS_AHEAD = 1000


class SequenceBody(Body):
    """Sequences, each a list of steps: values, or objects of columns and values; null is a step without a value."""

    sequences: list[list[Row | Scalar]]
    proba: bool = True
    forecast: int = 0

    def rows_asked(self) -> int:
        """The number of steps."""
        return max(sum(map(len, self.sequences)), len(self.sequences))


class ServedChain(ServiceModel):
    """A hidden Markov model from a file."""

    kind = "hidden Markov model"

    def __init__(self, name: str, chain: HiddenMarkovModel, digest: str) -> None:
        super().__init__(name)
        self.chain = chain
        self._digest = digest
        self.columns = {each.columns[0]: each.level_table() for each in chain.model_.conditionals}
        self.states: list[str] = [str(state) for state in chain.model_.states]

    @property
    def digest(self) -> str:
        return self._digest

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        def slow(body: Any) -> bool:  # noqa: ARG001
            return False

        summary = "Decode sequences and forecast the next steps"
        action = Action(SequenceBody, self.predict, slow, self._body_schema, self._answer_schema, summary)
        return {"predict": action}

    def summary(self) -> Json:
        return {
            "name": self.name,
            "kind": "hidden-markov-model",
            "digest": self._digest,
            "rows": 0,
            "classes": self.states,
            "columns": list(self.columns),
        }

    def predict(self, body: SequenceBody) -> ModelAnswer:
        """The path, P(state) of each step, the log-likelihood, and the forecast of P(state) and P(value)."""
        if not 0 <= body.forecast <= MOST_STEPS_AHEAD:
            what = f"forecast must be from 0 to {MOST_STEPS_AHEAD}, got {body.forecast}"
            raise BadRowOf(BadData(what), None, field="forecast")
        answers = []
        for place, steps in enumerate(body.sequences):
            with read_row(place):
                answers.append(self._decoded(steps, body))
        found: Json = {"digest": self._digest, "answers": answers}
        if notes := self._notes(body.sequences):
            found["notes"] = notes
        return ModelAnswer(json_of(found), self._digest, len(answers))

    def _notes(self, sequences: Sequence[Sequence[Row | Scalar]]) -> list[str]:
        """The unseen levels of the sequences."""
        tables = {name: table.levels for name, table in self.columns.items() if table is not None}
        notes = []
        for row, steps in enumerate(sequences):
            for name, values in self._columns_of(steps).items():
                for step, value in enumerate(values):
                    if name in tables and not is_missing(value) and level_text(value) not in tables[name]:
                        level = level_text(value)[:80]
                        notes.append(f"row {row}, step {step}: `{name}` has the unseen level {level!r}")
            if len(notes) >= MOST_NOTES:
                break
        return notes[:MOST_NOTES]
        return notes

    def _decoded(self, steps: Sequence[Row | Scalar], body: SequenceBody) -> Json:
        found: Json = {"path": [], "log_likelihood": 0.0}
        sequence = self._columns_of(steps)
        if steps:
            score = float(self.chain.score(sequence))
            if math.isinf(score):
                raise BadData("this sequence is impossible under the model")
            found = {"path": [str(state) for state in self.chain.predict(sequence)], "log_likelihood": score}
            if body.proba:
                found["proba"] = [
                    dict(zip(self.states, row, strict=True)) for row in self.chain.predict_proba(sequence).tolist()
                ]
        if body.forecast:
            found["forecast"] = self._forecast(self.chain.forecast(sequence if steps else None, body.forecast))
        return found

    def _forecast(self, forecast: Forecast) -> list[Json]:
        states = forecast.states.tolist()
        found = []
        for step, shares in enumerate(states):
            columns: Json = {}
            for name, seen in forecast.columns.items():
                if isinstance(seen, LevelForecast):
                    columns[name] = dict(zip(seen.levels, seen.probabilities[step].tolist(), strict=True))
                else:
                    columns[name] = {"mean": float(seen.mean[step]), "std": float(seen.std[step])}
            found.append({"states": dict(zip(self.states, shares, strict=True)), "columns": columns})
        return found

    def _columns_of(self, steps: Sequence[Row | Scalar]) -> dict[str, list[Any]]:
        """The steps by column."""
        names = list(self.columns)
        rows: list[Row] = []
        for step in steps:
            if not isinstance(step, dict) and len(names) > 1 and step is not None:
                raise BadData(f"a step must be an object with {', '.join(names)}", found=step)
            rows.append(step if isinstance(step, dict) else {} if step is None else {names[0]: step})
        for row in rows:
            for name in row:
                if name not in self.columns:
                    raise BadData(f"no column `{name}`", column=name, remedy=f"The columns are {', '.join(names)}")
        return {name: [self._value(name, row.get(name)) for row in rows] for name in names}

    def _value(self, name: str, value: Scalar) -> Scalar:
        if value is None or self.columns[name] is not None:
            return value
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise BadData(f"`{name}` must be a number", column=name, found=value)
        return number

    # -- the Open Inference Protocol: one sequence, one row per step ---------------------------------------------------

    def tensors(self) -> tuple[list[Json], list[Json]]:
        inputs = [
            {
                "name": name,
                "datatype": "FP64" if table is None else "BYTES",
                "shape": [-1],
                "parameters": {"optional": True, "null": "missing", "rows": "the steps of one sequence"},
            }
            for name, table in self.columns.items()
        ]
        states = {"states": self.states}
        outputs: list[Json] = [
            {"name": "state", "datatype": "BYTES", "shape": [-1]},
            {"name": "probability", "datatype": "FP64", "shape": [-1, len(self.states)], "parameters": states},
        ]
        return inputs, outputs

    def input_names(self) -> Container[str]:
        return self.columns

    def infer(self, inputs: Mapping[str, list[Any]], rows: int) -> tuple[str, list[Json], Sequence[Any]]:
        steps: list[Row | Scalar] = [
            {name: values[place] for name, values in inputs.items() if values[place] is not None}
            for place in range(rows)
        ]
        with read_row():
            found = self._decoded(steps, SequenceBody([steps]))
        shares = [share for row in found.get("proba", []) for share in row.values()]
        outputs: list[Json] = [
            {"name": "state", "datatype": "BYTES", "shape": [rows], "data": found["path"]},
            {
                "name": "probability",
                "datatype": "FP64",
                "shape": [rows, len(self.states)],
                "parameters": {"states": self.states},
                "data": shares,
            },
        ]
        return self._digest, outputs, ()

    # -- shapes ----------------------------------------------------------------------------------------------------

    def _body_schema(self) -> Json:
        kinds = {
            name: ["number", "null"] if table is None else ["string", "number", "boolean", "null"]
            for name, table in self.columns.items()
        }
        step: Json = record({name: {"type": kind} for name, kind in kinds.items()}, closed=True)
        if len(kinds) == 1:
            step = {"oneOf": [step, {"type": next(iter(kinds.values()))}]}
        asked = {
            "sequences": listed(listed(step)),
            "proba": {"type": "boolean", "default": True},
            "forecast": {"type": "integer", "minimum": 0, "maximum": MOST_STEPS_AHEAD, "default": 0},
        }
        return record(asked, ["sequences"], closed=True)

    def _answer_schema(self) -> Json:
        shares = record(dict.fromkeys(self.states, NUMBER))
        ahead = record({"states": shares, "columns": {"type": "object"}})
        answer = {"path": listed(TEXT), "log_likelihood": NUMBER, "proba": listed(shares), "forecast": listed(ahead)}
        written = {"digest": TEXT, "answers": listed(record(answer, ["path"])), "notes": listed(TEXT)}
        return record(written, ["digest", "answers"])
