"""`bayes evaluate`."""

from __future__ import annotations

import functools
import shlex
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from bayesbox.classifier.options import NO_CALIBRATION
from bayesbox.cli.options import shared as options
from bayesbox.cli.options.fields import KindOption, ModelVerb, model_options, option_names, require_taken
from bayesbox.cli.options.noise import NOISE, noise_options
from bayesbox.cli.options.text import JUDGE, LEARN, refuse_foreign
from bayesbox.cli.print.output import captured_warnings, emit_json, note, print_warnings, say

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.evaluation import Evaluation
    from bayesbox.classifier.opened import Opened
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Source

ZIP = b"PK\3\4"
MODEL_SUFFIX = ".bayes"
FOLDS = 10
LEARNING = ("cv", "repeats", "seed", "types", "ignore", "model", "loo", "target_bins")
"""Training options besides those of models; they do not apply to a trained model."""


@click.command(
    "evaluate",
    cls=ModelVerb,
    groups={
        "Evaluation": ("cv", "repeats", "seed", "loo", "bins", "threshold", "by", "compare", "yardsticks"),
        "Robustness": ("robustness", *NOISE, "missing_values"),
    },
    short_help="Measure how well a model predicts.",
    examples=(
        "bayes evaluate people.bayes test.csv",
        "bayes evaluate people.csv -t income --cv 10 --repeats 10 --seed 1",
        "bayes evaluate people.csv -t income --loo --smoothing m:2",
        "bayes evaluate people.csv -t income --cv 10 --numeric kernel",
        "bayes evaluate people.csv -t income --compare",
        "bayes evaluate people.csv -t income --compare --yardsticks",
        "bayes evaluate people.csv -t income --robustness --label-noise .1,.2,.4 --irrelevant 10,100",
        "bayes evaluate people.csv -t income --threshold '>50K:balanced'",
        "bayes evaluate people.bayes test.csv --by sex",
        "bayes evaluate people.bayes test.csv --json --svg reliability.svg",
        "bayes evaluate mail/ --model text --cv 5",
    ),
    notes="Keys of --json: how, data, target, rows, unlabelled, skipped, weight, folds, repeats, seed, classes, "
    "accuracy, accuracy_by_repeat, log_loss, brier, calibration_error, auc, baseline, macro, per_class, confusion, "
    "bins, unseen, absent, before_calibration, intervals, by, warnings, threshold; with --robustness how, changes "
    "(change, experiment, level, model, accuracy, log_loss, refused) and notes.",
)
@click.argument("files", nargs=-1, required=True, metavar="[MODEL] DATA...")
@click.option("-t", "--target", metavar="COLUMN", help="The target column; by default the model's.")
@click.option("--cv", type=click.IntRange(min=2), metavar="K", help=f"Cross-validate with K folds; {FOLDS} by default.")
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    metavar="R",
    help="Repeat the cross-validation with new shuffles; 1 by default.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="S", help="The seed of the shuffle; 0 by default.")
