"""Common mistakes in a question, with what to write instead."""

from __future__ import annotations

import re

COMPARED = re.compile(r"([^<>]+)[<>]")  # an unquoted name before a comparison
JOINED = re.compile(r"(.*?)\s+(?:&&?|\^|and|AND|;)\s+([^=<>]+)=(.*)", re.DOTALL)  # two findings, without a comma


def comparison(name: str) -> tuple[str, str] | None:
    """The error and the remedy for a name that contains a comparison; None for any other name.

    >>> comparison("age>50")
    ('comparisons are not supported in a question', 'Write age=VALUE, or add a column of bins to the data')
    """
    compared = COMPARED.match(name)
    if compared is None:
        return None
    remedy = f"Write {compared[1].strip()}=VALUE, or add a column of bins to the data"
    return "comparisons are not supported in a question", remedy


def joined(value: str) -> tuple[str, str] | None:
    """The error and the remedy for a value that contains a second finding; None for any other value.

    >>> joined("yes & late=no")
    ('expected `,` between two findings', 'Write ...=yes, late=no')
    """
    found = JOINED.fullmatch(value)
    if found is None:
        return None
    return "expected `,` between two findings", f"Write ...={found[1]}, {found[2].strip()}={found[3]}"
