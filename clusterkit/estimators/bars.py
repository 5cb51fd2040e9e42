"""A progress bar on a terminal, and the reports of a fit for plugins that implement the hook."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from clusterkit.core.progress import Report, listening
from clusterkit.core.registry import registry
from clusterkit.estimators import logs

__all__ = ["hooks", "shown"]


@contextmanager
def hooks() -> Iterator[None]:
    """Send reports to the `clusterkit_iteration` hooks of loaded plugins."""
    listeners = registry.iteration_listeners()
    with ExitStack() as stack:
        if logs.LOGGER.isEnabledFor(logging.DEBUG):
            stack.enter_context(listening(logs.iteration))
        for listener in listeners:
            stack.enter_context(listening(lambda report, call=listener: call(report=report)))  # type: ignore[misc]
        yield


@contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Show a progress bar on standard error, if `verbose` and if standard error is a terminal."""
    if not (verbose and sys.stderr is not None and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, int] = {}

        def show(report: Report) -> None:
            if report.stage not in tasks:
                tasks[report.stage] = progress.add_task(report.stage, total=report.max_turns, note="")
            note = "" if report.objective is None else f"objective {report.objective:.6g}"
            progress.update(
                tasks[report.stage],  # type: ignore[arg-type]
                completed=report.turn,
                total=report.max_turns,
                note=note,
            )

        with listening(show):
            yield
