"""Ensemble-driven support vector clustering (EDSVC): table 2 of the paper.

The paper chooses the width gamma of the kernel and the bound C of support vector clustering by agreement with an
ensemble of k-means partitions:  ``argmax over (gamma, C) of mean over m of NMI(labels(gamma, C), member_m)``.

=====  ================================================================================================================
table  The six data sets, their scalings and ensembles, and the jobs of the table: the search as published and over all
       pairs, consensus functions on the same ensembles, the mean member, and one cluster for every row.
=====  ================================================================================================================

The search is the tuner in clusterkit/tuners/edsvc.py. The page docs/how-to/reproduce-tables.md says what the paper
leaves open and how it was read here.
"""
