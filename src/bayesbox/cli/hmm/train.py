"""`bayes hmm train`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bayesbox.cli.change.replacing import ModelSummary, replaced, report_of
from bayesbox.cli.hmm.rows import placed, read_rows
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.actions import chosen
from bayesbox.cli.print.output import decimal, emit_json, note, plural
from bayesbox.sequence.options import ChainOptions

if TYPE_CHECKING:
    from bayesbox.file.reader import Json
    from bayesbox.schema.kinds import Kind

SMOOTHING = ("smoothing", "start_smoothing", "transition_smoothing")  # all by one rule
SEARCH = ("choose", "rounds", "restarts", "seed")
"""The options that are about states to be found."""


def train(files: tuple[str, ...], given: Json, context: click.Context) -> Json:
    from bayesbox.cli.options.sources import declared_kinds, default_model_name
    from bayesbox.cli.print.search_progress import SearchProgress
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save
    from bayesbox.sequence.hmm import COUNTED, HiddenMarkovModel

    path = given["output"] or default_model_name(files)
    replaced(path, ModelSummary(HiddenMarkovModel.kind, None, None), force=given["force"])  # before rows are read
    kinds: dict[str, Kind] = declared_kinds(given["types"], options.several(given["ignore"]))
    text = {name for name, kind in kinds.items() if kind.has_levels}
    number = {name for name, kind in kinds.items() if kind.is_number}
    for name in (given["sequence"], given["order"], given["labels"]):
        kinds.pop(name, None)  # not part of a step
    unread = frozenset(name for name, kind in kinds.items() if not kind.is_used)
    rows, found, source = read_rows(files, given, text=text, number=number, unread=unread)
    smoothing = dict.fromkeys(SMOOTHING, given["smoothing"])
    model = HiddenMarkovModel(**chosen(ChainOptions, given) | smoothing, columns=kinds)
    how = {"sequence": given["sequence"], "order": given["order"]}
    progress = SearchProgress()
    try:
        with placed(source):
            model.fit(rows, given["labels"], **how, progress=progress)
    finally:
        progress.close()
    if model.origin_ == COUNTED:
        options.refuse_typed(context, SEARCH, "applies to unknown states, but every label is known")
    with FileLock(path, wait=given["wait"], verb="hmm train") as lock:
        old = replaced(path, ModelSummary.of(model), force=given["force"])
        save(model, path, lock=lock, keep_old=given["keep_old"])
    scores = model.score(rows, **how)
    total = float(sum(scores)) if isinstance(scores, list) else float(scores)
    choice = model.choice_
    scored: Json = {} if choice is None else {"chosen_by": choice.by, "scores": dict(choice.scores)}
    return {
        "model": path,
        "states": model.states_.tolist(),
        "sequences": len(found.offsets) - 1,
        "steps": found.size,
        "rounds": len(model.history_),
        "converged": model.converged_,
        "log_likelihood": total,
        "parameters": model.n_parameters,
        "bic": model.bic(rows, **how),
        "columns": list(model.model_.columns),
        **scored,
        **report_of(old),
        "digest": model.book_.digest(),
    }


def print_report(report: Json, *, as_json: bool) -> None:
    if as_json:
        emit_json(report)
        return
    states = ", ".join(str(state) for state in report["states"])
    note(f"{report['model']}: {plural(len(report['states']), 'state')} ({states})")
    learned = f"after {plural(report['rounds'], 'round')} of Baum-Welch" if report["rounds"] else "by counting"
    note(f"  {plural(report['steps'], 'step')} in {plural(report['sequences'], 'sequence')}, {learned}")
    figures = f"log-likelihood {decimal(report['log_likelihood'])}, BIC {decimal(report['bic'])}"
    note(f"  {figures}, {plural(report['parameters'], 'parameter')}")
    if "scores" in report:
        scores = ", ".join(f"{states}: {decimal(score)}" for states, score in report["scores"].items())
        what = "BIC" if report["chosen_by"] == "bic" else "held-out log-likelihood per step"
        note(f"  {what} by the number of states: {scores}")
    if not report["converged"]:
        note("note: Baum-Welch did not converge; increase --rounds")
    for text in dict.fromkeys(report["warnings"]):
        note(f"note: {text}")
    if "replaced" in report:
        note(f"replaced a model of {plural(report['replaced']['rows'], 'step')}, digest {report['replaced']['digest']}")
