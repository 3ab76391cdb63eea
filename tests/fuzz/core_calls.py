"""Direct calls of the compiled core with hostile arguments: arrays that are too short, strided, negative, huge, of
another type or shape. It may refuse them with Python's errors, and must not read or write outside of them.

A call is made of right arguments, of which one or two are changed, since most wrong ones fail at the first check.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import core_rows as core_rows
from tests.fuzz import core_subjects as core_subjects
from tests.fuzz.core_examples import EXAMPLES, Call

NUMBERS = (0, 1, 2, 3, -1, -2, 7, 255, 256, 65_535, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63))
REALS = (0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, float("nan"), float("inf"), float("-inf"))


def _hostile_array(array: np.ndarray[Any, Any], chance: random.Random) -> Any:
    change = chance.randrange(9)
    flat = array.reshape(-1)
    if change == 0:
        return flat[: chance.randrange(flat.size + 1)].copy()
    if change == 1:
        return np.concatenate([flat, flat[: chance.randrange(flat.size + 1)]])
    if change in (2, 3, 4) and flat.size:
        changed = array.copy()
        place = chance.randrange(flat.size)
        if array.dtype.kind == "f":
            changed.reshape(-1)[place] = chance.choice(REALS)
        else:
            limits = np.iinfo(array.dtype if array.dtype.kind in "iu" else np.uint8)
            number = chance.choice([n for n in NUMBERS if limits.min <= n <= limits.max])
            changed.reshape(-1)[place] = number
        return changed
    if change == 5:
        return np.repeat(array, 2, axis=0)[::2] if array.ndim else array  # a stride
    if change == 6:
        return array[::-1] if array.ndim else array
    if change == 7:
        return array.astype(
            chance.choice(["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"]), casting="unsafe"
        )
    return chance.choice(
        [array[:0], array.reshape(1, -1), array.T, np.broadcast_to(array[:1], array.shape) if array.ndim else array]
    )


def _hostile(value: Any, chance: random.Random) -> Any:
    """Another argument in the place of a right one."""
    if isinstance(value, np.ndarray):
        with np.errstate(all="ignore"):
            return _hostile_array(value, chance)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([n for n in NUMBERS if n < 300])  # larger ones ask for memory in proportion
    if isinstance(value, float):
        return chance.choice(REALS)
    if isinstance(value, (bytes, bytearray)):
        place = chance.randrange(len(value) + 1)
        return type(value)(
            value[:place] + chance.choice([b"", b"\0", b"\xff", b"9" * 30, b"{", b"=?"]) + value[place + 1 :]
        )
    if isinstance(value, str):
        return chance.choice(["", "\0", "é", "\ud800", value * 50])
    if isinstance(value, (list, tuple)) and value:
        changed = list(value)
        place = chance.randrange(len(changed))
        if chance.random() < 0.2:
            del changed[place]
        elif chance.random() < 0.2:
            changed.append(changed[place])
        else:
            changed[place] = _hostile(changed[place], chance)
        return tuple(changed) if isinstance(value, tuple) else changed
    if isinstance(value, dict) and value:
        changed_pairs = list(value.items())
        place = chance.randrange(len(changed_pairs))
        changed_pairs[place] = _hostile(changed_pairs[place], chance)
        return dict(changed_pairs)
    return chance.choice([value, value, None, 0, b""])


@dataclass(frozen=True)
class CoreCalls:
    """Calls; a mutant is the name and the seed of one, since arrays with strides cannot be written to a file."""

    name: str = "core"
    refusals: tuple[type[Exception], ...] = (
        ValueError, TypeError, OverflowError, IndexError, MemoryError, RuntimeError,  # this one for a failed cast
    )  # fmt: skip

    def make(self, chance: random.Random, folder: Path) -> Path:
        path = folder / "mutant.json"
        path.write_text(json.dumps({"call": chance.choice(sorted(EXAMPLES)), "seed": chance.randrange(2**32)}))
        return path

    def originals(self, folder: Path) -> list[Path]:
        paths = []
        for name in sorted(EXAMPLES):
            paths.append(folder / f"{name}.json")
            paths[-1].write_text(json.dumps({"call": name, "seed": None}))
        return paths

    def feed(self, path: Path) -> None:
        asked = json.loads(path.read_text())
        make: Callable[[random.Random], Call] = EXAMPLES[asked["call"]]
        seed = asked["seed"]
        chance = random.Random(0 if seed is None else seed)
        call = make(chance)
        arguments = list(call.arguments)
        if seed is not None:
            for _ in range(chance.choice([1, 1, 2])):
                place = chance.randrange(len(arguments))
                arguments[place] = _hostile(arguments[place], chance)
        call.function(*arguments)
