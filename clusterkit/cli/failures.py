"""Exceptions and warnings become one line on standard error and an exit code.

`InterruptFlag` says whether Ctrl-C was pressed during a fit; the fit itself keeps its best labels and returns.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from clusterkit.errors import ClusterkitWarning

UNEXPECTED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes: an unexpected failure, wrong usage or data, and Ctrl-C (128 + SIGINT, as shells have it)."""

BROKEN_PIPE = 141
"""Exit code that a shell reports for a program that SIGPIPE ended, as in ``clusterkit stages | head -1``."""


class BadInput(click.ClickException):
    """An argument, an option or a file cannot be used; the message says why."""

    exit_code = USAGE


def guarded(run: Callable[[], None], debug: bool) -> int:
    """Call `run` and return the exit code. Exceptions and warnings are printed, each warning once."""
    shown: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
        # the text alone, without the place in the code
        text = str(message)
        if text not in shown:
            shown.add(text)
            _line("warning", "yellow", text)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", ClusterkitWarning)
            warnings.showwarning = show  # type: ignore[assignment]
            run()
            if sys.stdout is not None:  # closed by the shell: >&-
                sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except BaseException as error:  # the last line of defence: nothing may end in a traceback
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            _forget_output()
            return BROKEN_PIPE
        if isinstance(error, OSError) and _is_of_output(error):
            _forget_output()
            _line("error", "red", f"standard output cannot be written: {error.strerror or error}")
            return USAGE
        if debug:
            traceback.print_exc()
        code, message = _explained(error, debug)
        _line("error", "red", message)
        return code
    return 0


def _is_of_output(error: OSError) -> bool:
    """Whether an error is of what was being printed: of click, or of the last flush."""
    place = traceback.extract_tb(error.__traceback__)
    printing = "click" in Path(place[-1].filename).parts or place[-1].filename == __file__
    return error.filename is None and printing


def _forget_output() -> None:
    """Redirect standard output to nothing: at exit Python would write what is left again, and fail."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explained(error: BaseException, debug: bool) -> tuple[int, str]:
    """Exit code and message of an exception."""
    if isinstance(error, click.exceptions.Abort | KeyboardInterrupt):
        return INTERRUPTED, "interrupted: there are no labels yet"
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "clusterkit"
        return USAGE, f"{error.format_message()} (see {path} --help)"
    if isinstance(error, click.ClickException):
        return USAGE, error.format_message()
    if isinstance(error, OSError) and error.filename is not None:
        return USAGE, f"{error.filename}: {error.strerror}"
    if _is_message(error):
        return USAGE, str(error)
    if isinstance(error, MemoryError):
        return UNEXPECTED, f"not enough memory: {error}"
    hint = "" if debug else " (--debug shows where)"
    notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
    return UNEXPECTED, f"unexpected {type(error).__name__}: {error}{notes}{hint}"


def _is_message(error: BaseException) -> bool:
    """Whether the error is a message to the user: an error class of clusterkit, or scikit-learn refusing the data."""
    if type(error).__module__.startswith("clusterkit"):
        return True
    place = traceback.extract_tb(error.__traceback__)
    checked = bool(place) and "sklearn" in place[-1].filename and "validation" in place[-1].filename
    return isinstance(error, ValueError) and checked


def _line(word: str, color: str, message: str) -> None:
    from clusterkit.cli.console import printable

    with suppress(OSError):  # standard error may be full too, and then nobody can be told
        click.echo(f"{click.style(word + ':', fg=color, bold=True)} {printable(message, lines=True)}", err=True)


class InterruptFlag:
    """A flag that is set when Ctrl-C is pressed."""

    pressed = False


@contextmanager
def watching() -> Iterator[InterruptFlag]:
    """Set the flag on Ctrl-C, and raise KeyboardInterrupt as usual."""
    flag = InterruptFlag()
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread only
        yield flag
        return

    def set_flag(*_: Any) -> None:
        flag.pressed = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, set_flag)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
