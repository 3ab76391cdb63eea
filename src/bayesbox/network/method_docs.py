"""The parameters and results of methods, which their docstrings and the reference show."""

from __future__ import annotations

APPROX = (
    '"weighting", "gibbs", "blockgibbs", "bounds", "loopy", "meanfield", an algorithm, or None (default) for the exact '
    "answer"
)

METHODS: dict[str, dict[str, dict[str, str]]] = {
    "BayesianNetwork": {
        "active_path": {
            "left": "str or list of str, nodes",
            "right": "str or list of str, nodes",
            "given": "str or list of str, nodes that are known; () by default",
            "returns": "list of str, the nodes of the path, or None",
        },
        "ancestors": {
            "node": "str, the name of a node",
            "returns": "set of str",
        },
        "children": {
            "node": "str, the name of a node",
            "returns": "list of str",
        },
        "classifier": {
            "target": "str, the node that is the class",
            "returns": "NetworkClassifier",
        },
        "compare": {
            "known": "BayesianNetwork",
            "returns": "Comparison",
        },
        "cpt": {
            "node": "str, the name of a node",
            "returns": "array of floats, or None if the node has no table",
        },
        "d_separated": {
            "left": "str or list of str, nodes",
            "right": "str or list of str, nodes",
            "given": "str or list of str, nodes that are known; () by default",
            "returns": "bool",
        },
        "descendants": {
            "node": "str, the name of a node",
            "returns": "set of str",
        },
        "dot": {
            "probabilities": "bool, default False; draw the probabilities of each node as bars",
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "str",
        },
        "factorisation": {
            "returns": "str",
        },
        "layout": {
            "probabilities": "bool, default False; draw the probabilities of each node as bars",
            "returns": "GraphLayout",
        },
        "local_markov": {
            "returns": "list of str, one statement per node that has one",
        },
        "markov_blanket": {
            "node": "str, the name of a node",
            "returns": "set of str",
        },
        "parameters": {
            "returns": "Parameters, a named tuple",
        },
        "parents": {
            "node": "str, the name of a node",
            "returns": "list of str",
        },
        "path_text": {
            "path": "list of str, nodes such as `active_path` gives",
            "returns": "str",
        },
        "query": {
            "text": 'str, a question such as "P(rain=yes | grass=wet)", or "X _|_ Y | Z"',
            "approx": APPROX,
            "options": "options of that method by name, such as samples=10000 and seed=0",
            "returns": "float, ProbabilityTable, or bool",
        },
        "sample": {
            "n": "int, how many rows",
            "seed": "int, default 0; None draws different rows each time",
            "returns": "Arrow table",
        },
        "states": {
            "node": "str, the name of a node",
            "returns": "list of str, in the order of its table",
        },
        "svg": {
            "probabilities": "bool, default False; draw the probabilities of each node as bars",
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "strengths": "bool, default False; draw arcs as wide as they are strong",
            "returns": "Picture, the text of an SVG, which a notebook draws",
        },
        "tables": {
            "interval": "float such as 0.95, or None (default) for no credible intervals",
            "returns": (
                "PrintedTables, a mapping from column to table; prints, shows as HTML, `.latex()`, `.to_dict()`"
            ),
        },
        "write": {
            "path": "str or path; .bif, .xml, .uai, .net, .xdsl or .json, also with .gz",
            "returns": "None",
        },
    },
    "FactorGraph": {
        "log_probability": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "float",
        },
        "write": {
            "path": "str or path; the name of the file, .uai",
            "returns": "None",
        },
    },
    "HasNetworkWidget": {
        "widget": {
            "target": "str or None (default), the node to find out about",
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "NetworkWidget, for a notebook",
        },
    },
    "NetworkFitting": {
        "fit": {
            "data": "frame, table, dict of columns, source, or the name of a file; a column for each node",
            "returns": "the network itself",
        },
        "forget": {
            "data": "frame, table, dict of columns, source, or the name of a file; a column for each node",
            "returns": "the network itself",
        },
        "interval": {
            "question": 'str, such as "P(rain=yes | wet=yes)"',
            "level": "float, default 0.95; the probability of the interval",
            "draws": "int, default 2000; how often the tables are drawn",
            "seed": "int, default 0; the same seed gives the same result",
            "returns": "CredibleInterval (low, high), or IntervalTable",
        },
        "log_likelihood": {
            "data": "frame, table, dict of columns, source, or the name of a file; a column for each node",
            "returns": "float, in nats",
        },
        "partial_fit": {
            "data": "frame, table, dict of columns, source, or the name of a file; a column for each node",
            "returns": "the network itself",
        },
        "score": {
            "data": "frame, table, dict of columns, source, or the name of a file; a column for each node",
            "score": '"bic" (default), "aic", "loglik", "k2", "bdeu:1" or "dirichlet:0.5"',
            "reading": "columns=, na=, weight= and the like, as for `log_likelihood`",
            "returns": "float; higher is better",
        },
    },
    "NetworkQuestions": {
        "approximations": {
            "text": "a question such as 'P(B=true | J=true)'",
            "samples": "int, the number of samples of weighting and Gibbs sampling",
            "seed": "int, the random seed",
            "sizes": "list of int or None, numbers of samples to compare the errors at",
            "runs": "int, the number of runs for each of the sizes",
            "returns": "ApproximateAnswers, with `.to_frame()`, `.to_dict()` and `.svg()`",
        },
        "explanation": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "targets": "str, list of str, or None (default) for all variables",
            "returns": "pair of a dict from variable to state, and a float",
        },
        "fraction": {
            "text": 'str, a question such as "P(rain=yes | grass=wet)"',
            "returns": "Fraction",
        },
        "log_probability": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "float",
        },
        "cost": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "AnswerPlan with conditioned_on, cases, bytes and seconds",
        },
        "mpe": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "targets": "str, list of str, or None (default) for all variables",
            "returns": "dict from variable to state",
        },
        "posteriors": {
            "evidence": "dict from node to state or to a dict of likelihoods, a frame of cases, or None (default)",
            "approx": APPROX,
            "threads": "int or None (default, one per core); for DataFrames",
            "options": "options of that method by name, such as samples=10000 and seed=0",
            "returns": "PosteriorTable, a mapping from node to state to probability",
        },
        "probability": {
            "evidence": (
                "dict from node to state, or to a dict of likelihoods where it is uncertain; None (default) for none"
            ),
            "returns": "float",
        },
        "query": {
            "text": 'str, a question such as "P(rain=yes | grass=wet)"',
            "approx": APPROX,
            "options": "options of that method by name, such as samples=10000 and seed=0",
            "returns": "float, or ProbabilityTable",
        },
        "states": {
            "node": "str, the name of a variable",
            "returns": "list of str",
        },
        "work": {
            "text": 'str, a question such as "P(rain=yes | grass=wet)"',
            "method": '"auto" (default), "enumeration" or "elimination"',
            "approx": '"weighting", "gibbs", or None (default) for the exact answer',
            "options": "options of that method by name, such as samples=10000 and seed=0",
            "returns": (
                "the work, which prints as text and shows as HTML in a notebook; `.html()`, `.latex()`, `.to_dict()`"
            ),
        },
    },
}
