"""The one registry of kinds: whatever is registered saves and loads; what is not is refused by its name."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from tests.file.save_examples import mixed, resealed, saved, with_document
from tests.files import examples
from tests.refusal import refusal

import bayesbox as bb
from bayesbox.classifier.registry import KINDS
from bayesbox.dist.number.gaussian import Gaussian
from bayesbox.errors import BadData, BadModelFile
from bayesbox.file import container, registry
from bayesbox.file.faults import MemberFault
from bayesbox.file.load import from_bytes, load_classifier
from bayesbox.file.reader import Json, Reader
from bayesbox.file.registry import CODECS, codec_of, extension_of, register_codec
from bayesbox.file.save import to_bytes
from bayesbox.file.strict_json import parse
from bayesbox.rule.smoothing import RULES, Laplace
from bayesbox.schema.families import FAMILIES, FamilyEntry


@dataclasses.dataclass
class Coin:
    """A model that is not part of the package."""

    heads: int
    kind: str = "coin"


class CoinCodec:
    """Its codec."""

    HOLDS = "coin"
    LOADED_BY = "the hand"

    @staticmethod
    def write(model: Coin) -> tuple[Json, dict[str, bytes]]:
        return {"heads": model.heads}, {"edge.bin": b"milled"}

    @staticmethod
    def read(kind: str, reader: Reader, members: dict[str, bytes]) -> Coin:
        heads = reader.take("heads", int)
        reader.done()
        if members.get("edge.bin") != b"milled":
            raise MemberFault("edge.bin", "it is clipped")
        return Coin(heads, kind)

    @staticmethod
    def parts(model: Coin) -> Iterator[type]:
        yield type(model)


@pytest.fixture
def coin() -> Iterator[bytes]:
    """The bytes of a coin, whose codec is registered meanwhile."""
    register_codec("coin", f"{__name__}:CoinCodec")
    yield to_bytes(Coin(3))
    CODECS.pop("coin", None)


def refused(data: bytes, **options: Any) -> BadModelFile:
    with pytest.raises(BadModelFile) as caught:
        from_bytes(data, name="m.bayes", **options)
    return caught.value


def test_what_others_register_is_saved_and_loaded(coin: bytes) -> None:
    assert from_bytes(coin) == Coin(3)
    assert parse(container.unpack(coin)["model.json"]) == {
        "format": 1,
        "kind": "coin",
        "bayesbox": bb.__version__,
        "extension": "tests",
        "heads": 3,
    }


def test_its_faults_are_those_of_a_model_file(coin: bytes) -> None:
    clipped = refused(resealed(coin, lambda members: members.update({"edge.bin": b"m"})))
    assert clipped.where == "m.bayes, edge.bin"
    assert str(clipped.what) == "it is clipped"
    assert clipped.remedy == container.DAMAGED
    assert refused(with_document(coin, tails=1)).where == "m.bayes, model.json"


def test_a_kind_that_nobody_registered_is_named_with_the_package_to_install(coin: bytes) -> None:
    del CODECS["coin"]
    error = refused(with_document(coin, extension="coinage, tests"))
    assert error.found == "coin"
    assert error.where == "m.bayes, model.json"
    assert error.remedy == "Install and import coinage, with which the model was saved"
    assert "Upgrade bayesbox" in str(refused(with_document(saved("mixed"), kind="network")).remedy)
    with refusal(BadData, found="coin"):
        to_bytes(Coin(3))


def test_a_part_that_is_not_known_names_the_package_too() -> None:
    """A rule, a kind of column or a tally of a package that is not imported."""
    rules = parse(container.unpack(saved("mixed"))["model.json"])["rules"] | {"smoothing": {"rule": "coin"}}
    error = refused(with_document(saved("mixed"), rules=rules, extension="coinage"))
    assert "unknown rule 'coin'" in str(error)
    assert error.remedy == "Install and import coinage, with which the model was saved"
    assert refused(with_document(saved("mixed"), rules=rules)).remedy == container.DAMAGED
    assert refused(with_document(saved("mixed"), extension=["coinage"])).remedy == container.DAMAGED


def test_installed_extensions_are_loaded_where_a_model_needs_one(coin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that announce themselves, and whatever name the file has: it decides nothing."""
    del CODECS["coin"]
    found: list[str] = []

    def load() -> None:
        found.append("loaded")
        register_codec("coin", f"{__name__}:CoinCodec")

    monkeypatch.setattr("bayesbox.file.load.load_extensions", load)
    assert from_bytes(with_document(coin, extension="coinage")) == Coin(3)
    assert from_bytes(coin) == Coin(3)  # its package is imported already
    from_bytes(saved("mixed"))
    assert found == ["loaded"]


