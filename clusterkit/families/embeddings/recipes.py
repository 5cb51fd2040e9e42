"""The recipe for embeddings as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

EMBEDDINGS = Recipe(
    name="embeddings",
    title="Clusters of embeddings by shared neighbours: layouts, communities, their merge tree",
    citation="McInnes, Healy, Melville (2018), UMAP: uniform manifold approximation and projection, arXiv:1802.03426, "
    "for the layout; Bonald, Charpentier, Galland, Hollocou (2018), Hierarchical graph clustering using node pair "
    "sampling, arXiv:1806.01664, for the tree; the choice among its cuts is this library's own",
    parameters={"featuremap": ["unit", "layout"], "solver": "paris", "labeler": "layers"},
    clusters="found",
    use_when="Embeddings of texts, images or cells: a thousand to some hundred thousand rows of many attributes, "
    "compared by the cosine; the number of clusters is found, or given.",
)
