"""`bayes query` for a network: answers, explanations and d-separation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from bayesbox.cli.network.evidence import with_evidence_of
from bayesbox.cli.network.opened import opened_network
from bayesbox.cli.options.written_work import print_work
from bayesbox.cli.print.output import captured_warnings, decimal, emit_json, note, say, table
from bayesbox.errors import AnswerByCases

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json
    from bayesbox.network.query.notation import Independence, Query, Question

ALL = "all"  # the value of --approx for all methods compared with the exact answer
SHORTEST_WORK = 20  # the most nodes for which an answer is also a fraction


Approximate = tuple[str, dict[str, Any]]  # a method and its options


class AnswerLimits(NamedTuple):
    """The memory and the time that an exact answer may take, and the file with more evidence."""

    max_bytes: int | None = None
    max_seconds: float | None = None
    evidence_file: str | None = None


@dataclass(frozen=True)
class NetworkWork:
    """How the calculation is printed."""

    method: str
    latex: bool = False
    html: bool = False

    @property
    def has_form(self) -> bool:
        """Whether it is LaTeX or HTML, so that nothing else is printed."""
        return self.latex or self.html

    def of(self, network: Any, asked: Query, approximation: Approximate | None) -> Work:
        """The calculation of an answer."""
        from bayesbox.network.work.question import work_of

        approx, options = approximation or (None, {})
        return work_of(network, asked, method=self.method, approx=approx, **options)


def answer_network(
    path: str,
    asked: Question,
    *,
    mpe: bool,
    approximation: Approximate | None,
    normalize: bool,
    work: NetworkWork | None,
    as_json: bool,
    limits: AnswerLimits,
) -> None:
    """Answer a question about the network in a file."""
    from bayesbox.network.query.notation import Independence

    if limits.evidence_file is not None and isinstance(asked, Independence):
        raise click.UsageError("--evidence-file needs a question P(...)")
    if approximation is not None and (mpe or isinstance(asked, Independence)):
        raise click.UsageError("--approx needs a question P(...) and cannot be combined with --mpe")
    if work is not None and (mpe or isinstance(asked, Independence)):
        raise click.UsageError("--show-work needs a question P(...) and cannot be combined with --mpe")
    if mpe and isinstance(asked, Independence):
        raise click.UsageError("--mpe needs a question P(...) that names nodes")
    network = opened_network(path, normalize=normalize)
    if isinstance(asked, Independence):
        _print_independence(network, asked, as_json=as_json)
        return
    network.max_bytes, network.max_seconds = limits.max_bytes, limits.max_seconds
    asked = with_evidence_of(asked, limits.evidence_file)
    with _announced():
        if mpe:
            _print_explanation(network, asked, as_json=as_json)
        elif approximation is not None and approximation[0] == ALL:
            _print_all(network, asked, approximation[1], work, as_json=as_json)
        elif approximation is not None:
            _print_estimate(network, asked, approximation, work, as_json=as_json)
        else:
            _print_answer(network, asked, work, as_json=as_json)


@contextmanager
def _announced() -> Iterator[None]:
    """A context that prints the estimated time of a long answer before it is computed."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", AnswerByCases)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if isinstance(message, AnswerByCases):
                note(f"note: {message}")
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield


def answer_with_interval(path: str, asked: Question, how: Json, *, normalize: bool, as_json: bool) -> None:
    """Answer a question about a network with counted tables, and print the credible interval."""
    from bayesbox.explain.credible import CredibleInterval
    from bayesbox.network.analyse.interval import answer_interval
    from bayesbox.network.network import BayesianNetwork
    from bayesbox.network.query.notation import Independence

    if isinstance(asked, Independence):
        raise click.UsageError("--interval needs a question P(...)")
    network = opened_network(path, normalize=normalize)
    if not isinstance(network, BayesianNetwork):
        raise click.UsageError(f"--interval needs a Bayesian network, but {path} is a factor graph")
    found = answer_interval(network, asked, **how)
    if isinstance(found, CredibleInterval):
        if as_json:
            rows = [{"levels": [], **found.to_dict()}]
            emit_json({"question": str(asked), "level": found.level, "draws": how["draws"], "rows": rows})
        else:
            say(repr(found))
    elif as_json:
        emit_json({"question": str(asked), **found.to_dict()})
    else:
        say(str(found))


def _print_answer(network: object, asked: Query, how: NetworkWork | None, *, as_json: bool) -> None:
    from bayesbox.network.query.probability_table import ProbabilityTable, figure

    work = None if how is None else how.of(network, asked, None)
    if how is not None and work is not None and how.has_form:
        print_work(work, latex=how.latex, html=how.html)
        return
    value = _small_exactly(network, asked)
    distribution = value if isinstance(value, ProbabilityTable) else None
    if as_json:
        emit_json(_answer_facts(asked, value) | ({} if work is None else {"work": work.to_dict()}))
        return
    if work is not None:
        say(str(work))
    if distribution is not None:
        columns = list(distribution.columns)
        rows, figures = distribution.rows(), list(distribution.figures)
        fractions = any(row[len(columns)] for row in rows)  # some are short enough to show
        if not fractions:
            rows, figures = [[*row[: len(columns)], *row[len(columns) + 1 :]] for row in rows], figures[1:]
        table([*columns, *figures], rows, right=[len(columns)] if fractions else [])
    else:
        say(figure(value))


