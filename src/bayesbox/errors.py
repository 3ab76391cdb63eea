"""Every error and warning of bayesbox: what happened, where, what was found, and the remedy.

    BayesboxError
      BadOption (ValueError)            exit 2    a parameter or an option of the command
        UnknownChoice                             a name that is not one of the choices
      BadData (ValueError)              exit 3    rows that cannot be used
        UnknownColumn (KeyError)                  a column that does not exist
        LabelContradiction                        labels of a different type than the earlier ones
        KindContradiction                         a value that does not fit the type of its column
        BadRow                                    a malformed line of a file
        BadWeight                                 a negative or missing weight
        MissingTarget                             a row without a class label
        UnseenLevel                               an unseen level, with unseen="error"
        BadTable                                  a table of a network that is not a distribution
        UnknownNode (KeyError)                    a node, or a state, that a network does not have
        TooCostly                                 a computation that needs more memory than the limit: `bytes`, `limit`
        NotClasses                                a target with measurements, or with too many classes
        EventConflict                             events of a service under ids known with other values: `ids`
        UnknownRecord (KeyError)                  a model, an event number or a certificate that a service does not have
          UnknownEvents                           events that a service does not have: `ids`
      BadModelFile (ValueError)         exit 4    a file that is damaged, newer, or not a model
        ModelTooLarge (TooCostly)                 a model whose tables need more memory than the limit
      SourceUnavailable (OSError)       exit 74   a file that does not exist or cannot be read or written
        ModelLocked                               a model file that another process is changing: `pid`, `host`, `verb`
        ModelChanged                              a model file that was changed since it was loaded
        StoreFailed                               a store of a service that cannot be read or written
          StoreBusy                               a store that is locked, or has too many pending events
      MissingExtra (ImportError)        exit 2    an optional package that is not installed
      CannotForget (ValueError)         exit 3    what cannot be subtracted
        NeverLearned                              rows that were never learned
        NoCounts                                  a model made from tables, not from rows
      CannotMerge (ValueError)          exit 3    tallies or models that do not match
      CannotRedact (ValueError)         exit 3    a model that stores more than counts of levels
      NotLinear (ValueError)            exit 3    a model whose decision is not linear
      CannotExport (ValueError)         exit 3    a model that cannot be exported
      CannotSample (ValueError)         exit 3    a distribution that cannot be sampled from: `family`
      ImpossibleEvidence (ValueError)   exit 3    evidence of probability zero

    DataWarning (UserWarning), and others         suspicious data that can be used; listed in `bayesbox.warned`

Errors and warnings have the fields `what` (what happened) and, if known, `where` (the place), `found` (the value) and
`remedy` (what to do). Callers and tests should use the class and these fields rather than the text. The exit code is
that of the command.
"""

from __future__ import annotations

import contextlib
import difflib
import operator
import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

from bayesbox.described import Advice as Advice
from bayesbox.described import Described as Described
from bayesbox.described import Remedy as Remedy
from bayesbox.described import existing_columns
from bayesbox.described import shown as shown
from bayesbox.warned import AnswerByCases as AnswerByCases
from bayesbox.warned import CalibrationNotExported as CalibrationNotExported
from bayesbox.warned import ColumnsByPosition as ColumnsByPosition
from bayesbox.warned import DataWarning as DataWarning
from bayesbox.warned import DroppedWords as DroppedWords
from bayesbox.warned import ExtensionFailed as ExtensionFailed
from bayesbox.warned import ImpossibleRows as ImpossibleRows
from bayesbox.warned import LocksUnsupported as LocksUnsupported
from bayesbox.warned import LostCalibration as LostCalibration
from bayesbox.warned import LostLedger as LostLedger
from bayesbox.warned import MissingColumns as MissingColumns
from bayesbox.warned import NotSettled as NotSettled
from bayesbox.warned import RoundedRows as RoundedRows
from bayesbox.warned import SkippedLinks as SkippedLinks
from bayesbox.warned import SuspiciousData as SuspiciousData
from bayesbox.warned import UnknownStates as UnknownStates
from bayesbox.warned import UnseenLevels as UnseenLevels
from bayesbox.warned import WorseThanBaseline as WorseThanBaseline


class BayesboxError(Described):
    """The base class of all errors of bayesbox."""

    exit_code = 1


class BadOption(BayesboxError, ValueError):
    """A parameter, or an option of the command, that cannot be used."""

    exit_code = 2


class UnknownChoice(BadOption):
    """A `name` that is not one of the `choices` of its `kind`.

    >>> raise UnknownChoice("metric", "luck", ["accuracy", "f1"])
    Traceback (most recent call last):
    bayesbox.errors.UnknownChoice: unknown metric `luck`. Choose one of: accuracy, f1
    """

    def __init__(self, kind: str, name: object, choices: Iterable[str], *, remedy: Advice | None = None) -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        super().__init__(f"unknown {kind} `{name}`", remedy=remedy or f"Choose one of: {', '.join(self.choices)}")


