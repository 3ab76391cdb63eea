"""Escaping of names from the data in SVG."""

from __future__ import annotations

from html import escape


def safe(words: str) -> str:
    """Text escaped for XML, with control characters replaced.

    >>> safe("age < 30") == "age &lt; 30", safe(chr(7)) == chr(0xFFFD)
    (True, True)
    """
    return escape("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words))
