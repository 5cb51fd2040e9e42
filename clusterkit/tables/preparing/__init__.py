"""Preparation of the columns of a table, decided from sums over the rows, and applied to new rows again.

- ``preparation.py``: `Preparation`, from the columns of a table to features;
- ``sums.py``, ``decisions.py``, ``plans.py``: sums over the rows, the plan for each column made from them, and the
  plans, which turn cells into features and fill gaps from hot-deck donor rows;
- ``redundant_columns.py``: columns that say the same;
- ``new_rows.py``: the columns of new rows, and what is strange about them;
- ``findings.py``: what was seen and decided, and the paragraph, facts and warnings that are made of it.
"""
