"""Balancers: labels of low total cost with allowed cluster sizes, ``min Σ_i c_{i y_i}``, from an (n, k) cost matrix.

- `band`: sizes that differ by at most a slack; moves between two clusters at a time;
- `ordinal`: intervals of a single score, by dynamic programming;
- `transport`: bounds for every size; exact for any number of clusters, by `clusterkit.numerics.transport`;
- `_slack`, `_sizes`: checks of the parameters and their conversion to rows; `_select`: the r smallest values.

"""
