"""What the tests of sources share."""

from __future__ import annotations

import pytest

from bayesbox.source.files import delimited, window

SMALL = 64  # bytes in a block, so that a few rows make many blocks


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in tiny blocks."""
    monkeypatch.setattr(window.Window.__init__, "__defaults__", (SMALL,))
    monkeypatch.setattr(delimited, "BLOCK", SMALL)
    monkeypatch.setattr(delimited, "WIDE", 0)
