"""How a conic solver is called through cvxpy: the choice, the tolerance, the status at the end, and Ctrl-C."""

from __future__ import annotations

import importlib
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np

from clusterkit.contracts.outcomes import Ending, Status
from clusterkit.errors import BrokenPlugin, ClusterkitWarning, InvalidData, SolverFailed
from clusterkit.samples import memory
from clusterkit.samples.limits import Report, notify

__all__ = ["SOLVERS", "ConicRun", "Solution", "candidates", "load", "require_size", "solve", "status_of"]

SOLVERS = ("auto", "SCS", "CLARABEL")
"""Values of the parameter `solver`."""

ENDINGS = {
    "optimal": Ending.SETTLED,
    "optimal_inaccurate": Ending.STALLED,
    "user_limit": Ending.OUT_OF_ITERATIONS,
}
"""Status of cvxpy for a run that has returned a point."""

SCS_INTERRUPTED = -5
"""Status code with which SCS ends at Ctrl-C."""

MAX_ITER = {"SCS": 100_000, "CLARABEL": 200}
"""Most iterations if `max_iter` is None: many times what either takes to the default tolerances."""


@attrs.frozen
class Cost:
    """What a program takes of 100 samples on one core, as measured, for the messages that refuse more samples.

    Parameters
    ----------
    seconds, n_bytes : float
        By SCS, and by the interior-point method of mmc_sdp.
    time_power, memory_power : int
        Powers of n with which these grow.
    clarabel_seconds, clarabel_bytes : float
        By Clarabel, from fewer samples: the time grows like n⁶, the memory like n⁴.
    """

    seconds: float
    time_power: int
    n_bytes: float
    memory_power: int
    clarabel_seconds: float
    clarabel_bytes: float


COSTS = {
    "mmc_sdp": Cost(0.15, 3, 8 * 2**20, 2, 2000.0, 4.5 * 2**30),
    "gmmc_sdp": Cost(32.0, 4, 50 * 2**20, 2, 110.0, 1.2 * 2**30),
    "mmc_multi_sdp": Cost(20.0, 3, 400 * 2**20, 3, 6000.0, 25 * 2**30),
}
"""Measured costs by the name of the solver stage."""


@attrs.frozen
class ConicRun:
    """The run of the conic solver that returned a point.

    Parameters
    ----------
    solver : {"SCS", "CLARABEL", "IPM"}
    status : str
        Status of cvxpy: "optimal", "optimal_inaccurate" or "user_limit".
    iterations : int
    seconds : float
        Time for setting up and solving.
    failures : str
        Solvers that failed before, each with its status; empty if the first one returned a point.
    """

    solver: str
    status: str
    iterations: int
    seconds: float
    failures: str = ""

    @property
    def ending(self) -> Ending:
        """How the run ended: settled if the tolerance was reached."""
        return ENDINGS[self.status]


def load(stage: str) -> Any:
    """The module cvxpy.

    Raises
    ------
    BrokenPlugin
        If it is not installed; the message names the stage.
    """
    try:
        return importlib.import_module("cvxpy")
    except ImportError as missing:
        raise BrokenPlugin(
            f"solver '{stage}' of clusterkit-sdp needs cvxpy, which cannot be imported ({missing}). "
            "It comes with the plugin: pip install ./plugins/clusterkit-sdp in the checkout of clusterkit"
        ) from missing


def require_size(stage: str, n: int, max_size: int, clarabel: bool, instead: str) -> None:
    """Refuse more samples than the solver's `max_size`, and Clarabel where its factor exceeds the memory cap.

    Parameters
    ----------
    stage : str
        A key of `COSTS`.
    n, max_size : int
    clarabel : bool
        Whether Clarabel was chosen by name: it factorises a matrix as large as the number of unknown entries.
    instead : str
        Advice for more samples, a sentence.
    """
    cost, growth = COSTS[stage], n / 100.0
    n_bytes = int(cost.clarabel_bytes * growth**4 if clarabel else cost.n_bytes * growth**cost.memory_power)
    if n > max_size:
        seconds = cost.clarabel_seconds * growth**6 if clarabel else cost.seconds * growth**cost.time_power
        raise InvalidData(
            f"solver '{stage}' takes at most max_size = {max_size} samples, got {n}: the unknown is an {n} x {n} "
            f"matrix, here about {seconds:,.0f} s and {memory.human(n_bytes)}. {instead} Or raise max_size."
        )
    if clarabel:
        memory.require(n_bytes, f"solver '{stage}' by CLARABEL on {n} samples", "Use solver='SCS'.")


def candidates(chosen: str, order: tuple[str, ...], both: bool) -> tuple[str, ...]:
    """Conic solvers in the order they are tried: the chosen one; for "auto" both in this order, or SCS alone."""
    if chosen != "auto":
        return (chosen,)
    return order if both else ("SCS",)


