"""A fit on a sample of the rows, with the level and the labels of all rows, and a measure of how sure they are."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask, Rng
from clusterkit.core import shapes
from clusterkit.core.coding import Coded
from clusterkit.core.compat import Composition
from clusterkit.core.errors import NotExportable
from clusterkit.core.kernel_products import left_with
from clusterkit.core.labelings import NOISE
from clusterkit.core.namespaces import BlockFunction, is_device_array, to_host
from clusterkit.core.outcomes import Domain, KernelDomain, Outcome
from clusterkit.core.row_graph import Node
from clusterkit.core.run import BoundComposition, FitResult, run
from clusterkit.core.samples import AnySamples, EngineSamples, Predicted, Samples, as_samples
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Prepared
from clusterkit.core.sums import GROUP, groups
from clusterkit.core.transform import Transform
from clusterkit.drivers._over_all_rows import (
    PILOT,
    bind_sample,
    coordinates_of,
    level_for,
    quick_level,
    with_violators,
)
from clusterkit.level_sets.neighbours import nearest_rows
from clusterkit.metrics import adjusted_rand
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.numerics.sparse_rows import SparseRows, as_rows, distances_from
from clusterkit.solvers.one_class.svdd import PreparedSvdd

if TYPE_CHECKING:
    from clusterkit.numerics.nearest_label_jit import LabelledGroups

__all__ = ["NearestSampleRow", "fit_on_sample"]

GROUPS: weakref.WeakKeyDictionary[NearestSampleRow, LabelledGroups] = weakref.WeakKeyDictionary()
"""The groups of predictors that have labelled something in this process: they follow from the rows and labels."""


@final
@attrs.frozen(eq=False)
class NearestSampleRow(BlockFunction):
    """Labels rows by the nearest row of the sample; a frozen callable, so that a fit can be pickled.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (m, d)
        The rows of the sample that are inside the domain.
    labels : ndarray of shape (m,)
        Their labels; -1 for those of components that are too small.
    reach : float
        Largest distance of one of them to the nearest other one.
    domain : Domain or None
        Rows outside it are noise; None: they get the label of the nearest row too.
    """

    coordinates: Transform
    rows: Array = attrs.field(validator=shapes.shaped("m", "d"))
    labels: Labels = attrs.field(validator=shapes.shaped("m"))
    reach: float
    domain: Domain | None = None

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,)."""
        return left_with(Y, self.labels_and_far(Y)[0])

    def onnx(self, rows: Node) -> Node:
        """Labels of raw rows."""
        if self.domain is not None:
            raise NotExportable("labels within a domain, which sum kernels over many rows, have no ONNX form")
        _, nearest = rows.through(self.coordinates, "featuremap").nearest(self.rows, 1)
        return nearest.squeezed().entries(self.labels)

    def labels_and_far(self, Y: Array) -> tuple[Labels, Mask]:
        """Labels of raw rows, and which of them are farther from the sample than its rows are from each other.

        A class that the sample has missed lies there.
        """
        if not isinstance(Y, SparseRows) and Y.shape[0] > GROUP:  # float64 coordinates of a part of the rows at a time
            parts = [self.labels_and_far(Y[rows, ...]) for rows in groups(Y.shape[0])]
            labels, far = (np.concatenate(several) for several in zip(*parts, strict=True))
            return labels, far
        mapped = self.coordinates(Y)
        if is_device_array(mapped):
            return self._on_block(mapped)
        points = as_rows(mapped, np.float64)
        if isinstance(points, SparseRows):
            labels, far = self.labels[nearest_rows(points, self.rows)], np.zeros(len(points), dtype=np.bool_)
        else:
            from clusterkit.numerics.nearest_label_jit import LabelledGroups

            if self not in GROUPS:
                GROUPS[self] = LabelledGroups.of(self.rows, self.labels)
            labels, far = GROUPS[self].label(points, self.reach)
        if self.domain is not None:
            labels = np.where(self.domain.value(points) >= self.domain.level, labels, NOISE)
        return labels, far

    def _on_block(self, points: Array) -> tuple[Labels, Mask]:
        """The same for coordinates of another library than numpy; the answers are of numpy."""
        nearest = nearest_rows(points, self.rows)
        distances = np.square(np.asarray(to_host(points), dtype=np.float64) - self.rows[nearest]).sum(axis=1)
        labels, far = self.labels[nearest], np.sqrt(distances) > self.reach
        if self.domain is not None:
            labels = np.where(to_host(self.domain.value(points)) >= self.domain.level, labels, NOISE)
        return labels, far


def fit_on_sample(c: Composition, index: Indices, X: AnySamples, seeds: Seeds) -> FitResult:
    """Fit a composition to the samples with the numbers `index`, ascending, and label all of them from the outcome.

    Of samples outside memory the labels are the engine's: lazy where it has such.
    """
    samples = as_samples(X)
    fit, predict, facts = _fitted(c, index, samples, seeds)
    if isinstance(samples, EngineSamples):
        labels = samples.engine.labels(Predicted(predict), samples.rows, samples.d)
    else:
        labels, far = predict.labels_and_far(samples.whole("", ""))
        facts = {**facts, "far_rows": int(far.sum())}
    if isinstance(labels, np.ndarray):
        labels.flags.writeable = False
    return _labelled(fit, labels, predict, facts)


