"""The recipe `auto` as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

AUTO = Recipe(
    name="auto",
    title="The best of k-means, mixture, spectral, tree and density clusterings, chosen without labels",
    citation="Hubert, Arabie (1985), Comparing partitions, Journal of Classification 2, for the agreement; Campello, "
    "Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, visualization, and outlier "
    "detection, ACM Transactions on Knowledge Discovery from Data 10(1), for the distances of the spanning tree; the "
    "criteria are described in clusterkit/criteria",
    driver="auto",
    clusters="found",
    use_when=(
        "The first choice where nothing is known of the shape of the clusters, with the number of clusters or without."
    ),
)
