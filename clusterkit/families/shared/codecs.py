"""Codecs: labels from scores, and the targets that make a solver produce such scores.

A codec has a codebook of k target vectors t_j and a cost of giving a sample with scores f to cluster j, so that the
label is ``argmin_j cost_j(f)``, ties to the lowest number; a balancer may change the labels by the same costs.

* `Threshold`: two clusters, targets -1 and +1, label 1 if f > 0.
* `BiasThreshold`: the same with f + b, the bias b of least loss that respects the size bounds, found from the sorted
  scores. Zhang, Tsang, Kwok (2007).
* `Interval`: k clusters on a line, targets 1..k, the interval that f falls in.
* `Argmax`: k clusters, targets e_j, the column with the largest score.

`MostProbable` is no codec: it reads the component of largest posterior of a mixture, which may have chosen k itself.

The mathematics is in the methods `costs` and `calibrate` of each class. Source of the codings: Zhang, Xia, Liu, Zhang
(2013), Extreme maximum margin clustering, IEICE Trans., section 3.
"""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import Codec, Decoder, Labeler, Labeling, Task, params
from clusterkit.contracts.outcomes import MixtureScores, Outcome
from clusterkit.numerics.losses import LOSSES, SortedScores
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import array_namespace
from clusterkit.samples.coding import Coding


@final
@attrs.frozen
class Argmax(Codec):
    """Cluster of the largest of k scores, ties to the lowest number: the nearest one-hot target. O(n k).

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 3 (multi-output).
    """

    name: ClassVar[str] = "argmax"
    synonyms: ClassVar[tuple[str, ...]] = ("arg_max", "max")
    coding: ClassVar[Coding] = Coding.ONEHOT
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True
    largest: ClassVar[bool] = True

    def codebook(self, k: int) -> Array:
        """The k unit vectors, (k, k)."""
        return np.eye(k)

    def costs(self, rows: Array, k: int) -> Array:
        """-f, which is half of ``|f - e_j|²`` up to a constant of the row."""
        return -rows

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self


TIE = 32.0
"""Largest difference, in units of rounding, of scores or sums of losses that count as equal.

Scores are on the scale of the targets ±1, which gives the unit. The number leaves room for the rounding of the solver's
last operations, and is far below any difference that matters.
"""


class _Signed(Codec):
    """A codec of two clusters by the sign of one score."""

    coding: ClassVar[Coding] = Coding.SIGNED
    max_clusters: ClassVar[int | None] = 2

    def codebook(self, k: int) -> Array:
        """The targets -1 and +1, (k, 1)."""
        return np.array([[-1.0], [1.0]])[:k]


