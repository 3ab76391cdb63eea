"""The parameters and results of methods, which their docstrings and the reference show."""

from __future__ import annotations

METHODS: dict[str, dict[str, dict[str, str]]] = {
    "ChainAnswers": {
        "bic": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "float",
        },
        "filter": {
            "returns": "Filter, whose `.update(step)` takes the next step",
        },
        "forecast": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart; None (default) for the beginning"
            ),
            "steps": "int, default 1; how many steps ahead",
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "Forecast, with `.states` and `.columns`, or a list of these",
        },
        "predict": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "array of states, one for each step, or a list of arrays",
        },
        "predict_proba": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "array of floats, steps x states in the order of `states_`, or a list of arrays",
        },
        "sample": {
            "n": "int, default 1; how many steps",
            "seed": "int, default 0; None draws a different one each time",
            "returns": "Sample, the pair (sequence, states)",
        },
        "score": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "float, in nats, or a list of floats",
        },
    },
    "HiddenMarkovModel": {
        "digest": {
            "returns": "str, 64 hexadecimal digits",
        },
        "fit": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "labels": (
                "the states, shaped like the sequences, or the name of their column; None (default) where "
                "they are hidden"
            ),
            "sequence": "str or None (default), the column that identifies the sequence of a row",
            "order": "str or None (default), the column that orders the steps of a sequence",
            "lengths": "list of int or None (default), how many steps each sequence has, one after the other",
            "initial": "HiddenMarkovModel or None (default), the initial model of Baum-Welch",
            "progress": "function of the share done, seconds left and a description, or None (default)",
            "returns": "the model itself",
        },
        "forget": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "labels": "the states that the sequences were learned with",
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "the model itself",
        },
        "from_tables": {
            "start": "P(state) of the first step: a list, or a dict by state",
            "transition": "P(next state | state): rows of numbers, or dicts by state",
            "emission": "P(symbol | state): rows of numbers, or dicts by state and symbol",
            "states": "list of the names of the states, or None (default)",
            "symbols": "list of the names of the symbols, or None (default)",
            "returns": "HiddenMarkovModel",
        },
        "load": {
            "path": "str or path; the name of the file",
            "returns": "HiddenMarkovModel",
        },
        "partial_fit": {
            "sequences": (
                "a sequence (list, array, dict of columns), a list of sequences, or a frame whose column "
                "`sequence` tells them apart"
            ),
            "labels": "the states, shaped like the sequences, or the name of their column",
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "the model itself",
        },
        "save": {
            "path": "str or path; the name of the file",
            "overwrite": "bool, default False; replace a file that another has changed since it was loaded",
            "wait": "float, default 10.0; seconds to wait for another process that is writing the file",
            "returns": "None",
        },
        "svg": {
            "sequence": "one sequence: a list, an array or a dict of columns",
            "column": "str or None (default), the column to draw",
            "names": "list of the names of the steps, or None (default) for 1, 2, ...",
            "title": "str, the title of the drawing",
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": "Picture, the text of an SVG, which a notebook draws",
        },
        "tables": {
            "returns": (
                "PrintedTables, a mapping from column to table; prints, shows as HTML, `.latex()`, `.to_dict()`"
            ),
        },
        "to_network": {
            "length": "int, how many steps",
            "returns": "BayesianNetwork",
        },
        "work": {
            "sequence": "one sequence: a list, an array or a dict of columns",
            "algorithm": '"forward" (default), "viterbi" or "baum-welch"',
            "smoothing": "rule of `bayesbox.rules`, its name, or None (default) for that of the model",
            "how": "sequence=, order= and lengths=, as for `fit`",
            "returns": (
                "the work, which prints as text and shows as HTML in a notebook; `.html()`, `.latex()`, `.to_dict()`"
            ),
        },
    },
}
