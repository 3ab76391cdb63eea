"""One case as text: its posterior, the evidence of each column, and the Bayes box."""

from __future__ import annotations

import math
import shutil
import sys
from typing import TYPE_CHECKING

from bayesbox.cli.print.output import bar, decimal, say, signed, table
from bayesbox.explain.steps import WIDTH

if TYPE_CHECKING:
    from bayesbox.classifier.case import RowCase
    from bayesbox.explain.steps import Work


def print_report(case: RowCase, target: str) -> None:
    """Print the posterior and the evidence of each column."""
    from bayesbox.classifier.report.strongest import cut

    values = ", ".join(f"{name}={cut(value)}" for name, value, _ in case.columns if value is not None) or "nothing"
    say(f"{target} = {case.prediction}, given {values}")
    say()
    ranked = sorted(case.posterior.items(), key=lambda item: -item[1])
    rows = [[name, decimal(p), decimal(case.prior[name]), bar(p)] for name, p in ranked]
    table([target, "posterior", "prior", ""], rows, right=[1, 2])
    if case.against is None:
        return
    say()
    longest = max((abs(odds) for odds in case.all_log_odds() if math.isfinite(odds)), default=1.0) or 1.0
    rows = [["(prior)", signed(case.prior_log_odds), _arrow(case.prior_log_odds, longest)]]
    ordered = sorted(case.columns, key=lambda item: -abs(item[2]))
    rows += [
        [f"{name} {'is missing' if value is None else f'= {cut(value)}'}", signed(odds), _arrow(odds, longest)]
        for name, value, odds in ordered
        if value is not None or odds
    ]
    if case.calibration_log_odds is not None:
        share = case.calibration_log_odds
        rows.append(["(calibration)", signed(share), _arrow(share, longest)])
    rows.append(["total", signed(case.log_odds), f"odds {_odds(case.log_odds)}"])
    title = f"log-odds of {case.prediction} against {case.against}"
    table([title, "", ""], rows, right=[1])


def print_work(work: Work) -> None:
    """Print the steps of the calculation, as wide as the terminal, or as a page."""
    width = shutil.get_terminal_size().columns if on_terminal() else WIDTH
    say(work.text(width, title=False))


def on_terminal() -> bool:
    """Whether the output is a terminal."""
    return sys.stdout.isatty()


def _arrow(value: float, longest: float) -> str:
    sign = "+" if value > 0 else "-"
    return sign * max(len(bar(min(abs(value), longest) / longest)), 1) if round(value, 4) else ""


def _odds(log_odds: float) -> str:
    if math.isinf(log_odds):
        return "infinite : 1" if log_odds > 0 else "0 : 1"
    if log_odds >= 0:
        return f"{decimal(math.exp(log_odds)) if log_odds < 700 else f'e^{log_odds:.0f}'} : 1"
    return f"1 : {decimal(math.exp(-log_odds)) if log_odds > -700 else f'e^{-log_odds:.0f}'}"
