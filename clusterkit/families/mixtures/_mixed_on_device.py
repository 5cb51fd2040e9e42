"""The E step of the mixture of mixed columns where a device has the rows: posteriors, and the sums of an iteration.

What `clusterkit.families.mixtures.expectation` does in compiled loops, with the same results up to rounding. Levels are
looked up in tables whose first row is that of gaps, and counted by products with their indicators. Rows with gaps have
covariances of their own, for which the block goes to the host.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.families.mixtures.expectation import LOG_2PI, MixtureModel, ModelSums
from clusterkit.samples.array_libraries import array_namespace, as_type, device_copy, move_to, to_host
from clusterkit.samples.mixed_space import split_points
from clusterkit.samples.sums import Sums

__all__ = ["posteriors_there", "sums_there"]


@final
@attrs.frozen(eq=False)
class _Constants:
    """The arrays of a model on a device.

    Parameters
    ----------
    shares : array of shape (k,)
    levels, shifts : dict of int to array
        Category to logarithms of probabilities (levels + 1, k), and to what it adds to the numbers (levels + 1, r).
    squares, products, logs : array of shape (r, k)
        Factors of squares, of numbers and of what is observed, for variances.
    factors, centres, offsets : array of shape (1 or k, r, r), (k, r) and (k,)
        What makes numbers independent, the means after it, and logarithms of determinants, for covariances.
    """

    shares: Any
    levels: dict[int, Any]
    shifts: dict[int, Any]
    squares: Any = None
    products: Any = None
    logs: Any = None
    factors: Any = None
    centres: Any = None
    offsets: Any = None

    @classmethod
    def of(cls, model: MixtureModel, block: Array) -> _Constants:
        """The constants where a block lies."""

        def there(array: Array) -> Any:
            return move_to(np.ascontiguousarray(array), block, np.float64)

        def with_gaps(table: Array, j: int) -> Any:
            return there(np.vstack([np.zeros((1, table.shape[1])), table[model.forms.slice_of(j)]]))

        levels = {j: with_gaps(model.tables, j) for j in np.flatnonzero(model.places >= 0).tolist()}
        shifts = {j: with_gaps(model.shifts, j) for j in model.covariates.tolist()}
        shares = there(model.shares[None])
        if not len(model.numbers):
            return cls(shares, levels, shifts)
        if model.spreads.ndim == 2:
            inverse = 1.0 / model.spreads
            logs = np.square(model.means) * inverse + np.log(model.spreads) + LOG_2PI + model.grid * inverse
            return cls(
                shares, levels, shifts, there(-0.5 * inverse.T), there((model.means * inverse).T), there(-0.5 * logs.T)
            )
        lower = np.linalg.cholesky(model.spreads)
        factors = np.linalg.inv(lower).transpose(0, 2, 1)
        offsets = 2.0 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1) + len(model.numbers) * LOG_2PI
        offsets = offsets + np.einsum("kij,i->k", np.square(factors), model.grid)
        of_each = np.broadcast_to(factors, (model.k, *factors.shape[1:]))
        centres = np.einsum("ki,kij->kj", model.means, of_each)
        return cls(
            shares, levels, shifts, factors=there(factors), centres=there(centres),
            offsets=there(np.broadcast_to(offsets, model.k)),
        )  # fmt: skip


@final
@attrs.frozen(eq=False)
class _Posteriors:
    """Posteriors (b, k) and log-likelihood of a block, its numbers without shifts, and what is observed, (b, r)."""

    shares: Any
    likelihood: Any
    numbers: Any
    observed: Any
    codes: dict[int, Any]


def posteriors_there(model: MixtureModel, points: Array, p: int) -> Any:
    """Probabilities of the clusters, (b, k), of points of p numbers and of codes, where they lie."""
    step = _expectation(model, points, p)
    return move_to(model.posteriors(*split_points(to_host(points), p))[0], points) if step is None else step.shares


def sums_there(model: MixtureModel, points: Array, p: int) -> Sums:
    """The sums of `ModelSums`, in the order of its fields, of points of p numbers and of codes."""
    step, xp = _expectation(model, points, p), array_namespace(points)
    if step is None:
        part = ModelSums.of(model, *split_points(to_host(points), p))
        fields = attrs.astuple(part, recurse=False)
        return Sums.of(*(move_to(np.asarray(field, dtype=np.float64), points) for field in fields))
    P, A = step.shares, step.numbers
    k, zeros = model.k, {"dtype": xp.float64, "device": points.device}
    counts = [xp.zeros((0, k), **zeros)]
    for j in range(len(model.places)):
        levels = int(model.forms.levels[j])
        if j not in step.codes or model.places[j] < 0:
            counts.append(xp.zeros((levels, k), **zeros))
            continue
        each = xp.arange(1, levels + 1, dtype=xp.int64, device=points.device)
        indicators = xp.astype(xp.expand_dims(step.codes[j], axis=1) == xp.expand_dims(each, axis=0), xp.float64)
        counts.append(xp.matmul(indicators.T, P))
    if model.spreads.ndim == 2:
        second = xp.matmul(P.T, A * A)
    elif len(model.spreads) == 1:
        second = xp.expand_dims(xp.matmul(A.T, A), axis=0)
    else:
        second = xp.stack([xp.matmul((A * P[:, c : c + 1]).T, A) for c in range(k)], axis=0)
    n = xp.asarray(float(points.shape[0]), **zeros)
    return Sums.of(
        n, step.likelihood, xp.sum(P, axis=0), xp.concat(counts, axis=0), xp.matmul(P.T, step.observed),
        xp.matmul(P.T, A), second,
    )  # fmt: skip


def _expectation(model: MixtureModel, points: Array, p: int) -> _Posteriors | None:
    """The E step of a block; None where gaps need covariances of their own."""
    xp, X = array_namespace(points), as_type(points, np.float64)
    constants = device_copy(model, X, lambda: _Constants.of(model, X), "constants")
    codes = {}
    for j in {*constants.levels, *constants.shifts}:
        code = X[:, p + j]
        codes[j] = xp.astype(xp.where(xp.isnan(code), xp.zeros_like(code), code + 1.0), xp.int64)
    r = len(model.numbers)
    A = xp.stack([X[:, int(j)] for j in model.numbers], axis=1) if r else X[:, :0]
    gaps = xp.isnan(A)
    if model.spreads.ndim == 3 and r and bool(xp.any(gaps)):
        return None
    for j, table in constants.shifts.items():
        A = A - xp.take(table, codes[j], axis=0)
    A = xp.where(gaps, xp.zeros_like(A), A)
    observed = xp.astype(~gaps, xp.float64)
    logs = xp.zeros((X.shape[0], model.k), dtype=xp.float64, device=X.device) + constants.shares
    if r and model.spreads.ndim == 2:
        logs = logs + xp.matmul(A * A, constants.squares) + xp.matmul(A, constants.products)
        logs = logs + xp.matmul(observed, constants.logs)
    elif r:
        tied = len(model.spreads) == 1
        whitened = xp.matmul(A, constants.factors[0, ...])
        squares = []
        for c in range(model.k):
            if c and not tied:
                whitened = xp.matmul(A, constants.factors[c, ...])
            squares.append(xp.sum((whitened - constants.centres[c : c + 1, :]) ** 2, axis=1))
        logs = logs - 0.5 * (xp.stack(squares, axis=1) + xp.expand_dims(constants.offsets, axis=0))
    for j, table in constants.levels.items():
        logs = logs + xp.take(table, codes[j], axis=0)
    largest = xp.max(logs, axis=1, keepdims=True)
    shares = xp.exp(logs - largest)
    mass = xp.sum(shares, axis=1, keepdims=True)
    return _Posteriors(shares / mass, xp.sum(largest + xp.log(mass)), A, observed, codes)
