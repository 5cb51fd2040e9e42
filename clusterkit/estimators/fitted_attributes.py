"""The attributes that a fit sets, the same for all clusterers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Floats, Labels, Samples
from clusterkit.core.outcomes import Outcome
from clusterkit.core.run import FitResult
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Predict

__all__ = ["FittedAttributes", "set_fitted"]


class FittedAttributes:
    """Declares for type checkers what the fit of a clusterer sets; it has no code."""

    labels_: Labels
    n_iter_: int
    converged_: bool
    stop_reason_: str
    interrupted_: bool
    history_: Floats
    objective_: float
    space_: Space | None
    outcome_: Outcome | None
    resolved_: dict[str, dict[str, object]]
    exact_on_training_: bool
    predictor_: Predict | None
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    if TYPE_CHECKING:

        def fit_predict(self, X: Samples, y: object = None, **kwargs: object) -> Labels:
            """Of scikit-learn, which has no types."""


def set_fitted(
    estimator: FittedAttributes, fit: FitResult, decided: Mapping[str, Mapping[str, object]], labeler: str | None = None
) -> None:
    """Set the attributes of `clusterkit.Pipeline` on an estimator.

    Parameters
    ----------
    estimator : FittedAttributes
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
