"""Damaged and crafted files of documents, chains and models with members of their own: each is refused."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from tests.file.save_examples import resealed, with_document
from tests.files import examples

import bayesbox as bb
from bayesbox.errors import BadModelFile
from bayesbox.file import container
from bayesbox.file.load import from_bytes
from bayesbox.file.save import to_bytes
from bayesbox.file.strict_json import parse

NAMES = ["text", "text-position", "hmm-counted", "hmm-given", "kdb", "full", "optimal"]


@functools.cache
def original(name: str) -> bytes:
    if name == "hmm-given":
        tables = {"start": [0.6, 0.4], "transition": [[0.7, 0.3], [0.4, 0.6]], "emission": [[0.1, 0.9], [1.0, 0.0]]}
        return to_bytes(bb.HiddenMarkovModel.from_tables(**tables, states=["rain", "dry"], symbols=["walk", "shop"]))
    if name == "optimal":
        return to_bytes(bb.BayesOptimal([examples.made("naive-counts")])._classifier())
    model = examples.made(name)
    return to_bytes(model if name.startswith("hmm-") else model.classifier_)


def refusal(data: bytes) -> BadModelFile | None:
    """What the loader says against a file, None if it takes it."""
    try:
        from_bytes(data, name="m.bayes")
    except BadModelFile as error:
        return error
    return None


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_or_a_cut_is_detected(name: str) -> None:
    data = bytearray(original(name))
    assert refusal(bytes(data)) is None
    for place in range(0, len(data), 3):
        data[place] ^= 1 << place % 8
        error = refusal(bytes(data))
        data[place] ^= 1 << place % 8
        assert error is not None, place
        assert str(error.where).startswith("m.bayes")
        assert error.remedy
    assert all(refusal(bytes(data[:length])) for length in range(0, len(data), 5))
    assert all(refusal(bytes(data[start:])) for start in range(1, len(data), 5))


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_under_new_checksums_is_refused_or_can_be_saved_again(name: str) -> None:
    data = original(name)
    for member, content in container.unpack(data).items():
        for place in range(0, len(content), 1 + len(content) // 50):
            flipped = bytearray(content)
            flipped[place] ^= 1 << (3 * place) % 7
            forged = resealed(data, lambda members: members.update({member: bytes(flipped)}))  # noqa: B023
            if refusal(forged) is None:
                once = to_bytes(from_bytes(forged))
                assert to_bytes(from_bytes(once)) == once
            if bytes(content[:place]).rstrip() != bytes(content).rstrip():
                assert refusal(resealed(data, lambda members: members.update({member: content[:place]})))  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_a_member_too_few_or_too_many(name: str) -> None:
    data = original(name)
    for member in container.unpack(data):
        error = refusal(resealed(data, lambda members: members.pop(member) and None))  # noqa: B023
        assert error is not None, member
    for member in ("code.py", "pool-0.bayes", "hypothesis-7.bayes", "prior.arrow", "pairs.arrow"):
        error = refusal(resealed(data, lambda members: members.update({member: b"x"})))  # noqa: B023
        assert error is not None
        if name != "hmm-given":  # its tables are in the document: it has no members at all
            assert error.where == f"m.bayes, {member}"


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_the_document_is_needed_and_typed(name: str) -> None:
    data = original(name)
    document = parse(container.unpack(data)["model.json"])
    optional = {"named", "derived", "number_prior", "constants"}
    for key in document:
        without = {other: value for other, value in document.items() if other != key}
        error = refusal(_with(data, without))
        assert key in optional or error is not None, key
        assert refusal(_with(data, {**document, key: [{}]})), key
    assert refusal(with_document(data, news=1))
    newer = refusal(with_document(data, format=2))
    assert newer is not None
    assert "Upgrade bayesbox" in str(newer.remedy)
    assert refusal(with_document(data, format=0))


def _with(data: bytes, document: Any) -> bytes:
    return resealed(data, lambda members: members.update({"model.json": json.dumps(document).encode()}))


def test_a_hypothesis_that_is_no_classifier_of_tables() -> None:
    for inner in map(original, ("text", "hmm-counted", "optimal")):
        forged = resealed(original("optimal"), lambda members: members.update({"hypothesis-0.bayes": inner}))  # noqa: B023
        assert refusal(forged)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"classes": ["rain", "rain"]}, "repeated"),
        ({"classes": ["rain", "snow"]}, "unknown states"),
        ({"levels": ["rain", "dry"]}, "not sorted"),
        ({"levels": ["dry", "snow"]}, "unknown states"),
        ({"cells": []}, "one count per class"),
        ({"cells": ["1p0", "1p0", "1p0", "-1p0"]}, "negative"),
        ({"cells": ["1p0", "1p0", "1p0", "1p0\n1p0"]}, "negative"),
        ({"cells": ["1p0", "1p0", "1p0", "five"]}, ""),
        ({"cells": [1, 1, 1, 1]}, "must be a list of texts"),
        ({"cells": ["1p0", "1p0", "1p0", "1p0"]}, "digest"),
        ({"more": 1}, "unknown key"),
    ],
)
def test_transitions_that_no_sequences_have(changes: dict[str, Any], reason: str) -> None:
    error = refusal(with_document(original("hmm-counted"), transition=lambda written: written | changes))
    assert error is not None
    assert reason in str(error)


def test_rules_of_a_step_that_a_chain_does_not_take() -> None:
    assert refusal(with_document(original("hmm-counted"), rules=lambda written: written | {"unseen": "ignore"})) is None
    error = refusal(with_document(original("hmm-counted"), rules=lambda written: written | {"missing": "level"}))
    assert error is not None
    assert "does not have" in str(error)
