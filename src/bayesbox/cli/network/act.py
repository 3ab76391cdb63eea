"""`bayes network adjust`: adjustment sets, and whether an effect is identifiable from observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbox.cli.print.output import decimal, emit_json, say
from bayesbox.network.query.notation import parse_query

if TYPE_CHECKING:
    from bayesbox.network.network import BayesianNetwork


def adjust(network: BayesianNetwork, question: str, latent: list[str], *, as_json: bool) -> None:
    """Print the adjustment sets, for one cause and one effect, and the formula."""
    query = parse_query(question)
    found = network.identify(question, latent=latent)
    sets = None
    if len(query.targets) == len(query.actions) == 1 and not query.evidence:
        sets = network.adjustment_sets(query.actions[0].name, query.targets[0].name, latent=latent)
    valued = all(action.value is not None for action in query.actions)  # evidence always has a value
    answer = found.answer() if found.identifiable and valued and network.graph.has_tables else None
    if as_json:
        facts = found.to_dict()
        if sets is not None:
            found_sets = sets.to_dict()
            facts |= {name: found_sets[name] for name in ("back_door", "front_door", "complete")}
        if isinstance(answer, float):
            facts["probability"] = answer
        elif answer is not None:
            facts |= {"columns": list(answer.columns), "rows": [_row(key, value) for key, value in answer.items()]}
        emit_json(facts)
        return
    if sets is not None:
        say("\n".join(str(sets).splitlines()[2:]))
    say(str(found))
    if answer is not None:
        say(decimal(answer) if isinstance(answer, float) else str(answer))


def _row(key: object, value: float) -> dict[str, object]:
    return {"levels": list(key) if isinstance(key, tuple) else [key], "probability": value}
