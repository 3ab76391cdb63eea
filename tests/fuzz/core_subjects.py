"""A right call of each function and class of the core for networks, text, mail, chains and trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.fuzz.core_examples import CLASSES, DOCUMENTS, ROWS, codes_of, example, labels, reals, texts_of, whole

from bayesbox import _core
from bayesbox.schema.tokens import letter_table
from bayesbox.source.files.mail import mail_reader

# -- networks ---------------------------------------------------------------------------------------------------------

CARDS, MEMBERS, ENDS = whole(2, 2, 3), whole(0, 0, 1, 0, 1, 2), whole(1, 3, 6)


def _tables(draw: np.random.Generator) -> list[NDArray[np.float64]]:
    made = [draw.random(shape) + 0.01 for shape in ((2,), (2, 2), (2, 2, 3))]
    return [(table / table.sum(axis=-1, keepdims=True)).reshape(-1) for table in made]


def _model(draw: np.random.Generator) -> _core.FactorModel:
    return _core.factor_model(CARDS, MEMBERS, ENDS, _tables(draw))


def _states(*rows: tuple[int, ...]) -> NDArray[np.int32]:
    return np.array(rows, dtype=np.int32)


@example
def factor_model(draw: np.random.Generator) -> Any:
    def run(*arguments: Any) -> None:
        model = _core.factor_model(*arguments)
        model.possible_states()
        count = len(arguments[0])
        none = np.zeros(count, np.uint8)
        tree = _core.JunctionTree(model, none, none, 20.0)
        tree.run(np.full((1, count), -1, np.int32))
        _core.loopy_posteriors(model, np.full(count, -1, np.int32), none, None, 3, 1e-9)

    return run, (CARDS, MEMBERS, ENDS, _tables(draw))


@example
def junction_tree(draw: np.random.Generator) -> Any:
    def run(observed: Any, soft: Any, limit: Any, states: Any, likelihoods: Any, threads: Any, once: Any) -> None:
        tree = _core.JunctionTree(_model(draw), observed, soft, limit)
        tree.run(states, likelihoods, threads)
        _core.JunctionTree(_model(draw), observed, np.zeros(3, np.uint8), limit).run_once(once)

    soft = np.array([0, 0, 1], np.uint8)
    rows = _states((1, -1, -1), (0, -1, 2))
    return run, (np.array([1, 0, 0], np.uint8), soft, 20.0, rows, draw.random(7), 1, {0: 1})


@example
def expected_counts(draw: np.random.Generator) -> Any:
    def run(observed: Any, soft: Any, states: Any, weights: Any, seed: Any, first: Any) -> None:
        tree = _core.JunctionTree(_model(draw), observed, soft, 20.0)
        _core.expected_counts(tree, states, weights)
        _core.fill_holes(tree, states, seed, first)

    rows = _states((1, -1, -1), (0, 1, 2))
    return run, (np.zeros(3, np.uint8), np.ones(3, np.uint8), rows, draw.random(2), 3, 0)


@example
def elimination_order(_: np.random.Generator) -> Any:
    return _core.elimination_order, (CARDS, MEMBERS, ENDS, whole(0, 1, -1))


@example
def cutset(_: np.random.Generator) -> Any:
    allowed = np.array([1, 1, 0], dtype=np.uint8)
    return _core.cutset, (CARDS, MEMBERS, ENDS, whole(0, 0, -1), allowed, 1.0, 40.0)


@example
def approximations(draw: np.random.Generator) -> Any:
    def run(
        states: Any, soft: Any, likelihoods: Any, order: Any, wanted: Any, samples: Any, seed: Any, cells: Any
    ) -> None:
        model = _model(draw)
        _core.loopy_posteriors(model, states, soft, likelihoods, 3, 1e-9)
        _core.mean_field(model, states, soft, likelihoods, order, 3, 1e-9, seed)
        _core.weighted_samples(model, states, soft, likelihoods, order, wanted, samples, seed, cells)
        _core.gibbs_means(model, states, soft, likelihoods, order, wanted, 2, 1, samples, seed)
        _core.block_gibbs_means(model, states, soft, likelihoods, order, wanted, 2, 1, samples, seed, cells)
        search = _core.CaseSearch(model, states, soft, likelihoods, cells, cells)
        search.next(samples)
        search.log_rest()

    states = np.array([1, -1, -1], np.int32)
    return run, (states, np.array([0, 0, 1], np.uint8), draw.random(7), whole(0, 1, 2), whole(1, 2), 20, 1, 100)


@example
def code_table(draw: np.random.Generator) -> Any:
    def run(columns: Any, sizes: Any, members: Any, ends: Any, of: Any, child: Any, kind: Any, parameter: Any) -> None:
        table = _core.CodeTable(columns, sizes)
        table.count(members, ends)
        table.score(members, ends, of, child, _core.FamilyScore(kind, parameter, 1.0, ROWS))
        table.g_tests(whole(0, 1, 2), whole(3))
        table.changes(0, members[1:2], members[3:], _core.FamilyScore(kind, parameter, 1.0, ROWS))

    columns = [codes_of(draw, 3, np.uint8), codes_of(draw, 2, np.uint8), codes_of(draw, 4, np.uint16)]
    return run, (
        columns,
        whole(3, 2, 4),
        whole(0, 1, 0, 2),
        whole(2, 4),
        whole(0, 1),
        whole(0, 1),
        int(draw.integers(3)),
        1.0,
    )


@example
def exact_structure(draw: np.random.Generator) -> Any:
    def run(columns: Any, sizes: Any, kind: Any, parameter: Any, most: Any, required: Any, forbidden: Any) -> None:
        _core.CodeTable(columns, sizes).exact(kind, parameter, most, required, forbidden)

    columns = [codes_of(draw, 3, np.uint8), codes_of(draw, 2, np.uint8), codes_of(draw, 4, np.uint16)]
    return run, (columns, whole(3, 2, 4), int(draw.integers(3)), 1.0, 2, whole(0, 1, 0), whole(2, 0, 0))


@example
def arc_moves(draw: np.random.Generator) -> Any:
    def run(nodes: Any, required: Any, turnable: Any, marks: Any, parent: Any, child: Any, gain: Any) -> None:
        moves = _core.ArcMoves(nodes, required, turnable, marks)
        moves.toggle(parent, child)
        moves.set_changes(child, -1.0, gain)
        moves.remember()
        moves.best(fresh=True)
        moves.covered()

    flags = draw.integers(0, 2, 9).astype(np.uint8)
    return run, (3, flags, flags, draw.integers(1, 1 << 62, 9), 0, 1, draw.normal(size=3))


@example
def family_score(draw: np.random.Generator) -> Any:
    def run(kind: Any, parameter: Any, scale: Any, rows: Any, table: Any, before: Any, states: Any, after: Any) -> None:
        _core.FamilyScore(kind, parameter, scale, rows).table(table, before, states, after)

    return run, (int(draw.integers(3)), 1.0, 1.0, 40, draw.integers(0, 9, 24), 2, 3, 4)


@example
def read_bif(_: np.random.Generator) -> Any:
    def run(text: Any, nodes: Any, cells: Any, tolerance: Any, normalize: Any) -> None:
        file, _ = _core.read_bif(text, nodes, cells, tolerance, normalize)
        if file is not None:
            file.variables()

    text = (
        b"network x { } variable a { type discrete [2] { t, f }; } variable b { type discrete [2] { t, f }; }"
        b" probability ( a ) { table 0.5 0.5; } probability ( b | a ) { (t) 0.1 0.9; default 0.5 0.5; }"
    )
    return run, (text, 100, 1000, 1e-6, False)


@example
def read_numbers(_: np.random.Generator) -> Any:
    return _core.read_numbers, (b"0.5, 1e-3 7\n.25) rest", 0, 10, b",")


# -- text and mail ----------------------------------------------------------------------------------------------------


def _phrases(*, characters: bool = False) -> _core.Phrases:
    return _core.Phrases(letter_table(), 1, 1, 2, ("the",), characters, False)


@example
def phrases(_: np.random.Generator) -> Any:
    def run(table: Any, shortest: Any, fewest: Any, most: Any, stop: Any, characters: Any, places: Any) -> None:
        made = _core.Phrases(table, shortest, fewest, most, stop, characters, places)
        counts = _core.WordCounts()
        counts.count(*texts_of(DOCUMENTS), np.array([0, 1, 2, -1], np.int32), CLASSES, made)
        len(counts)

    return run, (letter_table(), 1, 1, 2, ("the", "kiwi"), False, True)


@example
def word_counts(draw: np.random.Generator) -> Any:
    def run(letters: Any, offsets: Any, target: Any, classes: Any, limit: Any, order: Any, most: Any) -> None:
        counts, other = _core.WordCounts(), _core.WordCounts()
        for each in (counts, other):
            each.count(letters, offsets, target, classes, _phrases(characters=bool(draw.integers(2))))
        counts.merge(other)
        counts.prune(limit)
        counts.counted(order, most)

    return run, (*texts_of(DOCUMENTS), np.array([0, 1, 2, -1], np.int32), CLASSES, 3, whole(2, 0, 1), 1 << 30)


@example
def score_words(draw: np.random.Generator) -> Any:
    def run(letters: Any, offsets: Any, words: Any, weights: Any, once: Any) -> None:
        vocabulary = _core.Vocabulary(words)
        _core.list_terms(letters, offsets, vocabulary, _phrases())
        _core.score_words(letters, offsets, vocabulary, weights, once, _phrases())

    return run, (*texts_of(DOCUMENTS), ("kiwi", "beer", "munich beer"), reals(draw, 3, 2), False)


@example
def left_out_words(draw: np.random.Generator) -> Any:
    counts = draw.integers(2, 9, (3, CLASSES)).astype(np.float64)
    documents = whole(0, 2, 3), np.array([0, 2, 1], np.int32), np.array([1.0, 2.0, 1.0]), np.array([0, 1], np.int32)
    return _core.left_out_words, (*documents, counts, counts.sum(axis=0), counts.sum(axis=1), 3.0, 1.0, False)


@example
def strength_loss(draw: np.random.Generator) -> Any:
    target = np.array([0, 1, 0, 2], np.int32)
    return _core.strength_loss, (reals(draw, 4, CLASSES), np.abs(reals(draw, 4)), reals(draw, CLASSES), target, 0.5)


@example
def text_keys(_: np.random.Generator) -> Any:
    return _core.text_keys, texts_of(DOCUMENTS)


@example
def texts(_: np.random.Generator) -> Any:
    def run(letters: Any, offsets: Any, first: Any, names: Any) -> None:
        _core.rank_texts(letters, offsets)
        _core.holds_pair(letters, first, 105)
        _core.text_bytes(names)
        _core.quoted(names)
        _core.plain_text_bytes(names)

    return run, (*texts_of(DOCUMENTS), 107, ["a", "é", "x"])


@example
def wide_texts(_: np.random.Generator) -> Any:
    def run(array: Any) -> None:
        _core.wide_text_bytes(array)
        _core.factorize_wide_texts(array)

    return run, (np.array(["a", "", "m\u00fcnch\U0001f600"]),)


@example
def delimited_lines(draw: np.random.Generator) -> Any:
    present = np.array([1, 0, 1, 1], np.uint8)
    columns = [(reals(draw, 4), None, present), (*texts_of(DOCUMENTS), None), (draw.integers(0, 9, 4), None, None)]
    return _core.delimited_lines, (columns, 4, ",", True)


@example
def quotes_enclose_fields(draw: np.random.Generator) -> Any:
    return _core.quotes_enclose_fields, (texts_of(['a,"b"\n', '"c""d",e\n', '5" disk\n'])[0], ",")


MESSAGE = b"""Subject: =?utf-8?b?R3LDvMOfZQ==?=
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=windows-1252
Content-Transfer-Encoding: quoted-printable

