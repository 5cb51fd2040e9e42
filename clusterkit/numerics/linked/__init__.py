"""Labels of least cost for rows of which some belong together and some apart.

`labels.py` has the problem and its bounds, with and without sizes of clusters, `apart_jit.py` the branch and bound over
groups that are apart, and whether any labels exist.
"""
