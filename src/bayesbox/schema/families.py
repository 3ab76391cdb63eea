"""The registry of families of distributions: their column type, the required tally, and their module.

The families are in a higher layer, so an entry has the dotted path of its family, which is imported on demand.
`bayesbox.dist.fit.register` adds a family.
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
    """A family, by the name used in columns, options and files.

    `of` is the type of column that may select it by name: "real" or "count"; a family without it belongs to one kind.
    With `numbered`, a number of bins may follow the name after a colon.
    """

    name: str
    path: str
    of: str = ""
    needs_values: bool = False  # whether distinct values must be counted; else moments are enough
    takes_floor: bool = True  # whether a variance floor can be declared
    with_floor: str = ""  # the family used instead if a column declares a floor but no density
    together: bool = False  # whether all its columns share one joint distribution: `fit_together`
    numbered: bool = False
    listed: bool = True  # whether messages list it; aliases are not listed
    tally: str = ""  # the form of its tally, if that is neither moments nor values
    family: Any = None  # the module, if it was registered by an extension

    @property
    def number_form(self) -> str:
        """The form of the tally of a numeric column, if moments are not enough."""
        return self.tally or ("values" if self.needs_values else "")

    @property
    def shown(self) -> str:
        """The name shown in messages."""
        return f"{self.name}:{DEFAULT_BINS}" if self.numbered else self.name

    def load(self) -> Any:
        """Import the family."""
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
    """The names of the families for this type of column, as shown in messages.

    >>> densities("count")
    ('multinomial', 'poisson')
    """
    return tuple(entry.shown for entry in FAMILIES.values() if entry.of == of and entry.listed)


def family_named(name: str) -> FamilyEntry:
    """The entry of a name, which may have a number of bins.

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
    """The entry of a density of numbers; an error if the name is unknown.

    >>> check_density("width:5").needs_values
    True
    """
    if isinstance(density, str):
        entry = family_named(density)
        if entry.of == "real":
            return entry
    raise BadOption(f"a density must be one of {', '.join(densities())}", found=density)
