"""Comma-separated text read a letter at a time: what the readers are held against."""

from __future__ import annotations


def walked(text: str) -> tuple[list[list[str]], int]:
    """The rows without a fault and the number of those with one, a letter at a time."""
    good: list[list[str]] = []
    bad = at = 0
    while at < len(text):
        row: list[str] = []
        blank = text[at] in "\r\n"
        while True:
            begin, field = at, ""
            if text[at : at + 1] == '"':
                at += 1
                while at < len(text) and (text[at] != '"' or text[at : at + 2] == '""'):
                    field += text[at]
                    at += 2 if text[at] == '"' else 1
                if at == len(text) or text[at + 1 : at + 2] not in ("", ",", "\r", "\n"):
                    bad += 1
                    line_end = text.find("\n", begin)
                    at = line_end + 1 if line_end >= 0 else len(text)
                    row = []
                    break
                at += 1
            else:
                while at < len(text) and text[at] not in ",\r\n":
                    field += text[at]
                    at += 1
            row.append(field)
            ending = text[at : at + 1]
            at += 2 if text[at : at + 2] == "\r\n" else 1
            if ending != ",":
                break
        if row and not (blank and row == [""]):
            good.append(row)
    return good, bad
