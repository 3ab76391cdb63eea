"""`bayes hmm`: learn hidden Markov models of sequences, and decode, score and continue sequences."""

from __future__ import annotations

from typing import Any

import click

from bayesbox.cli.hmm import answer, change, train
from bayesbox.cli.hmm.tables import save_tables
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.actions import action_options, command_names
from bayesbox.cli.options.written_work import html_option, latex_option, require_form
from bayesbox.cli.print.output import captured_warnings, note
from bayesbox.sequence.options import ChainOptions

LEARNING = ("train", "update", "forget", "merge")
ANSWERS = ("decode", "score", "forecast")

TRAINING = (*command_names(ChainOptions), "smoothing", "types", "ignore")
WRITING = ("keep_old", "wait")
ROWS = ("sequence", "order", "na", "bad_rows", *options.FILE_OPTIONS)
WORK = ("show_work", "work_method", "latex", "html")
STRANGE = {
    "train": (*WORK, "steps", "proba", "svg", "output_format"),
    "update": (*TRAINING, *WORK, "tables", "force", "steps", "proba", "svg", "output_format"),
    "forget": (*TRAINING, *WORK, "tables", "force", "keep_old", "steps", "proba", "svg", "output_format"),
    "merge": (*TRAINING, *ROWS, *WORK, "tables", "force", "labels", "steps", "proba", "svg", "output_format"),
    "decode": (*TRAINING, *WRITING, "force", "labels", "steps"),
    "score": (*TRAINING, *WRITING, "force", "labels", "steps", "proba", "svg"),
    "forecast": (*TRAINING, *WRITING, *WORK, "force", "labels", "proba", "svg"),
}
"""The options that each action does not take, by the names of their parameters."""


