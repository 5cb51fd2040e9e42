"""Whether Ctrl-C was pressed during a fit; the fit itself keeps its best labels and returns."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

__all__ = ["InterruptFlag", "watching"]


@attrs.define
class InterruptFlag:
    """A flag that is set when Ctrl-C is pressed."""

    pressed: bool = False


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