def _print_estimate(
    network: Any, asked: Query, approximation: Approximate, how: NetworkWork | None, *, as_json: bool
) -> None:
    from bayesbox.network.query.probability_table import ProbabilityTable

    method, options = approximation
    with captured_warnings() as warned:
        value = network.ask(asked, approx=method, **options)
        work = None if how is None else how.of(network, asked, approximation)
    for text in dict.fromkeys(warned):
        note(text)
    if as_json:
        emit_json(_estimate_facts(asked, value) | ({} if work is None else {"work": work.to_dict()}))
        return
    if how is not None and work is not None:
        print_work(work, latex=how.latex, html=how.html)
        if how.has_form:
            return
    if isinstance(value, ProbabilityTable):
        table([*value.columns, *value.figures], value.rows())
    else:
        say(repr(value))
    note(value.approximation.summary())


def _print_all(network: Any, asked: Query, options: Json, how: NetworkWork | None, *, as_json: bool) -> None:
    """Print all approximations compared with the exact answer."""
    from bayesbox.network.approximate.beside_exact import compare_methods

    if how is not None:
        raise click.UsageError("--show-work needs one method: --approx weighting or --approx gibbs")
    found = compare_methods(network, asked, **options)
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))


def _small_exactly(network: Any, asked: Query) -> Any:
    """The answer in fractions if the network is small, else in doubles."""
    exact = len(network.nodes) <= SHORTEST_WORK and sum(f.table.size for f in network.model.factors) <= 4096
    exact = exact and not asked.is_fitted
    return network.ask(asked, exact=exact)


def _answer_facts(asked: Query, value: Any) -> Json:
    from bayesbox.network.query.probability_table import ProbabilityTable, fraction_text

    if not isinstance(value, ProbabilityTable):
        facts = {"fraction": fraction_text(value)} if fraction_text(value) else {}
        return {"question": str(asked), **facts, "probability": float(value)}
    rows = []
    for probability, (*levels, fraction, _) in zip(value.values(), value.rows(), strict=True):
        rows.append({"levels": levels, **({"fraction": fraction} if fraction else {}), "probability": probability})
    return {"question": str(asked), "columns": list(value.columns), "rows": rows}


def _estimate_facts(asked: Query, value: Any) -> Json:
    from bayesbox.network.approximate.estimate import EstimatedDistribution

    how = {"approximation": value.approximation.facts()}
    if not isinstance(value, EstimatedDistribution):
        return {"question": str(asked), "probability": float(value), **_stated(value.standard_error), **how}
    errors = value.standard_errors
    rows = [
        {"levels": levels[:-2], "probability": probability, **_stated(errors.get(key))}
        for levels, (key, probability) in zip(value.rows(), value.items(), strict=True)
    ]
    return {"question": str(asked), "columns": list(value.columns), "rows": rows, **how}


def _stated(error: float | None) -> dict[str, float]:
    return {} if error is None else {"standard_error": error}


def _print_explanation(network: Any, asked: Query, *, as_json: bool) -> None:
    """Print the most probable states of the targets, or of all nodes if the targets are all the others."""
    from bayesbox.errors import BadOption

    valued = [str(term) for term in asked.targets if term.value is not None]
    if valued:
        raise BadOption(
            "--mpe finds the states of the named nodes", found=valued[0], remedy="Name the node without a value"
        )
    network = network.acted(asked)
    evidence = network.evidence_of(asked)
    targets = [target.name for target in asked.targets]
    states, log_probability = network.explanation(evidence, targets)
    log_evidence = network.log_probability(evidence)
    posterior = math.exp(log_probability - log_evidence)
    if as_json:
        emit_json({"question": str(asked), "states": states, "probability": posterior, "log_joint": log_probability})
        return
    table(["node", "state"], [[name, state] for name, state in states.items()])
    note(f"joint probability given the evidence: {decimal(posterior)}")


def _print_independence(network: object, asked: Independence, *, as_json: bool) -> None:
    from bayesbox.errors import BadOption
    from bayesbox.network.network import BayesianNetwork

    if not isinstance(network, BayesianNetwork):
        raise BadOption("d-separation needs a Bayesian network, but this is a factor graph", found=repr(network))
    path = network.active_path_of(asked)
    shown = network.path_text(path) if path else None
    if as_json:
        emit_json({"question": str(asked), "independent": path is None, "path": shown})
    elif shown is None:
        say("independent: every path is blocked")
    else:
        say(f"not d-separated: the path {shown} is open")
