"""A short form of `make fuzz`: requests drawn from the description of the service; and it finds a planted defect."""

from __future__ import annotations

import pytest
from tests.fuzz import service

from bayesbox.serve.models.classifier import ServedClassifier


def test_no_request_is_answered_by_a_defect() -> None:
    found = service.run(400, seed=7)
    assert found["right", 200] > 15
    assert sum(count for (sort, status), count in found.items() if sort == "damaged" and status == 422) > 40


def test_a_planted_defect_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServedClassifier, "what_if", lambda self, body: body.changes["nothing"])
    with pytest.raises(AssertionError, match="status 500 is not described"):
        service.run(400, seed=7)
