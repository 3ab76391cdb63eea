"""An inference algorithm written outside the package: enumeration, which is exact and for small networks only."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayesbox as bb
from bayesbox.cli.main import run
from bayesbox.extend import FactorModel, InferenceAlgorithm, register_inference


@register_inference("enumeration")
@dataclass(frozen=True)
class Enumeration(InferenceAlgorithm):
    """The sum over every combination of states, up to a limit."""

    most: int = 100_000

    def posteriors(self, model: FactorModel, likelihoods: Sequence[np.ndarray]) -> list[np.ndarray]:
        if math.prod(model.cards) > self.most:
            raise bb.BadOption(f"there are {math.prod(model.cards):,} combinations", remedy="Try gibbs")
        found = [np.zeros(card) for card in model.cards]
        for states in itertools.product(*map(range, model.cards)):
            p = math.prod(float(each[state]) for each, state in zip(likelihoods, states, strict=True))
            p *= math.prod(float(each.table[tuple(states[v] for v in each.scope)]) for each in model.factors)
            for variable, state in enumerate(states):
                found[variable][state] += p
        total = found[0].sum()
        return [each / total for each in found]


ALARM = bb.BayesianNetwork(
    {"alarm": ["burglar", "quake"], "john": ["alarm"]},
    {
        "burglar": [0.001, 0.999],
        "quake": [0.002, 0.998],
        "alarm": [[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]],
        "john": [[0.9, 0.1], [0.05, 0.95]],
    },
)


def test_in_python() -> None:
    for question in (
        "P(burglar=true | john=true)",
        "P(burglar=true | john~0.7)",
        "P(quake=true, burglar=true | john=true)",
    ):
        exact, found = ALARM.query(question), ALARM.query(question, approx="enumeration")
        assert found == pytest.approx(exact, rel=1e-9)
    every = ALARM.posteriors({"john": "true"}, approx=Enumeration(most=100))
    assert every["alarm"]["true"] == pytest.approx(ALARM.posteriors({"john": "true"})["alarm"]["true"])
    with pytest.raises(bb.BadOption):
        ALARM.posteriors(approx="enumeration", most=10)


def test_by_command(tmp_path: Path, capsys: Any) -> None:
    path = str(tmp_path / "alarm.bif")
    ALARM.write(path)
    assert run(["query", path, "P(burglar=true | john=true)", "--approx", "enumeration", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["probability"] == pytest.approx(ALARM.query("P(burglar=true | john=true)"))
    assert run(["query", path, "P(burglar=true)", "--approx", "enumeratoin"]) == 2
    assert "enumeration" in capsys.readouterr().err
