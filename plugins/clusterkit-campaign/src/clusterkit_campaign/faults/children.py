"""Forked processes that are ended, or sent a signal, at a drawn moment; nothing is imported again in them."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from typing import final

import attrs

__all__ = ["GUARD", "NOT_TRIED", "Ended", "clusterkit", "forked"]

GUARD = 900.0
"""Seconds after which a process that should have ended hangs."""

NOT_TRIED = "not tried: "
"""How a line begins that is no problem, but says why a fault could not be tried on this machine."""


@final
@attrs.frozen
class Ended:
    """How a process ended.

    Parameters
    ----------
    code : int
        Exit status; minus the number of the signal that ended it.
    text : str
        What it wrote.
    seconds : float
        How long it took.
    hung : bool
        Whether it was ended by the guard.
    """

    code: int
    text: str
    seconds: float
    hung: bool = False


def clusterkit(*words: object) -> Callable[[], int]:
    """The command line of clusterkit as a function to be forked; its exit status is returned."""

    def run() -> int:
        from clusterkit.cli import main

        sys.argv = ["clusterkit", *map(str, words)]
        try:
            main()
        except SystemExit as done:
            return done.code if isinstance(done.code, int) else int(done.code is not None)
        return 0

    return run


def forked(
    function: Callable[[], int | None],
    *,
    sent: int | None = None,
    after: float = 0.0,
    before: Sequence[Callable[[], object]] = (),
) -> Ended:
    """Run a function in a forked process whose output is caught.

    Parameters
    ----------
    function : callable
        Its return value is the exit status.
    sent : int, optional
        A signal that the process gets.
    after : float
        Seconds until the signal; a process that ends earlier gets none.
    before : sequence of callables
        Called in the process before the function: limits, for example.
    """
    reading, writing = os.pipe()
    begin = time.monotonic()
    # Ctrl-C that comes before the child is ready would end in the program that forked it
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if not child:
        _in_child(function, writing, reading, before)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(writing)
    text, hung, waiting = b"", False, sent is not None
    while True:
        left = (after if waiting else GUARD) - (time.monotonic() - begin)
        ready, _, _ = select.select([reading], [], [], max(0.0, left))
        if ready:
            part = os.read(reading, 2**16)
            if not part:
                break
            text += part
        elif waiting:
            assert sent is not None
            os.kill(child, sent)
            waiting = False
        else:
            os.kill(child, signal.SIGKILL)
            hung = True
            break
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), text.decode("utf-8", "replace"), time.monotonic() - begin, hung)


def _in_child(
    function: Callable[[], int | None], writing: int, reading: int, before: Sequence[Callable[[], object]]
) -> None:
    """Never returns."""
    code = 70
    try:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        # what the program has put in their place, such as the capture of a test, is not what is read here
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for prepare in before:
            prepare()
        code = function() or 0
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:
        import traceback

        traceback.print_exception(error)
        code = 70
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
