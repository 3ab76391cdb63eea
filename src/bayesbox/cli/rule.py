"""`bayes rule`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.written_work import html_option, latex_option, print_work, require_form
from bayesbox.cli.print.output import decimal, emit_json, say, table

if TYPE_CHECKING:
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json


@click.command(
    "rule",
    cls=options.Verb,
    short_help="Apply Bayes' rule to a few numbers.",
    examples=(
        "bayes rule --prior 1/50000 --likelihood .5 --evidence .05",
        "bayes rule --prior fair=.5,loaded=.5 --likelihood fair=1/6,loaded=1/2",
        "bayes rule --prior ill=1%,well=99% --likelihood ill=.9,well=.05 --likelihood ill=.9,well=.05",
        "bayes rule --prior 1/50000 --likelihood .5 --evidence .05 --show-work",
        "bayes rule --prior ill=1%,well=99% --likelihood ill=.9,well=.05 --show-work --latex > test.tex",
    ),
    notes="A probability is written .05, 1/20 or 5%. Keys of --json: prior, likelihood, evidence, posterior; with "
    "hypotheses prior, likelihood (a list), steps (the posterior after each), posterior; with --show-work also "
    "work (title, steps (name, columns, rows (name, cells (formula, fraction, value, text)))).",
)
@click.option("--prior", required=True, metavar="P | NAME=P,...", help="P(h), or one probability for each hypothesis.")
@click.option(
    "--likelihood",
    required=True,
    multiple=True,
    metavar="P | NAME=P,...",
    help="P(e | h), or one for each hypothesis; repeat it for several pieces of evidence: each posterior becomes the "
    "next prior.",
)
@click.option("--evidence", metavar="P", help="P(e); computed if there are hypotheses.")
@click.option("--show-work", is_flag=True, help="Print each step with exact fractions.")
@latex_option
@html_option
@options.json_option
def command(
    prior: str,
    likelihood: tuple[str, ...],
    evidence: str | None,
    show_work: bool,
    latex: bool,
    html: bool,
    as_json: bool,
) -> None:
    """Apply Bayes' rule, P(h | e) = P(e | h) P(h) / P(e), to one hypothesis or to several."""
    require_form(latex=latex, html=html, shown=show_work, option="--show-work", as_json=as_json)
    answer = _of_hypotheses if "=" in prior else _of_numbers
    facts, work, written = answer(prior, likelihood, evidence)
    if as_json:
        emit_json({**facts, "work": work.to_dict()} if show_work else facts)
    elif show_work:
        print_work(work, latex=latex, html=html)
    else:
        written()


def _of_numbers(prior: str, likelihood: tuple[str, ...], evidence: str | None) -> tuple[Json, Work, Callable[[], None]]:
    """The facts for JSON, the calculation, and a function that prints the short form."""
    from bayesbox.explain.bayes_rule import bayes_rule

    if len(likelihood) > 1:
        raise click.UsageError("several likelihoods need a prior over hypotheses: --prior ill=.01,well=.99")
    if evidence is None:
        raise click.UsageError("one hypothesis needs --evidence, the probability of the evidence")
    given: Json = {
        "prior": options.number(prior),
        "likelihood": options.number(likelihood[0]),
        "evidence": options.number(evidence),
    }
    posterior = bayes_rule(**given)

    def written() -> None:
        say("P(h | e) = P(e | h) P(h) / P(e)")
        say(f"         = {likelihood[0].strip()} x {prior.strip()} / {evidence.strip()}")
        say(f"         = {decimal(posterior)}{_reading(posterior)}")

    return {**given, "posterior": posterior}, bayes_rule(**given, work=True), written


def _reading(p: float) -> str:
    """A probability as "1 in n", if that is accurate enough.

    >>> _reading(0.0002), _reading(0.25), _reading(0.9)
    (', or 1 in 5,000', ', or 1 in 4', ', or 9 in 10')
    """
    if not 0 < p < 1:
        return ""
    simple = Fraction(p).limit_denominator(20)
    if abs(float(simple) - p) < 1e-9:
        return f", or {simple.numerator} in {simple.denominator}"
    if p > 0.5:
        return ""
    over = 1 / p
    about = "" if abs(over - round(over)) < 1e-6 * over else "about "
    return f", or {about}1 in {round(over):,}"


def _of_hypotheses(
    prior: str, likelihood: tuple[str, ...], evidence: str | None
) -> tuple[Json, Work, Callable[[], None]]:
    """The same for several hypotheses."""
    from bayesbox.explain.bayes_rule import bayes_rule

    if evidence is not None:
        raise click.UsageError("with hypotheses the probability of the evidence is computed: remove --evidence")
    first, likelihoods = options.shares(prior), [options.shares(text) for text in likelihood]
    steps: list[Json] = [
        bayes_rule(prior=first, likelihood=likelihoods[:count]) for count in range(1, len(likelihoods) + 1)
    ]
    facts = {"prior": first, "likelihood": likelihoods, "steps": steps, "posterior": steps[-1]}
    work = bayes_rule(prior=first, likelihood=likelihoods, work=True)
    return facts, work, lambda: _print_boxes(first, likelihoods, steps)


def _print_boxes(prior: dict[str, float], likelihoods: list[dict[str, float]], steps: list[Json]) -> None:
    before = prior
    for number, (given, after) in enumerate(zip(likelihoods, steps, strict=True), start=1):
        if len(steps) > 1:
            say(f"evidence {number}")
        total = sum(before[name] * given[name] for name in prior)
        rows = [
            [
                name,
                decimal(before[name]),
                decimal(given[name]),
                decimal(before[name] * given[name]),
                decimal(after[name]),
            ]
            for name in prior
        ]
        rows.append(["sum", "", "", decimal(total), ""])
        table(["h", "P(h)", "P(e | h)", "product", "P(h | e)"], rows, right=[1, 2, 3, 4])
        before = after
    best = max(steps[-1], key=lambda name: steps[-1][name])
    say(f"most probable: {best}, {decimal(steps[-1][best])}{_reading(steps[-1][best])}")
