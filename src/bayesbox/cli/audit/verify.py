"""`bayes verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbox.cli.options import shared as options
from bayesbox.cli.print.output import emit_json, say
from bayesbox.errors import BadData, BadModelFile, BadOption

if TYPE_CHECKING:
    from bayesbox.classifier.base import AnyClassifier
    from bayesbox.classifier.certificate import Certificate, Statement
    from bayesbox.file.reader import Json
    from bayesbox.tally.book import Book
    from bayesbox.tally.ledger import Ledger


@click.command(
    "verify",
    cls=options.Verb,
    short_help="Check the certificate of a forget, or the store of a service.",
    examples=(
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv",
        "bayes verify withdrawn.json people.bayes --rest remaining.csv",
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv --rest remaining.csv",
        "bayes verify withdrawn.json people.bayes --rows withdrawn.csv --since tuesday.csv",
        "bayes verify withdrawn.json people.bayes --public-key company.pub.pem",
        "bayes verify models",
        "bayes verify models --store postgresql://localhost/bayes --public-key company.pub.pem",
    ),
    notes="The exit code is 3 if a statement is wrong, and also if neither the rows nor the signature were checked: "
    "anyone can write a certificate that is true of a given model. Keys of --json: holds, statements (of those "
    "that were checked, by their text), checks (statement, outcome: right, wrong or not checked; needs: what "
    "would check it), derived (parts that subtraction does not undo). "
    "Keys of --json for a folder: holds, models (model, holds, sequence, rows, events, digest, retrained: the digest "
    "of base and events counted again, snapshots, certificates, signed, faults), audit (holds, records, head, faults).",
)
@click.argument("certificate", metavar="CERTIFICATE|DIR")
@click.argument("model", required=False)
@click.option(
    "--rest",
    multiple=True,
    metavar="DATA",
    help="The remaining rows: a model is trained on them alone, or, with a ledger, only their hash is computed.",
)
@click.option("--retrain", is_flag=True, help="Train a model on --rest even if there is a ledger.")
@click.option("--rows", multiple=True, metavar="DATA", help="The rows that were removed.")
@click.option(
    "--since",
    multiple=True,
    metavar="DATA",
    help="Rows learned after the forget: the model is checked without them.",
)
@click.option(
    "--public-key", metavar="FILE", help="Check the signature with this public key (PEM), created by bayes key."
)
@click.option("--store", metavar="URL", help="The store of the folder, if it is not store.db in it.")
@options.weight_option
@options.na_option
@options.input_format_option("-f", "--format")
@options.json_option
def command(certificate: str, model: str | None, as_json: bool, store: str | None, **given: Any) -> None:
    """Check the certificate of a forget, and print what was checked and what was not.

    With --rest, a model is trained on the remaining rows alone, and its digest must equal that of the certificate: then
    the tallies contain nothing of the removed rows. If the model keeps a ledger (bayes train --ledger), the remaining
    rows are only hashed, which needs little memory, and the hash must equal that of the model: then it has learned
    exactly these rows.

    If the model has learned more rows since the forget, pass them with --since.

    With the folder of a service (bayes serve), every model is counted again from its base and the remaining events, and
    its digest must equal that in the store; so must those of the snapshots, the certificates and the audit log.
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
            say(f"not undone by subtraction: {item}")
    if wrong:
        remedy = "If the model has learned rows since the forget, name them: --since DATA"
        raise BadData("the certificate does not hold", where=certificate, remedy=None if given["since"] else remedy)
    if not bound:
        raise BadData(
            "nothing was checked that proves a forget, only that the model is the one the certificate names",
            where=certificate,
            remedy="Pass the removed rows (--rows), the remaining rows (--rest), or the signer's key (--public-key)",
        )
    return None


def _require_folder(path: str, given: Json) -> None:
    """Raise an error for a certificate without a model, and for options that do not apply to a folder."""
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
    from bayesbox.file.known_file import CERTIFICATE_FILE, kind_of_file
    from bayesbox.file.wrong_file import unavailable

    remedy = "Pass the file that bayes forget --certificate wrote, then the model"
    try:
        known = kind_of_file(certificate)
        if known is not None and known.what != CERTIFICATE_FILE:
            raise BadData(f"this is {known.what}, not {CERTIFICATE_FILE}", where=certificate, remedy=remedy)
        return Path(certificate).read_text(encoding="utf-8")
    except OSError as error:
        raise unavailable(error, certificate) from None
    except UnicodeDecodeError:
        raise BadData(f"this is not {CERTIFICATE_FILE}", where=certificate, remedy=remedy) from None


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
    """The ledger of some rows, as the model reads them."""
    from bayesbox.classifier.row_ledger import ledger_of
    from bayesbox.cli.options.sources import model_source

    if not data:
        return None
    _require_target(classifier, model)
    source, target = model_source(classifier, data, given)
    return ledger_of(classifier, source, target, weight=given["weight"], threads=options.threads_or_default(None))


def _require_target(classifier: AnyClassifier, model: str) -> None:
    if classifier.needs_target and classifier.target is None:
        raise BadModelFile("the model does not record its target column", where=model)


def _counted(fresh: AnyClassifier, model: str, data: tuple[str, ...], given: Json) -> tuple[Book | None, int | None]:
    """The tallies of some rows, as the model reads them, and the number of rows; `fresh` counts them."""
    from bayesbox.classifier.train import train
    from bayesbox.cli.options.sources import model_source

    if not data:
        return None, None
    _require_target(fresh, model)
    source, target = model_source(fresh, data, given)
    training = train(fresh, source, target, weight=given["weight"])
    return fresh.book, training.rows - training.unlabelled
