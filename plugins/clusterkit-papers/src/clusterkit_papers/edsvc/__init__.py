"""Ensemble-driven support vector clustering (EDSVC): tables 1 and 2 and both figures of the paper.

The paper chooses the width gamma of the kernel and the bound C of support vector clustering by agreement with an
ensemble of k-means partitions:  ``argmax over (gamma, C) of mean over m of NMI(labels(gamma, C), member_m)``.

=======  ==============================================================================================================
table    Tables 1 and 2: the six data sets with sizes, scalings and ensembles, and the jobs: the search as published and
         over all pairs, consensus functions on the same ensembles, the mean member, and one cluster for every row.
figures  Figures 1 and 2: against the base clusterings, and PSVC over its width.
=======  ==============================================================================================================

The search is the tuner in clusterkit/families/support_vectors/edsvc.py. What the paper leaves open, and how it was read
here, is in docs/results/prose/readings-edsvc.txt.
"""
