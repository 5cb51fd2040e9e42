"""Balancers: labels of low total cost with allowed cluster sizes, ``min Σ_i c_{i y_i}``, from an (n, k) cost matrix.

- `band.py`: `Band`, sizes that differ by at most a slack, by moves between two clusters at a time; `Ordinal`, intervals
  of a single score, by dynamic programming; the slack in rows, and the r smallest values;
- `transport.py`: `Transport`, bounds for every size, exact for any number of clusters, by
  `clusterkit.numerics.transport`; the checks of the bounds, and the same problem by passes over rows;
- `links.py`: `LinksBalancer`, links between rows, by `clusterkit.numerics.linked`;
- `_cheapest.py`: the sizes of the clusters before balancing.
"""
