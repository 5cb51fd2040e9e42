"""Support vector clustering."""

from __future__ import annotations

from clusterkit.core.recipe import Recipe

__all__ = ["SVC"]

SVC = Recipe(
    name="svc",
    title="Support vector clustering with the complete graph",
    citation="Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, Journal of Machine Learning "
    "Research 2",
    parameters={"featuremap": "rbf", "solver": "svdd", "labeler": "complete_graph"},
    clusters="found",
    use_when="Clusters of any shape and unknown number, with noise; the width of the kernel decides the scale.",
)
