"""The choice among clusterings of several families, with the number of clusters given or not.

- `driver`: `AutoDriver`, the order of events, and what Ctrl-C keeps.
- `pool`: the members, which are recipes with the trait `clusterkit.core.recipe.Recipe.pool`.
- `fits`: fits of members at numbers of clusters, on all rows or on a sample, and refits for their stability.
- `verdict`: the criteria of `clusterkit.criteria` applied to the candidates, and the report.
- `votes`: labels of the other rows, and of new ones, from those of a sample.
"""
