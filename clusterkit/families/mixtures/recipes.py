"""The recipe of mixtures of mixed columns as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

MIXTURE = Recipe(
    name="mixture",
    title="Gaussian mixture",
    citation="Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm, Journal of "
    "the Royal Statistical Society B 39(1)",
    parameters={
        "featuremap": "zscore",
        "solver": "lapgmm",
        "solver__smoothness": 0.0,
        "labeler": "argmax",
        "n_init": 5,
    },
    use_when="Elliptic clusters of different size and spread that may overlap; probabilities of membership.",
    family="mixture",
    # one start at each of many numbers of clusters, and as many iterations as tell the clusters apart
    pool=({"n_init": 1, "solver__tol": 3e-4},),
    # the middle of 1 to 3, which are equal within .003 of the mean index on generated sets
    pool_known={"solver__covariance_pooling": 2.0},
    tables={"featuremap": "columns", "solver": "mixed_mixture", "labeler": "auto", "n_init": 1},
)
