"""The command `bayes`, one file per verb. It starts with `start`, so that a signal during imports ends it without a
traceback.
"""

import contextlib
import os
import signal
from types import FrameType
from typing import NoReturn

HELP_NAMES = ["-h", "--help"]
CONTEXT: dict[str, object] = {"help_option_names": HELP_NAMES, "max_content_width": 100}
"""How every command shows its help."""


def end_at_once(number: int, _frame: FrameType | None) -> NoReturn:
    """Exit immediately: nothing has started yet."""
    if number == signal.SIGINT:
        with contextlib.suppress(OSError):
            os.write(2, b"bayes: interrupted\n")
    os._exit(128 + number)


def start() -> NoReturn:
    """Run the command as a process."""
    usual = ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))
    for number, handler in usual:
        if signal.getsignal(number) == handler:  # an ignored signal, as under nohup, stays ignored
            signal.signal(number, end_at_once)
    from bayesbox.cli.main import main

    main()
