"""What support vector clustering finds at every width of the Gaussian kernel, from one cluster to all apart."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np
from sklearn.utils.validation import check_array

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.compat import Composition
from clusterkit.core.errors import IncompatibleStages, InvalidParameter
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, Outcome
from clusterkit.core.progress import Report, tell
from clusterkit.core.run import bind
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.stages import Task
from clusterkit.core.transform import block_plan
from clusterkit.estimators import bars
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.numerics.bandwidths import bandwidth_range
from clusterkit.numerics.distances import squared_distances

__all__ = ["WidthPath", "width_grid", "width_path"]

GRID_ROWS = 2000
"""Rows whose distances to all others give the default widths."""

COLUMNS = ("gamma", "n_clusters", "n_sv", "n_bsv", "n_noise", "seconds")


@final
@attrs.frozen(eq=False)
class WidthPath:
    """One row for each width, by increasing gamma.

    Parameters
    ----------
    gamma : ndarray of shape (steps,)
    n_clusters : ndarray of shape (steps,)
    n_sv : ndarray of shape (steps,)
        Samples with a weight; -1 where the solver does not tell.
    n_bsv : ndarray of shape (steps,)
        Samples at their bound; -1 where the solver does not tell.
    n_noise : ndarray of shape (steps,)
        Samples without a cluster.
    seconds : ndarray of shape (steps,)
        For solving and labelling.
    labels : ndarray of shape (steps, n)
    interrupted : bool
        Whether Ctrl-C ended it; the steps done are kept.
    """

    gamma: Array
    n_clusters: Array
    n_sv: Array
    n_bsv: Array
    n_noise: Array
    seconds: Array
    labels: Labels
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.gamma)

    def rows(self) -> Iterator[dict[str, float]]:
        """The table as dicts, without the labels."""
        for values in zip(*(getattr(self, name) for name in COLUMNS), strict=True):
            yield {name: value.item() for name, value in zip(COLUMNS, values, strict=True)}

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, without the labels.

        Raises
        ------
        ImportError
            If pandas is not installed; `rows` needs nothing.
        """
        import pandas

        return pandas.DataFrame({name: getattr(self, name) for name in COLUMNS})


def width_path(
    X: Any,
    pipeline: Pipeline | None = None,
    *,
    gammas: Sequence[float] | None = None,
    n_gammas: int = 25,
    C: float | None = None,
    nu: float | None = None,
    labeler: Any = None,
    random_state: Any = None,
    verbose: bool = False,
) -> WidthPath:
    """Cluster the same data at many widths; every solution starts from the one before.

    Parameters
    ----------
    X : array of shape (n, d)
    pipeline : Pipeline, optional
        Its feature map has to end in a Gaussian kernel, whose gamma is replaced, and its solver to give a domain
        without labels. Default: ``Pipeline("rbf", "svdd", "complete_graph")``. Not fitted, not changed.
    gammas : sequence of float, optional
        Positive, in any order; equal ones count once. Default: `width_grid` of the mapped data.
    n_gammas : int, default 25
        Length of the default grid.
    C, nu : float, optional
        Of the solver, in place of what `pipeline` says.
    labeler : str, dict or Labeler, optional
        In place of the one of `pipeline`.
    random_state : int, Generator, RandomState or None, default None
        For the sample behind the default grid and for stages that draw; the default stages draw nothing else.
    verbose : bool, default False
        A progress bar, if standard error is a terminal.

    Returns
    -------
    WidthPath

    Raises
    ------
    InvalidParameter
        For widths that are not positive, or stages of other kinds.

    Notes
    -----
    A step costs what the solver and labeler cost at that width. Nothing of size n x n is kept.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 4: increasing the width
    parameter from a single cluster on.

    Examples
    --------
    >>> from clusterkit import width_path
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> path = width_path(X, gammas=[1.0, 20.0])
    >>> path.n_clusters.tolist()
    [1, 2]
    """
    X = check_array(X, dtype=[np.float64, np.float32], order="C")
    composition = _composition(pipeline, C, nu, labeler)
    seeds = Seeds.of(random_state)
    widths = None if gammas is None else _checked(gammas)
    _check_count(n_gammas)
    with bars.shown(verbose), bars.hooks():
        space = _space(composition, X, seeds)
        if widths is None:
            widths = np.unique(width_grid(space.points, n_gammas, seeds.stream("widths")))
        return _walk(composition, space, widths, seeds)


