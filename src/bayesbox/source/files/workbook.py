"""The cells of an Excel workbook. Only this module imports openpyxl."""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from bayesbox.errors import BadData, MissingExtra, SourceUnavailable

INFLATED = 1 << 30  # the maximum bytes of all parts of a workbook,
INFLATION = 200  # and the maximum growth factor,
INFLATION_FLOOR = 64 << 20  # from this many bytes; sheets are repetitive text
MEMBERS = 10_000
BLOCK = 1000  # rows read from openpyxl at once
MISSING = frozenset(
    {"", "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#GETTING_DATA"}
)
"""The values of empty cells and of cells with an error."""
PIECE = 1 << 20
DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
WIDE_TEXT = (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")  # UTF-16, which would hide a declaration
DAMAGE = (KeyError, ValueError, TypeError, IndexError, AttributeError, SyntaxError, EOFError, OverflowError)
"""The errors that openpyxl raises for invalid parts; XML errors are syntax errors."""

Row = tuple[Any, ...]


class Workbook:
    """A workbook read from start to end; `rows` are the cell values of one sheet.

    Formulas have their stored value; error cells such as #N/A are missing.
    """

    def __init__(self, file: IO[bytes], name: str, sheet: str | None) -> None:
        try:
            import openpyxl
        except ImportError:
            raise MissingExtra("openpyxl", "excel") from None
        self._name = name
        _require_bounded(file, name)
        with self._damage_named():
            self._book: Any = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        self._sheet = self._chosen(sheet)

    def _chosen(self, name: str | None) -> Any:
        sheets = {sheet.title: sheet for sheet in self._book.worksheets}
        if not sheets:
            raise BadData("has no worksheet", where=self._name)
        if name is None:
            return next(iter(sheets.values()))
        if name not in sheets:
            listed = ", ".join(list(sheets)[:12])
            raise BadData("no such sheet", where=self._name, found=name, remedy=f"The sheets are {listed}")
        return sheets[name]

    @property
    def sheet(self) -> str:
        """The name of the sheet."""
        return str(self._sheet.title)

    @property
    def other_sheets(self) -> int:
        """The number of other sheets."""
        return len(self._book.worksheets) - 1

    def rows(self) -> Iterator[Row]:
        """The values of each row: number, text, bool, date, None; rows may differ in length."""
        self._sheet.reset_dimensions()  # the stated size of a sheet may be wrong
        cells = self._sheet.iter_rows(values_only=True)
        while True:
            with self._damage_named():
                block = list(islice(cells, BLOCK))
            if not block:
                return
            for row in block:
                yield tuple(map(_value, row))

    @contextlib.contextmanager
    def _damage_named(self) -> Iterator[None]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about styles and validations, which are not read
                yield
        except BadData:
            raise
        except (zipfile.BadZipFile, *DAMAGE) as error:
            text = str(error).splitlines()
            raise _damaged(self._name, text[0] if text else type(error).__name__) from None

    def close(self) -> None:
        """Close the file."""
        self._book.close()


def _value(value: object) -> Any:
    """The value of a cell; a time of day is text, and an empty text or an error is missing."""
    if isinstance(value, str):
        return None if value in MISSING else value
    return value.isoformat() if isinstance(value, datetime.time) else value


def _damaged(file: str, found: object) -> BadData:
    return BadData("is not a valid Excel workbook", where=file, found=found, remedy="Save it again as .xlsx")


def _require_bounded(file: IO[bytes], name: str) -> None:
    """Raise an error if the parts of a workbook exceed the memory limit or declare XML entities.

    The sizes stated in an archive may be wrong, so every part is decompressed once, piece by piece.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS:
                raise BadData(f"has more than {MEMBERS:,} parts", where=name, found=len(members))
            file.seek(0, 2)
            most = min(INFLATED, max(INFLATION_FLOOR, INFLATION * file.tell()))
            total = 0
            for member in members:
                total += _inflated(archive, member, most - total, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, BadData):
            raise
        raise _damaged(name, str(error)) from None
    except OSError as error:
        raise SourceUnavailable(f"the file cannot be read ({error.strerror or error})", where=name) from None
    file.seek(0)


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int, name: str) -> int:
    """The bytes of a part, at most this many."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _damaged(name, f"{member.filename} is compressed by method {member.compress_type}")
    stated, total, before = member.file_size, 0, b""
    member.file_size = 1 << 62  # read to the end of the part
    try:
        with archive.open(member) as part:
            while piece := part.read(PIECE):
                if not total and piece.startswith(WIDE_TEXT):
                    raise _damaged(name, f"{member.filename} is not UTF-8")
                if DECLARATION.search(before + piece):
                    raise BadData("declares XML entities", where=name, found=member.filename)
                before = piece[-16:]
                total += len(piece)
                if total > most:
                    raise BadData(
                        "the workbook is far larger when it is unpacked",
                        where=name,
                        found=f"more than {most:,} bytes",
                        remedy="If this is intended, save the sheet as CSV",
                    )
    finally:
        member.file_size = stated
    if total != stated:
        raise _damaged(name, f"{member.filename} has {total:,} bytes, not {stated:,}")
    return total