@click.option("--loo", is_flag=True, help="Leave-one-out cross-validation.")
@click.option(
    "--bins",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    help="The number of bins of the calibration error.",
)
@click.option(
    "--compare", is_flag=True, help="Compare all kinds of models on the same folds, with their training times."
)
@click.option(
    "--yardsticks", is_flag=True, help="With --compare: add scikit-learn's logistic regression and decision tree."
)
@click.option(
    "--robustness",
    is_flag=True,
    help="Measure the effect of noise, irrelevant columns, repeated columns and missing values.",
)
@noise_options
@click.option(
    "--threshold",
    metavar="CLASS[:METRIC]",
    help="Find the threshold on P(CLASS) that maximises a metric: f1 (the default), accuracy, balanced, youden.",
)
@click.option("--by", metavar="COLUMN", help="Report the metrics for each value of this column as well.")
@click.option("--svg", metavar="FILE", help="Write the reliability diagram to this file.")
@click.option(
    "--model",
    cls=KindOption,
    metavar="KIND",
    help="naive by default.",
)
@options.types_option
@options.ignore_option
@options.target_bins_option
@options.classes_limit_option
@options.weight_option
@click.option("--text", metavar="COLUMN", help="The text column, for --model text.")
@model_options
@options.calibrate_option
@options.na_option
@options.bad_rows_option
@options.follow_option
@options.input_format_option("-f", "--format")
@options.threads_option
@options.json_option
def command(files: tuple[str, ...], as_json: bool, svg: str | None, **given: Any) -> None:
    """Measure how well a model predicts: accuracy, log loss, Brier score, calibration, confusion matrix, with 95 %
    intervals.

    With a MODEL, it is evaluated on the rows of DATA; a note is printed if the model has learned these rows. Without a
    MODEL, DATA are evaluated by cross-validation or, with --loo, by leave-one-out. Both subtract counts exactly instead
    of refitting.
    """
    from bayesbox.classifier.evaluation import TRAINING_ROWS

    for name in ("threshold", "by"):
        if given[name] and (given["robustness"] or given["compare"]):
            raise click.UsageError(
                f"--{name} evaluates one model and cannot be combined with --compare or --robustness"
            )
    if given["yardsticks"] and not given["compare"]:
        raise click.UsageError("--yardsticks requires --compare")
    if not given["robustness"]:
        for name in NOISE:
            if given[name] is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} requires --robustness")
    if given["robustness"]:
        _shake(files, given, svg=svg, as_json=as_json)
        return
    if given["compare"]:
        _compare(files, given, svg=svg, as_json=as_json)
        return
    with captured_warnings() as warned:
        evaluation = _of_model(files, given) if is_model(files[0]) else _of_rows(files, given)
    best = _best_threshold(evaluation, given["threshold"])
    if svg is not None:
        _write(svg, evaluation.svg())
    if as_json:
        worse = evaluation.worse_than_baseline()
        warned += [] if worse is None else [worse]
        emit_json({**evaluation.as_dict(), "warnings": warned, "threshold": best or None})
    else:
        say(evaluation.text())
        if best:
            say()
            label, value = best["class"], f"{best['value']:.4g}"
            say(f"predicting {label} if P({label}) is at least {value}: {best['metric']} {best['score']:.4f}")
            note(f"next: bayes predict MODEL NEW.csv --threshold '{label}={value}'")
        if evaluation.how == TRAINING_ROWS:
            data, target = " ".join(map(shlex.quote, files[1:])), shlex.quote(evaluation.target)
            note(
                f"next: bayes evaluate {data} -t {target} --loo   predicts each of these rows with a model trained "
                "on the others"
            )
        print_warnings(warned)
    if svg is not None:
        note(f"reliability diagram written to {svg}")


def _best_threshold(evaluation: Evaluation, asked: str | None) -> Json:
    """The best threshold for CLASS or CLASS:METRIC, for JSON; empty if not requested."""
    from bayesbox.decide.thresholds import METRICS

    if asked is None:
        return {}
    label, _, metric = asked.rpartition(":")
    if metric not in METRICS or not label:
        label, metric = asked, "f1"
    found = evaluation.best_threshold(label, metric)
    return {"class": label, "metric": metric, "value": found.value, "score": found.score}


def _compare(files: tuple[str, ...], given: Json, *, svg: str | None, as_json: bool) -> None:
    from bayesbox.cli.print import compare

    if is_model(files[0]) or given["model"] or given["loo"] or svg:
        raise click.UsageError(
            "--compare cross-validates all kinds of models on DATA; it cannot be combined with MODEL, --model, --loo "
            "or --svg"
        )
    folds, repeats, seed = given["cv"] or FOLDS, given["repeats"] or 1, given["seed"] or 0

    def judge(model: str, options: dict[str, Any]) -> Evaluation:
        return _of_rows(files, {**given, **options, "model": model})

    yardsticks = _yardsticks(files, given, folds=folds, repeats=repeats, seed=seed) if given["yardsticks"] else {}
    how = f"cross-validation, {folds} folds, {repeats} repeat{'s' if repeats > 1 else ''}, seed {seed}: {files[0]}"
    compare.print_report(compare.compare(judge, how, yardsticks), as_json=as_json)
    if yardsticks and not as_json:
        from bayesbox.classifier.experiment.yardsticks import ABOUT

        note(f"note: {ABOUT}")


