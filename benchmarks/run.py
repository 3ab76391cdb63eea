"""All benchmarks, each in a process of its own: python benchmarks/run.py [--only NAME] [--quick] [--data FOLDER]."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

HERE = Path(__file__).parent
BENCHMARKS = (
    "startup",
    "reals",
    "full_bayes",
    "categories",
    "flags",
    "mixed",
    "frames",
    "one_row",
    "service",
    "service_store",
    "browser",
    "leave_one_out",
    "augmented",
    "chains",
    "networks",
    "ask_next",
    "practice",
    "uai",
    "approximations",
    "intervals",
    "learning",
    "memory",
    "files",
    "wide",
    "text",
    "text_accuracy",
    "text_memory",
    "bogofilter",
    "weka",
    "e1071",
    "spark",
    "spark_cluster",
    "real_tables",
    "densities",
    "auto",
    "calibration",
    "coverage",
    "defaults",
)


def main() -> int:
    parser = harness.options()
    parser.add_argument(
        "--only",
        type=lambda name: name.replace("-", "_"),
        choices=BENCHMARKS,
        action="append",
        help="this benchmark; may be given again",
    )
    given = parser.parse_args()
    flags = ["--quick"] * given.quick + ["--full"] * given.full
    for name, path in (("--data", given.data), ("--kept", given.kept)):
        flags += [name, str(path.resolve())] if path else []
    results: list[harness.Result] = []
    failed: list[str] = []
    print("CPU time on one core, medians of runs in turn; ratio: the peer's time / ours")
    print(harness.HEAD, flush=True)
    for name in given.only or BENCHMARKS:
        with tempfile.NamedTemporaryFile() as record:
            command = [sys.executable, str(HERE / f"{name}.py"), *flags, "--record", record.name]
            if subprocess.run(command, check=False).returncode:
                failed.append(name)
            text = Path(record.name).read_text()
        results += [harness.Result(**line) for line in json.loads(text or "[]")]
    below = [result for result in results if result.holds is False]
    print(
        f"\n{len(results)} measured, {len(below)} below target" + (f"; failed: {', '.join(failed)}" if failed else "")
    )
    for result in below:
        print(result.line())
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
