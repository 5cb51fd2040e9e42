"""Recipes and installed peers on a folder of labelled data sets: how well each finds the classes, and how it ranks.

``run.py`` reads the folder, lists recipes and peers, fits every method to every set and keeps a journal. ``page.py``
compares methods over sets (mean ranks and their critical difference) and writes the results as Markdown.
``tables.py`` has the peers for tables with categories and gaps. ``clusterkit benchmark`` is the command,
`clusterkit.plots.rank_diagram` the picture.

The known classes judge the labels after the fit. Nothing is chosen by them.
"""

from __future__ import annotations

from clusterkit.benchmarking.page import Ranking, as_markdown, rank
from clusterkit.benchmarking.run import Cell, LabeledSet, Method, folder_of, peers, read_sets, recipe_methods, run

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
