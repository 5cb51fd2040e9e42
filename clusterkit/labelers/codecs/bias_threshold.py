"""Two clusters by the sign of a score plus a bias: the bias of least loss that respects the size bounds."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.row_graph import Node
from clusterkit.core.stages import Codec, Task
from clusterkit.numerics.losses import LOSSES, SortedScores

__all__ = ["BiasThreshold"]

TIE = 32.0
"""Scores, and sums of losses, that differ by at most so many units of rounding count as equal.

Scores are on the scale of the targets ±1, which gives the unit. The number leaves room for the rounding of the solver's
last operations, and is far below any difference that matters.
"""


@final
@attrs.frozen
class BiasThreshold(Codec):
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
    coding: ClassVar[Coding] = Coding.SIGNED
    max_clusters: ClassVar[int | None] = 2
    loss: str = params.choice("laplacian", LOSSES)
    epsilon: float = params.real(0.1, at_least=0)
    bias: float | None = params.real(None, optional=True)

    def codebook(self, k: int) -> Array:
        """The targets -1 and +1, (k, 1)."""
        return np.array([[-1.0], [1.0]])[:k]

    def costs(self, rows: Array, k: int) -> Array:
        """(g + b, -g - b): a sum of 0 is a tie and gets label 0; float64, so that the bias is not rounded away."""
        shifted = rows.astype(np.float64, copy=False) + (0.0 if self.bias is None else self.bias)
        return np.concatenate([shifted, -shifted], axis=1)[:, :k]

    def onnx(self, rows: Node, k: int) -> Node:
        """(g + b, -g - b)."""
        shifted = rows + (0.0 if self.bias is None else float(self.bias))
        return shifted.joined(-shifted).columns(range(k))

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
