"""`bayes serve --bind HOST:PORT`."""

from __future__ import annotations

import click
import pytest

from bayesbox.cli.serve.serve import _address


@pytest.mark.parametrize(
    ("text", "expected"),
    [("127.0.0.1:8080", ("127.0.0.1", 8080)), ("[::1]:0", ("::1", 0)), ("localhost:1", ("localhost", 1))],
)
def test_an_address_and_a_port(text: str, expected: tuple[str, int]) -> None:
    assert _address(text) == expected


@pytest.mark.parametrize("text", ["8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "h:-1", "h:x"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        _address(text)
