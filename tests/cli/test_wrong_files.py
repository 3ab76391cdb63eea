"""Every verb with a file of the wrong kind: the message says what the file is, and what to type instead."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.cli.conftest import TABLES

from bayesbox.cli.main import run
from bayesbox.file.known_file import known_file, text_file

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
VERBS = {  # FILE is the file in question; the others are right
    "data": (
        ["train", "FILE", "-t", "play", "-o", "o.bayes"],
        ["train", "FILE"],
        ["predict", "m.bayes", "FILE"],
        ["explain", "m.bayes", "FILE", "--row", "1"],
        ["evaluate", "m.bayes", "FILE"],
        ["schema", "FILE"],
        ["update", "m.bayes", "FILE"],
        ["forget", "m.bayes", "FILE"],
        ["calibrate", "m.bayes", "FILE"],
        ["network", "learn", "FILE", "-o", "o.json"],
        ["network", "fit", "net.json", "FILE", "-o", "o.json"],
        ["hmm", "train", "FILE", "--states", "2", "-o", "o.bayes"],
        ["report", "m.bayes", "FILE", "-o", "o.html"],
    ),
    "model": (
        ["predict", "FILE", "t.csv"],
        ["explain", "FILE", "--set", "windy=true"],
        ["importance", "FILE"],
        ["show", "FILE"],
        ["update", "FILE", "t.csv"],
        ["forget", "FILE", "t.csv"],
        ["calibrate", "FILE", "t.csv"],
        ["redact", "FILE", "-o", "o.bayes"],
        ["merge", "m.bayes", "FILE", "-o", "o.bayes"],
        ["average", "m.bayes", "FILE", "-o", "o.bayes"],
        ["diff", "m.bayes", "FILE"],
        ["drift", "FILE", "t.csv"],
        ["export", "FILE", "--sql", "duckdb"],
        ["hmm", "decode", "FILE", "t.csv"],
        ["verify", "cert.json", "FILE"],
    ),
    "network": (["network", "sample", "FILE", "-n", "2"], ["network", "convert", "FILE", "o.bif"], ["ask", "FILE"]),
    "certificate": (["verify", "FILE", "m.bayes"],),
    "tables": (["hmm", "train", "--tables", "FILE", "-o", "o.bayes"],),
}
FILES = {  # what it is, by its own words, and what it can be used as
    "m.bayes": (["a bayesbox model"], {"model", "network"}),
    "net.json": (["a Bayesian network", "the tables of a hidden"], {"network"}),
    "net.bif": (["a Bayesian network"], {"network"}),
    "net.xmlbif": (["a Bayesian network"], {"network"}),
    "r.html": (["an HTML page, such as a report"], set()),
    "cert.json": (["the certificate of a forget", "the tables of a hidden"], {"certificate"}),
    "hmm.json": (["the tables of a hidden Markov model"], {"tables"}),
    "t.csv": (
        ["a text file, such as a table", "not a network file", "not the certificate", "tables as JSON"],
        {"data"},
    ),
    "t.parquet": (["a table in Parquet format", "not a network file"], {"data"}),
    "pic.png": (["a picture"], set()),
}


@pytest.fixture
def kinds(folder: Path) -> Path:
    """One file of each kind."""
    (folder / "t.csv").write_text(TABLES["tennis.csv"])
    (folder / "two.csv").write_text("".join(TABLES["tennis.csv"].splitlines(keepends=True)[:3]))
    (folder / "pic.png").write_bytes(PNG)
    (folder / "hmm.json").write_text('{"states": ["a", "b"],\n "start": [1, 0], "transition": [[1, 0], [0, 1]]}')
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(folder / "t.csv"), folder / "t.parquet")
    for arguments in (
        ["train", "t.csv", "-t", "play", "-o", "m.bayes"],
        ["forget", "m.bayes", "two.csv", "-o", "less.bayes", "--certificate", "cert.json"],
        ["network", "learn", "t.csv", "-o", "net.json"],
        ["network", "convert", "net.json", "net.bif"],
        ["network", "convert", "net.json", "net.xmlbif"],
        ["report", "m.bayes", "t.csv", "-o", "r.html"],
    ):
        assert run(arguments) == 0
    return folder


@pytest.mark.usefixtures("kinds")
def test_a_file_of_the_wrong_kind_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One test, since the files are made once; what is wrong is listed for all of them."""
    wrong = []
    tried = 0
    for (use, verbs), (file, (words, uses)) in itertools.product(VERBS.items(), FILES.items()):
        if use in uses:
            continue
        for verb in verbs:
            capsys.readouterr()
            arguments = [file if word == "FILE" else word for word in verb]
            code, said = run(arguments), capsys.readouterr().err
            tried += 1
            if code not in (2, 3, 4) or "Traceback" in said or file not in said or not any(w in said for w in words):
                wrong.append((arguments, code, said))
    assert not wrong, json.dumps(wrong, indent=1)
    assert tried >= 250


REMEDIES: list[tuple[list[str], str]] = [
    (["train", "net.json"], "bayes query net.json 'P(NODE)'"),
    (["train", "m.bayes"], "bayes show m.bayes"),
    (["predict", "m.bayes", "cert.json"], "bayes verify cert.json MODEL"),
    (["show", "net.bif"], "bayes network show net.bif"),
    (["show", "t.parquet"], "bayes train t.parquet -t COLUMN"),
    (["train", "hmm.json", "-t", "a"], "bayes hmm train --tables hmm.json"),
    (["verify", "m.bayes", "cert.json"], "bayes forget --certificate"),
    (["report", "t.csv"], "The columns are outlook, temperature"),
    (["app", "t.csv", "--no-open"], "The columns are outlook, temperature"),
    (["audit", "verify", "m.bayes"], "Pass the folder"),
    (["events", "t.csv", "m"], "Pass the folder"),
]


@pytest.mark.usefixtures("kinds")
def test_the_remedy_is_a_command_for_that_file(capsys: pytest.CaptureFixture[str]) -> None:
    for verb, remedy in REMEDIES:
        capsys.readouterr()
        assert run(verb) != 0
        assert remedy in capsys.readouterr().err, verb


TEXTS = [
    b"network,age\n1,2\n",
    b"network asia,b\n{1,2\n",
    b"net,{ \n",
    b"BAYES\n1\n2\n",
    b'{"start": [1], "x": 2}\n',
    b'{"format": "bayesbox", "x": 2}\n',
    b"<b>,a\n1,2\n",
    b"html\n<html>\n",
    b"%,PDF\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_table_is_not_mistaken(text: bytes) -> None:
    assert known_file(text, "t.csv") is None
    assert text_file(text, "t.csv") is not None


def test_a_character_that_is_cut_is_still_text() -> None:
    assert text_file("âge".encode()[:1] + b"", "t.csv") is None
    assert text_file("naïve,âg".encode() + "é".encode()[:1], "t.csv") is not None
    assert text_file(b"\xff\xfe\0", "t.csv") is None


def test_the_app_and_the_report_name_the_verb_that_has_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.csv").write_text("a,y\n1,x\n2,y,z\n")
    for verb in ("app", "report"):
        capsys.readouterr()
        assert run([verb, "broken.csv", "-t", "y"]) == 3
        said = capsys.readouterr().err
        assert "--bad-rows skip" in said
        assert f"an option of bayes train: train a model with it, then run bayes {verb} MODEL" in said
    assert run(["train", "broken.csv", "-t", "y"]) == 3
    assert "an option of bayes train" not in capsys.readouterr().err