def require_whole(name: str, value: object, *, least: int = 0) -> None:
    """Raise BadOption unless an option is an integer of at least `least`.

    >>> require_whole("seed", "3")
    Traceback (most recent call last):
    bayesbox.errors.BadOption: seed must be a non-negative integer, got '3'
    """
    try:
        fits = not isinstance(value, bool) and operator.index(value) >= least  # type: ignore[arg-type]
    except TypeError:
        fits = False
    if not fits:
        raise BadOption(f"{name} must be {integer_of(least)}", found="None" if value is None else value)


def integer_of(least: int) -> str:
    """The words for an integer with a lower bound, such as "a positive integer".

    >>> integer_of(0), integer_of(1), integer_of(2)
    ('a non-negative integer', 'a positive integer', 'an integer of at least 2')
    """
    return {0: "a non-negative integer", 1: "a positive integer"}.get(least, f"an integer of at least {least}")


def file_name(path: object) -> str:
    """The name of a file as a string; BadOption if it is not a name.

    >>> file_name(None)
    Traceback (most recent call last):
    bayesbox.errors.BadOption: a file must be given by its name (a string) or a path, got 'NoneType'
    """
    try:
        return os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise BadOption("a file must be given by its name (a string) or a path", found=type(path).__name__) from None


class MissingExtra(BayesboxError, ImportError):
    """An optional package that is not installed."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this feature needs the package `{package}`",
            remedy=f"Install it: pip install 'bayesbox[{extra}]'",
        )


def require_packages(extra: str, *packages: str) -> None:
    """Raise MissingExtra if one of the packages of an extra is not installed."""
    for package in packages:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtra(package, extra) from None


class BadData(BayesboxError, ValueError):
    """Rows that cannot be used; `column` is the column at fault, if there is one."""

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        remedy: Advice | None = None,
        column: object = None,
    ) -> None:
        super().__init__(what, where=where, found=found, remedy=remedy)
        self.column = column


class UnknownColumn(BadData, KeyError):
    """A column that does not exist, with the nearest name that does."""

    def __init__(self, column: object, *, available: Iterable[object], where: str | None = None) -> None:
        remedy = existing_columns(str(column), [str(name) for name in available])
        super().__init__(f"no column `{column}`", where=where, remedy=remedy, column=column)


class KindContradiction(BadData):
    """A value that does not fit the type of its column."""


class LabelContradiction(BadData):
    """Labels of a different type than those seen in training or declared."""


class BadRow(BadData):
    """A malformed line of a file."""


class BadWeight(BadData):
    """A weight that is negative, infinite or missing."""


class MissingTarget(BadData):
    """A row without a class label."""


class UnseenLevel(BadData):
    """A level that was not seen in training, with `unseen="error"`."""


class BadTable(BadData):
    """A table that is not a conditional distribution, at `node` and `row`."""

    def __init__(
        self,
        what: str,
        *,
        node: str,
        row: int | None = None,
        where: str | None = None,
        found: object = None,
        remedy: Advice | None = None,
    ) -> None:
        super().__init__(what, where=where, found=found, remedy=remedy)
        self.node = node
        self.row = row


class UnknownNode(BadData, KeyError):
    """A node or state that does not exist, with the nearest name that does."""

    def __init__(self, kind: str, name: object, available: Iterable[str], *, where: str | None = None) -> None:
        names = list(available)
        near = difflib.get_close_matches(str(name), names, n=1)
        listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        remedy = f"Did you mean `{near[0]}`?" if near else f"Choose one of: {listed}"
        super().__init__(f"no {kind} `{name}`", where=where, remedy=remedy)
        self.kind = kind
        self.name = name


class TooCostly(BadData):
    """Tables that need more memory than the limit: they need `bytes`, and `limit` is allowed."""

    def __init__(
        self,
        what: str,
        *,
        bytes: float,
        limit: float,
        where: str | None = None,
        remedy: Advice | None = None,
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.bytes, self.limit = bytes, limit


class NotClasses(BadData):
    """A target that is not categorical: numbers that are measurements, or more classes than the limit.

    `reason` is "fractions", "many-numbers" or "many-classes", `classes` the number of classes seen so far.
    """

    def __init__(
        self,
        what: str,
        *,
        reason: str,
        classes: int,
        column: str | None = None,
        where: str | None = None,
        found: object = None,
        remedy: Advice | None = None,
    ) -> None:
        super().__init__(what, where=where, found=found, remedy=remedy, column=column)
        self.reason, self.classes = reason, classes


class EventConflict(BadData):
    """Events of a service, by `ids`, that were already learned with a different row, label or weight."""

    def __init__(self, ids: Iterable[str], *, where: str | None = None) -> None:
        self.ids, what = tuple(ids), "known with another row, label or weight"
        super().__init__(what, where=where, found=", ".join(self.ids[:5]), remedy="Choose new ids for new events")


class UnknownRecord(BadData, KeyError):
    """A model, an event number or a certificate that a service does not have."""


class UnknownEvents(UnknownRecord):
    """Events, by `ids`, that a service has never learned, or has forgotten."""

    def __init__(self, ids: Iterable[str], *, where: str | None = None) -> None:
        self.ids = tuple(ids)
        super().__init__("unknown events", where=where, found=", ".join(self.ids[:5]), remedy="Nothing was changed")


class BadModelFile(BayesboxError, ValueError):
    """A file that is not a valid model file: damaged, of a newer version, or not a model."""

    exit_code = 4


class ModelTooLarge(BadModelFile, TooCostly):
    """A model file whose tables would take more memory than the limit."""

    def __init__(self, error: TooCostly, *, where: str) -> None:
        TooCostly.__init__(self, error.what, bytes=error.bytes, limit=error.limit, where=where, remedy=error.advice)


class SourceUnavailable(BayesboxError, OSError):
    """A file that does not exist, or cannot be read or written."""

    exit_code = 74


class ModelLocked(SourceUnavailable):
    """A model file at `path` that another process is changing: its `pid`, `host` and `verb`, if known."""

    def __init__(self, path: str, *, waited: float, pid: int | None, host: str | None, verb: str | None) -> None:
        self.path, self.waited = path, waited
        self.pid, self.host, self.verb = pid, host, verb
        holder = "another process" if pid is None else f"process {pid} on {host}"
        super().__init__(
            f"{holder} is still changing this model{f' ({verb})' if verb else ''} after {waited:g} s",
            where=path,
            remedy="Nothing was changed. Try again" + Remedy("", ", or wait longer: --wait SECONDS"),
        )


class ModelChanged(SourceUnavailable):
    """A model file at `path` that was changed since it was loaded.

    `expected` is the SHA-256 of the file that was loaded, `found` that of the current file, or None if it was deleted.
    """

    def __init__(self, path: str, *, expected: str, found: str | None, remedy: Advice | None = None) -> None:
        self.path = path
        self.expected = expected
        happened = "was removed" if found is None else "has been changed by another writer"
        super().__init__(
            f"this model {happened} since it was loaded",
            where=path,
            remedy=remedy
            or "Nothing was changed. Load it again and repeat the change, or replace it: save(path, overwrite=True)",
        )
        self.found = found

    def without_remedy(self) -> str:
        """The message without the remedy and without the checksums, which are fields."""
        return f"{self.where}: {self.what}"


class StoreFailed(SourceUnavailable):
    """A store of a service that cannot be read or written."""


class StoreBusy(StoreFailed):
    """A store of a service that is locked, or has too many pending events: try again later."""


class CannotForget(BayesboxError, ValueError):
    """Rows that were never learned, or a tally that cannot be subtracted from."""

    exit_code = 3


class NeverLearned(CannotForget):
    """Rows, documents or sequences that were never learned; `column`, `label` and `found` show it, if known."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        remedy: Advice | None = None,
        column: str | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(what, where=where, found=found, remedy=remedy)
        self.column = column
        self.label = label


