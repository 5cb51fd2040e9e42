"""Graphs that join each row to its nearest others, weighted by local scales, and their leading eigenvectors.

The weights are ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))`` with s_i the distance of row i to one of its neighbours
(Zelnik-Manor, Perona 2004). `nearest.py` finds exact neighbours, ties by the row number; `self_tuned.py` has scales and
weights; `components.py` the connected components, and which of them to join where there are more than asked for;
`eigenvectors.py` the leading eigenvectors of ``D^(-1/2) W D^(-1/2)``, with checked residuals and a basis that does not
depend on rounding.
"""
