"""Recipes and installed peers on a folder of labelled data sets: how well each finds the classes, and how it ranks.

``sets.py`` reads the folder, ``methods.py`` lists recipes and peers, ``run.py`` fits every method to every set and
keeps a journal, ``ranks.py`` compares methods over sets (mean ranks and their critical difference), ``page.py`` writes
the results as Markdown. ``clusterkit benchmark`` is the command, `clusterkit.plots.rank_diagram` the picture.

The known classes judge the labels after the fit. Nothing is chosen by them.
"""

from __future__ import annotations

from clusterkit.benchmarking.methods import Method, peers, recipe_methods
from clusterkit.benchmarking.page import as_markdown
from clusterkit.benchmarking.ranks import Ranking, rank
from clusterkit.benchmarking.run import Cell, run
from clusterkit.benchmarking.sets import LabeledSet, folder_of, read_sets

__all__ = [
    "Cell",
    "LabeledSet",
    "Method",
    "Ranking",
    "as_markdown",
    "folder_of",
    "peers",
    "rank",
    "read_sets",
    "recipe_methods",
    "run",
]
