"""`bayes query`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.options.interval import draws_option, interval_option
from bayesbox.cli.options.written_work import html_option, latex_option, print_work, require_form
from bayesbox.cli.print.output import decimal, emit_json, note, plural, say, table
from bayesbox.limits import as_bytes

if TYPE_CHECKING:
    from fractions import Fraction

    from bayesbox.file.reader import Json
    from bayesbox.network.joint.independence import Verdict
    from bayesbox.network.joint.model import JointCounts
    from bayesbox.network.joint.query import Answer
    from bayesbox.network.query.notation import Question


DRAWS = 2_000  # draws from the posteriors of the tables for an interval
ROWS = ("weight", "types", "na", "bad_rows", *options.DIALECT_OPTIONS)


@click.command(
    "query",
    cls=options.Verb,
    groups={
        "Networks": ("mpe", "approx", "samples", "seed", "interval", "draws", "normalize"),
        "Calculation": ("show_work", "work_method"),
    },
    short_help="Query probabilities and independence in a table or a network.",
    examples=(
        "bayes query shapes.csv 'P(colour=red, size=large | class=+)'",
        "bayes query shapes.csv 'P(colour | class=+)'",
        "bayes query shapes.csv 'colour=red _|_ size=large | class=+'",
        "bayes query shapes.csv 'colour=red _|_ size=large | class=+' --show-work",
        "bayes query people.csv 'P(income=>50K | sex=Female)' --na ?",
        "bayes query tests.csv 'P(ill | alarm~0.7)'",
        "bayes query alarm.bif 'P(B | J=true, M=true)'",
        "bayes query alarm.bif 'P(B | J=true, M=true)' --show-work",
        "bayes query alarm.bif 'P(B=true | J=true)' --show-work --work-method elimination --latex",
        "bayes query alarm.bif 'P(B | J=true)' --approx weighting --show-work",
        "bayes query alarm.bif 'P(B, E | J=true)' --mpe",
        "bayes query alarm.bif 'P(B | J=true)' --approx gibbs",
        "bayes query alarm.bif 'P(B | J=true)' --approx bounds",
        "bayes query alarm.bif 'P(B=true | J=true, M=true)' --approx all",
        "bayes query learned.json 'P(B=true | J=true)' --interval .95",
        "bayes query alarm.bif 'P(M | do(A=true))'",
        "bayes query alarm.bif 'P(B | A:=0.8)'",
        "bayes query grid.uai 'P(7)' --evidence-file grid.uai.evid --max-bytes 4GiB",
        "bayes query alarm.bif 'J _|_ M | A'",
        "bayes query people.bayes 'P(income | sex=Female, education=Masters)'",
    ),
    notes="Put a name that contains one of , | = ( ) ~ : and a value that contains one of , | ( ) in double quotes. "
    "alarm~0.7 is virtual evidence, a likelihood; colour~(red:0.7, blue:0.3) is the same for any values. For a "
    "network, alarm:=0.7 sets the new probability (Jeffrey's rule), and do(alarm=true) is an intervention. "
    "Keys of --json: question, counted, left_out; for an event fraction, probability, given; for a table columns, "
    "rows, given; for independence independent, joint, product, parts, chi_square, g. Of a network: question, and "
    "probability (with fraction, where the network is small), or columns and rows; with --mpe states, probability, "
    "log_joint; for independence independent, path; with --show-work, work (title, steps (name, columns, rows (name, "
    "cells))); with --approx, standard_error beside "
    "probability, and approximation with the diagnostics of the method; with --approx all, exact (rows, or null "
    "and refused), methods (method, rows, error, standard_error, approximation, notes, refused), by_samples (method, "
    "samples, error, stated: root mean squares) and runs; with --interval, level, draws and rows "
    "(levels, estimate, low, high). "
    "The approximations: weighting, gibbs and blockgibbs draw samples and state standard errors, or that they cannot; "
    "bounds works out the weightiest cases and states bounds that hold for certain; loopy is exact on polytrees and "
    "else states its residual, meanfield bounds the probability of the evidence from below.",
)
@click.argument("data", nargs=-1)
@click.argument("question")
@options.weight_option
@options.types_option
@options.na_option
@options.bad_rows_option
@options.input_format_option("-f", "--format")
@click.option("--mpe", is_flag=True, help="For networks: the most probable joint states of the targets.")
@click.option(
    "--approx",
    metavar="METHOD",
    help="For networks: an approximate answer, if an exact one is too expensive: weighting, gibbs, blockgibbs, "
    "bounds, loopy, meanfield, or a method of an extension; all compares each of them with the exact answer.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    help="With --approx weighting, gibbs, blockgibbs or all: the number of samples; 100,000 by default, 3,200 of "
    "blockgibbs.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="With --approx (except bounds and loopy) and --interval: the random seed; 0 by default.",
)
@interval_option("For networks with counted tables: a credible interval of the answer")
@draws_option
@click.option(
    "--max-bytes",
    metavar="SIZE",
    help="For networks: the memory that an exact answer may use, such as 4GiB; 2GiB by default. An answer that needs "
    "more is computed case by case.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="For networks: the time that an exact answer computed case by case may take; 1200 by default.",
)
@click.option(
    "--evidence-file",
    metavar="FILE",
    help="For networks: add the evidence of a UAI file (.evid) to that of the question.",
)
@click.option("--normalize", is_flag=True, help="For networks: rescale table rows that do not sum to 1.")
@click.option(
    "--show-work",
    is_flag=True,
    help="Print the counts, products or sums behind the answer; with --approx weighting or gibbs, the first samples.",
)
@click.option(
    "--work-method",
    type=click.Choice(["auto", "enumeration", "elimination"]),
    default="auto",
    show_default=True,
    help="With --show-work: term by term or factor by factor; auto chooses the shorter one.",
)
@latex_option
@html_option
@options.json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    data: tuple[str, ...],
    question: str,
    mpe: bool,
    approx: str | None,
    samples: int | None,
    seed: int | None,
    normalize: bool,
    show_work: bool,
    work_method: str,
    latex: bool,
    html: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Answer a question about a table or a network exactly, as a fraction and as a decimal.

    P(colour=red | class=+) is a number, P(colour | class=+) a table; colour _|_ size | class tests independence. Rows
    with a missing value in a column of the question are dropped. DATA may also be a Bayesian network (.bif, .xmlbif,
    .bifxml, .xml, .uai, .net, .xdsl, .json) or a model file of naive Bayes, TAN or KDB, which are networks: then the
    answer is exact inference, and independence is d-separation.
    """
    from bayesbox.network.joint.independence import verdict
    from bayesbox.network.joint.query import Answer, answer
    from bayesbox.network.query.notation import Query, parse

    if not data:
        raise click.UsageError("pass the data, then the question")
    asked = parse(question)
    drawn = {name: value for name, value in (("samples", samples), ("seed", seed)) if value is not None}
    interval = given.pop("interval")
    size, seconds, evidence_file = (given.pop(name) for name in ("max_bytes", "max_seconds", "evidence_file"))
    limits = (None if size is None else as_bytes(size, where="--max-bytes"), seconds, evidence_file)
    draws = given.pop("draws")
    if samples is not None and approx is None:
        raise click.UsageError("--samples requires --approx")
    if seed is not None and approx is None and interval is None:
        raise click.UsageError("--seed requires --approx or --interval")
    if draws is not None and interval is None:
        raise click.UsageError("--draws requires --interval")
    if interval is not None and (mpe or approx or show_work):
        raise click.UsageError("--interval cannot be combined with --mpe, --approx or --show-work")
    require_form(latex=latex, html=html, shown=show_work, option="--show-work", as_json=as_json)
    if work_method != "auto" and not show_work:
        raise click.UsageError("--work-method requires --show-work")
    if len(data) == 1 and _is_network(data[0], given["input_format"]):
        from bayesbox.cli.network.query import AnswerLimits, NetworkWork, answer_network

        options.refuse_typed(context, ROWS, f"applies to tables, but {data[0]} is a network")
        if interval is not None:
            from bayesbox.cli.network.query import answer_with_interval

            how = {"level": interval, "draws": draws or DRAWS, "seed": seed or 0}
            answer_with_interval(data[0], asked, how, normalize=normalize, as_json=as_json)
            return
        approximation = None if approx is None else (approx, drawn)
        answer_network(
            data[0],
            asked,
            mpe=mpe,
            approximation=approximation,
            normalize=normalize,
            work=NetworkWork(work_method, latex=latex, html=html) if show_work else None,
            as_json=as_json,
            limits=AnswerLimits(*limits),
        )
        return
    if mpe or normalize or approx or interval or work_method != "auto" or any(each is not None for each in limits):
        raise click.UsageError(
            "--mpe, --approx, --interval, --normalize, --work-method, --max-bytes, --max-seconds and --evidence-file "
            "need a network file"
        )
    counted = _counted(data, asked, given)
    found = answer(counted, asked) if isinstance(asked, Query) else verdict(counted, asked)
    if as_json:
        facts = _answer_facts(found) if isinstance(found, Answer) else _verdict_facts(found)
        emit_json({**facts, "work": found.work().to_dict()} if show_work else facts)
    elif show_work:
        print_work(found.work(), latex=latex, html=html)
    elif isinstance(found, Answer):
        _print_answer(found)
    else:
        _print_verdict(found)