class NoCounts(CannotForget):
    """A model made from given tables: it has no counts to add to or subtract from."""


class CannotMerge(BayesboxError, ValueError):
    """Two tallies or models that do not match."""

    exit_code = 3


class CannotRedact(BayesboxError, ValueError):
    """A model that stores more about its rows than pooling rare levels would remove."""

    exit_code = 3


class NotLinear(BayesboxError, ValueError):
    """A model whose decision is not linear in its columns."""

    exit_code = 3


class CannotExport(BayesboxError, ValueError):
    """A model, or a part of one, that cannot be exported to the chosen language."""

    exit_code = 3


class CannotSample(BayesboxError, ValueError):
    """A distribution of a `family` that cannot be sampled from."""

    exit_code = 3

    def __init__(self, family: str, why: str, *, found: object = None, remedy: Advice | None = None) -> None:
        super().__init__(f"cannot sample from the family {family}: {why}", found=found, remedy=remedy)
        self.family = family


class ImpossibleEvidence(BayesboxError, ValueError):
    """Evidence whose probability is zero, so that the posterior is undefined."""

    exit_code = 3


@contextlib.contextmanager
def translate_errors(translate: Callable[[Exception], BayesboxError | None]) -> Iterator[None]:
    """Raise the error that `translate` returns for an error of another library; the error itself if it returns None.

    The library's error is kept as the cause only if `translate` does so: its text may contain confidential data.
    """
    try:
        yield
    except BayesboxError:
        raise
    except Exception as error:
        translated = translate(error)
        if translated is None:
            raise
        raise translated from translated.__cause__