def solve(problem: Any, stage: str, candidates: tuple[str, ...], tol: float, max_iter: int | None) -> ConicRun:
    """Solve a cvxpy problem with the first candidate that returns a point; its values are stored in the problem.

    Parameters
    ----------
    problem : cvxpy.Problem
        With a linear objective.
    stage : str
        Name of the solver stage, for messages and progress.
    candidates : tuple of {"SCS", "CLARABEL"}
        In the order in which they are tried.
    tol : float
        Absolute and relative tolerance.
    max_iter : int or None
        Most iterations; None means 100,000 of SCS, 200 of Clarabel.

    Raises
    ------
    SolverFailed
        If no candidate returns a point.
    KeyboardInterrupt
        At Ctrl-C: SCS ends after the current iteration, and so does Clarabel, by a callback.
    """
    begin = time.perf_counter()
    failures: list[str] = []
    for name in candidates:
        notify(Report(stage, 0, None))
        status, iterations = _run(problem, stage, name, tol, max_iter or MAX_ITER[name])
        if status in ENDINGS and problem.value is not None:
            return ConicRun(name, status, iterations, time.perf_counter() - begin, "; ".join(failures))
        failures.append(f"{name} ended with status '{status}' after {iterations} iterations")
    raise SolverFailed(
        f"solver '{stage}' found no solution: {'; '.join(failures)}. Try another solver or tol; where the kernel is "
        "nearly singular, a narrower one"
    )


def _run(problem: Any, stage: str, name: str, tol: float, max_iter: int) -> tuple[str, int]:
    """Status and iterations of one conic solver."""
    import cvxpy

    options = (
        {"eps_abs": tol, "eps_rel": tol, "max_iters": max_iter}
        if name == "SCS"
        else {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "max_iter": max_iter}
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status says the same
            data, chain, inverse = problem.get_problem_data(name, solver_opts=options)
            with _stoppable() as pressed:
                raw = (
                    _clarabel(data, options, stage, pressed)
                    if name == "CLARABEL"
                    else _scs(chain, data, options, pressed)
                )
            problem.unpack_results(raw, chain, inverse)
    except cvxpy.error.SolverError:
        return "solver_error", 0
    except BaseException as error:
        # Clarabel panics where an eigenvalue does not converge; what its panics become is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return "solver_error", 0
    return str(problem.status), int(problem.solver_stats.num_iters or 0)


def _scs(chain: Any, data: Any, options: dict[str, Any], pressed: list[bool]) -> Any:
    raw = chain.solver.solve_via_data(data, False, False, options)
    if raw["info"]["status_val"] == SCS_INTERRUPTED:  # SCS handles Ctrl-C itself
        pressed.append(True)
    return raw


def _clarabel(data: Any, options: dict[str, Any], stage: str, pressed: list[bool]) -> Any:
    """Clarabel run directly, because cvxpy has no way to stop it."""
    import clarabel
    from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import dims_to_solver_cones
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for option, value in options.items():
        setattr(settings, option, value)
    A, q = data["A"], data["c"]
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((q.size, q.size)), q, A, data["b"], dims_to_solver_cones(data["dims"]), settings
    )

    def stop(info: Any) -> bool:
        notify(Report(stage, int(info.iterations), None))
        return bool(pressed)

    solver.set_termination_callback(stop)
    return solver.solve()


@contextmanager
def _stoppable() -> Iterator[list[bool]]:
    """A list that Ctrl-C fills; on leaving, the handler from before runs, which raises KeyboardInterrupt."""
    pressed: list[bool] = []
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread only
        yield pressed
        return
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)
        if pressed:
            if callable(before):
                before(signal.SIGINT, None)
            raise KeyboardInterrupt


@attrs.frozen(eq=False)
class Solution:
    """The point returned by a conic solver, with a certified lower bound.

    Parameters
    ----------
    M : ndarray of shape (n, n)
        Symmetric; stands for y y' of labels ±1, DD' of the indicators of clusters, or f f' of margins.
    value : float
        Objective at M.
    lower : float
        No feasible M, and no labelling of allowed sizes, has a smaller objective. It is computed from the dual point,
        which is made feasible first, so it holds up to rounding whatever the accuracy of the solver.
    smallest_eigenvalue : float
        Smallest eigenvalue of the matrix inequalities; negative where the point is infeasible.
    measures : mapping of str to float
        "residual", the largest violation of the other constraints, or "solver_value", the objective that the conic
        solver reports, where M was made feasible.
    """

    M: np.ndarray
    value: float
    lower: float
    smallest_eigenvalue: float
    measures: Mapping[str, float]


def status_of(stage: str, tol: float, run: ConicRun, solution: Solution, rounded: float, tightness: float) -> Status:
    """How a run ended, with its facts; warns of a point that does not reach the tolerance.

    Parameters
    ----------
    stage : str
        Name of the solver stage.
    tol : float
    run : ConicRun
    solution : Solution
    rounded : float
        Objective of the labelling that M was rounded to.
    tightness : float
        Share of the largest eigenvalues of M in its trace.
    """
    gap = solution.value - solution.lower
    if not run.ending.converged:
        warnings.warn(
            f"solver '{stage}': {run.solver} ended with status '{run.status}' after {run.iterations} iterations, "
            f"short of tol = {tol:g}: value {solution.value:.6g}, certified lower bound {solution.lower:.6g} (gap "
            f"{gap:.2g}); raise max_iter or tol, or try the other solver",
            ClusterkitWarning,
            stacklevel=3,
        )
    facts = {
        "value": solution.value,
        "bound": solution.lower,
        "gap": gap,
        "rounded": rounded,
        "tightness": tightness,
        "smallest_eigenvalue": solution.smallest_eigenvalue,
        **solution.measures,
        "solver": run.solver,
        "solver_status": run.status,
        "seconds": run.seconds,
        **({"failures": run.failures} if run.failures else {}),
    }
    reason = f"{run.solver}: {run.status}, gap {gap:.2g}, tightness {tightness:.3f}"
    return Status(run.iterations, run.ending, reason, (solution.value,), facts)