def width_grid(points: Array, n_gammas: int = 25, rng: Rng | None = None) -> Array:
    """Geometric widths from one cluster to all points apart, (n_gammas,).

    Parameters
    ----------
    points : ndarray of shape (n, d)
    n_gammas : int
    rng : Generator, optional
        Draws 2,000 rows where there are more; the widths then come from the distances of these to all points.

    Returns
    -------
    ndarray of shape (n_gammas,)
        From ``1 / max |x_i - x_j|²`` to ``4 ln 2 / q``, where q is the first decile of the squared distances to
        the nearest other point: two equal kernels at that distance no longer meet at half their height. A hundred
        times the first where that is not larger. All ones if all points are equal.

    Notes
    -----
    O(min(n, 2000) n d) time, memory of a block.
    """
    points = np.unique(np.ascontiguousarray(points, dtype=np.float64), axis=0)
    rows = np.arange(len(points))
    if len(points) > GRID_ROWS:
        rows = np.sort((rng or np.random.default_rng(0)).choice(len(points), GRID_ROWS, replace=False))
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
    widths: Array = np.geomspace(low, high if high > low else 100.0 * low, n_gammas)
    return widths


def _checked(gammas: Sequence[float]) -> Array:
    try:
        widths = np.unique(np.asarray(gammas, dtype=np.float64))
    except (TypeError, ValueError):
        widths = np.empty(0)
    if not len(widths) or not np.all(np.isfinite(widths) & (widths > 0)):
        raise InvalidParameter(f"width_path: gammas must be finite numbers > 0, at least one, got {gammas!r}")
    return widths


def _check_count(n_gammas: Any) -> None:
    if not isinstance(n_gammas, (int, np.integer)) or isinstance(n_gammas, bool) or n_gammas < 1:
        raise InvalidParameter(f"width_path: n_gammas must be an integer >= 1, got {n_gammas!r}")


def _composition(pipeline: Pipeline | None, C: float | None, nu: float | None, labeler: Any) -> Composition:
    base = Pipeline("rbf", "svdd", "complete_graph") if pipeline is None else pipeline
    changes: dict[str, Any] = {
        key: value for key, value in (("solver__C", C), ("solver__nu", nu), ("labeler", labeler)) if value is not None
    }
    if "solver__C" in changes and "solver__nu" not in changes and "solver__nu" in base.get_params():
        changes["solver__nu"] = None  # it would win over the C asked for here
    composition = Pipeline(**base.get_params(deep=False)).set_params(**changes).composition()
    if composition.solver.targets != "never" or not issubclass(composition.labeler.consumes, Domain):
        raise IncompatibleStages(
            f"width_path needs a solver that gives a domain and a labeler of domains, got solver "
            f"'{composition.solver.name}' and labeler '{composition.labeler.name}'. Use solver 'svdd' and labeler "
            f"'complete_graph'."
        )
    return composition


def _space(composition: Composition, X: Array, seeds: Seeds) -> KernelSpace:
    if not issubclass(composition.featuremap.gives, KernelSpace):
        name = composition.featuremap.name
        raise IncompatibleStages(f"width_path needs a Gaussian kernel, got featuremap '{name}'. Use 'rbf'.")
    # a bound composition has passed all checks on the data that a fit makes
    space = bind(composition, X, seeds).space
    if not isinstance(space, KernelSpace) or not isinstance(space.kernel, Gaussian):
        name = composition.featuremap.name
        raise IncompatibleStages(f"width_path needs a Gaussian kernel, got featuremap '{name}'. Use 'rbf'.")
    return space


def _walk(composition: Composition, space: KernelSpace, widths: Array, seeds: Seeds) -> WidthPath:
    task, previous, steps, labels = Task(space.n, composition.n_clusters), None, [], []
    interrupted = False
    try:
        for step, gamma in enumerate(widths):
            begin = time.perf_counter()
            outcome, found = _step(composition, space.rescaled(float(gamma)), task, previous, seeds)
            interrupted = outcome.status is not None and outcome.status.interrupted
            if interrupted:
                break
            facts = {} if outcome.status is None else outcome.status.facts
            steps.append((
                gamma,
                int(found.max(initial=-1)) + 1,
                facts.get("n_sv", -1),
                facts.get("n_bsv", -1),
                np.count_nonzero(found < 0),
                time.perf_counter() - begin,
            ))  # fmt: skip
            labels.append(found)
            previous = outcome
            tell(Report("width_path", step + 1, len(widths)))
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
        np.array(labels, dtype=np.intp).reshape(-1, space.n),
        interrupted,
    )


def _step(
    composition: Composition, space: KernelSpace, task: Task, previous: Outcome | None, seeds: Seeds
) -> tuple[Outcome, Labels]:
    prepared = composition.solver.prepare(space, task, seeds.stream("solver", "prepare"))
    outcome = prepared.solve(None, previous, seeds.stream("solver"))
    return outcome, composition.labeler.label(outcome, space, task, seeds.stream("labeler")).labels
