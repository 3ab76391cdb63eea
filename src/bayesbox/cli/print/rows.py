"""The output for table models of any kind; kinds with additional output have their own printers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbox.cli.print import nomogram
from bayesbox.cli.print.calibration import calibration_facts, calibration_lines, stale_lines
from bayesbox.cli.print.model import (
    counted,
    densities_of,
    information_of,
    intervals_of,
    own_rules,
    print_column,
    print_model,
    prior_of,
    tally_of,
)
from bayesbox.cli.print.output import emit_json, note, plural, print_warnings, say
from bayesbox.cli.print.printer import Printer
from bayesbox.errors import BadOption
from bayesbox.file.digest import file_digest

if TYPE_CHECKING:
    from bayesbox.classifier.case import RowCase
    from bayesbox.classifier.table import AnyTableClassifier
    from bayesbox.classifier.training import Training
    from bayesbox.explain.nomogram import Nomogram
    from bayesbox.explain.steps import Work
    from bayesbox.file.reader import Json
    from bayesbox.source.base import Batch


T = TypeVar("T", bound="AnyTableClassifier")


class RowPrinter(Printer[T]):
    """The printer of table models."""

    # -- train ---------------------------------------------------------------------------------------------------

    def learned(self, classifier: T, training: Training, skipped: int, warned: list[str]) -> Json:
        """The report of `train` for JSON: what was learned, and what looks suspicious."""
        from bayesbox.classifier.report.describe import column_facts, remarks

        assert classifier.schema is not None
        return {
            "target": classifier.target,
            "rows": training.rows,
            "unlabelled": training.unlabelled,
            "skipped": skipped,
            "classes": counted(classifier),
            "columns": [facts.as_dict() for facts in column_facts(classifier.schema, classifier.book)],
            "ignored": {**classifier.model.ignored, **classifier.ignored},
            "warnings": [
                *map(str, remarks(classifier.schema, classifier.book, classifier.ignored)),
                *classifier.notes(),
                *warned,
            ],
            "digest": classifier.book.digest(),
            **({"calibration": calibration_facts(classifier)} if classifier.calibrates_by_default else {}),
            **self.more(classifier),
        }

    def more(self, classifier: Any) -> Json:  # noqa: ARG002
        """Additional facts of this kind, for JSON."""
        return {}

    def print_learned(self, classifier: T, report: Json) -> None:
        """Print what was learned."""
        from bayesbox.cli.print.reports import columns_table, counted_classes

        if classifier.fixed:
            note(f"a model from given tables: {', '.join(report['classes'])}")
        else:
            columns_table(classifier, err=True)
            without = f", {report['unlabelled']:,} without a label dropped" if report["unlabelled"] else ""
            note(f"{plural(report['rows'], 'row')}{without}; {report['target']}: {counted_classes(report['classes'])}")
        self.print_more(classifier, err=True)
        for text in calibration_lines(classifier):
            note(text)
        print_warnings(report["warnings"])
        if report["digest"]:
            note(f"digest {report['digest']}")
        if classifier.size() is None:  # it combines several models, so the counts are not informative
            note(f"model digest {report['model_digest']}")
        note(f"written to {report['model']}")
        note(f"next: bayes show {report['model']}   or   bayes predict {report['model']} NEW.csv --proba")

    def print_more(self, classifier: T, *, err: bool = False) -> None:
        """Print additional facts of this kind."""

    # -- show ----------------------------------------------------------------------------------------------------

    def show(
        self,
        classifier: T,
        path: str,
        *,
        column: str | None,
        svg: str | None,
        found: Nomogram | None,
        as_json: bool,
    ) -> None:
        """Print what a model has learned, the tally of one `column`, and the nomogram `found`."""
        if svg and found:
            nomogram.write(found, svg)
        elif svg and column:
            self.draw(classifier, column, svg)
        if not classifier.classes:
            self._print_emptied(classifier, path, as_json=as_json)
            return
        if as_json:
            report = self._facts(classifier, path)
            if column:
                report["column"] = tally_of(classifier, column, path)
            if found:
                report["nomogram"] = found.as_dict()
            emit_json(report)
            return
        tally = tally_of(classifier, column, path) if column else None  # raises before anything is printed
        print_model(classifier, path, classifier.size(), self.more(classifier).get("column_weights"), apart=column)
        for text in calibration_lines(classifier):
            say(text)
        for text in stale_lines(classifier, path):
            say(text)
        if tally:
            say()
            print_column(tally)
        if found:
            say()
            nomogram.print_report(found)

    def _facts(self, classifier: T, path: str) -> Json:
        from bayesbox.classifier.registry import model_name
        from bayesbox.classifier.report.describe import column_facts, rules_facts

        size = classifier.size()
        assert classifier.schema is not None
        report = {
            "model": path,
            "kind": model_name(classifier),
            "target": classifier.target,
            "classes": counted(classifier),
            "prior": prior_of(classifier),
            "rules": rules_facts(classifier.rules),
            "columns": [facts.as_dict() for facts in column_facts(classifier.schema, classifier.book)],
            "densities": densities_of(classifier),
            "intervals": intervals_of(classifier),
            "information": information_of(classifier),
            "left_out": {**classifier.model.ignored, **classifier.ignored},
            "smoothing_by_column": own_rules(classifier),
            "parameters": None if size is None else size.parameters,
            "joint_parameters": None if size is None else size.joint,
            "parameter_counts": classifier.parameters().to_dict(),
            "digest": None if classifier.fixed else classifier.book.digest(),
            "model_digest": file_digest(path),
            "ledger": classifier.book.ledger_digest(),
            "redacted": classifier.redacted,
            "calibration": calibration_facts(classifier),
            "stale": classifier.stale,
            **self.more(classifier),
        }
        if size is not None and size.naive is not None:
            report |= {"naive_parameters": size.naive, "notes": list(classifier.notes())}
        return report

    def _print_emptied(self, classifier: T, path: str, *, as_json: bool) -> None:
        """Print a model whose rows were all forgotten."""
        from bayesbox.classifier.registry import model_name
        from bayesbox.classifier.report.describe import rules_facts

        digest = classifier.book.digest()
        if as_json:
            known = {"model": path, "kind": model_name(classifier), "target": classifier.target}
            rules = rules_facts(classifier.rules)
            emit_json(
                {
                    **known,
                    "classes": {},
                    "prior": {},
                    "rules": rules,
                    "columns": [],
                    "digest": digest,
                    "model_digest": file_digest(path),
                    "ledger": classifier.book.ledger_digest(),
                    "redacted": classifier.redacted,
                }
            )
            return
        say(f"{path}: {classifier.title}, empty: every row was forgotten")
        say(f"digest {digest}")

    def draw(self, classifier: T, column: str, path: str) -> None:  # noqa: ARG002
        """Write a picture of a column."""
        raise BadOption("--svg draws the densities of naive Bayes", found=classifier.title)

    # -- explain -------------------------------------------------------------------------------------------------

    def case_facts(self, classifier: T, batch: Batch, notes: list[str], work: Work | None) -> Json:
        return {"notes": notes, **super().case_facts(classifier, batch, notes, work)}

    def print_case(self, classifier: T, batch: Batch, case: RowCase, work: Work | None) -> None:
        """Print one case."""
        from bayesbox.cli.print.case import print_report, print_work

        print_report(case, classifier.target or "class")
        self.print_answers(classifier, batch)
        if work is not None:
            say()
            print_work(work)

    def print_answers(self, classifier: T, batch: Batch) -> None:
        """Print the predictions of the parts of the model for a case."""


class SeveralPrinter(RowPrinter[T]):
    """The printer of models that combine several models."""

    def show(
        self,
        classifier: T,
        path: str,
        *,
        column: str | None,
        svg: str | None,  # noqa: ARG002  goes with a column
        found: Nomogram | None,  # noqa: ARG002  that of naive Bayes
        as_json: bool,
    ) -> None:
        if column:
            raise click.UsageError(f"--column shows a single tally, but {classifier.title} has several")
        self.show_several(classifier, path, as_json=as_json)

    def show_several(self, classifier: T, path: str, *, as_json: bool) -> None:
        """Print what the models have learned."""
        raise NotImplementedError
