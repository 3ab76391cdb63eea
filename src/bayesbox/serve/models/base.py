"""What every served model is: a name, a kind, what it can be asked, and a digest of the answers' origin.

A question is an `Action`: the shape of its body, and what answers it. The service knows no kind: it looks an action up
by its name, decodes the body into the action's type and calls it.
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
    """A body of JSON, the digest of the model that gave it, how many rows it is about, and the classes predicted: that
    of each row, or how many rows have each."""

    body: bytes
    digest: str
    rows: int = 0
    classes: Sequence[Any] | Mapping[Any, int] = ()


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request; `rows_asked` is held against the limit of rows."""

    def rows_asked(self) -> int:
        """How many rows it holds."""
        return 1


@dataclass(frozen=True)
class Action:
    """A question: the type of its body, what answers it, whether that is quick enough for the event loop, and for the
    description of the service the JSON schemas of body and answer. `direct` answers the JSON of a plain body of at
    most this many rows, and gives None for any other."""

    body: type[Body]
    run: Callable[[Any], ModelAnswer]
    quick: Callable[[Any], bool]
    schema: Callable[[], Json]
    answer: Callable[[], Json]
    summary: str
    direct: Callable[[bytes, int], ModelAnswer | None] | None = None


class ServiceModel(ABC):
    """A model under a name. It may change while it is served; an answer is that of one version of it."""

    kind: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    @abstractmethod
    def digest(self) -> str:
        """That of the model as it answers now."""

    @property
    @abstractmethod
    def actions(self) -> Mapping[str, Action]:
        """What it can be asked, by the last part of the path."""

    @abstractmethod
    def summary(self) -> Json:
        """Its line in the list of models."""

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
        """Whether the event loop may answer itself."""
        return False


def json_of(value: Any) -> bytes:
    """JSON in which infinite numbers are the texts inf and -inf, as the command writes them.

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
