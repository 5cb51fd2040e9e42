"""Labelers that read clusters from a spanning tree, by its merges in order of height.

* `single.py`: cut the k - 1 highest merges. Gower, Ross (1969), Applied Statistics 18(1).
* `mass_cut.py`: drop the k - 1 edges of largest mass, ``ln(height / birth) √size`` of the side that ends there.
* `genie.py`: single linkage that continues with the smallest cluster where sizes become uneven. Gagolewski, Bartoszuk,
  Cena (2016), Information Sciences 363.
* `excess_of_mass.py`: the most stable clusters of the condensed hierarchy (HDBSCAN). Campello, Moulavi, Zimek, Sander
  (2015), ACM Transactions on Knowledge Discovery from Data 10(1).
* `_prediction.py`: labels of new rows, which all share.

`single` and `excess_of_mass` read a hierarchy in which all merges of one height are one node; it is in
numerics/spanning_trees/hierarchy_jit.py.
"""