def _yardsticks(files: tuple[str, ...], given: Json, **how: int) -> dict[str, Callable[[], Evaluation]]:
    """The evaluation of each scikit-learn model on the same folds; the time excludes reading and importing."""
    from bayesbox.classifier.experiment.robustness import whole_table
    from bayesbox.classifier.experiment.yardsticks import YARDSTICKS, cross_validate_yardstick, load_library

    threads = options.threads_or_default(given["threads"])
    opened = _learner(files, {**given, "model": "naive"}, threads)
    table = whole_table(opened.source.batches(), where=files[0])
    load_library()
    common = {"weight": given["weight"], "bins": given["bins"], "where": files[0], **how}
    return {
        name: functools.partial(cross_validate_yardstick, name, opened.classifier, table, opened.target, **common)
        for name in YARDSTICKS
    }


def _shake(files: tuple[str, ...], given: Json, *, svg: str | None, as_json: bool) -> None:
    from bayesbox.classifier.experiment.changes import NoiseLevels
    from bayesbox.classifier.experiment.robustness import shake, whole_table
    from bayesbox.classifier.registry import KINDS

    target = given["target"]
    if is_model(files[0]) or target is None or given["loo"] or given["compare"] or svg:
        raise click.UsageError(
            "--robustness cross-validates models on DATA: pass -t COLUMN; it cannot be combined with MODEL, --loo, "
            "--compare or --svg"
        )
    threads = options.threads_or_default(given["threads"])
    names = [given["model"]] if given["model"] else [kind.name for kind in KINDS.values() if kind.shaken]
    found = shake(
        {name: _learner(files, {**given, "model": name}, threads).classifier for name in names},
        whole_table(_learner(files, given, threads).source.batches(), where=files[0]),
        target,
        levels=NoiseLevels.of(**{name: given[name] for name in NOISE}, missing=given["missing_values"]),
        weight=given["weight"],
        folds=given["cv"],
        repeats=given["repeats"] or 1,
        seed=given["seed"] or 0,
        bins=given["bins"],
        threads=threads,
        name=files[0],
    )
    if as_json:
        emit_json(found.to_dict())
    else:
        say(str(found))


