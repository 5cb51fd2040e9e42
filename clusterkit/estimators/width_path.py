"""Support vector clustering at every width of the Gaussian kernel, as a function on data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from clusterkit._typing import Array, ArrayLike, RandomState
from clusterkit.contracts.arguments import LabelerLike
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.params import check_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.width_path import WidthPath, checked_widths, path_over_widths, require_domain
from clusterkit.estimators import same_place
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.estimators.samples import only_numbers, refuse_device, refuse_unsuited

__all__ = ["width_path"]


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
    """Cluster the same data at many widths of the Gaussian kernel; every solution starts from the one before.

    The work is in drivers/width_path.py.

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
    >>> from clusterkit import width_path
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
    widths = None if gammas is None else checked_widths(gammas)
    check_count("width_path: n_gammas", n_gammas)
    with same_place.shown(verbose), same_place.hooks():
        return path_over_widths(composition, rows, widths, n_gammas, seeds)


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
    require_domain(composition)
    return composition
