"""`bayes average`."""

from __future__ import annotations

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import captured_warnings, emit_json, note
from bayesbox.errors import BadOption


@click.command(
    "average",
    cls=options.Verb,
    short_help="Average several models, each with a weight.",
    examples=(
        "bayes average naive.bayes tan.bayes -o both.bayes",
        "bayes average north.bayes south.bayes --weights 3,1 -o country.bayes",
    ),
    notes="The answer is the weighted sum of P(class | model) over the models. It is the Bayes optimal answer if the "
    "weights are P(model | rows); bayes train --model optimal learns such weights. Keys of --json: model, "
    "target, classes, hypotheses (file, kind, weight), warnings.",
)
@click.argument("models", nargs=-1, required=True)
@click.option(
    "--weights",
    type=options.WORDS,
    metavar="W,W,...",
    help="The weight of each model, up to a common factor; equal by default.",
)
@click.option(
    "-o", "--output", required=True, type=options.MODEL_FILE, metavar="FILE", help="The file for the combined model."
)
@options.keep_old_option
@options.wait_option
@options.json_option
def command(
    models: tuple[str, ...], weights: list[str] | None, output: str, keep_old: bool, wait: float, as_json: bool
) -> None:
    """Combine several models: the prediction is the weighted average of theirs.

    The models may be of different kinds and have different classes, but columns that they share must have the same
    type.
    """
    from bayesbox.classifier.registry import kind_of, model_name
    from bayesbox.file.load import load_classifier
    from bayesbox.file.lock import FileLock
    from bayesbox.file.save import save
    from bayesbox.table.optimal.classifier import OptimalClassifier

    with captured_warnings() as warned, FileLock(output, wait=wait, verb="average") as lock:
        loaded = [load_classifier(path) for path in models]
        for path, each in zip(models, loaded, strict=True):
            if kind_of(each).of != "rows":
                raise BadOption(f"a model of {kind_of(each).of} cannot be averaged with other models", where=path)
        average = OptimalClassifier.of(loaded, _numbers(weights, len(loaded)), models)
        average.check()  # raises before anything is written
        save(average, output, lock=lock, keep_old=keep_old)
    rows = zip(models, loaded, average.known.weights, strict=True)
    hypotheses = [{"file": path, "kind": model_name(each), "weight": weight} for path, each, weight in rows]
    if as_json:
        emit_json(
            {
                "model": output,
                "target": average.target,
                "classes": list(average.model.classes),
                "hypotheses": hypotheses,
                "warnings": warned,
            }
        )
        return
    for each in hypotheses:
        note(f"{each['weight']:.4f} {each['file']}, {each['kind']}")
    for text in warned:
        note(f"note: {text}")
    note(f"written to {output}")


def _numbers(weights: list[str] | None, count: int) -> list[float]:
    if not weights:
        return [1.0] * count
    try:
        return [float(each) for each in weights]
    except ValueError:
        raise BadOption("a weight must be a number", where="--weights", found=",".join(weights)) from None