def _is_network(path: str, input_format: str | None) -> bool:
    """Whether a file is a network, or a model that may be one, by its extension."""
    from bayesbox.cli.network.opened import is_model_file
    from bayesbox.network.formats import format_of

    return input_format is None and (is_model_file(path) or format_of(path) is not None)


def _counted(data: tuple[str, ...], asked: Question, given: Json) -> JointCounts:
    """The joint counts of the columns of the question."""
    from bayesbox.classifier.train import source_of
    from bayesbox.cli.options.sources import Progress, declared_kinds, skipped_rows
    from bayesbox.network.joint.joint import count_table
    from bayesbox.source.files.dialect import TextDialect

    kinds = declared_kinds(given["types"])
    source = source_of(
        list(data),
        None,
        kinds,
        weight=given["weight"],
        only=frozenset([*asked.names, *([given["weight"]] if given["weight"] else [])]),
        na=options.several(given["na"]),
        bad_rows=given["bad_rows"],
        format=given["input_format"],
        dialect=TextDialect.of(given),
    )
    progress = Progress()
    try:
        counted = count_table(source, weight=given["weight"], kinds=kinds, only=asked.names, progress=progress)
    finally:
        progress.close()
    skipped_rows(source)
    return counted


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _probability(value: Fraction) -> Json:
    return {"fraction": str(value), "probability": float(value)}


