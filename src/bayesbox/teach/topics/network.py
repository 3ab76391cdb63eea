"""A Bayesian network of three or four nodes: one product, a sum, and posteriors given evidence."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import NamedTuple

from bayesbox.network.network import BayesianNetwork
from bayesbox.teach.answer import Slip
from bayesbox.teach.draw import Draw
from bayesbox.teach.exercise import Kind, Question
from bayesbox.teach.sheet import Sheet, SheetTable, listed

Parents = dict[str, tuple[str, ...]]
STATES = ("yes", "no")
BITS = 40  # of the denominator of a probability

CHAINS: tuple[Parents, ...] = (
    {"frost": (), "ice": ("frost",), "late": ("ice",)},
    {"leak": (), "damp": ("leak",), "mould": ("damp",)},
)
FORKS: tuple[Parents, ...] = (
    {"flu": (), "fever": ("flu",), "cough": ("flu",)},
    {"storm": (), "dark": ("storm",), "flood": ("storm",)},
)
COLLIDERS: tuple[Parents, ...] = (
    {"rain": (), "sprinkler": (), "wet": ("rain", "sprinkler")},
    {"strike": (), "snow": (), "closed": ("strike", "snow")},
)
LONG: tuple[Parents, ...] = (
    {"thief": (), "quake": (), "alarm": ("thief", "quake"), "call": ("alarm",)},
    {"spark": (), "smoke": (), "siren": ("spark", "smoke"), "crowd": ("siren",)},
)
ALL = (*CHAINS, *FORKS, *COLLIDERS, *LONG)


class DrawnNetwork(NamedTuple):
    """A network with tables in tenths, and its sheet."""

    network: BayesianNetwork
    given: tuple[str | SheetTable, ...]
    names: tuple[str, ...]

    def question(self, title: str, asked: str, text: str, slips: tuple[Slip, ...] = ()) -> Question | None:
        """The question, if its answer is neither 0 nor 1."""
        work = self.network.work(asked)
        answer = self.network.fraction(asked)
        if not 0 < answer < 1 or answer.denominator.bit_length() > BITS:
            return None
        sheet = Sheet(title, self.given, text, self.network.svg())
        return Question(sheet, asked, answer, work, (*slips, ("that of the other state", 1 - answer)))


def one_product(draw: Draw, title: str) -> Question | None:
    """The probability of a state of every node."""
    drawn = _drawn(draw, ALL)
    asked = f"P({', '.join(f'{name}={draw.one(STATES)}' for name in drawn.names)})"
    return drawn.question(title, asked, f"What is `{asked}`?")


def summed(draw: Draw, title: str) -> Question | None:
    """The probability of a node without evidence."""
    drawn = _drawn(draw, ALL)
    asked = f"P({drawn.names[-1]}={draw.one(STATES)})"
    return drawn.question(title, asked, f"What is `{asked}`, whatever the other nodes are?")


def backwards(draw: Draw, title: str) -> Question | None:
    """A cause, given its effect."""
    drawn = _drawn(draw, ALL)
    cause = f"{drawn.names[0]}={draw.one(STATES)}"
    effect = f"{drawn.names[-1]}={draw.one(STATES)}"
    asked = f"P({cause} | {effect})"
    slips = (
        ("the joint: divide it by the probability of what is given", drawn.network.fraction(f"P({cause}, {effect})")),
        ("the probability the other way round", drawn.network.fraction(f"P({effect} | {cause})")),
        ("the prior", drawn.network.fraction(f"P({cause})")),
    )
    return drawn.question(title, asked, f"What is `{asked}`?", slips)


def explained_away(draw: Draw, title: str) -> Question | None:
    """A cause, given the effect and the other cause."""
    drawn = _drawn(draw, (*COLLIDERS, *LONG))
    first, second, effect = drawn.names[:3]
    asked = f"P({first}=yes | {second}=yes, {effect}=yes)"
    slips = (("the probability without the other cause", drawn.network.fraction(f"P({first}=yes | {effect}=yes)")),)
    return drawn.question(title, asked, f"What is `{asked}`?", slips)


KINDS: tuple[Kind, ...] = (backwards, one_product, explained_away, summed)


def _drawn(draw: Draw, structures: tuple[Parents, ...]) -> DrawnNetwork:
    parents = draw.one(structures)
    tables = {name: _table(draw, len(of)) for name, of in parents.items()}
    network = BayesianNetwork({name: list(of) for name, of in parents.items()}, tables)
    arrows = [f"{parent} -> {name}" for name, of in parents.items() for parent in of]
    given: list[str | SheetTable] = [f"A Bayesian network with the arrows {listed(arrows)}; each node is yes or no."]
    for name, of in parents.items():
        rows = tuple((*states, _text(row["yes"]), _text(row["no"])) for states, row in _rows(tables[name], len(of)))
        behind = f" | {', '.join(of)}" if of else ""
        given.append(SheetTable(f"P({name}{behind})", (*of, f"{name}=yes", f"{name}=no"), rows))
    return DrawnNetwork(network, tuple(given), tuple(parents))


Distribution = dict[str, Fraction]
Tables = dict[tuple[str, ...], Distribution] | Distribution


def _table(draw: Draw, parents: int) -> Tables:
    """The table of a node: a root is improbable; with parents, yes is more probable the more of them are yes."""
    if not parents:
        return _shares(draw.tenths(1, 4))
    found: dict[tuple[str, ...], Distribution] = {}
    for states in product(STATES, repeat=parents):
        causes = states.count("yes")
        low, high = (1, 2) if not causes else (8, 9) if causes == parents else (4, 7)
        found[states] = _shares(draw.tenths(low, high))
    return found


def _shares(p: Fraction) -> Distribution:
    return {"yes": p, "no": 1 - p}


def _rows(table: Tables, parents: int) -> list[tuple[tuple[str, ...], Distribution]]:
    if not parents:
        return [((), table)]  # type: ignore[list-item]
    return list(table.items())  # type: ignore[arg-type]


def _text(p: Fraction) -> str:
    return f"{float(p):g}"
