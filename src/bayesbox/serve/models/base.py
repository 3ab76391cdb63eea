"""The interface of served models: a name, a kind, its queries, and a digest.

A query is an `Action`: the type of its body, and its function. The service does not depend on kinds: it looks up an
action by name, decodes the body into the action's type and calls it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import msgspec

Json = dict[str, Any]
Scalar = str | int | float | bool | None
Row = dict[str, Scalar]


class ModelAnswer(NamedTuple):
    """A JSON body, the digest of the model, the number of rows, and the predicted classes: one per row, or counts by
    class."""

    body: bytes
    digest: str
    rows: int = 0
    classes: Sequence[Any] | Mapping[Any, int] = ()


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request; `rows_asked` is checked against the limit of rows."""

    def rows_asked(self) -> int:
        """The number of rows."""
        return 1


@dataclass(frozen=True)
class Action:
    """A query: the type of its body, its function, whether it is fast enough for the event loop, and the JSON schemas
    of body and answer for the OpenAPI description. `direct` answers the JSON of a plain body up to a number of rows,
    and returns None for any other."""

    body: type[Body]
    run: Callable[[Any], ModelAnswer]
    quick: Callable[[Any], bool]
    schema: Callable[[], Json]
    answer: Callable[[], Json]
    summary: str
    direct: Callable[[bytes, int], ModelAnswer | None] | None = None


class ServiceModel(ABC):
    """A model under a name. It may change while it is served; each answer is from one version."""

    kind: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    @abstractmethod
    def digest(self) -> str:
        """The digest of the current model."""

    @property
    @abstractmethod
    def actions(self) -> Mapping[str, Action]:
        """Its actions, by the last part of the path."""

    @abstractmethod
    def summary(self) -> Json:
        """Its entry in the list of models."""

    @abstractmethod
    def tensors(self) -> tuple[list[Json], list[Json]]:
        """The inputs and the outputs of the Open Inference Protocol."""

    @abstractmethod
    def input_names(self) -> Container[str]:
        """The names of its inputs."""

    @abstractmethod
    def infer(self, inputs: Mapping[str, list[Any]], rows: int) -> tuple[str, list[Json], Sequence[Any]]:
        """The digest, the output tensors, and the classes predicted."""

    @property
    def infers_quickly(self) -> bool:
        """Whether it is fast enough for the event loop."""
        return False


def json_of(value: Any) -> bytes:
    """JSON with infinite numbers as the strings inf and -inf, as the command writes them.

    >>> json_of({"log_odds": float("inf"), "proba": 0.25})
    b'{"log_odds":"inf","proba":0.25}'
    """
    return msgspec.json.encode(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(name): _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value.item() if hasattr(value, "item") else value
