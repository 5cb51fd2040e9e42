"""Knowing after a fit whether Ctrl-C ended it: the fit itself keeps its best labels and returns."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

__all__ = ["Pressed", "watching"]


@attrs.define
class Pressed:
    """Whether Ctrl-C was pressed."""

    yes: bool = False


@contextmanager
def watching() -> Iterator[Pressed]:
    """Note an interrupt and raise it as usual."""
    pressed = Pressed()
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread only
        yield pressed
        return

    def note(*_: Any) -> None:
        pressed.yes = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
