"""Extreme maximum margin clustering (EMMC), tables 2 to 10 and figures 1 and 2 of the paper.

EMMC alternates between ridge regression on an ELM map of L random nodes and new labels whose cluster sizes differ by
at most l:  ``min over balanced labels Y, weights W of ||W||² / 2 + C ||H W - Y||² / 2``.

==========  ===========================================================================================================
data_sets   Table 2: the data sets, their sizes, scaling, slack l and number of nodes L.
readings    What the text leaves open, read in every way that is run.
complexity  Many values of C at once: one decomposition of the features and one start serve all of them.
starts      Tables 3 and 4: the effect of C and of the starting labels, on pairs of handwritten digits.
growth      Figures 1 and 2: accuracy and time against the number of hidden nodes.
outputs     Tables 5 and 6: a single output against one output per cluster, for growing L.
pairs       emmc-auto and its relatives on the digit pairs, and on pairs that had no part in any choice of constants.
distances   Readings of the protocol where EMMC is far from print.
comparison  Tables 7 to 10: accuracy, Rand index, time and iterations on all data sets.
pooled      The driver `pooled`: fits under several random maps; each winner is judged under all of them.
auto_pooled The driver `auto_pooled`: the same, with complexity, width and start chosen without labels.
recipes     emmc-multistart and emmc-auto, which have these drivers.
baselines   The methods that tables 7 to 10 compare with: MMC, GMMC, IterSVR, CPMMC, normalised cut, LapGMM.
==========  ===========================================================================================================

The other recipes are in clusterkit/families/margins/recipes.py, the mathematics is in
clusterkit/families/margins/ridge.py and in the balancers.
"""
