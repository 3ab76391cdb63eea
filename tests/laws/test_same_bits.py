"""Answers have the same bits whatever numpy, BLAS and the C library make of the processor."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

BITS = Path(__file__).parents[2] / "release" / "bits.py"
OLDER = {  # what an older processor of the same kind would have
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX2 FMA3 X86_V3 X86_V4",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
}


def bits(**more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(BITS)], env={**os.environ, **more}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the names are those of x86-64")
def test_an_older_processor_gives_the_same_bits() -> None:
    found = bits()
    assert {line.split(" learned")[0].strip() for line in found} >= {"naive kernel", "AutoBayes", "FullBayes with gaps"}
    assert bits(**OLDER) == found
