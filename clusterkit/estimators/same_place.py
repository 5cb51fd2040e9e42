"""Surroundings of the fit of an estimator: the place of the results, threads, logs, and progress.

Fitted arrays and answers lie where the samples of the fit lie. The numbers of threads follow from how large the
matrices of a fit are, and from the numbers of workers that joblib takes. ``logging.getLogger("clusterkit")`` gets the
end of each fit at INFO and its iterations at DEBUG. Reports of a running fit go to a line on a terminal, and to
plugins that implement the hook.
"""

from __future__ import annotations

import importlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.contracts import FeatureMap
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.params import is_count
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidData
from clusterkit.numerics.threads import estimated_elements, limited_threads
from clusterkit.samples import FeatureSpace, devices
from clusterkit.samples.array_libraries import is_device_array
from clusterkit.samples.devices import Device
from clusterkit.samples.limits import Report, listening
from clusterkit.samples.rows import Rows

A = TypeVar("A", bound=AnyArray)

RENEWED = 0.2
"""Seconds between two lines of progress."""


def beside_labels(model: object, values: A) -> A:
    """Values of a fitted model where its labels lie: itself, or a copy on their device."""
    labels = cast("Any", model).labels_
    return Device.of(labels).put(values) if is_device_array(labels) else values


def check_same_place(model: object, X: object, method: str) -> None:
    """Refuse new samples of another place than those of the fit, if these lay on a device and the dispatch is on.

    A model that was fitted in memory, or comes from a file, takes samples of any library.

    Raises
    ------
    InvalidData
        If the place differs; the words are those of scikit-learn, whose checks look for them.
    """
    labels = cast("Any", model).labels_
    if not is_device_array(labels) or not devices.dispatches() or isinstance(X, Rows):
        return  # rows of files are sent to the device block by block
    there, here = Device.of(labels), Device.of(X) if is_device_array(X) else None
    if there != here:
        raise InvalidData(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace and the same device as "
            f"those passed to fit(): the fit was on {there}, and {_where(X, here)}. Move them there"
        )


def _where(X: object, device: Device | None) -> str:
    """The place of samples as a clause."""
    if device is not None:
        return f"these samples are on {device}"
    library, kind = type(X).__module__.partition(".")[0], type(X).__name__
    return f"these samples are a {kind} on the host" if library == "builtins" else f"these samples are of {library}"


def is_jobs(value: object) -> bool:
    """Whether joblib takes a value as a number of workers: None, or an integer other than 0 (-1 means all cores)."""
    return value is None or (is_count(value, -sys.maxsize) and value != 0)


def elements(n: int, featuremap: FeatureMap) -> int:
    """Elements of the matrix of a fit of n rows: n times at most 1000 features (their default), or n² kernel values."""
    return estimated_elements(n) if issubclass(featuremap.gives, FeatureSpace) else n * n


LOGGER = logging.getLogger("clusterkit")
"""The logger of the library; silent unless the application shows it, for example by ``logging.basicConfig``. It has no
handler: with one, `logging` would not write the warning of the compiler to standard error."""


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
    LOGGER.debug("%s: %s of %s, objective %s", report.stage, report.iteration, report.max_iter, report.objective)


@contextmanager
def hooks() -> Iterator[None]:
    """Send reports to the `clusterkit_iteration` hooks of loaded plugins."""
    listeners = registry.iteration_listeners()
    with ExitStack() as stack:
        if LOGGER.isEnabledFor(logging.DEBUG):
            stack.enter_context(listening(iteration))
        for listener in listeners:
            # the types of a lambda with a default are not inferred
            stack.enter_context(listening(lambda report, call=listener: call(report=report)))  # type: ignore[misc]
        yield


@contextmanager
def surroundings(verbose: bool, n: int = 0, featuremap: FeatureMap | None = None) -> Iterator[None]:
    """Context of a fit of n rows: its threads, its progress, and the hooks."""
    with limited_threads(0 if featuremap is None else elements(n, featuremap)), shown(verbose), hooks():
        yield


@contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Show the progress if `verbose`, as a line on standard error if that is a terminal, or below a notebook's cell.

    It is the last report, renewed at most five times a second, and ends empty.
    """
    write = _line() if verbose else None
    if write is None:
        yield
        return
    drawn = 0.0

    def show(report: Report) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn < RENEWED and report.iteration != report.max_iter:
            return
        drawn = now
        note = "" if report.objective is None else f", objective {report.objective:.6g}"
        total = "" if report.max_iter is None else f" of {report.max_iter}"
        write(f"{report.stage}: {report.iteration}{total}{note}")

    try:
        with listening(show):
            yield
    finally:
        write("")


def _line() -> Callable[[str], object] | None:
    """What shows a line in the place of the last one, on a terminal or in a notebook; None elsewhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        return lambda text: print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:  # a terminal has none
        return None
    display: Any = importlib.import_module("IPython.display").display
    handle = display({"text/plain": ""}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)