@click.command(
    "hmm",
    cls=options.Verb,
    groups={
        "Training": ("states", "choose", "rounds", "restarts", "seed", "smoothing"),
        "Columns": ("labels", "sequence", "order", "types", "ignore"),
        "Decode, score and forecast": ("steps", "proba", "show_work", "work_method"),
    },
    short_help="Train and use hidden Markov models: decode, score, forecast.",
    examples=(
        "bayes hmm train days.csv --states 2 --sequence town --order day -o days.bayes",
        "bayes hmm train days.csv --states 1..6 --choose cv --sequence town --order day -o days.bayes",
        "bayes hmm train days.csv --labels weather --order day -o days.bayes",
        "bayes hmm update days.bayes more.csv --labels weather --order day",
        "bayes hmm merge north.bayes south.bayes -o both.bayes",
        "bayes hmm decode days.bayes new.csv --sequence town --order day --proba",
        "bayes hmm score days.bayes new.csv --sequence town --order day",
        "bayes hmm forecast days.bayes new.csv --order day --steps 3",
        "bayes hmm train --tables weather.json -o weather.bayes",
        "bayes hmm score --tables weather.json new.csv --show-work",
        "bayes hmm decode days.bayes new.csv --order day --show-work --svg trellis.svg",
        "bayes hmm score days.bayes new.csv --order day --show-work --work-method baum-welch --latex",
    ),
    notes="A row is a step. A file of --tables holds "
    '{"start": {"rain": 0.6, "dry": 0.4}, "transition": {"rain": {"rain": 0.7, "dry": 0.3}, "dry": ...}, '
    '"emission": {"rain": {"walk": "1/10", ...}, "dry": ...}}, or lists with "states" and "symbols". '
    "Keys of --json: train has model, states, sequences, steps, rounds, converged, "
    "log_likelihood, parameters, bic, columns, chosen_by and scores (where the number of states was chosen), warnings, "
    "replaced (rows, digest; where the file held a model), digest; update, forget and merge have model, states, steps, "
    "digest_before, warnings, digest; train --tables has model, origin, states, symbols, parameters; with --show-work "
    "title and steps (name, columns, rows (name, cells)); decode, score and forecast write JSON lines: decode has "
    "step, state and with "
    "--proba P(state) for each; score has steps, log_likelihood; forecast has step, P(state) for each, and what is to "
    "be seen in each column. The columns of "
    "--sequence and --order come first.",
)
@click.argument("action", type=click.Choice([*LEARNING, *ANSWERS]))
@click.argument("files", nargs=-1)
@action_options({"train": ChainOptions})
@click.option(
    "--labels", metavar="COLUMN", help="train, update, forget: the column with the known states; missing where unknown."
)
@click.option("--sequence", metavar="COLUMN", help="The column that identifies the sequence of each step.")
@click.option("--order", metavar="COLUMN", help="The column that orders the steps; by default the order of the rows.")
@click.option(
    "--smoothing",
    default=ChainOptions.smoothing,
    show_default=True,
    metavar="RULE",
    help="train: the smoothing rule of the tables.",
)
@options.types_option
@click.option("--ignore", type=options.WORDS, multiple=True, metavar="COLUMN,...", help="train: columns to ignore.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=1, show_default=True, help="forecast: the number of steps."
)
@click.option("--proba", is_flag=True, help="decode: add the probability of each state at each step.")
@click.option(
    "--svg",
    metavar="FILE",
    help="decode: also draw the path and P(state) of one sequence; with --show-work, the trellis.",
)
@click.option("--tables", metavar="FILE", help="train, decode, score, forecast: a JSON file of given probabilities.")
@click.option("--show-work", is_flag=True, help="decode, score: print the algorithm step by step for one sequence.")
@click.option(
    "--work-method",
    type=click.Choice(["forward", "viterbi", "baum-welch"]),
    help="With --show-work: viterbi by default for decode, forward for score; baum-welch is one EM iteration.",
)
@latex_option
@html_option
@click.option("-o", "--output", metavar="FILE", help="The file to write: the model or the predictions.")
@click.option(
    "-F",
    "--output-format",
    type=click.Choice(["csv", "tsv", "jsonl", "parquet"]),
    help="The format of the predictions.",
)
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@click.option("--force", is_flag=True, help="train: replace a file that holds another kind of model, or no model.")
@options.keep_old_option
@options.wait_option
@options.json_option
@click.pass_context
def command(context: click.Context, /, action: str, files: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Train a hidden Markov model, or decode, score and forecast sequences with one.

    train takes DATA and counts if --labels gives the states, else runs Baum-Welch. update and forget take MODEL and
    DATA with --labels, and add or remove sequences exactly; merge takes counted models. decode, score and forecast take
    MODEL and DATA: the most probable path of states, the log-likelihood of each sequence, and what follows it. Missing
    values are ignored.
    """
    options.refuse_typed(context, STRANGE[action], f"does not apply to {action}")
    if action in LEARNING and given["output"]:
        options.model_file(given["output"])
    _refuse_misfits(context, action, files, given, as_json=as_json)
    if action == "train" and given["tables"]:
        save_tables(given, as_json=as_json)
        return
    with captured_warnings() as warned:
        if action == "train":
            if given["states"] is None or isinstance(given["states"], int):
                options.refuse_typed(context, ("choose",), "requires --states auto or a range such as 2..6")
            report = train.train(files, given, context)
        elif action in LEARNING:
            report = change.change(action, files, given)
        else:
            model, data = (None, files) if given["tables"] else (files[0], files[1:])
            answer.answer(action, model, data, {**given, "as_json": as_json})
            report = {}
    if report:
        digest = report.pop("digest")
        print_report = train.print_report if action == "train" else change.print_change
        print_report(report | {"warnings": warned, "digest": digest}, as_json=as_json)
        return
    for text in warned:
        note(f"note: {text}")


def _refuse_misfits(context: click.Context, action: str, files: tuple[str, ...], given: Any, *, as_json: bool) -> None:
    """Raise an error for too few or too many files, and for options that contradict each other."""
    if given["tables"]:
        if action == "train":
            why = "applies to rows, but --tables gives the probabilities"
            options.refuse_typed(context, (*TRAINING, *ROWS, "labels"), why)
            if files:
                raise click.UsageError("--tables gives the probabilities: remove DATA")
        elif not files:
            raise click.UsageError(f"{action} with --tables also needs DATA")
    elif not files:
        raise click.UsageError("Missing argument 'FILES...'.")
    elif action != "train" and len(files) < 2:
        raise click.UsageError(
            "merge needs at least two models" if action == "merge" else f"{action} needs a model and data"
        )
    shown = given["show_work"]
    require_form(latex=given["latex"], html=given["html"], shown=shown, option="--show-work", as_json=as_json)
    if shown:
        options.refuse_typed(context, ("proba", "output", "output_format"), "cannot be combined with --show-work")
        if given["svg"] and given["work_method"] not in (None, "viterbi"):
            raise click.UsageError(
                "--svg with --show-work draws the Viterbi trellis: remove --work-method, or use decode"
            )
    elif given["work_method"]:
        raise click.UsageError("--work-method requires --show-work")
