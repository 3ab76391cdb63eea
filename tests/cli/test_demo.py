"""`bayes demo`, and the table it stands on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayesbox.cli.print import titanic

from .conftest import Bayes


def test_the_table_has_all_the_people() -> None:
    people = titanic.People.of_titanic()
    assert people.batch.rows == 32
    assert people.number == 2201
    classifier = people.classifier()
    assert dict(zip(classifier.book.classes, classifier.book.n.tolist(), strict=True)) == {"no": 1490, "yes": 711}
    assert classifier.book["sex"].counts.sum(axis=0).tolist() == [470, 1731]
    assert classifier.book["cabin"].counts.sum(axis=0).tolist() == [325, 285, 706, 885]
    assert classifier.book["age"].counts.sum(axis=0).tolist() == [2092, 109]


def test_cross_validation_equals_training_anew_for_each_fold() -> None:
    people = titanic.People.of_titanic()
    order, folds = people.shuffled(), 5
    right = loss = 0.0
    truth = people.labels.codes
    for fold in range(folds):
        part = people.cells(order[fold::folds])
        anew = titanic.NaiveClassifier(titanic.NaiveOptions())
        anew.learn(people.batch, people.labels, weights=people.weights - part)
        places = np.array([anew.model.classes.index(level) for level in people.labels.levels])[truth]
        posterior = anew.posterior(people.batch)
        right += part[posterior.argmax(axis=1) == places].sum()
        loss -= (part * np.log(posterior[np.arange(32), places])).sum()
    score = titanic.cross_validated(people, folds)
    assert score.rows == 2201
    assert score.accuracy == pytest.approx(right / 2201, rel=1e-12)
    assert score.log_loss == pytest.approx(loss / 2201, rel=1e-12)


def test_forgetting_is_exact_and_the_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    people = titanic.People.of_titanic()
    assert titanic.forgets_exactly(people)
    monkeypatch.setattr(titanic.Book, "__sub__", lambda self, _other: self)
    assert not titanic.forgets_exactly(people)


def test_folds_are_the_same_every_time() -> None:
    people = titanic.People.of_titanic()
    assert people.shuffled() == people.shuffled()
    assert people.shuffled(1) != people.shuffled(2)
    assert people.cells(people.shuffled()).tolist() == people.weights.tolist()


def test_the_tour(bayes: Bayes) -> None:
    out = bayes("demo").out
    assert "The 2,201 people aboard the Titanic" in out
    assert "711 survived" in out
    assert "10-fold cross-validation   2,201    0.7787" in out
    assert "forgetting is exact" in out
    assert "so the class is yes" in out
    assert "bayes train titanic.csv -t survived --weight people" in out


def test_what_the_tour_proposes_works(bayes: Bayes, folder: Path) -> None:
    report = bayes("demo", "--json").json
    (folder / "titanic.csv").write_text(bayes("demo", "--data").out)
    proposed = [
        line.split() for line in bayes("demo").out.splitlines() if line.startswith("  bayes ") and ">" not in line
    ]
    assert len(proposed) == 6
    assert proposed[-1] == ["bayes", "app", "titanic.bayes"]
    assert proposed[0] == ["bayes", "app"]
    for place in (0, -1):
        proposed[place] += ["--no-open", "--for", "0.01"]
    for _, verb, *arguments in proposed:
        bayes(verb, *(argument.strip("'") for argument in arguments))
    assert bayes("show", "titanic.bayes", "--json").json["digest"] == report["digest"]
    assert 0.75 < report["held_out"]["accuracy"] < 0.85
    assert report["case"]["work"]["class"] == "yes"


def test_the_tour_names_the_command_as_it_can_be_typed(
    bayes: Bayes, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr("sys.argv", [str(folder.resolve() / ".venv/bin/bayes"), "demo"])
    monkeypatch.chdir(folder)
    assert "\n  .venv/bin/bayes app\n" in bayes("demo").out
    monkeypatch.setattr("sys.argv", ["/opt/bayes/bin/bayes", "demo"])
    assert "\n  /opt/bayes/bin/bayes app\n" in bayes("demo").out
