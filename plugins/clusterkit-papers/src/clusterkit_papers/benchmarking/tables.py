"""Clusterings of other libraries for tables with categories and gaps, on equal settings.

All of them get the same (`Coded`): numbers standardised, gaps in numbers filled by the median, gaps in categories as a
level of their own; 0 and 1 for each level where a method takes numbers only. Which columns are categories is read by
the preparation of tables, for peers as for ours. StepMix integrates gaps in numbers out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, Self, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.tables import Preparation

__all__ = ["PEERS", "Coded", "on_codes"]

MOST_CLUSTERS = 10
"""Largest number of clusters that a peer tries where it chooses the number, that of our mixture."""

STARTS, MIXTURE_STARTS = 10, 5
"""Starts of means and prototypes, and of mixtures."""

COMPONENTS = 5
"""Most components of factor analysis, the default of most programs."""

MIN_CLUSTER_SIZE = 15
"""Least number of rows of a cluster for HDBSCAN, as on arrays."""


@final
@attrs.frozen(eq=False)
class Coded:
    """A table as peers take it.

    Parameters
    ----------
    numbers : ndarray of shape (n, p)
        Standardised; NaN in gaps.
    codes : ndarray of shape (n, q), int
        Levels of the categories from 0, in the order of the preparation; gaps are the last level.
    """

    numbers: Array
    codes: Indices

    @classmethod
    def of(cls, table: object) -> Self:
        """Numbers and codes of a table."""
        fitted = attrs.evolve(Preparation().fit(table), coded=True)
        rows = fitted.transform(table, quiet=True)
        are_levels = np.array([kind == "category" for kind in fitted.kinds_of_codes], dtype=bool)
        numbers, codes = rows[:, ~are_levels], rows[:, are_levels]
        spread = np.nanstd(numbers, axis=0)
        numbers = (numbers - np.nanmean(numbers, axis=0)) / np.where(spread > 0, spread, 1.0)
        levels = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T]  # NaN is one value
        return cls(numbers, np.column_stack(levels).astype(np.intp) if levels else np.empty((len(rows), 0), np.intp))

    @property
    def filled(self) -> Array:
        """The numbers with medians in gaps."""
        return np.where(np.isnan(self.numbers), np.nanmedian(self.numbers, axis=0), self.numbers)

    @property
    def features(self) -> Array:
        """The numbers, and 0 or 1 for each level."""
        dummies = [np.eye(int(column.max()) + 1)[column] for column in self.codes.T]
        return np.hstack([self.filled, *dummies])


TableLabeller: TypeAlias = Callable[[Coded, int | None, int], Labels]
"""Function from a coded table, a number of clusters or None, and a seed to labels."""


def _one_hot_kmeans(data: Coded, k: int | None, seed: int) -> Labels:
    """k-means on dummies; without a number that of the highest silhouette."""
    from sklearn.cluster import KMeans

    def fit(k: int) -> Labels:
        return np.asarray(KMeans(k, n_init=STARTS, random_state=seed).fit_predict(data.features))

    return fit(k) if k is not None else _of_best_silhouette(data, fit)


def _of_best_silhouette(data: Coded, fit: Callable[[int], Labels]) -> Labels:
    from sklearn.metrics import silhouette_score

    candidates = [fit(number) for number in range(2, MOST_CLUSTERS + 1)]
    scores = [silhouette_score(data.features, labels, sample_size=5000, random_state=0) for labels in candidates]
    return candidates[int(np.argmax(scores))]


def _famd_kmeans(data: Coded, k: int | None, seed: int) -> Labels:
    """k-means on the components of FAMD; of PCA without categories, of MCA without numbers."""
    from sklearn.cluster import KMeans

    assert k is not None
    prince: Any = import_module("prince")
    import pandas as pd

    p, q = data.numbers.shape[1], data.codes.shape[1]
    numbers = pd.DataFrame(data.filled, columns=[f"n{j}" for j in range(p)])
    levels = pd.DataFrame(data.codes, columns=[f"c{j}" for j in range(q)])
    frame = pd.concat([numbers, levels.astype(str)], axis=1)
    method, width = (prince.FAMD, p + q) if p and q else (prince.PCA, p) if p else (prince.MCA, data.features.shape[1])
    points = method(n_components=min(COMPONENTS, width), random_state=seed).fit(frame).row_coordinates(frame)
    return np.asarray(KMeans(k, n_init=STARTS, random_state=seed).fit_predict(np.asarray(points, dtype=float)))


def _k_prototypes(data: Coded, k: int | None, seed: int) -> Labels:
    """k-prototypes; k-means without categories and k-modes without numbers, which it then is."""
    KModes: Any = import_module("kmodes.kmodes").KModes
    KPrototypes: Any = import_module("kmodes.kprototypes").KPrototypes
    p, q = data.numbers.shape[1], data.codes.shape[1]
    if not q:
        return _one_hot_kmeans(data, k, seed)
    if not p:
        return np.asarray(KModes(k, n_init=STARTS, random_state=seed).fit_predict(data.codes))
    rows = np.empty((len(data.codes), p + q), dtype=object)
    rows[:, :p], rows[:, p:] = data.filled, data.codes.astype(str)
    fit = KPrototypes(k, n_init=STARTS, random_state=seed).fit_predict(rows, categorical=list(range(p, p + q)))
    return np.asarray(fit)


def _gaussian_mixture(data: Coded, k: int | None, seed: int) -> Labels:
    """A mixture of Gaussians on dummies; without a number that of the lowest BIC."""
    from sklearn.mixture import GaussianMixture

    def fit(k: int) -> Any:
        return GaussianMixture(k, n_init=MIXTURE_STARTS, random_state=seed).fit(data.features)

    models = [fit(number) for number in ([k] if k is not None else range(1, MOST_CLUSTERS + 1))]
    best = min(models, key=lambda model: model.bic(data.features))
    return np.asarray(best.predict(data.features))


def _stepmix(data: Coded, k: int | None, seed: int) -> Labels:
    """Latent classes of Gaussians and categories, gaps integrated out; without a number that of the lowest BIC."""
    StepMix: Any = import_module("stepmix.stepmix").StepMix
    p, q = data.numbers.shape[1], data.codes.shape[1]
    rows = np.hstack([data.numbers, data.codes.astype(float)])
    parts: dict[str, dict[str, object]] = {}
    if p:
        parts["numbers"] = {"model": "gaussian_diag_nan", "n_columns": p}
    if q:
        parts["levels"] = {"model": "categorical_nan", "n_columns": q}

    def fit(k: int) -> Any:
        model = StepMix(
            k, measurement=parts, n_init=MIXTURE_STARTS, random_state=seed, progress_bar=0, max_iter=1000, verbose=0
        )
        return model.fit(rows)

    models = [fit(number) for number in ([k] if k is not None else range(1, MOST_CLUSTERS + 1))]
    best = min(models, key=lambda model: model.bic(rows))
    return np.asarray(best.predict(rows))


def _hdbscan(data: Coded, k: int | None, seed: int) -> Labels:
    from sklearn.cluster import HDBSCAN

    return np.asarray(HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE, copy=True).fit_predict(data.features))


def _other_hdbscan(data: Coded, k: int | None, seed: int) -> Labels:
    return np.asarray(import_module("hdbscan").HDBSCAN(min_cluster_size=MIN_CLUSTER_SIZE).fit_predict(data.features))


PEERS: Mapping[str, tuple[str, Literal["given", "found", "either"], TableLabeller]] = {
    "KMeans (one-hot)": ("scikit-learn", "either", _one_hot_kmeans),
    "GaussianMixture (one-hot)": ("scikit-learn", "either", _gaussian_mixture),
    "k-prototypes (kmodes)": ("kmodes", "given", _k_prototypes),
    "FAMD and KMeans (prince)": ("prince", "given", _famd_kmeans),
    "StepMix": ("stepmix", "either", _stepmix),
    "HDBSCAN (scikit-learn)": ("scikit-learn", "found", _hdbscan),
    "HDBSCAN (hdbscan)": ("hdbscan", "found", _other_hdbscan),
}
"""Name to distribution, what it does about the number of clusters, and its fit. Ten starts of means and prototypes,
five of mixtures; without a number, up to ten clusters by the silhouette or by BIC."""


def on_codes(labeller: TableLabeller) -> Callable[[object, int | None, int], Labels]:
    """The fit of a peer on tables as they are."""
    return lambda table, k, seed: labeller(Coded.of(table), k, seed)
