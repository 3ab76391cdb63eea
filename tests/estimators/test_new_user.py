"""The first mistakes of a new user in Python: the class of each error, what was found, and what to type."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.described import command_speaks
from bayesbox.errors import SourceUnavailable, UnknownColumn
from bayesbox.file.wrong_file import unavailable

ROWS = {"customer type": ["new", "vip", "vip", "new"], "late": ["yes", "no", "no", "no"]}
LABELS = ["yes", "no", "no", "yes"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [",".join(row) for row in zip(*ROWS.values(), LABELS, strict=True)]
    (tmp_path / "shop orders.csv").write_text("\n".join(["customer type,late,returned", *lines]) + "\n")
    bb.NaiveBayes().fit(ROWS, LABELS).save(tmp_path / "orders.bayes")
    bb.BayesianNetwork({"rain": []}, {"rain": 0.2}).write(tmp_path / "rain.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
class TestFiles:
    def test_a_table_as_a_model(self):
        with refusal(bb.BadModelFile, what="a text file, such as a table", found=None, remedy="bayesbox.train("):
            bb.load("shop orders.csv")

    def test_a_table_as_a_model_of_the_command(self):
        with refusal(bb.BadModelFile) as caught, command_speaks():
            bb.load("shop orders.csv")
        with command_speaks():
            assert "bayes train 'shop orders.csv' -t COLUMN" in str(caught.value)

    def test_a_network_as_a_model(self):
        with refusal(bb.BadModelFile, what="a Bayesian network", remedy="read_network"):
            bb.load("rain.json")

    def test_a_model_as_data(self):
        with refusal(bb.BadData, what="a bayesbox model, not a table", where="orders.bayes", remedy="bayesbox.load"):
            bb.predict(bb.load("orders.bayes"), "orders.bayes")

    def test_a_file_name_as_a_model(self):
        with refusal(bb.BadOption, found="orders.bayes", remedy="bayesbox.load('orders.bayes')"):
            bb.predict("orders.bayes", "shop orders.csv")

    def test_a_file_name_as_rows(self):
        with refusal(bb.BadData, what="not the name of a file", found="shop orders.csv", remedy="bayesbox.train"):
            bb.NaiveBayes().fit("shop orders.csv", LABELS)

    @pytest.mark.parametrize("read", [bb.load, bb.read_network])
    def test_a_misspelt_file(self, read):
        name = {bb.load: "order.bayes", bb.read_network: "rains.json"}[read]
        near = {bb.load: "orders.bayes", bb.read_network: "rain.json"}[read]
        with refusal(SourceUnavailable, what="file not found", where=name, remedy=f"Did you mean `{near}`?"):
            read(name)

    def test_a_folder_as_a_model(self, folder):
        with refusal(SourceUnavailable, what="a folder, not a file"):
            bb.load(folder)

    def test_a_name_with_spaces_that_is_not_quoted(self):
        error = unavailable(FileNotFoundError(), "shop")
        assert error.remedy == "Did you mean `shop orders.csv`?"
        with command_speaks():
            assert error.remedy.startswith("Did you mean 'shop orders.csv'? Quote")

    @pytest.mark.parametrize(("file", "remedy"), [("shop orders.csv", "learn_network"), ("orders.bayes", "to_network")])
    def test_something_else_as_a_network(self, file, remedy):
        with refusal(bb.BadOption, found=file, remedy=remedy):
            bb.read_network(file)

    def test_the_report_as_data(self):
        with refusal(bb.BadOption, found="report.html", remedy="path='report.html'"):
            bb.report(bb.load("orders.bayes"), "report.html")


class TestRows:
    def test_the_name_of_the_target_as_labels(self):
        with refusal(bb.BadData, what="one label per row", found="returned", remedy="bayesbox.train"):
            bb.NaiveBayes().fit({**ROWS, "returned": LABELS}, "returned")

    def test_labels_as_the_target(self):
        with refusal(bb.BadOption, what="the name of a column", found="list", remedy="fit(X, y)"):
            bb.train(ROWS, LABELS)

    def test_a_table_without_rows(self):
        with refusal(bb.BadData, what="no row has a label", remedy="no rows, or the target column is empty"):
            bb.train({"age": [], "class": []}, "class")

    def test_part_of_a_name_with_spaces(self):
        with refusal(UnknownColumn, column="customer", remedy="Did you mean `customer type`?") as caught:
            bb.NaiveBayes(columns={"customer": "category"}).fit(ROWS, LABELS)
        assert "Quote" not in caught.value.remedy
        with command_speaks():
            assert "Quote a name that contains spaces: 'customer type'" in caught.value.remedy


class TestQuestions:
    @pytest.mark.parametrize(
        ("question", "what", "remedy"),
        [
            ("", "the question is empty", "P(colour=red"),
            ("argmax rain", "expected P( )", "P(colour=red"),
            ("P(rain=true & wind=true)", "`,` between two findings", "...=true, wind=true"),
            ("P(rain=true and wind=true)", "`,` between two findings", "...=true, wind=true"),
            ("P(rain>0)", "comparisons are not supported", "rain=VALUE"),
            ("P(rain | wind>0)", "comparisons are not supported", "wind=VALUE"),
            ("P(rain | )", "expected a name", "in double quotes if"),
            ("P(rain | do(wind))", "needs the state", "Write do(wind="),
        ],
    )
    def test_what_to_write_instead(self, question, what, remedy):
        net = bb.BayesianNetwork({"rain": ["wind"]}, {"wind": 0.5, "rain": {True: 0.9, False: 0.1}})
        with refusal(bb.BadOption, what=what, remedy=remedy):
            net.query(question)

    def test_a_level_with_a_joining_word_in_quotes(self):
        net = bb.BayesianNetwork({"size": []}, {"size": {"small and x=1": 0.5, "large": 0.5}})
        assert net.query('P(size="small and x=1")') == 0.5

    def test_bins_as_a_number(self):
        with refusal(bb.BadOption, found="4", remedy="frequency:4"):
            bb.learn_network({"age": [1.5, 2.5, 3.5], "car": ["a", "b", "a"]}, bins="4")

    def test_a_network_question_to_numbers(self):
        clf = bb.NaiveBayes().fit({"age": [1.5, 2.5, 3.5, 8.0]}, LABELS)
        with refusal(bb.BadOption, what="needs states", remedy="numeric='mdl'"):
            clf.to_network()
