"""The families of distributions by name: what kind of column each is for, what must be counted, and where it is.

The families themselves are in a layer above this one, so an entry holds the dotted path of its family, which is
imported when it is requested. `bayesbox.dist.fit.register` enters another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bayesbox.errors import BadOption
from bayesbox.extensions import Registry

MOST_BINS = 10_000
DEFAULT_BINS = 10


@dataclass(frozen=True)
class FamilyEntry:
    """A family under the name that columns, options and files use.

    `of` is the kind of column that may ask for it by name: "real" or "count"; a family without one belongs to its kind
    alone. With `numbered` a number of bins may follow the name after a colon.
    """

    name: str
    path: str
    of: str = ""
    needs_values: bool = False  # whether each distinct value must be counted; else moments are enough
    takes_floor: bool = True  # whether a variance floor can be declared
    with_floor: str = ""  # the family that a column has in its place, which declares a floor and no density
    together: bool = False  # whether all columns that ask for it have one distribution: `fit_together`
    numbered: bool = False
    listed: bool = True  # whether messages name it; a second name of a family is not
    tally: str = ""  # the form of the tally that it is fitted to, if that is neither moments nor values
    family: Any = None  # where it was registered from outside the package

    @property
    def number_form(self) -> str:
        """The form of the tally of a column of numbers, where the moments that its kind asks for are not enough."""
        return self.tally or ("values" if self.needs_values else "")

    @property
    def shown(self) -> str:
        """The name as messages show it."""
        return f"{self.name}:{DEFAULT_BINS}" if self.numbered else self.name

    def load(self) -> Any:
        """The family itself."""
        if self.family is not None:
            return self.family
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


_BUILT_IN = (
    FamilyEntry("gaussian", "bayesbox.dist.number.gaussian:Gaussian", "real"),
    FamilyEntry(
        "robust", "bayesbox.dist.number.robust:Robust", "real", takes_floor=False, tally="grid", with_floor="gaussian"
    ),
    FamilyEntry("student", "bayesbox.dist.number.student:Student", "real"),
    FamilyEntry(
        "gaussian:spacing", "bayesbox.dist.number.spaced:SpacedGaussian", "real", needs_values=True, takes_floor=False
    ),
    FamilyEntry(
        "gaussian:rounded", "bayesbox.dist.number.rounded:Rounded", "real", needs_values=True, takes_floor=False
    ),
    FamilyEntry("kernel", "bayesbox.dist.number.kernel:Kernel", "real", needs_values=True),
    FamilyEntry("lognormal", "bayesbox.dist.number.lognormal:LogNormal", "real", needs_values=True),
    FamilyEntry("width", "bayesbox.dist.number.bins:Bins", "real", needs_values=True, numbered=True),
    FamilyEntry("frequency", "bayesbox.dist.number.bins:Bins", "real", needs_values=True, numbered=True),
    FamilyEntry("mdl", "bayesbox.dist.number.bins:Bins", "real", needs_values=True),
    FamilyEntry("modl", "bayesbox.dist.number.bins:Bins", "real", needs_values=True),
    FamilyEntry("bins", "bayesbox.dist.number.bins:Bins", "real", needs_values=True, numbered=True, listed=False),
    FamilyEntry("auto", "bayesbox.dist.number.choose:Automatic", "real", needs_values=True),
    FamilyEntry("multinomial", "bayesbox.dist.multinomial:Multinomial", "count", together=True),
    FamilyEntry("poisson", "bayesbox.dist.number.poisson:Poisson", "count"),
    FamilyEntry("table", "bayesbox.dist.table:Table"),
    FamilyEntry("bernoulli", "bayesbox.dist.bernoulli:Bernoulli"),
    FamilyEntry("matrix", "bayesbox.dist.multinomial:Multinomial"),
    FamilyEntry("words", "bayesbox.dist.words.text:Text"),
)

FAMILIES: Registry[FamilyEntry] = Registry({entry.name: entry for entry in _BUILT_IN})
"""Every family by its name."""


def densities(of: str = "real") -> tuple[str, ...]:
    """The names that a column of this kind may ask for, as messages show them.

    >>> densities("count")
    ('multinomial', 'poisson')
    """
    return tuple(entry.shown for entry in FAMILIES.values() if entry.of == of and entry.listed)


def family_named(name: str) -> FamilyEntry:
    """The entry of a name, with or without a number of bins.

    >>> family_named("frequency:4").name
    'frequency'
    """
    head, _, number = name.partition(":")
    if number.isdecimal() and 1 <= int(number) <= MOST_BINS:
        numbered = FAMILIES.get(head)
        if numbered is not None and numbered.numbered:
            return numbered
    entry = FAMILIES.get(name)
    if entry is not None:
        return entry
    raise BadOption(f"a density must be one of {', '.join(densities())}", found=name)


def check_density(density: object) -> FamilyEntry:
    """The entry of a density of numbers; one that is not there is refused.

    >>> check_density("width:5").needs_values
    True
    """
    if isinstance(density, str):
        entry = family_named(density)
        if entry.of == "real":
            return entry
    raise BadOption(f"a density must be one of {', '.join(densities())}", found=density)
