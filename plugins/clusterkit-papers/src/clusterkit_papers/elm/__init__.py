"""Clustering in ELM feature space: tables 1 to 7 and figure 2 of the paper.

k-means and NMF on the features ``h(x)`` of L random nodes, beside the same methods on the data and on a kernel:
``min Σ_i ||h(x_i) - c_{label i}||²``, and ``min ||H - H W G||`` with W, G >= 0.

==========  ===========================================================================================================
data_sets   The data sets, their preparation, and the parameters of table 1.
runs        The methods, and their runs on a data set.
tables      Table 1: nodes, widths and sizes. Tables 2 to 7: purity and NMI against the number of categories.
figures     Figure 2: purity and NMI against the number of nodes and the width of the kernel.
convex_nmf  The solver that stands for the cited NMF with a kernel.
==========  ===========================================================================================================

The recipes are elm-kmeans and elm-nmf; the mathematics is in clusterkit/families/means/kmeans.py and in
clusterkit/families/factors/. What the paper leaves open is in docs/results/prose/readings-elm.txt.
"""
