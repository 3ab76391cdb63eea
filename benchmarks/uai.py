"""The problems of the UAI competitions beside their published solutions: log10 Z, and the marginals of all variables.

`--data` names a folder with files `x.uai`, `x.uai.evid`, `x.uai.PR` and `x.uai.MAR`; without it nothing is shown.
A number agrees where it is no farther off than one unit of the last digit that is printed.
"""

from __future__ import annotations

import math
import time
from decimal import Decimal
from pathlib import Path

import bayesbox as bb
import harness
from bayesbox.network.formats.uai import read_evidence


def run(session: harness.Session) -> None:
    problems = sorted(session.data.rglob("*.uai")) if session.data else []
    if not problems:
        session.say("no problems: name a folder that has some with --data")
    for path in problems:
        solve(session, path)


def solve(session: harness.Session, path: Path) -> None:
    network = bb.read_network(path)
    evidence = read_evidence(path.with_name(path.name + ".evid").read_bytes(), where=path.name)
    printed = path.with_name(path.name + ".PR").read_text().split()[1]
    begun = time.process_time()
    log10_z = network.log_probability(evidence) / math.log(10)
    found = network.posteriors(evidence)
    taken = time.process_time() - begun
    off = units(log10_z, printed)
    session.add(
        harness.Result(f"{path.stem}: log10 Z", f"{log10_z:.5f}", "equal", off <= 1, "published", theirs=printed)
    )
    worst, differ, count = 0.0, 0, 0
    for variable, values in marginals(path.with_name(path.name + ".MAR")):
        ours = found[variable].values()
        for mine, other in zip(ours, values, strict=True):
            off = units(mine, other)
            worst, differ, count = max(worst, off), differ + (off > 1), count + 1
    work = f"{path.stem}: {count} marginals that differ"
    session.add(harness.Result(work, str(differ), "0", differ == 0, "published"))
    session.say(f"the farthest is {worst:.2f} units of its last digit off; {harness.seconds(taken)} for all")


def units(value: float, printed: str) -> float:
    """How far a number is from a printed one, in units of the last digit of that; of six digits where zeros were cut.

    >>> round(units(0.12345612, "0.123456"), 2), units(0.5, "0.5"), units(2.5e-05, "2.4e-05") > 1
    (0.12, 0.0, True)
    """
    other = Decimal(printed)
    return float(abs(Decimal(value) - other) / last_digit(other)) if other else abs(value) / 1e-12


def last_digit(number: Decimal) -> Decimal:
    return Decimal(1).scaleb(number.adjusted() - 5)


def marginals(path: Path) -> list[tuple[str, list[str]]]:
    """The variables of a file of marginals, by their numbers."""
    words = path.read_text().split()[1:]
    found, at = [], 1
    for variable in range(int(words[0])):
        states = int(words[at])
        found.append((str(variable), words[at + 1 : at + 1 + states]))
        at += 1 + states
    return found


if __name__ == "__main__":
    harness.main(run)
