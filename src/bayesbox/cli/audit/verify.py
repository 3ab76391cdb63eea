"""`bayes verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say
from bayesbox.errors import BadData, BadModelFile, BadOption, SourceUnavailable

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.certificate import Certificate, Statement
    from bayesbox.file.reader import Json
    from bayesbox.tally.book import Book
    from bayesbox.tally.ledger import Ledger


@click.command(
    "verify",
    cls=options.Verb,
    short_help="Check the certificate of a forgetting, or the store of a service.",
    examples=(
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv",
        "bayes verify withdrawn.json people.bayes --rest remaining.csv",
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv --rest remaining.csv",
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv --since tuesday.csv",
        "bayes verify withdrawn.json people.bayes --public-key company.pub.pem",
        "bayes verify models",
        "bayes verify models --store postgresql://localhost/bayes --public-key company.pub.pem",
    ),
    notes="Keys of --json: holds, statements (of those that were checked, by their text), checks (statement, outcome: "
    "right, wrong or not checked; needs: what would check it), derived (what subtracting does not undo). "
    "The exit code is 3 if a statement is wrong, and also if none was checked of the rows or of the signature: "
    "a certificate that somebody made up for a model says the right thing about that model. "
    "Keys of --json for a folder: holds, models (model, holds, sequence, rows, events, digest, retrained: the digest "
    "of base and events counted again, snapshots, certificates, signed, faults), audit (holds, records, head, faults).",
)
@click.argument("certificate", metavar="CERTIFICATE|DIR")
@click.argument("model", required=False)
@click.option(
    "--rest",
    multiple=True,
    metavar="DATA",
    help="The rows that are left: a model is trained on them alone, or with a ledger only their hash is taken.",
)
@click.option("--retrain", is_flag=True, help="With a ledger too, train a model on the --rest.")
@click.option("--rows", multiple=True, metavar="DATA", help="The rows that were taken out.")
@click.option(
    "--since",
    multiple=True,
    metavar="DATA",
    help="Rows that the model has learned since then: it is checked without them.",
)
@click.option("--public-key", metavar="FILE", help="Check the signature by this key (PEM), made by bayes key.")
@click.option("--store", metavar="URL", help="The store of the folder, where it is not store.db in it.")
@options.weight_option
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(certificate: str, model: str | None, as_json: bool, store: str | None, **given: Any) -> None:
    """Check the certificate of a forgetting, and print what was checked and what was not.

    With the rows that are left, a model is trained on them alone, and its digest must be the one of the certificate:
    then nothing of the rows taken out is in the tallies. Where the model keeps a ledger (bayes train --ledger), these
    rows are hashed instead, which needs no room in memory, and the hash must be that of the model: then it has learned
    these rows, one by one, and no others.

    A model that has learned more since then is not the one of the certificate: give these rows with --since.

    With the folder of a service (bayes serve), every model is counted again from its base and the events that are left,
    and its digest must be the one that the store holds; so must those of the snapshots, the certificates and the audit
    log.
    """
    if model is None:
        _require_folder(certificate, given)
        from bayesbox.cli.audit.verify_service import verify_folder

        return verify_folder(certificate, store, given["public_key"], as_json=as_json)
    if store is not None:
        raise BadOption("--store belongs to the folder of a service", found=store)
    from bayesbox.classifier.certificate import Certificate, is_bound, is_wrong
    from bayesbox.classifier.signature import load_public_key
    from bayesbox.file.load import load_classifier

    promised = Certificate.from_text(_text_of(certificate), where=certificate)
    key = None if given["public_key"] is None else load_public_key(given["public_key"])
    classifier = load_classifier(model)
    by_row = promised.ledger is not None
    rows, count = _counted(classifier.with_empty_counts().with_ledger(by_row), model, given["rows"], given)
    retrained = given["rest"] if given["retrain"] or not by_row else ()
    rest, _ = _counted(classifier.with_empty_counts().with_ledger(False), model, retrained, given)
    since, _ = _counted(classifier.with_empty_counts().with_ledger(by_row), model, given["since"], given)
    found = promised.check(
        model=classifier.book if since is None else classifier.book - since,
        rows=rows,
        rest=rest,
        rest_ledger=_hashed(classifier, model, given["rest"], given) if by_row else None,
        count=count,
        public_key=key,
    )
    wrong, bound = is_wrong(found), is_bound(found)
    if as_json:
        emit_json(_report(found, promised, holds=bound and not wrong))
    else:
        for statement in found:
            say(_line(statement))
        for item in promised.derived:
            say(f"not undone by subtracting: {item}")
    if wrong:
        remedy = "If the model has learned rows since the forgetting, name them: --since DATA"
        raise BadData("the certificate does not hold", where=certificate, remedy=None if given["since"] else remedy)
    if not bound:
        raise BadData(
            "nothing was checked that shows a forgetting: only that the model is the one that the certificate names",
            where=certificate,
            remedy="Give the rows taken out (--rows), those that are left (--rest), or the signer's key (--public-key)",
        )
    return None


def _require_folder(path: str, given: Json) -> None:
    """Refuse a certificate without a model, and options that say nothing of a folder."""
    if not Path(path).is_dir():
        raise BadOption(
            "a certificate is checked against a model",
            found=path,
            remedy="Write bayes verify CERTIFICATE MODEL, or bayes verify DIR for the store of a service",
        )
    for name in ("rest", "retrain", "rows", "since", "weight", "na", "input_format", "encoding"):
        if given.get(name):
            raise BadOption(
                f"--{name.removeprefix('input_')} belongs to a certificate, and this is the folder of a service",
                where=path,
            )


def _line(statement: Statement) -> str:
    from bayesbox.classifier.certificate import Outcome

    found = "WRONG" if statement.outcome is Outcome.WRONG else str(statement.outcome)
    return f"{found:<11}  {statement.name}" + (f": needs {statement.needs}" if statement.needs else "")


def _text_of(certificate: str) -> str:
    try:
        return Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        raise SourceUnavailable(error.strerror or "cannot be read", where=certificate) from None
    except UnicodeDecodeError:
        raise BadData("not a certificate: this is not text", where=certificate) from None


def _report(found: tuple[Statement, ...], promised: Certificate, *, holds: bool) -> Json:
    from bayesbox.classifier.certificate import Outcome

    checked = [each for each in found if each.outcome is not Outcome.NOT_CHECKED]
    return {
        "holds": holds,
        "statements": {each.name: each.outcome is Outcome.RIGHT for each in checked},
        "checks": [
            {"statement": each.name, "outcome": str(each.outcome), "needs": each.needs or None} for each in found
        ],
        "derived": list(promised.derived),
    }


def _hashed(classifier: AnyClassifier, model: str, data: tuple[str, ...], given: Json) -> Ledger | None:
    """The ledger of some rows, read as the model reads them."""
    from bayesbox.classifier.row_ledger import ledger_of
    from bayesbox.cli.options.sources import model_source

    if not data:
        return None
    _require_target(classifier, model)
    source, target = model_source(classifier, data, given)
    return ledger_of(classifier, source, target, weight=given["weight"], threads=options.threads_or_default(None))


def _require_target(classifier: AnyClassifier, model: str) -> None:
    if classifier.needs_target and classifier.target is None:
        raise BadModelFile("the model does not say which column held the classes", where=model)


def _counted(fresh: AnyClassifier, model: str, data: tuple[str, ...], given: Json) -> tuple[Book | None, int | None]:
    """The tallies of some rows alone, read as the model reads them, and how many rows they are; `fresh` counts them."""
    from bayesbox.classifier.train import train
    from bayesbox.cli.options.sources import model_source

    if not data:
        return None, None
    _require_target(fresh, model)
    source, target = model_source(fresh, data, given)
    training = train(fresh, source, target, weight=given["weight"])
    return fresh.book, training.rows - training.unlabelled