<p>caf=E9 &amp; &eacute;</p>
--b--
"""


@example
def mail_texts(_: np.random.Generator) -> Any:
    def run(data: Any, starts: Any, stops: Any, are_messages: Any, page: Any) -> None:
        mail_reader().texts(data, starts, stops, are_messages)
        mail_reader().without_markup(page)

    size = len(MESSAGE)
    arguments = (MESSAGE * 2, whole(0, size), whole(size, 2 * size), np.ones(2, np.uint8), b"<b>x</b>&lt;<!-- -->")
    return run, arguments


@example
def mail_readers(_: np.random.Generator) -> Any:
    def run(*arguments: Any) -> None:
        reader = _core.MailReader(*arguments)
        reader.texts(MESSAGE, whole(0), whole(len(MESSAGE)), np.ones(1, np.uint8))

    points = np.arange(512, dtype=np.uint32)
    charsets = texts_of(["utf-8", "us-ascii", "windows-1252"])
    return run, (*texts_of(["Subject", "From"]), *charsets, points, 1, *texts_of(["amp;", "&", "eacute;", "é"]))


@example
def mailboxes(_: np.random.Generator) -> Any:
    def run(data: Any, last: Any) -> None:
        _core.is_mailbox(data)
        _core.is_message(data)
        _core.cut_mailbox(data, last)

    return run, ((b"From a@b Mon Jan  1 10:00:00 2001\n" + MESSAGE + b"\n") * 2, True)


@example
def read_small_files(_: np.random.Generator) -> Any:
    paths = b"/nonexistent/a/dev/null"
    arguments = (np.frombuffer(paths, np.uint8), whole(0, 14, 23), np.zeros(2, np.uint8), 1 << 20, 1 << 20)
    return _core.read_small_files, arguments


# -- chains and trees -------------------------------------------------------------------------------------------------


@example
def chains(draw: np.random.Generator) -> Any:
    def run(*arguments: Any) -> None:
        *tables, threads = arguments
        _core.chain_score(*tables, threads)
        _core.chain_posterior(*tables, False, threads)
        _core.chain_posterior(*tables, True, threads)
        _core.chain_expect(*tables, threads)
        _core.chain_best(*tables, threads)

    states = int(draw.choice([1, 2, 3, 9]))

    def logs(*shape: int) -> NDArray[np.float64]:
        table = draw.random(shape) + 0.01
        return np.log(table / table.sum(axis=-1, keepdims=True))

    codes = draw.integers(0, 4, 12).astype(np.int32)
    return run, (
        logs(states),
        logs(states, states),
        logs(4, states),
        codes,
        whole(0, 5, 5, 12),
        int(draw.integers(1, 3)),
    )


@example
def forests(draw: np.random.Generator) -> Any:
    def run(codes: Any, target: Any, levels: Any, ordered: Any, trees: Any, tried: Any, sample: Any, seed: Any) -> None:
        forest = _core.grow_forest(codes, target, CLASSES, levels, ordered, trees, tried, sample, True, seed)
        counts = forest.count(codes, target, CLASSES)
        forest.ask(codes, counts, 1.0)
        forest.ask_without(codes, target, counts, 1.0)

    codes = draw.integers(0, 4, (2, ROWS)).astype(np.uint16)
    return run, (codes, np.abs(labels(draw)), whole(4, 4), np.array([1, 0], np.uint8), 3, 2, ROWS, 1)


@example
def boosted_forests(draw: np.random.Generator) -> Any:
    def run(
        codes: Any, target: Any, start: Any, levels: Any, ordered: Any, rounds: Any, leaves: Any, rate: Any
    ) -> None:
        forest, values = _core.boost_forest(codes, target, start, levels, ordered, rounds, leaves, rate, 1.0, 0.5, 1)
        forest.ask_values(codes, values)
        forest.sum_values(codes, target, values, start)

    codes = draw.integers(0, 4, (2, ROWS)).astype(np.uint16)
    return run, (
        codes,
        np.abs(labels(draw)),
        reals(draw, CLASSES),
        whole(4, 4),
        np.array([1, 0], np.uint8),
        3,
        4,
        0.1,
    )


def _forest(draw: np.random.Generator) -> tuple[_core.Forest, NDArray[np.uint16], NDArray[np.int32]]:
    codes = draw.integers(0, 4, (2, ROWS)).astype(np.uint16)
    target = np.abs(labels(draw))
    ordered = np.array([1, 0], np.uint8)
    return _core.grow_forest(codes, target, CLASSES, whole(4, 4), ordered, 3, 2, ROWS, True, 1), codes, target


@example
def forest_arrays(draw: np.random.Generator) -> Any:
    forest, codes, target = _forest(draw)

    def run(*arrays: Any) -> None:
        made = _core.Forest.of(*arrays)
        counts = made.count(codes, target, CLASSES)
        made.ask(codes, counts, 1.0)
        made.ask_values(codes, np.ones((made.nodes, CLASSES)))

    return run, tuple(forest.arrays().values())


@example
def forest_answers(draw: np.random.Generator) -> Any:
    forest, codes, target = _forest(draw)

    def run(codes: Any, target: Any, counts: Any, weight: Any, values: Any, start: Any) -> None:
        forest.count(codes, target, CLASSES)
        forest.ask(codes, counts, weight)
        forest.ask_without(codes, target, counts, weight)
        forest.ask_values(codes, values)
        forest.sum_values(codes, target, values, start)

    counts = forest.count(codes, target, CLASSES)
    return run, (codes, target, counts, 1.0, reals(draw, forest.nodes, CLASSES), reals(draw, CLASSES))
