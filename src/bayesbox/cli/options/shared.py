"""The options that verbs share, and the parsing of their values. Nothing slow is imported here."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.classifier.options import CALIBRATION_HELP, CALIBRATIONS, LEDGER_HELP, NO_CALIBRATION
from bayesbox.cli.options.verb import Verb as Verb
from bayesbox.errors import BadOption
from bayesbox.file.lock import WAIT
from bayesbox.limits import CLASSES, limit_context

F = TypeVar("F", bound=Callable[..., Any])

INPUT_FORMATS = ["csv", "tsv", "jsonl", "parquet", "arrow", "excel"]
DIALECT_OPTIONS = {
    "encoding": "--encoding",
    "decimal": "--decimal",
    "thousands": "--thousands",
    "delimiter": "--delimiter",
    "skip_rows": "--skip-rows",
    "comment": "--comment",
    "sheet": "--sheet",
}
"""The text format of a file: the names of the parameters, and of the options."""
FILE_OPTIONS = ("input_format", *DIALECT_OPTIONS)
LONG_EXPONENT = re.compile("[eE][+-]?[0-9]{5}")  # such a number would have too many digits
MOST_THREADS = 4  # the default maximum: beyond it, counting is limited by memory bandwidth


def split(text: str) -> list[str]:
    """Comma-separated items; an item that contains a comma is in double quotes.

    >>> split('red,"a, b"')
    ['red', 'a, b']
    """
    return [item.strip() for item in next(csv.reader([text], skipinitialspace=True), []) if item.strip()]


def number(text: str) -> float:
    """A number: a decimal, a fraction or a percentage.

    >>> number("1/6") == 1 / 6, number(".05"), number("5%")
    (True, 0.05, 0.05)
    """
    percent = text.strip().endswith("%")
    bare = text.strip().removesuffix("%").replace(" ", "")
    try:
        value = Fraction("" if LONG_EXPONENT.search(bare) else bare)
        return float(value / 100 if percent else value)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise BadOption("a probability must be a number such as 0.2, 1/5 or 20%", found=text) from None


def probability(text: str) -> float:
    """A number from 0 to 1.

    >>> probability("9/10")
    0.9
    """
    value = number(text)
    if not 0 <= value <= 1:
        raise BadOption("a probability must be between 0 and 1", found=text)
    return value


def pair(text: str, names: Iterable[str] = ()) -> tuple[str, str]:
    """Split name=value; a known name may contain an equals sign.

    >>> pair("size=3"), pair("a=b=3"), pair("a=b=3", ["a=b"])
    (('size', '3'), ('a', 'b=3'), ('a=b', '3'))
    """
    known = max((name for name in names if text.startswith(f"{name}=")), key=len, default="")
    name, equals, value = (known, "=", text[len(known) + 1 :]) if known else text.partition("=")
    if not equals or not name.strip():
        raise BadOption("this must be written name=value", found=text)
    return known or name.strip(), value.strip()


def setting(text: str) -> str:
    """A text name=value, checked but not split, since a name may contain an equals sign."""
    pair(text)
    return text


def shares(text: str) -> dict[str, float]:
    """Probabilities by name.

    >>> shares("yes=.1, no=9/10")
    {'yes': 0.1, 'no': 0.9}
    """
    found: dict[str, float] = {}
    for item in split(text):
        name, equals, value = item.rpartition("=")  # a class may contain an equals sign: <=50K=.7
        if not equals or not name.strip():
            raise BadOption("probabilities must be written name=0.1,name=0.9", found=item)
        if name.strip() in found:
            raise BadOption(f"`{name.strip()}` is given twice", found=text)
        found[name.strip()] = number(value)
    if not found:
        raise BadOption("probabilities must be written name=0.1,name=0.9", found=text)
    return found


def prior_shares(text: str) -> dict[str, float] | str:
    """A prior: the word balanced, or probabilities by class.

    >>> prior_shares("balanced"), prior_shares("yes=.1,no=.9")
    ('balanced', {'yes': 0.1, 'no': 0.9})
    """
    return text.strip() if text.strip() == "balanced" else shares(text)


def costs(text: str) -> dict[tuple[str, str], float]:
    """Costs by true class and decision.

    >>> costs("ill->well=50, well->ill=2")
    {('ill', 'well'): 50.0, ('well', 'ill'): 2.0}
    """
    found: dict[tuple[str, str], float] = {}
    for item in split(text):
        pair, _, cost = item.rpartition("=")
        true, arrow, answer = pair.partition("->")
        try:
            value = float(cost)
        except ValueError:
            arrow = ""
        if not arrow:
            raise BadOption("costs must be written true->answer=5", found=item)
        found[true.strip(), answer.strip()] = value
    return found


def threshold(text: str) -> tuple[str, float]:
    """A class, and the probability from which it is predicted.

    >>> threshold("ill=0.2")
    ('ill', 0.2)
    """
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip():
        raise BadOption("a threshold must be written class=0.2", found=text)
    return name.strip(), probability(value)


def model_file(text: str) -> str:
    """The name of a file for a model."""
    if text == "-":
        raise BadOption("a model cannot be written to standard output: pass a file name")
    return text


if TYPE_CHECKING:
    AnyType = click.ParamType[Any]
else:
    AnyType = click.ParamType  # generic only for the type checker in older versions


class Read(AnyType):
    """A click type that parses text with a function; an error of the function is a usage error."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self.read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except BadOption as error:
            self.fail(str(error), param, ctx)


