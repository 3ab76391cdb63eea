"""The command `bayes`: a group of verbs, each imported on demand, and the handling of errors and exit codes.

    0 ok   2 usage   3 bad data   4 bad model file   70 a bug   74 a file cannot be read or written   130 interrupted
    143 terminated

Results go to standard output; everything else, including errors, goes to standard error.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType, FunctionType
from typing import Any, NoReturn

import click

from bayesbox import __version__
from bayesbox.cli import CONTEXT, end_at_once
from bayesbox.described import command_speaks
from bayesbox.errors import BayesboxError
from bayesbox.extensions import FAILED

VERBS = {
    "train": "Train a classifier on a table or on documents.",
    "predict": "Predict the class of each row.",
    "explain": "Explain the prediction for one row.",
    "importance": "Rank the columns by how much they matter.",
    "evaluate": "Measure how well a model predicts.",
    "schema": "Show the type, values and problems of each column.",
    "show": "Show what a model has learned.",
    "update": "Add rows to a model.",
    "forget": "Remove rows from a model exactly.",
    "calibrate": "Refit the calibration of a model.",
    "verify": "Check the certificate of a forget, or the store of a service.",
    "redact": "Pool rare levels and words.",
    "audit": "Check or print the audit log of a service.",
    "events": "Write the events that a service has learned as a table.",
    "key": "Create a key pair for signing certificates.",
    "merge": "Merge models that were trained separately.",
    "average": "Average several models, each with a weight.",
    "diff": "Compare two models.",
    "drift": "Report what has changed since a model was trained.",
    "export": "Export a model to SQL, ONNX or PMML.",
    "rule": "Apply Bayes' rule to a few numbers.",
    "query": "Query probabilities and independence in a table or a network.",
    "ask": "Suggest what to ask next: the most informative unknown columns or nodes.",
    "network": "Learn, show, edit, convert or sample a Bayesian network.",
    "hmm": "Train and use hidden Markov models: decode, score, forecast.",
    "exercise": "Generate exercises with solutions, and check answers.",
    "report": "Write a self-contained HTML report on a model, a table or a network.",
    "app": "Open models, tables and networks in the browser.",
    "serve": "Serve models over HTTP: they predict, learn and forget.",
    "token": "Create, list or revoke the tokens of a service.",
    "demo": "Take a ten-second tour with the Titanic data.",
    "completion": "Print the completion script for a shell.",
}
"""Every verb and what it does, in the order of the help."""

OTHER_NAMES = {
    "classify": "predict MODEL DATA",
    "compare": "evaluate DATA -t COLUMN --compare",
    "convert": "network convert IN OUT",
    "delete": "forget MODEL DATA",
    "fit": "train DATA -t COLUMN",
    "info": "show MODEL",
    "inspect": "show MODEL, or bayes schema DATA",
    "learn": "train DATA -t COLUMN, or bayes network learn DATA -o net.json",
    "nomogram": "explain MODEL DATA --row N --svg nomogram.svg",
    "remove": "forget MODEL DATA",
    "score": "evaluate MODEL DATA",
    "test": "evaluate MODEL DATA",
    "unlearn": "forget MODEL DATA",
    "validate": "evaluate DATA -t COLUMN --cv 10",
    "what-if": "explain MODEL DATA --row N --set COLUMN=VALUE",
}
"""What users of other tools type first, and what it is called here."""

_FOLDERS = {
    "answer": ("drift", "importance"),
    "audit": ("audit", "diff", "events", "key", "verify"),
    "change": ("average", "calibrate", "forget", "merge", "redact", "update"),
    "hmm": ("hmm",),
    "network": ("network",),
    "serve": ("serve", "token"),
}
_MODULES = {verb: f"{folder}.{verb}" for folder, verbs in _FOLDERS.items() for verb in verbs}

COMPLETE = "_BAYES_COMPLETE"  # set by a shell for completion

WITH_MODEL = ("app", "report")  # verbs that read a table or a model, without the options of `bayes train`
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OK, USAGE, BUG, IO_ERROR, INTERRUPTED, TERMINATED = 0, 2, 70, 74, 130, 143


class Verbs(click.Group):
    """The verbs by name; the module of a verb is imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"bayesbox.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in VERBS:
            raise click.UsageError(f"unknown command `{name}`. {nearest_verb(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def nearest_verb(name: str) -> str:
    """The most similar verb to an unknown one."""
    import difflib

    if name in OTHER_NAMES:
        return f"Try: bayes {OTHER_NAMES[name]}"
    near = [verb for verb in VERBS if name.startswith(f"{verb}-")] or difflib.get_close_matches(name, VERBS, n=1)
    return f"Did you mean `{near[0]}`?" if near else f"The commands are {', '.join(VERBS)}"


@click.group(
    cls=Verbs,
    context_settings=CONTEXT,
    epilog="Start with: bayes demo",
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="bayes", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def bayes(context: click.Context) -> None:
    """Bayesian classification that you can run, read and audit: learning is counting."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; without a traceback, unless `--debug` is given."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        sys.meta_path.insert(0, _WithoutPandas)  # only in a separate process, since Arrow remembers it
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # else idle threads use 0.1 s of CPU time
        _open_what_is_closed()
    restore = _end_cleanly_on_signals()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # so that a terminal without Unicode works
    try:
        with command_speaks():
            return _answer(arguments)
    except KeyboardInterrupt:
        _say("bayes: interrupted")
        return INTERRUPTED
    finally:
        restore()


def main() -> NoReturn:
    """Run the command as a process, which ends as soon as everything is written."""
    _end_process(_with_room(run)())


def _with_room(function: Callable[[], int]) -> Callable[[], int]:
    """Call the function with 64 KiB of the interpreter's stack in one piece.

    CPython allocates its stack in pieces of 16 KiB. A call at the end of a piece allocates the next one, and its return
    frees it: if imports happen at such a depth, that is thousands of times, a tenth of the time of a short command.
    """

    def call() -> int:
        return function()

    code = call.__code__.replace(co_stacksize=8192)
    return FunctionType(code, globals(), closure=call.__closure__)


def _end_process(code: int) -> NoReturn:
    """End the process without finalising the interpreter.

    An Arrow thread that releases a part of a file during finalisation aborts the process, although the work is done.
    Functions registered with `atexit` are run, through a private name, since there is no public one (Spark stops its
    Java process this way), and buffers are flushed. A Python without that name ends as usual.
    """
    run_exit_functions = getattr(atexit, "_run_exitfuncs", None)
    if run_exit_functions is None:
        sys.exit(code)
    run_exit_functions()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or no reader
            stream.flush()
    os._exit(code)


def _open_what_is_closed() -> None:
    """Replace closed standard streams by the null device: `bayes ... 2>&-`."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (to the end of the process)


class _WithoutPandas:
    """An import finder that hides pandas: Arrow would import it, which takes longer than training on a small file."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not loaded by the command", name=name)


def with_pandas() -> None:
    """Allow the import of pandas, which Spark needs."""
    if _WithoutPandas in sys.meta_path:
        sys.meta_path.remove(_WithoutPandas)


def _run(arguments: list[str]) -> int:
    """Run the verb; `run` handles errors and closed pipes instead of click's `main`."""
    try:
        if COMPLETE in os.environ:
            bayes.main(arguments, prog_name="bayes", complete_var=COMPLETE)
        with bayes.make_context("bayes", arguments) as context:
            bayes.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else OK
    return OK


def _print_error(error: Exception, arguments: list[str]) -> int:
    """Print an error in one line; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        _leave_pipe()
        return OK
    if isinstance(error, click.UsageError):
        where = error.ctx.command_path if error.ctx else "bayes"
        _say(f"{where}: {_ended(error.format_message())} Try: {where} --help")
        return USAGE
    if isinstance(error, click.ClickException):
        _say(f"bayes: {error.format_message()}")
        return IO_ERROR if isinstance(error, click.FileError) else error.exit_code
    if isinstance(error, BayesboxError):
        for failed in FAILED:  # a failed extension may provide what is missing
            _say(f"note: {failed}")
        _say(f"bayes: {error}{_of_train(error, arguments)}")
        return error.exit_code
    if isinstance(error, OSError):
        _say(f"bayes: {_system_words(error)}")
        return IO_ERROR
    if isinstance(error, MemoryError):
        _say("bayes: out of memory")
        return BUG
    if _is_of_packages(error):
        reason = str(error).partition("\n")[0]
        remedy = "Install versions that do: pip install --upgrade numpy pyarrow"
        _say(f"bayes: the installed packages do not work together: {_ended(reason)} {remedy}")
        return USAGE
    _say(f"bayes: internal error: {type(error).__name__}: {error}. This is a bug; run it again with --debug")
    return BUG


def _of_train(error: BayesboxError, arguments: list[str]) -> str:
    """The remedy for verbs that do not have the options of a remedy: train a model with them first."""
    verb = next((word for word in arguments if word in WITH_MODEL), None)
    options = set(OPTION.findall(str(error.remedy or "")))
    if verb is None or not options:
        return ""
    with click.Context(bayes) as context:
        here, train = (bayes.get_command(context, name) for name in (verb, "train"))
    assert here is not None
    assert train is not None
    taken, trained = ({option for each in command.params for option in each.opts} for command in (here, train))
    if options <= taken or not options <= trained:
        return ""
    return f". This is an option of bayes train: train a model with it, then run bayes {verb} MODEL"


def _is_of_packages(error: Exception) -> bool:
    """Whether two installed packages are incompatible, such as pyarrow 26 and numpy 1.26.

    >>> _is_of_packages(ImportError("pyarrow requires NumPy 2.0 or newer")), _is_of_packages(ModuleNotFoundError("x"))
    (True, False)
    """
    ours = str(getattr(error, "name", None) or "").startswith("bayesbox")
    return isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError) and not ours


def _answer(arguments: list[str]) -> int:
    """Run the verb, with the remedies for the command in errors."""
    try:
        return _run(arguments)
    except Exception as error:
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        return _print_error(error, arguments)


def _ended(message: str) -> str:
    """A message with a full stop at its end."""
    message = message.rstrip()
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _system_words(error: OSError) -> str:
    """The system's error message about a file, without the error number."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else reason


def _say(message: str) -> None:
    from bayesbox.cli.print.output import printable

    with contextlib.suppress(OSError):  # there may be no reader
        click.echo(printable(message), err=True)


def _leave_pipe() -> None:
    """Redirect standard output after its reader closed the pipe, so that the final flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass  # standard output is not a file
    finally:
        os.close(nowhere)


def _end_cleanly_on_signals() -> Callable[[], None]:
    """Turn interrupt and termination signals into an exit, so that temporary files are removed.

    A second signal ends the process immediately. Returns a function that restores the handlers.
    """
    usual: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: usual[number] for number in usual if signal.getsignal(number) in (usual[number], end_at_once)}

    def leave(number: int, _frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        raise SystemExit(TERMINATED) if number == signal.SIGTERM else KeyboardInterrupt

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    try:
        for number in before:
            signal.signal(number, leave)
    except ValueError:  # not the main thread
        return lambda: None
    return restore


if __name__ == "__main__":
    main()
