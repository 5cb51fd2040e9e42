"""Mixtures of tables: numbers, levels and gaps side by side, judged by the evidence of hard labels.

- `table.py`: `MixedTable`, the columns of a table as arrays, and the sums of a partition;
- `levels.py`: what the levels of a category are in a cluster: free, ordered, or counts;
- `evidence.py`: the criterion, ``ICL = ln p(z) + N(z, R) + Σ_j C_j``, the gain of each change of a role, and the search
  of roles by it;
- `expectation.py`: the steps of EM on the columns with a role, and the posteriors of rows with gaps; the loops over
  rows are in `posteriors_jit.py`;
- `search.py`: starts, structures, and the number of clusters.
"""