WORDS = Read("names", split)
PRIOR = Read("prior", prior_shares)
COSTS = Read("costs", costs)
PROBABILITY = Read("probability", probability)
SETTING = Read("name=value", setting)
THRESHOLD = Read("class=probability", threshold)
MODEL_FILE = Read("file", model_file)

ignore_option = click.option(
    "--ignore",
    type=WORDS,
    multiple=True,
    metavar="COLUMN,...",
    help="Columns to ignore; auto ignores those that look like identifiers.",
)

new_model = click.option(
    "-o",
    "--output",
    type=MODEL_FILE,
    metavar="FILE",
    help="Write the new model to another file instead of replacing MODEL.",
)


def wait_option(verb: F) -> F:
    """--wait."""
    return click.option(
        "--wait",
        type=click.FloatRange(min=0),
        default=WAIT,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait while another process is changing the model.",
    )(verb)


def keep_old_option(verb: F) -> F:
    """--keep-old."""
    return click.option(
        "--keep-old", is_flag=True, help="Keep the replaced model: people.bayes becomes people.old.bayes."
    )(verb)


def history_option(verb: F) -> F:
    """--history."""
    return click.option(
        "--history",
        is_flag=True,
        help="Begin a history: people.bayes.history lists this change and all later ones, with time, rows and digests.",
    )(verb)


def refuse_typed(context: click.Context, names: Iterable[str], reason: str) -> None:
    """Raise an error for given options that do not apply here."""
    strange = frozenset(names)
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name in strange and given is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[-1]} {reason}")


def several(lists: tuple[list[str], ...]) -> list[str]:
    """The lists of a repeated option as one list."""
    return [word for words in lists for word in words]


def json_option(verb: F) -> F:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON on standard output.")(verb)


def prior_option(verb: F) -> F:
    """--prior."""
    return click.option(
        "--prior",
        type=PRIOR,
        metavar="CLASS=P,...|balanced",
        help="Change the class prior: yes=.1,no=.9, or balanced for equal probabilities. The likelihoods stay the "
        "same.",
    )(verb)


def na_option(verb: F) -> F:
    """--na."""
    return click.option(
        "--na",
        type=WORDS,
        multiple=True,
        metavar="WORD,...",
        help="Values that mean missing, besides the empty field: ?,NA.",
    )(verb)


