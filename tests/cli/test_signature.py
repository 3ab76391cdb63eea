"""Certificates that are signed, keys, and what does not hold when a byte of a certificate is another."""

from __future__ import annotations

import json
import stat
import subprocess
import sys

import pytest

from bayesbox.classifier.certificate import Certificate, Outcome, is_bound, is_wrong
from bayesbox.classifier.signature import load_private_key, load_public_key
from bayesbox.errors import BadOption, MissingExtra

SIGNED = "the certificate is signed by this key"
CHANGES = {
    "before": "0" * 64,
    "rows": "1" * 64,
    "after": "2" * 64,
    "count": 3,
    "derived": ["the selection of columns"],
}


@pytest.fixture
def signed(tables, bayes):
    """A model of cars without one of them, the certificate of that, signed, and two pairs of keys."""
    (tables / "gone.csv").write_text("age,car,class\n45,suv,H\n")
    bayes("train", "cars.csv", "-t", "class", "-o", "cars.bayes")
    bayes("key", "company")
    bayes("key", "other")
    bayes("forget", "cars.bayes", "gone.csv", "--certificate", "gone.json", "--key", "company.pem")
    return tables


def outcome(ended):
    return {each["statement"]: each["outcome"] for each in ended.json["checks"]}[SIGNED]


def test_the_signature_is_checked_by_the_key(signed, bayes):
    ended = bayes("verify", "gone.json", "cars.bayes", "--public-key", "company.pub.pem", "--json")
    assert outcome(ended) == "right"
    assert ended.json["holds"]


def test_another_key_does_not_confirm_it(signed, bayes):
    ended = bayes("verify", "gone.json", "cars.bayes", "--public-key", "other.pub.pem", "--json", code=3)
    assert outcome(ended) == "wrong"


def test_without_a_key_the_signature_is_not_checked(signed, bayes):
    ended = bayes("verify", "gone.json", "cars.bayes", "--json", code=3)
    assert outcome(ended) == "not checked"


def test_a_certificate_without_a_signature_is_not_signed(signed, bayes):
    written = json.loads((signed / "gone.json").read_text())
    (signed / "bare.json").write_text(json.dumps({**written, "signature": None}))
    ended = bayes("verify", "bare.json", "cars.bayes", "--public-key", "company.pub.pem", "--json", code=3)
    assert outcome(ended) == "wrong"


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_is_signed(signed, field):
    text = (signed / "gone.json").read_text()
    key = load_public_key(signed / "company.pub.pem")
    changed = Certificate.from_text(json.dumps({**json.loads(text), field: CHANGES[field]}), where="changed.json")
    assert changed._check_signature(key).outcome is Outcome.WRONG
    assert Certificate.from_text(text, where="gone.json")._check_signature(key).outcome is Outcome.RIGHT


@pytest.mark.parametrize(
    "signature",
    [
        1,
        {},
        {"algorithm": "RSA", "public_key": "00" * 32, "value": "00" * 64},
        {"algorithm": "Ed25519", "public_key": "00" * 31, "value": "00" * 64},
        {"algorithm": "Ed25519", "public_key": "00" * 32, "value": "zz" * 64},
    ],
)
def test_what_is_not_a_signature(signed, bayes, signature):
    written = json.loads((signed / "gone.json").read_text())
    (signed / "bad.json").write_text(json.dumps({**written, "signature": signature}))
    bayes("verify", "bad.json", "cars.bayes", code=3)


def test_a_signature_by_openssl_keys(signed, bayes):
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "o.pem"], check=True, cwd=signed)
    subprocess.run(["openssl", "pkey", "-in", "o.pem", "-pubout", "-out", "o.pub.pem"], check=True, cwd=signed)
    bayes("update", "cars.bayes", "gone.csv")
    bayes("forget", "cars.bayes", "gone.csv", "--certificate", "o.json", "--key", "o.pem")
    bayes("verify", "o.json", "cars.bayes", "--public-key", "o.pub.pem")


def test_the_private_key_is_for_its_owner_alone_and_is_not_overwritten(signed, bayes):
    assert stat.S_IMODE((signed / "company.pem").stat().st_mode) == 0o600
    before = (signed / "company.pem").read_bytes()
    bayes("key", "company", code=2)
    assert (signed / "company.pem").read_bytes() == before


def test_a_key_that_is_not_one_changes_nothing(signed, bayes):
    before = (signed / "cars.bayes").read_bytes()
    (signed / "more.csv").write_text("age,car,class\n20,sports,H\n")
    for key, code in (("cars.csv", 2), ("company.pub.pem", 2), ("none.pem", 74)):
        bayes("forget", "cars.bayes", "more.csv", "--certificate", "more.json", "--key", key, code=code)
        assert (signed / "cars.bayes").read_bytes() == before
        assert not (signed / "more.json").exists()
    bayes("forget", "cars.bayes", "more.csv", "--key", "company.pem", code=2)


def test_a_key_of_another_algorithm(signed):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    (signed / "locked.pem").write_bytes(pem)
    (signed / "curve.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    for name in ("locked.pem", "curve.pem"):
        with pytest.raises(BadOption) as refused:
            load_private_key(signed / name)
        assert refused.value.where == str(signed / name)


def test_without_the_package_the_extra_is_named(signed, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(MissingExtra) as refused:
        load_private_key(signed / "company.pem")
    assert "bayesbox[sign]" in refused.value.remedy


def test_statements_that_bind(signed):
    certificate = Certificate.from_text((signed / "gone.json").read_text(), where="gone.json")
    from bayesbox.file.load import load_classifier

    found = certificate.check(model=load_classifier(signed / "cars.bayes").book)
    assert not is_wrong(found)
    assert not is_bound(found)
