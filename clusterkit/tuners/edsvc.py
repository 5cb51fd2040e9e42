"""The tuner ``edsvc``: bandwidth and bound by agreement with an ensemble of k-means partitions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, cast, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.stages import FeatureMap, Stage, Tuned, Tuner
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.tuners._open_parameters import is_open, search_space

__all__ = ["EdSvc"]


@final
@attrs.frozen
class EdSvc(Tuner):
    """Keeps the partition that agrees best with an ensemble of k-means partitions: ensemble-driven clustering.

    For support vector clustering. The tuner decides `gamma` of the kernel and `C` of the solver, each only if it was
    left open. With the defaults it is the published search: 100 bandwidths at C = 1, then 100 bounds from 1 down to
    ``1 / (0.9 n)`` at the best bandwidth. Normalised mutual information also rewards shattered partitions; the grid
    search (``search="plane"``) with its limit of √n clusters, and the adjusted measure, do not.

    The search is in ``_edsvc_search.py`` (`EdSvcSearch.run`), the score in ``_ensemble_agreement.py``
    (`Agreement.score`).

    Parameters
    ----------
    n_members : int or None, default None
        Partitions in the ensemble (the paper's M): k-means from one random start, in the coordinates before the kernel.
        None: 10, or with "plane" the least multiple of the possible numbers of clusters from 60 on.
    member_clusters : {"cbrt", "sqrt"}, default "cbrt"
        The numbers of clusters of the members range from 2 to the cube root or the square root of n. They are drawn at
        random, or with "plane" every number occurs equally often.
    search : {"coordinate", "plane"}, default "coordinate"
        "coordinate": bandwidths first, then bounds. "plane": a grid of all pairs of 24 bandwidths and 12 bounds, then
        8 more bandwidths beside the best one.
    score : {"nmi", "ami"}, default "nmi"
        Mean normalised mutual information with the members, or the same adjusted for chance; both with the geometric
        mean of the entropies.
    clusters : {"auto", "any", "sqrt"}, default "auto"
        Numbers of clusters that may win: any, or 2 to √n. "auto": any with "coordinate", √n with "plane".
    n_gamma : int or None, default None
        Number of bandwidths; None: 100, or 24 with "plane".
    n_bounds : int or None, default None
        Number of bounds of the coordinate search; None: 100. With "plane" the bounds are fixed.
    max_outlier_fraction : float, default 0.9
        The smallest bound is ``1 / (max_outlier_fraction n)``: at most this fraction of the rows lies outside the
        contour. Above 0.9 the grid also tries 0.95, 0.97, 0.98 and 0.99: with many attributes only such small cores
        may be separated.
    warm_start : bool, default True
        Start smaller bounds from the solution at bound 1, and skip bounds above its largest weight. The minimum is the
        same up to `tol` of the solver.
    n_jobs : int or None, default None
        Number of threads; None: all cores. The result does not depend on it.
    max_rows : int, default 2000
        Larger data are searched on a random sample of this many rows.

    Raises
    ------
    InvalidParameter
        If neither `gamma` nor `C` is open.
    NeedsMemory
        If the distances of the rows do not fit under the memory cap.

    Notes
    -----
    Bandwidths are geometric from 1 / (largest squared distance) to ``4 ln 2`` / (lower decile of the squared distances
    to the nearest neighbour), beyond which most samples are alone. The bandwidths of the grid go from 1/8 of the last
    bandwidth with one cluster at C = 1 to the first with more than 0.6 n clusters, both found on a scan of 16; its
    outlier fractions p, with ``C = 1 / (p n)``, are 0, .02, .05, .1, .2, ..., .9. Then four bandwidths follow in each
    gap beside the best one, with all fractions: with many outliers one step of the grid may lead from a handful of
    clusters past √n. Ties within 1e-12 go to the smallest `gamma`, then the largest `C`. If no candidate qualifies, the
    widest kernel without outliers is used, and a warning says so.

    The score estimates the expected agreement with a member of a random number of clusters. Numbers that are spread
    evenly estimate the same with less scatter, because the agreement differs more between numbers than between members
    of one number.

    Where `gamma` is open, rows at few points are not searched: each point is a cluster, as in `svc_auto`.

    Rows outside the contour are scored as the labeler labels them; its option "nearest" makes partitions comparable
    with the members. ``resolved_["tuner"]`` has the score, the number of clusters, the score of the partition in which
    every row is alone, and all candidates (`EdSvcCurves`), which `clusterkit.plots.edsvc_curves` draws.

    A candidate is independent of all others, so neither order nor threads matter. Distances are computed once for
    all candidates; equal partitions are scored once. O(n²) memory; about n² s operations a candidate for s support
    vectors.

    The ranges of the numbers of clusters and of the bandwidths are ours: the publication prints only how many there
    are.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles, JMLR 3, eq. (5): the mean normalised mutual information.
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2: the first bandwidth.
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11: the adjusted measure.
    """

    name: ClassVar[str] = "edsvc"
    trial: ClassVar[Mapping[str, object]] = {"n_members": 3, "n_gamma": 5, "n_bounds": 4}

    n_members: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    member_clusters: str = params.choice("cbrt", ("cbrt", "sqrt"))
    search: str = params.choice("coordinate", ("coordinate", "plane"))
    score: str = params.choice("nmi", ("nmi", "ami"))
    clusters: str = params.choice("auto", ("auto", "any", "sqrt"))
    n_gamma: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    n_bounds: int | None = params.integer(None, at_least=1, at_most=params.MOST_REPEATS, optional=True)
    max_outlier_fraction: float = params.real(0.9, above=0.0, at_most=1.0)
    warm_start: bool = params.flag(True)
    n_jobs: int | None = params.integer(None, at_least=1, optional=True)
    max_rows: int = params.integer(2000, at_least=2)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with the bandwidth and the bound filled in where they were open."""
        from clusterkit.tuners._edsvc_search import EdSvcSearch

        begin = time.monotonic()
        open_gamma = is_open(stages["featuremap"], "gamma", "sigma", "sigma_fraction")
        open_C = is_open(stages["solver"], "C", "nu")
        if not (open_gamma or open_C):
            raise InvalidParameter(
                "tuner 'edsvc' decides gamma of the feature map and C of the solver; here both are set or absent. "
                "Leave one at None, or use tuner=None."
            )
        rows = sample_rows(len(X), self.max_rows, rng)
        space = search_space(cast(FeatureMap, stages["featuremap"]), X, rows, open_gamma, rng)
        choice = EdSvcSearch(self, stages, space, open_gamma, open_C, rng).run()
        C = choice.C * (len(rows) / len(X)) if choice.C < 1.0 else choice.C  # the same fraction of outliers
        tuned = dict(stages)
        if open_gamma:
            tuned["featuremap"] = stages["featuremap"].with_parameters(gamma=choice.gamma)
        if open_C:
            tuned["solver"] = stages["solver"].with_parameters(C=C)
        facts = {**choice.facts, "rows": len(rows), "seconds": round(time.monotonic() - begin, 3)}
        return Tuned(tuned, facts, choice.interrupted)
