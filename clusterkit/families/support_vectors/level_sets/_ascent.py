"""A Gaussian kernel sum that points ascend, and balls whose points all ascend to the same equilibrium."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.errors import IncompatibleStages
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples.kernels import Gaussian

__all__ = ["Ascent", "Balls"]

CLIMB_COST = 64
"""Kernel sums assumed for an ascent, to decide on the number of threads; with certified balls it is often fewer."""


@final
@attrs.frozen(eq=False)
class Balls:
    """Balls all of whose points ascend to the same limit.

    Parameters
    ----------
    centres : ndarray of shape (J, d)
    radii : ndarray of shape (J,)
    limits : ndarray of shape (J,)
        Number of the limit of each ball.
    """

    centres: Array = attrs.field(validator=array("J d"))
    radii: Array = attrs.field(validator=array("J", least=0))
    limits: Indices = attrs.field(validator=array("J", least=0))

    @classmethod
    def none(cls, d: int) -> Balls:
        """An empty set of balls in d dimensions."""
        return cls(np.empty((0, d)), np.empty(0), np.empty(0, dtype=np.intp))

    def with_ball(self, centre: Array, radius: float, limit: int) -> Balls:
        """A copy of the balls with one more."""
        return Balls(
            np.concatenate([self.centres, centre[None]]), np.append(self.radii, radius), np.append(self.limits, limit)
        )

    def around(self, point: Array) -> int:
        """Index of the ball in which a point lies deepest, or -1 if it lies in none."""
        inner = self.radii - np.sqrt(np.square(self.centres - point).sum(axis=1))
        return int(np.argmax(inner)) if len(inner) and inner.max() > 0 else -1


@final
@attrs.frozen(eq=False)
class Ascent:
    """A Gaussian kernel sum and the rules of its ascent, in coordinates ``sqrt(gamma) (x - origin)``.

    The mean-shift step and its properties are in `_ascent_jit.py` (`step`).

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Mean of the centres: without it, sums of coordinates would lose digits to a common offset.
    root : float
        sqrt(gamma).
    columns : ndarray of shape (d, s)
        Centres.
    weights : ndarray of shape (s,)
        Weights of the centres, all > 0.
    tol, merge : float
        In scaled coordinates: the length of a step that ends an ascent, and the distance up to which two ends of
        ascents are the same equilibrium.
    max_iter : int
        Largest number of steps of an ascent.
    """

    origin: Array = attrs.field(validator=array("d"))
    root: float = attrs.field(validator=scalar(least=0))
    columns: Array = attrs.field(validator=array("d s"))
    weights: Array = attrs.field(validator=array("s", least=0))
    tol: float = attrs.field(validator=attrs.validators.gt(0))
    merge: float = attrs.field(validator=scalar(least=0))
    max_iter: int = attrs.field(validator=scalar(least=1))

    @classmethod
    def of(cls, domain: KernelDomain, labeler: str, *, tol: float, merge: float, max_iter: int) -> Ascent:
        """The ascent of a domain; `tol` and `merge` are in units of ``1 / sqrt(2 gamma)``, `labeler` is for errors.

        Raises
        ------
        IncompatibleStages
            If the kernel is not Gaussian, or the weights are not >= 0, or all 0.
        """
        if not isinstance(domain.kernel, Gaussian):
            raise IncompatibleStages(
                f"labeler '{labeler}' ascends Gaussian kernel sums only, and this domain has a "
                f"{type(domain.kernel).__name__} kernel; use labeler 'complete_graph', which takes any"
            )
        weights = np.asarray(domain.weights, dtype=np.float64)
        if (weights < 0).any() or not (weights > 0).any():
            raise IncompatibleStages(
                f"labeler '{labeler}' needs weights >= 0, not all 0: the least of this domain is {weights.min():g}; "
                "use labeler 'complete_graph'"
            )
        centres = np.asarray(domain.centres, dtype=np.float64)[weights > 0]
        origin, root = centres.mean(axis=0), math.sqrt(domain.kernel.gamma)
        columns = np.ascontiguousarray(((centres - origin) * root).T)
        unit = math.sqrt(0.5)
        return cls(origin, root, columns, weights[weights > 0], tol * unit, merge * unit, max_iter)

    def scaled(self, points: Array) -> Array:
        """Points in the coordinates of the ascent."""
        return np.ascontiguousarray((points - self.origin) * self.root)

    def unscaled(self, points: Array) -> Array:
        """Points in the coordinates of the domain: the inverse of `scaled`."""
        return points / self.root + self.origin

    def climb(self, starts: Array, balls: Balls) -> tuple[Array, Counts, Indices]:
        """Ascend from each scaled start until a step is at most `tol` long or ends in a ball.

        Parameters
        ----------
        starts : ndarray of shape (p, d)
        balls : Balls

        Returns
        -------
        ends : ndarray of shape (p, d)
        steps : ndarray of shape (p,)
            Number of steps.
        end_balls : ndarray of shape (p,)
            The ball that the ascent ended in; `NO_BALL` or `UNFINISHED` of `_ascent_jit` if it ended otherwise.
        """
        from clusterkit.families.support_vectors.level_sets._ascent_jit import Ascents, BallArrays, SumArrays, climb
        from clusterkit.numerics.threads import over_rows

        p, d = starts.shape
        if not len(self.columns) == d == balls.centres.shape[1]:
            raise ValueError(f"points of {d} coordinates in an ascent of {len(self.columns)}")
        ascents = Ascents(np.empty((p, d)), np.zeros(p, dtype=np.intp), np.empty(p, dtype=np.intp))
        kernel_sum = SumArrays(self.columns, self.weights)
        ball_arrays = BallArrays(np.ascontiguousarray(balls.centres.T), balls.radii)

        def work(first: int, last: int) -> None:
            climb(starts, first, last, kernel_sum, self.tol, self.max_iter, ball_arrays, ascents)

        over_rows(work, p, CLIMB_COST * self.columns.size)
        return ascents.ends, ascents.steps, ascents.end_balls

    def values(self, points: Array) -> Array:
        """The kernel sum at scaled points, (p,)."""
        from clusterkit.numerics.gaussian_jit import gaussian_sums

        return gaussian_sums(points, self.columns.T, self.weights, 1.0)
