"""Recipes and installed peers on a folder of labelled data sets: how well each finds the classes, and how it ranks.

``run.py`` reads the folder, lists recipes and peers, fits every method to every set and keeps a journal. ``page.py``
compares methods over sets (mean ranks and their critical difference) and writes the results as Markdown; ``diagram.py``
draws the ranks. ``tables.py`` has the peers for tables with categories and gaps. The command
``clusterkit benchmark`` is in ``clusterkit_papers/benchmark_command.py``.

The known classes judge the labels after the fit. Nothing is chosen by them.
"""

from __future__ import annotations

from clusterkit_papers.benchmarking.diagram import rank_diagram
from clusterkit_papers.benchmarking.page import Ranking, as_markdown, rank
from clusterkit_papers.benchmarking.run import (
    Cell,
    LabeledSet,
    Method,
    folder_of,
    peers,
    read_sets,
    recipe_methods,
    run,
)

__all__ = [
    "Cell",
    "LabeledSet",
    "Method",
    "Ranking",
    "as_markdown",
    "folder_of",
    "peers",
    "rank",
    "rank_diagram",
    "read_sets",
    "recipe_methods",
    "run",
]
