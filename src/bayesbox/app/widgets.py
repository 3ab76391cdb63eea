"""The widgets of notebooks: the same views as in the app, answered by the model in Python.

Values set in the widget can be read in the next cell, and values set in a cell update the widget:

    w = clf.widget()          w.row, w.posterior;       w.row = {"sex": "female"}
    w = net.widget("lung")    w.evidence, w.posteriors; w.evidence = {"xray": "yes"}
    w = hmm.widget("GATT")    w.steps, w.path;          w.steps = "GATTACA"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbox.app.chains import chain_answer, chain_spec, steps_of_texts
from bayesbox.app.modules import text_of, widget_module
from bayesbox.app.networks import network_answer, network_spec
from bayesbox.app.rows import row_answer, row_spec, rulers_of, texts_of
from bayesbox.classifier.table import AnyTableClassifier
from bayesbox.dist.naive import NaiveModel
from bayesbox.errors import BadOption, MissingExtra
from bayesbox.file.reader import Json
from bayesbox.network.network import BayesianNetwork
from bayesbox.schema.levels import level_text
from bayesbox.sequence.hmm import HiddenMarkovModel

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtra(error.name or "anywidget", "notebook") from None

# The colours follow the system's scheme, not the notebook's theme.
STYLE = text_of("style.css") + ".bb { background: var(--page); padding: 0.5rem; }\n"


class RowWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """A widget of one row: `row` has the known values, `posterior` the result."""

    _css = STYLE
    spec = traitlets.Dict().tag(sync=True)
    row = traitlets.Dict().tag(sync=True)
    pair = traitlets.List().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    rulers = traitlets.Dict(allow_none=True).tag(sync=True)

    def __init__(self, classifier: AnyTableClassifier, row: Mapping[str, Any] | None = None) -> None:
        self._classifier = classifier
        pair = [1, 0] if len(classifier.model.classes) > 1 else [0, None]
        super().__init__(spec=row_spec(classifier), row=texts_of(row or {}), pair=pair)
        self.observe(self._follow, ["row", "pair"])
        self._follow()

    def _follow(self, _: object = None) -> None:
        self.answer = row_answer(self._classifier, self.row)

    @property
    def posterior(self) -> dict[str, float]:
        """P(class | row), by class."""
        return dict(zip(self.spec["classes"], self.answer["posterior"], strict=True))


class WhatIfWidget(RowWidget):
    """The what-if widget: every column can be set or unknown."""

    _esm = widget_module("whatif", "renderWhatIf")


class NomogramWidget(RowWidget):
    """The nomogram widget: every column is a ruler with a draggable mark."""

    _esm = widget_module("nomogram", "renderNomogram")

    def _follow(self, _: object = None) -> None:
        super()._follow()
        self.rulers = rulers_of(self._classifier, self.spec, self.pair, self.row)


def row_widget(classifier: AnyTableClassifier, row: Mapping[str, Any] | None, view: str) -> RowWidget:
    """The widget of a classifier, by the name of its view."""
    if view == "what-if":
        return WhatIfWidget(classifier, row)
    if view != "nomogram":
        raise BadOption("a widget must be what-if or nomogram", found=view)
    if not isinstance(classifier.model, NaiveModel):
        raise BadOption("a nomogram needs a factor for each column", found=classifier.title)
    return NomogramWidget(classifier, row)


class NetworkWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The network widget: `evidence` has a state or likelihoods by node, `posteriors` the result."""

    _esm = widget_module("network", "renderNetwork")
    _css = STYLE
    spec = traitlets.Dict().tag(sync=True)
    target = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)
    evidence = traitlets.Dict().tag(sync=True)

    def __init__(
        self, network: BayesianNetwork, target: str | None = None, evidence: Mapping[str, Any] | None = None
    ) -> None:
        self._network = network
        super().__init__(spec=network_spec(network), target=target)
        self.evidence = dict(evidence or {})

    @traitlets.validate("evidence")  # type: ignore[untyped-decorator]
    def _checked(self, proposal: Any) -> Json:
        """Evidence in the form of the widget; a cell may set states by node."""
        value = proposal["value"]
        if set(value) == {"hard", "soft"}:
            return dict(value)
        soft = {name: dict(state) for name, state in value.items() if isinstance(state, Mapping)}
        hard = {name: level_text(state) for name, state in value.items() if name not in soft}
        return {"hard": hard, "soft": soft}

    @traitlets.observe("evidence", "target")  # type: ignore[untyped-decorator]
    def _follow(self, _: object = None) -> None:
        self.answer = network_answer(self._network, self.evidence, self.target)

    @property
    def posteriors(self) -> dict[str, dict[str, float]]:
        """P(state | evidence), by node and state."""
        found: dict[str, dict[str, float]] = self.answer["posteriors"]
        return found


class ChainWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The decoder widget: `steps` are the observations; `path` and `posterior` the result."""

    _esm = widget_module("chain", "renderChain")
    _css = STYLE
    spec = traitlets.Dict().tag(sync=True)
    steps = traitlets.Any().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)

    def __init__(self, chain: HiddenMarkovModel, sequence: object = ()) -> None:
        self._chain = chain
        super().__init__(spec=chain_spec(chain))
        self.steps = sequence

    @traitlets.validate("steps")  # type: ignore[untyped-decorator]
    def _checked(self, proposal: Any) -> list[dict[str, str]]:
        """Steps in the form of the widget; a cell may set values, dicts, or a dict of columns."""
        return steps_of_texts(self._chain, proposal["value"])

    @traitlets.observe("steps")  # type: ignore[untyped-decorator]
    def _follow(self, _: object = None) -> None:
        self.answer = chain_answer(self._chain, self.steps)

    @property
    def path(self) -> list[str]:
        """The most probable path of states."""
        return [self.spec["states"][place] for place in self.answer["path"]]

    @property
    def posterior(self) -> list[dict[str, float]]:
        """P(state | sequence) of each step, by state."""
        return [dict(zip(self.spec["states"], row, strict=True)) for row in self.answer["posterior"]]


class LessonWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The widget of Bayes' rule with natural frequencies."""

    _esm = widget_module("lesson", "renderLesson")
    _css = STYLE
    prior = traitlets.Float(0.01).tag(sync=True)
    hit = traitlets.Float(0.9).tag(sync=True)
    alarm = traitlets.Float(0.09).tag(sync=True)
    people = traitlets.Int(1000).tag(sync=True)
    guess = traitlets.Float(None, allow_none=True).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)


def lesson_widget(prior: float, hit: float, alarm: float, people: int) -> LessonWidget:
    """The lesson widget for a diagnostic test, with validated numbers."""
    for name, value in {"prior": prior, "hit": hit, "alarm": alarm}.items():
        if not 0 <= value <= 1:
            raise BadOption(f"{name} must be a probability between 0 and 1", found=value)
    if people < 1:
        raise BadOption("people must be a positive number", found=people)
    return LessonWidget(prior=prior, hit=hit, alarm=alarm, people=people)
