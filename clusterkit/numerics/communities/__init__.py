"""Communities of a graph of shared neighbours: its search, its layouts, its merge trees, and the layers of clusters.

* `search`: the nearest rows in single precision, exact or from a sketch, and the order in which rows are worked on.
* `graph`: weights of shared neighbours, coordinates to start from, layouts in few dimensions, their communities and
  the tree of their merges.
* `layers`: cuts of several trees, how stable and how persistent they are, and which of them is the answer.

Compiled loops are in the files of the same names that end in ``_jit``.
"""
