"""Rows, labels, names and domains of fitted models for the plots, with clear errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Mask
from clusterkit.core.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.core.outcomes import Domain, KernelDomain, SupportCounts
from clusterkit.plots.figure import counted
from clusterkit.profiles.labelled import is_model, labels_of, not_fitted

__all__ = ["FittedDomain", "Supports", "labels_of", "names_of", "rows_of"]

AT_BOUND = 1e-9
"""Relative difference up to which a weight equals the bound C: solvers stop at a tolerance far above rounding, but set
bounded weights to C itself."""


def rows_of(X: Any) -> Array:
    """The rows (n, d) as floats, checked by scikit-learn."""
    from sklearn.utils.validation import check_array

    from clusterkit.estimators.not_numbers import only_numbers

    with only_numbers(X):
        rows: Array = check_array(X, dtype=[np.float64, np.float32], order="C")
    return rows


def names_of(names: Sequence[str] | None, X: object, model: object, d: int, caller: str) -> list[str]:
    """Names of the attributes: `names`, the columns of a data frame, the names stored by the fit, or ``X[:, 0]``."""
    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != d:
            raise InvalidParameter(f"{caller}: names must be one for each of the {d} attributes, got {len(chosen)}")
        return chosen
    columns = getattr(X, "columns", None)
    if columns is None:
        columns = getattr(model, "feature_names_in_", None)
    if columns is not None and len(columns) == d:
        return [str(name) for name in columns]
    return [f"X[:, {i}]" for i in range(d)]


@final
@attrs.frozen(eq=False)
class Supports:
    """The support vectors of a domain.

    Parameters
    ----------
    centres : ndarray of shape (s, d)
        Distinct support vectors.
    bounded : ndarray of shape (s,)
        Which weights are at their bound.
    counts : SupportCounts or None
        Their numbers, where each of several equal samples counts; None where the solver does not report them.
    """

    centres: Array
    bounded: Mask
    counts: SupportCounts | None

    @property
    def title(self) -> str:
        """Text for a title; "" if nothing is known."""
        if self.counts is None:
            return ""
        n_support, n_bounded = self.counts.n_support, self.counts.n_bounded
        bound = "" if n_bounded is None else f", {n_bounded or 'none'} at the bound"
        return counted(n_support, "support vector") + bound


@final
@attrs.frozen(eq=False)
class FittedDomain:
    """A fitted model whose outcome is a domain, with its rows.

    Parameters
    ----------
    model : estimator
    domain : Domain
    points : ndarray of shape (n, d)
        The rows in the coordinates of the domain.
    labels : ndarray of shape (n,)
    names : list of str
        Names of the coordinates.
    """

    model: Any
    domain: Domain
    points: Array
    labels: Labels
    names: list[str]

    @classmethod
    def of(cls, model: Any, X: Any, names: Any, caller: str) -> FittedDomain:
        """Check that `model` has a domain and that X has the rows of its fit.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        IncompatibleStages
            If its outcome is no domain.
        InvalidParameter
            If `model` is no estimator.
        InvalidData
            If X has other rows than the fit.
        """
        instead = "clusterkit.plots.clusters draws the labels of any method"
        if not is_model(model):
            raise InvalidParameter(
                f"{caller}: needs a fitted model with a domain, got {type(model).__name__}; {instead}"
            )
        if not hasattr(model, "labels_"):
            raise not_fitted(model, caller)
        domain, space = getattr(model, "outcome_", None), getattr(model, "space_", None)
        if not isinstance(domain, Domain) or space is None:
            has = "no outcome" if domain is None else f"{type(domain).__name__.lower()}"
            raise IncompatibleStages(
                f"{caller}: draws a domain, such as recipe 'svc' gives, and this {type(model).__name__} has {has}; "
                f"{instead}"
            )
        rows = rows_of(X)
        labels = labels_of(model, len(rows), caller)
        if rows.shape[1] != model.n_features_in_:
            raise InvalidData(
                f"{caller}: X has {rows.shape[1]} attributes and the model was fitted on {model.n_features_in_}"
            )
        points = space.coordinates(rows)
        raw = names_of(names, X, model, rows.shape[1], caller)
        return cls(model, domain, points, labels, _coordinate_names(raw, space.before, points.shape[1]))

    def supports(self) -> Supports | None:
        """The support vectors; None where the domain has none."""
        domain = self.domain
        known: Any = domain if isinstance(domain, KernelDomain) else getattr(domain, "function", None)
        if not hasattr(known, "centres") or not hasattr(known, "weights"):
            return None
        used = known.weights != 0
        centres, weights = known.centres[used], known.weights[used]
        counts = domain.support_counts or SupportCounts(len(centres))
        bounded = np.zeros(len(centres), dtype=bool)
        if counts.n_bounded:
            # By the optimality conditions the weight of a sample outside is at its bound, also where bounds differ or
            # equal samples share a centre. A sample whose weight is C may also lie on the border.
            bounded = domain.value(centres) < domain.level
            if counts.bound is not None and counts.bound < 1.0:
                bounded |= np.isclose(weights, counts.bound, rtol=AT_BOUND, atol=0.0)
        return Supports(centres, bounded, counts)

    def supports_title(self) -> str:
        """Text about the support vectors for a title."""
        supports = self.supports()
        if supports is not None:
            return supports.title
        none = np.empty((0, 1))
        return Supports(none, np.empty(0, dtype=bool), self.domain.support_counts).title


def _coordinate_names(raw: list[str], before: tuple[Any, ...], d: int) -> list[str]:
    """Names of the coordinates of the domain, which is defined behind the maps `before` the kernel."""
    if not before:
        return raw
    if len(raw) == d and all(getattr(step, "columnwise", False) for step in before):
        return [f"{name} (scaled)" for name in raw]
    return [f"mapped coordinate {i}" for i in range(d)]