def _answer_facts(found: Answer) -> Json:
    from bayesbox.network.query.probability_table import ProbabilityTable

    facts: Json = {"question": str(found.query)}
    if isinstance(found.value, ProbabilityTable):
        columns = found.value.columns
        levels = [key if isinstance(key, tuple) else (key,) for key in found.value]
        facts["columns"] = list(columns)
        facts["rows"] = [
            {"levels": list(key), **_probability(value)}
            for key, value in zip(levels, found.value.fractions.values(), strict=True)
        ]
    else:
        facts |= _probability(found.value)
    return facts | {
        "given": _number(found.given),
        "counted": _number(found.counted),
        "left_out": _number(found.left_out),
    }


def _print_answer(found: Answer) -> None:
    from bayesbox.network.query.probability_table import ProbabilityTable, figure

    if isinstance(found.value, ProbabilityTable):
        columns = found.value.columns
        table([*columns, "fraction", "probability"], found.value.rows(), right=[len(columns)])
    else:
        say(figure(found.value))
    _print_missing(found.left_out)


def _verdict_facts(found: Verdict) -> Json:
    figures = (found.joint, *found.factors)
    return {
        "question": str(found.question),
        "independent": found.independent,
        "joint": _probability(found.joint),
        "product": _probability(found.product),
        "parts": [
            {"query": str(query), **_probability(value)} for query, value in zip(found.parts, figures, strict=True)
        ],
        "chi_square": _test_facts(found.chi_square),
        "g": _test_facts(found.g),
        "counted": _number(found.counted),
        "left_out": _number(found.left_out),
    }


def _test_facts(test: Any) -> Json:
    return {"statistic": test.statistic, "degrees_of_freedom": test.degrees, "p_value": test.p_value}


def _print_verdict(found: Verdict) -> None:
    say(repr(found))
    tests = (("chi-square", found.chi_square), ("G", found.g))
    rows = [[name, decimal(test.statistic), str(test.degrees), decimal(test.p_value)] for name, test in tests]
    table(["test", "statistic", "degrees of freedom", "p"], rows, right=[1, 2, 3])
    _print_missing(found.left_out)


def _print_missing(left_out: Fraction) -> None:
    if not left_out:
        return
    rows = (
        plural(int(left_out), "row")
        if left_out.denominator == 1
        else (f"rows of total weight {decimal(float(left_out))}")
    )
    note(f"{rows} dropped, with a missing value")
