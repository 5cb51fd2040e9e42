"""Notes of the library about what takes long, as one line on a terminal; nothing in a pipe."""

from __future__ import annotations

import logging
import sys

__all__ = ["on_terminals"]


class _Line(logging.Handler):
    """Writes the message of a record to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, above a progress bar if there is one."""
        from clusterkit.cli import console

        console.text(record.getMessage(), err=True, dim=True)


def on_terminals() -> None:
    """Show from now on when something is compiled, if standard error is a terminal."""
    log = logging.getLogger("clusterkit.compilation")
    if sys.stderr is None or not sys.stderr.isatty() or log.handlers:
        return
    log.addHandler(_Line())
    log.setLevel(logging.INFO)
    log.propagate = False