def input_format_option(*names: str) -> Callable[[F], F]:
    """The options for the input format and the text format."""
    made = (
        click.option(
            *names,
            "input_format",
            type=click.Choice(INPUT_FORMATS),
            help="The format of the data; detected from the extension or the first bytes by default.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            help="The text encoding: utf-8 by default, or cp1252, latin-1, utf-16 ... A byte order mark takes "
            "precedence.",
        ),
        click.option("--decimal", type=click.Choice([".", ","]), help="The decimal separator; a point by default."),
        click.option("--thousands", metavar="MARK", help="The thousands separator: , or . or ' or _ or a space."),
        click.option(
            "--delimiter",
            metavar="MARK",
            help="The field delimiter: ; or | or tab ... By default comma, tab or semicolon is detected from the "
            "header.",
        ),
        click.option("--skip-rows", type=click.IntRange(min=0), metavar="N", help="Skip N lines before the header."),
        click.option("--comment", metavar="MARK", help="Skip lines that start with this character, such as #."),
        click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook; the first by default."),
    )

    def add(verb: F) -> F:
        for option in reversed(made):
            verb = option(verb)
        return verb

    return add


def classes_limit_option(verb: F) -> F:
    """--classes-limit: applies until the verb ends."""

    def limit(context: click.Context, _: click.Parameter, value: int | None) -> None:
        context.with_resource(limit_context(classes=value))

    return click.option(
        "--classes-limit",
        type=click.IntRange(min=1),
        metavar="N",
        callback=limit,
        expose_value=False,
        help=f"The maximum number of classes; {CLASSES:,} by default. Giving it also allows a numeric target with "
        "many values.",
    )(verb)


def target_bins_option(verb: F) -> F:
    """--target-bins."""
    return click.option(
        "--target-bins",
        type=click.IntRange(min=2),
        metavar="N",
        help="Bin a numeric target into N classes of about equal size.",
    )(verb)


def threads_option(verb: F) -> F:
    """--threads."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"Number of threads; by default one per processor, at most {MOST_THREADS}. The result does not depend on "
        "it.",
    )(verb)


def bad_rows_option(verb: F) -> F:
    """--bad-rows."""
    return click.option(
        "--bad-rows",
        type=click.Choice(["error", "skip"]),
        default="error",
        show_default=True,
        help="Stop at a malformed row, or skip and count it.",
    )(verb)


def follow_option(verb: F) -> F:
    """--follow."""
    return click.option(
        "--follow", is_flag=True, help="Follow symbolic links in folders of documents; skipped and counted by default."
    )(verb)


def weight_option(verb: F) -> F:
    """--weight."""
    return click.option("--weight", metavar="COLUMN", help="A column of weights: a row counts as this many rows.")(verb)


def types_option(verb: F) -> F:
    """--types."""
    return click.option(
        "--types",
        multiple=True,
        metavar="COLUMN=KIND,...",
        help="Declare column types: category, flag, real, count, date, words, ignore. The allowed levels of a "
        "category follow colons: car=category:suv:truck. Also date:%d/%m/%Y, count:poisson, real:floor=0, "
        "words:normalised, category:missing=level and category:group=modl.",
    )(verb)


def calibrate_option(verb: F) -> F:
    """--calibrate."""
    return click.option(
        "--calibrate",
        type=click.Choice((*CALIBRATIONS, NO_CALIBRATION)),
        help=CALIBRATION_HELP,
    )(verb)


def ledger_flag(verb: F) -> F:
    """--ledger."""
    return click.option("--ledger", is_flag=True, help=LEDGER_HELP)(verb)


def threads_or_default(given: int | None) -> int:
    """The given number of threads, or one per processor up to a few."""
    return given or min(MOST_THREADS, os.cpu_count() or 1)


def values_set(settings: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The values of --set by name, each once; `names` are the known ones.

    >>> values_set(["age=34", "car=suv"], ["age", "car"])
    {'age': '34', 'car': 'suv'}
    """
    values: dict[str, str] = {}
    for text in settings:
        name, value = pair(text, names)
        if name in values:
            raise BadOption(f"`{name}` is set twice", found=value)
        values[name] = value
    return values
