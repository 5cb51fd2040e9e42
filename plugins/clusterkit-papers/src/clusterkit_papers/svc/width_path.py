"""Support vector clustering at every width of the Gaussian kernel, from one cluster to all samples apart."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from sklearn.utils.validation import check_array

from clusterkit import Pipeline
from clusterkit._typing import Array, ArrayLike, Floats, Indices, Labels, RandomState, Rng
from clusterkit.contracts import Task
from clusterkit.contracts.arguments import LabelerLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import Domain, Outcome
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidParameter
from clusterkit.estimators import same_place
from clusterkit.estimators.samples import only_numbers, refuse_device, refuse_unsuited
from clusterkit.fitting.fit import bind
from clusterkit.numerics.distances import bandwidth_range, squared_distances
from clusterkit.numerics.selection import sample_rows
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.transform import block_plan

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["COLUMNS", "GRID_ROWS", "WidthPath", "width_grid", "width_path"]

GRID_ROWS = 2000
"""Largest number of rows whose distances to all rows give the default widths: enough for a quantile, at a cost linear
in n."""

COLUMNS = ("gamma", "n_clusters", "n_sv", "n_bsv", "n_noise", "seconds")
"""Attributes of a `WidthPath` that have one number for each width, in the order of its table."""


@final
@attrs.frozen(eq=False)
class WidthPath:
    """The clusters at each width, by increasing gamma.

    Parameters
    ----------
    gamma : ndarray of shape (steps,)
    n_clusters : ndarray of shape (steps,)
    n_sv : ndarray of shape (steps,)
        Number of support vectors; -1 where the solver does not report it.
    n_bsv : ndarray of shape (steps,)
        Number of support vectors at their upper bound; -1 where the solver does not report it.
    n_noise : ndarray of shape (steps,)
        Number of samples without a cluster.
    seconds : ndarray of shape (steps,)
        Time for solving and labelling.
    labels : ndarray of shape (steps, n)
    interrupted : bool
        Whether Ctrl-C ended the path early; the finished steps are kept.
    """

    gamma: Floats
    n_clusters: Indices
    n_sv: Indices
    n_bsv: Indices
    n_noise: Indices
    seconds: Floats
    labels: Labels
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.gamma)

    def rows(self) -> Iterator[dict[str, float]]:
        """The table as dicts, without the labels."""
        for values in zip(*(getattr(self, name) for name in COLUMNS), strict=True):
            yield {name: value.item() for name, value in zip(COLUMNS, values, strict=True)}

    def to_frame(self) -> DataFrame:
        """The table as a pandas DataFrame, without the labels.

        Raises
        ------
        ImportError
            If pandas is not installed; `rows` needs nothing.
        """
        import pandas

        return pandas.DataFrame({name: getattr(self, name) for name in COLUMNS})


def width_path(
    X: ArrayLike,
    pipeline: Pipeline | None = None,
    *,
    gammas: Sequence[float] | None = None,
    n_gammas: int = 25,
    C: float | None = None,
    nu: float | None = None,
    labeler: LabelerLike | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
) -> WidthPath:
    """Cluster the same data at many widths of the Gaussian kernel.

    Parameters
    ----------
    X : array of shape (n, d)
    pipeline : Pipeline, optional
        Its feature map has to end in a Gaussian kernel, whose gamma is replaced, and its solver has to give a domain
        without learning from labels. Default: ``Pipeline("rbf", "svdd", "complete_graph")``. Not fitted, not changed.
    gammas : sequence of float, optional
        Positive, in any order; equal values count once. Default: `width_grid` of the mapped data.
    n_gammas : int, default 25
        Length of the default grid.
    C, nu : float, optional
        Parameters of the solver, in place of the values in `pipeline`.
    labeler : str, dict or Labeler, optional
        Replaces the labeler of `pipeline`.
    random_state : int, Generator, RandomState or None, default None
        Seed of the sample behind the default grid and of stages that use random numbers; the default stages use none.
    verbose : bool, default False
        Whether to show a progress bar, if standard error is a terminal.

    Returns
    -------
    WidthPath

    Raises
    ------
    InvalidParameter
        For widths that are not positive, or stages of other kinds.

    Notes
    -----
    A step costs one solve and one labelling at that width. Nothing of size n x n is kept.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 4: increasing the width
    parameter from a single cluster on.

    Examples
    --------
    >>> from clusterkit_papers.svc.width_path import width_path
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> path = width_path(X, gammas=[1.0, 20.0])
    >>> path.n_clusters.tolist()
    [1, 2]
    """
    refuse_device("width_path")
    refuse_unsuited(X)
    with only_numbers(X) as plain:
        rows: Array = check_array(plain, dtype=[np.float64, np.float32], order="C")
    composition = _composition(pipeline, C, nu, labeler)
    seeds = Seeds.of(random_state)
    widths = None if gammas is None else _checked_widths(gammas)
    check_count("width_path: n_gammas", n_gammas)
    with same_place.shown(verbose), same_place.hooks():
        return _path(composition, rows, widths, n_gammas, seeds)


def _composition(
    pipeline: Pipeline | None, C: float | None, nu: float | None, labeler: LabelerLike | None
) -> Composition:
    base = Pipeline("rbf", "svdd", "complete_graph") if pipeline is None else pipeline
    changes: dict[str, Any] = {
        key: value for key, value in (("solver__C", C), ("solver__nu", nu), ("labeler", labeler)) if value is not None
    }
    if "solver__C" in changes and "solver__nu" not in changes and "solver__nu" in base.get_params():
        changes["solver__nu"] = None  # a value of nu would take precedence over C
    parameters: dict[str, Any] = base.get_params(deep=False)
    composition = Pipeline(**parameters).set_params(**changes).composition()
    _require_domain(composition)
    return composition


def _path(composition: Composition, X: Array, widths: Array | None, n_gammas: int, seeds: Seeds) -> WidthPath:
    """The clusters of X, shape (n, d), at every width.

    Parameters
    ----------
    composition : Composition
        Composition that `_require_domain` accepts. The gamma of its kernel is replaced.
    X : ndarray of shape (n, d)
    widths : ndarray or None
        Increasing; None takes `width_grid` of the mapped data.
    n_gammas : int
        Length of the default grid.
    seeds : Seeds

    Raises
    ------
    IncompatibleStages
        If the feature map does not end in a Gaussian kernel.
    """
    space = _gaussian_space(composition, X, seeds)
    if widths is None:
        widths = np.unique(width_grid(space.points, n_gammas, seeds.stream("widths")))
    return _walk(composition, space, widths, seeds)


def _require_domain(composition: Composition) -> None:
    """Refuse a solver that learns from labels, and a labeler that reads no domain.

    Raises
    ------
    IncompatibleStages
    """
    if composition.solver.targets != "never" or not issubclass(composition.labeler.consumes, Domain):
        raise IncompatibleStages(
            f"width_path needs a solver that gives a domain and a labeler of domains, got solver "
            f"'{composition.solver.name}' and labeler '{composition.labeler.name}'. Use solver 'svdd' and labeler "
            f"'complete_graph'."
        )


def width_grid(points: Array, n_gammas: int = 25, rng: Rng | None = None) -> Array:
    """Geometric widths from one cluster to all points apart, (n_gammas,).

    Parameters
    ----------
    points : ndarray of shape (n, d)
    n_gammas : int
    rng : Generator, optional
        Draws 2,000 rows where there are more; the widths then come from the distances of these rows to all points.

    Returns
    -------
    ndarray of shape (n_gammas,)
        Widths from ``1 / max |x_i - x_j|²`` to ``4 ln 2 / q``, where q is the first decile of the squared distances to
        the nearest other point: two equal kernels at that distance no longer meet at half their height. The last is a
        hundred times the first where that formula gives less.

    Notes
    -----
    O(min(n, 2000) n d) time, and the memory of one block of distances.
    """
    points = np.unique(np.ascontiguousarray(points, dtype=np.float64), axis=0)
    rows = sample_rows(len(points), GRID_ROWS, rng or np.random.default_rng(0))
    largest, nearest = 0.0, np.empty(len(rows))
    for part in block_plan(len(rows), len(points), np.float64):
        D = squared_distances(points[rows[part]], points)
        largest = max(largest, float(D.max()))
        D[np.arange(len(D)), rows[part]] = np.inf
        nearest[part] = D.min(axis=1)
    nearest = nearest[(nearest > 0.0) & np.isfinite(nearest)]
    if largest == 0.0 or not len(nearest):
        return np.ones(n_gammas)
    low, high = bandwidth_range(largest, nearest)
    if math.isinf(high):
        return np.ones(n_gammas)
    widths: Array = np.geomspace(low, high if high > low else 100.0 * low, n_gammas)
    return widths


def _checked_widths(gammas: Sequence[float]) -> Array:
    """The widths in increasing order, each once.

    Raises
    ------
    InvalidParameter
        If there is none, or one is not a finite number > 0.
    """
    try:
        widths = np.unique(np.asarray(gammas, dtype=np.float64))
    except (TypeError, ValueError):
        widths = np.empty(0)
    if not len(widths) or not np.all(np.isfinite(widths) & (widths > 0)):
        raise InvalidParameter(f"width_path: gammas must be finite numbers > 0, at least one, got {gammas!r}")
    return widths


def _gaussian_space(composition: Composition, X: Array, seeds: Seeds) -> KernelSpace:
    if not issubclass(composition.featuremap.gives, KernelSpace):
        name = composition.featuremap.name
        raise IncompatibleStages(f"width_path needs a Gaussian kernel, got featuremap '{name}'. Use 'rbf'.")
    # binding makes all checks of the data that a fit makes
    space = bind(composition, X, seeds).space
    if not isinstance(space, KernelSpace) or not isinstance(space.kernel, Gaussian):
        name = composition.featuremap.name
        raise IncompatibleStages(f"width_path needs a Gaussian kernel, got featuremap '{name}'. Use 'rbf'.")
    return space


def _walk(composition: Composition, space: KernelSpace, widths: Array, seeds: Seeds) -> WidthPath:
    task, steps, labelings = Task(space.n, composition.n_clusters), [], []
    interrupted = False
    try:
        for step, gamma in enumerate(widths):
            begin = time.perf_counter()
            outcome, labels = _step(composition, space.rescaled(float(gamma)), task, seeds)
            interrupted = outcome.status is not None and outcome.status.interrupted
            if interrupted:
                break
            counts = outcome.support_counts if isinstance(outcome, Domain) else None
            steps.append((
                gamma,
                int(labels.max(initial=-1)) + 1,
                -1 if counts is None else counts.n_support,
                -1 if counts is None or counts.n_bounded is None else counts.n_bounded,
                np.count_nonzero(labels < 0),
                time.perf_counter() - begin,
            ))  # fmt: skip
            labelings.append(labels)
            notify(Report("width_path", step + 1, len(widths)))
    except KeyboardInterrupt:
        interrupted = True
    table = list(zip(*steps, strict=True)) or [()] * len(COLUMNS)
    gamma, n_clusters, n_sv, n_bsv, n_noise, seconds = (np.array(column) for column in table)
    return WidthPath(
        gamma.astype(np.float64),
        n_clusters.astype(np.intp),
        n_sv.astype(np.intp),
        n_bsv.astype(np.intp),
        n_noise.astype(np.intp),
        seconds.astype(np.float64),
        np.array(labelings, dtype=np.intp).reshape(-1, space.n),
        interrupted,
    )


def _step(composition: Composition, space: KernelSpace, task: Task, seeds: Seeds) -> tuple[Outcome, Labels]:
    prepared = composition.solver.prepare(space, task, seeds.stream("solver", "prepare"))
    outcome = prepared.solve(None, None, seeds.stream("solver"))
    return outcome, composition.labeler.label(outcome, space, task, seeds.stream("labeler")).labels
