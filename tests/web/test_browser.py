"""Where the browser of the tests comes from, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.web import browser


def test_the_one_on_path_goes_before_the_one_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(browser, "FETCHED", tmp_path)
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    assert browser.installed() is None
    (tmp_path / "chromium").touch()
    assert browser.installed() == str(tmp_path / "chromium")
    monkeypatch.setattr(browser.shutil, "which", lambda name: "/bin/x" if name == "chromium" else None)
    assert browser.installed() == "/bin/x"


def test_where_none_can_be_had_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[list[str]] = []
    monkeypatch.setattr(browser, "FETCHED", tmp_path / "none")
    monkeypatch.setattr(browser.shutil, "which", lambda name: name if name in ("apt-get", "npm") else None)
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "_tried", lambda command: bool(tried.append(command)))
    with pytest.raises(browser.NoBrowser, match="apt-get install chromium"):
        browser.find()
    assert [command[0] for command in tried] == ["apt-get", "apt-get", "apt-get", "npm"]
    tried.clear()
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000)
    with pytest.raises(browser.NoBrowser):
        browser.find()
    assert [command[0] for command in tried] == ["npm"]
