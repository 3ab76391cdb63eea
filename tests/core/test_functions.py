"""exp, log, erfc and the log of gamma of the core: near to the exact ones, and the same bits everywhere."""

from __future__ import annotations

import hashlib
import math
import struct
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bayesbox import _core

DRAW = np.random.default_rng(3)
EVERY = {
    "exp": DRAW.uniform(-745, 709, 500),
    "exp2": DRAW.uniform(-1000, 1000, 300),
    "log1p": np.concatenate([np.exp(DRAW.uniform(-40, 40, 300)), -np.exp(DRAW.uniform(-40, -0.01, 300))]),
    "log2": np.exp(DRAW.uniform(-600, 600, 300)),
    "cosh": DRAW.uniform(-5, 5, 300),
    "erf": np.concatenate([DRAW.uniform(-6, 6, 300), np.exp(DRAW.uniform(-600, 0, 200))]),
    "erfc": np.concatenate([DRAW.uniform(-6, 26, 600), DRAW.uniform(0, 1, 300)]),
    "lgamma": np.concatenate([np.exp(DRAW.uniform(-600, 600, 300)), DRAW.uniform(0.01, 20, 600)]),
}
LIMITS = {"exp": 2, "exp2": 2, "log1p": 2, "log2": 3, "cosh": 3, "erf": 4, "erfc": 5, "lgamma": 8}
"""Of the difference to the C library, which is itself wrong by up to one unit of the last place, or by four."""

BITS = "46264c016bd4498b"


@pytest.mark.parametrize("name", EVERY)
def test_within_some_units_of_the_last_place(name: str) -> None:
    values = EVERY[name]
    other: Callable[[float], float] = getattr(math, name)
    found, near = getattr(_core, name)(values), np.array([other(value) for value in values.tolist()])
    ulps = np.abs(found - near) / np.spacing(np.abs(near))
    if name == "lgamma":  # near its zeros at 1 and 2
        ulps = np.minimum(ulps, np.abs(found - near) / 4e-16)
    assert ulps.max() <= LIMITS[name], values[int(ulps.argmax())]


def test_ends() -> None:
    inf, nan = math.inf, math.nan
    expected = {
        "exp": ([-inf, -746.0, 0.0, 710.0, inf, nan], [0.0, 0.0, 1.0, inf, inf, nan]),
        "log1p": ([-1.0, -2.0, 0.0, inf, 1e-300], [-inf, nan, 0.0, inf, 1e-300]),
        "erf": ([-inf, 0.0, inf, nan], [-1.0, 0.0, 1.0, nan]),
        "erfc": ([-inf, 0.0, 28.0, inf, nan], [2.0, 1.0, 0.0, 0.0, nan]),
        "lgamma": ([0.0, -1.0, 1.0, 2.0, inf, 1e306], [inf, nan, 0.0, 0.0, inf, inf]),
    }
    for name, (given, wanted) in expected.items():
        np.testing.assert_array_equal(getattr(_core, name)(np.array(given)), wanted, name)


def test_a_step_of_the_log_of_gamma_has_its_digits_where_the_logs_are_large() -> None:
    # log(G(x + 1/2) / G(x)) = log(x) / 2 - 1 / (8 x) + 1 / (192 x^3) - ...
    for x in (1e3, 1e6, 1e12):
        exact = Fraction(math.log(x)) / 2 - 1 / (8 * Fraction(x)) + 1 / (192 * Fraction(x) ** 3)
        assert abs(_core.log_gamma_step(np.array([x]))[0] - float(exact)) <= 2 * math.ulp(float(exact))
    few = np.arange(1, 40) / 2
    near = [math.lgamma(x + 0.5) - math.lgamma(x) for x in few.tolist()]
    np.testing.assert_allclose(_core.log_gamma_step(few), near, rtol=0, atol=1e-13)


def test_tails_of_student_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    z = -np.exp(DRAW.uniform(-5, 5, 200))
    for df in (0.5, 3.0, 3.5, 4.0, 50.0, 101.3, 199.0, 200.0, 201.0, 5000.0):
        np.testing.assert_allclose(
            _core.student_below(z, np.full(200, df)), stats.t.cdf(z, df), rtol=1e-11, atol=1e-17, err_msg=str(df)
        )


def hash_of_bits() -> str:
    """Of numbers that are the same everywhere: sums and products of whole ones."""
    steps = np.arange(1.0, 4001.0)
    cases = {
        "exp": (steps - 2000) / 3,
        "exp2": (steps - 2000) / 3,
        "log1p": steps / 7 - 0.125,
        "log2": steps / 7,
        "logarithms": steps / 7,
        "cosh": (steps - 2000) / 500,
        "erf": (steps - 2000) / 300,
        "erfc": (steps - 1000) / 120,
        "lgamma": steps / 64,
        "log_gamma_step": steps / 64,
        "log_student_heights": steps / 8,
    }
    found = hashlib.sha256()
    for name, values in cases.items():
        found.update(getattr(_core, name)(values).astype("<f8").tobytes())
    found.update(_core.student_below(-steps / 200, steps / 4 + 2).astype("<f8").tobytes())
    return found.hexdigest()[:16]


def test_the_same_bits_on_every_processor() -> None:
    for instructions in _core.instruction_sets():  # the widest last, which stay in force
        _core.use_instructions(instructions)
        assert hash_of_bits() == BITS, instructions


def undefined_symbols(module: Path) -> set[str]:
    """The names that a shared object of ELF, 64 bits, takes from others."""
    data = module.read_bytes()
    offset, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + place * size) for place in range(count)]
    found = set()
    for _, kind, _, _, start, length, link, _, _, entry in sections:
        if kind != 11:  # not the symbols for the loader
            continue
        texts = sections[link][4]
        for at in range(start, start + length, entry):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if section == 0:
                found.add(data[texts + name : data.index(b"\0", texts + name)].decode())
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the symbols of ELF")
def test_the_core_takes_no_such_function_from_the_c_library() -> None:
    symbols = undefined_symbols(Path(_core.__file__))
    assert "memcpy" in symbols  # they are found
    functions = ("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "pow", "erf", "erfc", "cosh", "sinh", "tanh")
    assert symbols.isdisjoint({*functions, "lgamma", "lgamma_r", "tgamma", "sin", "cos", "tan", "atan"})
