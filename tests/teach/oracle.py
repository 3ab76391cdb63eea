"""The answers of sheets by another way: from the tables on the sheet, in fractions, by counting and enumeration."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from typing import Any

from bayesbox.teach.exercise import Exercise
from bayesbox.teach.sheet import SheetTable, plain

GIVEN = re.compile(r"P\((?P<events>[^|()]*)(?: \| (?P<given>[^|()]*))?\)")


def tables(drawn: Exercise) -> list[SheetTable]:
    return [each for each in drawn.sheet.given if isinstance(each, SheetTable)]


def pairs(text: str | None) -> dict[str, str]:
    return dict(each.split("=") for each in (text or "").split(", ") if each)


def rows_of(table: SheetTable) -> list[dict[str, str]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def share(rows: list[dict[str, str]], case: dict[str, str], plus: int = 0, levels: int = 0) -> Fraction:
    hits = sum(all(row[name] == value for name, value in case.items()) for row in rows)
    return Fraction(hits + plus, len(rows) + plus * levels)


def class_joint(rows: list[dict[str, str]], target: str, label: str, case: dict[str, str], *, smooth: int) -> Fraction:
    own = [row for row in rows if row[target] == label]
    found = Fraction(len(own), len(rows))
    for name, value in case.items():
        found *= share(own, {name: value}, smooth, len({row[name] for row in rows}))
    return found


def naive(drawn: Exercise) -> Fraction:
    rows, question = rows_of(tables(drawn)[0]), plain(drawn.sheet.question)
    smooth = int("Laplace" in question)
    asked = [(pairs(each["events"]), pairs(each["given"])) for each in GIVEN.finditer(drawn.question.asked)]
    target = tables(drawn)[0].columns[-1]
    if target in asked[0][1]:  # one entry of a table
        [(name, value)] = asked[0][0].items()
        own = [row for row in rows if row[target] == asked[0][1][target]]
        return share(own, {name: value}, 1, len({row[name] for row in rows}))
    joints = [class_joint(rows, target, event[target], case, smooth=smooth) for event, case in asked]
    if len(joints) == 2:
        return joints[0] / joints[1]
    labels = {row[target] for row in rows}
    return joints[0] / sum(class_joint(rows, target, label, asked[0][1], smooth=smooth) for label in labels)


def text(drawn: Exercise) -> Fraction:
    rows = rows_of(tables(drawn)[0])
    words = sorted({word for row in rows for word in row["words"].split()})
    binary = "Bernoulli" in drawn.sheet.question

    def word_share(word: str, label: str) -> Fraction:
        own = [row["words"].split() for row in rows if row["class"] == label]
        if binary:
            return Fraction(sum(word in each for each in own) + 1, len(own) + 2)
        return Fraction(sum(each.count(word) for each in own) + 1, sum(map(len, own)) + len(words))

    def joint(label: str, document: list[str]) -> Fraction:
        found = share(rows, {"class": label})
        if binary:
            for word in words:
                found *= word_share(word, label) if word in document else 1 - word_share(word, label)
        else:
            for word in document:
                found *= word_share(word, label)
        return found

    asked = drawn.question.asked
    if one := re.fullmatch(r"P\((\w+) \| (\w+)\)", asked):
        if one[2] != "document":
            return word_share(one[1], one[2])
        document = re.findall('"(.*)"', drawn.sheet.question)[0].split()
        return joint(one[1], document) / sum(joint(label, document) for label in {row["class"] for row in rows})
    document = re.findall('"(.*)"', drawn.sheet.question)[0].split()
    return joint(asked[2:].split(",")[0], document)


def full(drawn: Exercise) -> Fraction:
    [table] = tables(drawn)
    rows, asked, question = rows_of(table), drawn.question.asked, plain(drawn.sheet.question)
    if asked.startswith("number"):
        levels = [int(row["values"]) for row in rows]
        classes = int(re.findall(r"(\d+) classes", table.caption)[0])
        whole = 1
        for each in levels:
            whole *= each
        return Fraction((whole if "P(x | class)" in question else sum(levels)) * classes)
    if asked.startswith("P("):
        found = GIVEN.fullmatch(asked)
        assert found
        matching = [row for row in rows if all(row[name] == value for name, value in pairs(found["given"]).items())]
        return share(matching, pairs(found["events"]))
    first, second = table.columns[:2]
    label = asked.rpartition(" ")[2]
    own = [(int(row[first]), int(row[second])) for row in rows if row["kind"] == label]
    means = [Fraction(sum(point[place] for point in own), len(own)) for place in range(2)]
    moved = [(x - means[0], y - means[1]) for x, y in own]
    xx, xy, yy = (
        sum((point[a] * point[b] for point in moved), Fraction(0)) / len(own) for a, b in ((0, 0), (0, 1), (1, 1))
    )
    if asked.startswith("covariance"):
        return xy
    if asked.startswith("determinant"):
        return xx * yy - xy * xy
    u, v = (
        int(re.findall(rf"{name} = (\d+)", question)[0]) - mean
        for name, mean in zip((first, second), means, strict=True)
    )
    return (yy * u * u - 2 * xy * u * v + xx * v * v) / (xx * yy - xy * xy)


def network(drawn: Exercise) -> Fraction:
    found = GIVEN.fullmatch(drawn.question.asked)
    assert found
    nodes: dict[str, tuple[tuple[str, ...], dict[tuple[str, ...], dict[str, Fraction]]]] = {}
    for table in tables(drawn):
        name = table.columns[-1].removesuffix("=no")
        rows = {row[:-2]: {"yes": Fraction(row[-2]), "no": Fraction(row[-1])} for row in table.rows}
        nodes[name] = (table.columns[:-2], rows)

    def total(fixed: dict[str, str]) -> Fraction:
        whole = Fraction(0)
        for states in product(("yes", "no"), repeat=len(nodes)):
            world = dict(zip(nodes, states, strict=True))
            if all(world[name] == value for name, value in fixed.items()):
                term = Fraction(1)
                for name, (parents, rows) in nodes.items():
                    term *= rows[tuple(world[parent] for parent in parents)][world[name]]
                whole += term
        return whole

    events, given = pairs(found["events"]), pairs(found["given"])
    return total(events | given) / total(given)


def hmm(drawn: Exercise) -> Fraction:
    start, move, emit = tables(drawn)
    states = start.columns
    first = dict(zip(states, map(Fraction, start.rows[0]), strict=True))
    moves, emits = (
        {row[0]: dict(zip(table.columns[1:], map(Fraction, row[1:]), strict=True)) for row in table.rows}
        for table in (move, emit)
    )
    asked = drawn.question.asked
    seen = asked[2:-1].rpartition(" | ")[2].removeprefix("best path, ").split(", ")
    paths: dict[Any, Fraction] = {}
    for path in product(states, repeat=len(seen)):
        p = first[path[0]] * emits[path[0]][seen[0]]
        for before, now, symbol in zip(path, path[1:], seen[1:], strict=False):
            p *= moves[before][now] * emits[now][symbol]
        paths[path] = p
    if "best path" in asked:
        return max(paths.values())
    if " | " in asked:
        state = asked[2:].split(" ")[0]
        return sum(p for path, p in paths.items() if path[-1] == state) / sum(paths.values())  # type: ignore[return-value]
    return sum(paths.values(), Fraction(0))


def rule(drawn: Exercise) -> Fraction:
    given, asked = drawn.sheet.given[0], drawn.question.asked
    if isinstance(given, SheetTable):
        weights = {row[0]: Fraction(row[1]) * Fraction(int(row[2]), int(row[2]) + int(row[3])) for row in given.rows}
        return weights[asked[2:].split(" |")[0]] / sum(weights.values())
    percents = [Fraction(each) / 100 for each in re.findall(r"([\d.]+)%", given)]
    if len(percents) == 1:
        prior, evidence = (Fraction(1, int(each.replace(",", ""))) for each in re.findall(r"one in ([\d,]*\d)", given))
        return percents[0] * prior / evidence
    share_of, found, false = percents
    times = 2 if "twice" in asked else 1
    return share_of * found**times / (share_of * found**times + (1 - share_of) * false**times)


ORACLES = {"naive": naive, "text": text, "full": full, "network": network, "hmm": hmm, "rule": rule}
