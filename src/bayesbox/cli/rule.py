"""`bayes rule`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import decimal, emit_json, say, table

if TYPE_CHECKING:
    from bayesbox.file.reader import Json


@click.command(
    "rule",
    cls=options.Verb,
    short_help="Bayes' rule by itself, for a few numbers.",
    examples=(
        "bayes rule --prior 1/50000 --likelihood .5 --evidence .05",
        "bayes rule --prior fair=.5,loaded=.5 --likelihood fair=1/6,loaded=1/2",
        "bayes rule --prior ill=1%,well=99% --likelihood ill=.9,well=.05 --likelihood ill=.9,well=.05",
    ),
    notes="A probability is written .05, 1/20 or 5%. Keys of --json: prior, likelihood, evidence, posterior; with "
    "hypotheses prior, likelihood (a list), steps (the posterior after each), posterior.",
)
@click.option("--prior", required=True, metavar="P | NAME=P,...", help="P(h), or one probability for each hypothesis.")
@click.option(
    "--likelihood",
    required=True,
    multiple=True,
    metavar="P | NAME=P,...",
    help="P(e | h), or one for each hypothesis; given again, the posterior becomes the prior of the next evidence.",
)
@click.option("--evidence", metavar="P", help="P(e). With hypotheses it follows by itself.")
@options.json_option
def command(prior: str, likelihood: tuple[str, ...], evidence: str | None, as_json: bool) -> None:
    """P(h | e) = P(e | h) P(h) / P(e): the posterior of one hypothesis, or of several after one evidence or more."""
    if "=" in prior:
        _hypotheses(options.shares(prior), [options.shares(text) for text in likelihood], evidence, as_json=as_json)
    else:
        _numbers(prior, likelihood, evidence, as_json=as_json)


def _numbers(prior: str, likelihood: tuple[str, ...], evidence: str | None, *, as_json: bool) -> None:
    from bayesbox.stat.bayes_rule import bayes_rule

    if len(likelihood) > 1:
        raise click.UsageError("several likelihoods need a prior over hypotheses: --prior ill=.01,well=.99")
    if evidence is None:
        raise click.UsageError("one hypothesis needs --evidence, the probability of the evidence")
    p, given, e = options.number(prior), options.number(likelihood[0]), options.number(evidence)
    posterior = bayes_rule(prior=p, likelihood=given, evidence=e)
    if as_json:
        emit_json({"prior": p, "likelihood": given, "evidence": e, "posterior": posterior})
        return
    say("P(h | e) = P(e | h) P(h) / P(e)")
    say(f"         = {likelihood[0].strip()} x {prior.strip()} / {evidence.strip()}")
    say(f"         = {decimal(posterior)}{_reading(posterior)}")


def _reading(p: float) -> str:
    """A probability as "1 in n", where that is a fair reading.

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


def _hypotheses(
    prior: dict[str, float], likelihoods: list[dict[str, float]], evidence: str | None, *, as_json: bool
) -> None:
    from bayesbox.stat.bayes_rule import bayes_rule

    if evidence is not None:
        raise click.UsageError("with hypotheses the probability of the evidence follows by itself: leave it out")
    steps: list[Json] = [
        bayes_rule(prior=prior, likelihood=likelihoods[:count]) for count in range(1, len(likelihoods) + 1)
    ]
    if as_json:
        emit_json({"prior": prior, "likelihood": likelihoods, "steps": steps, "posterior": steps[-1]})
        return
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
