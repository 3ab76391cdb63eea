"""The models in which columns depend on each other, and the averaged one, by command."""

from __future__ import annotations

import pytest

from .conftest import Bayes

pytestmark = pytest.mark.usefixtures("tables")


@pytest.mark.parametrize("model", ["aode", "aode:2", "tan", "tan:bic", "kdb", "kdb:1", "averaged"])
@pytest.mark.parametrize("table", ["tennis.csv:play", "cars.csv:class"])
def test_train_show_predict_explain_update_forget(bayes: Bayes, model: str, table: str) -> None:
    data, target = table.split(":")
    bayes("train", data, "-t", target, "--model", model, "-o", "m.bayes")
    shown = bayes("show", "m.bayes", "--json").json
    assert shown["kind"] == model.partition(":")[0]
    assert shown["rules"]["smoothing"] == ("laplace" if model == "averaged" else None)
    bayes("show", "m.bayes")
    assert bayes("predict", "m.bayes", data, "--proba").out.count("\n") == 1 + shown_rows(shown)
    assert bayes("explain", "m.bayes", data, "--row", 1, "--json").json["prediction"] in shown["classes"]
    bayes("update", "m.bayes", data)
    bayes("forget", "m.bayes", data)
    assert bayes("show", "m.bayes", "--json").json["digest"] == shown["digest"]


def shown_rows(shown: dict[str, dict[str, int]]) -> int:
    return sum(shown["classes"].values())


@pytest.mark.parametrize("model", ["aode:x", "tan:x", "kdb:9", "averaged:2"])
def test_a_bad_parameter_is_refused(bayes: Bayes, model: str) -> None:
    assert "Traceback" not in bayes("train", "tennis.csv", "-t", "play", "--model", model, code=2).err


@pytest.mark.parametrize("model", ["aode", "tan", "kdb", "averaged"])
def test_folds_and_leave_one_out(bayes: Bayes, model: str) -> None:
    for how in (["--cv", 3], ["--loo"]):
        assert (
            0
            <= bayes("evaluate", "tennis.csv", "-t", "play", "--model", model, *how, "--json").json["accuracy"]["value"]
            <= 1
        )