def test_what_is_built_in_names_no_extension() -> None:
    for make in (mixed, lambda: examples.made("text").classifier_, lambda: examples.made("hmm-counted")):
        assert b"extension" not in container.unpack(to_bytes(make()))["model.json"]
    assert extension_of(Coin) == "tests"
    assert extension_of(type(mixed())) is None


def test_every_kind_has_a_codec() -> None:
    for kind in [each.file for each in KINDS.values()] + ["hidden-markov"]:
        codec = codec_of(kind)
        assert codec is not None
        assert codec.HOLDS
        assert codec.LOADED_BY
    assert codec_of("coin") is None


def test_subjects_are_imported_only_where_a_kind_is_not_registered_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SUBJECTS", ("bayesbox.no_such_subject",))
    assert codec_of("aode") is not None
    with pytest.raises(ModuleNotFoundError):
        codec_of("coin")


def test_another_kind_than_was_asked_for(tmp_path: Any) -> None:
    examples.made("hmm-counted").save(tmp_path / "hmm.bayes")
    examples.made("text").save(tmp_path / "text.bayes")
    with pytest.raises(BadModelFile) as caught:
        load_classifier(tmp_path / "hmm.bayes")
    assert caught.value.found == "hidden-markov"
    assert "HiddenMarkovModel.load" in str(caught.value.remedy)
    with pytest.raises(BadModelFile) as caught:
        bb.HiddenMarkovModel.load(tmp_path / "text.bayes")
    assert caught.value.found == "text"
    assert "bayesbox.load" in str(caught.value.remedy)
    assert isinstance(bb.load(tmp_path / "hmm.bayes"), bb.HiddenMarkovModel)


def test_a_file_in_a_file_without_end_is_refused() -> None:
    """Each is a hypothesis of the next. Python's limit may be met anywhere on the way."""

    def refused_below(frames: int) -> str:
        return refused_below(frames - 1) if frames else str(refused(data))

    data = to_bytes(bb.BayesOptimal([examples.made("naive-counts")])._classifier())
    for _ in range(200):
        data = resealed(data, lambda members: members.update({"hypothesis-0.bayes": data}))  # noqa: B023
    for frames in range(12):
        assert "nested too deep" in refused_below(frames)


def test_a_rule_and_a_density_of_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclasses.dataclass(frozen=True)
    class Halved(Laplace):
        name = "halved"

    monkeypatch.setitem(RULES, "halved", Halved)
    by_rule = bb.NaiveBayes(smoothing=Halved()).fit({"car": ["suv", "van"]}, ["a", "b"])
    assert b'"extension": "tests"' in container.unpack(to_bytes(by_rule.classifier_))["model.json"]

    class Bell(Gaussian):
        pass

    monkeypatch.setitem(FAMILIES, "bell", FamilyEntry("bell", "", "real", family=Bell))
    ages: dict[str, Any] = {"age": [20.0, 30.5, 41.0, 22.0]}
    by_density = bb.NaiveBayes(columns={"age": bb.Real("bell")}).fit(ages, list("abab"))
    data = to_bytes(by_density.classifier_)
    assert b'"extension": "tests"' in container.unpack(data)["model.json"]
    assert from_bytes(data).book == by_density.book_
    monkeypatch.delitem(FAMILIES, "bell")
    error = refused(with_document(data, extension="coinage"))
    assert error.remedy == "Install and import coinage, with which the model was saved"