def _labelled(fit: FitResult, labels: Labels, predict: NearestSampleRow, facts: Mapping[str, object]) -> FitResult:
    resolved = {**fit.resolved, "tuner": {**fit.resolved.get("tuner", {}), **facts}}
    return attrs.evolve(
        fit,
        labels=labels,
        predict=predict,
        exact=True,
        resolved=resolved,
        memberships=None,
        outlier_scores=None,
        probabilities=None,
    )


def _fitted(
    c: Composition, index: Indices, samples: Samples, seeds: Seeds
) -> tuple[FitResult, NearestSampleRow, Mapping[str, object]]:
    """The fit of the sample with the level of all rows, how it labels rows, and what is to report.

    A least size of clusters, which counts all rows, is scaled to the sample.
    """
    least = cast("int | None", c.labeler.parameters().get("min_cluster_size"))
    if least is not None:
        labeler = c.labeler.with_parameters(min_cluster_size=max(1, round(least * len(index) / samples.n)))
        c = attrs.evolve(c, labeler=labeler)
    rng = seeds.stream("sample")
    bound = bind_sample(c, index, samples, seeds)
    facts: dict[str, object] = {}
    nu = _share_outside(bound)
    if nu is not None and nu < 1.0:
        domain = cast("KernelDomain", bound.prepared.solve(None, None, rng))
        tol = cast("PreparedSvdd", bound.prepared).solver.tol
        domain, facts["share_outside"] = level_for(
            domain, coordinates_of(samples, bound.space.coordinates), nu, tol, rng
        )
        bound = attrs.evolve(bound, prepared=_Solved(bound.prepared, domain))
    elif nu is not None:
        bound, domain, certificate = with_violators(c, index, samples, seeds, rng)
        facts |= certificate
        bound = attrs.evolve(bound, prepared=_Solved(bound.prepared, domain))
    fit = run(bound)
    predict = _predictor(fit, c)
    if nu is not None:
        facts["stability"] = _stability(c, len(index), samples, seeds, nu, predict)
    return fit, predict, {"fitted_rows": bound.space.n, **facts}


def _share_outside(bound: BoundComposition) -> float | None:
    """The share of rows that the problem puts outside; 1 or more for a sphere around all; None for other solvers."""
    prepared = bound.prepared
    if not isinstance(prepared, PreparedSvdd) or prepared.solver.weights is not None:
        return None
    from clusterkit.core.kernel import Gaussian
    from clusterkit.core.spaces import KernelSpace

    if not isinstance(bound.space, KernelSpace) or not isinstance(bound.space.kernel, Gaussian):
        return None
    return 1.0 / (prepared.C * bound.space.n) if prepared.C < 1.0 else 1.0


def _stability(
    c: Composition, size: int, samples: Samples, seeds: Seeds, nu: float, predict: NearestSampleRow
) -> float:
    """Adjusted Rand index between the labels that two samples give to rows drawn at random.

    Rows that either calls noise are left out: their number is fixed, and which they are depends on the border. nan if
    no others are left.
    """
    rng = seeds.stream("sample", "stability")
    apart = seeds.child("sample", "stability")
    bound = bind_sample(c, sample_rows(samples.n, size, rng), samples, apart)
    judged = samples.gather(sample_rows(samples.n, PILOT, rng))
    domain = cast("KernelDomain", bound.prepared.solve(None, None, rng))
    if nu < 1.0:
        domain = quick_level(domain, domain.value(as_rows(bound.space.coordinates(judged), np.float64)), nu)
    second = run(attrs.evolve(bound, prepared=_Solved(bound.prepared, domain)))
    one, other = predict(judged), _predictor(second, c)(judged)
    both = (one >= 0) & (other >= 0)
    return adjusted_rand(one[both], other[both]) if both.any() else math.nan


@final
@attrs.frozen(eq=False)
class _Solved(Prepared):
    """A prepared solver whose outcome is there already."""

    prepared: Prepared
    outcome: Outcome

    @property
    def resolved(self) -> Mapping[str, object]:
        return self.prepared.resolved

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        return self.outcome

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.prepared.objective(targets, outcome)


def _predictor(fit: FitResult, c: Composition) -> NearestSampleRow:
    """The function that labels all rows, and new ones, from the outcome of a fit on a sample of them.

    Each row gets the label of the nearest row of the sample inside the domain, which keeps the components of the
    sample; where the labeler calls rows outside the domain noise, those outside it are noise.
    """
    assert fit.space is not None
    points = as_rows(fit.space.points, np.float64)
    noise = c.labeler.parameters().get("outliers") in {"noise", "singleton"}
    inside = np.ones(len(points), dtype=np.bool_)
    if isinstance(fit.outcome, Domain):
        inside &= fit.outcome.value(points) >= fit.outcome.level
    chosen = np.flatnonzero(inside) if inside.any() else np.arange(len(points))
    rows, reach = points[chosen], 0.0
    for i in range(len(rows)):
        distances = distances_from(rows, rows[i : i + 1])
        distances[i] = np.inf
        reach = max(reach, float(distances.min())) if len(rows) > 1 else 0.0
    domain = fit.outcome if noise and isinstance(fit.outcome, Domain) else None
    return NearestSampleRow(fit.space.coordinates, rows, fit.labels[chosen], float(np.sqrt(reach)), domain)
