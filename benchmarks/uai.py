"""The problems of the UAI competitions beside their published solutions: log10 Z, and the marginals of all variables.

`--data` names a folder with files `x.uai`, `x.uai.evid`, `x.uai.PR` and `x.uai.MAR`; without it only our own problems
are shown. A number agrees if it is no farther off than one unit of the last digit that is printed.

Grids, dynamic networks and pedigrees made at random at these sizes come next, each in a process of its own, with its
memory: the marginals of some variables by the junction tree, case by case, against variable elimination.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import bayesbox as bb
import harness
import synthetic_graphs
from bayesbox.network.formats.uai import read_evidence

ASKED = 3  # variables, by the second way


def run(session: harness.Session) -> None:
    problems = sorted(session.data.rglob("*.uai")) if session.data else []
    for path in problems:
        solve(session, path)
    for name, make in made(quick=session.quick).items():
        by_two_ways(session, name, make)


def made(*, quick: bool) -> dict[str, Callable[[], tuple[Any, dict[str, str]]]]:
    """Our own problems by name: a network or factor graph, and its evidence."""
    sides, width, family = ((12,), 16, (14, 3)) if quick else ((18, 20), 22, (20, 3))
    problems: dict[str, Callable[[], tuple[Any, dict[str, str]]]] = {
        f"grid {side} x {side}": lambda side=side: (synthetic_graphs.grid(side), {}) for side in sides
    }
    problems[f"two slices of {width}"] = lambda: (synthetic_graphs.two_slices(width), {})
    problems[f"pedigree of {family[0]}, {family[1]} loci"] = lambda: synthetic_graphs.pedigree(*family)
    return problems


def by_two_ways(session: harness.Session, name: str, make: Callable[[], tuple[Any, dict[str, str]]]) -> None:
    """All posteriors, and some of them again by variable elimination; time and memory of the first."""

    def posteriors() -> dict[str, Any]:
        network, evidence = make()
        begun = time.process_time()
        found = network.posteriors(evidence)
        taken = time.process_time() - begun
        return {"seconds": taken, "plan": str(network.cost(evidence)), "found": {each: found[each] for each in found}}

    first, peak = apart(posteriors)
    network, evidence = make()
    hidden = [each for each in network.nodes if each not in evidence]
    worst, begun = 0.0, time.process_time()
    known = ", ".join(f"{each}={state}" for each, state in evidence.items())
    for each in hidden[:: max(1, len(hidden) // ASKED)][:ASKED]:
        again = network.query(f"P({each} | {known})" if known else f"P({each})")
        worst = max(worst, *(abs(again[state] - share) for state, share in first["found"][each].items()))
    taken = (time.process_time() - begun) / ASKED
    work = f"{name}: {len(hidden)} posteriors, difference"
    session.add(
        harness.Result(
            work, f"{worst:.1e}", "< 1e-10", worst < 1e-10, "variable elimination, one", harness.seconds(taken)
        )
    )
    session.amount(f"{name}: peak memory", peak, 2048 + 300, harness.megabytes)
    session.say(f"{harness.seconds(first['seconds'])}; {first['plan']}")


def apart(work: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """The result of work done in a process of its own, and the most memory it held, in megabytes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            json.dump(work(), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as found:
        result: dict[str, Any] = json.load(found)
    used = os.wait4(child, 0)[2]
    return result, used.ru_maxrss / 1024


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