@final
@attrs.frozen
class BiasThreshold(_Signed):
    """Two clusters by the sign of ``g + b``: label 1 if it is positive, else 0, with a bias b found from the scores.

    For `svm` and `svr`, whose scores have no bias. The scores are sorted. Each number k of samples with label 0 that
    the balancer allows is tried, with the bias half way between the k-th and the next score, and the k of least loss
    is used, the lowest of several. All of them together cost O(n log n), by prefix sums.

    Parameters
    ----------
    loss : {"hinge", "laplacian", "epsilon", "square"}, default "laplacian"
        The loss of the solver, which the labeler does not know: "hinge" for `svm`, the parameter `loss` for `svr`.
    epsilon : float, default 0.1
        Largest residual without loss, for ``loss="epsilon"``.
    bias : float, optional
        A fixed value of b. None finds b from the scores of each iteration.

    Notes
    -----
    Equal scores get the same label: a k that would split them is left out. If all allowed k would split them, the
    samples with these scores get label 0, and the balancer splits them.

    References
    ----------
    Zhang, Tsang, Kwok (2007), Maximum margin clustering made practical, ICML, section 4.
    """

    name: ClassVar[str] = "bias_threshold"
    synonyms: ClassVar[tuple[str, ...]] = ("bias",)
    loss: str = params.choice("laplacian", LOSSES)
    epsilon: float = params.real(0.1, at_least=0)
    bias: float | None = params.real(None, optional=True)

    def costs(self, rows: Array, k: int) -> Array:
        """(g + b, -g - b): a sum of 0 is a tie and gets label 0; float64, so that the bias is not rounded away."""
        shifted = rows.astype(np.float64, copy=False) + (0.0 if self.bias is None else self.bias)
        return np.concatenate([shifted, -shifted], axis=1)[:, :k]

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec with the bias found from scores (n, 1), or itself if its bias is fixed."""
        if self.bias is not None:
            return self
        eps = float(np.finfo(rows.dtype).eps)
        raw = np.sort(rows[:, 0].astype(np.float64))
        low, high = _allowed(len(raw), task)
        k = np.arange(low, high + 1)
        k = k[(k >= 1) & (k < len(raw))]
        if not len(k):
            return attrs.evolve(self, bias=-float(raw[-1]))
        noise = TIE * eps * max(1.0, float(np.abs(raw).max()))
        between = k[raw[k] - raw[k - 1] > noise]
        if not len(between):
            # one group of equal scores covers every allowed size: its last member bounds label 0
            return attrs.evolve(self, bias=-float(raw[_last_equal(raw, int(k[-1]), noise)]))
        threshold = 0.5 * raw[between - 1] + 0.5 * raw[between]
        scores = SortedScores.of(raw)
        losses = scores.losses(0, between, -1.0, -threshold, self.loss, self.epsilon)
        losses += scores.losses(between, len(raw), 1.0, -threshold, self.loss, self.epsilon)
        # sums that differ by their rounding are ties
        size = scores.g**2 if self.loss == "square" else np.abs(scores.g)
        blur = TIE * float(np.finfo(np.float64).eps) * (len(raw) + float(size.sum()))
        best = int(np.argmax(losses <= losses.min() + blur))
        return attrs.evolve(self, bias=-float(threshold[best]))


def _allowed(n: int, task: Task) -> tuple[int, int]:
    """Smallest and largest allowed number of samples with label 0."""
    if task.bounds is None:
        return 1, n - 1
    low, high = (np.asarray(bound) for bound in task.bounds)
    if len(low) < 2:
        return 1, n - 1
    return int(np.ceil(max(low[0], n - high[1]))), int(np.floor(min(high[0], n - low[1])))


def _last_equal(raw: Array, k: int, noise: float) -> int:
    """Index of the last of the sorted scores `raw` that equals the k-th one up to `noise`."""
    while k < len(raw) and raw[k] - raw[k - 1] <= noise:
        k += 1
    return k - 1


@final
@attrs.frozen
class Interval(Codec):
    """k clusters from one score, by the interval that it falls in.

    The single-output coding of the EMMC paper. Clusters with neighbouring numbers are neighbours on the line, so the
    result depends on the numbering of the initial clusters, which are numbered along their principal axis. Prefer
    `argmax` for more than two clusters, except to reproduce the published tables. O(n k).

    Parameters
    ----------
    rule : {"nearest", "signed", "midpoint", "paper"}, default "nearest"
        Targets and boundaries. "nearest": targets 1..k, boundaries at half-integers, which minimises the squared
        error. "signed": the same for more than two clusters, and for two the targets -1 and +1 with the boundary 0, as
        the paper codes them. "midpoint": targets 1/2, 3/2, …, boundaries at integers; the same up to a shift of the
        targets. "paper": targets 1..k with boundaries at integers as printed, which moves half of each cluster to a
        higher number in every iteration, so that all clusters but one become empty without a balancer.

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., Proposition 1 (the printed rule).
    """

    name: ClassVar[str] = "interval"
    coding: ClassVar[Coding] = Coding.ORDINAL
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True
    rule: str = params.choice("nearest", ("nearest", "signed", "midpoint", "paper"))

    def codebook(self, k: int) -> Array:
        """The targets on the line, (k, 1)."""
        if self._by_sign(k):
            return np.array([[-1.0], [1.0]])
        shift = 0.5 if self.rule == "midpoint" else 1.0
        return (np.arange(k, dtype=np.float64) + shift)[:, None]

    def costs(self, rows: Array, k: int) -> Array:
        """Squared distance to the middle of each interval, up to a constant of the row, (n, k)."""
        xp = array_namespace(rows)
        if self._by_sign(k):  # 2f and -2f, up to f² + 1, so that a score next to 0 is not rounded to it
            costs: Array = 2.0 * (np.concatenate if xp is np else xp.concat)([rows, -rows], axis=1)
            return costs
        if xp is np:
            return (rows - self._middles(k)) ** 2
        costs = (rows - (xp.arange(k, dtype=xp.float64, device=rows.device) + self._first_middle)) ** 2
        return costs

    def _middles(self, k: int) -> Array:
        """The middle of each interval, (k,)."""
        return np.arange(k) + self._first_middle

    def _by_sign(self, k: int) -> bool:
        return self.rule == "signed" and k == 2

    @property
    def _first_middle(self) -> float:
        return 1.0 if self.rule in ("nearest", "signed") else 0.5

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self


@final
@attrs.frozen
class Threshold(_Signed):
    """Two clusters by the sign of one score: label 1 if it is positive, else 0. O(n).

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 3 (two classes).
    """

    name: ClassVar[str] = "threshold"
    synonyms: ClassVar[tuple[str, ...]] = ("sign",)
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True

    def costs(self, rows: Array, k: int) -> Array:
        """(f, -f): half the difference of the squared errors, so a score of 0 is a tie and goes to label 0."""
        xp = array_namespace(rows)
        join = np.concatenate if xp is np else xp.concat  # numpy 1.26 has no concat
        return join([rows, -rows], axis=1)[:, :k]

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self


@final
@attrs.frozen
class MostProbable(Labeler[MixtureScores]):
    """Cluster of the most probable component, ties to the first; as many clusters as components that are it anywhere.

    Choose it for `mixed_mixture` where the number of clusters is not given; the posteriors are the memberships. O(n k).
    """

    name: ClassVar[str] = "most_probable"
    synonyms: ClassVar[tuple[str, ...]] = ("posterior", "component")
    consumes: ClassVar[type[Outcome]] = MixtureScores
    linked: ClassVar[bool] = True
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    def label(self, outcome: MixtureScores, space: Space, task: Task, rng: Rng) -> Labeling:
        """Largest of the posteriors, (n, k), or with links the cheapest of their logarithms that keep these."""
        labels = np.argmax(outcome.rows, axis=1)
        if task.links is not None:
            costs = -np.log(np.maximum(outcome.rows, np.finfo(outcome.rows.dtype).tiny))
            labels, _ = task.links.cheapest("labeler 'most_probable'", costs, labels)
        predict = None if outcome.extend is None else Decoder(Argmax(), outcome.extend, None, outcome.q)
        exact = outcome.exact_on_training and task.links is None
        return Labeling(labels, predict, exact=exact, memberships=outcome.rows if outcome.are_memberships else None)
