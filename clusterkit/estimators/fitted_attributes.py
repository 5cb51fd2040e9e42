"""The attributes that a fit sets, the same for all clusterers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clusterkit.core.run import FitResult

__all__ = ["set_fitted"]


def set_fitted(
    estimator: Any, fit: FitResult, decided: Mapping[str, Mapping[str, Any]], labeler: str | None = None
) -> None:
    """Set the attributes of `clusterkit.Pipeline` on an estimator.

    Parameters
    ----------
    estimator : BaseEstimator
    fit : FitResult
    decided : mapping
        Slot to parameters that were decided before the fit, by a tuner.
    labeler : str, optional
        The name of the labeler where it was left at "auto", which is then reported in `resolved_`.
    """
    estimator.labels_ = fit.labels
    estimator.n_iter_ = fit.n_iter
    estimator.converged_ = fit.converged
    estimator.stop_reason_ = fit.reason
    estimator.interrupted_ = fit.interrupted
    estimator.history_ = np.asarray(fit.history, dtype=np.float64)
    estimator.objective_ = fit.objective
    estimator.space_ = fit.space
    estimator.outcome_ = fit.outcome
    resolved = {slot: dict(facts) for slot, facts in decided.items()}
    for slot, facts in fit.resolved.items():
        resolved[slot] = {**resolved.get(slot, {}), **facts}
    if labeler is not None:
        resolved["labeler"] = {"name": labeler, **resolved.get("labeler", {})}
    estimator.resolved_ = resolved
    estimator.exact_on_training_ = fit.exact
    estimator.predictor_ = fit.predict
