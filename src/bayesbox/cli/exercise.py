"""`bayes exercise`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.written_work import require_form
from bayesbox.cli.print.output import emit_json, note, printable, say

TOPICS = ("rule", "naive", "text", "full", "network", "hmm")
WRONG = 1  # the exit code of a wrong answer


@click.command(
    "exercise",
    cls=options.Verb,
    short_help="Generate exercises with solutions, and check answers.",
    examples=(
        "bayes exercise --topic naive --seed 3",
        "bayes exercise --topic naive --seed 3 --check 9/64",
        "bayes exercise --topic naive --seed 3 --solution",
        "bayes exercise --count 12 --latex -o sheets.tex",
    ),
    notes="The same topic and seed give the same exercise on every machine; without --topic the seed chooses the "
    "topic. An answer is a fraction, a decimal (rounded or truncated, with at least two significant digits) or a "
    "percentage. The exit code of --check is 0 for a right answer and 1 for a wrong one. Keys of --json: topic, "
    "seed, sheet, asked, with --solution answer and solution; with --check right, message; with --count "
    "exercises (a list).",
)
@click.option("--topic", type=click.Choice(TOPICS), help="The topic; chosen by the seed if not given.")
@click.option("--seed", type=int, default=0, show_default=True, help="The number of the exercise.")
@click.option("--solution", is_flag=True, help="Also print the solution and the answer.")
@click.option("--check", metavar="ANSWER", help="Check an answer: 9/64, 0.1406 or 14.06%.")
@click.option(
    "--count", type=int, help="Print this many different exercises, starting at this seed, with the answers at the end."
)
@click.option("--latex", is_flag=True, help="Print a complete LaTeX document.")
@click.option("--html", is_flag=True, help="Print a self-contained HTML page.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file.")
@options.json_option
def command(
    topic: str | None,
    seed: int,
    solution: bool,
    check: str | None,
    count: int | None,
    latex: bool,
    html: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Generate an exercise: a small table, a few documents, a network or a hidden Markov model with round numbers, and
    a question.
    """
    require_form(latex=latex, html=html, shown=True, option="", as_json=as_json)
    if check is not None:
        if solution or latex or html or output or count is not None:
            raise click.UsageError("--check can only be combined with --topic, --seed and --json")
        _check(topic, seed, check, as_json=as_json)
        return
    from bayesbox.teach.exercise_set import exercises

    drawn = exercises(topic, seed, 1 if count is None else count, works=solution, answers=solution or count is not None)
    if as_json:
        found = drawn.to_dict()
        shown = found if count is not None else found["exercises"][0]
        if output:
            raise click.UsageError("--json prints to standard output: remove -o")
        emit_json(shown)
        return
    text = drawn.latex() if latex else drawn.html() if html else f"{printable(drawn.text())}\n"
    if output is None:
        click.echo(text, nl=False)
        if not (latex or html or solution or count):
            one = drawn.exercises[0]
            again = f"bayes exercise --topic {one.topic} --seed {one.seed}"
            note(f"next: {again} --check ANSWER   or   {again} --solution")
        return
    from bayesbox.file.atomic import replacing

    with replacing(output) as file:
        file.write(text.encode("utf-8"))
    note(f"written to {output}")


def _check(topic: str | None, seed: int, answer: str, *, as_json: bool) -> None:
    from bayesbox.teach.exercise import exercise

    drawn = exercise(topic, seed)
    found = drawn.check(answer)
    if as_json:
        emit_json({"topic": drawn.topic, "seed": drawn.seed, "right": found.is_right, "message": found.message})
    else:
        say(found.message)
    if not found:
        raise click.exceptions.Exit(WRONG)
