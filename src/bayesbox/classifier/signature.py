"""Ed25519 signatures of certificates, with the package `cryptography`, which is imported on demand and only here.

Keys are PEM files, as `bayes key` and `openssl genpkey -algorithm ed25519` write them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bayesbox.errors import BadOption, MissingExtra, SourceUnavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from bayesbox.file.reader import Json

ALGORITHM = "Ed25519"
MAKE_ONE = "Create a key pair: bayes key NAME"

K = TypeVar("K")


@dataclass(frozen=True)
class Signature:
    """An Ed25519 signature and the public key that verifies it, in hex.

    The key in a certificate proves nothing by itself: verify a signature with a key obtained separately.
    """

    public_key: str
    value: str

    def to_json(self) -> Json:
        """The signature as JSON for a certificate."""
        return {"algorithm": ALGORITHM, "public_key": self.public_key, "value": self.value}

    @classmethod
    def from_json(cls, written: object) -> Signature:
        """The signature from the JSON of a certificate; ValueError if it is not valid."""
        if not isinstance(written, dict) or set(written) != {"algorithm", "public_key", "value"}:
            raise ValueError("a signature must have an algorithm, a public_key and a value")
        if written["algorithm"] != ALGORITHM:
            raise ValueError(f"the algorithm of a signature must be {ALGORITHM}, got {written['algorithm']!r}")
        for name, size in (("public_key", 32), ("value", 64)):
            text = written[name]
            if not isinstance(text, str) or len(text) != 2 * size or not set(text) <= set("0123456789abcdef"):
                raise ValueError(f"the {name} of a signature must be {size} bytes in hex")
        return cls(written["public_key"], written["value"])


def sign(data: bytes, key: Ed25519PrivateKey) -> Signature:
    """The signature of these bytes by a private key."""
    return Signature(key.public_key().public_bytes_raw().hex(), key.sign(data).hex())


def is_signed_by(signature: Signature, data: bytes, key: Ed25519PublicKey) -> bool:
    """Whether the owner of this key signed these bytes."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(bytes.fromhex(signature.value), data)
    except InvalidSignature:
        return False
    return True


def load_private_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """The private key of a PEM file."""
    serialization, ed25519 = _library()
    return _loaded(
        path, lambda data: serialization.load_pem_private_key(data, None), ed25519.Ed25519PrivateKey, "private"
    )


def load_public_key(path: str | os.PathLike[str]) -> Ed25519PublicKey:
    """The public key of a PEM file."""
    serialization, ed25519 = _library()
    return _loaded(path, serialization.load_pem_public_key, ed25519.Ed25519PublicKey, "public")


def new_key_pair() -> tuple[bytes, bytes]:
    """A new key pair as PEM files: the private key, to be kept secret, and the public key."""
    serialization, ed25519 = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    private: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public: bytes = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public


def _library() -> tuple[Any, Any]:
    """The modules (serialization, ed25519) of `cryptography`."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("cryptography", "sign") from None
    return serialization, ed25519


def _loaded(path: str | os.PathLike[str], read: Callable[[bytes], Any], kind: type[K], which: str) -> K:
    where = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 16)
    except OSError as error:
        raise SourceUnavailable(error.strerror or "cannot be read", where=where) from None
    try:
        key = read(data)
    except TypeError:  # raised by `cryptography` if a password is needed
        raise BadOption("the key is encrypted", where=where, remedy="Decrypt it first: openssl pkey -in KEY") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("builtins", "cryptography"):
            raise
        raise BadOption(f"this is not a {which} key in PEM format", where=where, remedy=MAKE_ONE) from None
    if not isinstance(key, kind):
        raise BadOption(
            f"the key must be {ALGORITHM}", where=where, found=type(key).__name__.strip("_"), remedy=MAKE_ONE
        )
    return key
