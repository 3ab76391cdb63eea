"""The app in a browser: every number on the screen is the library's, by click and by keyboard."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from tests.tables import TENNIS

import bayesbox as bb
from bayesbox.app.report.make import report_of_rows
from bayesbox.app.server.opened import OpenedClassifier, OpenedNetwork, open_files, shipped, sprinkler
from bayesbox.rule.options import NaiveOptions
from bayesbox.table.naive.classifier import NaiveClassifier

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def lessons(serve: Callable[..., str]) -> str:
    return serve(shipped())


def shown_share(page: Any, name: str) -> float:
    """The probability of a class as the screen has it, to all digits."""
    title = page.locator(f".bb-bars li[data-class='{name}']").get_attribute("title")
    return float(title.rpartition("= ")[2])


def titanic() -> Any:
    return shipped()[0].classifier  # type: ignore[attr-defined]


def share(classifier: Any, row: dict[str, str], label: str) -> float:
    from bayesbox.classifier.case import batch_of_values

    posterior = classifier.posterior(batch_of_values(classifier, row))[0]
    return float(posterior[classifier.model.classes.index(label)])


def test_from_nothing_to_a_what_if(page: Any, lessons: str) -> None:
    page.goto(lessons)
    page.get_by_role("link", name="Who survived the Titanic?").click()
    page.get_by_role("group", name="sex").get_by_label("female").check()
    page.get_by_role("group", name="cabin").get_by_label("3rd").check()
    expect(page.locator(".bb-sentence")).to_contain_text("survived is yes in about 2 in 3 such cases (65.7 %)")
    assert shown_share(page, "yes") == share(titanic(), {"sex": "female", "cabin": "3rd"}, "yes")
    term = page.locator("[data-term=sex]")
    expect(term).to_contain_text("+1.74")
    assert "344 of 711 (yes)" in term.get_attribute("title")  # the counts behind it
    assert "(yes), 95 % 0.4473 to 0.5206" in term.get_attribute("title")
    page.get_by_role("group", name="sex").get_by_label("unknown").check()
    expect(page.locator("[data-term=sex]")).to_have_count(0)
    page.get_by_text("Show the work").click()
    expect(page.locator(".bb-work pre")).to_contain_text("178")


def test_the_keyboard_is_enough(page: Any, lessons: str) -> None:
    page.goto(f"{lessons}#titanic/what-if")
    expect(page.locator(".bb-bars")).to_be_visible()
    page.get_by_role("group", name="cabin").get_by_label("unknown").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-term=cabin]")).to_contain_text("= 1st")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-term=sex]")).to_contain_text("= female")
    assert shown_share(page, "yes") == share(titanic(), {"cabin": "1st", "sex": "female"}, "yes")


def test_the_address_holds_the_state_and_goes_back(page: Any, lessons: str) -> None:
    page.goto(f"{lessons}#titanic/what-if")
    page.get_by_role("radio", name="female").check()
    expect(page.locator("[data-term=sex]")).to_be_visible()
    address = page.url
    assert json.loads(urllib.parse.unquote(address.partition("?")[2])) == {"row": {"sex": "female"}}
    page.wait_for_timeout(450)  # changes within a moment are one step
    page.get_by_role("radio", name="child").check()
    expect(page.locator("[data-term=age]")).to_be_visible()
    page.go_back()
    expect(page.locator("[data-term=age]")).to_have_count(0)
    expect(page.get_by_role("radio", name="female")).to_be_checked()
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("radio", name="female")).to_be_checked()
    expect(page.locator("[data-copy]").nth(1)).to_have_attribute(
        "data-copy", "bayes explain titanic.bayes --set sex=female"
    )


def test_a_mark_is_dragged_and_the_total_follows(page: Any, lessons: str) -> None:
    page.goto(f"{lessons}#titanic/nomogram")
    ruler = page.locator("[data-ruler=sex]")
    mark = ruler.locator("[data-mark=female]").bounding_box()
    start = ruler.locator("circle").bounding_box()
    page.mouse.move(start["x"] + 5, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(mark["x"] - 30, mark["y"] + 5, steps=5)
    page.mouse.move(mark["x"], mark["y"] + 5, steps=3)
    page.mouse.up()
    expect(ruler).to_have_attribute("aria-valuetext", "female")
    page.locator("[data-ruler=cabin]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("[data-ruler=cabin]")).to_have_attribute("aria-valuetext", "3rd")
    expect(page.locator(".bb-sentence")).to_contain_text("P(yes) = 65.7 %")
    expected = share(titanic(), {"sex": "female", "cabin": "3rd"}, "yes")
    assert float(page.locator(".bb-sentence").get_attribute("data-share")) == pytest.approx(expected, abs=1e-12)
    page.keyboard.press("Delete")
    expect(page.locator("[data-ruler=cabin]")).to_have_attribute("aria-valuetext", "unknown")
    page.get_by_label("For").select_option("no")
    expect(page.locator(".bb-sentence")).to_contain_text("P(no)")


def test_a_lesson_is_guessed_and_revealed(page: Any, lessons: str) -> None:
    page.goto(f"{lessons}#screening/lesson")
    page.get_by_label("Your guess, in percent").fill("90")
    page.get_by_role("button", name="Reveal").click()
    answer = page.locator(".bb-sentence")
    expect(answer).to_contain_text("98 of 1,000 people test positive, and 9 of them have it: 9.2 %")
    expected = bb.bayes_rule(prior=0.01, likelihood=0.9, evidence=0.01 * 0.9 + 0.99 * 0.09)
    assert float(answer.get_attribute("data-share")) == pytest.approx(expected, abs=1e-12)
    expect(page.get_by_text("You guessed 90.0 %: too high")).to_be_visible()
    expect(page.get_by_role("cell", name="901")).to_be_visible()
    page.get_by_role("button", name="A second test").click()
    page.get_by_role("button", name="Reveal").click()
    second = bb.bayes_rule(prior=expected, likelihood=0.9, evidence=expected * 0.9 + (1 - expected) * 0.09)
    assert float(page.locator(".bb-sentence").get_attribute("data-share")) == pytest.approx(second, abs=1e-12)
    page.get_by_label("Positive, of those who do not").focus()
    page.keyboard.press("Home")
    expect(page.locator(".bb-sentence")).to_contain_text("100.0 %")


def test_a_network_answers_to_clicks_keys_and_drags(page: Any, lessons: str) -> None:
    net = sprinkler()
    page.goto(f"{lessons}#sprinkler/network")

    def state(node: str, name: str) -> Any:
        return page.locator(f"[data-node='{node}'] [data-state='{name}']")

    def expect_shares(evidence: dict[str, Any]) -> None:
        posteriors = net.posteriors(evidence)
        for node in net.nodes:
            for name in net.states(node):
                text = f"{100 * posteriors[node][name]:.1f} %"
                expect(state(node, name).locator(".bb-share")).to_have_text(text)

    expect_shares({})
    state("wet grass", "true").locator("text").first.click()
    expect_shares({"wet grass": "true"})
    expect(state("wet grass", "true")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Target").select_option("rain")
    asked = net.ask_next({"wet grass": "true"}, "rain")
    expect(page.locator("[data-ask]").first).to_contain_text(f"{asked[0].node}{asked[0].information:.3f} bit")
    page.locator(f"[data-ask='{asked[0].node}']").get_by_role("button", name="true").click()
    expect_shares({"wet grass": "true", asked[0].node: "true"})
    expect(page.get_by_text("The evidence")).to_contain_text("conflict")
    page.get_by_role("button", name="Undo").click()
    expect_shares({"wet grass": "true"})
    state("cloudy", "true").focus()
    page.keyboard.press("Enter")
    expect_shares({"wet grass": "true", "cloudy": "true"})
    page.get_by_role("button", name="Clear").click()
    expect_shares({})
    box = state("rain", "true").locator(".bb-grip").bounding_box()
    page.mouse.move(box["x"] + 32, box["y"] + 6)
    page.mouse.down()
    page.mouse.move(box["x"] + 2 + 0.8 * 60, box["y"] + 6, steps=4)
    page.mouse.up()
    expect(state("rain", "true").locator(".bb-share")).to_have_text("80.0 %")
    soft = json.loads(urllib.parse.unquote(page.url.partition("?")[2]))["evidence"]["soft"]
    expect_shares(soft)
    page.get_by_role("button", name="Table of wet grass").click()
    expect(page.get_by_role("dialog")).to_contain_text("sprinkler = true, rain = true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_paths_that_evidence_closes_are_dashed(page: Any, serve: Callable[..., str]) -> None:
    chain = bb.BayesianNetwork(
        {"B": ["A"], "C": ["B"]}, {"A": 0.3, "B": {True: 0.9, False: 0.2}, "C": {True: 0.8, False: 0.1}}
    )
    page.goto(serve([OpenedNetwork("chain", chain)]) + "#chain/network")
    page.get_by_label("Target").select_option("C")
    expect(page.locator("path.bb-closed")).to_have_count(0)
    page.locator("[data-node=B] [data-state=true]").locator("text").first.click()
    expect(page.locator("path.bb-closed")).to_have_count(1)


def test_numbers_many_levels_and_words_can_be_set(page: Any, serve: Callable[..., str]) -> None:
    draw = np.random.default_rng(3)
    label = draw.integers(0, 3, 600)
    rows = {
        "age": draw.normal(40 + 9 * label, 6).round(1),
        "town": np.array([f"town {(each * 7 + draw.integers(0, 80)) % 90}" for each in label]),
        "size": np.array([f"size {(each + draw.integers(0, 9)) % 12}" for each in label]),
    }
    model = bb.NaiveBayes(calibration="temperature").fit(rows, label)
    page.goto(serve([OpenedClassifier("m", model.classifier_)]) + "#m/what-if")
    page.get_by_label("age", exact=True).fill("41.5")
    page.get_by_label("age", exact=True).press("Enter")
    page.get_by_label("town", exact=True).fill("town 14")
    page.get_by_label("town", exact=True).press("Enter")
    page.get_by_label("size").select_option("size 3")
    expect(page.locator("[data-term=size]")).to_be_visible()
    expected = model.predict_proba([{"age": 41.5, "town": "town 14", "size": "size 3"}])[0]
    assert [shown_share(page, name) for name in "012"] == pytest.approx(expected.tolist(), abs=1e-12)
    expect(page.locator("[data-term=calibration]")).to_be_visible()
    page.get_by_label("age, slider").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-term=age]")).not_to_contain_text("41.5")
    page.get_by_role("button", name="age is unknown").click()
    expect(page.locator("[data-term=age]")).to_have_count(0)
    page.get_by_label("town", exact=True).fill("nowhere")
    page.get_by_label("town", exact=True).press("Enter")
    expect(page.locator(".bb-note")).to_contain_text("nowhere")


def test_a_file_that_changed_is_noticed(page: Any, serve: Callable[..., str], tmp_path: Any) -> None:
    from bayesbox.app.server.opened import open_file

    path = tmp_path / "tennis.bayes"
    model = bb.NaiveBayes().fit(TENNIS.X, TENNIS.y)
    model.save(path)
    address = serve([open_file(str(path))])
    page.goto(f"{address}#tennis.bayes/what-if")
    expect(page.locator("footer")).to_contain_text("14 rows counted")
    model.partial_fit(TENNIS.X, TENNIS.y).save(path, overwrite=True)
    page.reload()
    expect(page.locator("footer")).to_contain_text("28 rows counted")


def test_what_to_ask_next_and_what_would_flip_it(page: Any, lessons: str) -> None:
    from bayesbox.classifier.case import batch_of_values

    page.goto(f"{lessons}#titanic/what-if")
    classifier = titanic()
    asked = classifier.ask_next(batch_of_values(classifier, {}))
    first = asked[0]
    expect(page.locator("[data-ask]").first).to_contain_text(f"{first.column}{first.information:.3f} bit")
    page.locator(f"[data-ask={first.column}]").get_by_role("button", name="female").click()
    expect(page.locator("[data-term=sex]")).to_contain_text("= female")
    best = classifier.flip(batch_of_values(classifier, {"sex": "female"})).best
    expect(page.locator(".bb-flip")).to_contain_text(f"then {best.prediction} {100 * best.probability:.1f} %")
    page.get_by_role("button", name="try it").click()
    expect(page.locator(".bb-sentence")).to_contain_text(f"survived is {best.prediction}")


def test_from_a_cell_to_its_rows_to_why(page: Any, serve: Callable[..., str], tmp_path: Any) -> None:
    from bayesbox.app.server.opened import open_files

    draw = np.random.default_rng(2)
    label = draw.integers(0, 2, 300)
    ages, cars = draw.normal(40 + 8 * label, 8).round(1), np.where(draw.random(300) < 0.3 + 0.4 * label, "suv", "van")
    lines = [f"{age},{car},{'yes' if own else 'no'}" for age, car, own in zip(ages, cars, label, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,car,buys", *lines]))
    [opened] = open_files([str(tmp_path / "people.csv")], "buys")
    page.goto(serve([opened]) + "#people.csv/evaluate")
    judged = bb.evaluate(bb.NaiveBayes(), {"age": ages, "car": cars}, np.where(label, "yes", "no"), cv=10)
    expect(page.get_by_role("cell", name=f"{float(judged.accuracy):.4f}", exact=True).first).to_be_visible()
    cell = page.locator("[data-cell='1,0']")
    assert int(cell.text_content()) == int(judged.confusion[1, 0])
    cell.focus()
    page.keyboard.press("Enter")
    table = page.locator(".bb-rows table")
    expect(table).to_contain_text(f"{int(judged.confusion[1, 0])} rows")
    steps = judged.thresholds("yes")
    page.get_by_label("Predict yes if").fill("0.3")
    place = int(np.searchsorted(steps.thresholds, 0.3))
    expect(page.locator("[data-hit]")).to_have_attribute("data-hit", str(steps.hits[place] / steps.positives))
    page.get_by_label("Share of yes among all").fill("0.1")
    hits = 100 * steps.hits[place] / steps.positives
    alarms = 900 * steps.alarms[place] / steps.negatives
    expect(page.locator("[data-outcome] p").first).to_contain_text(
        f"{hits + alarms:.0f} are predicted yes, and {hits:.0f} of them are"
    )
    table.get_by_role("link").first.click()
    expect(page.locator("[data-term=age]")).to_be_visible()
    page.get_by_role("link", name="Data").click()
    asked = {
        each.column: each.information for each in bb.NaiveBayes().fit({"age": ages, "car": cars}, label).ask_next({})
    }
    expect(page.locator("[data-bits=car]")).to_contain_text(f"{asked['car']:.3f} bit")


def test_an_evaluation_that_fails_says_why(
    page: Any, serve: Callable[..., str], forgiven: list[str], tmp_path: Any
) -> None:
    forgiven.append("422")
    (tmp_path / "other.csv").write_text("day,seen\n1,x\n2,y\n")
    bb.NaiveBayes().fit(TENNIS.X, TENNIS.y).save(tmp_path / "tennis.bayes")
    page.goto(serve(open_files([str(tmp_path / "tennis.bayes"), str(tmp_path / "other.csv")], target="play")))
    page.get_by_role("link", name="tennis.bayes").last.click()
    page.get_by_role("link", name="Evaluate").click()
    expect(page.get_by_role("alert")).to_contain_text("no column `play`. The columns are `day`, `seen`")


def test_a_table_of_few_rows_has_as_many_folds(tmp_path: Any) -> None:
    (tmp_path / "few.csv").write_text("a,y\np,yes\nq,no\np,yes\nq,no\np,\n")
    [opened] = open_files([str(tmp_path / "few.csv")], target="y")
    assert opened.answer("evaluate", {})["found"]["rows"] == 4
    page = report_of_rows(NaiveClassifier(NaiveOptions()), str(tmp_path / "few.csv"), "y")
    assert "4 rows, cross-validation" in page


def test_rows_of_one_class_have_no_area(tmp_path: Any) -> None:
    (tmp_path / "one.csv").write_text("a,y\n" + "p,yes\nq,yes\n" * 10)
    [opened] = open_files([str(tmp_path / "one.csv")], target="y")
    names = [each["name"] for each in opened.answer("evaluate", {})["found"]["figures"]]
    assert "accuracy" in names
    assert "area under ROC" not in names


def test_a_table_judges_the_model_before_it(tmp_path: Any) -> None:
    from bayesbox.errors import BadOption

    (tmp_path / "tennis.csv").write_text(
        "\n".join(
            [",".join([*TENNIS.X, "play"]), *(",".join(row) for row in zip(*TENNIS.X.values(), TENNIS.y, strict=True))]
        )
    )
    bb.train(str(tmp_path / "tennis.csv"), target="play").save(tmp_path / "tennis.bayes")
    [opened] = open_files([str(tmp_path / "tennis.bayes"), str(tmp_path / "tennis.csv")])
    assert list(opened.views) == ["what-if", "nomogram", "evaluate", "data", "audit"]
    found = opened.answer("evaluate", {"cell": [0, 0]})
    assert found["found"]["rows"] == 14
    assert found["rows"]["number"] == found["found"]["confusion"][0][0]
    with pytest.raises(BadOption, match="target"):
        open_files([str(tmp_path / "tennis.csv")])
