"""The parameters and return values of methods, added to their docstrings and to the reference."""

from __future__ import annotations

METHODS: dict[str, dict[str, dict[str, str]]] = {
    "ArcsEstimator": {
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
        "to_network": {
            "target": "str or None (default); the name of the class, by default that of the target column, or class",
            "returns": "BayesianNetwork",
        },
    },
    "AutoBayes": {
        "fit": {
            "X": (
                "a pandas, polars or Dask DataFrame, an Arrow table, a dict of columns, an array, or a sparse "
                "matrix of counts; missing values are allowed"
            ),
            "y": "the class of each row: a list, an array or a column",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "returns": "the estimator itself",
        },
        "report": {
            "returns": "PoolReport, a text with `.to_frame()`",
        },
    },
    "BayesOptimal": {
        "digest": {
            "returns": "str, 64 hexadecimal digits",
        },
        "explain": {
            "X": "rows, as for the hypotheses",
            "returns": "RowsExplanation, as for other estimators",
        },
        "fit": {
            "X": "rows, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "returns": "the estimator itself",
        },
        "leave_one_out": {
            "X": "the training rows of the hypotheses",
            "y": "the class of each row: a list, an array or a column",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
        "parameters": {
            "returns": "Parameters, a named tuple (free, terms, naive, joint)",
        },
        "predict": {
            "X": "rows, as for the hypotheses",
            "returns": "array of labels, one per row",
        },
        "predict_proba": {
            "X": "rows, as for the hypotheses",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
        "save": {
            "path": "str or path; the name of the file",
            "overwrite": (
                "bool, default False; replace the file even if another process has changed it since it was loaded"
            ),
            "wait": "float, default 10.0; seconds to wait for another process that is writing the file",
            "returns": "None",
        },
        "tables": {
            "most": "int, default 30, or None for all; the number of rows shown per table",
            "returns": (
                "PrintedTables, a mapping from column to table; prints, shows as HTML, `.latex()`, `.to_dict()`"
            ),
        },
        "work": {
            "X": "one row",
            "returns": (
                "the calculation; it prints as text, shows as HTML in a notebook, and has `.html()`, `.latex()`,"
                " `.to_dict()`"
            ),
        },
    },
    "CalibratedEstimator": {
        "calibrate": {
            "X": "rows, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "kind": 'str, default "auto"; the calibration, or None for no calibration',
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "held_out": "bool, default False; whether the rows were not used in training",
            "returns": "the estimator itself",
        },
    },
    "CountedEstimator": {
        "best_threshold": {
            "X": "held-out rows or documents",
            "y": "the class of each row: a list, an array or a column",
            "label": "the class whose probability is compared with the threshold",
            "metric": '"f1" (default), "accuracy", "balanced" or "youden"',
            "returns": "Threshold, a named tuple (value, score)",
        },
        "decide": {
            "X": "rows or documents, as for `fit`",
            "costs": "dict from (true class, decision) to cost, or None (default)",
            "threshold": "dict from one class to its threshold, or None (default)",
            "abstain": "float or None (default); the lowest probability at which to decide",
            "returns": "array of labels, None if the model abstains",
        },
        "digest": {
            "returns": "str, 64 hexadecimal digits",
        },
        "joint_log_proba": {
            "X": "rows or documents, as for `fit`",
            "returns": "array of floats, rows x classes, in the order of `classes_`",
        },
        "leave_one_out": {
            "X": "training rows or documents",
            "y": "the class of each row: a list, an array or a column",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
        "parameters": {
            "returns": "Parameters, a named tuple (free, terms, naive, joint)",
        },
        "posterior_interval": {
            "X": "one row: a dict, a Series, or X of one row",
            "level": "float, default 0.95; the probability of the interval",
            "draws": "int, default 10000; the number of draws from the posterior",
            "seed": "int, default 0; the same seed gives the same result",
            "returns": "IntervalTable, a mapping from class to (low, high)",
        },
        "predict": {
            "X": "rows or documents, as for `fit`",
            "returns": "array of labels, one per row",
        },
        "predict_log_proba": {
            "X": "rows or documents, as for `fit`",
            "returns": "array of floats, rows x classes, in the order of `classes_`",
        },
        "predict_proba": {
            "X": "rows or documents, as for `fit`",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
        "redact": {
            "min_count": "int, default 5; levels and words of fewer rows are pooled",
            "returns": "a new estimator",
        },
        "save": {
            "path": "str or path; the name of the file",
            "overwrite": (
                "bool, default False; replace the file even if another process has changed it since it was loaded"
            ),
            "wait": "float, default 10.0; seconds to wait for another process that is writing the file",
            "returns": "None",
        },
        "score": {
            "X": "rows or documents, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "returns": "float, the accuracy, from 0 to 1",
        },
        "tables": {
            "most": "int, default 30, or None for all; the number of rows shown per table",
            "interval": "float such as 0.95, or None (default) for no credible intervals",
            "returns": (
                "PrintedTables, a mapping from column to table; prints, shows as HTML, `.latex()`, `.to_dict()`"
            ),
        },
        "with_prior": {
            "prior": 'dict from class to probability, list in the order of `classes_`, or "balanced"',
            "returns": "a new estimator",
        },
        "work": {
            "X": "one row: a dict, a Series, or X of one row; one document for a `TextClassifier`",
            "against": "the other class of the odds, or None (default) for the next most probable",
            "returns": (
                "the calculation; it prints as text, shows as HTML in a notebook, and has `.html()`, `.latex()`,"
                " `.to_dict()`"
            ),
        },
    },
    "DensityDisplay": {
        "from_estimator": {
            "estimator": "a fitted `NaiveBayes`",
            "column": "name or position of a column of numbers",
            "densities": 'list of names such as "gaussian", or None (default) for the one in use',
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
    },
    "EvidenceDisplay": {
        "from_estimator": {
            "estimator": "a fitted classifier",
            "row": "dict, Series, named tuple, or X of one row",
            "label": "a class, or None (default) for the most probable",
            "against": "another class, or None (default) for the next most probable",
            "top": "int, default 10; the number of columns that have their own bar",
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
    },
    "HasWidget": {
        "widget": {
            "row": "dict of the values known at the start, or None (default)",
            "view": '"what-if" (default) or "nomogram"',
            "returns": "RowWidget, for a notebook",
        },
    },
    "NetworkClassifier": {
        "fit": {
            "X": "rows, with a column for each node except the target",
            "y": "the state of the target in each row",
            "returns": "the estimator itself",
        },
        "predict": {
            "X": "rows; columns may be absent and values missing",
            "returns": "array of labels, one per row",
        },
        "predict_log_proba": {
            "X": "rows; columns may be absent and values missing",
            "returns": "array of floats, rows x classes, in the order of `classes_`",
        },
        "predict_proba": {
            "X": "rows; columns may be absent and values missing",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
    },
    "NetworkDisplay": {
        "from_estimator": {
            "estimator": "a fitted classifier that is a network",
            "evidence": (
                "dict from node to state, or to a dict of likelihoods for virtual evidence; None (default) for "
                "no evidence"
            ),
            "probabilities": "bool, default False; draw the probabilities of each node as bars",
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "from_network": {
            "network": "BayesianNetwork",
            "evidence": (
                "dict from node to state, or to a dict of likelihoods for virtual evidence; None (default) for "
                "no evidence"
            ),
            "probabilities": "bool, default False; draw the probabilities of each node as bars",
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
    },
    "NomogramDisplay": {
        "from_estimator": {
            "estimator": "a fitted `NaiveBayes`",
            "label": "a class, or None (default) for the second",
            "against": "another class, or None (default) for the most probable of the others",
            "row": "a row to mark: a dict, or X of one row; None (default) marks no row",
            "top": "int, default 10; how many columns are drawn",
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
    },
    "PlotDisplay": {
        "plot": {
            "ax": "matplotlib axes, or None (default) for those of a new figure",
            "returns": "the display itself",
        },
    },
    "ReliabilityDisplay": {
        "from_estimator": {
            "estimator": "a fitted classifier",
            "X": "held-out rows",
            "y": "the class of each row: a list, an array or a column",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "bins": "int, default 15; the number of bins of confidence",
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "from_predictions": {
            "y_true": "the class of each row",
            "y_prob": "array of rows x classes; for two classes, the probabilities of the second are enough",
            "classes": "list of the classes in the order of the columns, or None (default) for sorted",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "bins": "int, default 15; the number of bins of confidence",
            "name": 'str, default "Reliability"; the title',
            "ax": "matplotlib axes to draw on, or None (default) for the SVG alone",
            "returns": "the display, which a notebook shows as SVG; with `ax`, it also has `.ax_` and `.figure_`",
        },
        "svg": {
            "returns": "Picture, an SVG string that a notebook displays",
        },
    },
    "TAN": {
        "get_params": {
            "deep": "bool, default True; has no effect here",
            "returns": "dict from name to value",
        },
    },
    "TableEstimator": {
        "boundary_svg": {
            "across": "name or position of the column along the x axis",
            "up": "name or position of the column along the y axis",
            "returns": "Picture, an SVG string that a notebook displays",
        },
        "fit": {
            "X": (
                "a pandas, polars or Dask DataFrame, an Arrow table, a dict of columns, an array, or a sparse "
                "matrix of counts; missing values are allowed"
            ),
            "y": "the class of each row: a list, an array or a column",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "returns": "the estimator itself",
        },
        "forget": {
            "X": "rows, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "returns": "the estimator itself",
        },
        "log_density": {
            "X": "rows, as for `fit`",
            "returns": "array of floats, one per row",
        },
        "log_likelihood": {
            "X": "rows, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "returns": "float, in nats",
        },
        "partial_fit": {
            "X": "rows, as for `fit`",
            "y": "the class of each row: a list, an array or a column",
            "classes": "list of all classes that may occur, or None (default) for those found in y",
            "sample_weight": (
                "array of weights, one per row, or None (default, all 1); a row of weight 2 counts as two"
            ),
            "returns": "the estimator itself",
        },
        "predict": {
            "X": "rows, as for `fit`",
            "returns": "array of labels, one per row",
        },
        "predict_log_proba": {
            "X": "rows, as for `fit`",
            "returns": "array of floats, rows x classes, in the order of `classes_`",
        },
        "predict_proba": {
            "X": "rows, as for `fit`",
            "returns": "array of floats, rows x classes, in the order of `classes_`; each row sums to 1",
        },
        "set_params": {
            "given": "parameters of the class by name",
            "returns": "the estimator itself",
        },
    },
}
