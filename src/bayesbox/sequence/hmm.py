"""The public `HiddenMarkovModel`: a chain of hidden states and observed steps."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bayesbox.classifier.one_writer import writing
from bayesbox.display.blocks import Block, TableBlock, TextBlock
from bayesbox.display.picture import Picture
from bayesbox.display.progress import Progress, Reporter
from bayesbox.display.result import Result
from bayesbox.dist.base import Doubles, LevelTable
from bayesbox.errors import BadData, BadOption, BayesboxError, CannotForget, CannotMerge
from bayesbox.file.lock import WAIT
from bayesbox.file.version import FromFile
from bayesbox.schema.encode import Encoded
from bayesbox.schema.options import options_of
from bayesbox.schema.parameters import HasParameters, describe_methods, options_from, parameters
from bayesbox.schema.schema import Schema
from bayesbox.sequence.answers import ChainAnswers
from bayesbox.sequence.baum_welch import LearnedChain, Task, baum_welch
from bayesbox.sequence.counts import ChainBook, count_states
from bayesbox.sequence.labels import read_steps, require_number, state_names, state_positions
from bayesbox.sequence.method_docs import METHODS
from bayesbox.sequence.model import ChainModel, ChainRules, chain_model
from bayesbox.sequence.options import ChainOptions
from bayesbox.sequence.states import StateChoice, candidates, choose_states, most_rounds
from bayesbox.sequence.steps import Sequences, kinds_for, sequences_of, steps_of
from bayesbox.sequence.tables import given_chain
from bayesbox.sequence.widget import HasChainWidget
from bayesbox.tally.count import count

if TYPE_CHECKING:
    from bayesbox.explain.printed_tables import PrintedTables
    from bayesbox.explain.steps import Work

STATES = 2  # if neither a number nor labels are given
LEARNED, COUNTED, GIVEN = "learned", "counted", "given"
OF_FILE = ("_schema", "_book", "_model", "_origin")  # the content of a model file


@parameters
@describe_methods(METHODS["HiddenMarkovModel"])
class HiddenMarkovModel(Result, FromFile, ChainAnswers, HasChainWidget, HasParameters, ChainOptions):
    """A hidden Markov model of sequences, trained by counting if states are known, by Baum-Welch if they are not.

    `states` is the number of states, their names, or "auto" or "2..6": then the number is chosen, and `choice_` has
    the scores. If every label is known, a number must match them; to declare a state without labels, name all states. A
    step has one column or several, each by the distributions and rules of naive Bayes; missing values are marginalised.

    Examples
    --------
    >>> hmm = HiddenMarkovModel.from_tables(
    ...     start=[0.6, 0.4], transition=[[0.7, 0.3], [0.4, 0.6]], emission=[[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
    ...     states=["rain", "dry"], symbols=["walk", "shop", "clean"])
    >>> hmm.predict(["walk", "shop", "clean"]).tolist()
    ['dry', 'rain', 'rain']
    >>> round(hmm.score(["walk", "shop", "clean"]), 6)
    -3.392872
    >>> hmm.predict_proba(["walk", None]).round(3)
    array([[0.2 , 0.8 ],
           [0.46, 0.54]])
    """

    kind: ClassVar[str] = "hidden-markov"
    """Its name in the model file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice_: StateChoice | None = None
        self.history_: list[float] = []
        self.converged_ = True
        self._schema: Schema | None = None
        self._book = ChainBook.empty()
        self._model: ChainModel | None = None
        self._origin = ""

    @classmethod
    def of_options(cls, given: ChainOptions) -> Self:
        """An unfitted model with these options."""
        return cls(**{name: getattr(given, name) for name in options_of(ChainOptions)})

    @classmethod
    def from_tables(
        cls,
        *,
        start: object,
        transition: object,
        emission: object,
        states: Sequence[Any] | None = None,
        symbols: Sequence[Any] | None = None,
    ) -> Self:
        """A model from given probabilities; it has no counts, so it cannot forget or merge.

        Without names, states and symbols are 0, 1, 2, ...
        """
        model, schema = given_chain(start, transition, emission, states, symbols)
        made = cls(len(model.states) if states is None else states)
        made._model, made._schema = model, schema
        made._origin = GIVEN
        return made

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(
        self,
        sequences: object,
        labels: object = None,
        *,
        sequence: str | None = None,
        order: str | None = None,
        lengths: Sequence[int] | None = None,
        initial: HiddenMarkovModel | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the model to sequences. `labels` are the states, shaped like the sequences, or the name of their column;
        None where unknown. If all are known, the model is counted, otherwise it is learned by Baum-Welch, from
        `initial` if given; `progress` is called with the share done, the seconds left and a description."""
        report = Reporter(progress)
        found, known = read_steps(sequences, labels, sequence, order, lengths)
        if found.size == 0:
            raise BadData("there are no steps to learn from")
        schema = Schema.of(found.columns, kinds_for(found, self.columns, self.emissions), dates=False)
        if known is not None and (known.codes >= 0).all():
            require_number(self.states, len(known.levels))
            self._accept(self._declared(schema, known), self._tally(found, known, schema), COUNTED)
            report.done()
            return self._loaded_from()  # a refitted model no longer counts as loaded from a file
        rules = self._rules(LEARNED)
        on_round = report.rounds(most_rounds(self.states, self.choose, self.folds, self.iterations, self.restarts))

        def task_of(wanted: object) -> Task:
            states, label_type = state_names(wanted, known)
            place = None if known is None else state_positions(known, states)
            return Task(steps_of(found, schema, place), schema, states, label_type, rules)

        def learn(task: Task) -> LearnedChain:
            return baum_welch(
                task,
                initial=None if initial is None else initial.model_,
                iterations=self.iterations,
                tolerance=self.tolerance,
                restarts=self.restarts,
                seed=self.seed,
                progress=on_round,
            )

        least = 0 if known is None else len(known.levels)
        wanted: Any = max(STATES, least) if self.states is None else self.states
        choice = None
        if isinstance(wanted, str):
            if initial is not None:
                raise BadOption("the initial model has its own number of states", found=f"states={wanted}")
            numbers, impatient = candidates(wanted)
            if not impatient and least > numbers[-1]:
                require_number(wanted, least)
            choice = choose_states(
                task_of,
                learn,
                [number for number in numbers if number >= least] or [least],
                by=self.choose,
                folds=self.folds,
                seed=self.seed,
                impatient=impatient,
            )
            wanted = choice.best
        task = task_of(wanted)
        learned = learn(task)
        self._accept(schema.with_classes(task.states), learned.book, LEARNED)
        self.history_, self.converged_, self.choice_ = learned.history, learned.converged, choice
        report.done()
        return self._loaded_from()

    @property
    def options(self) -> ChainOptions:
        """The current parameters, parsed."""
        return options_from(self, ChainOptions)

    @property
    def rules(self) -> ChainRules:
        """How tallies become probabilities, except for the prior of numbers, which differs between tallies."""
        given = self.options
        return ChainRules(given.emission, given.start_smoothing, given.transition_smoothing)

    def _rules(self, origin: str) -> ChainRules:
        """The rules for a model that was learned by Baum-Welch, or counted."""
        rows = self.number_prior if self.number_prior is not None else 1.0 if origin == LEARNED else 0.0
        return replace(self.rules, number_prior=rows)

    def partial_fit(self, sequences: object, labels: object, **how: Any) -> Self:
        """Add sequences with known states."""
        with writing(self):
            schema, book = self._counted(sequences, labels, how, "learn")
            self._accept(schema, self._book + book, COUNTED)
        return self

    def forget(self, sequences: object, labels: object, **how: Any) -> Self:
        """Subtract sequences exactly. If they were never learned, nothing changes."""
        if not self._origin:
            raise CannotForget("the model is not fitted yet")
        with writing(self):
            schema, book = self._counted(sequences, labels, how, "forget")
            self._accept(schema, self._book - book, COUNTED)
        return self

    def __add__(self, other: HiddenMarkovModel) -> HiddenMarkovModel:
        if self._origin != COUNTED or other._origin != COUNTED or self._rules(COUNTED) != other._rules(COUNTED):
            raise CannotMerge(
                "only counted models can be merged: both must have been fitted to known states, with the same rules"
            )
        assert self._schema is not None
        assert other._schema is not None
        merged = copy.copy(self)._loaded_from(*self._versions, *other._versions)
        merged._accept(self._schema.merged(other._schema), self._book + other._book, COUNTED)
        return merged

    def _counted(
        self, sequences: object, labels: object, how: Mapping[str, Any], what: str
    ) -> tuple[Schema, ChainBook]:
        if self._origin not in ("", COUNTED):
            raise CannotForget(
                f"this model cannot {what}: it was not counted from known states",
                remedy="Fit it to labelled sequences, or fit all sequences again",
            )
        found, known = read_steps(sequences, labels, how.get("sequence"), how.get("order"), how.get("lengths"))
        if known is None or (known.codes < 0).any():
            raise BadData(f"to {what} step by step, the state of every step must be known", remedy="Use fit")
        if self._schema is None:
            schema = Schema.of(found.columns, kinds_for(found, self.columns, self.emissions), dates=False)
        else:
            schema = self._schema.extended(found.columns)
        if what == "learn" and isinstance(self.states, (int, np.integer)):
            count = len({*self._book.states, *known.levels})
            if count > self.states:  # there may be fewer in the sequences so far
                require_number(self.states, count)
        return self._declared(schema, known), self._tally(found, known, schema)

    def _declared(self, schema: Schema, known: Encoded) -> Schema:
        """The schema with exactly the named states, even if no step has some of them."""
        named = schema.classes or self.states
        if named is None or isinstance(named, (int, np.integer, str)):
            return schema
        return schema.with_classes(state_names(named, known)[0])

    @staticmethod
    def _tally(found: Sequences, known: Encoded, schema: Schema) -> ChainBook:
        states = tuple(known.levels)
        start, transition = count_states(known, found.offsets)
        return ChainBook.of(states, start, transition, count(found.columns, known, schema))

    def _accept(self, schema: Schema, book: ChainBook, origin: str) -> None:
        self._schema, self._book, self._origin, self._model = schema, book, origin, None
        self.history_, self.converged_, self.choice_ = [], True, None

    # -- what was learned ----------------------------------------------------------------------------------------

    @property
    def model_(self) -> ChainModel:
        """The model: the rules applied to the tallies."""
        model = self._model
        if model is None:
            with writing(self):  # a consistent pair of schema and book
                if self._schema is None:
                    raise BadData("this model is not fitted yet", remedy="Call fit first")
                model = self._model = chain_model(self._schema, self._book, self._rules(self._origin))
        return model

    @property
    def book_(self) -> ChainBook:
        """The counts, or the expected counts of Baum-Welch."""
        return self._book

    @property
    def origin_(self) -> str:
        """Where the model comes from: "given" tables, "counted" from known states, "learned" by Baum-Welch."""
        return self._origin

    @property
    def start_(self) -> Doubles:
        """P(first state)."""
        return np.exp(self.model_.log_start)

    @property
    def transition_(self) -> Doubles:
        """P(next state | state), from row to column."""
        return np.exp(self.model_.log_transition)

    @property
    def symbols_(self) -> tuple[str, ...]:
        """The symbols of a chain of one column of levels."""
        return self._only_table().levels

    @property
    def emission_(self) -> Doubles:
        """P(symbol | state), states x symbols, of a chain of one column of levels."""
        return np.exp(self._only_table().log_p.T)

    def _only_table(self) -> LevelTable:
        conditionals = self.model_.conditionals
        table = conditionals[0].level_table() if len(conditionals) == 1 else None
        if table is None:
            raise AttributeError("only a model of one categorical column has symbols; see model_.conditionals")
        return table

    def work(self, sequence: object, algorithm: str = "forward", *, smoothing: object = None, **how: Any) -> Work:
        """The calculation of one sequence: the "forward" table, the "viterbi" trellis, or one round of "baum-welch".

        It prints as text, shows as HTML in a notebook, and has `.html()`, `.latex()` and `.to_dict()`; that of viterbi
        also `.svg()`, the trellis drawn. `smoothing` is the rule of the new tables of baum-welch, by default that of
        the model.
        """
        from bayesbox.sequence.work.sequence_work import sequence_work

        return sequence_work(self, sequences_of(sequence, **how), algorithm, smoothing)

    def tables(self) -> PrintedTables:
        """All tables in textbook form, with the counts if states were known."""
        from bayesbox.sequence.printed_tables import tables_of

        return tables_of(self)

    def svg(
        self,
        sequence: object,
        *,
        column: str | None = None,
        names: Sequence[Any] | None = None,
        title: str = "Most probable path and P(state)",
        **how: Any,
    ) -> Picture:
        """A drawing of one sequence: an observed column in the colours of the path, and P(state) below."""
        from bayesbox.sequence.picture import picture

        drawn = picture(self, sequences_of(sequence, **how), column=column, names=names, title=title)
        return Picture(drawn, title)

    def to_network(self, length: int) -> Any:
        """A Bayesian network of `length` steps: nodes state1, symbol1, ... (or the name of the only column)."""
        from bayesbox.bridge.chain_network import network_of

        return network_of(self.model_, length)

    def reading(self) -> tuple[set[str], set[str]]:
        """The columns of a file to read as text, and as numbers."""
        kinds = self._schema.kinds if self._schema is not None else {}
        text = {name for name, kind in kinds.items() if kind.has_levels or kind.is_text or not kind.is_used}
        return text, {name for name, kind in kinds.items() if kind.is_number}

    # -- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, wait: float = WAIT) -> None:
        """Write the model to a file, atomically.

        If the file was changed by someone else since it was loaded, `ModelChanged` is raised unless `overwrite` is
        true. If another process is writing the file, this waits up to `wait` seconds.
        """
        with writing(self):
            self._save(self, path, overwrite=overwrite, wait=wait)

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state: the parameters, and the fitted model as the bytes of a model file."""
        from bayesbox.file.save import to_bytes

        state: dict[str, Any] = dict(super().__getstate__())
        plain = {name: value for name, value in state.items() if name not in OF_FILE}
        if not self._origin:  # not fitted
            return plain
        with contextlib.suppress(BayesboxError):
            return {**plain, "_file": to_bytes(self)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        from bayesbox.file.load import from_bytes
        from bayesbox.sequence.codec import HOLDS

        learned = state.get("_file")
        made = type(self)() if learned is None else from_bytes(learned, name="a pickled model", holds=HOLDS)
        of_file = {name: getattr(made, name) for name in OF_FILE}
        self.__dict__.update({**of_file, **{name: value for name, value in state.items() if name != "_file"}})

    def digest(self) -> str:
        """The SHA-256 of the whole model; `book_.digest()` is that of the counts only."""
        from bayesbox.file.digest import model_digest

        return model_digest(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HiddenMarkovModel:
        """The model in a file."""
        from bayesbox.file.load import load_version
        from bayesbox.sequence.codec import HOLDS

        model, version = load_version(path, holds=HOLDS)
        found: HiddenMarkovModel = model
        return found._loaded_from(version)

    def _headline(self) -> str:
        return f"HiddenMarkovModel(states={self.states!r})"

    def _title(self) -> str:
        return self.tables().title if self._is_fitted else self._headline()

    @property
    def _is_fitted(self) -> bool:
        return self._model is not None or self._schema is not None

    def _blocks(self) -> Sequence[Block]:
        if not self._is_fitted:
            return [TextBlock("not fitted yet")]
        return [
            TableBlock(
                ["", *step.columns],
                [[row.name, *(cell.value for cell in row.cells)] for row in step.rows],
                caption="seen" if name.isdecimal() else name,
                right=range(1, len(step.columns) + 1),
            )
            for name, step in self.tables().items()
        ]

    def _frame(self) -> Mapping[str, Sequence[object]]:
        """P(next state | state), one row per state."""
        states, rows = self.model_.states, np.exp(self.model_.log_transition).tolist()
        columns = {f"P({state})": [row[place] for row in rows] for place, state in enumerate(states)}
        return {"state": list(states), "start": np.exp(self.model_.log_start).tolist(), **columns}