def is_model(path: str) -> bool:
    """Whether a file is a model: by its first bytes, or by its name if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(len(ZIP)) == ZIP or path.endswith(MODEL_SUFFIX)
    except OSError:
        return path.endswith(MODEL_SUFFIX)


def _write(path: str, text: str) -> None:
    from bayesbox.file.atomic import replacing

    with replacing(path) as file:
        file.write(text.encode())


def _of_model(files: Sequence[str], given: Json) -> Evaluation:
    from bayesbox.classifier.evaluate import evaluate_held_out
    from bayesbox.classifier.registry import kind_of
    from bayesbox.cli.options.sources import Progress, as_learned, reading_of, skipped_rows
    from bayesbox.cli.predict import print_absent
    from bayesbox.file.load import load_classifier
    from bayesbox.source.wrapped import peek

    model, *data = files
    if not data:
        raise click.UsageError("no data to evaluate the model on: pass DATA after the model")
    names = (*LEARNING, *sorted(option_names() - {"prior"}))
    meaningless = [name for name in names if given.get(name) not in (None, ()) and given[name] is not False]
    if meaningless:
        option = meaningless[0].replace("_", "-")
        raise click.UsageError(
            f"--{option} applies to training, but {model} is already trained. Pass the data without a model to train "
            "and evaluate"
        )
    classifier = load_classifier(model)
    if given["prior"]:
        classifier = classifier.with_prior(given["prior"])
    refuse_foreign(kind_of(classifier), given, JUDGE)
    if classifier.needs_target and (given["target"] or classifier.target) is None:
        raise click.UsageError("the model does not record its target column: pass -t COLUMN")
    threads = options.threads_or_default(given["threads"])
    opened = classifier.open_rows(
        data,
        target=given["target"],
        weight=given["weight"],
        text=given["text"],
        learning=False,
        reading=reading_of(given, threads),
    )
    progress = Progress(opened.source)
    try:
        with as_learned(model):
            first, source = peek(opened.source)
            if first is not None:
                print_absent(classifier, first.names, source.name)
            rows = {"bins": given["bins"], "threads": threads, "progress": progress}
            found = evaluate_held_out(classifier, source, opened.target, weight=given["weight"], by=given["by"], **rows)
    finally:
        progress.close()
    skipped_rows(source)
    return found


def _of_rows(data: Sequence[str], given: Json) -> Evaluation:
    from bayesbox.classifier.row_sample import watched
    from bayesbox.cli.options.sources import skipped_rows
    from bayesbox.errors import DataWarning

    threads = options.threads_or_default(given["threads"])
    opened = _learner(data, given, threads)
    classifier, source, target = opened.classifier, opened.source, opened.target
    sampled = None if given["compare"] else watched(classifier, source)
    found = _judged(classifier, sampled or source, target, given, threads)
    if sampled is not None and sampled.enough:
        from bayesbox.table.dependence import dependence_in

        harm = dependence_in(sampled, classifier, target, given["weight"])
        if harm is not None:
            warnings.warn(str(harm), DataWarning, stacklevel=2)
    skipped_rows(source)
    return found


def _require_one_way(given: Json) -> None:
    if not given["loo"]:
        return
    for name in ("cv", "repeats", "seed"):
        if given[name] is not None:
            raise click.UsageError(f"choose one of --loo and --{name}")
    for name in ("calibrate", "select", "column_weights"):
        if given[name] not in (None, NO_CALIBRATION):
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is refitted in every fold: use --cv instead of --loo")
    if given["weight"] is not None:
        raise click.UsageError("--loo counts every row once: use --cv to evaluate with weights")


def _learner(data: Sequence[str], given: Json, threads: int) -> Opened[AnyClassifier]:
    """The rows, and an unfitted classifier for them."""
    from bayesbox.classifier.registry import new_classifier, split_model
    from bayesbox.cli.options.sources import declared_kinds, ignored_columns, reading_of, without_target
    from bayesbox.file.known_file import require_table

    model, target, weight = given["model"] or "naive", given["target"], given["weight"]
    kind = split_model(model)[0]
    refuse_foreign(kind, given, LEARN)
    _require_one_way(given)
    if given["loo"] and kind.of == "documents":  # the choice and the calibration are not refitted for each document
        given = {**given, "occurrence": given["occurrence"] or "count", "calibrate": NO_CALIBRATION}
    ignore, identifiers = ignored_columns(given["ignore"])
    kinds = without_target(declared_kinds(given["types"], ignore), target, weight)
    blank = new_classifier(model, given, kinds)
    blank = blank.changed(ignore=identifiers) if identifiers else blank
    if target is None and blank.needs_target:
        require_table(data[0])
        raise click.UsageError(
            f"{data[0]} is not a model, so it is used as training data, but there is no target column: pass -t COLUMN; "
            "to evaluate a model on data, pass the model first"
        )
    if not (given["compare"] or given["robustness"]):  # there each kind uses the options it has
        require_taken(blank, given)
    return blank.open_rows(
        list(data), target=target, weight=weight, text=given["text"], reading=reading_of(given, threads)
    )


def _judged(classifier: AnyClassifier, source: Source, target: str, given: Json, threads: int) -> Evaluation:
    from bayesbox.classifier.evaluate import cross_validate, leave_one_out
    from bayesbox.cli.options.sources import Progress

    progress = Progress()
    common = {"by": given["by"], "bins": given["bins"], "threads": threads, "progress": progress}
    try:
        if given["loo"]:
            return leave_one_out(classifier, source, target, **common)
        return cross_validate(
            classifier,
            source,
            target,
            folds=given["cv"] or FOLDS,
            repeats=given["repeats"] or 1,
            seed=given["seed"] or 0,
            weight=given["weight"],
            **common,
        )
    finally:
        progress.close()
