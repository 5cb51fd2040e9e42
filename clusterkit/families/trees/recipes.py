"""The recipes of spanning trees as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

MASS_CUT = Recipe(
    name="mass-cut",
    title="Mass cut of the tree of mutual reachability",
    citation="Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, "
    "visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1), for the tree; the "
    "cut is this library's own",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 6, "labeler": "mass_cut"},
    use_when="A given number of clusters of any shape, density and size, in few attributes.",
    family="mass",
    pool=({},),
)

GENIE = Recipe(
    name="genie",
    title="Genie: single linkage that avoids uneven sizes",
    citation="Gagolewski, Bartoszuk, Cena (2016), Genie: a new, fast, and outlier-resistant hierarchical clustering "
    "algorithm, Information Sciences 363",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 1, "labeler": "genie"},
    use_when="A given number of clusters of any shape and of similar sizes.",
    family="genie",
    # clusters of unlike sizes need the second, and one tree serves both
    pool=({}, {"labeler__gini": 0.5}),
)

HDBSCAN = Recipe(
    name="hdbscan",
    title="HDBSCAN: the most stable clusters at varying density",
    citation="Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, "
    "visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1)",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 5, "labeler": "excess_of_mass"},
    clusters="found",
    use_when="An unknown number of clusters of any shape, in noise.",
    family="density",
    pool=(
        {"labeler__min_cluster_size": 15, "solver__n_neighbors": 15},
        {"labeler__min_cluster_size": 15, "solver__n_neighbors": 5},
    ),
)

SINGLE_LINKAGE = Recipe(
    name="single-linkage",
    title="Single linkage",
    citation="Gower, Ross (1969), Minimum spanning trees and single linkage cluster analysis, Applied Statistics 18(1)",
    parameters={"featuremap": "identity", "solver": "mst", "solver__n_neighbors": 1, "labeler": "single"},
    use_when="Clusters with wide gaps between them and without outliers; comparisons.",
)
