"""Tuners: values for the parameters left open, found from the rows alone, without labels.

Both tuners are for support vector clustering. Its labels depend on the bandwidth ``gamma`` of the Gaussian kernel and
on the bound ``C`` of the weights, which leaves at most ``1 / C`` rows outside the contour (``nu = 1 / (C n)``). A tuner
solves and labels many pairs (gamma, C), scores every partition and returns the best pair.

- ``svc_auto.py``: `SvcAuto`, score ``ln L + 2 V + ln H``: a partition that lasts over L bandwidths, with separated (V)
  clusters of even sizes (H). The scores (`best`), the runs and the loop (`SvcAutoSearch.run`) are in
  ``_svc_search.py``. Sources: Ben-Hur, Horn, Siegelmann, Vapnik (2001); Moulavi and others (2014).
- ``edsvc.py``: `EdSvc`, score ``(1/M) Σ I(π, π_m) / √(H(π) H(π_m))``: mean mutual information with an ensemble of
  k-means partitions, and the search. The score is `Agreement`, the fits of the candidates are `CandidateRuns`. Source:
  Strehl, Ghosh (2002).

This package has what both share: which parameters are open, the space of the rows they search on, and rows in piles.
The range of bandwidths is in ``numerics/distances.py``, the nearest label of each unlabelled row in
``numerics/nearest_jit.py``, the k-means ensemble in ``fitting/ensembles.py``.
"""

from __future__ import annotations

import math
import warnings
from typing import final

import attrs

from clusterkit._typing import Array, Counts, Indices, Rng
from clusterkit.contracts import FeatureMap, Stage, Task
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.numerics.distances import parting_bandwidth, repeats
from clusterkit.numerics.selection import are_few
from clusterkit.samples import Space

STRAY = 0.01
"""Up to this fraction of the rows may lie elsewhere than at the points that have enough of them."""

SMALLEST_PILE = 2
"""Equal rows at one of few points that are a cluster: far from all others, they are there more than once."""

FEW_POINTS = "rows at few points: each of them is a cluster"
"""Value of the fact "rule" where the rows are at few points."""


def is_open(stage: Stage, name: str, *alternatives: str) -> bool:
    """Whether a tunable parameter is None and so are the alternatives that would decide it."""
    values = stage.parameters()
    return name in stage.tunable and all(values.get(key) is None for key in (name, *alternatives))


def search_space(featuremap: FeatureMap, X: Array, rows: Indices, open_gamma: bool, rng: Rng) -> Space:
    """The space of some rows of X; its bandwidth is 1 if it is open."""
    if open_gamma:
        featuremap = featuremap.with_parameters(gamma=1.0)
    space: Space = featuremap.space_of(X if len(rows) == len(X) else X[rows], Task(len(rows), None), rng)
    if space.sparse:
        raise InvalidData(
            f"the tuner cannot work on {X.shape[0]} x {X.shape[1]} sparse samples. Make the attributes fewer first, by "
            "featuremap 'pca' in front of another one, or pass a dense array if it fits into memory."
        )
    return space


@final
@attrs.frozen(eq=False)
class Piles:
    """The distinct points at which rows lie.

    Parameters
    ----------
    sizes : ndarray of shape (points,), int
        Number of rows at each point.
    gamma : float
        Gamma at which no two points are joined.
    """

    sizes: Counts
    gamma: float

    @classmethod
    def of(cls, D: Array) -> Piles | None:
        """The points of rows with the squared distances D (m, m), in O(m²); None of rows without a scale."""
        largest = float(D.max())
        if not 0.0 < largest < math.inf:
            return None
        gamma = parting_bandwidth(D, largest)
        return cls(repeats(D, largest), gamma) if math.isfinite(gamma) else None

    def large(self, least: int) -> Counts:
        """The sizes of the points at which `least` rows or more lie."""
        return self.sizes[self.sizes >= least]

    def few(self, least: int) -> bool:
        """Whether rows lie at few points, as in `numerics.selection.few_points`, nearly all of them at `large` ones.

        Then the points are the partition that lasts over all narrower bandwidths, however many these are. A search
        does not see that, whose bandwidths end at the distances between the points.
        """
        n = int(self.sizes.sum())
        large = self.large(least)
        return are_few(len(self.sizes), n) and len(large) > 1 and n - large.sum() <= STRAY * n


def warn_of_nothing(tuner: str, reason: str, advice: str, stacklevel: int) -> None:
    """Say that a search found nothing to choose, so that the widest kernel is used."""
    warnings.warn(
        f"tuner '{tuner}': {reason}, so the widest kernel is used, mostly with one cluster. That the search shows no "
        f"clusters does not mean that there are none; {advice}",
        ClusterkitWarning,
        stacklevel=stacklevel + 1,
    )
