"""Flags: the texts that mean false and true, and the parsing of values.

The levels of a flag are `false` and `true`, with the codes 0 and 1. Case does not matter: TRUE is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayesbox.described import declaring
from bayesbox.errors import KindContradiction
from bayesbox.schema.arrays import IntegerArray
from bayesbox.schema.levels import level_text

FLAG_LEVELS = ("false", "true")
FLAG_DIGITS = ("0", "1")  # the levels of a number with no other values
FLAG_CODES = {text: code for pair in (FLAG_LEVELS, FLAG_DIGITS) for code, text in enumerate(pair)}
"""The code of each text, in lower case."""
FLAG_EXPECTED = f"{', '.join((*FLAG_LEVELS, FLAG_DIGITS[0]))} or {FLAG_DIGITS[1]}"

FALSE_WORDS, TRUE_WORDS = ((word, word.title(), word.upper()) for word in FLAG_LEVELS)
"""The words that make a column of a delimited file a flag; a column of digits is numeric."""


def flag_code(value: object) -> int | None:
    """The code of a text, a bool or a number; None if it is not a flag.

    >>> [flag_code(value) for value in ("TRUE", "0", True, 0.0, "maybe", 2)]
    [1, 0, 1, 0, None, None]
    """
    return FLAG_CODES.get((value if isinstance(value, str) else level_text(value)).lower())


def flag_level(value: object) -> str | None:
    """The level of a text, a bool or a number; None if it is not a flag.

    >>> flag_level("True"), flag_level(0), flag_level("maybe")
    ('true', 'false', None)
    """
    code = flag_code(value)
    return None if code is None else FLAG_LEVELS[code]


def flag_codes(
    texts: Sequence[str],
    rows: Callable[[], IntegerArray],
    *,
    name: str,
    where: str | None = None,
    first_row: int | None = None,
) -> list[int]:
    """The code of each text of the column `name`; an error if a row has a text that is not a flag.

    `rows` returns the text index of each row; it is called only if a text is not a flag, since a dictionary may contain
    unused texts. With `first_row`, the error names the row.

    >>> flag_codes(["1", "False"], lambda: np.array([0, 1, 0]), name="member")
    [1, 0]
    """
    codes = [flag_code(text) for text in texts]
    others = [place for place, code in enumerate(codes) if code is None]
    if others:
        places = rows()
        wrong = np.flatnonzero(np.isin(places, others))
        if len(wrong):
            row = int(wrong[0])
            if first_row is not None:
                where = f"{where}, row {first_row + row + 1}" if where else f"row {first_row + row + 1}"
            raise KindContradiction(
                f"column `{name}` is a flag, so its values must be {FLAG_EXPECTED}",
                where=where,
                found=texts[int(places[row])],
                remedy="Declare it a category: " + declaring(name, "category"),
                column=name,
            )
    return [code or 0 for code in codes]  # the other texts are unused
