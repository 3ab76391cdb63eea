"""Names from the data in a picture."""

from __future__ import annotations

from html import escape


def safe(words: str) -> str:
    """Text that XML can hold: control characters replaced, marks escaped.

    >>> safe("age < 30") == "age &lt; 30", safe(chr(7)) == chr(0xFFFD)
    (True, True)
    """
    return escape("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words))
