"""What fits tell ``logging.getLogger("clusterkit")``: the end of each at INFO, its iterations at DEBUG."""

from __future__ import annotations

import logging

import numpy as np

from clusterkit.core.progress import Report
from clusterkit.core.run import FitResult

__all__ = ["LOGGER", "finished", "iteration"]

LOGGER = logging.getLogger("clusterkit")
"""The logger of the library; silent unless the application shows it, for example by ``logging.basicConfig``."""

LOGGER.addHandler(logging.NullHandler())


def finished(name: str, fit: FitResult) -> None:
    """Log the end of a fit."""
    if LOGGER.isEnabledFor(logging.INFO):
        if not isinstance(fit.labels, np.ndarray):  # lazy labels are not computed for a message
            LOGGER.info("%s: %d rows after %d iterations: %s", name, fit.labels.shape[0], fit.n_iter, fit.reason)
            return
        k, n = len({*fit.labels.tolist()} - {-1}), len(fit.labels)
        LOGGER.info("%s: %d clusters of %d rows after %d iterations: %s", name, k, n, fit.n_iter, fit.reason)


def iteration(report: Report) -> None:
    """Log a report of a running fit."""
    LOGGER.debug("%s: %s of %s, objective %s", report.stage, report.turn, report.max_turns, report.objective)
